/* SPDX-License-Identifier: Apache-2.0 */
/* posterior.h - what a released table of rewards says: the best action in each context, what it earns, and what is
 * gained by it, with intervals.
 *
 * Post-processing: everything here is a function of released numbers, public facts and a public seed. The model and its
 * steps: src/ab/README.md. */
#ifndef TACET_AB_OPEN_POSTERIOR_H
#define TACET_AB_OPEN_POSTERIOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/ab/shared/plan.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was released. Cell (action a, context c) is number c * actions + a; context c = l_1 + levels_1 (l_2 + …). */
typedef struct tacet_ab_table {
    size_t actions;
    const size_t *levels;                  /* of each context column */
    size_t columns;                        /* may be 0: one context */
    const double *up;                      /* released sum of the rewards (scaled to 0 … 1) of each cell */
    const double *down;                    /* released sum of one less the reward */
    const double *up_totals, *down_totals; /* of each action, released beside the cells; NULL: not released */
    double scale;                          /* of the Laplace noise on each number; 0: none, for comparisons */
    double rows;                           /* of the log, public */
    double variance_share; /* variance of a reward with mean p as a share of p (1 - p): 1 for rewards of 0 and 1 */
    /* Where columns are bins of numbers: levels of all columns, those of actions first, and which of them are bins in
     * their order, whose effects are smooth. NULL: none. And the variance of a reward over the whole log; 0: not known.
     */
    const size_t *axes;
    const bool *smooth;
    size_t axis_count;
    double variance;
} tacet_ab_table;

typedef struct tacet_ab_estimate {
    double mean, lower, upper; /* upper and lower end of the 95 % interval */
} tacet_ab_estimate;

typedef struct tacet_ab_posterior {
    size_t actions, contexts;
    double *mean, *sd;   /* of the reward in each cell, scaled to 0 … 1 */
    double *rows;        /* how many rows of the log each cell likely has */
    double *share;       /* of each context among visitors */
    size_t *rule;        /* the action of each context */
    size_t single;       /* the best action for all */
    bool rule_is_single; /* the rule takes that action in every context: no gain over it is claimed */
    tacet_ab_estimate rule_value, single_value, logged_value, uniform_value;
    tacet_ab_estimate over_single, over_logged, over_uniform; /* what the rule earns more */
    tacet_ab_estimate *action_value;                          /* of showing one action to all */
} tacet_ab_posterior;

#ifdef __cplusplus
}
#endif
#endif
