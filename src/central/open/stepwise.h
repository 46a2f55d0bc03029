/* SPDX-License-Identifier: Apache-2.0 */
/* stepwise.h - law of play and reward, learnt batch by batch from releases that are shaped for it. Ring: open.
 * README.md, (d). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

#include "central/open/shape.h"
#include "core/state.h"

typedef struct tacet__stepwise tacet__stepwise;

enum { TACET__STEPWISE_POINTS = 64 }; /* points predicted at a time */

/* Phi (m x points, borrowed): the features of the grid, of which the leading `tilted` describe the law of play. level:
 * the logit of a typical reward. */
tacet_status tacet__stepwise_create(tacet__stepwise **out, const double *Phi, size_t ld, size_t features, size_t tilted,
                                    size_t points, double level, tacet_error *err);
void tacet__stepwise_free(tacet__stepwise *s); /* NULL is allowed */
size_t tacet__stepwise_most(size_t features);  /* numbers of a record at most */
/* How long the part of a record that tells where was played is, and so how far two records can be apart, under noise of
 * this kind for a sensitivity of 1. */
double tacet__stepwise_play(const tacet__batch_noise *unit);
double tacet__stepwise_sensitivity(double play);
/* Shapes the coming batch of n rounds, which will be played by the law `guess` (of any total, on the grid): *k numbers
 * a record. Where the batch can tell nothing they are 0. NUMERIC, NO_MEMORY: *k = 0. */
tacet_status tacet__stepwise_plan(tacet__stepwise *s, size_t *k, size_t n, const double *guess, double play,
                                  const tacet__batch_noise *noise, tacet_error *err);
/* The coming release has both parts of every record for the leading `features`, as they are: ((v - 1/2) phi, phi/2).
 * Who adds such records up proves their distance; tacet__stepwise_record is not for them. */
void tacet__stepwise_plan_whole(tacet__stepwise *s, size_t features);
void tacet__stepwise_end(tacet__stepwise *s);             /* nothing is planned */
size_t tacet__stepwise_numbers(const tacet__stepwise *s); /* the planned batch's *k */
/* What the planned batch makes of a round at features phi (m) with v in [0, 1]: *k numbers. Total. */
void tacet__stepwise_record(const tacet__stepwise *s, double *out, const double *phi, double v);
/* Sums over n rounds of the planned batch, with noise of variance noise_var in each. NUMERIC leaves what was known. */
tacet_status tacet__stepwise_update(tacet__stepwise *s, const double *sums, size_t n, const double *guess,
                                    double noise_var, tacet_error *err);
/* Logit of the reward at n <= TACET__STEPWISE_POINTS points: mean and variance. */
void tacet__stepwise_logit(tacet__stepwise *s, double *mean, double *var, const double *phi, size_t ld, size_t n);
const double *tacet__stepwise_theta(const tacet__stepwise *s); /* level, then m coefficients */
void tacet__stepwise_state(tacet__stepwise *s, tacet__state *state);
/* Its covariance: the lower triangle, column after column. */
void tacet__stepwise_cov(const tacet__stepwise *s, double *out);
