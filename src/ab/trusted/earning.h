/* SPDX-License-Identifier: Apache-2.0 */
/* earning.h - choices that earn while they learn: which action suits which context, a table an epoch.
 *
 * The candidates are a fixed, public list of actions; a round brings its context. Columns of both are categories or
 * numbers of any kind. Epoch 0 draws actions evenly. Every later one draws, for each round, one of 64 tables of means
 * from the posterior of all releases so far, and takes the best action of it in the round's context. Epochs are as
 * epochs.h has them: the first has 200/eps tickets, every other as many as all before it. One release is made of each:
 * the table that `tacet learn` releases of a log (src/ab/README.md, "Earning"). A round that was not reported by then
 * adds nothing, and no size depends on it.
 *
 * Joint eps-DP for one round: its context, the rewards it would give, whether it is reported. The action of a round
 * from epoch 1 on tells about its own context: it is for that round alone. Recommendation: the action that is best for
 * all; STATE before the first release. */
#ifndef TACET_SRC_AB_TRUSTED_EARNING_H
#define TACET_SRC_AB_TRUSTED_EARNING_H

#include <tacet/ab/open/model.h>
#include <tacet/core/policy.h>
#include "dp/mechanism.h"

typedef struct tacet_ab_earning_settings {
    const tacet_space *space; /* action columns, then context columns; copied */
    size_t action_columns;
    const double *actions; /* records of the action columns, one after the other; copied */
    size_t count;
    bool embedded; /* a round's context is the coordinates of its columns (tacet_space_embed); else their numbers */
    double lower, upper; /* range of rewards; clipped */
    bool minimize;       /* for the model that is released: rewards come negated, and so does the range */
    double eps;          /* of one ticket */
    size_t rounds;       /* suggestions at the most, up to 2^22 */
    size_t first;        /* tickets of epoch 0; 0: 200/eps, from 100 to 1000 */
    size_t late;         /* reports may come so many suggestions after an epoch's end */
    uint64_t coin_seed;  /* of the draws; public */
} tacet_ab_earning_settings;

size_t tacet__ab_earning_first(double eps); /* tickets of epoch 0, where settings do not say */
/* `ask` is copied; its texts, ledger and noise must outlive the policy, and its ticket has at most 120 bytes. Nothing
 * is charged before the first release. INVALID names the rule. UNSUPPORTED as tacet_ab_plan_study. NO_MEMORY. */
tacet_status tacet_ab_earning_create(tacet_policy **out, const tacet_ab_earning_settings *settings,
                                     const tacet_ask *ask, tacet_error *err);
/* What the releases so far say, as a model, which the caller frees. STATE: there are none. */
tacet_status tacet_ab_earning_model(const tacet_policy *policy, tacet_ab_model **out, tacet_error *err);
/* The best action in a context by the means of the posterior: post-processing. STATE: nothing was released. */
tacet_status tacet_ab_earning_best(tacet_policy *policy, size_t *index, const double *context, size_t count,
                                   tacet_error *err);

#endif
