/* SPDX-License-Identifier: Apache-2.0 */
/* test_number.c - decimal text to doubles, against the C library and in the edges where rounding is decided. */
#include "support/test.h"

#include "core/number.h"

#include <locale.h>
#include <tacet/core/simrng.h>

static void same(const char *text) {
    double ours = 0;
    const double theirs = strtod(text, NULL);
    const tacet__number_kind kind = tacet__number_parse(&ours, text, strlen(text));
    if (isfinite(theirs) ? kind != TACET__NUMBER_OK || memcmp(&ours, &theirs, sizeof ours) != 0
                         : kind != TACET__NUMBER_NOT_FINITE) {
        print_error("%s: %.17g, expected %.17g\n", text, ours, theirs);
        fail();
    }
}

TEST(test_known) {
    static const char *const texts[] = {"0",
                                        "-0",
                                        "1",
                                        "-1",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "-.5e-3",
                                        "00012",
                                        "0.1",
                                        "3.14159265358979323846",
                                        "1e22",
                                        "1e23",
                                        "9007199254740993",
                                        "9007199254740992.5",
                                        "9007199254740993e0",
                                        "900719925474099300000e-5",
                                        "1e308",
                                        "1.7976931348623157e308",
                                        "2.2250738585072014e-308",
                                        "5e-324",
                                        "4.9e-324",
                                        "1e-400",
                                        "0e999",
                                        "0.000000e-9",
                                        "123456789012345678",
                                        "1234567890123456789",
                                        "12345678901234567890",
                                        "0.1234567890123456789",
                                        "8.988465674311580e307",
                                        "6.02214076e23",
                                        "1.602176634e-19",
                                        "1E5",
                                        "1e+5",
                                        "1e-27",
                                        "9999999999999999999e27",
                                        "9999999999999999999e-27",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "4503599627370497.5",
                                        "4503599627370496.5",
                                        "0.50000000000000011102230246251565404236316680908203125",
                                        "0.500000000000000111022302462515654042363166809082031250000000000000001"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        same(texts[i]);
    }
}

TEST(test_random) {
    tacet_simrng rng = test_rng(7, 1);
    char text[64];
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = tacet_simrng_u64(&rng);
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) {
            (void)snprintf(text, sizeof text, "%.*g", (int)(1 + tacet_simrng_below(&rng, 25)), value);
            same(text);
        }
        /* Around the sizes where the three ways meet: up to 21 digits, powers to 30 either way. */
        const int digits = (int)(1 + tacet_simrng_below(&rng, 21));
        int at = 0;
        for (int k = 0; k < digits; k++) {
            text[at++] = (char)('0' + tacet_simrng_below(&rng, 10));
            if (k == digits / 2 && tacet_simrng_below(&rng, 2) == 0) {
                text[at++] = '.';
            }
        }
        (void)snprintf(text + at, sizeof text - (size_t)at, "e%d", (int)tacet_simrng_below(&rng, 61) - 30);
        same(text);
    }
}

/* Midpoints between neighbouring doubles are where a single misrounding shows: exact ties, and ties one digit off. */
TEST(test_ties) {
    tacet_simrng rng = test_rng(8, 1);
    char text[64];
    for (int i = 0; i < 50000; i++) {
        /* An odd 54-bit integer is halfway between two doubles; scaled by powers of two it stays so. */
        const uint64_t odd = (UINT64_C(1) << 53) | (tacet_simrng_u64(&rng) >> 11) | 1;
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)odd);
        same(text);
        (void)snprintf(text, sizeof text, "%llu.%d", (unsigned long long)odd, (int)tacet_simrng_below(&rng, 10));
        same(text);
        (void)snprintf(text, sizeof text, "%llu5e-1", (unsigned long long)(odd / 2));
        same(text);
    }
}

TEST(test_refused) {
    static const struct {
        const char *text;
        tacet__number_kind kind;
    } cases[] = {{"", TACET__NUMBER_EMPTY},           {"  \t ", TACET__NUMBER_EMPTY},
                 {"nan", TACET__NUMBER_NOT_FINITE},   {"-NaN", TACET__NUMBER_NOT_FINITE},
                 {"Inf", TACET__NUMBER_NOT_FINITE},   {"-infinity", TACET__NUMBER_NOT_FINITE},
                 {"1e309", TACET__NUMBER_NOT_FINITE}, {"-1e99999999999999999999", TACET__NUMBER_NOT_FINITE},
                 {"nan(1)", TACET__NUMBER_NOT_ONE},   {"infin", TACET__NUMBER_NOT_ONE},
                 {"NA", TACET__NUMBER_NOT_ONE},       {"0x10", TACET__NUMBER_NOT_ONE},
                 {"1,5", TACET__NUMBER_NOT_ONE},      {"1 5", TACET__NUMBER_NOT_ONE},
                 {"1e", TACET__NUMBER_NOT_ONE},       {"1e+", TACET__NUMBER_NOT_ONE},
                 {".", TACET__NUMBER_NOT_ONE},        {"+", TACET__NUMBER_NOT_ONE},
                 {"--1", TACET__NUMBER_NOT_ONE},      {"1.2.3", TACET__NUMBER_NOT_ONE},
                 {"12abc", TACET__NUMBER_NOT_ONE},    {"1d5", TACET__NUMBER_NOT_ONE},
                 {"\n1", TACET__NUMBER_NOT_ONE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = 42;
        if (tacet__number_parse(&value, cases[i].text, strlen(cases[i].text)) != cases[i].kind || value != 42) {
            print_error("'%s' was not refused as it should be\n", cases[i].text);
            fail();
        }
    }
    double value = 0;
    assert_int_equal(tacet__number_parse(&value, " \t-2.5 ", 7), TACET__NUMBER_OK);
    assert_true(value == -2.5);
    assert_int_equal(tacet__number_parse(&value, "12,9", 2), TACET__NUMBER_OK); /* only `length` characters */
    assert_true(value == 12);
}

/* Not affected by a locale with a decimal comma; runs where the system has one. */
TEST(test_locale) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    bool set = false;
    for (size_t i = 0; i < 4 && !set; i++) {
        set = setlocale(LC_NUMERIC, names[i]) != NULL;
    }
    double value = 0;
    assert_int_equal(tacet__number_parse(&value, "2.5", 3), TACET__NUMBER_OK);
    assert_true(value == 2.5);
    assert_int_equal(tacet__number_parse(&value, "2.5e-300", 8), TACET__NUMBER_OK);
    assert_true(value == 2.5e-300);
    (void)setlocale(LC_NUMERIC, "C");
    if (!set) {
        print_message("no locale with a decimal comma is installed; tested in the C locale\n");
    }
}
