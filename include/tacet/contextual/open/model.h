/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - a released model of rewards over actions, of a central study: read it, ask it. It never saw the data.
 *
 * mean(w) = offset + sum_j weights_j k(node_j, w), nodes in the unit box; or that sum s sent through a logistic curve,
 * lo + scale/(1 + exp(-s)). Models with contexts are tables (tacet/ab/open/model.h). Everything is post-processing of
 * releases, so any number of predictions costs nothing. Immutable; any number of threads. */
#ifndef TACET_CONTEXTUAL_OPEN_MODEL_H
#define TACET_CONTEXTUAL_OPEN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/dp/open/release.h>
#include <tacet/contextual/shared/limits.h>
#include <tacet/gp/kernel.h>
#include <tacet/space/space.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_contextual_model tacet_contextual_model;

enum { TACET_CONTEXTUAL_RECEIPTS_MOST = 24, TACET_CONTEXTUAL_NODES_MOST = 4096 };

/* What a model is made of. As input everything is copied; from tacet_contextual_model_parts it points into the model.
 */
typedef struct tacet_contextual_parts {
    size_t action_dim;
    const double *lower, *upper; /* action_dim of them */
    tacet_kernel_kind kind;
    unsigned matern_p;
    const double *lengthscales; /* action_dim of them, in the units of the bounds */
    const double *nodes;        /* action_dim x count */
    const double *weights;      /* count */
    size_t count;               /* at most TACET_CONTEXTUAL_NODES_MOST */
    double offset;
    double logistic_lo, logistic_scale; /* scale 0: the mean is the sum itself; above 0: as said at the head */
    bool minimize; /* the sum is of the negated reward: predictions are negated back, and the best is the least */
    /* What is claimed of it. */
    bool is_private;        /* false: seeded noise; for tests and simulations */
    double eps, delta;      /* of the whole model */
    uint64_t rounds;        /* rows learnt from */
    double range[2];        /* of rewards: means are given within it; both 0: not said */
    double predicted_error; /* root mean square, as believed */
    /* What the coordinates are: the embedding of a record of this space. NULL: they are plain numbers. */
    const tacet_space *space;
    /* The actions there are, action_dim x listed_count; NULL: all within the bounds, or all records of the space. */
    const double *listed;
    size_t listed_count;           /* at most TACET_CONTEXTUAL_NODES_MOST */
    const tacet_receipt *receipts; /* of the releases it was made from, in their order */
    size_t receipt_count;          /* at most TACET_CONTEXTUAL_RECEIPTS_MOST */
} tacet_contextual_parts;

TACET_API void tacet_contextual_model_free(tacet_contextual_model *model); /* NULL is allowed */
TACET_API const tacet_contextual_parts *tacet_contextual_model_parts(const tacet_contextual_model *model);

/* means[i] (n of them) of the actions (action_dim x n, by columns), within the range of rewards where the model has
 * one, and which is the best before that (the first of equals): the largest, or the least where the model
 * minimizes. Nothing is allocated. Without a table a mean is within 4e-12 * sum |weights| of the sum above, rounding
 * apart, and does not depend on what other actions are asked about. INVALID: n = 0; an action outside the bounds, NaN
 * included. */
TACET_API tacet_status tacet_contextual_predict(const tacet_contextual_model *model, size_t *best, double *means,
                                                const double *actions, size_t n, tacet_error *err);

/* Actions to ask about: the listed ones where the model has a list, otherwise in the terms of its space: records
 * (columns x count) and their points (action_dim x count, for tacet_contextual_predict). Every level; per_axis >= 2
 * values of a numeric column, its ends included, whole where it says so. Without a space, columns are coordinates.
 * INVALID: too many. NO_MEMORY. */
typedef struct tacet_contextual_candidates {
    double *records, *points;
    size_t columns, count;
} tacet_contextual_candidates;
TACET_API tacet_status tacet_contextual_candidates_make(tacet_contextual_candidates *out,
                                                        const tacet_contextual_model *model, size_t per_axis,
                                                        tacet_error *err);
TACET_API void tacet_contextual_candidates_clear(tacet_contextual_candidates *candidates);
/* For many at once. means[i] of n records, each the columns of the space (without one: coordinates), one record after
 * the other. INVALID names row and column of what lies outside. */
TACET_API tacet_status tacet_contextual_predict_records(const tacet_contextual_model *model, double *means,
                                                        const double *records, size_t n, tacet_error *err);

/* PARSE: not JSON, a field missing, of the wrong kind, unknown or out of range; names it. NO_MEMORY. */
TACET_API tacet_status tacet_contextual_model_decode(tacet_contextual_model **out, const char *text, size_t length,
                                                     tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
