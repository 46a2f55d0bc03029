/* SPDX-License-Identifier: Apache-2.0 */
/* arms.h - Gaussian process posterior over n arms observed many times, kept as sufficient statistics per arm.
 *
 * f ~ N(0, K) over the arms, y = f(arm) + N(0, noise_var), the noise variance free to differ from observation to
 * observation. What is kept is, per arm, the total weight sum 1/noise_var and the weighted sum of values; the posterior
 * covariance of all arms follows by rank-one updates and is rebuilt from the statistics every so often, so rounding
 * does not pile up and neither time nor memory depend on the number of rounds.
 * An update costs O(n^2), memory is 5 n^2 doubles. Not thread-safe: one thread at a time per object. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <tacet/gp/cov.h>
#include <tacet/core/status.h>

typedef struct tacet_arms tacet_arms;

/* The covariance is read once, not kept. Where that saves anything it is replaced by one of low rank that is nowhere
 * further from it than `tolerance` times its largest variance: an update then costs O(n rank). tolerance 0: exact.
 * NUMERIC: a covariance that is not finite. NO_MEMORY, OVERFLOW. */
tacet_status tacet_arms_create(tacet_arms **out, const tacet_cov *cov, double tolerance, tacet_error *err);
void tacet_arms_free(tacet_arms *arms); /* NULL is allowed */
void tacet_arms_reset(tacet_arms *arms);

/* `count` >= 1 observations of one arm whose values add up to `sum`, each with this noise variance > 0. INVALID: no
 * such arm, count 0, a value that is not finite, noise not finite and > 0. NUMERIC: the rebuild failed. On failure
 * nothing has changed. */
tacet_status tacet_arms_observe(tacet_arms *arms, size_t arm, uint64_t count, double sum, double noise_var,
                                tacet_error *err);

const double *tacet_arms_mean(const tacet_arms *arms);     /* n posterior means */
const double *tacet_arms_var(const tacet_arms *arms);      /* n posterior variances, >= 0 */
const double *tacet_arms_weights(const tacet_arms *arms);  /* n times sum 1/noise_var */
const double *tacet_arms_sums(const tacet_arms *arms);     /* n times sum y/noise_var */
const uint64_t *tacet_arms_counts(const tacet_arms *arms); /* n numbers of observations */
/* ln det(I + W^1/2 K W^1/2)/2 in nats, W the diagonal of weights: the information gained. */
double tacet_arms_information(const tacet_arms *arms);
