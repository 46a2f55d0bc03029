/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - a stream as bytes, and back: the key, the factor's numbers, and the memory of the current segment.
 * Ring: gate. The bytes hold private data and the key of the noise: whoever stores them is trusted. Source: none.
 * Cost: O(dim log t) bytes for the tree, O(dim buffers) for BLT, O(dim t) for Toeplitz. */
#include "dp/streams/internal.h"

#include "core/codec.h"
#include "core/fail.h"
#include "dp/bound_internal.h"
#include "dp/mint.h"

#include <sodium.h>
#include <string.h>

static const char NAME[] = "stream";
enum { VERSION = 3, DOUBLING = 1, PRIVATE = 2, IN_LEDGER = 4, FLAGS = 7 };

/* Vectors of a segment's memory that are in use. */
static size_t used(const tacet__factor *f, size_t taken, size_t slots) {
    return f->kind == TACET_FACTORIZATION_TOEPLITZ ? taken : slots;
}

static void write_factor(tacet__writer *w, const tacet__factor *f) {
    tacet__write_size(w, f->most);
    tacet__write_size(w, f->buffers);
    tacet__write_f64s(w, f->theta, f->buffers);
    tacet__write_f64s(w, f->omega, f->buffers);
    tacet__write_f64s(w, f->theta_inv, f->buffers);
    tacet__write_f64s(w, f->omega_inv, f->buffers);
}

/* What was released, and the steps that wait. */
static void write_out(tacet__writer *w, const tacet_stream *s) {
    const tacet__stream_out *out = &s->out;
    tacet__write_f64(w, out->offset_var);
    tacet__write_f64s(w, out->offset, s->dim);
    tacet__write_f64s(w, out->estimate, s->dim);
    tacet__write_f64s(w, out->sum, s->dim);
    tacet__write_f64s(w, out->noisy, s->dim * used(&out->factor, out->taken, out->slots));
    for (size_t i = 0; i < s->waiting; i++) {
        tacet__write_bytes(w, s->keys + i * TACET__STREAM_KEY_BYTES, TACET__STREAM_KEY_BYTES);
    }
    tacet__write_f64s(w, s->parts, s->dim * s->waiting);
}

/* Last among all, in the order of their steps; nothing where there is no ledger. */
static void write_marks(tacet__writer *w, const tacet_stream *s) {
    if (s->ledger == NULL) {
        return;
    }
    tacet__write_u64(w, s->entered.step);
    tacet__write_bytes(w, s->entered.hash, TACET_HASH_BYTES);
    for (size_t left = tacet__stream_recent(s); left > 0; left--) {
        tacet__write_bytes(w, s->recent[(s->steps - (left - 1)) % TACET__STREAM_RECENT].hash, TACET_HASH_BYTES);
    }
}

tacet_status tacet_stream_save(tacet_stream *stream, tacet_blob *out, tacet_error *err) {
    const tacet_stream_settings *set = &stream->settings;
    tacet__writer w;
    tacet__write_begin(&w, out, NAME, VERSION);
    tacet__write_u64(&w, (set->doubling ? DOUBLING : 0U) | (stream->is_private ? PRIVATE : 0U) |
                             (stream->ledger != NULL ? IN_LEDGER : 0U));
    tacet__write_u64(&w, (uint64_t)set->factorization);
    tacet__write_size(&w, set->most);
    tacet__write_u64(&w, (uint64_t)set->neighbours.relation);
    const double settings[] = {set->eps, set->delta, set->neighbours.move, stream->delta2, stream->bound->radius};
    tacet__write_f64s(&w, settings, sizeof settings / sizeof *settings);
    tacet__write_size(&w, stream->dim);
    tacet__write_bytes(&w, stream->key, sizeof stream->key);
    tacet__write_bytes(&w, stream->chain, sizeof stream->chain);
    tacet__write_size(&w, stream->steps);
    tacet__write_size(&w, stream->segment);
    write_factor(&w, &stream->factor);
    tacet__write_size(&w, stream->taken);
    tacet__write_size(&w, stream->out.segment);
    tacet__write_size(&w, stream->out.taken);
    for (size_t k = stream->out.segment; k < stream->segment; k++) {
        write_factor(&w, &stream->full[k]);
    }
    tacet__write_f64s(&w, stream->held, stream->dim * used(&stream->factor, stream->taken, stream->slots));
    write_out(&w, stream);
    write_marks(&w, stream);
    const tacet_status s = tacet__write_end(&w, err);
    stream->saved = stream->saved || s == TACET_OK;
    return s;
}

