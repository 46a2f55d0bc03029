/* SPDX-License-Identifier: Apache-2.0 */
/* bound.c - clipping: where raw numbers become numbers with a proven bound.
 * Ring: gate. In: tacet_raw. Out: tacet_bounded. Source: projection onto a convex set is non-expansive (Cheney,
 * Goldstein 1959); src/dp/bounding.md has the diameters. Differs: total on NaN and
 * infinities; the rounding errors of clipping itself are counted. Cost: O(count) per clip, no allocation. */
#include "dp/bound.h"

#include "core/fail.h"
#include "core/memory.h"
#include "dp/bound_internal.h"

#include <float.h>
#include <math.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST = 1e-100, MOST = 1e100;
static const size_t COUNT_MOST = (size_t)1 << 32;

static double round_up(double x) {
    return nextafter(x, INFINITY);
}

/* More than the relative error of a sum of n squares, its root, and a few operations after. */
static double relative_error(size_t n) {
    return ((double)n + 16.0) * DBL_EPSILON;
}

tacet_status tacet_raw_create(tacet_raw **out, size_t count, tacet_error *err) {
    *out = NULL;
    if (!(count > 0 && count <= COUNT_MOST)) {
        return tacet__fail(err, TACET_INVALID, "a raw vector needs 1 to 2^32 numbers");
    }
    tacet_raw *raw = tacet__zalloc(1, sizeof *raw + count * sizeof(double));
    if (raw == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu raw numbers", count);
    }
    raw->count = count;
    *out = raw;
    return TACET_OK;
}

void tacet_raw_free(tacet_raw *raw) {
    if (raw != NULL) {
        sodium_memzero(raw->values, raw->count * sizeof(double));
        free(raw);
    }
}

tacet_status tacet_raw_set(tacet_raw *raw, const double *values, size_t count, tacet_error *err) {
    if (count != raw->count) {
        return tacet__fail(err, TACET_INVALID, "%zu numbers for a raw vector of %zu", count, raw->count);
    }
    memcpy(raw->values, values, count * sizeof *values);
    return TACET_OK;
}

static bool in_range(double x) {
    return x >= LEAST && x <= MOST;
}

static tacet_status blank(tacet_bound **out, size_t count, tacet_error *err) {
    *out = NULL;
    if (!(count > 0 && count <= COUNT_MOST)) {
        return tacet__fail(err, TACET_INVALID, "a bound needs 1 to 2^32 numbers");
    }
    tacet_bound *bound = TACET__ZALLOC(tacet_bound, 1);
    if (bound == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a bound");
    }
    bound->count = count;
    *out = bound;
    return TACET_OK;
}

tacet_status tacet_bound_norm(tacet_bound **out, size_t count, double radius, tacet_error *err) {
    *out = NULL;
    if (!in_range(radius)) {
        return tacet__fail(err, TACET_INVALID, "the radius of a bound must be > 0, finite, and from 1e-100 to 1e100");
    }
    const tacet_status s = blank(out, count, err);
    if (s == TACET_OK) {
        tacet_bound *b = *out;
        b->kind = TACET__BOUND_NORM;
        b->clip = radius;
        b->radius = radius;
        b->diameter = 2.0 * radius;
        b->diameter_1 = round_up(round_up(2.0 * radius * round_up(sqrt((double)count))));
        b->diameter_max = 2.0 * radius;
        /* Each of two vectors is off its exact projection by up to 2 r (n + 16) 2^-52 (bounding.md, section 2). */
        b->slop = 4.0 * radius * relative_error(count);
    }
    return s;
}

