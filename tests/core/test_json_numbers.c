/* SPDX-License-Identifier: Apache-2.0 */
/* test_json_numbers.c - shortened numbers read back as they were, and nothing else is touched. */
#include "core/json_numbers.h"
#include "support/test.h"

#include <tacet/core/simrng.h>

TEST(test_known) {
    static const char *const WANT[][2] = {
        {"{\"delta\":9.9999999999999995e-7}", "{\"delta\":1e-6}"},
        {"[0.10000000000000001,-0.10000000000000001]", "[0.1,-0.1]"},
        {"[1.0000000000000001e-5,0.29999999999999999]", "[1e-5,0.3]"},
        {"[9.9999999999999998e-201,9.9999999999999997e199]", "[1e-200,1e200]"},
        {"0.30000000000000004", "0.30000000000000004"}, /* another double than 0.3 */
        {"24.079999999999998", "24.08"},
        {"[true,false,null,0.0,-0.0,1.5e300]", "[true,false,null,0.0,-0.0,1.5e300]"},
        {"[9.9999999999999995e22,1.0000000000000000e1]", "[1e23,10.0]"},
        {"[12345678901234567890]", "[12345678901234567890]"}, /* whole: an integer, whatever its size */
        {"{\"a\":\"0.10000000000000001\",\"b\":0.10000000000000001}", "{\"a\":\"0.10000000000000001\",\"b\":0.1}"},
        {"[\"\\\"0.10000000000000001\",0.10000000000000001]", "[\"\\\"0.10000000000000001\",0.1]"},
        {"[\"\\\\\",0.10000000000000001]", "[\"\\\\\",0.1]"},
        {"[1.00000000000000010000000000000000000000]", "[1.00000000000000010000000000000000000000]"},
        {"[1-1.0000000000000001]", "[1-1.0000000000000001]"}, /* no number */
        {"", ""},
        {"\"\\", "\"\\"},
    };
    for (size_t i = 0; i < sizeof WANT / sizeof WANT[0]; i++) {
        char text[256] = {0};
        (void)snprintf(text, sizeof text, "%s", WANT[i][0]);
        tacet__json_shorten(text);
        assert_string_equal(text, WANT[i][1]);
        for (size_t j = strlen(text); j < sizeof text; j++) {
            assert_int_equal(text[j], 0);
        }
    }
}

/* Any finite double, from random bits and from short decimals: the same afterwards, and never longer. */
TEST(test_same) {
    tacet_simrng rng;
    size_t shorter = 0;
    tacet_simrng_init(&rng, 5, 0);
    for (int i = 0; i < 20000; i++) {
        double x = 0;
        if (i % 2 == 0) {
            const uint64_t bits = tacet_simrng_u64(&rng);
            memcpy(&x, &bits, sizeof x);
        } else {
            x = (double)tacet_simrng_below(&rng, 1000000) / 1000;
        }
        if (!isfinite(x)) {
            continue;
        }
        char text[96];
        OWN_TEXT char *before = test_text("[%.17e,1]", x);
        (void)snprintf(text, sizeof text, "%s", before);
        tacet__json_shorten(text);
        assert_true(strlen(text) <= strlen(before));
        shorter += i % 2 == 1 && strlen(text) <= 12;
        char *end = NULL;
        const double again = strtod(text + 1, &end);
        assert_memory_equal(&again, &x, sizeof x);
        assert_string_equal(end, ",1]");
    }
    assert_int_equal(shorter, 10000);
}
