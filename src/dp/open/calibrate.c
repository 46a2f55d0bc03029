/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.c - noise for a budget and budget for a noise: Gaussian, Laplace, zero-concentrated.
 * Ring: shared. Source: Balle, Wang 2018 (analytic Gaussian); Dong, Roth, Su 2022 (Gaussian DP); Bun, Steinke 2016 and
 * Canonne, Kamath, Steinke 2020 (zCDP and its optimal conversion); Cesar, Rogers 2021 (bounded range).
 * Differs: delta is computed in logarithms from Mills ratios, as an upper bound that counts its own rounding errors,
 * and a search returns the end of its bracket that passed, so that the guarantee holds for the double returned. Proofs:
 * src/dp/open/calibration.md. Cost: one delta is 16 continued fractions at the most, a search 60 to 100 deltas; no
 * allocation. */
#include <tacet/dp/open/calibrate.h>

#include "core/fail.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { FRACTION_TERMS = 128, NODES = 8 };
static const double FRACTION_FROM = 2.0; /* from here on 128 terms of the continued fraction are exact to 1e-18 */
static const double LN_SQRT_2PI = 0.91893853320467274178;
static const double SQRT_HALF_PI = 1.2533141373155002512;
static const double SQRT_HALF = 0.70710678118654752440;
static const double CERTAIN = -40.0; /* below this a delta is 1 to all digits */
static const double NEVER = 1e6;     /* above this a delta is below exp(-1e11), less than anything asked for */
static const double LEAST = 1e-100, MOST = 1e100;

/* Gauss–Legendre, 16 points on [-1, 1]: the positive nodes and their weights. */
static const double GL_X[NODES] = {0.9894009349916499326,  0.94457502307323257608, 0.86563120238783174388,
                                   0.7554044083550030339,  0.61787624440264374845, 0.45801677765722738634,
                                   0.28160355077925891323, 0.095012509837637440185};
static const double GL_W[NODES] = {0.027152459411754094852, 0.062253523938647892863, 0.09515851168249278481,
                                   0.12462897125553387205,  0.14959598881657673208,  0.16915651939500253819,
                                   0.18260341504492358887,  0.18945061045506849629};

static double round_up(double x) {
    return nextafter(x, INFINITY);
}

/* 1/(x + 2/(x + 3/(x + …))): the tail of Laplace's continued fraction of the Mills ratio, x >= FRACTION_FROM. */
static double fraction_tail(double x) {
    double tail = 0.0;
    for (int k = FRACTION_TERMS; k >= 1; k--) {
        tail = k / (x + tail);
    }
    return tail;
}

/* R(x) = (1 - Phi(x)) / phi(x), x >= -1. */
static double mills(double x) {
    return x >= FRACTION_FROM ? 1.0 / (x + fraction_tail(x)) : SQRT_HALF_PI * exp(0.5 * x * x) * erfc(x * SQRT_HALF);
}

/* -R'(x) = 1 - x R(x) > 0 without its cancellation: R = 1/(x + tail) makes it tail R. */
static double mills_slope(double x) {
    if (x >= FRACTION_FROM) {
        const double tail = fraction_tail(x);
        return tail / (x + tail);
    }
    return 1.0 - x * mills(x);
}

/* ln(R(a) - R(a + mu)), a >= -1: where the difference would cancel, as an integral of something positive. */
static double log_mills_drop(double a, double mu) {
    if (mu > 2.0) {
        return log(mills(a) - mills(a + mu));
    }
    const double half = 0.5 * mu;
    double sum = 0.0;
    for (int i = 0; i < NODES; i++) {
        sum += GL_W[i] * (mills_slope(a + half * (1.0 - GL_X[i])) + mills_slope(a + half * (1.0 + GL_X[i])));
    }
    return log(half) + log(sum);
}

