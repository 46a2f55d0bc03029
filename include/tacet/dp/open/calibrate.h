/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - how much noise a privacy budget needs, and how much budget a noise spends.
 *
 * eps and delta are the privacy parameters, sensitivity is the largest distance between the answers on two neighbouring
 * inputs (L2 for the Gaussian, L1 for Laplace), mu is the Gaussian-DP parameter sensitivity/sigma, rho the
 * zero-concentrated one. Every result errs on the private side: a noise scale is rounded up, a spent budget is rounded
 * up, an allowed mu or rho is rounded down, and the number returned is one whose guarantee was checked with all
 * rounding errors counted (src/dp/open/calibration.md). Pure functions, any thread.
 * INVALID: a number outside 1e-100 … 1e100, NaN, or a delta outside [1e-100, 1); the output is then untouched. */
#ifndef TACET_DP_OPEN_CALIBRATE_H
#define TACET_DP_OPEN_CALIBRATE_H

#include <stddef.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gaussian mechanism, analytic calibration (Balle, Wang 2018): the smallest sigma that is (eps, delta)-DP. */
TACET_API tacet_status tacet_calibrate_gaussian(double *sigma, double eps, double delta, double sensitivity,
                                                tacet_error *err);
/* The smallest eps (0 when even that holds) at which noise of this sigma is (eps, delta)-DP. NUMERIC: above 1e100. */
TACET_API tacet_status tacet_gaussian_eps(double *eps, double sigma, double delta, double sensitivity,
                                          tacet_error *err);
/* The smallest delta, at most 1, at which noise of this sigma is (eps, delta)-DP; eps may be 0. */
TACET_API tacet_status tacet_gaussian_delta(double *delta, double sigma, double eps, double sensitivity,
                                            tacet_error *err);
/* sqrt(2 ln(1.25/delta)) sensitivity/eps: proven for eps < 1 only, too little noise for large eps. A comparison; no
 * mechanism here uses it. */
TACET_API tacet_status tacet_calibrate_gaussian_classic(double *sigma, double eps, double delta, double sensitivity,
                                                        tacet_error *err);
/* sensitivity/eps, rounded up: pure eps-DP. */
TACET_API tacet_status tacet_calibrate_laplace(double *scale, double eps, double sensitivity, tacet_error *err);

/* Gaussian DP: one parameter for a whole composition, mu^2 = sum of the mu_i^2. */
TACET_API tacet_status tacet_gdp_mu(double *mu, double eps, double delta, tacet_error *err);  /* the largest allowed */
TACET_API tacet_status tacet_gdp_eps(double *eps, double mu, double delta, tacet_error *err); /* NUMERIC: > 1e100 */
TACET_API tacet_status tacet_gdp_delta(double *delta, double mu, double eps, tacet_error *err); /* eps may be 0 */
/* The least mu for which every eps-DP mechanism is mu-GDP: -2 Phi^-1(1/(1 + e^eps)). */
TACET_API tacet_status tacet_gdp_from_pure(double *mu, double eps, tacet_error *err);
/* Gaussian mechanisms composed: sqrt(sum (sensitivity_i/sigma_i)^2). INVALID also when count is 0. */
TACET_API tacet_status tacet_gdp_compose(double *mu, const double *sigmas, const double *sensitivities, size_t count,
                                         tacet_error *err);

/* Zero-concentrated DP. To (eps, delta) by the optimal order alpha (Canonne, Kamath, Steinke 2020, Prop. 12). */
TACET_API tacet_status tacet_zcdp_eps(double *eps, double rho, double delta, tacet_error *err);   /* NUMERIC: > 1e100 */
TACET_API tacet_status tacet_zcdp_delta(double *delta, double rho, double eps, tacet_error *err); /* eps may be 0 */
TACET_API tacet_status tacet_zcdp_rho(double *rho, double eps, double delta, tacet_error *err);   /* the largest */
TACET_API tacet_status tacet_zcdp_from_gdp(double *rho, double mu, tacet_error *err);             /* mu^2/2 */
TACET_API tacet_status tacet_zcdp_from_pure(double *rho, double eps, tacet_error *err);           /* eps^2/2 */
/* eps-bounded range, as the exponential mechanism is: eps^2/8 (Cesar, Rogers 2021). */
TACET_API tacet_status tacet_zcdp_from_range(double *rho, double eps, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
