/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - a private log of actions, contexts and rewards in a file: read, checked, learnt from, entered in its ledger.
 *
 * What is asked of a log is public and said before it is opened; what would void the proof of privacy is refused here,
 * so that every program refuses it. Refusals come from public facts (columns, bounds, actions, the number of rows);
 * what depends on private cells is told by tacet_contextual_log_findings, to whoever holds the log, and decides
 * nothing. Proofs: src/contextual/README.md. One thread at a time per object. */
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
    const char *propensity;  /* name of a column of P(action | context); NULL: none */
    const char *person;      /* name of a column that says whose row it is, which never leaves; NULL: none */
    const uint64_t *persons; /* of rows in memory instead: a number for each, equal ones are one person's; NULL: none */
    size_t rows_per_person;  /* with either: the first so many rows of each are learnt from, and the charge is for all
                                of them; 0: rows count by themselves */
    tacet_kernel_kind kind;  /* SE or MATERN */
    unsigned matern_p;
    const double *lengthscales; /* in the columns' units (log: a factor; category: changes of level) */
    size_t lengthscale_count;   /* 0: 0.3 of the width, 1 for a category; 1: of all numeric columns; or one a column */
    const size_t *groups; /* NULL, or the group of each column, from 0: the function is a sum over groups. More than
                             four columns of numbers need it */
    const char *public_contexts;        /* a file with a PUBLIC sample of contexts; NULL: none */
    tacet_contextual_settings settings; /* rewards, range, eps; discrete and law_stated are set here */
} tacet_contextual_question;

/* Reads the log. INVALID, PARSE: what the question or a public column has wrong; a public law that is the log itself.
 * Contexts, rewards and propensities outside their bounds, and contexts of no level, count as the nearest, or first,
 * one within. NOT_FOUND, IO, NO_MEMORY. */
TACET_API tacet_status tacet_contextual_log_open(tacet_contextual_log **out, const char *path,
                                                 const tacet_contextual_question *question, tacet_error *err);
/* The same from memory: `count` rows one after the other, each the columns of the space as a record
 * (tacet/space/space.h; NaN: missing), the reward, and the propensity where the question names one. Copied. */
TACET_API tacet_status tacet_contextual_log_open_rows(tacet_contextual_log **out, const double *rows, size_t count,
                                                      const tacet_contextual_question *question, tacet_error *err);
TACET_API void tacet_contextual_log_free(tacet_contextual_log *log); /* wipes; NULL is allowed */
TACET_API const tacet_contextual_learner *tacet_contextual_log_learner(const tacet_contextual_log *log);
/* Actions are public, and so is this: the least p-value of "this numeric action column was drawn uniformly". */
TACET_API double tacet_contextual_log_uniform_p(const tacet_contextual_log *log, const char **column);

/* What PRIVATE cells say, for the holder of the log. */
typedef enum tacet_contextual_oddity {
    TACET_CONTEXTUAL_OUTSIDE,    /* a context or reward outside its bounds: taken as the nearest within */
    TACET_CONTEXTUAL_NO_LEVEL,   /* a context that is no level, or missing: taken as the first */
    TACET_CONTEXTUAL_UNTRIED,    /* an action that no row has */
    TACET_CONTEXTUAL_UNTRIED_IN, /* pairs of an action and a context of levels that no row has */
    TACET_CONTEXTUAL_PROPENSITY, /* propensities that are no probability, or below the least, which they count as */
    TACET_CONTEXTUAL_MISMATCH    /* actions that were taken more or less often than the propensities say, plainly */
} tacet_contextual_oddity;
typedef struct tacet_contextual_finding {
    tacet_contextual_oddity oddity;
    const char *column; /* lives as long as the log */
    size_t rows;        /* how many; of actions, not of rows, for UNTRIED and MISMATCH */
    size_t first;       /* the first of them, from 1 */
} tacet_contextual_finding;
enum { TACET_CONTEXTUAL_FINDINGS_MOST = 80 };
/* *count of them. NO_MEMORY. */
TACET_API tacet_status tacet_contextual_log_findings(const tacet_contextual_log *log,
                                                     tacet_contextual_finding out[TACET_CONTEXTUAL_FINDINGS_MOST],
                                                     size_t *count, tacet_error *err);
/* One of them as a sentence, with names and numbers of rows. */
enum { TACET_CONTEXTUAL_WORDS = 512 };
TACET_API void tacet_contextual_log_words(const tacet_contextual_log *log, char out[TACET_CONTEXTUAL_WORDS],
                                          const tacet_contextual_finding *finding);

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
/* Releases a model. Before anything is charged: STATE for too few rows; CONFLICT for a release that was begun from
 * other rows, or from these in another order (each row must stay in one part). Otherwise as tacet_contextual_release.
 */
TACET_API TACET_MUST_CHECK tacet_status tacet_contextual_log_release(tacet_contextual_log *log,
                                                                     tacet_contextual_model **out,
                                                                     const tacet_contextual_entry *entry,
                                                                     tacet_error *err);
/* One action for one context, of per_axis values a numeric action column and all levels; both in the units of the
 * space, contexts as a record. *release holds the number of the action, actions (space order, freed by the caller) all
 * there were. UNSUPPORTED: categories, whose suprema are not certified. */
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
