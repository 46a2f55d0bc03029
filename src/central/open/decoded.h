/* SPDX-License-Identifier: Apache-2.0 */
/* decoded.h - a measure of plays and rewards decoded from released sums, then a regression that knows the noise.
 * Ring: open; between learner.c and decoded.c. */
#ifndef TACET_SRC_CENTRAL_OPEN_DECODED_H
#define TACET_SRC_CENTRAL_OPEN_DECODED_H

#include "core/codec.h"

#include <stddef.h>
#include <tacet/core/status.h>

typedef struct tacet__decoded tacet__decoded;

typedef struct tacet__decoded_settings {
    double typical_reward, guess_weight, width, prior_var, noise_factor, reward_var; /* tacet/central/open/learner.h */
} tacet__decoded_settings;

/* Phi: features x points (borrowed, leading dimension ld); the leading `released` rows are what sums are of.
 * NO_MEMORY. */
tacet_status tacet__decoded_create(tacet__decoded **out, const double *Phi, size_t ld, size_t features, size_t released,
                                   size_t points, const tacet__decoded_settings *settings, tacet_error *err);
void tacet__decoded_free(tacet__decoded *decoded); /* NULL is allowed */
/* guess (points): where the rounds were played. drift: error of a decoded sum per round. NUMERIC: what was known
 * stays. Nothing is allocated. */
tacet_status tacet__decoded_fit(tacet__decoded *decoded, const double *sums, const double *guess, double total,
                                double noise_var, double drift, tacet_error *err);
/* Posterior of the mean reward in [0, 1] at n <= TACET__DECODED_BATCH points, given their features. */
enum { TACET__DECODED_BATCH = 64 };
void tacet__decoded_reward(tacet__decoded *decoded, double *mean, double *var, const double *phi, size_t ld, size_t n);
double tacet__decoded_width(const tacet__decoded *decoded);        /* of the scores, by the noise of the last release */
const double *tacet__decoded_theta(const tacet__decoded *decoded); /* one a feature */
void tacet__decoded_write(const tacet__decoded *decoded, tacet__writer *w);
/* Into scratch; tacet__decoded_take makes it the state. Fails the reader where a number is impossible. */
void tacet__decoded_read(tacet__decoded *decoded, tacet__reader *r);
void tacet__decoded_take(tacet__decoded *decoded);

#endif
