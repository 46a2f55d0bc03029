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
#include <stdbool.h>

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
TACET_API tacet_status tacet_zcdp_eps(double *eps, double rho, double delta, tacet_error *err); /* NUMERIC: > 1e100 */
TACET_API tacet_status tacet_zcdp_rho(double *rho, double eps, double delta, tacet_error *err); /* the largest */
TACET_API tacet_status tacet_zcdp_from_gdp(double *rho, double mu, tacet_error *err);           /* mu^2/2 */
TACET_API tacet_status tacet_zcdp_from_pure(double *rho, double eps, tacet_error *err);         /* eps^2/2 */
/* eps-bounded range, as the exponential mechanism is: eps^2/8 (Cesar, Rogers 2021). */
TACET_API tacet_status tacet_zcdp_from_range(double *rho, double eps, tacet_error *err);

/* Euclidean noise (density proportional to exp(-|v|/scale)) calibrated to (eps, delta).
 *
 * `scale` with a sensitivity (L2) always has pure eps = sensitivity/scale. With a delta a smaller scale serves the same
 * eps: delta_upper is a proven bound, all rounding counted (src/dp/open/l2.md). Pure functions, any thread, no
 * allocation; some 0.2 s a call, a calibration that was made lately none. */

enum { TACET_L2_MAX_DIMS = 4096 };

typedef struct tacet_l2 {
    double scale;
    double rms;         /* of one coordinate: scale sqrt(dims + 1) */
    double pure_eps;    /* holds with delta = 0 */
    double delta_upper; /* at the eps asked for; at most the delta asked for */
} tacet_l2;

/* The smallest scale found that is (eps, delta)-DP; at most the pure one. INVALID: eps outside [1e-6, 500], delta
 * outside [1e-15, 1), sensitivity outside [1e-100, 1e100], dims outside 1 … TACET_L2_MAX_DIMS. */
TACET_API tacet_status tacet_calibrate_l2(tacet_l2 *out, double eps, double delta, double sensitivity, size_t dims,
                                          tacet_error *err);
/* An upper bound of delta at eps, at most 1; 0 where pure eps covers it. INVALID as above, and where the scale is not
 * > 0 or below sensitivity/1e4. */
TACET_API tacet_status tacet_l2_delta(double *delta, double scale, double eps, double sensitivity, size_t dims,
                                      tacet_error *err);

/* the price of choosing the best of several private runs (tuning): itself a release.
 *
 * Run a private mechanism K times on the same data and show the best outcome only. With a fixed K that costs K times;
 * with a random K, drawn before anything is run and kept secret, it costs about two or three times, whatever the mean
 * of K (Liu, Talwar 2019; Papernot, Steinke 2022). K is truncated negative binomial: eta = 1 geometric, eta = 0
 * logarithmic. Pure functions. src/dp/open/select.md. */

typedef struct tacet_select {
    double eta;        /* in [0, 10] */
    double gamma;      /* of the law of K, so that its mean is what was asked for */
    double runs;       /* mean of K */
    double eps, delta; /* of the whole choice, rounded up */
} tacet_select;

/* The law of K with this mean, >= 1 … 1e9. INVALID. */
TACET_API tacet_status tacet_select_law(tacet_select *out, double eta, double runs, tacet_error *err);
/* Each run has pure eps: (2 + eta) eps. INVALID. */
TACET_API tacet_status tacet_select_pure(tacet_select *law, double eps, tacet_error *err);
/* Each run has rho-zCDP: eps at this delta, by Renyi orders. INVALID. */
TACET_API tacet_status tacet_select_zcdp(tacet_select *law, double rho, double delta, tacet_error *err);

/* One of k levels by exact k-ary randomised response, pure eps for a change of level: it is kept with probability
 * e^eps/(e^eps + k - 1), every other one comes out with probability 1/(e^eps + k - 1). src/dp/mechanisms/levels.md. */

enum { TACET_LEVELS_MOST = 1024 };

/* The probability to keep a level, and that of each other one. k >= 2, eps >= 0. */
TACET_API double tacet_levels_keep(size_t k, double eps);
TACET_API double tacet_levels_other(size_t k, double eps);
/* What it tells: the mean probability of the truth given what was released, every level as likely as another before,
 * keep^2 + (k - 1) other^2. 1/k says nothing, 1 everything. */
TACET_API double tacet_levels_told(size_t k, double eps);
#ifdef __cplusplus
}
#endif
#endif
