/* SPDX-License-Identifier: Apache-2.0 */
/* interval.c - exponential, logarithm and powers with bounds.
 * Ring: pure. Cost: 20 multiplications each. */
#include "dp/open/interval.h"

static const double LARGEST = 709, SMALLEST = -700;
static const interval LN2 = {0x1.62e42fefa39efp-1, 0x1.62e42fefa39fp-1};
enum { DEGREE = 15 };

/* exp(x) = 2^k exp(r), |r| <= 0.36. The Taylor series to degree 15 leaves less than 0.36^16/16! (1 + 1/44) < 4e-21. */
static interval exp_point(double x) {
    if (!(x < LARGEST)) {
        return (interval){x >= LARGEST ? 0x1p1022 : 0, INFINITY};
    }
    if (x < SMALLEST) {
        return (interval){0, 0x1p-1009};
    }
    const double k = rint(x / LN2.lo);
    const interval r = interval_sub(interval_of(x), interval_mul(interval_of(k), LN2));
    interval sum = interval_of(1);
    for (int i = DEGREE; i >= 1; i--) {
        const interval part = interval_mul(r, sum);
        const interval over = {part.lo / i, part.hi / i};
        sum = interval_add(interval_of(1), (interval){interval_down(over.lo), interval_up(over.hi)});
    }
    sum = interval_add(sum, (interval){-4e-21, 4e-21});
    return (interval){ldexp(sum.lo, (int)k), ldexp(sum.hi, (int)k)};
}

interval tacet__interval_exp(interval x) {
    return (interval){exp_point(x.lo).lo, exp_point(x.hi).hi};
}

/* Any y near log x: with t = x exp(-y) - 1, log x = y + log(1 + t), and t - t^2 <= log(1 + t) <= t for |t| <= 1/2. */
static interval log_point(double x) {
    const double y = log(x);
    const interval t = interval_sub(interval_mul(interval_of(x), exp_point(-y)), interval_of(1));
    if (!(t.lo >= -0.5 && t.hi <= 0.5)) {
        return (interval){-INFINITY, INFINITY};
    }
    const double most = fmax(fabs(t.lo), fabs(t.hi));
    return interval_add(interval_of(y), (interval){interval_down(t.lo - interval_up(most * most)), t.hi});
}

interval tacet__interval_log(interval x) {
    return (interval){log_point(x.lo).lo, log_point(x.hi).hi};
}

interval tacet__interval_power(interval x, size_t n) {
    interval result = interval_of(1);
    for (; n > 0; n >>= 1) {
        if ((n & 1) != 0) {
            result = interval_mul(result, x);
        }
        x = interval_mul(x, x);
    }
    result.lo = fmax(0, result.lo);
    return result;
}
