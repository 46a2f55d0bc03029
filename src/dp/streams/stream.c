/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - private prefix sums: y = C x + noise, the sums estimated as B y.
 * Ring: gate. In: tacet_bounded. Out: tacet_release. Charged once, when opened. Source: Chan, Shi, Song 2011; Denisov,
 * McMahan, Rush, Smith, Thakurta 2022 (adaptive streams); see factor.c. Differs: y is released and B applied
 * after, so that floating-point errors of B cannot matter to privacy and those of C are charged; the noise of a step is
 * a function of a secret key and of all vectors up to that step, so that a restart repeats it and a different history
 * does not, and it is drawn when the step is read, behind its mark in the ledger (mark.c, draw.c). Proofs:
 * src/dp/streams/README.md. Cost: per step O(dim log t) tree, O(dim t) Toeplitz, O(dim buffers) BLT.
 */
#include "dp/streams/internal.h"

#include <tacet/dp/open/calibrate.h>

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "dp/bound_internal.h"
#include "dp/mint.h"
#include "dp/noise/sampler.h"

#include <float.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRID_BITS_MOST = 40 };
static const double WIDEST = 0x1p51; /* grid steps: see mechanism.c */

void tacet_stream_settings_defaults(tacet_stream_settings *settings) {
    memset(settings, 0, sizeof *settings);
    settings->factorization = TACET_FACTORIZATION_BLT;
    settings->neighbours.relation = TACET_RELATION_REPLACE;
}

static void wipe(double *array, size_t count) {
    if (array != NULL) {
        sodium_memzero(array, count * sizeof *array);
        free(array);
    }
}

static void free_segment(tacet_stream *s) {
    /* Toeplitz: pages that were never written are not touched now either. */
    wipe(s->held, s->dim * (s->factor.kind == TACET_FACTORIZATION_TOEPLITZ ? s->taken : s->slots));
    free(s->coefficients);
}

void tacet_stream_close(tacet_stream *stream) {
    if (stream == NULL) {
        return;
    }
    free_segment(stream);
    tacet_noise_close(stream->noise);
    free(stream->out.noisy);
    free(stream->out.coefficients);
    free(stream->out.sum);
    free(stream->out.estimate);
    free(stream->out.offset);
    free(stream->out.released);
    wipe(stream->exact, stream->dim);
    wipe(stream->parts, stream->dim * stream->room);
    if (stream->keys != NULL) {
        sodium_memzero(stream->keys, stream->room * TACET__STREAM_KEY_BYTES);
        free(stream->keys);
    }
    sodium_memzero(stream, sizeof *stream);
    free(stream);
}

tacet_status tacet__stream_make(tacet_stream **out, const tacet_stream_settings *settings, const tacet_bound *bound,
                                tacet_error *err) {
    double mu = 0.0, l2 = 0.0, l1 = 0.0;
    *out = NULL;
    tacet_status s = tacet_gdp_mu(&mu, settings->eps, settings->delta, err);
    if (s == TACET_OK) {
        s = tacet_bound_sensitivity(bound, &l2, &l1, &settings->neighbours, err);
    }
    if (s != TACET_OK) {
        return s;
    }
    tacet_stream *stream = TACET__ZALLOC(tacet_stream, 1);
    if (stream == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a stream");
    }
    stream->settings = *settings;
    stream->bound = bound;
    stream->dim = bound->count;
    stream->mu = mu;
    stream->delta2 = l2;
    stream->out.sum = TACET__ZALLOC(double, stream->dim);
    stream->out.estimate = TACET__ZALLOC(double, stream->dim);
    stream->out.offset = TACET__ZALLOC(double, stream->dim);
    stream->out.released = TACET__ZALLOC(double, stream->dim);
    stream->exact = TACET__ZALLOC(double, stream->dim);
    /* Seeded: a source that begins again from a key. The keys are secret, so what it gives is private (or not) as they
     * are. */
    s = tacet_noise_open_seeded(&stream->noise, 0, 0, err);
    if (s == TACET_OK && (stream->out.sum == NULL || stream->out.estimate == NULL || stream->out.offset == NULL ||
                          stream->out.released == NULL || stream->exact == NULL)) {
        s = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a stream of %zu numbers", stream->dim);
    }
    if (s == TACET_OK) {
        s = tacet__stream_reserve(stream, 1, err);
    }
    if (s != TACET_OK) {
        tacet_stream_close(stream);
        return s;
    }
    *out = stream;
    return TACET_OK;
}

