/* SPDX-License-Identifier: Apache-2.0 */
/* targets_tune.c - tuning on private records: one record's values are replaced.
 * Ring: audit. Worst case: all settings are as good as another but for one record, whose value is the lowest for the
 * first setting and the highest for all others in world 0, and the other way round in world 1: one score rises and all
 * others fall by the sensitivity. The statistic counts the rounds that the first setting wins, each by its share of
 * eps. The real run is made, of two rounds. Controls break what only the caller can keep, or choose among runs without
 * paying for it. Cost: some 50 us a run. */
#include "audit/targets.h"

#include "core/fail.h"
#include "dp/noise/sampler.h"
#include "dp/stopping.h"

#include <math.h>
#include <string.h>
#include <tacet/tune/trusted/tune.h>

enum { SETTINGS = 24, TWO_ROUNDS = 101, RECORDS_MOST = 4096, BEST_OF = 10, MEAN_RUNS = 10 };

/* Which rule of the caller is broken. */
typedef enum broken { SOUND, SCORES_SHOWN, CROSS_VALIDATED, RECORD_FAILS_ALL } broken;

typedef struct tuning {
    tacet_space space;
    tacet_tune_settings settings;
    double values[2][RECORDS_MOST]; /* of the first setting, of all others; the record is number 0 */
    double eps;
} tuning;

static void clear(void *state) {
    tacet_space_clear(&((tuning *)state)->space);
}

static tacet_status create(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                           tacet_error *err) {
    const tacet_space_options columns = {.bounds = "x=0:1"};
    const double records = ceil(TWO_ROUNDS / claim->eps); /* so many make two rounds of it */
    tuning *t = state;
    (void)self;
    if (!(records >= 2 && records <= RECORDS_MOST)) {
        return tacet__fail(err, TACET_INVALID, "tuning is attacked with eps from 0.03 to 50");
    }
    t->eps = claim->eps;
    tacet_tune_settings_defaults(&t->settings);
    t->settings.space = &t->space;
    t->settings.records = (size_t)records;
    t->settings.eps = claim->eps;
    t->settings.evaluations = SETTINGS;
    t->settings.kept = 0;
    return tacet_space_short(&t->space, &columns, err);
}

/* One setting's values in a world: what a caller who keeps the rules tells, or one who does not. */
static tacet_status tell_values(const tuning *t, tacet_tune *tune, size_t number, int world, broken how,
                                tacet_error *err) {
    const size_t n = t->settings.records;
    double values[RECORDS_MOST];
    const bool favoured = (number == 0) == (world == 1);
    for (size_t i = 0; i < n; i++) {
        values[i] = 0.5;
    }
    values[0] = favoured ? 1 : 0;
    /* A record that trains the models of other folds moves their values as well: here a fifth of them. */
    for (size_t i = 0; how == CROSS_VALIDATED && i < n / 5; i++) {
        values[i] = favoured ? 1 : 0;
    }
    if (how == RECORD_FAILS_ALL && !favoured) {
        return tacet_tune_fail(tune, number, err);
    }
    return tacet_tune_tell(tune, number, values, n, err);
}

static tacet_status run(void *state, const tacet_audit_target *self, tacet_noise *noise, int world, double *statistic,
                        tacet_error *err) {
    const broken how = (broken)self->which;
    tuning *t = state;
    tacet_tune *tune = NULL;
    tacet_tune_ask ask = {0};
    double record = 0, first = 0;
    size_t number = 0;
    *statistic = 0;
    /* A run has no ledger here: its noise is seeded, by a secret of the audit's own source. */
    tacet_status status = tacet_noise_open_seeded(&ask.noise, tacet__noise_u64(noise), 0, err);
    TACET_THEN(status, tacet_tune_open(&tune, &t->settings, &ask, err));
    while (status == TACET_OK && number != TACET_TUNE_NONE) {
        status = tacet_tune_next(tune, &number, &record, err);
        if (status == TACET_OK && number != TACET_TUNE_NONE) {
            first = number == 0 ? record : first;
            status = tell_values(t, tune, number, world, how, err);
        }
    }
    for (size_t k = 0; status == TACET_OK && k < tacet_tune_winners(tune); k++) {
        tacet_receipt receipt;
        status = tacet_tune_winner(tune, k, &record, &receipt, err);
        *statistic += record == first ? receipt.eps : 0;
    }
    if (status == TACET_OK && how == SCORES_SHOWN) {
        *statistic = world == 1 ? 0.5 + 0.5 / (double)t->settings.records : 0.5 - 0.5 / (double)t->settings.records;
    }
    tacet_tune_close(tune);
    tacet_noise_close(ask.noise);
    return status;
}

/* The best of `runs` private scores, each with Laplace noise for eps. */
static tacet_status best_of(tacet_noise *noise, double *statistic, uint64_t runs, double eps, int world,
                            tacet_error *err) {
    const double scale = 1 / eps;
    const int grid = tacet__grid_exponent(scale, DRAW_GRID_BITS);
    tacet_status status = TACET_OK;
    *statistic = -INFINITY;
    for (uint64_t k = 0; k < runs && status == TACET_OK; k++) {
        double drawn = 0;
        status = tacet__draw_laplace(noise, &drawn, 1, scale, grid, err);
        *statistic = fmax(*statistic, drawn + world);
    }
    return status;
}

static tacet_status run_ten(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                            double *statistic, tacet_error *err) {
    const tuning *t = state;
    (void)self;
    return best_of(noise, statistic, BEST_OF, t->eps, world, err);
}

/* Random stopping as it ships: K by the gate, each run at a third of the claim. */
static tacet_status run_stopping(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                                 double *statistic, tacet_error *err) {
    const tuning *t = state;
    (void)self;
    unsigned char key[TACET_MINT_BYTES];
    tacet_select law;
    const tacet_status status = tacet__stopping_law(&law, MEAN_RUNS, err);
    for (size_t i = 0; i < sizeof key; i += sizeof(uint64_t)) {
        const uint64_t word = tacet__noise_u64(noise);
        memcpy(key + i, &word, sizeof word);
    }
    return status != TACET_OK ? status
                              : best_of(noise, statistic, tacet__stopping_runs(key, &law), t->eps / 3, world, err);
}

#define TUNING .pure = true, .size = sizeof(tuning), .create = create, .clear = clear
TARGET(tune, .name = "tune",
       .summary = "tuning in two rounds over 24 settings; one record's values favour the first setting, or all others",
       .which = SOUND, TUNING, .run = run);
TARGET(tune_stopping, .name = "tune-stopping",
       .summary = "best of a geometric number of private runs, each at a third of the price; the score moves by one",
       TUNING, .run = run_stopping);
TARGET(tune_scores, .name = "control:tune-scores",
       .summary = "tuning that prints the first setting's score beside the winner", .control = true,
       .which = SCORES_SHOWN, TUNING, .run = run);
TARGET(tune_crossed, .name = "control:tune-cross-validation",
       .summary = "tuning whose values come from cross-validation: one record moves a fifth of them", .control = true,
       .which = CROSS_VALIDATED, TUNING, .run = run);
TARGET(tune_failing, .name = "control:tune-failing-record",
       .summary = "tuning in which one record makes whole evaluations fail", .control = true, .which = RECORD_FAILS_ALL,
       TUNING, .run = run);
TARGET(tune_ten, .name = "control:tune-best-of-ten",
       .summary = "the best of ten private runs, shown at the price of one", .control = true, TUNING, .run = run_ten);
