/* SPDX-License-Identifier: Apache-2.0 */
/* tune.h - settings chosen on private records: who evaluates asks for a setting, tells one value for each record, and
 * gets winners. The sequence of winners is eps-DP in each record, however many settings were tried.
 *
 *     tacet_tune_open      checks the plan against the ledger; reads back what was told before
 *     tacet_tune_next      a setting to evaluate; draws the winner of a round when all of it was told
 *     tacet_tune_tell      its values, record by record: durable when it returns
 *     tacet_tune_result    winners, and the score of the last one, when tacet_tune_done
 *
 * Everything in the settings is public and fixed before the first value is seen. Values, sums, failures and their order
 * stay in the state file (mode 0600). A run that was killed anywhere goes on with the same state and ledger: what was
 * told is not asked for again, what was drawn is not drawn again, and nothing is charged twice. One thread at a time.
 * src/tune/README.md has the algorithm, the proof, and what breaks the promise. */
#ifndef TACET_TUNE_TRUSTED_TUNE_H
#define TACET_TUNE_TRUSTED_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/dp/ledger.h>
#include <tacet/dp/noise.h>
#include <tacet/dp/open/release.h>
#include <tacet/space/space.h>
#include <tacet/dp/open/calibrate.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACET_TUNE_ROUNDS_MOST = 8, TACET_TUNE_EVALUATIONS_MOST = 100000 };
#define TACET_TUNE_NONE SIZE_MAX

typedef struct tacet_tune_settings {
    const tacet_space *space; /* copied */
    size_t records;           /* n, public */
    double lower, upper;      /* of one record's value; values outside are clipped. Default 0, 1 */
    bool minimize;            /* values are losses; default false */
    double eps;               /* of the search, and of the score: together eps, for no record is in both. Default 1 */
    size_t evaluations;       /* N, at most; default 100 */
    double kept;              /* share of the records kept for the score; 0: no score. Default 0.2 */
    double level;             /* of the score's interval; default 0.95 */
    double contrast;          /* c > 0: a value counts as its difference to the reference's, clipped to c; 0: plain */
    const double *reference;  /* a record of the space, evaluated first; NULL: its middle. Only with contrast */
    bool flat;                /* one round; default false: as many as the table of README.md says */
    uint64_t seed;            /* of the candidates and of the kept records: public. Default 1 */
} tacet_tune_settings;

/* What will be done, as public arithmetic. */
typedef struct tacet_tune_plan {
    size_t rounds;
    size_t settings[TACET_TUNE_ROUNDS_MOST]; /* new ones in each round */
    double eps[TACET_TUNE_ROUNDS_MOST];      /* of each round; they add up to eps */
    size_t searched, kept;                   /* records */
    double strength;                         /* searched eps / range of a value: what the rule goes by */
    double margin;   /* settings this far (in units of a value) below the best lose to it by e^2 in the last round */
    double score_sd; /* of the noise on the score; 0: no score */
} tacet_tune_plan;

/* Whose budget, and under which name. */
typedef struct tacet_tune_ask {
    tacet_ledger *ledger; /* must outlive the run; NULL: only with seeded noise */
    tacet_noise *noise;   /* NULL: private. A seeded source: NOT PRIVATE, for tests and simulations */
    const char *ticket;   /* names the run in the ledger; at most 120 bytes. Default "tune" */
    const char *to_whom;  /* default "anyone" */
    const char *state;    /* the state file; made, mode 0600, when missing. NULL: kept in memory alone */
} tacet_tune_ask;

/* The score of the last winner, in units of a value, from records that the search did not see. */
typedef struct tacet_tune_score {
    double value;        /* noisy mean */
    double lower, upper; /* holds the mean of the population with probability `level` */
    double level, noise_sd;
    size_t records;
    tacet_receipt receipt;
} tacet_tune_score;

typedef struct tacet_tune_progress {
    size_t round, rounds; /* from 1 */
    size_t told, planned; /* evaluations of all rounds; settings that would repeat one are left out */
    size_t open;          /* handed out and not told */
    bool done;
} tacet_tune_progress;

typedef struct tacet_tune tacet_tune;

TACET_API void tacet_tune_settings_defaults(tacet_tune_settings *settings);
/* INVALID names the field. */
TACET_API tacet_status tacet_tune_plan_get(tacet_tune_plan *out, const tacet_tune_settings *settings, tacet_error *err);

/* A run's ledger: as it is, or made with pure eps of `budget` where there is none. Its head is noted in the state
 * folder of this user (tacet/local/trusted/service.h). CORRUPT: it is an older copy than the one last written to, or
 * went another way since: winners would be drawn again without a charge. Otherwise as tacet_ledger_open. */
TACET_API TACET_MUST_CHECK tacet_status tacet_tune_ledger_open(tacet_ledger **out, const char *path, double budget,
                                                               tacet_error *err);
