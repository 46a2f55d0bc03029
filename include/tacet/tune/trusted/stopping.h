/* SPDX-License-Identifier: Apache-2.0 */
/* stopping.h - the best of a random number of private trainings: for models whose training data are private, too.
 *
 * Each run draws a setting, trains a model privately and scores it privately, and states what that costs: pure eps, or
 * rho. The number of runs is drawn secretly before the first one, is geometric, and the choice costs about three runs,
 * whatever its mean (src/tune/README.md, "Private trainers"). Charged when opened. Settings are drawn independently and
 * from secret coins: no adaptive search, no grid. A restart with the same state and ledger draws nothing again. Only
 * the winner may be shown: not how many runs there were, how long they took, nor what the others gave. One thread at a
 * time. */
#ifndef TACET_TUNE_TRUSTED_STOPPING_H
#define TACET_TUNE_TRUSTED_STOPPING_H

#include <tacet/dp/open/select.h>
#include <tacet/tune/trusted/tune.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_stopping_settings {
    const tacet_space *space; /* copied; a setting is uniform in it, each column on its own scale */
    double runs;              /* mean number of runs, above 1; default 30 */
    double eps;               /* of one run, training and score together: pure; 0: rho instead */
    double rho;               /* of one run: rho-zCDP, priced at delta */
    double delta;
} tacet_stopping_settings;

typedef struct tacet_stopping tacet_stopping;

TACET_API void tacet_stopping_settings_defaults(tacet_stopping_settings *settings);
/* What the choice will cost: eps and delta of *out. INVALID: neither eps nor rho, or both; runs. */
TACET_API tacet_status tacet_stopping_price(tacet_select *out, const tacet_stopping_settings *settings,
                                            tacet_error *err);
/* ask->noise must be NULL: there is no seeded form. Errors as tacet_tune_open; charged when it returns OK. */
TACET_API tacet_status tacet_stopping_open(tacet_stopping **out, const tacet_stopping_settings *settings,
                                           const tacet_tune_ask *ask, tacet_error *err);
TACET_API void tacet_stopping_close(tacet_stopping *stopping); /* NULL is allowed */
/* The setting of the next run, and its number; TACET_TUNE_NONE: there is none to begin. */
TACET_API TACET_MUST_CHECK tacet_status tacet_stopping_next(tacet_stopping *stopping, size_t *run, double *record,
                                                            tacet_error *err);
/* The private score of a run; NaN: it failed, and is the worst. *best: of all told so far. Durable when OK. STATE. */
TACET_API TACET_MUST_CHECK tacet_status tacet_stopping_tell(tacet_stopping *stopping, size_t run, double score,
                                                            bool *best, tacet_error *err);
/* The winner: durable in the ledger before it is handed out. STATE: runs are missing. */
TACET_API TACET_MUST_CHECK tacet_status tacet_stopping_result(tacet_stopping *stopping, double *record, double *score,
                                                              tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
