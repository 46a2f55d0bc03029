/* SPDX-License-Identifier: Apache-2.0 */
/* test_l2.c - bounds hold what they promise: intervals against extended precision, the delta of Euclidean noise against
 * quadrature of another form of it, the calibration against its own certificate. Nothing is random but the arguments of
 * the first test, whose seed is fixed. */
#include "support/test.h"

#include "dp/open/interval.h"
#include "dp/open/sphere.h"

#include <tacet/core/simrng.h>
#include <tacet/dp/open/calibrate.h>

static void assert_holds(interval x, long double value, double widest) {
    assert_true((long double)x.lo <= value && value <= (long double)x.hi);
    assert_true(x.hi - x.lo <= widest * fabsl(value));
}

TEST(intervals_hold_exponentials_logarithms_and_powers) {
    tacet_simrng rng = test_rng(3, 0);
    for (int i = 0; i < 20000; i++) {
        const double x = 1400 * tacet_simrng_uniform(&rng) - 700;
        const double y = exp(200 * tacet_simrng_uniform(&rng) - 100);
        const double z = tacet_simrng_uniform(&rng);
        const size_t n = tacet_simrng_below(&rng, 100);
        assert_holds(tacet__interval_exp(interval_of(x)), expl(x), 1e-12);
        assert_holds(tacet__interval_log(interval_of(y)), logl(y), fabs(log(y)) > 0.01 ? 1e-12 : 1);
        assert_holds(tacet__interval_power(interval_of(z), n), powl(z, n), 1e-12);
        assert_holds(interval_mul(interval_of(-x), interval_of(y)), (long double)-x * y, 1e-15);
        assert_holds(interval_sub(interval_of(x), interval_of(z)), (long double)x - z, 1e-12);
    }
    assert_true(tacet__interval_exp(interval_of(710)).hi == INFINITY);
    assert_true(tacet__interval_exp(interval_of(-800)).lo == 0);
    assert_true(tacet__interval_log((interval){1, 2}).hi >= log(2) && tacet__interval_log((interval){1, 2}).lo <= 0);
}

/* The coordinate of a point on the circle, the sphere, and in R^5 have elementary laws. */
TEST(caps_have_their_share) {
    sphere circle, ball, five;
    tacet__sphere_init(&circle, 2);
    tacet__sphere_init(&ball, 3);
    tacet__sphere_init(&five, 5);
    for (double s = -0.99; s < 1; s += 0.01) {
        const long double x = s;
        assert_holds(tacet__sphere_below(&circle, interval_of(s)), 0.5L + asinl(x) / 3.14159265358979323846264L, 1e-10);
        assert_holds(tacet__sphere_below(&ball, interval_of(s)), (1 + x) / 2, 1e-10);
        assert_holds(tacet__sphere_below(&five, interval_of(s)), (2 + 3 * x - x * x * x) / 4, 1e-9);
    }
    assert_true(tacet__sphere_below(&ball, interval_of(-1.5)).hi == 0 &&
                tacet__sphere_below(&ball, interval_of(2)).lo == 1);
}

/* delta = integral over the half plane (x, rho) of the positive part of e^-|v| - e^(eps - |v - t e|) times the sphere
 * in the other d - 1 coordinates, by the midpoint rule: another form than the two masses that l2.c bounds. */
static double quadrature(size_t d, double t, double eps) {
    enum { N = 1200 };
    const double dims = (double)d, most = dims + 9 * sqrt(dims) + 12;
    /* |S^(d-2)| / (|S^(d-1)| Gamma(d)) */
    const double weight = exp(lgamma(dims / 2) - lgamma((dims - 1) / 2) - lgamma(dims)) / sqrt(M_PI);
    const double h = most / N;
    double sum = 0;
    for (int i = 0; i < N; i++) {
        const double x = t / 2 - (i + 0.5) * h;
        for (int j = 0; j < N; j++) {
            const double rho = (j + 0.5) * h;
            const double near = sqrt(x * x + rho * rho), far = sqrt((x - t) * (x - t) + rho * rho);
            if (far - near > eps) {
                sum += (exp(-near) - exp(eps - far)) * pow(rho, dims - 2);
            }
        }
    }
    return sum * weight * h * h;
}

