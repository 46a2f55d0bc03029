/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - what is released of a log, by public facts alone: columns, range, eps and the number of rows. Columns of
 * numbers are cut into even bins, which are levels like those of a category. Proofs: src/ab/README.md. */
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
    TACET_AB_AXES_MOST = TACET_AB_COLUMNS_MOST + TACET_AB_ACTION_COLUMNS_MOST,
    TACET_AB_CELLS_MOST = 1 << 17,
    TACET_AB_STUDY_CELLS_MOST = 2048,
    TACET_AB_SPREAD_PARTS = 16, /* the spread adds this part of a row at the most */
    TACET_AB_KNOTS = 11         /* of the rewards' law, where they may be money */
};

/* Where the bins of a column lie. */
typedef struct tacet_ab_scale {
    double lo, hi;
    bool log, whole;
} tacet_ab_scale;

typedef struct tacet_ab_plan {
    size_t actions, contexts, cells; /* an action is a combination of levels of the action columns */
    size_t action_columns, columns;
    size_t levels[TACET_AB_AXES_MOST]; /* of all columns, actions first: of a category, or bins */
    bool number[TACET_AB_AXES_MOST];   /* which are bins of numbers */
    tacet_ab_scale scale[TACET_AB_AXES_MOST];
    bool smooth;   /* any is */
    double lo, hi; /* declared range of rewards */
    double eps;
    size_t rows;
    bool money;     /* rewards of 0 … hi with hi above 1: where they are cut is learnt from a part of the rows */
    bool totals;    /* the table holds each action's totals beside the cells */
    bool spread;    /* rewards between the ends of their range: how far they scatter is one number more */
    size_t numbers; /* of the table: up and down of each cell, then of each total, then the spread */
    bool study;     /* a running study, with a table an epoch: tacet_ab_plan_study */
    double
        sensitivity; /* of the table in the L1 norm: 2 for the cells, 2 more with totals, 1/16 more with the spread */
} tacet_ab_plan;

/* The first action_columns columns are actions, the others contexts. UNSUPPORTED: too many columns or cells: this is no
 * log for one table. INVALID: no actions, a range or eps. */
TACET_API tacet_status tacet_ab_plan_make(tacet_ab_plan *out, const tacet_space *space, size_t action_columns,
                                          double lo, double hi, double eps, size_t rows, tacet_error *err);
/* The table that each epoch of a running study releases; `rounds` is its horizon. Bins are those of a log of 25
 * sqrt(rounds/eps) rows, of contexts three for five; rewards are not cut, and there are no totals. UNSUPPORTED: more
 * than TACET_AB_STUDY_CELLS_MOST. */
TACET_API tacet_status tacet_ab_plan_study(tacet_ab_plan *out, const tacet_space *space, size_t action_columns,
                                           double lo, double hi, double eps, size_t rounds, tacet_error *err);
/* What an action (or a context) has in column j, any of all columns: a level, or the middle of a bin. */
TACET_API double tacet_ab_plan_value(const tacet_ab_plan *plan, size_t number, size_t j);

#ifdef __cplusplus
}
#endif
#endif
