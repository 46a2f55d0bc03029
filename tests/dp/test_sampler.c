/* SPDX-License-Identifier: Apache-2.0 */
/* test_sampler.c - every sampler against its exact mass function. Seeds are fixed; every chi-square below fails when
 * p < 1e-6, so that a run with fresh seeds would raise a false alarm once in about 50,000 runs of this program. */
#include "support/gate.h"
#include "support/test.h"

#include "dp/noise/lazy.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

enum { DRAWS_MOST = 1000000, CELLS = 4096 };
static const double ALARM = 1e-6;

/* Chi-square of whole numbers low … low + cells - 1 (all others in one more cell) against mass(k); neighbouring cells
 * are pooled until 10 are expected. */
static void fits(const double *draws, size_t count, double grid, long low, size_t cells, double (*mass)(long, double),
                 double parameter) {
    static double seen[CELLS + 1];
    memset(seen, 0, sizeof seen);
    assert_true(cells <= CELLS);
    for (size_t i = 0; i < count; i++) {
        const double k = draws[i] / grid;
        assert_true(k == rint(k));
        const double place = k - (double)low;
        seen[place >= 0 && place < (double)cells ? (size_t)place : cells] += 1;
    }
    double statistic = 0;
    double freedom = -1;
    double rest = 1;
    double expected = 0;
    double observed = 0;
    for (size_t i = 0; i <= cells; i++) {
        const double p = i < cells ? mass(low + (long)i, parameter) : fmax(rest, 0);
        rest -= p;
        expected += p * (double)count;
        observed += seen[i];
        if (expected >= 10) {
            statistic += (observed - expected) * (observed - expected) / expected;
            freedom += 1;
            expected = observed = 0;
        }
    }
    assert_true(expected < 10 && observed <= 60); /* P(Poisson(10) > 60) < 1e-25 */
    const double p = test_chi2_pvalue(statistic, freedom);
    if (!(p > ALARM)) {
        print_error("chi-square %g with %g degrees of freedom: p = %g\n", statistic, freedom, p);
    }
    assert_true(p > ALARM);
}

/* Mass of the interval [a, b] under N(0, 1), without cancellation in the tails. */
static double normal_between(double a, double b) {
    return a > 0 ? 0.5 * (erfc(a * M_SQRT1_2) - erfc(b * M_SQRT1_2))
                 : 0.5 * (erfc(-b * M_SQRT1_2) - erfc(-a * M_SQRT1_2));
}

static double gaussian_mass(long k, double sigma) {
    return normal_between(((double)k - 0.5) / sigma, ((double)k + 0.5) / sigma);
}

static double laplace_mass(long k, double b) {
    const double at = fabs((double)k);
    return k == 0 ? -expm1(-0.5 / b) : 0.5 * exp(-(at - 0.5) / b) * -expm1(-1 / b);
}

static double discrete_laplace_mass(long k, double b) {
    return exp(-fabs((double)k) / b) * tanh(0.5 / b);
}

static double draws[DRAWS_MOST];

static size_t draw_count(void) {
    return test_slow() ? 20000 : DRAWS_MOST;
}

TEST(test_gaussian_mass) {
    static const double sigmas[] = {0.3, 1, 2.5, 100.0 / 3, 250};
    for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++) {
        OWN_NOISE tacet_noise *noise = test_noise(1 + i, 7);
        const int at = i % 2 == 0 ? 0 : -12; /* the grid's unit must not matter */
        assert_ok(tacet__draw_gaussian(noise, draws, draw_count(), ldexp(sigmas[i], at), at, NULL));
        const long low = -(long)ceil(7 * sigmas[i]);
        fits(draws, draw_count(), ldexp(1, at), low, (size_t)(1 - 2 * low), gaussian_mass, sigmas[i]);
    }
}

/* A fine grid shows how the digits below a strip are distributed, which the coarse one above hides: the lower bits of
 * the multiple are uniform to within 2^-15, and independent of the sign. */
TEST(test_gaussian_fine) {
    OWN_NOISE tacet_noise *noise = test_noise(11, 7);
    assert_ok(tacet__draw_gaussian(noise, draws, draw_count(), 2.5, tacet__grid_exponent(2.5, 20), NULL));
    double seen[512] = {0};
    const double grid = ldexp(1, tacet__grid_exponent(2.5, 20));
    double sum = 0, square = 0, fourth = 0;
    for (size_t i = 0; i < draw_count(); i++) {
        const double k = draws[i] / grid;
        assert_true(k == rint(k));
        seen[((uint64_t)fabs(k) & 255) + (signbit(draws[i]) ? 256U : 0U)] += 1;
        const double x = draws[i] / 2.5;
        sum += x;
        square += x * x;
        fourth += x * x * x * x;
    }
    double statistic = 0;
    for (size_t i = 0; i < 512; i++) {
        const double expected = (double)draw_count() / 512.0;
        statistic += (seen[i] - expected) * (seen[i] - expected) / expected;
    }
    assert_true(test_chi2_pvalue(statistic, 511) > ALARM);
    /* Five standard errors each: 6e-7 of false alarm. */
    assert_close(sum / (double)draw_count(), 0, 5 / sqrt((double)draw_count()));
    assert_close(square / (double)draw_count(), 1, 5 * sqrt(2.0 / (double)draw_count()));
    assert_close(fourth / (double)draw_count(), 3, 5 * sqrt(96.0 / (double)draw_count()));
}

