/* SPDX-License-Identifier: Apache-2.0 */
/* test_calibrate.c - calibration against an independent computation in 113-bit arithmetic.
 *
 * The reference evaluates the definition itself, Phi(a) - e^eps Phi(b), in __float128 with its own exponential
 * (argument halving and a Taylor series), a Kummer series for Phi near the centre and a continued fraction of 2,000
 * terms in the tail: none of it is shared with the library, which works in doubles with Mills ratios. */
#include "support/test.h"

#include <float.h>
#include <tacet/dp/open/calibrate.h>

__extension__ typedef __float128 quad;

static quad q_exp(quad x) {
    int halvings = 0;
    while (x > (quad)0.015625 || x < -(quad)0.015625) {
        x /= 2;
        halvings++;
    }
    quad term = 1, sum = 1;
    for (int k = 1; k < 24; k++) {
        term *= x / k;
        sum += term;
    }
    while (halvings-- > 0) {
        sum *= sum;
    }
    return sum;
}

static quad q_sqrt(quad x) {
    quad r = (quad)sqrt((double)x);
    for (int i = 0; i < 4; i++) {
        r = (r + x / r) / 2;
    }
    return r;
}

/* pi by Machin's formula. */
static quad q_atan_inv(int n) {
    quad sum = 0, power = (quad)1 / n;
    for (int k = 0; k < 200; k++) {
        sum += (k % 2 == 0 ? power : -power) / (2 * k + 1);
        power /= (quad)n * n;
    }
    return sum;
}

/* Upper tail of the standard normal distribution. */
static quad q_tail(quad x) {
    static quad root_two_pi;
    if (root_two_pi == 0) {
        root_two_pi = q_sqrt(2 * (16 * q_atan_inv(5) - 4 * q_atan_inv(239)));
    }
    const quad density = q_exp(-x * x / 2) / root_two_pi;
    if (x > 3) {
        quad f = 0;
        for (int k = 2000; k >= 1; k--) {
            f = k / (x + f);
        }
        return density / (x + f);
    }
    if (x < -3) {
        return 1 - q_tail(-x);
    }
    quad term = x, sum = x;
    for (int k = 1; k < 200; k++) {
        term *= x * x / (2 * k + 1);
        sum += term;
    }
    return (quad)0.5 - density * sum;
}

static quad q_delta(quad mu, quad eps) {
    return q_tail(eps / mu - mu / 2) - q_exp(eps) * q_tail(eps / mu + mu / 2);
}

