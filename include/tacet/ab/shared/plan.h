/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - what is released of a log of categories, by public facts alone: columns, range, eps and the number of rows.
 * Proofs: src/ab/README.md. */
#ifndef TACET_AB_SHARED_PLAN_H
#define TACET_AB_SHARED_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>
#include <tacet/space/space.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TACET_AB_COLUMNS_MOST = 16,
    TACET_AB_ACTION_COLUMNS_MOST = 8,
    TACET_AB_CELLS_MOST = 1 << 17,
    TACET_AB_KNOTS = 11 /* of the rewards' law, where they may be money */
};

typedef struct tacet_ab_plan {
    size_t actions, contexts, cells; /* an action is a combination of levels of the action columns */
    size_t action_columns, columns;
    size_t action_levels[TACET_AB_ACTION_COLUMNS_MOST], levels[TACET_AB_COLUMNS_MOST];
    double lo, hi; /* declared range of rewards */
    double eps;
    size_t rows;
    bool money;         /* rewards of 0 … hi with hi above 1: where they are cut is learnt from a part of the rows */
    bool totals;        /* the table holds each action's totals beside the cells */
    size_t numbers;     /* of the table: up and down of each cell, then of each total */
    double sensitivity; /* of the table in the L1 norm: 2 for the cells, and 2 more with totals */
} tacet_ab_plan;

/* The first action_columns columns are actions, the others contexts. UNSUPPORTED: a column that is no category, or too
 * many cells: this is no log for one table. INVALID: no actions, a range or eps. */
TACET_API tacet_status tacet_ab_plan_make(tacet_ab_plan *out, const tacet_space *space, size_t action_columns,
                                          double lo, double hi, double eps, size_t rows, tacet_error *err);
/* A row is whole numbers, the levels of all columns: which action, which context it has. */
TACET_API size_t tacet_ab_plan_action(const tacet_ab_plan *plan, const double *levels);
TACET_API size_t tacet_ab_plan_context(const tacet_ab_plan *plan, const double *levels);
/* Level of action column j of an action. */
TACET_API size_t tacet_ab_plan_level(const tacet_ab_plan *plan, size_t action, size_t j);
/* The knots that the law of rewards is told at: 0, then hi / 512 doubled up to hi. */
TACET_API double tacet_ab_knot(const tacet_ab_plan *plan, size_t k);

#ifdef __cplusplus
}
#endif
#endif