/* How far the doubles computed for C x may be from the real numbers, in each coordinate (src/dp/streams/README.md, 4).
 */
static double computed_error(const tacet__factor *f, double radius) {
    /* Not asked of the tree, whose sums of grid points are exact. */
    const double most = (double)f->most;
    if (f->kind == TACET_FACTORIZATION_TOEPLITZ) {
        return 2.0 * DBL_EPSILON * (most + 4.0) * tacet__factor_row_sum(f) * radius;
    }
    double sum = 1.0;
    for (size_t i = 0; i < f->buffers; i++) {
        const double memory = fmin(most, 1.0 / (1.0 - fabs(f->theta[i])));
        sum += fabs(f->omega[i]) * memory * (memory + 8.0);
    }
    return 4.0 * DBL_EPSILON * sum * radius;
}

tacet_status tacet__stream_calibrate(const tacet_stream *s, const tacet__factor *f, double *sensitivity, double *sigma,
                                     int *grid, tacet_error *err) {
    const double column = tacet__factor_column(f), numbers = (double)s->dim * (double)f->most;
    const double bits = DRAW_GRID_BITS + ceil(0.5 * log2(numbers));
    *grid = tacet__grid_exponent(column * s->delta2 / s->mu,
                                 bits < GRID_BITS_MOST ? (unsigned)bits : (unsigned)GRID_BITS_MOST);
    const double step = ldexp(1.0, *grid);
    if (f->kind == TACET_FACTORIZATION_TREE) {
        /* The vectors are rounded, their sums are exact. */
        *sensitivity = column * (s->delta2 + step * sqrt((double)s->dim)) * (1.0 + 0x1p-40);
    } else {
        const double off = 0.5 * step + computed_error(f, s->bound->radius);
        *sensitivity = (column * s->delta2 + 2.0 * off * sqrt(numbers)) * (1.0 + 0x1p-40);
    }
    *sigma = nextafter(*sensitivity / s->mu, INFINITY);
    if (!(tacet__factor_row_sum(f) * s->bound->radius <= WIDEST * step)) {
        return tacet__fail(err, TACET_INVALID, "the bound is too wide for its sensitivity: sums do not fit the grid");
    }
    return TACET_OK;
}

static size_t slots_of(const tacet__factor *f) {
    if (f->kind == TACET_FACTORIZATION_TOEPLITZ) {
        return f->most;
    }
    size_t levels = 0;
    for (size_t n = f->most; n > 0; n >>= 1) {
        levels++;
    }
    return f->kind == TACET_FACTORIZATION_TREE ? levels : f->buffers;
}

tacet_status tacet__stream_memory(const tacet_stream *stream, const tacet__factor *factor, size_t *slots,
                                  double **vectors, double **coefficients, tacet_error *err) {
    size_t numbers = 0;
    *slots = slots_of(factor);
    *vectors = tacet__size_mul(&numbers, *slots, stream->dim) ? TACET__ALIGNED(double, numbers) : NULL;
    *coefficients = NULL;
    const bool toeplitz = factor->kind == TACET_FACTORIZATION_TOEPLITZ;
    if (*vectors != NULL && toeplitz) {
        *coefficients = TACET__ALIGNED(double, factor->most);
    }
    if (*vectors == NULL || (toeplitz && *coefficients == NULL)) {
        free(*vectors);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a stream of %zu steps", factor->most);
    }
    if (toeplitz) {
        tacet__toeplitz_reversed(*coefficients, factor->most); /* and the vectors' pages are left untouched */
    } else {
        memset(*vectors, 0, numbers * sizeof **vectors);
    }
    return TACET_OK;
}