tacet_status tacet_bound_box(tacet_bound **out, const double *lower, const double *upper, size_t count,
                             tacet_error *err) {
    tacet_status s = blank(out, count, err);
    if (s != TACET_OK) {
        return s;
    }
    tacet_bound *b = *out;
    b->kind = TACET__BOUND_BOX;
    b->lower = TACET__ZALLOC(double, count);
    b->upper = TACET__ZALLOC(double, count);
    if (b->lower == NULL || b->upper == NULL) {
        s = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a box");
        goto failed;
    }
    double radius = 0.0, diameter = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (!(lower[i] >= -MOST && lower[i] <= upper[i] && upper[i] <= MOST)) {
            s = tacet__fail(err, TACET_INVALID, "side %zu of a box: lower <= upper, both finite and within 1e100",
                            i + 1);
            goto failed;
        }
        b->lower[i] = lower[i];
        b->upper[i] = upper[i];
        const double width = round_up(upper[i] - lower[i]);
        const double far = fmax(fabs(lower[i]), fabs(upper[i]));
        radius += far * far;
        diameter += width * width;
        b->diameter_1 += width;
        b->diameter_max = fmax(b->diameter_max, width);
    }
    if (!(b->diameter_max >= LEAST)) {
        s = tacet__fail(err, TACET_INVALID, "a box that is a single point");
        goto failed;
    }
    /* The sums above are rounded to nearest, term by term. */
    const double more = 1.0 + relative_error(count);
    b->radius = sqrt(radius) * more;
    b->diameter = sqrt(diameter) * more;
    b->diameter_1 *= more;
    return TACET_OK;
failed:
    tacet_bound_free(b);
    *out = NULL;
    return s;
}

tacet_status tacet_bound_range(tacet_bound **out, size_t count, double lower, double upper, tacet_error *err) {
    *out = NULL;
    if (!(count > 0 && count <= COUNT_MOST)) {
        return tacet__fail(err, TACET_INVALID, "a bound needs 1 to 2^32 numbers");
    }
    double *ends = TACET__ZALLOC(double, 2 * count);
    if (ends == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a range");
    }
    for (size_t i = 0; i < count; i++) {
        ends[i] = lower;
        ends[count + i] = upper;
    }
    const tacet_status s = tacet_bound_box(out, ends, ends + count, count, err);
    free(ends);
    return s;
}

void tacet_bound_free(tacet_bound *bound) {
    if (bound != NULL) {
        free(bound->lower);
        free(bound->upper);
        free(bound->proof);
        free(bound);
    }
}

/* A deep copy with a proof. */
static tacet_status narrowed(tacet_bound **out, const tacet_bound *bound, double diameter, double now,
                             const char *proof, tacet_error *err) {
    *out = NULL;
    if (!(diameter >= LEAST && diameter < now)) {
        return tacet__fail(err, TACET_INVALID, "a narrowed bound must be > 0 and less than what clipping proves");
    }
    /* It is written into the charge's JSON as it is. */
    if (proof == NULL || proof[0] == '\0' || strlen(proof) > 200 || strpbrk(proof, "\"\\") != NULL) {
        return tacet__fail(err, TACET_INVALID, "a narrowed bound must name its proof, in up to 200 plain characters");
    }
    tacet_bound *copy = NULL;
    TACET_OR_RETURN(bound->kind == TACET__BOUND_BOX
                        ? tacet_bound_box(&copy, bound->lower, bound->upper, bound->count, err)
                        : blank(&copy, bound->count, err));
    double *lower = copy->lower, *upper = copy->upper;
    *copy = *bound;
    copy->lower = lower;
    copy->upper = upper;
    copy->proof = strdup(proof);
    if (copy->proof == NULL) {
        tacet_bound_free(copy);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a bound");
    }
    *out = copy;
    return TACET_OK;
}

tacet_status tacet_bound_narrow(tacet_bound **out, const tacet_bound *bound, double diameter, const char *proof,
                                tacet_error *err) {
    const tacet_status s = narrowed(out, bound, diameter, bound->diameter, proof, err);
    if (s == TACET_OK) {
        (*out)->diameter = diameter;
        (*out)->diameter_max = fmin((*out)->diameter_max, diameter);
        (*out)->diameter_1 =
            fmin((*out)->diameter_1, round_up(round_up(diameter * round_up(sqrt((double)bound->count)))));
    }
    return s;
}

tacet_status tacet_bound_narrow_scores(tacet_bound **out, const tacet_bound *bound, double diameter, const char *proof,
                                       tacet_error *err) {
    const tacet_status s = narrowed(out, bound, diameter, bound->diameter_max, proof, err);
    if (s == TACET_OK) {
        (*out)->diameter_max = diameter;
    }
    return s;
}