/* An upper bound of ln delta(mu, eps), delta = Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2), at most 0. With
 * a = eps/mu - mu/2 and e^eps phi(a + mu) = phi(a) it is phi(a) (R(a) - R(a + mu)), which falls as a grows. */
static double gdp_log_delta(double mu, double eps) {
    const double ratio = eps / mu;
    /* Less than a by more than the rounding of quotient and difference: the delta of a slightly smaller eps. */
    const double a = (ratio - 0.5 * mu) - 4.0 * DBL_EPSILON * (ratio + mu);
    if (a < CERTAIN) {
        return 0.0;
    }
    if (a > NEVER) {
        return -DBL_MAX;
    }
    double log_delta;
    if (a < -1.0) {
        log_delta = log(0.5 * erfc(a * SQRT_HALF) - exp(-0.5 * a * a - LN_SQRT_2PI) * mills(a + mu));
    } else {
        log_delta = -0.5 * a * a - LN_SQRT_2PI + log_mills_drop(a, mu);
    }
    return fmin(0.0, log_delta + DBL_EPSILON * (256.0 + 2.0 * a * a + fabs(log_delta)));
}

/* An upper bound of ln delta for rho-zCDP: the least over alpha = 1 + t of
 * (alpha - 1)(alpha rho - eps) - ln(alpha - 1) + alpha ln(1 - 1/alpha). Every t > 0 gives a valid delta, so the search
 * for the best one needs no error bound of its own. */
