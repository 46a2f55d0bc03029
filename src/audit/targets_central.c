/* SPDX-License-Identifier: Apache-2.0 */
/* targets_central.c - joint DP: one round's decision set and reward are replaced.
 * Ring: audit. Worst case: a record of a batch becomes its opposite, which is as far as two records can be apart
 * (src/central/README.md, (c)); the real gate of batches runs, with Gaussian noise, and the statistic is the likelihood
 * ratio, the release projected on the difference. */
#include "audit/targets.h"

#include "gp/linalg.h"
#include "dp/noise/sampler.h"
#include "central/open/stepwise.h"
#include "central/trusted/gate.h"

#include <math.h>
#include <string.h>

enum {
    OTHERS = 12,       /* records of the batch beside the one that differs */
    BATCH_NUMBERS = 6, /* three of the reward, three of the law of play */
    LEMMA_NUMBERS = 5
};

typedef struct central_state {
    tacet__batch_gate *gate;
    double play_weight;
    double record[2][BATCH_NUMBERS]; /* of the round that differs, by world */
    double direction[BATCH_NUMBERS]; /* of the difference, unit length */
} central_state;

static void clear(void *state) {
    tacet__batch_gate_free(((central_state *)state)->gate);
}

/* The farthest that two records can be apart: opposite rewards and opposite places of play. */
static tacet_status create_central(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                                   tacet_error *err) {
    central_state *s = state;
    (void)self;
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
static tacet_status create_counts(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                                  tacet_error *err) {
    central_state *s = state;
    (void)self;
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

static tacet_status run_central(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                                double *statistic, tacet_error *err) {
    central_state *s = state;
    (void)self;
    double released[BATCH_NUMBERS] = {0}, sum[BATCH_NUMBERS];
    const tacet_status status = release_batch(s, noise, world, released, sum, err);
    *statistic = tacet__dot(released, s->direction, BATCH_NUMBERS);
    return status;
}

/* The log-likelihood ratio of Laplace noise, but for its scale. */
static tacet_status run_counts(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                               double *statistic, tacet_error *err) {
    central_state *s = state;
    (void)self;
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
static tacet_status run_shared(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                               double *statistic, tacet_error *err) {
    central_state *s = state;
    (void)self;
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

/* Lemma 5 of the paper, rewards in [-1, 1]: noise for the sensitivity of each element. Two arms whose features are
 * (-a, b) and (-b, a) in two coordinates, rewards 1 and -1; the matrix has noise in its lower triangle only. At eps =
 * 10 and delta = 0.1 this pair needs delta = 0.2107. */
typedef struct lemma_state {
    double mean[2][LEMMA_NUMBERS], sigma[LEMMA_NUMBERS], shift[LEMMA_NUMBERS];
} lemma_state;

static tacet_status create_lemma(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                                 tacet_error *err) {
    lemma_state *s = state;
    (void)self;
    (void)err;
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

static tacet_status run_lemma(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                              double *statistic, tacet_error *err) {
    const lemma_state *s = state;
    (void)self;
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

#define BATCH .size = sizeof(central_state), .clear = clear
TARGET(central, .name = "central",
       .summary = "a batch of a joint-DP bandit; one round's decision set and reward replaced", BATCH,
       .create = create_central, .run = run_central);
TARGET(central_counts, .name = "central-counts",
       .summary = "a batch of counted arms; one round's decision set and reward replaced", BATCH,
       .create = create_counts, .run = run_counts);
TARGET(central_shared, .name = "control:central-shared-noise",
       .summary = "BROKEN: releases of a joint-DP bandit that share one draw of noise", .control = true, BATCH,
       .create = create_central, .run = run_shared);
TARGET(central_lemma_5, .name = "published-lemma-5",
       .summary = "a local report with the published noise, calibrated element by element: too little for large eps",
       .size = sizeof(lemma_state), .create = create_lemma, .run = run_lemma);
