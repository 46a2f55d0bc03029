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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_round_trip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
