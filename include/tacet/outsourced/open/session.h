/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - one search over a release: which rows are asked, what came of it, and what is known at its end.
 *
 * The same loop serves `tacet modeler run`, where the answers come over TLS, and the simulations, where they come from
 * a function. With a state folder every question is written to a journal before it is asked and every answer before it
 * is used, so that a search that was stopped goes on where it was: what the journal says was asked is never chosen
 * anew. src/outsourced/open/README.md. */
#ifndef TACET_OUTSOURCED_OPEN_SESSION_H
#define TACET_OUTSOURCED_OPEN_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/outsourced/open/modeler.h>
#include <tacet/outsourced/shared/manifest.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACET_SESSION_OWN = 0x7fffffff }; /* of `initial`: what the method takes by itself */

struct tacet_session_result;

typedef struct tacet_session_settings {
    const char *state; /* folder of the journal; NULL: nothing is kept */
    /* What is known of the objective. */
    double lengthscale; /* in scaled units, for eiv; 0: not known, the averaging modeler then finds out */
    double noise_var;   /* of a measurement; NaN: not known (eiv: 1e-4 of the variance of values) */
    /* eiv's prior; signal_var 0: not known, values are shifted and scaled by those of the first rows. */
    double signal_var, mean;
    double beta_scale, delta_ucb;
    /* The search. */
    bool minimize;
    size_t queries; /* rows to measure in all; a session that is gone on with may have another number */
    size_t initial; /* random first rows; TACET_SESSION_OWN: a quarter of the queries, at most ten */
    uint64_t seed;
    void (*progress)(size_t done, size_t total, size_t best_row, double best_value, void *user); /* may be NULL */
    /* After every new answer: what is known by then, for a display; it is gone after the call. What the model says is
     * in it once the averaging modeler chooses. Looking changes nothing. May be NULL. */
    void (*looked)(const struct tacet_session_result *so_far, void *user);
    bool (*stop)(void *user); /* asked before every question; true: conclude with what is known; may be NULL */
    void *user;
} tacet_session_settings;

/* Whoever holds rows: the release, and its rows as numbers (manifest->dims x manifest->rows). Several holders of the
 * same columns are searched as one table, whose rows are numbered through. */
typedef struct tacet_session_holder {
    const tacet_manifest *manifest;
    const char *text; /* the manifest's own, which the journal is bound to */
    const double *rows;
} tacet_session_holder;
/* Of which holder a row is; *row becomes its number there. */
TACET_API size_t tacet_session_place(const tacet_session_holder *holders, size_t count, size_t *row);

/* Whoever answers, for row `row` of holder `holder`. UNSUPPORTED: this row cannot be measured, another one is asked.
 * STATE: told to stop. BUDGET, DENIED, NOT_FOUND: the holder answers no more. IO, TIMEOUT: it is away. Both cost its
 * rows alone, and one that is away is asked again from time to time. Anything else ends the search. */
typedef struct tacet_session_asker {
    tacet_status (*ask)(void *user, double *value, const char *ticket, size_t holder, size_t row, tacet_error *err);
    void *user;
} tacet_session_asker;

typedef enum tacet_session_end {
    TACET_SESSION_DONE,
    TACET_SESSION_STOPPED,     /* by settings.stop */
    TACET_SESSION_BUDGET,      /* no holder answers any more: the last one's budget is used up */
    TACET_SESSION_AWAY,        /* … it cannot be reached */
    TACET_SESSION_REFUSED,     /* … it refused for another reason */
    TACET_SESSION_UNMEASURABLE /* too many rows in a row could not be measured */
} tacet_session_end;

typedef struct tacet_session_result {
    tacet_session_end end;
    tacet_error why; /* of an end other than DONE */
    size_t *rows;    /* measured, in order; owned */
    double *values;  /* as measured; owned */
    size_t count;
    size_t *failed; /* rows that could not be measured; owned */
    size_t failed_count;
    tacet_error *holders; /* of each: OK, or why its rows were left out at the end; owned */
    size_t holder_count;
    size_t best_row; /* best measured one, known ones included */
    double best_value;
    bool predicted;                          /* the following three are there */
    size_t recommended_row;                  /* best posterior mean */
    double recommended_mean, recommended_sd; /* in the target's own units when no logarithm was taken */
    bool known;                              /* `knowledge` is there: the averaging modeler, and a value */
    tacet_modeler_knowledge knowledge;       /* its values as recommended_mean */
    bool compared;                           /* `chance` is there: a row was asked at random */
    tacet_chance chance;                     /* as many random rows as were measured; in the target's own units */
    char method[16];
    double lengthscale, noise_var; /* of eiv */
} tacet_session_result;

TACET_API void tacet_session_defaults(tacet_session_settings *settings);
/* Runs, or goes on with, a session over at least one holder's rows. INVALID, UNSUPPORTED also: the releases of several
 * holders cannot be compared, or a lengthscale is given for them. OK whenever a value is known, however the search
 * ended. INVALID: settings, before anything was asked. CONFLICT: the state belongs to another release or other
 * settings. BUSY, CORRUPT, IO: the journal. Others: why not even one value could be had. *out is cleared on failure. */
TACET_API tacet_status tacet_session_run(tacet_session_result *out, const tacet_session_settings *settings,
                                         const tacet_session_asker *asker, const tacet_session_holder *holders,
                                         size_t holder_count, tacet_error *err);
TACET_API void tacet_session_result_clear(tacet_session_result *result);
/* "done", "interrupted", "budget", "away", "refused", "unmeasurable"; static. */
TACET_API const char *tacet_session_end_name(tacet_session_end end);

#ifdef __cplusplus
}
#endif
#endif
