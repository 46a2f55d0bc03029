/* SPDX-License-Identifier: Apache-2.0 */
/* interval.h - numbers with bounds: whatever is computed, the real result lies in [lo, hi].
 * Ring: pure. Only + - x / and sqrt are used, which IEEE 754 rounds correctly; every bound is then moved outwards by at
 * least one unit in the last place. exp and log are made of these, so that no accuracy of the C library is assumed. */
#pragma once

#include <math.h>
#include <stddef.h>

typedef struct interval {
    double lo, hi;
} interval;

/* |x| 2^-52 is at least a unit in the last place of x, and 2^-1074 one of a subnormal x. */
static inline double interval_up(double x) {
    return x + (fabs(x) * 0x1p-52 + 0x1p-1074);
}
static inline double interval_down(double x) {
    return x - (fabs(x) * 0x1p-52 + 0x1p-1074);
}
static inline interval interval_of(double x) {
    return (interval){x, x};
}
static inline interval interval_add(interval a, interval b) {
    return (interval){interval_down(a.lo + b.lo), interval_up(a.hi + b.hi)};
}
static inline interval interval_sub(interval a, interval b) {
    return (interval){interval_down(a.lo - b.hi), interval_up(a.hi - b.lo)};
}
static inline double interval_least(double a, double b) {
    return a < b ? a : b;
}
static inline double interval_most(double a, double b) {
    return a > b ? a : b;
}
/* Every number of either, and what lies between them. */
static inline interval interval_hull(interval a, interval b) {
    return (interval){interval_least(a.lo, b.lo), interval_most(a.hi, b.hi)};
}
static inline interval interval_mul(interval a, interval b) {
    if (a.lo >= 0 && b.lo >= 0) {
        return (interval){interval_down(a.lo * b.lo), interval_up(a.hi * b.hi)};
    }
    const double p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
    return (interval){interval_down(interval_least(interval_least(p, q), interval_least(r, s))),
                      interval_up(interval_most(interval_most(p, q), interval_most(r, s)))};
}
/* a >= 0, b > 0. */
static inline interval interval_div(interval a, interval b) {
    return (interval){interval_most(0, interval_down(a.lo / b.hi)), interval_up(a.hi / b.lo)};
}
/* a >= 0. */
static inline interval interval_sqrt(interval a) {
    return (interval){interval_most(0, interval_down(sqrt(interval_most(0, a.lo)))), interval_up(sqrt(a.hi))};
}

/* exp of every number of x; hi = INFINITY from 709 on, lo = 0 below -700. */
interval tacet__interval_exp(interval x);
/* log of every number of x; x.lo > 0. */
interval tacet__interval_log(interval x);
/* x^n of every number of x; x.lo >= 0. */
interval tacet__interval_power(interval x, size_t n);