/* 32 bytes, or the reader fails. */
static void take(tacet__reader *r, unsigned char *to) {
    const unsigned char *bytes = NULL;
    if (tacet__read_bytes(r, &bytes) == TACET__STREAM_KEY_BYTES) { /* 0 when the reader has failed */
        memcpy(to, bytes, TACET__STREAM_KEY_BYTES);
    } else {
        r->failed = true;
    }
}

static void read_marks(tacet__reader *r, tacet_stream *s) {
    s->entered.step = tacet__read_size(r, s->steps);
    take(r, s->entered.hash);
    s->last = s->entered;
    for (size_t left = tacet__stream_recent(s); left > 0; left--) {
        s->last.step = s->steps - (left - 1);
        take(r, s->last.hash);
        s->recent[s->last.step % TACET__STREAM_RECENT] = s->last;
    }
}

/* The head: settings into *set, the rest into the stream to be. */
typedef struct head {
    tacet_stream_settings set;
    uint64_t flags;
    size_t dim;
} head;

static tacet_status read_head(head *h, tacet__reader *r, const tacet_bound *bound, tacet_error *err) {
    double settings[5];
    tacet_stream_settings_defaults(&h->set);
    h->flags = tacet__read_u64(r);
    h->set.factorization = (tacet_factorization)tacet__read_size(r, TACET_FACTORIZATION_BLT);
    h->set.most = tacet__read_size(r, TACET__STREAM_MOST);
    h->set.neighbours.relation = (tacet_relation)tacet__read_size(r, TACET_RELATION_MOVE);
    tacet__read_f64s(r, settings, sizeof settings / sizeof *settings);
    h->dim = tacet__read_size(r, SIZE_MAX);
    if (r->failed || h->flags > FLAGS) {
        return tacet__fail(err, TACET_CORRUPT, "the settings of a saved stream are damaged");
    }
    h->set.doubling = (h->flags & DOUBLING) != 0;
    h->set.eps = settings[0];
    h->set.delta = settings[1];
    h->set.neighbours.move = settings[2];
    double l2 = 0.0, l1 = 0.0;
    const tacet_status s = tacet_bound_sensitivity(bound, &l2, &l1, &h->set.neighbours, err);
    if (s != TACET_OK) {
        return s;
    }
    if (h->dim != bound->count || settings[3] != l2 || settings[4] != bound->radius) {
        return tacet__fail(err, TACET_INVALID, "the stream was opened with another bound");
    }
    return TACET_OK;
}

/* Whether segment `number` has `most` steps, and how many there are before it. */
static bool length_fits(const tacet_stream *s, size_t number, size_t most, size_t *before) {
    size_t length = s->settings.most;
    *before = 0;
    if (!s->settings.doubling) {
        return number == 0 && most == length;
    }
    for (size_t k = 0; k < number && length <= TACET__STREAM_MOST; k++) {
        *before += length;
        length *= 2;
    }
    return most == length;
}

static tacet_status read_factor(tacet_stream *stream, tacet__reader *r, tacet__factor *f, tacet_error *err) {
    memset(f, 0, sizeof *f);
    f->kind = stream->settings.factorization;
    f->most = tacet__read_size(r, TACET__STREAM_MOST);
    f->buffers = tacet__read_size(r, f->kind == TACET_FACTORIZATION_BLT ? TACET__BLT_MOST : 0);
    tacet__read_f64s(r, f->theta, f->buffers);
    tacet__read_f64s(r, f->omega, f->buffers);
    tacet__read_f64s(r, f->theta_inv, f->buffers);
    tacet__read_f64s(r, f->omega_inv, f->buffers);
    return r->failed ? tacet__fail(err, TACET_CORRUPT, "a saved stream is damaged") : tacet__factor_check(f, err);
}