TEST(test_laplace_mass) {
    static const double scales[] = {0.4, 1, 2.5, 40.0 / 3};
    for (size_t i = 0; i < 4; i++) {
        OWN_NOISE tacet_noise *noise = test_noise(20 + i, 7);
        const long low = -(long)ceil(25 * scales[i]);
        assert_ok(tacet__draw_laplace(noise, draws, draw_count() / 2, ldexp(scales[i], 5), 5, NULL));
        fits(draws, draw_count() / 2, 32, low, (size_t)(1 - 2 * low), laplace_mass, scales[i]);
        assert_ok(tacet__draw_discrete_laplace(noise, draws, draw_count() / 2, scales[i], 0, NULL));
        fits(draws, draw_count() / 2, 1, low, (size_t)(1 - 2 * low), discrete_laplace_mass, scales[i]);
    }
}

TEST(test_choice_edges) {
    OWN_NOISE tacet_noise *noise = test_noise(51, 7);
    size_t at = 9;
    size_t scratch[2];
    static const int64_t far[2] = {INT64_MIN, INT64_MAX};
    for (int i = 0; i < 100; i++) { /* exp(-2^63 and more): never the first */
        assert_ok(tacet__permute_and_flip(noise, &at, scratch, far, 2, 1, 1, NULL));
        assert_int_equal(at, 1);
        assert_ok(tacet__exponential_mechanism(noise, &at, far, 2, 0x1p60, 1, NULL));
        assert_int_equal(at, 1);
    }
    assert_ok(tacet__permute_and_flip(noise, &at, scratch, far, 2, 0x1p-40, UINT64_C(1) << 20, NULL));
    const double bad[] = {0, -1, NAN, INFINITY, 0x1p61};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_status(tacet__permute_and_flip(noise, &at, scratch, far, 2, bad[i], 1, NULL), TACET_INVALID);
        assert_status(tacet__exponential_mechanism(noise, &at, far, 2, bad[i], 1, NULL), TACET_INVALID);
    }
    assert_status(tacet__permute_and_flip(noise, &at, scratch, far, 0, 1, 1, NULL), TACET_INVALID);
    assert_status(tacet__permute_and_flip(noise, &at, scratch, far, 2, 1, 0, NULL), TACET_INVALID);
    assert_status(tacet__permute_and_flip(noise, &at, scratch, far, 2, 1e-300, 1, NULL), TACET_INVALID);
    assert_status(tacet__permute_and_flip(noise, &at, scratch, far, 2, 0x1p-40, UINT64_MAX, NULL), TACET_INVALID);
}

typedef tacet_status draw_function(tacet_noise *, double *, size_t, double, int, tacet_error *);

TEST(test_bad_scales) {
    static draw_function *const functions[] = {tacet__draw_gaussian, tacet__draw_laplace, tacet__draw_discrete_laplace};
    OWN_NOISE tacet_noise *noise = test_noise(60, 7);
    const double bad[] = {0, -0.0, -1, NAN, INFINITY, -INFINITY};
    double x = 77;
    for (size_t f = 0; f < 3; f++) {
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            tacet_error err = {0};
            assert_status(functions[f](noise, &x, 1, bad[i], 0, &err), TACET_INVALID);
            assert_non_null(strstr(err.message, "scale"));
        }
        assert_status(functions[f](noise, &x, 1, 0x1p41, 0, NULL), TACET_INVALID);
        assert_status(functions[f](noise, &x, 1, nextafter(0x1p-10, 0), 0, NULL), TACET_INVALID);
        assert_status(functions[f](noise, &x, 1, 0x1p-1060, -1075, NULL), TACET_INVALID);
        assert_status(functions[f](noise, &x, 1, 0x1p980, 971, NULL), TACET_INVALID);
        assert_true(x == 77); /* nothing drawn */
        assert_ok(functions[f](noise, &x, 1, nextafter(0x1p41, 0), 0, NULL));
        assert_true(x == rint(x) && fabs(x) <= 0x1p53);
        x = 77;
        assert_ok(functions[f](noise, &x, 1, 0x1p-1074, -1074, NULL)); /* the smallest subnormal as scale and grid */
        assert_true(fabs(x) < 100 * 0x1p-1074);
        assert_ok(functions[f](noise, &x, 1, 0x1p990, 970, NULL));
        assert_true(fmod(x, 0x1p970) == 0);
        assert_ok(functions[f](noise, NULL, 0, 1, 0, NULL));
        x = 77;
    }
    assert_int_equal(tacet__grid_exponent(2.5, 20), -19);
    assert_int_equal(tacet__grid_exponent(1, 20), -20);
    assert_int_equal(tacet__grid_exponent(0.99, 20), -21);
    assert_int_equal(tacet__grid_exponent(0x1p-1074, 20), -1074);
    assert_int_equal(tacet__grid_exponent(0x1p1023, 0), 970);
}
