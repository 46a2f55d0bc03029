/* blr.h - Bayesian linear regression: a Gaussian process in its feature space.
 *
 * f(x) = <w, phi(x)>, w ~ N(0, I/prior_precision), y = f(x) + N(0, noise_var). The normal equations
 * A = prior_precision I + sum phi phi'/noise, b = sum y phi/noise are kept as the Cholesky factor of A: an observation
 * costs O(m^2), whatever the number of observations before it, and allocates nothing.
 * Not thread-safe: one thread at a time per object. */
#ifndef TACET_GP_BLR_H
#define TACET_GP_BLR_H

#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_blr tacet_blr;

/* m features. INVALID: m = 0, prior_precision or noise_var not finite and > 0. NO_MEMORY. */
TACET_API tacet_status tacet_blr_create(tacet_blr **out, size_t m, double prior_precision, double noise_var,
                                        tacet_error *err);
TACET_API void tacet_blr_free(tacet_blr *blr); /* NULL is allowed */
TACET_API void tacet_blr_reset(tacet_blr *blr);

/* phi: m features. INVALID: a feature or the value is not finite; the model is then as it was. */
TACET_API tacet_status tacet_blr_observe(tacet_blr *blr, const double *phi, double y, tacet_error *err);
/* The same with this observation's own noise variance > 0. */
TACET_API tacet_status tacet_blr_observe_noisy(tacet_blr *blr, const double *phi, double y, double noise_var,
                                               tacet_error *err);
/* Adds statistics gathered elsewhere: A += S (m x m, symmetric, lower triangle read), b += u, each already divided by
 * its noise. O(m^3). NUMERIC: A would not be positive definite; INVALID: not finite. The model is then as it was. The
 * likelihood is no longer known. */
TACET_API tacet_status tacet_blr_add(tacet_blr *blr, const double *S, size_t lds, const double *u, tacet_error *err);

/* mean[j] and, unless NULL, sd[j] of f at count feature vectors, the columns of Phi. O(m^2 count). */
TACET_API void tacet_blr_predict(const tacet_blr *blr, double *mean, double *sd, const double *Phi, size_t ld,
                                 size_t count);
TACET_API size_t tacet_blr_dim(const tacet_blr *blr);
TACET_API uint64_t tacet_blr_count(const tacet_blr *blr);
TACET_API const double *tacet_blr_weights(const tacet_blr *blr); /* m posterior means of w */
TACET_API double tacet_blr_information(const tacet_blr *blr);    /* ln det(A/prior_precision)/2, in nats */
/* Log marginal likelihood of the observations; NaN after tacet_blr_add. */
TACET_API double tacet_blr_log_likelihood(const tacet_blr *blr);

#ifdef __cplusplus
}
#endif
#endif