/* The factors of the segments whose releases were not all read, which are full. */
static tacet_status read_full(tacet_stream *stream, tacet__reader *r, tacet_error *err) {
    tacet_status s = TACET_OK;
    for (size_t k = stream->out.segment; k < stream->segment && s == TACET_OK; k++) {
        size_t before = 0;
        s = read_factor(stream, r, &stream->full[k], err);
        if (s == TACET_OK && !length_fits(stream, k, stream->full[k].most, &before)) {
            s = tacet__fail(err, TACET_CORRUPT, "a saved stream is damaged");
        }
    }
    return s;
}

/* How many steps wait, where the counts fit each other and the vectors that they speak of are there: a length that is
 * not must not be allocated. */
static bool counts_fit(tacet_stream *s, const tacet__reader *r, const tacet__factor *f, const tacet__factor *out,
                       size_t taken, size_t drawn) {
    size_t before = 0, behind = 0;
    if (!length_fits(s, s->segment, f->most, &before) || s->steps != before + taken || drawn > out->most) {
        return false;
    }
    (void)length_fits(s, s->out.segment, out->most, &behind); /* it does: out is f, or read_full has looked */
    if (behind + drawn > s->steps) {
        return false;
    }
    s->waiting = s->steps - behind - drawn;
    const size_t vectors = 3 + s->waiting + (f->kind == TACET_FACTORIZATION_TOEPLITZ ? taken + drawn : 0);
    return (size_t)(r->end - r->at) / sizeof(double) / s->dim >= vectors;
}

static void read_out(tacet_stream *stream, tacet__reader *r) {
    tacet__stream_out *out = &stream->out;
    out->offset_var = tacet__read_f64(r);
    tacet__read_f64s(r, out->offset, stream->dim);
    tacet__read_f64s(r, out->estimate, stream->dim);
    tacet__read_f64s(r, out->sum, stream->dim);
    tacet__read_f64s(r, out->noisy, stream->dim * used(&out->factor, out->taken, out->slots));
    for (size_t i = 0; i < stream->waiting; i++) {
        take(r, stream->keys + i * TACET__STREAM_KEY_BYTES);
    }
    tacet__read_f64s(r, stream->parts, stream->dim * stream->waiting);
}

static tacet_status read_segment(tacet_stream *stream, tacet__reader *r, bool in_ledger, tacet_error *err) {
    tacet__factor f;
    take(r, stream->key);
    take(r, stream->chain);
    stream->steps = tacet__read_size(r, SIZE_MAX / 2);
    stream->segment = tacet__read_size(r, TACET__STREAM_SEGMENTS - 1);
    tacet_status s = read_factor(stream, r, &f, err);
    if (s != TACET_OK) {
        return s;
    }
    const size_t taken = tacet__read_size(r, f.most);
    stream->out.segment = tacet__read_size(r, stream->segment);
    const size_t drawn = tacet__read_size(r, TACET__STREAM_MOST);
    s = read_full(stream, r, err);
    if (s != TACET_OK) {
        return s;
    }
    const tacet__factor *out = stream->out.segment < stream->segment ? &stream->full[stream->out.segment] : &f;
    if (r->failed || !counts_fit(stream, r, &f, out, taken, drawn)) {
        return tacet__fail(err, TACET_CORRUPT, "a saved stream is damaged");
    }
    s = tacet__stream_segment(stream, &f, err);
    if (s == TACET_OK) {
        s = tacet__stream_out_segment(stream, out, err);
    }
    if (s == TACET_OK) {
        s = tacet__stream_reserve(stream, stream->waiting, err);
    }
    if (s != TACET_OK) {
        return s;
    }
    stream->taken = taken;
    stream->out.taken = drawn;
    tacet__read_f64s(r, stream->held, stream->dim * used(&stream->factor, taken, stream->slots));
    read_out(stream, r);
    if (in_ledger) {
        read_marks(r, stream);
    }
    return tacet__read_end(r, err);
}

