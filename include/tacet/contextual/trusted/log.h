/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - a private log of actions, contexts and rewards, all of them numbers, for choices of the published algorithm:
 * read, checked, entered in its ledger. For a model of a log see tacet/ab/trusted/log.h.
 *
 * What is asked of a log is public and said before it is opened. Refusals come from public facts: columns, bounds,
 * actions, the number of rows. Proofs: src/contextual/README.md. One thread at a time per object. */
#ifndef TACET_CONTEXTUAL_TRUSTED_LOG_H
#define TACET_CONTEXTUAL_TRUSTED_LOG_H

#include <tacet/contextual/trusted/learn.h>
#include <tacet/space/space.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_contextual_log tacet_contextual_log;

/* All of it public, and not fitted on the log. */
typedef struct tacet_contextual_question {
    const tacet_space *space; /* action columns, then context columns */
    size_t action_columns;
    const char *reward;      /* name of a column */
    const char *person;      /* name of a column that says whose row it is, which never leaves; NULL: none */
    size_t rows_per_person;  /* with it: the first so many rows of each are learnt from, and the charge is for all
                                of them; 0: rows count by themselves */
    tacet_kernel_kind kind;  /* SE or MATERN */
    unsigned matern_p;
    const double *lengthscales; /* in the columns' units (log: a factor) */
    size_t lengthscale_count;   /* 0: 0.3 of the width; 1: of all columns; or one a column */
    tacet_contextual_settings settings; /* range, eps */
} tacet_contextual_question;

/* Reads the log. INVALID, PARSE: what the question or a public column has wrong. UNSUPPORTED: categories, whose suprema
 * are not certified. Contexts and rewards outside their bounds count as the nearest within. NOT_FOUND, IO, NO_MEMORY. */
TACET_API tacet_status tacet_contextual_log_open(tacet_contextual_log **out, const char *path,
                                                 const tacet_contextual_question *question, tacet_error *err);
TACET_API void tacet_contextual_log_free(tacet_contextual_log *log); /* wipes; NULL is allowed */

/* Where a release is entered. */
typedef struct tacet_contextual_entry {
    const char *ledger;     /* NULL: beside the log, whatever name the log is called by; of rows from memory: in the
                               registry, where the same rows find it again */
    const char *new_budget; /* a reason to begin a new budget for rows that were released before; NULL: none */
    double budget;          /* of a ledger that is made; 0: this release's eps */
    const char *ticket, *to_whom;
    bool *few;   /* may be NULL; set where the log has too few distinct rows for this machine to know it again under
                    another name. It depends on the rows, and is for their holder */
    bool seeded; /* seeded noise and no ledger: NOT PRIVATE, for tests */
    uint64_t seed;
} tacet_contextual_entry;

/* One action for one context, of per_axis values an action column; both in the units of the
 * space, contexts as a record. *release holds the number of the action, actions (space order, freed by the caller) all
 * there were. */
TACET_API TACET_MUST_CHECK tacet_status tacet_contextual_log_choose(tacet_contextual_log *log, tacet_release **release,
                                                                    double **actions, double *used_tau, double tau,
                                                                    size_t per_axis, const double *context,
                                                                    const tacet_contextual_entry *entry,
                                                                    tacet_error *err);

/* actions to try while learning, drawn without looking at anything. */

/* Fills out (d x count, one action after the other) within the box. `seed` NULL: uniform, by the operating system's
 * entropy. Otherwise numbers first, first + 1, … of a Sobol sequence of at most four coordinates, shifted by a vector
 * that the seed chooses: each is uniform, too, and together they cover the box evenly; keep the seed for a whole study.
 * Neither depends on a context or a reward. INVALID: d is 0 or above TACET_CONTEXTUAL_DIM_MOST (of a sequence: 4), or
 * a bound is not finite or not below the other. IO: no entropy. */
TACET_API tacet_status tacet_contextual_actions(double *out, size_t d, size_t count, const double *lower,
                                                const double *upper, const uint64_t *seed, uint64_t first,
                                                tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
