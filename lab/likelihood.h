/* SPDX-License-Identifier: Apache-2.0 */
/* likelihood.h - the likelihood and its gradient, on their own for the tests. Ring: pure. */
#ifndef TACET_LAB_LIKELIHOOD_H
#define TACET_LAB_LIKELIHOOD_H

#include "fit.h"

typedef struct lab_likelihood lab_likelihood;

typedef struct lab_likelihood_value {
    double log_likelihood;
    double mean; /* the constant mean used: settings' or the best one */
    double jitter;
} lab_likelihood_value;

tacet_status lab_likelihood_create(lab_likelihood **out, const lab_fit_settings *settings, const double *X, size_t ldx,
                                   size_t n, const double *y, tacet_error *err);
void lab_likelihood_free(lab_likelihood *likelihood); /* NULL is allowed */
/* Number of parameters: logarithms of the lengthscales (none for a precomputed kernel), of the signal variance, and of
 * the noise variance. */
size_t lab_likelihood_params(const lab_likelihood *likelihood);
/* At the parameters; grad (may be NULL) is of the log-likelihood. A noise variance of
 * 0 is a parameter of -infinity. NUMERIC: singular whatever the jitter. */
tacet_status lab_likelihood_eval(lab_likelihood *likelihood, lab_likelihood_value *out, double *grad,
                                 const double *params, tacet_error *err);

#endif
