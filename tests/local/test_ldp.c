/* SPDX-License-Identifier: Apache-2.0 */
/* test_ldp.c - the public design of the randomisers: the likelihood ratio is on the private side of e^eps, moments
 * agree with the published closed forms and with sums over the whole support, impossible reports are told. */
#include "support/test.h"

#include "local/shared/ldp.h"

static const double EPS[] = {0x1p-10, 0.01, 0.1, 0.25, 0.5, 0.61, 1, 1.5, 2, 3, 4, 8, 16, 32};
enum { EPS_COUNT = sizeof EPS / sizeof *EPS, KINDS = 4 };

/* 64-bit mantissas: an error of 1e-18 is far below the slack that is tested. */
static void has_ratio(double eps) {
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, eps, 0, 1, NULL));
    const long double e = expl((long double)eps);
    assert_true(ldp.ratio_den < ldp.ratio_num);
    assert_true((long double)ldp.ratio_den * e >= (long double)ldp.ratio_num * (1 - 1e-18L));
    /* Not wasteful either: two less, and the claim would be broken. */
    assert_true((long double)(ldp.ratio_den - 2) * e < (long double)ldp.ratio_num);
}

/* Of so many that some lie where the last bits of e^-eps, otherwise rounded away, decide. */
static void test_ratio(void **state) {
    for (size_t i = 0; i < EPS_COUNT; i++) {
        has_ratio(EPS[i]);
    }
    for (int i = 10; i <= 320000; i++) {
        has_ratio(i / 10000.0);
    }
}

/* The noise is never narrower than eps asks for: the product with one rounding, whose sign is right. */
static void test_laplace_scale(void **state) {
    for (int i = 1; i <= 3200; i++) {
        tacet_ldp ldp;
        const double eps = i / 100.0;
        assert_ok(tacet_ldp_init(&ldp, TACET_LDP_LAPLACE, eps, 0, 1, NULL));
        assert_true(fma(ldp.laplace_scale, eps, -(double)ldp.steps) >= 0);
        assert_close(ldp.laplace_scale * eps, ldp.steps, 1e-11 * ldp.steps);
    }
}

/* Closed forms of the papers, unit half range. */
static double published(tacet_ldp_kind kind, double eps) {
    const double c = (exp(eps) + 1) / (exp(eps) - 1);
    const double s = exp(eps / 2);
    const double pm_end = 1 / (s - 1) + (s + 3) / (3 * (s - 1) * (s - 1));
    const double pm_middle = (s + 3) / (3 * (s - 1) * (s - 1));
    switch (kind) {
    case TACET_LDP_LAPLACE:
        return 8 / (eps * eps);
    case TACET_LDP_DUCHI:
        return c * c;
    case TACET_LDP_PIECEWISE:
        return pm_end;
    default:
        return eps > 0.61 ? fmax((1 - 1 / s) * pm_middle + c * c / s, (1 - 1 / s) * pm_end + (c * c - 1) / s) : c * c;
    }
}

static void test_variance_published(void **state) {
    for (size_t i = 2; i < EPS_COUNT - 3; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            tacet_ldp ldp;
            assert_ok(tacet_ldp_init(&ldp, (tacet_ldp_kind)kind, EPS[i], -3, 1, NULL));
            const double expected = 4 * published((tacet_ldp_kind)kind, EPS[i]);
            assert_close(tacet_ldp_variance(&ldp), expected, 3e-5 * expected); /* a window is whole cells */
        }
    }
    /* The four figures at eps = 1 that the choice of the default rests on. */
    static const double at_one[KINDS] = {8, 4.289, 4.683, 5.224};
    for (int kind = 0; kind < KINDS; kind++) {
        tacet_ldp ldp;
        assert_ok(tacet_ldp_init(&ldp, (tacet_ldp_kind)kind, 1, -1, 1, NULL));
        assert_close(tacet_ldp_variance(&ldp), at_one[kind], 6e-4);
    }
}

/* The variance at a window start, summed over the support. */
static void test_variance_summed(void **state) {
    for (size_t i = 0; i < EPS_COUNT; i++) {
        tacet_ldp ldp;
        assert_ok(tacet_ldp_init(&ldp, TACET_LDP_PIECEWISE, EPS[i], 2, 5, NULL));
        const double most = tacet_ldp_variance(&ldp);
        double found = 0;
        for (int at = 0; at <= 4; at++) {
            const uint32_t start = (uint32_t)((double)(ldp.cells - ldp.window) * at / 4);
            double total = 0, mean = 0, square = 0;
            for (uint32_t k = 0; k < ldp.cells; k++) {
                const bool likely = k >= start && k < start + ldp.window;
                const double weight = (double)(likely ? ldp.ratio_num : ldp.ratio_den);
                const double x = tacet_ldp_cell(&ldp, k) - 3.5;
                total += weight;
                mean += weight * x;
                square += weight * x * x;
            }
            mean /= total;
            const double value = 3 * ((double)start / (ldp.cells - ldp.window) - 0.5);
            assert_close(mean, value, 1e-9 * sqrt(most) + 1e-12); /* unbiased */
            found = fmax(found, square / total - mean * mean);
        }
        assert_true(found <= most * (1 + 1e-9) + 1e-12);
        assert_true(found >= most * (1 - 1e-6) - 1e-8);
    }
}

