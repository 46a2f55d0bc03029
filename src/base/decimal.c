/* decimal.c - exact decimal text of grid numbers, by integer arithmetic.
 * Ring: base. A fraction of q bits has exactly q decimal digits, f 10^q / 2^q = f 5^q, which fits 128 bits up to q
 * = 36. Cost: two long divisions a number, several times faster than printf's 17 digits; a release of ten million
 * numbers would otherwise spend its time printing. */
#include "base/decimal.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { MOST_FRACTION = 36, CHUNK_DIGITS = 18, MOST_SMALL = 27 }; /* 5^27 is the last that fits 64 bits */
static const uint64_t CHUNK = UINT64_C(1000000000000000000);     /* 10^18 */

static const uint64_t FIVES[MOST_SMALL + 1] = {UINT64_C(1),
                                               UINT64_C(5),
                                               UINT64_C(25),
                                               UINT64_C(125),
                                               UINT64_C(625),
                                               UINT64_C(3125),
                                               UINT64_C(15625),
                                               UINT64_C(78125),
                                               UINT64_C(390625),
                                               UINT64_C(1953125),
                                               UINT64_C(9765625),
                                               UINT64_C(48828125),
                                               UINT64_C(244140625),
                                               UINT64_C(1220703125),
                                               UINT64_C(6103515625),
                                               UINT64_C(30517578125),
                                               UINT64_C(152587890625),
                                               UINT64_C(762939453125),
                                               UINT64_C(3814697265625),
                                               UINT64_C(19073486328125),
                                               UINT64_C(95367431640625),
                                               UINT64_C(476837158203125),
                                               UINT64_C(2384185791015625),
                                               UINT64_C(11920928955078125),
                                               UINT64_C(59604644775390625),
                                               UINT64_C(298023223876953125),
                                               UINT64_C(1490116119384765625),
                                               UINT64_C(7450580596923828125)};

/* The last `digits` digits of x, with leading zeros. */
static void put_digits(char *out, uint64_t x, int digits) {
    for (int i = digits - 1; i >= 0; i--) {
        out[i] = (char)('0' + x % 10);
        x /= 10;
    }
}

static int digits_of(uint64_t x) {
    int n = 1;
    while (x >= 10) {
        x /= 10;
        n++;
    }
    return n;
}

size_t tacet__decimal(char *out, double value, int grid_exponent) {
    const double magnitude = fabs(value);
    const int q = grid_exponent < 0 ? -grid_exponent : 0;
    if (!(magnitude < 0x1p52) || q > MOST_FRACTION || !(ldexp(magnitude, q) < 0x1p63)) {
        char text[TACET__DECIMAL_BYTES];
        const int n = snprintf(text, sizeof text, "%.17g", value);
        memcpy(out, text, (size_t)n);
        return (size_t)n;
    }
    const uint64_t scaled = (uint64_t)ldexp(magnitude, q);
    const uint64_t whole = scaled >> q;
    const uint64_t fraction = scaled & ((UINT64_C(1) << q) - 1);
    size_t at = 0;
    if (value < 0) {
        out[at++] = '-';
    }
    const int whole_digits = digits_of(whole);
    put_digits(out + at, whole, whole_digits);
    at += (size_t)whole_digits;
    if (fraction == 0) {
        return at;
    }
    const int low = q <= MOST_SMALL ? q : MOST_SMALL;
    const wide digits = (wide)fraction * FIVES[low] * FIVES[q - low]; /* q decimal digits */
    out[at++] = '.';
    if (q <= CHUNK_DIGITS) {
        put_digits(out + at, (uint64_t)digits, q);
    } else {
        put_digits(out + at, (uint64_t)(digits / CHUNK), q - CHUNK_DIGITS);
        put_digits(out + at + q - CHUNK_DIGITS, (uint64_t)(digits % CHUNK), CHUNK_DIGITS);
    }
    at += (size_t)q;
    while (out[at - 1] == '0') {
        at--;
    }
    return at;
}
