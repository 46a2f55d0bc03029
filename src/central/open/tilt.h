/* SPDX-License-Identifier: Apache-2.0 */
/* tilt.h - the law of play as a tilted guess, the reward as a logistic process, fitted together to released sums.
 * Ring: open; between learner.c and tilt.c. */
#ifndef TACET_SRC_CENTRAL_OPEN_TILT_H
#define TACET_SRC_CENTRAL_OPEN_TILT_H

#include "core/codec.h"

#include <stddef.h>
#include <tacet/core/status.h>

typedef struct tacet__tilt tacet__tilt;

typedef struct tacet__tilt_prior {
    double tilt_var;         /* of each coefficient of the tilt */
    double level, level_var; /* logit of a typical reward, and its variance */
    double reward_var;       /* of each coefficient of the reward's logit */
} tacet__tilt_prior;

/* Phi: features x points (borrowed, leading dimension ld >= features); the leading `released` rows are what sums are
 * of. NO_MEMORY. */
tacet_status tacet__tilt_create(tacet__tilt **out, const double *Phi, size_t ld, size_t features, size_t released,
                                size_t points, const tacet__tilt_prior *prior, tacet_error *err);
void tacet__tilt_free(tacet__tilt *tilt); /* NULL is allowed */
/* sums: of v phi, then of (1 - v) phi, `released` numbers each, over `total` rounds, each number with noise of variance
 * noise_var. guess (points, >= 0, some > 0, any scale): where the rounds were played. NUMERIC: what was known stays.
 * Nothing is allocated. */
tacet_status tacet__tilt_fit(tacet__tilt *tilt, const double *sums, const double *guess, double total, double noise_var,
                             tacet_error *err);
/* Posterior mean and variance of the reward's logit at n <= TACET__TILT_BATCH points, given their features (leading
 * dimension ld). */
enum { TACET__TILT_BATCH = 64 };
void tacet__tilt_logit(tacet__tilt *tilt, double *mean, double *var, const double *phi, size_t ld, size_t n);
/* The level, then the coefficients of the features: 1 + features numbers. */
const double *tacet__tilt_theta(const tacet__tilt *tilt);
void tacet__tilt_write(const tacet__tilt *tilt, tacet__writer *w);
/* Into scratch; tacet__tilt_take makes it the state. Fails the reader where a number is not finite. */
void tacet__tilt_read(tacet__tilt *tilt, tacet__reader *r);
void tacet__tilt_take(tacet__tilt *tilt);

#endif
