/* SPDX-License-Identifier: Apache-2.0 */
/* sphere.c - caps of the sphere by series of positive terms.
 * Ring: pure. Formulas and proof: l2.md. Cost: some 50 terms a cap. */
#include "dp/open/sphere.h"

#include <stdlib.h>

enum { MOST_TERMS = 100000 };
static const interval PI = {0x1.921fb54442d18p+1, 0x1.921fb54442d19p+1};
static const double ENOUGH = 1e-13;  /* of a series, before its rest is bounded */
static const double TAIL_FROM = 0.7; /* below this 1 - s^2 has the faster series */

/* The density at 0 grows by k/(k-1) from k to k + 2 coordinates; it is 1/pi in the plane and 1/2 in space. */
void tacet__sphere_init(sphere *out, size_t dims) {
    const bool even = dims % 2 == 0;
    out->dims = dims;
    out->density = even ? interval_div(interval_of(1), PI) : interval_of(0.5);
    for (size_t k = even ? 2 : 3; k < dims; k += 2) {
        out->density = interval_mul(out->density, interval_div(interval_of((double)k), interval_of((double)k - 1)));
    }
}

/* sum of t_n, t_0 = 1, t_(n+1) = t_n z (top + n) / (bottom + n): positive terms; the rest is bounded by a geometric
 * series once the ratios are below 1, as they are monotone in n with the limit z. */
static interval series(interval z, double top, double bottom) {
    interval sum = interval_of(1), term = interval_of(1);
    for (size_t n = 0; n < MOST_TERMS; n++) {
        const double k = (double)n;
        const interval ratio = interval_mul(z, interval_div(interval_of(top + k), interval_of(bottom + k)));
        term = interval_mul(term, ratio);
        sum = interval_add(sum, term);
        const double most = interval_most(z.hi, ratio.hi);
        if (most < 0.99 && term.hi * most < ENOUGH * (1 - most) * sum.lo) {
            sum.hi = interval_up(sum.hi + interval_up(interval_up(term.hi * most) / interval_down(1 - most)));
            sum.hi = interval_up(sum.hi);
            return sum;
        }
    }
    return (interval){sum.lo, INFINITY};
}

/* The share of the sphere with first coordinate below -s, 0 <= s <= 1. */
static interval cap_share(const sphere *p, double s) {
    const double b = 0.5 * ((double)p->dims - 1);
    const interval square = interval_mul(interval_of(s), interval_of(s));
    interval z = interval_sub(interval_of(1), square);
    z = (interval){interval_most(0, z.lo), interval_least(1, z.hi)};
    const interval root = interval_sqrt(z);
    const interval power = interval_mul(tacet__interval_power(root, p->dims - 1), p->density);
    interval share;
    if (z.hi < TAIL_FROM) {
        share = interval_mul(interval_mul(power, interval_of(s)), series(z, b + 0.5, b + 1));
        share = interval_div(share, interval_of(2 * b));
    } else {
        const interval middle = interval_mul(interval_mul(power, interval_of(s)), series(square, b + 0.5, 1.5));
        share = interval_sub(interval_of(0.5), middle);
    }
    return (interval){interval_most(0, share.lo), interval_least(0.5, share.hi)};
}

interval tacet__sphere_below(const sphere *p, interval s) {
    interval out = {0, 1};
    if (s.lo >= 1) {
        out.lo = 1;
    } else if (s.lo > -1) {
        out.lo = s.lo <= 0 ? cap_share(p, -s.lo).lo : interval_down(1 - cap_share(p, s.lo).hi);
    }
    if (s.hi <= -1) {
        out.hi = 0;
    } else if (s.hi < 1) {
        out.hi = s.hi <= 0 ? cap_share(p, -s.hi).hi : interval_up(1 - cap_share(p, s.hi).lo);
    }
    return out;
}

/* z^(k/2), z >= 0; false where it is not bounded. */
static bool half_power(interval *out, interval z, long k) {
    const interval p = tacet__interval_power(interval_sqrt(z), (size_t)labs(k));
    if (k < 0 && !(p.lo > 0)) {
        return false;
    }
    *out = k < 0 ? interval_div(interval_of(1), p) : p;
    return true;
}

bool tacet__sphere_density(interval *h, interval *slope, const sphere *p, interval s) {
    const long d = (long)p->dims;
    *h = *slope = interval_of(0);
    if (s.lo >= 1 || s.hi <= -1) {
        return true;
    }
    const bool ends = s.hi >= 1 || s.lo <= -1; /* part of the cell is beyond the sphere: 0 there */
    const interval inside = {interval_most(-1, s.lo), interval_least(1, s.hi)};
    const double least = inside.lo > 0 ? inside.lo : inside.hi < 0 ? -inside.hi : 0;
    const double most = interval_most(fabs(inside.lo), fabs(inside.hi));
    const interval z = {interval_most(0, interval_down(1 - interval_up(most * most))),
                        interval_least(1, interval_up(1 - interval_down(least * least)))};
    if ((ends && d < 5) || !half_power(h, z, d - 3) || !half_power(slope, z, d - 5)) {
        return false;
    }
    *h = interval_mul(*h, p->density);
    *slope = interval_mul(interval_mul(*slope, p->density), interval_mul(interval_of((double)(3 - d)), inside));
    if (ends) {
        *h = interval_hull(*h, interval_of(0));
        *slope = interval_hull(*slope, interval_of(0));
    }
    return true;
}
