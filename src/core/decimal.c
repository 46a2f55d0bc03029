/* SPDX-License-Identifier: Apache-2.0 */
/* decimal.c - exact decimal text of grid numbers, by integer arithmetic.
 * Ring: pure. A fraction of q bits has exactly q decimal digits. They come eight at a time: for f / 2^q the next eight
 * are the whole part of f 10^8 / 2^q, a product that fits 64 bits up to q = 36 and a shift. Pairs of digits come from a
 * table. Cost: a multiplication and a few table look-ups for eight digits; a release of ten million numbers would
 * otherwise spend its time printing. */
#include "core/decimal.h"

#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_FRACTION = 36, CHUNK_DIGITS = 8 };
static const uint64_t CHUNK = UINT64_C(100000000);
static const double ROUNDING = 0x1.8p52; /* added and taken away again, it rounds to whole numbers, ties to even */

static const char PAIRS[] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546"
    "4748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293"
    "949596979899";

/* Eight digits of x < 10^8, with leading zeros. */
static void put_chunk(char *out, uint32_t x) {
    const uint32_t high = x / 10000;
    const uint32_t low = x % 10000;
    memcpy(out, PAIRS + 2 * (size_t)(high / 100), 2);
    memcpy(out + 2, PAIRS + 2 * (size_t)(high % 100), 2);
    memcpy(out + 4, PAIRS + 2 * (size_t)(low / 100), 2);
    memcpy(out + 6, PAIRS + 2 * (size_t)(low % 100), 2);
}

/* A whole number below 2^52 without leading zeros; returns its length. */
static size_t put_whole(char *out, uint64_t x) {
    char text[2 * CHUNK_DIGITS];
    if (x < 10) {
        out[0] = (char)('0' + x);
        return 1;
    }
    if (x < 100) {
        memcpy(out, PAIRS + 2 * x, 2);
        return 2;
    }
    put_chunk(text, (uint32_t)(x / CHUNK));
    put_chunk(text + CHUNK_DIGITS, (uint32_t)(x % CHUNK));
    size_t zeros = 0;
    while (text[zeros] == '0') {
        zeros++;
    }
    memcpy(out, text + zeros, sizeof text - zeros);
    return sizeof text - zeros;
}

/* 2^q for 0 <= q <= 36, without a call. */
static double power(int q) {
    return (double)(UINT64_C(1) << q);
}

size_t tacet__decimal(char *out, double value, int grid_exponent) {
    const double magnitude = fabs(value);
    const int q = grid_exponent < 0 ? -grid_exponent : 0;
    if (!(magnitude < 0x1p52) || q > MOST_FRACTION || !(magnitude * power(q) < 0x1p63)) {
        char text[TACET__DECIMAL_BYTES];
        const int n = snprintf(text, sizeof text, "%.17g", value);
        memcpy(out, text, (size_t)n);
        return (size_t)n;
    }
    const uint64_t scaled = (uint64_t)(magnitude * power(q)); /* exact: the value lies on the grid */
    const uint64_t mask = (UINT64_C(1) << q) - 1;
    uint64_t fraction = scaled & mask;
    size_t at = 0;
    if (value < 0) {
        out[at++] = '-';
    }
    at += put_whole(out + at, scaled >> q);
    if (fraction == 0) {
        return at;
    }
    out[at++] = '.';
    /* In lowest terms over 2^m there are m digits, the last a 5. */
    const size_t end = at + (size_t)(q - __builtin_ctzll(fraction));
    for (; fraction != 0; at += CHUNK_DIGITS) {
        fraction *= CHUNK;
        put_chunk(out + at, (uint32_t)(fraction >> q));
        fraction &= mask;
    }
    return end;
}

/* The eight digits of x < 10^8 as bytes 0 to 9, the first in the lowest: halves, then pairs, then digits, side by side
 * in one word. The quotients are exact: 10486/2^20 for 100 below 10^4, 103/2^10 for 10 below 100. */
static uint64_t eight_digits(uint32_t x) {
    const uint64_t halves = x / 10000 | (uint64_t)(x % 10000) << 32;
    const uint64_t hundreds = ((halves * 10486) >> 20) & UINT64_C(0x0000007f0000007f);
    const uint64_t pairs = hundreds | (halves - hundreds * 100) << 16;
    const uint64_t tens = ((pairs * 103) >> 10) & UINT64_C(0x000f000f000f000f);
    return tens | (pairs - tens * 10) << 8;
}

/* 000, 001, … 999 */
#define ONES(h) h "0" h "1" h "2" h "3" h "4" h "5" h "6" h "7" h "8" h "9"
#define TENS(h)                                                                                                        \
    ONES(h "0")                                                                                                        \
    ONES(h "1") ONES(h "2") ONES(h "3") ONES(h "4") ONES(h "5") ONES(h "6") ONES(h "7") ONES(h "8") ONES(h "9")
static const char TRIPLES[] =
    TENS("0") TENS("1") TENS("2") TENS("3") TENS("4") TENS("5") TENS("6") TENS("7") TENS("8") TENS("9");

/* 0 to 999 with the point behind them. */
typedef struct whole_text {
    char text[4];
    uint32_t length;
} whole_text;
#define TEN(M, ...)                                                                                                    \
    M(__VA_ARGS__, '0'), M(__VA_ARGS__, '1'), M(__VA_ARGS__, '2'), M(__VA_ARGS__, '3'), M(__VA_ARGS__, '4'),           \
        M(__VA_ARGS__, '5'), M(__VA_ARGS__, '6'), M(__VA_ARGS__, '7'), M(__VA_ARGS__, '8'), M(__VA_ARGS__, '9')
#define DIGIT(c)                                                                                                       \
    { {(c), '.'}, 2 }
