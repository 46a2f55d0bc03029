/* decimal.c - exact decimal text of grid numbers, by integer arithmetic.
 * Ring: base. A fraction of q bits has exactly q decimal digits. They come eight at a time: for f / 2^q the next eight
 * are the whole part of f 10^8 / 2^q, a product that fits 64 bits up to q = 36 and a shift. Pairs of digits come from a
 * table. Cost: a multiplication and a few table look-ups for eight digits; a release of ten million numbers would
 * otherwise spend its time printing. */
#include "base/decimal.h"

#include <endian.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_FRACTION = 36, CHUNK_DIGITS = 8 };
static const uint64_t CHUNK = UINT64_C(100000000);

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

/* Below a thousand with one to three decimals: two look-ups. Four bytes are copied where three are meant. */
static size_t put_thousandths(char *out, uint32_t thousandths, unsigned decimals) {
    const uint32_t whole = thousandths / 1000;
    const size_t length = 1 + (size_t)(whole >= 10) + (size_t)(whole >= 100);
    memcpy(out, TRIPLES + 3 * (size_t)whole + (3 - length), 4);
    out[length] = '.';
    memcpy(out + length + 1, TRIPLES + 3 * (size_t)(thousandths % 1000), 4);
    return length + 1 + decimals;
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