TEST(the_bound_is_above_delta_and_close) {
    static const struct {
        size_t dims;
        double t, eps, close;
    } CASES[] = {{2, 1.5, 1, 0.02},     {3, 1.2, 1, 0.02},    {4, 1.5, 1, 0.01}, {5, 1.1, 1, 5e-3},
                 {10, 1.1457, 1, 5e-3}, {10, 3.293, 3, 5e-3}, {20, 1.4, 1, 5e-3}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        double bound = 0;
        assert_ok(tacet_l2_delta(&bound, 1 / CASES[i].t, CASES[i].eps, 1, CASES[i].dims, NULL));
        const double delta = quadrature(CASES[i].dims, CASES[i].t, CASES[i].eps);
        if (!(bound >= delta * (1 - 2e-3)) || !(bound <= delta * (1 + CASES[i].close))) {
            print_error("dims %zu: bound %.8g, quadrature %.8g\n", CASES[i].dims, bound, delta);
        }
        assert_true(bound >= delta * (1 - 2e-3)); /* the quadrature's own error */
        assert_true(bound <= delta * (1 + CASES[i].close));
    }
    double line = 0;
    assert_ok(tacet_l2_delta(&line, 0.5, 1, 1, 1, NULL));
    assert_close(line, -expm1(-0.5), 1e-12);
    assert_true(line >= -expm1(-0.5));
    assert_ok(tacet_l2_delta(&line, 1, 1.5, 1, 7, NULL));
    assert_true(line == 0); /* pure eps covers it */
    assert_ok(tacet_l2_delta(&line, 2e-4, 1e-6, 1, 1, NULL));
    assert_true(line == 1); /* a shift by 5,000 scales: nothing is hidden */
}

TEST(a_calibration_carries_its_certificate) {
    static const size_t DIMS[] = {1, 2, 5, 10, 50};
    for (size_t i = 0; i < sizeof DIMS / sizeof *DIMS; i++) {
        tacet_l2 l2;
        double again = 1, sigma = 0, less = 0;
        assert_ok(tacet_calibrate_l2(&l2, 1, 1e-5, 2, DIMS[i], NULL));
        assert_true(l2.delta_upper <= 1e-5);
        assert_true(l2.scale <= 2 && l2.pure_eps >= 1 && l2.pure_eps * l2.scale >= 2);
        assert_close(l2.rms, l2.scale * sqrt((double)DIMS[i] + 1), 1e-12);
        assert_ok(tacet_l2_delta(&again, l2.scale, 1, 2, DIMS[i], NULL));
        assert_true(again <= 1e-5 * (1 + 1e-6));
        assert_ok(tacet_calibrate_gaussian(&sigma, 1, 1e-5, 2, NULL));
        assert_true(l2.rms < sigma);
        if (DIMS[i] >= 5) { /* and it is not far from the least there is */
            assert_ok(tacet_l2_delta(&less, 0.999 * l2.scale, 1, 2, DIMS[i], NULL));
            assert_true(less > 1e-5);
        }
    }
}

/* Of one coordinate, where it is Laplace's and quick: a large delta allows shifts far beyond eps, and whatever the
 * sensitivity, the shift that the rounded scale stands for is one that passed. */
TEST(a_scale_is_rounded_to_the_safe_side) {
    tacet_l2 l2;
    double delta = 0;
    assert_ok(tacet_calibrate_l2(&l2, 1e-3, 0.999, 1, 1, NULL));
    assert_true(l2.pure_eps > 8 && l2.delta_upper <= 0.999);
    for (double sensitivity = 1; sensitivity < 400; sensitivity++) {
        assert_ok(tacet_calibrate_l2(&l2, 1, 1e-5, sensitivity, 1, NULL));
        assert_ok(tacet_l2_delta(&delta, l2.scale, 1, sensitivity, 1, NULL));
        assert_true(delta <= 1e-5 && l2.pure_eps * l2.scale >= sensitivity);
        const double scale = l2.scale; /* what is remembered is not taken for another sensitivity's */
        assert_ok(tacet_calibrate_l2(&l2, 1, 1e-5, 0.5 * sensitivity, 1, NULL));
        assert_close(l2.scale, 0.5 * scale, 1e-6 * scale);
    }
}

TEST(nonsense_is_refused) {
    tacet_l2 l2 = {.scale = 7};
    double delta = 7;
    const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        assert_status(tacet_calibrate_l2(&l2, bad[i], 1e-5, 1, 3, NULL), TACET_INVALID);
        assert_status(tacet_calibrate_l2(&l2, 1, bad[i], 1, 3, NULL), TACET_INVALID);
        assert_status(tacet_calibrate_l2(&l2, 1, 1e-5, bad[i], 3, NULL), TACET_INVALID);
        assert_status(tacet_l2_delta(&delta, bad[i], 1, bad[i], 3, NULL), TACET_INVALID);
        assert_true(bad[i] == INFINITY || tacet_l2_delta(&delta, bad[i], 1, 1, 3, NULL) == TACET_INVALID);
    }
    assert_status(tacet_l2_delta(&delta, 1e-5, 1, 1, 3, NULL), TACET_INVALID); /* a shift by 100,000 scales */
    assert_status(tacet_calibrate_l2(&l2, 1, 1e-5, 1, 0, NULL), TACET_INVALID);
    assert_status(tacet_calibrate_l2(&l2, 1, 1e-5, 1, TACET_L2_MAX_DIMS + 1, NULL), TACET_INVALID);
    assert_true(l2.scale == 7 && delta == 7);
}
