/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - a private log of categories: read in one pass a stage, added up exactly, released as one table.
 *
 * Neighbours: one row, in its place, becomes any other: its action, its contexts and its reward. Columns, levels,
 * range, eps and the number of rows are public and must not be fitted on the log. Proofs: src/ab/README.md. Memory is
 * that of the table, however many rows there are. One thread at a time per object. */
#ifndef TACET_AB_TRUSTED_LOG_H
#define TACET_AB_TRUSTED_LOG_H

#include <tacet/ab/open/model.h>
#include <tacet/contextual/trusted/log.h>
#include <tacet/tally/trusted/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_ab_log tacet_ab_log;

/* All of it public. */
typedef struct tacet_ab_question {
    const tacet_space *space; /* action columns, then context columns */
    size_t action_columns;
    const char *reward;
    double lo, hi; /* rewards outside count as the nearest end */
    double eps;
    /* Whose rows they are, as tacet_contextual_question has it. */
    const char *person;
    const uint64_t *persons;
    size_t rows_per_person;
} tacet_ab_question;

/* Whether what is asked of a log is answered by one table, by what is public of it: all columns are categories, nothing
 * is believed of rewards or their law, and the noise is that of pure eps. Then *out is the question to ask. */
TACET_API bool tacet_ab_question_make(tacet_ab_question *out, const tacet_contextual_question *question);

/* Reads the log once, to count its rows and to know them again. UNSUPPORTED as tacet_ab_plan_make, before the file is
 * opened. INVALID, PARSE: a column is missing, an action is no level, a reward no number; a person without rows, or the
 * other way round. A context that is no level counts as the first. NOT_FOUND, IO, NO_MEMORY; STATE: no rows. */
TACET_API tacet_status tacet_ab_log_open(tacet_ab_log **out, const char *path, const tacet_ab_question *question,
                                         tacet_error *err);
/* The same from memory: `count` rows, each the levels of the space's columns, then the reward. Copied. */
TACET_API tacet_status tacet_ab_log_open_rows(tacet_ab_log **out, const double *rows, size_t count,
                                              const tacet_ab_question *question, tacet_error *err);
TACET_API void tacet_ab_log_free(tacet_ab_log *log); /* wipes; NULL is allowed */
TACET_API const tacet_ab_plan *tacet_ab_log_plan(const tacet_ab_log *log);
/* Charges, releases and learns. CONFLICT: the ticket was begun with other rows, or another question. Errors otherwise
 * as tacet_mechanism_run. */
TACET_API TACET_MUST_CHECK tacet_status tacet_ab_log_release(tacet_ab_log *log, tacet_ab_model **out,
                                                             const tacet_contextual_entry *entry, tacet_error *err);

/* Below it, for engines that add up elsewhere. The plan of the table's tally, `top` the number that rewards are
 * counted to; and what one row, as above, adds to it. */
TACET_API tacet_status tacet_ab_tally_plan(tacet_tally_plan *out, const tacet_ab_plan *plan,
                                              const tacet_space *space, const char *reward, double top,
                                              tacet_error *err);
TACET_API tacet_status tacet_ab_tally_add(tacet_tally *tally, const tacet_ab_plan *plan, double top,
                                             const double *row, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
