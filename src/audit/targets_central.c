/* SPDX-License-Identifier: Apache-2.0 */
/* targets_central.c - joint and local joint DP: one round's decision set and reward are replaced.
 * Ring: audit. Worst case, central: a record of a batch becomes its opposite, which is as far as two records can be
 * apart (src/central/README.md, (c)); the real gate of batches runs, with Gaussian noise, and the statistic is the
 * likelihood ratio, the release projected on the difference. Local: the record farthest from the first among many
 * tried, and the real device. */
#include "audit/targets.h"

#include "gp/domain.h"
#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "dp/noise/sampler.h"
#include "central/open/stepwise.h"
#include "central/trusted/gate.h"

#include "central/shared/map.h"
#include "central/trusted/policy.h"
#include "local/trusted/statistics_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OTHERS = 12,       /* records of the batch beside the one that differs */
    BATCH_NUMBERS = 6, /* three of the reward, three of the law of play */
    TRIED = 300,
    FEATURES = 20,
    RELEASED = 15,
    NUMBERS = 2 * RELEASED,
    LEMMA_NUMBERS = 5
};
static const tacet_domain BALL = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = 2};

typedef struct central_state {
    tacet_features *features;
    tacet_central_map *map;
    tacet__batch_gate *gate; /* central */
    double play_weight;
    tacet_statistics_device *device; /* local */
    double record[2][NUMBERS];       /* of the round that differs, by world */
    double point[2][2], reward[2];
    double direction[NUMBERS]; /* of the difference, unit length */
} central_state;

static void free_target(void *state) {
    central_state *s = state;
    if (s != NULL) {
        tacet__batch_gate_free(s->gate);
        tacet_statistics_device_free(s->device);
        tacet_central_map_free(s->map);
        tacet_features_free(s->features);
        free(s);
    }
}

static tacet_status make_map(central_state *s, tacet_error *err) {
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    spec.d = 2;
    tacet_kernel *kernel = NULL;
    tacet_status status = tacet_kernel_create(&kernel, &spec, err);
    TACET_THEN(status, tacet_features_create_mercer(&s->features, kernel, &BALL, 12, FEATURES, err));
    TACET_THEN(status, tacet_central_map_create(&s->map, s->features, &BALL, RELEASED, 0, 1, err));
    tacet_kernel_free(kernel);
    return status;
}

/* The two records that are farthest apart among all pairs of spread points and rewards 0 and 1. */
static tacet_status worst_pair(central_state *s, tacet_error *err) {
    double *X = TACET__ZALLOC(double, 2 * TRIED);
    double *all = TACET__ZALLOC(double, (size_t)2 * TRIED * NUMBERS);
    if (X == NULL || all == NULL) {
        free(X);
        free(all);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating an audit target");
    }
    tacet__domain_spread(&BALL, X, TRIED);
    double work[FEATURES + 2], farthest = 0;
    for (size_t k = 0; k < 2 * TRIED; k++) {
        tacet_central_map_record(s->map, all + k * NUMBERS, work, X + 2 * (k / 2), (double)(k % 2));
        for (size_t j = 0; j < k; j++) {
            double d2 = 0;
            for (size_t i = 0; i < NUMBERS; i++) {
                const double d = all[k * NUMBERS + i] - all[j * NUMBERS + i];
                d2 += d * d;
            }
            if (d2 > farthest) {
                farthest = d2;
                const size_t which[2] = {j, k};
                for (size_t w = 0; w < 2; w++) {
                    memcpy(s->record[w], all + which[w] * NUMBERS, sizeof s->record[w]);
                    memcpy(s->point[w], X + 2 * (which[w] / 2), sizeof s->point[w]);
                    s->reward[w] = (double)(which[w] % 2);
                }
            }
        }
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        s->direction[i] = (s->record[1][i] - s->record[0][i]) / sqrt(fmax(farthest, 1e-300));
    }
    free(X);
    free(all);
    return TACET_OK;
}

/* The farthest that two records can be apart: opposite rewards and opposite places of play. */
static tacet_status open_central(central_state *s, const tacet_audit_claim *claim, tacet_error *err) {
    s->play_weight = tacet__stepwise_play(&(tacet__batch_noise){.gaussian_var = 1});
    const double sensitivity = tacet__stepwise_sensitivity(s->play_weight);
    const tacet__batch_terms terms = {.eps = claim->eps,
                                      .delta = claim->delta,
                                      .sensitivity = sensitivity,
                                      .longest = (OTHERS + 1) * sensitivity,
                                      .few = false,
                                      .proof = "src/central/README.md"};
    s->record[1][0] = 0.5;
    s->record[1][BATCH_NUMBERS / 2] = s->play_weight;
    for (size_t i = 0; i < BATCH_NUMBERS; i++) {
        s->record[0][i] = -s->record[1][i];
        s->direction[i] = (s->record[1][i] - s->record[0][i]) / sensitivity;
    }
    return tacet__batch_gate_create(&s->gate, &terms, err);
}