tacet_status tacet_bound_narrow_1(tacet_bound **out, const tacet_bound *bound, double diameter, const char *proof,
                                  tacet_error *err) {
    const tacet_status s = narrowed(out, bound, diameter, bound->diameter_1, proof, err);
    if (s == TACET_OK) { /* no L2 or largest distance is above the L1 distance */
        (*out)->diameter_1 = diameter;
        (*out)->diameter = fmin((*out)->diameter, diameter);
        (*out)->diameter_max = fmin((*out)->diameter_max, diameter);
    }
    return s;
}

const char *tacet_bound_proof(const tacet_bound *bound) {
    return bound->proof != NULL ? bound->proof : "";
}

tacet_status tacet_bound_sensitivity(const tacet_bound *bound, double *l2, double *l1,
                                     const tacet_neighbours *neighbours, tacet_error *err) {
    const double root = round_up(sqrt((double)bound->count));
    switch (neighbours->relation) {
    case TACET_RELATION_REPLACE:
        *l2 = bound->diameter;
        *l1 = bound->diameter_1;
        return TACET_OK;
    case TACET_RELATION_MOVE:
        if (!in_range(neighbours->move)) {
            return tacet__fail(err, TACET_INVALID, "the move of a neighbour must be > 0, finite, and up to 1e100");
        }
        *l2 = fmin(bound->diameter, round_up(neighbours->move + bound->slop));
        *l1 = fmin(bound->diameter_1, round_up(*l2 * root));
        return TACET_OK;
    }
    return tacet__fail(err, TACET_INVALID, "no such relation between neighbours");
}

tacet_status tacet_bounded_create(tacet_bounded **out, const tacet_bound *bound, tacet_error *err) {
    *out = NULL;
    tacet_bounded *b = tacet__zalloc(1, sizeof *b + bound->count * sizeof(double));
    if (b == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu bounded numbers", bound->count);
    }
    b->bound = bound;
    if (bound->kind == TACET__BOUND_BOX) {
        for (size_t i = 0; i < bound->count; i++) {
            b->values[i] = fmin(fmax(0.0, bound->lower[i]), bound->upper[i]); /* in the box before anything is set */
        }
    }
    *out = b;
    return TACET_OK;
}

void tacet_bounded_free(tacet_bounded *bounded) {
    if (bounded != NULL) {
        sodium_memzero(bounded->values, bounded->bound->count * sizeof(double));
        free(bounded);
    }
}

/* Scaled to the largest coordinate first, so that squares neither overflow nor vanish. */
static void clip_norm(double *out, const double *x, size_t count, double radius) {
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double size = fabs(x[i]);
        if (!(size < INFINITY)) {
            largest = INFINITY;
            break;
        }
        largest = fmax(largest, size);
    }
    /* What has no direction, or is no number, is a point of the ball too: clipping has an answer to every record. */
    if (!(largest > 0.0 && largest < INFINITY)) {
        memset(out, 0, count * sizeof *out);
        return;
    }
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        out[i] = x[i] / largest;
        sum += out[i] * out[i];
    }
    const double root = sqrt(sum) * (1.0 + relative_error(count)); /* of x/largest, rounded up; at least 1 */
    if (root <= radius / largest) {
        memcpy(out, x, count * sizeof *out);
        return;
    }
    const double factor = radius / root;
    for (size_t i = 0; i < count; i++) {
        out[i] *= factor;
    }
}

tacet_status tacet_bounded_set(tacet_bounded *bounded, const tacet_raw *raw, tacet_error *err) {
    const tacet_bound *bound = bounded->bound;
    if (raw->count != bound->count) {
        return tacet__fail(err, TACET_INVALID, "%zu raw numbers for a bound of %zu", raw->count, bound->count);
    }
    if (bound->kind == TACET__BOUND_NORM) {
        clip_norm(bounded->values, raw->values, raw->count, bound->clip);
    }
    for (size_t i = 0; bound->kind == TACET__BOUND_BOX && i < raw->count; i++) {
        bounded->values[i] = tacet__box_clip(raw->values[i], bound->lower[i], bound->upper[i]);
    }
    return TACET_OK;
}

void tacet__round_sensitivity(double *l2, double *l1, size_t count, int grid_exponent) {
    const double grid = ldexp(1.0, grid_exponent);
    *l2 = round_up(*l2 + round_up(grid * round_up(sqrt((double)count))));
    *l1 = round_up(*l1 + round_up(grid * (double)count));
}