/* BUDGET: the whole run does not fit what the ledger has left; nothing is charged. CONFLICT: the state file belongs to
 * other settings. BUSY: another process has it open. CORRUPT: it is damaged. INVALID, IO, DENIED, NO_MEMORY. */
TACET_API tacet_status tacet_tune_open(tacet_tune **out, const tacet_tune_settings *settings, const tacet_tune_ask *ask,
                                       tacet_error *err);
TACET_API void tacet_tune_close(tacet_tune *tune); /* NULL is allowed */
/* *number and record[columns] of a setting that nobody has been given yet; TACET_TUNE_NONE: none before those handed
 * out are told, or the run is done. When a round is complete its winner is drawn here: errors of the gate and the
 * ledger, after which calling again goes on. */
TACET_API TACET_MUST_CHECK tacet_status tacet_tune_next(tacet_tune *tune, size_t *number, double *record,
                                                        tacet_error *err);
/* One value for each record, in the order of the records; NaN: this record failed, and counts as the worst. Durable
 * when it returns OK. INVALID: another count; STATE: not handed out, or told before. */
TACET_API TACET_MUST_CHECK tacet_status tacet_tune_tell(tacet_tune *tune, size_t number, const double *values,
                                                        size_t count, tacet_error *err);
/* It could not be evaluated at all: the worst value for every record. STATE: also for the reference of contrasts, which
 * everything is measured against; then nothing is noted. */
TACET_API TACET_MUST_CHECK tacet_status tacet_tune_fail(tacet_tune *tune, size_t number, tacet_error *err);

TACET_API void tacet_tune_progress_get(const tacet_tune *tune, tacet_tune_progress *out);
TACET_API bool tacet_tune_done(const tacet_tune *tune);
/* Winners so far, from 0; of each the setting, and the receipt of its choice (either may be NULL). NOT_FOUND: beyond.
 */
TACET_API size_t tacet_tune_winners(const tacet_tune *tune);
TACET_API tacet_status tacet_tune_winner(const tacet_tune *tune, size_t round, double *record, tacet_receipt *receipt,
                                         tacet_error *err);
/* STATE: the run is not done, or keeps no records for a score. */
TACET_API tacet_status tacet_tune_score_get(const tacet_tune *tune, tacet_tune_score *out, tacet_error *err);

/* settings evaluated by a program: one process a setting, several at a time.
 *
 * The program gets the setting on its standard input, as one line of JSON ({"rate":0.01,"kind":"b"}), and prints one
 * value for each record, in the order of the records, separated by blanks or lines. What is printed and is no finite
 * number ("nan", "failed") counts as the worst value of that record. A program that ends with another exit code than 0,
 * or not in time, is started again; after that the setting counts as failed. */

enum { TACET_TUNE_WORKERS_MOST = 256 };

typedef struct tacet_tune_evaluator {
    const char *command; /* for /bin/sh */
    size_t workers;      /* processes at a time; default 1 */
    double seconds;      /* for one evaluation; default 3600 */
    size_t restarts;     /* of one that failed; default 1 */
    const char *errors;  /* a file that gets what the programs say on standard error, mode 0600; NULL: nobody does */
    void (*progress)(const tacet_tune_progress *progress, void *user); /* may be NULL */
    void *user;
    const volatile bool *stop; /* may be NULL; once it is set running programs are ended and the call returns STATE */
} tacet_tune_evaluator;

TACET_API void tacet_tune_evaluator_defaults(tacet_tune_evaluator *evaluator);
/* Evaluates until the run is done. Whatever happens, what the programs started is killed when this returns. INVALID: a
 * program printed another number of values than there are records, or could not be run at all; nothing is noted of it.
 * Otherwise as tacet_tune_next and tacet_tune_tell. A run that failed goes on when this is called again. */
TACET_API TACET_MUST_CHECK tacet_status tacet_tune_evaluate(tacet_tune *tune, const tacet_tune_evaluator *evaluator,
                                                            tacet_error *err);
/* A setting as one line of JSON, from malloc. NO_MEMORY. */
TACET_API tacet_status tacet_tune_setting_text(char **out, const tacet_space *space, const double *record,
                                               tacet_error *err);

/* the best of a random number of private trainings: for models whose training data are private, too.
 *
 * Each run draws a setting, trains a model privately and scores it privately, and states what that costs: pure eps, or
 * rho. The number of runs is drawn secretly before the first one, is geometric, and the choice costs about three runs,
 * whatever its mean (src/tune/README.md, "Private trainers"). Charged when opened. Settings are drawn independently and
 * from secret coins: no adaptive search, no grid. A restart with the same state and ledger draws nothing again. Only
 * the winner may be shown: not how many runs there were, how long they took, nor what the others gave. One thread at a
 * time. */

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