tacet_status tacet__stream_segment(tacet_stream *stream, const tacet__factor *factor, tacet_error *err) {
    double sensitivity = 0.0, sigma = 0.0, *held = NULL, *coefficients = NULL;
    int grid = 0;
    size_t slots = 0;
    tacet_status s = tacet__stream_calibrate(stream, factor, &sensitivity, &sigma, &grid, err);
    if (s == TACET_OK) {
        s = tacet__stream_memory(stream, factor, &slots, &held, &coefficients, err);
    }
    if (s != TACET_OK) {
        return s;
    }
    free_segment(stream);
    stream->factor = *factor;
    stream->sensitivity = sensitivity;
    stream->sigma = sigma;
    stream->grid_exponent = grid;
    stream->slots = slots;
    stream->held = held;
    stream->coefficients = coefficients;
    stream->taken = 0;
    return TACET_OK;
}

static void fill_receipt(const tacet_stream *s, tacet_receipt *r) {
    memset(r, 0, sizeof *r);
    (void)snprintf(r->mechanism, sizeof r->mechanism, "%s", tacet_factorization_name(s->settings.factorization));
    r->is_private = s->is_private;
    r->in_ledger = s->ledger != NULL;
    r->eps = s->settings.eps;
    r->delta = s->settings.delta;
    r->mu = s->mu;
    r->sensitivity = s->sensitivity;
    r->scale = s->sigma;
    r->grid_exponent = s->grid_exponent;
    r->rows = 1;
    r->count = s->dim;
    r->entry = s->entry.seq;
    memcpy(r->entry_hash, s->entry.hash, sizeof r->entry_hash);
}

/* What the ledger stores as the stream's answer: who it is, by the hash of its key. Two streams opened under one
 * ticket, after a crash before the first release, have one key; of their releases the marks admit one history. */
tacet_status tacet__stream_identity(const tacet_stream *s, tacet_release **out, tacet_error *err) {
    tacet_receipt r;
    fill_receipt(s, &r);
    r.sensitivity = 0.0; /* of the first segment or a later one: no part of the identity */
    r.scale = 0.0;
    r.grid_exponent = 0;
    (void)crypto_generichash(r.content_hash, sizeof r.content_hash, s->key, sizeof s->key, NULL, 0);
    return tacet__release_mint(out, &r, NULL, 0, err);
}

static tacet_status commit(tacet_stream *s, tacet_error *err) {
    tacet_release *self = NULL;
    const tacet_ask ask = {.ledger = s->ledger};
    if (s->committed) {
        return TACET_OK;
    }
    tacet_status status = tacet__stream_identity(s, &self, err);
    if (status == TACET_OK) {
        status = tacet__gate_commit(&ask, &s->entry, self, err);
    }
    tacet_release_free(self);
    s->committed = status == TACET_OK;
    return status;
}

void tacet__stream_charge(const tacet_stream *stream, tacet_charge *out, char *parameters) {
    const tacet_stream_settings *set = &stream->settings;
    tacet_charge_init(out);
    out->mechanism = tacet_factorization_name(set->factorization);
    tacet_charge_gaussian(out, stream->mu, set->eps, set->delta);
    (void)snprintf(parameters, TACET__STREAM_PARAMETERS,
                   "{\"most\":%zu,\"doubling\":%s,\"count\":%zu,\"sensitivity\":%.17g,\"bound_radius\":%.17g,"
                   "\"bound_proof\":\"%s\"}",
                   set->most, set->doubling ? "true" : "false", stream->dim, stream->delta2, stream->bound->radius,
                   tacet_bound_proof(stream->bound));
    out->parameters = parameters;
}