/* Two rounds of counted arms: a reward of 1 at one arm, of 0 at another. */
static tacet_status open_counts(central_state *s, const tacet_audit_claim *claim, tacet_error *err) {
    const tacet__batch_terms terms = {.eps = claim->eps,
                                      .sensitivity = 2,
                                      .longest = 2 * (OTHERS + 1),
                                      .few = true,
                                      .l1 = true,
                                      .proof = "src/central/README.md"};
    s->record[0][0] = 1;
    s->record[1][BATCH_NUMBERS - 1] = 1;
    return tacet__batch_gate_create(&s->gate, &terms, err);
}

typedef enum kind { CENTRAL, COUNTS, LOCAL } kind;

static tacet_status create(void **state, const tacet_audit_claim *claim, kind what, tacet_error *err) {
    const bool local = what == LOCAL;
    *state = NULL;
    central_state *s = TACET__ZALLOC(central_state, 1);
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating an audit target");
    }
    tacet_status status = local            ? make_map(s, err)
                          : what == COUNTS ? open_counts(s, claim, err)
                                           : open_central(s, claim, err);
    if (status == TACET_OK && local) {
        status = worst_pair(s, err);
    }
    if (status == TACET_OK && local) {
        status = tacet_statistics_device_create(&s->device, s->map, claim->eps, claim->delta, err);
    }
    if (status != TACET_OK) {
        free_target(s);
        return status;
    }
    *state = s;
    return TACET_OK;
}

static tacet_status create_central(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return create(state, claim, CENTRAL, err);
}

static tacet_status create_local(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return create(state, claim, LOCAL, err);
}

static tacet_status create_counts(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return create(state, claim, COUNTS, err);
}

/* A batch of OTHERS records of world 0 and one of `world`: the release, and its exact sum. */
static tacet_status release_batch(central_state *s, tacet_noise *noise, int world, double *released, double *sum,
                                  tacet_error *err) {
    tacet_noise *seeded = NULL;
    tacet_release *release = NULL;
    double var = 0;
    for (size_t i = 0; i < BATCH_NUMBERS; i++) {
        sum[i] = OTHERS * s->record[0][i] + s->record[world][i];
    }
    const uint64_t a = tacet__noise_u64(noise), b = tacet__noise_u64(noise);
    tacet_status status = tacet_noise_open_seeded(&seeded, a, b, err);
    const tacet_ask ask = {.noise = seeded, .ticket = "audit", .what = "audit", .to_whom = "auditor"};
    TACET_THEN(status,
               tacet__batch_gate_run(s->gate, &release, &var, &ask, 1, "each of its rounds", sum, BATCH_NUMBERS, err));
    if (status == TACET_OK) {
        memcpy(released, tacet_release_values(release), BATCH_NUMBERS * sizeof(double));
    }
    tacet_release_free(release);
    tacet_noise_close(seeded);
    return status;
}

static tacet_status run_central(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    central_state *s = state;
    double released[BATCH_NUMBERS] = {0}, sum[BATCH_NUMBERS];
    const tacet_status status = release_batch(s, noise, world, released, sum, err);
    *statistic = tacet__dot(released, s->direction, BATCH_NUMBERS);
    return status;
}

/* The log-likelihood ratio of Laplace noise, but for its scale. */
static tacet_status run_counts(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    central_state *s = state;
    double released[BATCH_NUMBERS] = {0}, sum[BATCH_NUMBERS];
    const tacet_status status = release_batch(s, noise, world, released, sum, err);
    *statistic = 0;
    for (size_t i = 0; i < BATCH_NUMBERS; i++) {
        const double others = OTHERS * s->record[0][i];
        *statistic += fabs(released[i] - others - s->record[0][i]) - fabs(released[i] - others - s->record[1][i]);
    }
    return status;
}

/* What the only public code of the paper does: one draw of noise for all releases, so that differences are exact. Here
 * the noise of a first batch, of world 0 whatever the world, is taken for the second as well. */
