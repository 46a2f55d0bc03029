/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - a private log: read in one pass a stage, added up exactly, released as one table.
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
    const char *person;      /* name of a column that says whose row it is, which never leaves; NULL: none */
    const uint64_t *persons; /* of rows in memory instead: a number for each, equal ones are one person's; NULL: none */
    size_t rows_per_person;  /* with either: the first so many rows of each are learnt from, and the charge is for all
                                of them; 0: rows count by themselves */
    const volatile bool *stop; /* may be NULL; once another thread sets it a release ends with STATE, nothing drawn or
                                  all of a stage. The next release of this ticket goes on, and is charged once */
    const char *table;         /* NULL: rows are in a file, or in memory */
} tacet_ab_question;

/* Reads the log once, to count its rows and to know them again. UNSUPPORTED as tacet_ab_plan_make, before the file is
 * opened. INVALID, PARSE: a column is missing, an action is no level or outside its bounds, a reward no number; a
 * person without rows, or the other way round. A context that is no level counts as the first, one that is no number as
 * the middle. NOT_FOUND, IO, NO_MEMORY; STATE: no rows. With a table `path` is the URL of its database, postgresql://…:
 * the server counts the rows, with the sums they have in a file, and a line a group moves. UNSUPPORTED: persons;
 * rewards from 0 to more than 1. The ledger must be named. */
TACET_API tacet_status tacet_ab_log_open(tacet_ab_log **out, const char *path, const tacet_ab_question *question,
                                         tacet_error *err);
/* The same from memory: `count` rows, each a record of the space, then the reward. Copied. */
TACET_API tacet_status tacet_ab_log_open_rows(tacet_ab_log **out, const double *rows, size_t count,
                                              const tacet_ab_question *question, tacet_error *err);
TACET_API void tacet_ab_log_free(tacet_ab_log *log); /* wipes; NULL is allowed */
TACET_API const tacet_ab_plan *tacet_ab_log_plan(const tacet_ab_log *log);
TACET_API const tacet_space *tacet_ab_log_space(const tacet_ab_log *log);
/* Charges, releases and learns. CONFLICT: the ticket was begun with other rows, or another question. Errors otherwise
 * as tacet_mechanism_run. */
TACET_API TACET_MUST_CHECK tacet_status tacet_ab_log_release(tacet_ab_log *log, tacet_ab_model **out,
                                                             const tacet_contextual_entry *entry, tacet_error *err);

/* --- rows that lie elsewhere -------------------------------------------------------------------------------------
 * A release passes over the log once or more. Whoever holds a part of the rows adds up what they add to a pass
 * (tacet_ab_part_tally); the tallies of all parts merge to that of the log, the same bits however it was cut. */

enum { TACET_AB_DEAL_KEY = 16 };
typedef enum tacet_ab_pass {
    TACET_AB_KNOWN, /* rows are counted, and known again in later passes */
    TACET_AB_LAW,   /* where rewards may be money: their law, of some rows */
    TACET_AB_TABLE  /* the table, of all others */
} tacet_ab_pass;

/* A pass, as told to whoever holds rows. The key says which rows are dealt to which pass: as private as they are. */
typedef struct tacet_ab_stage {
    tacet_ab_pass pass;
    uint64_t rows; /* of the whole log */
    double top;    /* the number that rewards are counted to */
    unsigned char key[TACET_AB_DEAL_KEY];
} tacet_ab_stage;

/* What a tally of that pass is of, to load one by. Errors as tacet_ab_plan_make. */
TACET_API tacet_status tacet_ab_stage_plan(tacet_tally_plan *out, const tacet_ab_question *question,
                                           const tacet_ab_stage *stage, tacet_error *err);
/* Of `count` rows as above, the first of which is number `first` of the log; the part is named by that number.
 * Errors as tacet_ab_log_open_rows, but no rows are a part, too. UNSUPPORTED: persons, who may be in several parts. */
TACET_API tacet_status tacet_ab_part_tally(tacet_tally **out, const tacet_ab_question *question,
                                           const tacet_ab_stage *stage, const double *rows, size_t count,
                                           uint64_t first, tacet_error *err);

/* Gives the merged tally of a pass over all parts, which is freed here. */
typedef tacet_status (*tacet_ab_engine)(void *user, tacet_tally **out, const tacet_ab_stage *stage, tacet_error *err);
/* A log of so many rows, added up by an engine; released like any other, but the ledger must be named, since this
 * machine does not see rows to know them again. rows_per_person > 0: the engine left no person more rows than that, and
 * the charge is for all of them. CONFLICT where a pass has not all rows, or others than the one before. */
TACET_API tacet_status tacet_ab_log_open_engine(tacet_ab_log **out, uint64_t rows, tacet_ab_engine engine, void *user,
                                                const tacet_ab_question *question, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