/* Charges the whole stream, once. */
static tacet_status reserve(tacet_stream *stream, const tacet_ask *ask, tacet_error *err) {
    char parameters[TACET__STREAM_PARAMETERS];
    tacet_charge charge;
    tacet_receipt receipt;
    tacet_release *answered = NULL;
    tacet__stream_charge(stream, &charge, parameters);
    /* Not bound to data: there are none yet. Every step's key is of all vectors up to it, and the marks in the ledger
     * keep the stream to one history. */
    static const unsigned char NONE[TACET_MINT_BYTES];
    const tacet_status s =
        tacet__gate_reserve(ask, &charge, &receipt, &stream->entry, NONE, stream->key, &answered, err);
    tacet_release_free(answered);
    stream->ledger = ask->ledger;
    stream->is_private = receipt.is_private;
    if (s == TACET_OK && answered != NULL) {
        return tacet__fail(err, TACET_CONFLICT,
                           "this stream was opened and released from before: load its saved state");
    }
    return s;
}

tacet_status tacet_stream_open(tacet_stream **out, const tacet_stream_settings *settings, const tacet_bound *bound,
                               const tacet_ask *ask, tacet_error *err) {
    tacet__factor factor;
    tacet_stream *stream = NULL;
    *out = NULL;
    tacet_status s = tacet__factor_init(&factor, settings->factorization, settings->most, err);
    if (s == TACET_OK) {
        s = tacet__stream_make(&stream, settings, bound, err);
    }
    if (s != TACET_OK) {
        return s;
    }
    s = tacet__stream_segment(stream, &factor, err);
    if (s == TACET_OK) {
        s = tacet__stream_out_segment(stream, &factor, err);
    }
    if (s == TACET_OK) {
        s = reserve(stream, ask, err);
    }
    if (s != TACET_OK) {
        tacet_stream_close(stream);
        return s;
    }
    for (size_t i = 0; i < sizeof stream->key && !stream->is_private; i += sizeof(uint64_t)) {
        const uint64_t word = tacet__noise_u64(ask->noise);
        memcpy(stream->key + i, &word, sizeof word);
    }
    *out = stream;
    return TACET_OK;
}

/* c = (C x)_t for the next t, into s->exact; the memory of x is updated. */
static void absorb(tacet_stream *s, const double *x, size_t t) {
    const size_t dim = s->dim;
    double *c = s->exact;
    if (s->factor.kind == TACET_FACTORIZATION_TREE) {
        size_t level = 0;
        for (size_t i = 0; i < dim; i++) {
            c[i] = tacet__round_to_grid(x[i], s->grid_exponent);
        }
        for (; ((t >> level) & 1) == 0; level++) {
            tacet__axpy(c, 1.0, s->held + level * dim, dim);
        }
        memcpy(s->held + level * dim, c, dim * sizeof *c);
    } else if (s->factor.kind == TACET_FACTORIZATION_TOEPLITZ) {
        memcpy(s->held + (t - 1) * dim, x, dim * sizeof *x);
        tacet__gemv(false, dim, t, 1.0, s->held, dim, s->coefficients + (s->factor.most - t), 0.0, c);
    } else {
        memcpy(c, x, dim * sizeof *x);
        for (size_t b = 0; b < s->factor.buffers; b++) {
            double *buffer = s->held + b * dim;
            const double omega = s->factor.omega[b], theta = s->factor.theta[b];
            for (size_t i = 0; i < dim; i++) {
                c[i] += omega * buffer[i];
                buffer[i] = theta * buffer[i] + x[i];
            }
        }
    }
}

/* The segment is full: a longer one begins. */
static tacet_status next_segment(tacet_stream *s, tacet_error *err) {
    tacet__factor factor;
    const tacet__factor full = s->factor;
    if (!s->settings.doubling || s->factor.most > TACET__STREAM_MOST / 2) {
        return tacet__fail(err, TACET_STATE, "the stream has taken all of its %zu steps", s->steps);
    }
    tacet_status status = tacet__factor_init(&factor, s->factor.kind, 2 * s->factor.most, err);
    if (status == TACET_OK) {
        status = tacet__stream_segment(s, &factor, err);
    }
    if (status == TACET_OK) {
        s->full[s->segment++] = full;
    }
    return status;
}

