/* SPDX-License-Identifier: Apache-2.0 */
/* test_decimal.c - grid numbers as text that reads back to the same double. */
#include "core/decimal.h"

#include "support/test.h"

#include <tacet/core/simrng.h>

static void check(double value, int grid, const char *expected) {
    char text[TACET__DECIMAL_BYTES + 1];
    const size_t n = tacet__decimal(text, value, grid);
    assert_true(n <= TACET__DECIMAL_BYTES);
    text[n] = '\0';
    if (expected != NULL) {
        assert_string_equal(text, expected);
    }
    assert_true(strtod(text, NULL) == value);
}

TEST(test_known) {
    check(0, -20, "0");
    check(-0.5, -20, "-0.5");
    check(12.25, -2, "12.25");
    check(3, 0, "3");
    check(-1024, 5, "-1024");
    check(0x1p-20, -20, "0.00000095367431640625");
    check(1 + 0x1p-36, -36, "1.000000000014551915228366851806640625");
    check(1.5, -18, "1.5");
    check(7 + 0x1p-18, -18, "7.000003814697265625");
    check(7 + 0x1p-19, -19, "7.0000019073486328125");
}

TEST(test_round_trip) {
    tacet_simrng rng = test_rng(5, 0);
    for (int i = 0; i < 200000; i++) {
        const int grid = -(int)tacet_simrng_below(&rng, 60) + 8;
        const double k = (double)(int64_t)(tacet_simrng_u64(&rng) >> (11 + tacet_simrng_below(&rng, 50)));
        check(ldexp(tacet_simrng_below(&rng, 2) ? k : -k, grid), grid, NULL);
    }
}

/* Against the C library's integers: every size, sign and number of decimals; nothing behind the slack is touched. */
TEST(test_fixed) {
    tacet_simrng rng = test_rng(6, 0);
    for (int i = 0; i < 400000; i++) {
        char text[TACET__FIXED_BYTES + TACET__FIXED_SLACK + 1], expected[64];
        const unsigned decimals = (unsigned)tacet_simrng_below(&rng, TACET__FIXED_DECIMALS + 1);
        int64_t steps = i < 20000 ? i : (int64_t)(tacet_simrng_u64(&rng) >> (1 + tacet_simrng_below(&rng, 63)));
        steps = i == 20000 ? INT64_MIN : tacet_simrng_below(&rng, 2) ? -steps : steps;
        uint64_t power = 1;
        for (unsigned k = 0; k < decimals; k++) {
            power *= 10;
        }
        const uint64_t size = steps < 0 ? -(uint64_t)steps : (uint64_t)steps;
        const int n =
            snprintf(expected, sizeof expected, "%s%llu", steps < 0 ? "-" : "", (unsigned long long)(size / power));
        if (decimals > 0) {
            (void)snprintf(expected + n, sizeof expected - (size_t)n, ".%0*llu", (int)decimals,
                           (unsigned long long)(size % power));
        }
        memset(text, '#', sizeof text);
        const size_t length = tacet__decimal_fixed(text, steps, decimals);
        assert_true(length <= TACET__FIXED_BYTES);
        for (size_t k = length + TACET__FIXED_SLACK; k < sizeof text; k++) {
            assert_int_equal(text[k], '#');
        }
        text[length] = '\0';
        assert_string_equal(text, expected);
    }
}

/* Lists against tacet__decimal_fixed, which the test before checked: both signs, ties, both sides of a thousand and of
 * 2^51 steps, what is not finite. */
TEST(test_list) {
    enum { MOST = 12 };
    tacet_simrng rng = test_rng(7, 0);
    for (int k = 0; k < 100000; k++) {
        char text[MOST * (TACET__DECIMAL_BYTES + 1) + TACET__FIXED_SLACK], expected[sizeof text];
        double values[MOST];
        const size_t count = tacet_simrng_below(&rng, MOST + 1);
        const unsigned decimals = (unsigned)tacet_simrng_below(&rng, TACET__FIXED_DECIMALS + 1);
        const double steps = pow(10, decimals);
        size_t n = 0;
        for (size_t i = 0; i < count; i++) {
            static const double EDGES[] = {0.0,     -0.0,   999.9994, 999.9995, 999.9996, 1000, 1000.5,
                                           0.00049, 0x1p51, 0x1p60,   1e300,    INFINITY, NAN};
            const double half = ((double)tacet_simrng_below(&rng, 4000) + 0.5) / steps;
            const double wide = ldexp(tacet_simrng_uniform(&rng), (int)tacet_simrng_below(&rng, 70) - 10);
            const uint64_t which = tacet_simrng_below(&rng, 20);
            const double x = which == 0  ? EDGES[tacet_simrng_below(&rng, sizeof EDGES / sizeof EDGES[0])]
                             : which < 5 ? half
                             : which < 8 ? wide
                                         : 30 * tacet_simrng_uniform(&rng);
            values[i] = tacet_simrng_below(&rng, 2) ? -x : x;
            expected[n++] = ',';
            const double size = nearbyint(values[i] * steps);
            n += fabs(values[i] * steps) < 0x1p51 ? tacet__decimal_fixed(expected + n, (int64_t)size, decimals)
                                                  : tacet__decimal(expected + n, values[i], -1074);
        }
        assert_int_equal(tacet__decimal_list(text, values, count, decimals), n);
        assert_memory_equal(text, expected, n);
    }
}
