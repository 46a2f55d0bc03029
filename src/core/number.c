/* SPDX-License-Identifier: Apache-2.0 */
/* number.c - decimal text to the nearest double.
 * Ring: pure. Source: the small case is Clinger's ("How to read floating point numbers accurately", 1990): an integer
 * below 2^53 times or over a power of ten below 10^23 is one correctly rounded operation. Up to 19 digits with powers
 * of ten to 10^27 are decided by 128-bit integers: m 5^k is formed, or m/5^k divided, exactly, and rounded once. The
 * rest goes to strtod in the "C" locale, which glibc rounds correctly. Cost: about 10 ns for 8 digits, 40 ns for 17. */
#include "core/number.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

__extension__ typedef unsigned __int128 u128;

enum { MOST_DIGITS = 19, MOST_POWER = 27, EXACT_POWER = 22 };

typedef struct decimal {
    bool negative;
    bool truncated; /* digits beyond the nineteenth were dropped */
    uint64_t digits;
    int significant; /* digits in `digits`, without leading zeros */
    long exponent;   /* of ten */
} decimal;

static bool digit(char c) {
    return c >= '0' && c <= '9';
}

static void take_digit(decimal *d, char c, bool fraction) {
    if (d->significant < MOST_DIGITS) {
        d->digits = d->digits * 10 + (uint64_t)(c - '0');
        d->significant += d->digits != 0;
        d->exponent -= fraction;
    } else {
        d->truncated = d->truncated || c != '0';
        d->exponent += !fraction;
    }
}

/* False when the text up to `end` is not of the form. */
static bool scan(decimal *d, const char *at, const char *end) {
    d->negative = *at == '-';
    at += *at == '-' || *at == '+';
    const char *first = at;
    for (; digit(*at); at++) {
        take_digit(d, *at, false);
    }
    ptrdiff_t count = at - first;
    if (*at == '.') {
        at++;
        first = at;
        for (; digit(*at); at++) {
            take_digit(d, *at, true);
        }
        count += at - first;
    }
    if (count == 0) {
        return false;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        const bool down = *at == '-';
        at += *at == '-' || *at == '+';
        if (!digit(*at)) {
            return false;
        }
        long power = 0;
        for (; digit(*at); at++) {
            power = power < 100000 ? power * 10 + (*at - '0') : power; /* far out of range already */
        }
        d->exponent += down ? -power : power;
    }
    return at == end;
}

/* The double nearest to bits * 2^exponent, ties to even; `sticky`: the true value is a little more. bits >= 2^54 or so
 * when sticky. The result is a normal number for every exponent that reaches this. */
static double round_once(u128 bits, bool sticky, int exponent) {
    const uint64_t high = (uint64_t)(bits >> 64);
    const int width = high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)bits);
    const int drop = width - 53;
    if (drop <= 0) {
        return ldexp((double)(uint64_t)bits, exponent);
    }
    uint64_t top = (uint64_t)(bits >> drop);
    const u128 rest = bits - ((u128)top << drop);
    const u128 half = (u128)1 << (drop - 1);
    if (rest > half || (rest == half && (sticky || (top & 1) != 0))) {
        top++; /* 2^53 is a double too */
    }
    return ldexp((double)top, exponent + drop);
}

/* The double nearest to digits * 10^exponent, 0 < digits, |exponent| <= MOST_POWER. */
static double nearest_double(uint64_t digits, int exponent) {
    static const double tens[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int power = exponent < 0 ? -exponent : exponent;
    if (digits <= UINT64_C(1) << 53 && power <= EXACT_POWER) {
        return exponent < 0 ? (double)digits / tens[power] : (double)digits * tens[power];
    }
    uint64_t five = 1;
    for (int i = 0; i < power; i++) {
        five *= 5; /* 5^27 < 2^63 */
    }
    if (exponent >= 0) {
        return round_once((u128)digits * five, false, exponent);
    }
    const int shift = __builtin_clzll(digits);
    const u128 dividend = (u128)(digits << shift) << 64;
    const u128 quotient = dividend / five; /* >= 2^64: more than enough bits to round */
    return round_once(quotient, quotient * five != dividend, -64 - shift - power);
}

static double by_library(const char *text) {
    /* A program that uses the library may have set a locale with a decimal comma. */
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) {
        return (double)NAN;
    }
    const double value = strtod_l(text, NULL, c);
    freelocale(c);
    return value;
}

static bool is_not_finite(const char *text, size_t length) {
    if (length > 0 && (*text == '-' || *text == '+')) {
        text++;
        length--;
    }
    return (length == 3 && (strncasecmp(text, "nan", 3) == 0 || strncasecmp(text, "inf", 3) == 0)) ||
           (length == 8 && strncasecmp(text, "infinity", 8) == 0);
}

tacet__number_kind tacet__number_parse(double *out, const char *text, size_t length) {
    while (length > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        length--;
    }
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) {
        length--;
    }
    if (length == 0) {
        return TACET__NUMBER_EMPTY;
    }
    decimal d = {0};
    if (!scan(&d, text, text + length)) {
        return is_not_finite(text, length) ? TACET__NUMBER_NOT_FINITE : TACET__NUMBER_NOT_ONE;
    }
    double value = 0;
    if (d.digits == 0) {
        value = d.negative ? -0.0 : 0.0;
    } else if (!d.truncated && d.exponent >= -MOST_POWER && d.exponent <= MOST_POWER) {
        value = nearest_double(d.digits, (int)d.exponent);
        value = d.negative ? -value : value;
    } else {
        value = by_library(text);
    }
    if (!isfinite(value)) {
        return TACET__NUMBER_NOT_FINITE;
    }
    *out = value;
    return TACET__NUMBER_OK;
}
