/* SPDX-License-Identifier: Apache-2.0 */
/* bound.h - raw numbers, and the only way to make them fit for a mechanism: clipping to a public bound.
 *
 * tacet_raw: private numbers. Nothing here prints, encodes or hands them out; wiped when freed.
 * tacet_bound: public. What values are clipped to, and how far apart two clipped values can be. Immutable, any thread.
 * tacet_bounded: private numbers that were clipped to a bound and carry it. A mechanism takes nothing else, and takes
 * its sensitivity from the bound, so that none can be claimed by hand.
 *
 * Clipping is a total function, so that whether it fails tells nothing: a NaN becomes the middle of its range (the
 * origin for a norm), an infinity the nearer end (the origin for a norm, where it has no direction).
 * Proofs: src/dp/bounding.md. */
#pragma once

#include <stddef.h>
#include <tacet/core/status.h>

typedef struct tacet_raw tacet_raw;
typedef struct tacet_bound tacet_bound;
typedef struct tacet_bounded tacet_bounded;

/* Room for `count` private numbers, all zero. INVALID: count = 0. NO_MEMORY. */
tacet_status tacet_raw_create(tacet_raw **out, size_t count, tacet_error *err);
void tacet_raw_free(tacet_raw *raw); /* wipes; NULL is allowed */
/* Copies count numbers in; INVALID when count is not the object's. */
tacet_status tacet_raw_set(tacet_raw *raw, const double *values, size_t count, tacet_error *err);

/* L2 norm at most radius: longer vectors are scaled down. INVALID: count = 0, radius outside 1e-100 … 1e100. */
tacet_status tacet_bound_norm(tacet_bound **out, size_t count, double radius, tacet_error *err);
/* lower_i <= x_i <= upper_i. INVALID: a bound that is not finite (or beyond 1e100), or lower_i > upper_i, or a box that
 * is a single point. */
tacet_status tacet_bound_box(tacet_bound **out, const double *lower, const double *upper, size_t count,
                             tacet_error *err);
/* The same range for each of count numbers. */
tacet_status tacet_bound_range(tacet_bound **out, size_t count, double lower, double upper, tacet_error *err);
/* A copy of `bound` with a smaller L2 diameter than clipping alone proves, for values of a structure that clipping does
 * not see. `proof` names the document that proves it, and travels into the parameters of every charge. INVALID: a
 * diameter that is not smaller or not > 0, no proof. */
tacet_status tacet_bound_narrow(tacet_bound **out, const tacet_bound *bound, double diameter, const char *proof,
                                tacet_error *err);
/* Likewise the L1 diameter, which no L2 distance is above. */
tacet_status tacet_bound_narrow_1(tacet_bound **out, const tacet_bound *bound, double diameter, const char *proof,
                                  tacet_error *err);
/* Likewise the largest change of any one coordinate: the sensitivity of scores. */
tacet_status tacet_bound_narrow_scores(tacet_bound **out, const tacet_bound *bound, double diameter, const char *proof,
                                       tacet_error *err);
void tacet_bound_free(tacet_bound *bound); /* NULL is allowed */

const char *tacet_bound_proof(const tacet_bound *bound); /* of a narrowed bound; "" otherwise */

/* Which two inputs must be hard to tell apart. */
typedef enum tacet_relation {
    TACET_RELATION_REPLACE, /* one record becomes any other: the diameter */
    TACET_RELATION_MOVE     /* one record moves by at most `move` in L2 before clipping, which brings points no further
                               apart: the smaller of move and diameter */
} tacet_relation;
typedef struct tacet_neighbours {
    tacet_relation relation;
    double move;
} tacet_neighbours;

/* How far a bounded vector can move between neighbours, L2 and L1. INVALID: a move that is not > 0 and finite, or a
 * relation the bound does not allow. */
tacet_status tacet_bound_sensitivity(const tacet_bound *bound, double *l2, double *l1,
                                     const tacet_neighbours *neighbours, tacet_error *err);

/* The zero vector clipped to `bound`, which must outlive it. NO_MEMORY. */
tacet_status tacet_bounded_create(tacet_bounded **out, const tacet_bound *bound, tacet_error *err);
void tacet_bounded_free(tacet_bounded *bounded); /* wipes; NULL is allowed */
/* Clips. INVALID: the wrong count; the bounded vector keeps its value. */
tacet_status tacet_bounded_set(tacet_bounded *bounded, const tacet_raw *raw, tacet_error *err);