#define TWO(t, c)                                                                                                      \
    { {(t), (c), '.'}, 3 }
#define THREE(h, t, c)                                                                                                 \
    { {(h), (t), (c), '.'}, 4 }
#define HUNDRED(h)                                                                                                     \
    TEN(THREE, h, '0'), TEN(THREE, h, '1'), TEN(THREE, h, '2'), TEN(THREE, h, '3'), TEN(THREE, h, '4'),                \
        TEN(THREE, h, '5'), TEN(THREE, h, '6'), TEN(THREE, h, '7'), TEN(THREE, h, '8'), TEN(THREE, h, '9')
static const whole_text WHOLES[1000] = {
    DIGIT('0'),    DIGIT('1'),    DIGIT('2'),    DIGIT('3'),    DIGIT('4'),    DIGIT('5'),    DIGIT('6'),
    DIGIT('7'),    DIGIT('8'),    DIGIT('9'),    TEN(TWO, '1'), TEN(TWO, '2'), TEN(TWO, '3'), TEN(TWO, '4'),
    TEN(TWO, '5'), TEN(TWO, '6'), TEN(TWO, '7'), TEN(TWO, '8'), TEN(TWO, '9'), HUNDRED('1'),  HUNDRED('2'),
    HUNDRED('3'),  HUNDRED('4'),  HUNDRED('5'),  HUNDRED('6'),  HUNDRED('7'),  HUNDRED('8'),  HUNDRED('9')};

/* Below a thousand with one to three decimals: two look-ups. Four bytes are copied where fewer are meant. */
static inline size_t put_thousandths(char *out, uint32_t thousandths, unsigned decimals) {
    const uint32_t whole = thousandths / 1000;
    const whole_text *before = &WHOLES[whole];
    memcpy(out, before->text, 4);
    memcpy(out + before->length, TRIPLES + 3 * (size_t)(thousandths - 1000 * whole), 4);
    return before->length + decimals;
}

size_t tacet__decimal_fixed(char *out, int64_t steps, unsigned decimals) {
    static const uint32_t THOUSANDTHS[] = {1000, 100, 10, 1}; /* in a step */
    static const uint32_t BELOW[] = {1000, 10000, 100000, 1000000};
    const uint64_t size = steps < 0 ? (uint64_t)0 - (uint64_t)steps : (uint64_t)steps;
    *out = '-';
    size_t at = steps < 0;
    if (decimals >= 1 && decimals <= 3 && size < BELOW[decimals]) {
        return at + put_thousandths(out + at, (uint32_t)size * THOUSANDTHS[decimals], decimals);
    }
    uint64_t rest = size;
    unsigned shown = decimals + 1; /* digits at least */
    if (size >= CHUNK) {
        const int n = snprintf(out + at, TACET__FIXED_BYTES - 1, "%llu", (unsigned long long)(size / CHUNK));
        at += (size_t)n;
        rest = size % CHUNK;
        shown = CHUNK_DIGITS;
    }
    const uint64_t digits = eight_digits((uint32_t)rest);
    const unsigned zeros = digits == 0 ? CHUNK_DIGITS - 1 : (unsigned)__builtin_ctzll(digits) / 8;
    const unsigned skip = zeros < CHUNK_DIGITS - shown ? zeros : CHUNK_DIGITS - shown;
    const uint64_t text = (digits | UINT64_C(0x3030303030303030)) >> (8 * skip);
    const unsigned whole = CHUNK_DIGITS - skip - decimals; /* at least 1 */
    uint64_t bytes = htole64(text);
    memcpy(out + at, &bytes, sizeof bytes);
    if (decimals == 0) {
        return at + whole;
    }
    out[at + whole] = '.';
    bytes = htole64(text >> (8 * whole));
    memcpy(out + at + whole + 1, &bytes, sizeof bytes);
    return at + whole + 1 + decimals;
}

/* Values below a thousand, in steps of a tenth, a hundredth or a thousandth; stops at the first that is not. The sign
 * is as random as the noise, so nothing branches on it. */
static inline size_t put_small(char **out, const double *values, size_t count, double steps, uint32_t thousandths,
                               unsigned decimals) {
    const double most = 1000 * steps - 1; /* rounded, what is below is at most that */
    char *at = *out;
    size_t i = 0;
    for (; i < count; i++) {
        const double size = values[i] * steps;
        if (!(fabs(size) < most)) {
            break;
        }
        const uint32_t whole = (uint32_t)(int32_t)lrint(size); /* ties to even */
        const uint32_t below = 0U - (whole >> 31);             /* all ones or all zeros */
        const uint16_t begin = htole16(',' | '-' << 8);
        memcpy(at, &begin, sizeof begin);
        at += 1 + (below & 1);
        at += put_thousandths(at, ((whole ^ below) - below) * thousandths, decimals);
    }
    *out = at;
    return i;
}

size_t tacet__decimal_list(char *out, const double *values, size_t count, unsigned decimals) {
    static const double STEPS[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    const double steps = STEPS[decimals];
    char *at = out;
    for (size_t i = 0; i < count; i++) {
        i += decimals == 3 ? put_small(&at, values + i, count - i, 1e3, 1, 3)
             : decimals == 2 || decimals == 1
                 ? put_small(&at, values + i, count - i, steps, decimals == 2 ? 10 : 100, decimals)
                 : 0;
        if (i < count) {
            const double size = values[i] * steps;
            *at++ = ',';
            at += fabs(size) < 0x1p51 ? tacet__decimal_fixed(at, (int64_t)((size + ROUNDING) - ROUNDING), decimals)
                                      : tacet__decimal(at, values[i], -1074); /* 17 digits */
        }
    }
    return (size_t)(at - out);
}