/* E exp(u (report - value)) by summing over the support, on a grid ten times as fine as the library's. */
static void test_proxy(void **state) {
    static const double eps[] = {0.25, 0.7, 1, 2, 4, 8};
    for (size_t i = 0; i < 6; i++) {
        for (int kind = TACET_LDP_HYBRID; kind <= TACET_LDP_PIECEWISE; kind++) {
            tacet_ldp ldp;
            assert_ok(tacet_ldp_init(&ldp, (tacet_ldp_kind)kind, eps[i], -1, 1, NULL));
            const double proxy = tacet_ldp_proxy(&ldp);
            const double share = kind == TACET_LDP_PIECEWISE ? 1 : ldexp(ldp.piecewise_share, -32);
            const double outside = (double)(ldp.cells - ldp.window);
            const double likely = (double)ldp.ratio_num / (double)ldp.ratio_den;
            const double each = 1 / (ldp.window * likely + outside);
            assert_true(proxy >= tacet_ldp_variance(&ldp) * (1 - 1e-12));
            assert_true(proxy <= pow(tacet_ldp_bound(&ldp), 2) * (1 + 1e-12));
            double most = 0;
            for (int b = 0; b <= 320; b += 8) {
                const double t = b / 320.0;
                for (double u = -12 / tacet_ldp_bound(&ldp); u < 12 / tacet_ldp_bound(&ldp); u += 0.0113) {
                    const double y = u * ldp.step;
                    const double all = sinh(ldp.cells * y / 2) / sinh(y / 2);
                    const double window = sinh(ldp.window * y / 2) / sinh(y / 2) * exp(y * t * outside / 2);
                    const double bits = cosh(u * ldp.duchi) + t / ldp.duchi * sinh(u * ldp.duchi);
                    const double cells = share > 0 ? each * (all + (likely - 1) * window) : 0;
                    const double mgf = share * cells + (1 - share) * bits;
                    most = fmax(most, 2 * (log(mgf) - u * t) / (u * u));
                }
            }
            assert_true(most <= proxy);
            assert_true(most >= 0.98 * proxy || kind == TACET_LDP_DUCHI);
        }
    }
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_LAPLACE, 1, -1, 1, NULL));
    assert_true(isinf(tacet_ldp_proxy(&ldp)) && isinf(tacet_ldp_bound(&ldp)));
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 0.5, -1, 1, NULL));
    assert_close(tacet_ldp_bound(&ldp), tacet_ldp_duchi_constant(0.5), 1e-9);
}

static void test_possible(void **state) {
    static const double ranges[][2] = {{0, 1}, {-7.3, 2.9}, {1e9, 1e9 + 1}, {-1e150, 1e150}, {1e-300, 3e-300}};
    for (size_t r = 0; r < 5; r++) {
        for (int kind = 0; kind < KINDS; kind++) {
            tacet_ldp ldp;
            const double lo = ranges[r][0];
            const double hi = ranges[r][1];
            assert_ok(tacet_ldp_init(&ldp, (tacet_ldp_kind)kind, 1.1, lo, hi, NULL));
            const bool bits = kind == TACET_LDP_DUCHI || kind == TACET_LDP_HYBRID;
            const bool cells = kind == TACET_LDP_PIECEWISE || kind == TACET_LDP_HYBRID;
            for (uint32_t k = 0; k < ldp.cells; k++) {
                assert_int_equal(tacet_ldp_possible(&ldp, tacet_ldp_cell(&ldp, k)), cells);
            }
            assert_int_equal(tacet_ldp_possible(&ldp, tacet_ldp_bit(&ldp, true)), bits);
            assert_int_equal(tacet_ldp_possible(&ldp, tacet_ldp_bit(&ldp, false)), bits);
            for (int64_t n = -100000; ldp.steps > 0 && n < 100000; n += 77) {
                assert_true(tacet_ldp_possible(&ldp, tacet_ldp_place(&ldp, n)));
            }
            assert_false(tacet_ldp_possible(&ldp, lo + 0.3 * (ldp.step + (hi - lo) / 3)));
            assert_false(tacet_ldp_possible(&ldp, NAN));
            assert_false(tacet_ldp_possible(&ldp, INFINITY));
            assert_false(tacet_ldp_possible(&ldp, 1e300));
            if (ldp.steps == 0) {
                assert_false(tacet_ldp_possible(&ldp, lo / 2 + hi / 2 + 1.001 * tacet_ldp_bound(&ldp)));
                assert_false(tacet_ldp_possible(&ldp, lo / 2 + hi / 2 - 1.001 * tacet_ldp_bound(&ldp)));
            }
        }
    }
}

