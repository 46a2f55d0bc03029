/* SPDX-License-Identifier: Apache-2.0 */
/* bound_internal.h - the inside of raw, bound and bounded, for the gate's own files (and a trusted file that computes
 * with raw numbers). Ring: gate. */
#pragma once

#include "dp/bound.h"

struct tacet_raw {
    size_t count;
    double values[];
};

typedef enum tacet__bound_kind { TACET__BOUND_NORM, TACET__BOUND_BOX } tacet__bound_kind;

struct tacet_bound {
    tacet__bound_kind kind;
    size_t count;
    double clip;           /* NORM: what the raw vector's norm is clipped to */
    double radius;         /* L2, of what comes out */
    double diameter;       /* L2 */
    double diameter_1;     /* L1 */
    double diameter_max;   /* one coordinate */
    double slop;           /* how much further apart floating-point clipping may bring two points, L2 */
    double *lower, *upper; /* BOX */
    char *proof;           /* NULL: clipping alone */
};

struct tacet_bounded {
    const tacet_bound *bound;
    double values[]; /* bound->count of them */
};

/* One coordinate into a box; what is not a number goes to the middle. */
static inline double tacet__box_clip(double x, double lower, double upper) {
    const double up = x < lower ? lower : x;
    const double both = up > upper ? upper : up;
    return x != x ? lower + 0.5 * (upper - lower) : both;
}

/* Sensitivity after every number was rounded to the nearest multiple of 2^grid_exponent, L2 and L1 (src/dp/
 * bounding.md, section 3). */
void tacet__round_sensitivity(double *l2, double *l1, size_t count, int grid_exponent);
