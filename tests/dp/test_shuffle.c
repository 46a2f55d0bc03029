/* SPDX-License-Identifier: Apache-2.0 */
/* test_shuffle.c - the amplification bound against the same formula in long doubles, its edge, and its monotony. */
#include "support/test.h"

#include <math.h>
#include <tacet/dp/open/shuffle.h>

static void the_bound_is_the_theorems_rounded_up(void **state) {
    for (double eps0 = 0.125; eps0 <= 8; eps0 *= 2) {
        for (double n = 1e3; n <= 1e8; n *= 10) {
            double eps = 0;
            assert_ok(tacet_shuffle_eps(&eps, eps0, 1e-6, (size_t)n, NULL));
            const long double e = expl((long double)eps0);
            const long double exact = logl(
                1 + (e - 1) / (e + 1) * (8 * sqrtl(e * logl(4e6L)) / sqrtl((long double)n) + 8 * e / (long double)n));
            const bool speaks = e * 16 * logl(2e6L) <= (long double)n;
            assert_true(speaks ? (long double)eps >= fminl(exact, eps0) && (long double)eps <= exact * (1 + 1e-11L)
                               : eps == eps0);
        }
    }
}

static void too_few_reports_gain_nothing(void **state) {
    double eps = 0;
    const size_t least = tacet_shuffle_least(1, 1e-6);
    assert_int_equal(least, 632);
    assert_ok(tacet_shuffle_eps(&eps, 1, 1e-6, least - 1, NULL));
    assert_true(eps == 1);
    assert_ok(tacet_shuffle_eps(&eps, 1, 1e-6, least, NULL));
    assert_true(eps < 1);
    assert_int_equal(tacet_shuffle_eps(&eps, 0, 1e-6, 1000, NULL), TACET_INVALID);
    assert_int_equal(tacet_shuffle_eps(&eps, NAN, 1e-6, 1000, NULL), TACET_INVALID);
    assert_int_equal(tacet_shuffle_eps(&eps, 31, 1e-6, 1000, NULL), TACET_INVALID);
    assert_int_equal(tacet_shuffle_eps(&eps, 1, 0, 1000, NULL), TACET_INVALID);
    assert_int_equal(tacet_shuffle_eps(&eps, 1, 1, 1000, NULL), TACET_INVALID);
    assert_int_equal(tacet_shuffle_eps(&eps, 1, 1e-6, 0, NULL), TACET_INVALID);
    assert_true(isinf(eps));
    assert_int_equal(tacet_shuffle_least(40, 1e-6), 0); /* more reports than can be counted */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_bound_is_the_theorems_rounded_up),
                                       cmocka_unit_test(too_few_reports_gain_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
