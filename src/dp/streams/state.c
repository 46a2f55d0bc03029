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
enum { VERSION = 2, DOUBLING = 1, PRIVATE = 2, IN_LEDGER = 4, FLAGS = 7 };

/* Vectors of the segment's memory that are in use. */
static size_t used(const tacet_stream *s) {
    return s->factor.kind == TACET_FACTORIZATION_TOEPLITZ ? s->taken : s->slots;
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
    const tacet__factor *f = &stream->factor;
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
    tacet__write_size(&w, f->most);
    tacet__write_size(&w, f->buffers);
    tacet__write_f64s(&w, f->theta, f->buffers);
    tacet__write_f64s(&w, f->omega, f->buffers);
    tacet__write_f64s(&w, f->theta_inv, f->buffers);
    tacet__write_f64s(&w, f->omega_inv, f->buffers);
    tacet__write_size(&w, stream->taken);
    tacet__write_f64(&w, stream->offset_var);
    tacet__write_f64s(&w, stream->offset, stream->dim);
    tacet__write_f64s(&w, stream->estimate, stream->dim);
    tacet__write_f64s(&w, stream->sum, stream->dim);
    tacet__write_f64s(&w, stream->held, stream->dim * used(stream));
    tacet__write_f64s(&w, stream->noisy, stream->dim * used(stream));
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

/* Segments before this one were full, so the steps are known; and this one is as long as its number says. */
static bool counts_fit(const tacet_stream *s, size_t most, size_t taken) {
    if (!s->settings.doubling) {
        return s->segment == 0 && most == s->settings.most && s->steps == taken;
    }
    size_t length = s->settings.most, before = 0;
    for (size_t k = 0; k < s->segment && length <= TACET__STREAM_MOST; k++) {
        before += length;
        length *= 2;
    }
    return most == length && s->steps == before + taken;
}

static tacet_status read_segment(tacet_stream *stream, tacet__reader *r, bool in_ledger, tacet_error *err) {
    tacet__factor f;
    memset(&f, 0, sizeof f);
    take(r, stream->key);
    take(r, stream->chain);
    stream->steps = tacet__read_size(r, SIZE_MAX / 2);
    stream->segment = tacet__read_size(r, 64);
    f.kind = stream->settings.factorization;
    f.most = tacet__read_size(r, TACET__STREAM_MOST);
    f.buffers = tacet__read_size(r, f.kind == TACET_FACTORIZATION_BLT ? TACET__BLT_MOST : 0);
    tacet__read_f64s(r, f.theta, f.buffers);
    tacet__read_f64s(r, f.omega, f.buffers);
    tacet__read_f64s(r, f.theta_inv, f.buffers);
    tacet__read_f64s(r, f.omega_inv, f.buffers);
    const size_t taken = tacet__read_size(r, f.most);
    stream->offset_var = tacet__read_f64(r);
    /* What follows is at least `taken` vectors for Toeplitz: a length that is not there must not be allocated. */
    const size_t vectors = 3 + (f.kind == TACET_FACTORIZATION_TOEPLITZ ? 2 * taken : 0);
    const size_t room = (size_t)(r->end - r->at) / sizeof(double) / stream->dim;
    if (r->failed || !counts_fit(stream, f.most, taken) || room < vectors) {
        return tacet__fail(err, TACET_CORRUPT, "a saved stream is damaged");
    }
    tacet_status s = tacet__factor_check(&f, err);
    if (s == TACET_OK) {
        s = tacet__stream_segment(stream, &f, err);
    }
    if (s != TACET_OK) {
        return s;
    }
    stream->taken = taken;
    tacet__read_f64s(r, stream->offset, stream->dim);
    tacet__read_f64s(r, stream->estimate, stream->dim);
    tacet__read_f64s(r, stream->sum, stream->dim);
    tacet__read_f64s(r, stream->held, stream->dim * used(stream));
    tacet__read_f64s(r, stream->noisy, stream->dim * used(stream));
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