static tacet_status run_shared(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    central_state *s = state;
    double first[BATCH_NUMBERS] = {0}, sum[BATCH_NUMBERS];
    const tacet_status status = release_batch(s, noise, 0, first, sum, err);
    *statistic = 0;
    for (size_t i = 0; i < BATCH_NUMBERS; i++) {
        const double shared = first[i] - sum[i];
        const double second = OTHERS * s->record[0][i] + s->record[world][i] + shared;
        *statistic += (second - first[i]) * s->direction[i];
    }
    return status;
}

/* Without a ledger only a seeded source is accepted, so each report is seeded by the auditor's own noise. */
static tacet_status run_local(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    central_state *s = state;
    tacet_noise *seeded = NULL;
    tacet_release *release = NULL;
    const uint64_t a = tacet__noise_u64(noise), b = tacet__noise_u64(noise);
    tacet_status status = tacet_noise_open_seeded(&seeded, a, b, err);
    const tacet_ask ask = {.noise = seeded, .ticket = "audit", .what = "audit", .to_whom = "auditor"};
    TACET_THEN(status,
               tacet_statistics_device_report(s->device, &release, &ask, s->point[world], s->reward[world], err));
    *statistic = status == TACET_OK ? tacet__dot(tacet_release_values(release), s->direction, NUMBERS) : 0;
    tacet_release_free(release);
    tacet_noise_close(seeded);
    return status;
}

/* Lemma 5 of the paper, rewards in [-1, 1]: noise for the sensitivity of each element. Two arms whose features are
 * (-a, b) and (-b, a) in two coordinates, rewards 1 and -1; the matrix has noise in its lower triangle only. At eps =
 * 10 and delta = 0.1 this pair needs delta = 0.2107. */
typedef struct lemma_state {
    double mean[2][LEMMA_NUMBERS], sigma[LEMMA_NUMBERS], shift[LEMMA_NUMBERS];
} lemma_state;

static tacet_status create_lemma(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    lemma_state *s = TACET__ZALLOC(lemma_state, 1);
    *state = s;
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating an audit target");
    }
    const double x_sigma = sqrt(8 * log(2.5 / claim->delta)) / claim->eps;
    const double u_sigma = sqrt(8 * log(5 / claim->delta)) / claim->eps;
    const double a = 0.20791169081775931, b = sqrt(1 - a * a);
    /* the elements that differ: matrix (1,1), (2,1), (2,2), then the vector */
    const double zero[LEMMA_NUMBERS] = {a * a, -a * b, b * b, -a, b},
                 one[LEMMA_NUMBERS] = {b * b, -a * b, a * a, b, -a};
    for (size_t i = 0; i < LEMMA_NUMBERS; i++) {
        s->sigma[i] = i < 3 ? x_sigma : u_sigma;
        s->mean[0][i] = zero[i];
        s->mean[1][i] = one[i];
        s->shift[i] = (one[i] - zero[i]) / (s->sigma[i] * s->sigma[i]);
    }
    return TACET_OK;
}

static tacet_status run_lemma(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    const lemma_state *s = state;
    *statistic = 0;
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < LEMMA_NUMBERS && status == TACET_OK; i++) {
        double z = 0;
        status =
            tacet__draw_gaussian(noise, &z, 1, s->sigma[i], tacet__grid_exponent(s->sigma[i], DRAW_GRID_BITS), err);
        *statistic += s->shift[i] * (s->mean[world][i] + z);
    }
    return status;
}

const tacet_audit_target tacet__audit_central = {
    .name = "central",
    .summary = "a batch of a joint-DP bandit; one round's decision set and reward replaced",
    .create = create_central,
    .run = run_central,
    .free = free_target,
};
const tacet_audit_target tacet__audit_central_counts = {
    .name = "central-counts",
    .summary = "a batch of counted arms; one round's decision set and reward replaced",
    .create = create_counts,
    .run = run_counts,
    .free = free_target,
};
const tacet_audit_target tacet__audit_local_statistics = {
    .name = "local-statistics",
    .summary = "one report of a user of the local model; decision set and reward replaced",
    .create = create_local,
    .run = run_local,
    .free = free_target,
};
const tacet_audit_target tacet__audit_central_shared = {
    .name = "control:central-shared-noise",
    .summary = "BROKEN: releases of a joint-DP bandit that share one draw of noise",
    .control = true,
    .create = create_central,
    .run = run_shared,
    .free = free_target,
};
const tacet_audit_target tacet__audit_central_lemma_5 = {
    .name = "published-lemma-5",
    .summary = "a local report with the published noise, calibrated element by element: too little for large eps",
    .create = create_lemma,
    .run = run_lemma,
    .free = free,
};
