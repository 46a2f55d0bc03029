/* test_decimal.c - grid numbers as text that reads back to the same double. */
#include "base/decimal.h"

#include "support/test.h"

#include <tacet/base/simrng.h>

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

static void test_known(void **state) {
    (void)state;
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

static void test_round_trip(void **state) {
    tacet_simrng rng;
    (void)state;
    tacet_simrng_init(&rng, 5, 0);
    for (int i = 0; i < 200000; i++) {
        const int grid = -(int)tacet_simrng_below(&rng, 60) + 8;
        const double k = (double)(int64_t)(tacet_simrng_u64(&rng) >> (11 + tacet_simrng_below(&rng, 50)));
        check(ldexp(tacet_simrng_below(&rng, 2) ? k : -k, grid), grid, NULL);
    }
}

/* Against the C library's integers: every size, sign and number of decimals; nothing behind the slack is touched. */
static void test_fixed(void **state) {
    tacet_simrng rng;
    (void)state;
    tacet_simrng_init(&rng, 6, 0);
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_fixed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
