/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - what was released of a log: the table, its receipts, and what its posterior says of it.
 *
 * Open: the reader never saw the log. Rewards are in their own unit here. One thread at a time to make or free one;
 * any number may read. */
#ifndef TACET_AB_OPEN_MODEL_H
#define TACET_AB_OPEN_MODEL_H

#include <tacet/ab/open/posterior.h>
#include <tacet/dp/open/release.h>
#include <tacet/space/space.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_ab_model tacet_ab_model;

enum { TACET_AB_EPOCHS_MOST = 64, TACET_AB_RECEIPTS_MOST = TACET_AB_EPOCHS_MOST };

typedef struct tacet_ab_facts {
    const tacet_space *space; /* action columns, then context columns */
    tacet_ab_plan plan;
    const char *reward; /* name of the column */
    double top;         /* rewards above it count as it: plan.hi, or below where the plan is for money */
    size_t table_rows;  /* rows in the table: all of them, or those that did not tell where to cut */
    double variance_share;
    double scale; /* of the noise on each number of the table */
    bool is_private;
    size_t person_rows; /* how many rows a person may have; 0: rows count by themselves */
    double person_eps;  /* what such a person is charged */
    const double
        *released; /* plan.numbers of them, in each epoch: up of each cell, down of each, then of the totals likewise */
    tacet_receipt receipts[TACET_AB_RECEIPTS_MOST];
    size_t receipt_count;
    /* A running study (plan.study) has a table an epoch: `released` is one after the other. */
    size_t epochs;
    const double *tickets; /* of each epoch */
    bool minimize;         /* the table is of negated rewards: values are negated back, and the best is the least */
    const double *actions; /* its list of actions, plan.action_columns numbers each: no other is recommended */
    size_t action_count;   /* 0: any */
} tacet_ab_facts;

TACET_API void tacet_ab_model_free(tacet_ab_model *model); /* NULL is allowed */
TACET_API const tacet_ab_facts *tacet_ab_model_facts(const tacet_ab_model *model);
/* Values in the unit of rewards, gains and spreads too. */
TACET_API const tacet_ab_posterior *tacet_ab_model_posterior(const tacet_ab_model *model);
/* Of n records: mean reward and its spread. Where `best` is given actions are not looked at, and it receives the best
 * action: plan.action_columns numbers a record; of categories the rule's. INVALID names row and column of what is no
 * level or outside its bounds. */
TACET_API tacet_status tacet_ab_model_predict(const tacet_ab_model *model, double *means, double *sds, double *best,
                                              const double *records, size_t n, tacet_error *err);

/* Whether actions were shown as planned: `weights` of all actions, above 0, in any unit. shown: the released share of
 * each. p_value: how likely released counts are at least as far off, where they were. INVALID, NO_MEMORY. */
TACET_API tacet_status tacet_ab_model_split(const tacet_ab_model *model, double *shown, double *p_value,
                                            const double *weights, tacet_error *err);

/* JSON; the caller frees the text. */
TACET_API tacet_status tacet_ab_model_encode(const tacet_ab_model *model, char **text, tacet_error *err);
/* PARSE names the field. The posterior is computed again from the released numbers. */
TACET_API tacet_status tacet_ab_model_decode(tacet_ab_model **out, const char *text, size_t length, tacet_error *err);
/* Whether a text is one of these models, by its head. */
TACET_API bool tacet_ab_model_is(const char *text, size_t length);

#ifdef __cplusplus
}
#endif
#endif