/* The exact noise multiplier, by bisection on the definition. */
static quad q_sigma(quad eps, quad delta) {
    quad lo = 0, hi = 1;
    while (q_delta(1 / hi, eps) > delta) {
        hi *= 2;
    }
    for (int i = 0; i < 110; i++) {
        const quad mid = (lo + hi) / 2;
        if (mid > 0 && q_delta(1 / mid, eps) <= delta) {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    return hi;
}

TEST(reference_is_right) {
    assert_close(q_exp(1), 2.718281828459045, 1e-15);
    assert_close(q_tail(0), 0.5, 1e-17);
    assert_close(q_tail(1), 0.15865525393145705, 1e-16);
    assert_close((double)(q_tail(8) * 1e16), 6.220960574271785, 1e-13);
    /* the two branches meet */
    const quad left = q_tail(3), right = q_tail((quad)3 + (quad)1e-25);
    assert_true(left > right && left / right - 1 < (quad)1e-23);
}

/* Convergents of Laplace's fraction lie on both sides of the Mills ratio: where two of them agree, it is there. */
TEST(fraction_has_converged) {
    quad value[2] = {0, 0};
    for (int n = 0; n < 2; n++) {
        for (int k = 128 + n; k >= 1; k--) {
            value[n] = k / (2 + value[n]);
        }
    }
    const quad gap = value[0] / value[1] - 1;
    assert_true(gap < (quad)1e-16 && -gap < (quad)1e-16);
}

TEST(gaussian_known) {
    const struct {
        double eps, delta, sigma, tolerance;
    } known[] = {
        {1, 1e-5, 3.730632, 1e-6},
        {3.0041660239464334, 1e-5, 1.388894, 1e-6},
        {10, 1e-5, 0.499889, 1e-6},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double sigma = 0;
        assert_ok(tacet_calibrate_gaussian(&sigma, known[i].eps, known[i].delta, 1, NULL));
        assert_close(sigma, known[i].sigma, known[i].tolerance);
    }
}

/* Never below the exact value, never above it by more than 3e-13 of it; and a returned sigma keeps its promise. */
TEST(gaussian_grid) {
    const double eps[] = {0.001, 0.01, 0.3, 1, 3.0041660239464334, 10, 50, 200};
    const double delta[] = {1e-15, 1e-12, 1e-9, 1e-5, 0.01, 0.3};
    const size_t every = test_slow() ? 5 : 1; /* quadruple precision is done in software */
    for (size_t i = 0; i < sizeof eps / sizeof *eps; i += every) {
        for (size_t j = 0; j < sizeof delta / sizeof *delta; j += every) {
            double sigma = 0, back = 0, spent = 0;
            assert_ok(tacet_calibrate_gaussian(&sigma, eps[i], delta[j], 1, NULL));
            const quad exact = q_sigma((quad)eps[i], (quad)delta[j]);
            assert_true((quad)sigma >= exact);
            assert_close((double)((quad)sigma / exact - 1), 0, 3e-13);
            assert_true(q_delta(1 / (quad)sigma, (quad)eps[i]) <= (quad)delta[j]);
            /* the inverses: rounded up, and back where we came from */
            assert_ok(tacet_gaussian_delta(&back, sigma, eps[i], 1, NULL));
            assert_true((quad)back >= q_delta(1 / (quad)sigma, (quad)eps[i]));
            assert_close(back / delta[j], 1, 1e-11);
            assert_ok(tacet_gaussian_eps(&spent, sigma, delta[j], 1, NULL));
            assert_true(q_delta(1 / (quad)sigma, (quad)spent) <= (quad)delta[j]);
            assert_close(spent / eps[i], 1, 1e-11);
        }
    }
}

TEST(gaussian_delta_bound) {
    /* every branch of the bound, delta from near 0 to near 1, eps down to 0 */
    const double mus[] = {1e-6, 0.01, 0.5, 1.9, 2.1, 5, 15, 60};
    const double epss[] = {0, 1e-4, 0.2, 2, 11, 70};
    for (size_t i = 0; i < sizeof mus / sizeof *mus; i++) {
        for (size_t j = 0; j < sizeof epss / sizeof *epss; j++) {
            double delta = 0;
            const quad exact = q_delta((quad)mus[i], (quad)epss[j]);
            assert_ok(tacet_gdp_delta(&delta, mus[i], epss[j], NULL));
            assert_true(delta >= 0 && delta <= 1);
            if (exact > (quad)1e-280) {
                assert_true(delta == 1.0 || (quad)delta >= exact);
                assert_close((double)((quad)delta / exact - 1), 0, 1e-11);
            } else {
                assert_true(delta < 1e-279);
            }
        }
    }
}

TEST(gaussian_scales) {
    double one = 0, many = 0;
    assert_ok(tacet_calibrate_gaussian(&one, 1, 1e-5, 1, NULL));
    assert_ok(tacet_calibrate_gaussian(&many, 1, 1e-5, 1e6, NULL));
    assert_close(many / one, 1e6, 1e-8);
    /* the ends of the range */
    assert_ok(tacet_calibrate_gaussian(&many, 1e-100, 1e-100, 1e100, NULL));
    assert_true(many > 1e199 && many < INFINITY);
    assert_ok(tacet_calibrate_gaussian(&many, 1e100, 0.999999, 1e-100, NULL));
    assert_true(many > 0 && many < 1e-140);
    double eps = 0;
    assert_ok(tacet_gaussian_eps(&eps, 1e6, 0.1, 1, NULL));
    assert_true(eps == 0.0); /* delta alone covers it */
    assert_status(tacet_gaussian_eps(&eps, 1e-100, 1e-5, 1e100, NULL), TACET_NUMERIC);
    assert_ok(tacet_gaussian_eps(&eps, 1e-20, 1e-5, 1, NULL));
    assert_close(eps / 5e39, 1, 1e-9);
    /* large eps: the classic formula has too little noise at 10, which is why it is only a comparison */
    double classic = 0, spent = 0;
    assert_ok(tacet_calibrate_gaussian_classic(&classic, 10, 1e-5, 1, NULL));
    assert_close(classic, sqrt(2 * log(1.25e5)) / 10, 1e-12);
    assert_ok(tacet_gaussian_eps(&spent, classic, 1e-5, 1, NULL));
    assert_true(spent > 10);
}

TEST(gdp) {
    double mu = 0, value = 0;
    assert_ok(tacet_gdp_mu(&mu, 1, 0.1, NULL));
    assert_close(mu, 0.921, 5e-4);
    assert_ok(tacet_gdp_mu(&mu, 10, 1e-5, NULL));
    assert_close(mu, 2.000, 5e-4);
    assert_ok(tacet_gdp_eps(&value, mu, 1e-5, NULL));
    assert_close(value, 10, 1e-9);
    /* pure to Gaussian: Phi(-mu/2) = 1/(1 + e^eps), from below */
    const double epss[] = {1e-9, 0.01, 0.9, 1.0, 1.1, 5, 40};
    for (size_t i = 0; i < sizeof epss / sizeof *epss; i++) {
        assert_ok(tacet_gdp_from_pure(&mu, epss[i], NULL));
        const quad tail = q_tail((quad)mu / 2), want = 1 / (1 + q_exp((quad)epss[i]));
        /* compare 1/2 - tail where that is small */
        assert_true(tail <= want);
        const double rel = (double)(((quad)0.5 - tail) / ((quad)0.5 - want) - 1);
        assert_close(rel, 0, 1e-13);
        assert_close((double)(tail / want - 1), 0, 1e-11);
    }
    assert_ok(tacet_gdp_from_pure(&mu, 1e100, NULL));
    assert_close(mu / 2 / sqrt(2e100), 1, 1e-9);
    /* composition */
    const double sigmas[] = {2, 4, 1}, sens[] = {1, 1, 0.5};
    assert_ok(tacet_gdp_compose(&mu, sigmas, sens, 3, NULL));
    const double exact = sqrt(0.25 + 0.0625 + 0.25);
    assert_true(mu >= exact);
    assert_close(mu, exact, 1e-14);
    const double big[] = {1e-100}, huge[] = {1e100};
    assert_ok(tacet_gdp_compose(&mu, big, huge, 1, NULL));
    assert_close(mu / 1e200, 1, 1e-12);
    assert_status(tacet_gdp_compose(&mu, sigmas, sens, 0, NULL), TACET_INVALID);
    const double wrong[] = {1, -1};
    assert_status(tacet_gdp_compose(&mu, wrong, sens, 2, NULL), TACET_INVALID);
    assert_status(tacet_gdp_compose(&mu, sigmas, wrong, 2, NULL), TACET_INVALID);
}

/* Independent: a plain scan over alpha of the conversion as Canonne, Kamath and Steinke print it. */
static double scan_zcdp_delta(double rho, double eps) {
    double best = 1;
    for (double t = 1e-4; t < 1e5; t *= 1.0003) {
        const double alpha = 1 + t;
        const double d = exp((alpha - 1) * (alpha * rho - eps)) / (alpha - 1) * pow(1 - 1 / alpha, alpha);
        best = d < best ? d : best;
    }
    return best;
}

TEST(zcdp) {
    const double rhos[] = {1e-4, 0.01, 0.1, 0.5, 2, 10};
    const double epss[] = {0.05, 0.5, 1, 4, 20};
    for (size_t i = 0; i < sizeof rhos / sizeof *rhos; i++) {
        for (size_t j = 0; j < sizeof epss / sizeof *epss; j++) {
            double eps = 0, rho = 0, mu_delta = 0;
            const double delta = scan_zcdp_delta(rhos[i], epss[j]);
            /* a Gaussian with mu^2/2 = rho is rho-zCDP: its exact delta is below */
            assert_ok(tacet_gdp_delta(&mu_delta, sqrt(2 * rhos[i]), epss[j], NULL));
            assert_true(mu_delta <= delta * (1 + 1e-12) || delta < 1e-200);
            if (delta > 1e-99 && delta < 0.999) {
                /* the scan misses the best alpha by its step, and delta by the square of that */
                assert_ok(tacet_zcdp_eps(&eps, rhos[i], delta, NULL));
                assert_close(eps / epss[j], 1, 1e-6);
                assert_ok(tacet_zcdp_rho(&rho, epss[j], delta, NULL));
                assert_close(rho / rhos[i], 1, 1e-6);
            }
        }
    }
    /* better than the usual rho + 2 sqrt(rho ln 1/delta) */
    double eps = 0;
    assert_ok(tacet_zcdp_eps(&eps, 0.1, 1e-5, NULL));
    assert_true(eps < 0.1 + 2 * sqrt(0.1 * log(1e5)) - 0.1);
    assert_status(tacet_zcdp_eps(&eps, 1e100, 1e-100, NULL), TACET_NUMERIC);
    /* what the searches take for granted to pass, at the ends of the range */
    double rho = 0;
    assert_ok(tacet_zcdp_rho(&rho, 1e-100, 1e-100, NULL));
    assert_true(rho >= 0.5e-200 && rho < 1e-199);
    assert_ok(tacet_zcdp_rho(&rho, 1e-100, 0.9999999, NULL));
    assert_true(rho > 0.5);
    assert_ok(tacet_zcdp_rho(&rho, 1e100, 0.5, NULL));
    assert_close(rho / 1e100, 1, 1e-6);
    double mu = 0;
    for (double d = 1e-100; d < 1; d *= 10) {
        assert_ok(tacet_gdp_mu(&mu, 1e-100, d, NULL));
        assert_true(mu > 2.4 * d);
    }
}

TEST(conversions) {
    double rho = 0;
    assert_ok(tacet_zcdp_from_gdp(&rho, 0.3, NULL));
    assert_true(rho >= 0.045);
    assert_close(rho, 0.045, 1e-16);
    assert_ok(tacet_zcdp_from_pure(&rho, 0.5, NULL));
    assert_close(rho, 0.125, 1e-15);
    assert_ok(tacet_zcdp_from_range(&rho, 0.5, NULL));
    assert_close(rho, 0.03125, 1e-15);
    double scale = 0;
    assert_ok(tacet_calibrate_laplace(&scale, 0.3, 1, NULL));
    assert_true(scale * 0.3 >= 1 && scale < 1 / 0.3 * (1 + 1e-15));
}

TEST(refusals) {
    const double bad[] = {0, -1, NAN, INFINITY, -INFINITY, 1e-101, 1e101};
    const double bad_delta[] = {0, -1e-5, 1, 2, NAN, INFINITY, 1e-101};
    static tacet_status (*const OF_DELTA[])(double *, double, double, tacet_error *) = {tacet_gdp_mu, tacet_gdp_eps,
                                                                                        tacet_zcdp_eps, tacet_zcdp_rho};
    static tacet_status (*const OF_ONE[])(double *, double, tacet_error *) = {
        tacet_gdp_from_pure, tacet_zcdp_from_gdp, tacet_zcdp_from_pure, tacet_zcdp_from_range};
    double out = 42;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const double x = bad[i];
        for (size_t k = 0; k < 4; k++) {
            assert_status(OF_DELTA[k](&out, x, 1e-5, NULL), TACET_INVALID);
            assert_status(OF_DELTA[k](&out, 1, bad_delta[i], NULL),
                          TACET_INVALID); /* as many of the one as of the other */
            assert_status(OF_ONE[k](&out, x, NULL), TACET_INVALID);
        }
        assert_status(tacet_calibrate_gaussian(&out, x, 1e-5, 1, NULL), TACET_INVALID);
        assert_status(tacet_calibrate_gaussian(&out, 1, 1e-5, x, NULL), TACET_INVALID);
        assert_status(tacet_calibrate_gaussian_classic(&out, x, 1e-5, 1, NULL), TACET_INVALID);
        assert_status(tacet_calibrate_gaussian_classic(&out, 1, 1e-5, x, NULL), TACET_INVALID);
        assert_status(tacet_calibrate_laplace(&out, x, 1, NULL), TACET_INVALID);
        assert_status(tacet_calibrate_laplace(&out, 1, x, NULL), TACET_INVALID);
        assert_status(tacet_gaussian_eps(&out, x, 1e-5, 1, NULL), TACET_INVALID);
        assert_status(tacet_gaussian_eps(&out, 1, 1e-5, x, NULL), TACET_INVALID);
        assert_status(tacet_gaussian_delta(&out, x, 1, 1, NULL), TACET_INVALID);
        assert_status(tacet_gdp_delta(&out, x, 1, NULL), TACET_INVALID);
        if (!(x == 0 || x == 1e-101)) {
            assert_status(tacet_gaussian_delta(&out, 1, x, 1, NULL), TACET_INVALID);
        }
    }
    for (size_t i = 0; i < sizeof bad_delta / sizeof *bad_delta; i++) {
        const double d = bad_delta[i];
        assert_status(tacet_calibrate_gaussian(&out, 1, d, 1, NULL), TACET_INVALID);
        assert_status(tacet_calibrate_gaussian_classic(&out, 1, d, 1, NULL), TACET_INVALID);
        assert_status(tacet_gaussian_eps(&out, 1, d, 1, NULL), TACET_INVALID);
    }
    assert_true(out == 42.0);
    tacet_error err;
    tacet_error_clear(&err);
    assert_status(tacet_calibrate_gaussian(&out, -1, 1e-5, 1, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "eps"));
}
