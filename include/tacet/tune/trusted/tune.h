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
/* It goes back to those that nobody has been given: whoever had it gave up without a result (a restart). STATE. */
TACET_API tacet_status tacet_tune_give_back(tacet_tune *tune, size_t number, tacet_error *err);

TACET_API void tacet_tune_progress_get(const tacet_tune *tune, tacet_tune_progress *out);
TACET_API bool tacet_tune_done(const tacet_tune *tune);
/* Winners so far, from 0; of each the setting, and the receipt of its choice (either may be NULL). NOT_FOUND: beyond.
 */
TACET_API size_t tacet_tune_winners(const tacet_tune *tune);
TACET_API tacet_status tacet_tune_winner(const tacet_tune *tune, size_t round, double *record, tacet_receipt *receipt,
                                         tacet_error *err);
/* STATE: the run is not done, or keeps no records for a score. */
TACET_API tacet_status tacet_tune_score_get(const tacet_tune *tune, tacet_tune_score *out, tacet_error *err);

/* All x in [0, 1] that a mean m of n independent values in [0, 1], off by at most t but for probability alpha/2, leaves
 * possible at level 1 - alpha: from m - t to m + t by Chernoff's bound. */
TACET_API void tacet_tune_interval(double *lower, double *upper, double m, double t, size_t n, double alpha);

#ifdef __cplusplus
}
#endif
#endif
