/* SPDX-License-Identifier: Apache-2.0 */
/* learner.h (open) - the learner of central and local joint DP: sees released sums only, scores arms.
 *
 * It is told, at the end of a batch of `count` rounds, a noisy sum of (v phi(x), (1 - v) phi(x)) with the variance of
 * its noise (central/shared/map.h); a central study shapes its batches itself. From that it works out where the
 * rounds were played and what they returned, with a posterior that knows the noise. Everything here is post-processing:
 * no choice of the settings below can harm privacy, only accuracy. Derivation, and what is proven of which:
 * src/central/README.md. Not thread-safe. A call that fails leaves the learner as it was. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "central/shared/map.h"
#include <tacet/core/blob.h>
#include <tacet/core/simrng.h>
#include <tacet/core/status.h>

typedef struct tacet_central_learner_settings {
    size_t grid;     /* points of the public grid; default 0: 640, or every point of a domain of levels that has at most
                        512 */
    size_t set_size; /* arms a round typically offers; default 25 */
    double typical_reward; /* what an unseen arm is taken to return, mapped to (0, 1); default 0.5 */
    bool counted;          /* arms are counted one by one (counts.h); default false. INVALID where
                              tacet__central_countable is 0 */
} tacet_central_learner_settings;

typedef struct tacet_central_learner tacet_central_learner;

void tacet_central_learner_settings_defaults(tacet_central_learner_settings *settings);
/* The map is borrowed and must outlive the learner. INVALID names the setting. NO_MEMORY. */
tacet_status tacet_central_learner_create(tacet_central_learner **out, const tacet_central_map *map,
                                          const tacet_central_learner_settings *settings, tacet_error *err);
void tacet_central_learner_free(tacet_central_learner *learner); /* NULL is allowed */

/* Notes that a round was played by the current scores (or, before the first update, at random). */
void tacet_central_learner_played(tacet_central_learner *learner);
/* A release: 2r sums over the `count` rounds since the one before, each with noise of variance `noise_var`. INVALID: a
 * number that is not finite, noise_var not > 0, count = 0. NUMERIC: what was known stays. Allocates nothing. */
tacet_status tacet_central_learner_update(tacet_central_learner *learner, const double *sums, double noise_var,
                                          uint64_t count, tacet_error *err);
bool tacet_central_learner_informed(const tacet_central_learner *learner); /* an update was made */

/* Posterior of the mean reward, in the rewards' own units, at n points (columns of X, clipped to the domain). sd may
 * be NULL. */
void tacet_central_learner_predict(tacet_central_learner *learner, double *mean, double *sd, const double *X,
                                   size_t ldx, size_t n);
/* The arm of the highest score and that score (in the rewards' units); any n > 0. coin: of counted arms, else NULL. */
size_t tacet_central_learner_choose(tacet_central_learner *learner, double *score, const double *X, size_t ldx,
                                    size_t n, tacet_simrng *coin);
/* The best posterior mean over the learner's grid: its point (d numbers, may be NULL), mean and sd. */
void tacet_central_learner_best(tacet_central_learner *learner, double *x, double *mean, double *sd);
/* What it predicts with, m coefficients of the features: the mean reward is lo + (hi - lo)/(1 + exp(-s)) with
 * s = *level + <theta, phi(x)>. */
const double *tacet_central_learner_theta(const tacet_central_learner *learner, double *level);
/* Root mean square of the posterior's sd over the grid, in the rewards' units. */
double tacet_central_learner_error(tacet_central_learner *learner);
