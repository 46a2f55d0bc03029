/* decimal.c - exact decimal text of grid numbers, by integer arithmetic.
 * Ring: base. A fraction of q bits has exactly q decimal digits. They come eight at a time: for f / 2^q the next eight
 * are the whole part of f 10^8 / 2^q, a product that fits 64 bits up to q = 36 and a shift. Pairs of digits come from a
 * table. Cost: a multiplication and a few table look-ups for eight digits; a release of ten million numbers would
 * otherwise spend its time printing. */
#include "base/decimal.h"

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