/* The key of a step: of the stream's key, its place, and every vector up to it. */
static void step_key(const tacet_stream *s, unsigned char *key, unsigned char *chain, const double *x) {
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, s->key, sizeof s->key, TACET__STREAM_HASH_BYTES);
    (void)crypto_generichash_update(&state, s->chain, sizeof s->chain);
    (void)crypto_generichash_update(&state, (const unsigned char *)x, s->dim * sizeof *x);
    (void)crypto_generichash_final(&state, chain, TACET__STREAM_HASH_BYTES);
    unsigned char place[TACET__STREAM_HASH_BYTES + sizeof(uint64_t)];
    const uint64_t number = s->steps + 1;
    memcpy(place, chain, TACET__STREAM_HASH_BYTES);
    memcpy(place + TACET__STREAM_HASH_BYTES, &number, sizeof number);
    (void)crypto_generichash(key, TACET__STREAM_KEY_BYTES, place, sizeof place, s->key, sizeof s->key);
    sodium_memzero(&state, sizeof state);
}

tacet_status tacet_stream_step(tacet_stream *stream, const tacet_bounded *x, tacet_error *err) {
    if (x->bound != stream->bound) {
        return tacet__fail(err, TACET_INVALID, "the vector was clipped to another bound than the stream's");
    }
    tacet_status s = tacet__stream_reserve(stream, stream->waiting + 1, err);
    if (s == TACET_OK && stream->taken == stream->factor.most) {
        s = next_segment(stream, err);
    }
    if (s != TACET_OK) {
        return s;
    }
    unsigned char chain[TACET__STREAM_HASH_BYTES];
    step_key(stream, stream->keys + stream->waiting * TACET__STREAM_KEY_BYTES, chain, x->values);
    const size_t t = stream->taken + 1;
    absorb(stream, x->values, t);
    for (size_t i = 0; i < stream->dim; i++) {
        stream->exact[i] = tacet__round_to_grid(stream->exact[i], stream->grid_exponent);
    }
    memcpy(stream->parts + stream->waiting * stream->dim, stream->exact, stream->dim * sizeof *stream->exact);
    stream->waiting++;
    memcpy(stream->chain, chain, sizeof chain);
    stream->taken = t;
    stream->steps++;
    stream->saved = false;
    if (stream->ledger != NULL) {
        tacet__stream_mark(stream);
    }
    return TACET_OK;
}

tacet_status tacet_stream_read(tacet_stream *stream, double *values, double *sd, tacet_error *err) {
    if (stream->steps == 0 || !stream->saved) {
        return tacet__fail(err, TACET_STATE, "%s",
                           stream->steps == 0 ? "nothing was summed yet"
                                              : "the last step must be saved before its release may leave");
    }
    tacet_status s = commit(stream, err);
    if (s == TACET_OK && stream->ledger != NULL) {
        s = tacet__stream_enter(stream, err);
    }
    if (s == TACET_OK) {
        s = tacet__stream_draw(stream, err);
    }
    if (s != TACET_OK) {
        return s;
    }
    const tacet__stream_out *out = &stream->out;
    for (size_t i = 0; i < stream->dim; i++) {
        values[i] = out->offset[i] + out->estimate[i];
    }
    if (sd != NULL) {
        const double error = tacet__factor_error_sq(&out->factor, out->taken);
        *sd = sqrt(out->offset_var + out->sigma * out->sigma * error);
    }
    return TACET_OK;
}

tacet_status tacet_stream_release(tacet_stream *stream, tacet_release **out, tacet_error *err) {
    tacet_receipt receipt;
    *out = NULL;
    double *values = TACET__ZALLOC(double, stream->dim);
    if (values == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu numbers", stream->dim);
    }
    fill_receipt(stream, &receipt);
    receipt.step = stream->steps;
    tacet_status s = tacet_stream_read(stream, values, &receipt.error_sd, err);
    if (s == TACET_OK) {
        s = tacet__release_mint(out, &receipt, values, stream->dim, err);
    }
    free(values);
    return s;
}

size_t tacet_stream_steps(const tacet_stream *stream) {
    return stream->steps;
}

bool tacet_stream_is_private(const tacet_stream *stream) {
    return stream->is_private;
}
