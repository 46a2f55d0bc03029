/* SPDX-License-Identifier: Apache-2.0 */
/* fit_internal.h - the likelihood and its gradient, on their own for the tests. Ring: pure. */
#ifndef TACET_SRC_GP_FIT_INTERNAL_H
#define TACET_SRC_GP_FIT_INTERNAL_H

#include <tacet/gp/fit.h>

typedef struct tacet__likelihood tacet__likelihood;

typedef struct tacet__likelihood_value {
    double log_likelihood;
    double mean; /* the constant mean used: settings' or the best one */
    double jitter;
} tacet__likelihood_value;

tacet_status tacet__likelihood_create(tacet__likelihood **out, const tacet_fit_settings *settings, const double *X,
                                      size_t ldx, size_t n, const double *y, tacet_error *err);
void tacet__likelihood_free(tacet__likelihood *likelihood); /* NULL is allowed */
/* Number of parameters: logarithms of the lengthscales (none for a precomputed kernel), of the signal variance, and of
 * the noise variance. */
size_t tacet__likelihood_params(const tacet__likelihood *likelihood);
/* At the parameters; grad (may be NULL) is of the log-likelihood. A noise variance of
 * 0 is a parameter of -infinity. NUMERIC: singular whatever the jitter. */
tacet_status tacet__likelihood_eval(tacet__likelihood *likelihood, tacet__likelihood_value *out, double *grad,
                                    const double *params, tacet_error *err);

#endif
