/* SPDX-License-Identifier: Apache-2.0 */
/* learner_batches.h - the learner of central studies, which shapes the batch, makes its records, takes its release. All
 * else is central/open/learner.h. Ring: open. */
#pragma once

#include "central/open/learner.h"

#include "central/open/shape.h"
#include "core/state.h"

/* How many arms there are, where they are few and tell nothing of each other by the kernel: counted one by one. 0: not
 * so. Over decision sets alone: the policy says when, tacet_central_learner_settings. */
size_t tacet__central_countable(const tacet_central_map *map);
/* The coming batch of n rounds: *k numbers a record, 0 where it can tell nothing. `play` as in stepwise.h. */
tacet_status tacet__central_learner_plan(tacet_central_learner *learner, size_t *k, size_t n, double play,
                                         const tacet__batch_noise *noise, tacet_error *err);
/* The record of a round at x (clipped to the domain) with reward y; work: features + d numbers, wiped. Total. */
void tacet__central_learner_record(const tacet_central_learner *learner, double *out, double *work, const double *x,
                                   double y);
/* The release of the planned batch, of `count` rounds. Errors of tacet_central_learner_update; the batch is over. */
tacet_status tacet__central_learner_take(tacet_central_learner *learner, const double *sums, double noise_var,
                                         uint64_t count, tacet_error *err);
/* What it remembers (core/state.h). */
void tacet__central_learner_state(void *learner, tacet__state *s);
/* What ranks arms, for whoever scores them elsewhere: the logit's level and coefficients, their covariance (the lower
 * triangle, column after column), and how many standard deviations are added. */
void tacet__central_learner_scoring(const tacet_central_learner *learner, double *theta, double *cov, double *width);
