/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - hyper-parameters of a Gaussian process by maximum marginal likelihood.
 *
 * Fitted: lengthscales (one, or one per coordinate), signal variance, noise variance, constant mean (in closed form).
 * Fitting reads the values: hyper-parameters fitted on private values are private too. */
#ifndef TACET_LAB_FIT_H
#define TACET_LAB_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/gp/kernel.h>
#include <tacet/core/status.h>

typedef struct lab_fit_range {
    double low, high; /* 0 < low <= high; both 0: from the data */
} lab_fit_range;

typedef struct lab_fit_settings {
    /* Kind, dimension, groups and number of lengthscales are kept; lengthscales and signal variance are where the first
     * start begins, or stay when fixed. Borrowed during the call. */
    tacet_kernel_spec kernel;
    double noise_var; /* where the first start begins, > 0; when fixed, >= 0 */
    double mean;      /* used when the mean is fixed */
    bool fix_lengthscales, fix_signal_var, fix_noise_var, fix_mean;
    lab_fit_range lengthscale;     /* default: 1/100 to 100 spans of the coordinate */
    lab_fit_range signal_var;      /* default: 1/1000 to 1000 times the variance of the values */
    lab_fit_range noise_var_range; /* default: 1e-8 to 10 times the variance of the values */
    const double *input_sd;        /* points known up to this noise, as in tacet_cov_spec; NULL: exact */
    size_t input_sd_count;
    size_t starts; /* >= 1; those after the first are drawn from the seed */
    uint64_t seed;
    size_t most_evaluations; /* of the likelihood, per start */
} lab_fit_settings;

typedef struct lab_fit_result {
    double signal_var, noise_var, mean;
    double log_likelihood;
    double jitter;      /* added to the diagonal at the optimum to keep the matrix positive definite; 0: none */
    size_t evaluations; /* in all */
    size_t best_start;
    size_t converged; /* starts that reached the tolerance */
    size_t at_bound;  /* parameters that ended on a bound: the data do not determine them */
    size_t singular;  /* evaluations where no jitter of the schedule helped; they were passed over */
} lab_fit_result;

/* SE, one lengthscale, 8 starts, seed 1, 200 evaluations each, noise 0.1, everything fitted, ranges from the data. */
void lab_fit_settings_defaults(lab_fit_settings *settings);
/* n points X (one per column) with values y; lengthscales: room for settings->kernel.lengthscale_count of them.
 * INVALID: n < 2, a value or coordinate not finite, all values equal, an impossible setting or range. NUMERIC: the
 * likelihood could be evaluated nowhere. UNSUPPORTED: input noise for a kernel that has none. NO_MEMORY. Nothing is
 * written on failure. Cost: O(n^3 + n^2 d) an evaluation; 4 n^2 doubles. */
tacet_status lab_fit(lab_fit_result *out, double *lengthscales, const lab_fit_settings *settings, const double *X,
                     size_t ldx, size_t n, const double *y, tacet_error *err);

#endif