/* What a learner takes for the largest report is the largest one, and so it is for the hybrid's cells and bits. */
static void test_bound(void **state) {
    for (size_t i = 0; i < EPS_COUNT; i++) {
        for (int kind = TACET_LDP_HYBRID; kind <= TACET_LDP_PIECEWISE; kind++) {
            tacet_ldp ldp;
            assert_ok(tacet_ldp_init(&ldp, (tacet_ldp_kind)kind, EPS[i], -1, 3, NULL));
            const bool cells = kind == TACET_LDP_PIECEWISE || (kind == TACET_LDP_HYBRID && EPS[i] > 0.61);
            const double bit = kind == TACET_LDP_PIECEWISE ? 0 : tacet_ldp_bit(&ldp, true) - 1;
            const double cell = cells ? tacet_ldp_cell(&ldp, ldp.cells - 1) - 1 : 0;
            assert_close(tacet_ldp_bound(&ldp), fmax(bit, cell), 1e-12 * fmax(bit, cell));
        }
    }
}

/* The likely share of the directions is the best one: against a search with the normal law of the C library. */
static void test_window(void **state) {
    static const double eps[] = {0x1p-10, 0.1, 0.5, 1, 2, 3, 4, 32};
    for (size_t i = 0; i < sizeof eps / sizeof *eps; i++) {
        tacet_ldp ldp;
        double best = 0, share = 0;
        assert_ok(tacet_ldp_init(&ldp, TACET_LDP_SPHERE, eps[i], 0, 1, NULL));
        for (double z = 0; z < 9; z += 1e-3) {
            const double q = erfc(z / sqrt(2)) / 2, gain = exp(-z * z / 2) * expm1(eps[i]) / (q * expm1(eps[i]) + 1);
            share = gain > best ? q : share;
            best = fmax(best, gain);
        }
        assert_close(ldp.window, fmax(share * ldp.cells, 1), 1.1);
        assert_true(ldp.window >= 1);
    }
}

static void test_bad(void **state) {
    tacet_ldp ldp;
    const double eps[] = {0, -1, NAN, INFINITY, 32.1, 0x1p-11};
    for (size_t i = 0; i < 6; i++) {
        tacet_error err = {0};
        assert_status(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, eps[i], 0, 1, &err), TACET_INVALID);
        assert_non_null(strstr(err.message, "eps"));
    }
    const double ranges[][2] = {{1, 1},         {2, 1},        {NAN, 1},        {0, NAN},
                                {-INFINITY, 1}, {0, INFINITY}, {-1e151, 1e151}, {1e10, 1e10 + 1}};
    for (size_t i = 0; i < 8; i++) {
        assert_status(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, ranges[i][0], ranges[i][1], NULL), TACET_INVALID);
    }
    /* 2^-30 of the larger end, whichever it is. */
    assert_status(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, 1, 1 + 0x1p-30, NULL), TACET_INVALID);
    assert_status(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, -1 - 0x1p-30, -1, NULL), TACET_INVALID);
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, 1, 1 + 0x1p-29, NULL));
    assert_status(tacet_ldp_init(&ldp, (tacet_ldp_kind)9, 1, 0, 1, NULL), TACET_INVALID);
    tacet_ldp_kind kind;
    for (int i = TACET_LDP_LAPLACE; i <= TACET_LDP_HYBRID; i++) {
        assert_ok(tacet_ldp_parse(&kind, tacet_ldp_name((tacet_ldp_kind)i), NULL));
        assert_int_equal(kind, i);
    }
    static const char *const NO_STUDY[] = {"gaussian", "duchi", "piecewise", "sphere"};
    for (size_t i = 0; i < sizeof NO_STUDY / sizeof *NO_STUDY; i++) {
        assert_status(tacet_ldp_parse(&kind, NO_STUDY[i], NULL), TACET_INVALID);
    }
    assert_string_equal(tacet_ldp_name((tacet_ldp_kind)9), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_laplace_scale),
        cmocka_unit_test(test_variance_published),
        cmocka_unit_test(test_variance_summed),
        cmocka_unit_test(test_proxy),
        cmocka_unit_test(test_possible),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
