/* SPDX-License-Identifier: Apache-2.0 */
/* targets_stream.c - a whole stream of released sums, of which one record is replaced.
 * Ring: audit. Worst case: the first record, which every release contains, moves by the full diameter of its bound. The
 * statistic is the best linear one, w = S^-1 1 with S the covariance of the releases, which is the likelihood ratio of
 * a Gaussian vector whose mean moves by the same amount everywhere; S is estimated once from runs of world 0, so the
 * same code serves every factorisation. Every step is saved before it is released, as the interface demands. */
#include "audit/targets.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "dp/streams/again.h"

#include <tacet/dp/stream.h>

#include <stdlib.h>
#include <string.h>

enum { STEPS = 6, PILOT = 4000 };

typedef struct stream_state {
    tacet_stream_settings settings;
    tacet_bound *bound;
    tacet_raw *raw;
    tacet_bounded *vector;
    tacet_stream *stream;
    tacet_blob saved;
    double weights[STEPS];
} stream_state;

static void drop(void *state) {
    stream_state *s = state;
    if (s != NULL) {
        tacet_stream_close(s->stream);
        tacet_blob_clear(&s->saved);
        tacet_bounded_free(s->vector);
        tacet_raw_free(s->raw);
        tacet_bound_free(s->bound);
        free(s);
    }
}

static tacet_status step(stream_state *s, tacet_stream *stream, double x, double *released, tacet_error *err) {
    s->saved.size = 0; /* its room is used again */
    tacet_status status = tacet_raw_set(s->raw, &x, 1, err);
    status = status != TACET_OK ? status : tacet_bounded_set(s->vector, s->raw, err);
    status = status != TACET_OK ? status : tacet_stream_step(stream, s->vector, err);
    status = status != TACET_OK ? status : tacet_stream_save(stream, &s->saved, err);
    status = status != TACET_OK ? status : tacet_stream_read(stream, released, NULL, err);
    return status;
}

/* One stream from its first step to its end. */
static tacet_status releases(stream_state *s, tacet_noise *noise, int world, double out[STEPS], tacet_error *err) {
    tacet_status status = tacet__stream_again(s->stream, noise, err);
    for (size_t t = 0; t < STEPS && status == TACET_OK; t++) {
        const double x = t == 0 ? (world ? 1 : -1) : 0.25;
        status = step(s, s->stream, x, &out[t], err);
    }
    return status;
}

/* Without a ledger a stream wants a seeded source; every run brings a key of its own. */
static tacet_status open_stream(stream_state *s, tacet_error *err) {
    tacet_noise *key = NULL;
    tacet_status status = tacet_noise_open_seeded(&key, 0, 0, err);
    const tacet_ask ask = {.noise = key, .ticket = "audit", .what = "audit", .to_whom = "auditor"};
    status = status != TACET_OK ? status : tacet_stream_open(&s->stream, &s->settings, s->bound, &ask, err);
    tacet_noise_close(key);
    return status;
}

/* Weights from the covariance of the releases in world 0. */
static tacet_status pilot(stream_state *s, tacet_error *err) {
    double mean[STEPS] = {0};
    double S[STEPS * STEPS] = {0};
    double out[STEPS];
    tacet_noise *noise = NULL;
    tacet_status status = tacet_noise_open_seeded(&noise, 1, 1, err);
    for (size_t run = 0; run < PILOT && status == TACET_OK; run++) {
        status = releases(s, noise, 0, out, err);
        for (size_t i = 0; i < STEPS; i++) {
            mean[i] += out[i] / PILOT;
            for (size_t j = 0; j < STEPS; j++) {
                S[j * STEPS + i] += out[i] * out[j] / PILOT;
            }
        }
    }
    tacet_noise_close(noise);
    for (size_t i = 0; i < STEPS; i++) {
        for (size_t j = 0; j < STEPS; j++) {
            S[j * STEPS + i] -= mean[i] * mean[j];
        }
        s->weights[i] = 1;
    }
    status = status != TACET_OK ? status : tacet__cholesky(S, STEPS, STEPS, NULL, NULL, err);
    if (status == TACET_OK) {
        tacet__chol_solve(STEPS, S, STEPS, s->weights);
    }
    return status;
}

static tacet_status create(void **state, const tacet_audit_claim *claim, tacet_factorization factorization,
                           tacet_error *err) {
    stream_state *s = TACET__ZALLOC(stream_state, 1);
    *state = NULL;
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating an audit target");
    }
    tacet_stream_settings_defaults(&s->settings);
    s->settings.factorization = factorization;
    s->settings.most = STEPS;
    s->settings.eps = claim->eps;
    s->settings.delta = claim->delta;
    tacet_status status = tacet_bound_range(&s->bound, 1, -1, 1, err);
    status = status != TACET_OK ? status : tacet_raw_create(&s->raw, 1, err);
    status = status != TACET_OK ? status : tacet_bounded_create(&s->vector, s->bound, err);
    status = status != TACET_OK ? status : open_stream(s, err);
    status = status != TACET_OK ? status : pilot(s, err);
    if (status != TACET_OK) {
        drop(s);
        return status;
    }
    *state = s;
    return TACET_OK;
}

static tacet_status create_toeplitz(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return create(state, claim, TACET_FACTORIZATION_TOEPLITZ, err);
}

static tacet_status create_tree(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return create(state, claim, TACET_FACTORIZATION_TREE, err);
}

static tacet_status create_blt(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return create(state, claim, TACET_FACTORIZATION_BLT, err);
}

static tacet_status run(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    stream_state *s = state;
    double out[STEPS];
    const tacet_status status = releases(s, noise, world, out, err);
    *statistic = 0;
    for (size_t t = 0; status == TACET_OK && t < STEPS; t++) {
        *statistic += s->weights[t] * out[t];
    }
    return status;
}

const tacet_audit_target tacet__audit_stream = {
    .name = "stream",
    .summary = "six released sums of a stream by the Toeplitz square root; the first record is replaced",
    .create = create_toeplitz,
    .run = run,
    .free = drop,
};
const tacet_audit_target tacet__audit_stream_tree = {
    .name = "stream:tree",
    .summary = "six released sums of a stream by the binary tree; the first record is replaced",
    .create = create_tree,
    .run = run,
    .free = drop,
};
const tacet_audit_target tacet__audit_stream_blt = {
    .name = "stream:blt",
    .summary = "six released sums of a stream by buffered linear Toeplitz; the first record is replaced",
    .create = create_blt,
    .run = run,
    .free = drop,
};