/* Finds the stream's entry, and refuses when it was charged otherwise, when another stream answered for it, and when
 * another history was released from. */
static tacet_status attach(tacet_stream *stream, const tacet_ask *ask, bool older_too, tacet_error *err) {
    char parameters[TACET__STREAM_PARAMETERS];
    tacet_charge charge;
    tacet_blob memo;
    tacet_release *stored = NULL, *self = NULL;
    tacet_blob_init(&memo);
    tacet__stream_charge(stream, &charge, parameters);
    tacet__gate_charge(ask, &charge, stream->is_private);
    tacet_status s = tacet_ledger_find(ask->ledger, &stream->entry, &memo, ask->ticket, &charge, err);
    if (s == TACET_OK && stream->entry.answered) {
        stream->ledger = ask->ledger;
        s = tacet__stream_identity(stream, &self, err);
        if (s == TACET_OK) {
            s = tacet_release_decode(&stored, memo.data, memo.size, err);
        }
        if (s == TACET_OK && sodium_memcmp(tacet_release_receipt(stored)->content_hash,
                                           tacet_release_receipt(self)->content_hash, TACET_HASH_BYTES) != 0) {
            s = tacet__fail(err, TACET_CONFLICT, "the ledger knows another stream of this ticket");
        }
    }
    if (s == TACET_OK) {
        s = tacet__stream_agree(stream, &stream->entry.newest, older_too, err);
    }
    stream->ledger = ask->ledger;
    tacet_release_free(stored);
    tacet_release_free(self);
    tacet_blob_clear(&memo);
    return s;
}

static tacet_status load(tacet_stream **out, const tacet_bound *bound, const tacet_ask *ask, const void *bytes,
                         size_t size, bool older_too, tacet_error *err) {
    tacet__reader reader;
    head h;
    tacet_stream *stream = NULL;
    *out = NULL;
    tacet_status s = tacet__read_begin(&reader, bytes, size, NAME, VERSION, err);
    if (s == TACET_OK) {
        s = read_head(&h, &reader, bound, err);
    }
    if (s == TACET_OK && ((h.flags & IN_LEDGER) != 0) != (ask->ledger != NULL)) {
        s = tacet__fail(err, TACET_INVALID, "a stream goes on with the ledger it was opened with, or without one");
    }
    if (s == TACET_OK) {
        s = tacet__stream_make(&stream, &h.set, bound, err);
    }
    if (s != TACET_OK) {
        return s;
    }
    stream->is_private = (h.flags & PRIVATE) != 0;
    s = read_segment(stream, &reader, ask->ledger != NULL, err);
    if (s == TACET_OK && ask->ledger != NULL) {
        s = attach(stream, ask, older_too, err);
    }
    if (s != TACET_OK) {
        tacet_stream_close(stream);
        return s;
    }
    stream->saved = true;
    *out = stream;
    return TACET_OK;
}

tacet_status tacet_stream_load(tacet_stream **out, const tacet_bound *bound, const tacet_ask *ask, const void *bytes,
                               size_t size, tacet_error *err) {
    return load(out, bound, ask, bytes, size, false, err);
}

tacet_status tacet_stream_replay(tacet_stream **out, const tacet_bound *bound, const tacet_ask *ask, const void *bytes,
                                 size_t size, tacet_error *err) {
    return load(out, bound, ask, bytes, size, true, err);
}

tacet_status tacet_stream_describe(tacet_stream_settings *out, const tacet_bound *bound, const void *bytes, size_t size,
                                   tacet_error *err) {
    tacet__reader reader;
    head h;
    tacet_status s = tacet__read_begin(&reader, bytes, size, NAME, VERSION, err);
    if (s == TACET_OK) {
        s = read_head(&h, &reader, bound, err);
    }
    if (s == TACET_OK) {
        *out = h.set;
    }
    return s;
}