static double zcdp_log_delta(double rho, double eps) {
    double lo = -500.0, hi = 500.0; /* ln t; the derivative (2t + 1) rho - eps - ln(1 + 1/t) rises with t */
    for (int i = 0; i < 60; i++) {
        const double mid = 0.5 * (lo + hi);
        const double t = exp(mid);
        if ((2.0 * t + 1.0) * rho - eps - log1p(1.0 / t) > 0.0) {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    const double t = exp(0.5 * (lo + hi));
    const double gain = t * ((1.0 + t) * rho - eps);
    const double rest = (1.0 + t) * log1p(1.0 / t);
    const double size = t * ((1.0 + t) * rho + eps) + fabs(log(t)) + rest;
    return fmin(0.0, gain - log(t) - rest + 16.0 * DBL_EPSILON * (1.0 + size));
}

typedef double (*log_delta_fn)(double spend, double eps);

/* ln delta, rounded down. */
static double log_target(double delta) {
    const double t = log(delta);
    return t + 2.0 * DBL_EPSILON * t;
}

/* The largest spend (mu or rho) found whose delta passes. `passes` is one that is known to. */
static double largest_spend(log_delta_fn f, double passes, double eps, double delta) {
    const double target = log_target(delta);
    double lo = passes;
    double hi = lo * 16.0;
    while (f(hi, eps) <= target) {
        lo = hi;
        hi *= 16.0;
    }
    while (hi - lo > DBL_EPSILON * lo) {
        const double mid = lo + 0.5 * (hi - lo);
        if (f(mid, eps) <= target) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* The smallest eps found whose delta passes; above MOST when none does. */
static double smallest_eps(log_delta_fn f, double spend, double delta) {
    const double target = log_target(delta);
    if (f(spend, 0.0) <= target) {
        return 0.0;
    }
    double lo = 0.0, hi = 1.0;
    while (f(spend, hi) > target) {
        if (hi > MOST) {
            return INFINITY;
        }
        lo = hi;
        hi *= 16.0;
    }
    while (hi - lo > DBL_EPSILON * hi + LEAST) {
        const double mid = lo + 0.5 * (hi - lo);
        if (f(spend, mid) <= target) {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    return hi;
}

static tacet_status check(double value, const char *name, tacet_error *err) {
    return value >= LEAST && value <= MOST
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID, "%s must be > 0, finite, and from 1e-100 to 1e100", name);
}

static tacet_status check_delta(double delta, tacet_error *err) {
    return delta >= LEAST && delta < 1.0
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID, "delta must be > 0 and < 1, and at least 1e-100");
}

static tacet_status check_budget(double eps, double delta, tacet_error *err) {
    const tacet_status s = check(eps, "eps", err);
    return s != TACET_OK ? s : check_delta(delta, err);
}

tacet_status tacet_gdp_mu(double *mu, double eps, double delta, tacet_error *err) {
    static _Thread_local struct { double eps, delta, mu; } last; /* a study asks for its own several times in a row */
    const tacet_status s = check_budget(eps, delta, err);
    if (s == TACET_OK) {
        if (last.eps != eps || last.delta != delta) {
            /* mu = delta passes: the total variation of the pair is 2 Phi(mu/2) - 1 < 0.4 mu. */
            last.mu = largest_spend(gdp_log_delta, delta, eps, delta);
            last.eps = eps;
            last.delta = delta;
        }
        *mu = last.mu;
    }
    return s;
}

tacet_status tacet_zcdp_rho(double *rho, double eps, double delta, tacet_error *err) {
    const tacet_status s = check_budget(eps, delta, err);
    if (s == TACET_OK) {
        *rho = largest_spend(zcdp_log_delta, 0.5 * delta * delta, eps, delta);
    }
    return s;
}

static tacet_status spent_eps(double *eps, log_delta_fn f, double spend, double delta, tacet_error *err) {
    TACET_OR_RETURN(check_delta(delta, err));
    const double value = smallest_eps(f, spend, delta);
    if (value > MOST) {
        return tacet__fail(err, TACET_NUMERIC, "the eps spent is above 1e100");
    }
    *eps = value;
    return TACET_OK;
}

static tacet_status spent_delta(double *delta, double mu, double eps, tacet_error *err) {
    if (!(eps >= 0.0 && eps <= MOST)) {
        return tacet__fail(err, TACET_INVALID, "eps must be >= 0 and finite, and at most 1e100");
    }
    *delta = fmin(1.0, round_up(exp(gdp_log_delta(mu, eps)) * (1.0 + 4.0 * DBL_EPSILON)));
    return TACET_OK;
}

tacet_status tacet_gdp_eps(double *eps, double mu, double delta, tacet_error *err) {
    const tacet_status s = check(mu, "mu", err);
    return s != TACET_OK ? s : spent_eps(eps, gdp_log_delta, mu, delta, err);
}

tacet_status tacet_gdp_delta(double *delta, double mu, double eps, tacet_error *err) {
    const tacet_status s = check(mu, "mu", err);
    return s != TACET_OK ? s : spent_delta(delta, mu, eps, err);
}

tacet_status tacet_zcdp_eps(double *eps, double rho, double delta, tacet_error *err) {
    const tacet_status s = check(rho, "rho", err);
    return s != TACET_OK ? s : spent_eps(eps, zcdp_log_delta, rho, delta, err);
}

tacet_status tacet_calibrate_gaussian(double *sigma, double eps, double delta, double sensitivity, tacet_error *err) {
    double mu = 0.0;
    tacet_status s = check(sensitivity, "sensitivity", err);
    TACET_THEN(s, tacet_gdp_mu(&mu, eps, delta, err));
    if (s == TACET_OK) {
        *sigma = round_up(sensitivity / mu);
    }
    return s;
}

/* sensitivity/sigma, rounded up. */
static tacet_status mu_of(double *mu, double sigma, double sensitivity, tacet_error *err) {
    tacet_status s = check(sigma, "sigma", err);
    TACET_THEN(s, check(sensitivity, "sensitivity", err));
    if (s == TACET_OK) {
        *mu = round_up(sensitivity / sigma);
    }
    return s;
}

tacet_status tacet_gaussian_eps(double *eps, double sigma, double delta, double sensitivity, tacet_error *err) {
    double mu = 0.0;
    const tacet_status s = mu_of(&mu, sigma, sensitivity, err);
    return s != TACET_OK ? s : spent_eps(eps, gdp_log_delta, mu, delta, err);
}

tacet_status tacet_gaussian_delta(double *delta, double sigma, double eps, double sensitivity, tacet_error *err) {
    double mu = 0.0;
    const tacet_status s = mu_of(&mu, sigma, sensitivity, err);
    return s != TACET_OK ? s : spent_delta(delta, mu, eps, err);
}

tacet_status tacet_calibrate_gaussian_classic(double *sigma, double eps, double delta, double sensitivity,
                                              tacet_error *err) {
    tacet_status s = check_budget(eps, delta, err);
    TACET_THEN(s, check(sensitivity, "sensitivity", err));
    if (s == TACET_OK) {
        *sigma = sqrt(2.0 * log(1.25 / delta)) * sensitivity / eps;
    }
    return s;
}

tacet_status tacet_calibrate_laplace(double *scale, double eps, double sensitivity, tacet_error *err) {
    tacet_status s = check(eps, "eps", err);
    TACET_THEN(s, check(sensitivity, "sensitivity", err));
    if (s == TACET_OK) {
        *scale = round_up(sensitivity / eps);
    }
    return s;
}

tacet_status tacet_gdp_from_pure(double *mu, double eps, tacet_error *err) {
    TACET_OR_RETURN(check(eps, "eps", err));
    /* The least x = mu/2 with Phi(-x) <= 1/(1 + e^eps). Near the centre compare 1 - 2 Phi(-x) = erf(x/sqrt 2) with
     * tanh(eps/2), in the tail the logarithms: each keeps its digits where it is used. */
    const double centre = tanh(0.5 * eps) * (1.0 + 16.0 * DBL_EPSILON);
    const double tail = -eps - log1p(exp(-eps)) - DBL_EPSILON * (256.0 + 4.0 * eps);
    double lo = 0.0, hi = 1.0 + eps; /* Phi(-1 - eps) < 1/(1 + e^eps) */
    while (hi - lo > DBL_EPSILON * hi) {
        const double x = lo + 0.5 * (hi - lo);
        const bool enough =
            eps < 1.0 ? erf(x * SQRT_HALF) >= centre : -0.5 * x * x - LN_SQRT_2PI + log(mills(x)) <= tail;
        if (enough) {
            hi = x;
        } else {
            lo = x;
        }
    }
    *mu = 2.0 * hi;
    return TACET_OK;
}

tacet_status tacet_gdp_compose(double *mu, const double *sigmas, const double *sensitivities, size_t count,
                               tacet_error *err) {
    if (count == 0) {
        return tacet__fail(err, TACET_INVALID, "nothing to compose");
    }
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        double one = 0.0;
        TACET_OR_RETURN(mu_of(&one, sigmas[i], sensitivities[i], err));
        largest = fmax(largest, one);
    }
    double sum = 0.0; /* of squares relative to the largest, which cannot overflow */
    for (size_t i = 0; i < count; i++) {
        const double share = round_up(round_up(sensitivities[i] / sigmas[i]) / largest);
        sum = round_up(sum + round_up(share * share));
    }
    *mu = round_up(largest * round_up(sqrt(sum)));
    return TACET_OK;
}

static tacet_status square_over(double *rho, double value, double divisor, const char *name, tacet_error *err) {
    const tacet_status s = check(value, name, err);
    if (s == TACET_OK) {
        *rho = round_up(round_up(value * value) / divisor);
    }
    return s;
}

tacet_status tacet_zcdp_from_gdp(double *rho, double mu, tacet_error *err) {
    return square_over(rho, mu, 2.0, "mu", err);
}

tacet_status tacet_zcdp_from_pure(double *rho, double eps, tacet_error *err) {
    return square_over(rho, eps, 2.0, "eps", err);
}

tacet_status tacet_zcdp_from_range(double *rho, double eps, tacet_error *err) {
    return square_over(rho, eps, 8.0, "eps", err);
}
