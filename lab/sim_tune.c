/* SPDX-License-Identifier: Apache-2.0 */
/* sim_tune.c - `simulate tune`: the product's own tuning on made-up problems or tables, beside what else one might do.
 * Ring: lab. A trial draws a problem and n records. Players see the same records:
 *   tune    the product, as it ships
 *   flat    the product in one round
 *   random  not private: the best of as many random settings
 *   gp      not private: a Gaussian process with expected improvement
 * The result is the gap: best mean of the population less that of the setting returned, in hundredths. */
#include "commands.h"
#include "trials.h"
#include "tune_guide.h"
#include "tune_world.h"

#include "core/fail.h"
#include "core/memory.h"
#include "tune/trusted/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/noise.h>
#include <tacet/tune/trusted/tune.h>

typedef enum player { TUNE, FLAT, RANDOM, GP, PLAYERS } player;
static const char *const NAMES[PLAYERS] = {"tune", "flat", "random", "gp"};

typedef struct tune_sim {
    tune_table *tables; /* count 0: mixed */
    size_t table_count;
    size_t records, evaluations, trials;
    double eps, contrast;
    uint64_t seed;
    bool plays[PLAYERS];
    double *gap[PLAYERS], *middle; /* by trial */
} tune_sim;

static tacet_status play_product(const tune_sim *sim, const tune_world *w, size_t trial, bool flat, double *gap,
                                 tacet_error *err) {
    tacet_tune_settings s;
    tacet_tune_ask ask = {0};
    tacet_tune *tune = NULL;
    double record[TUNE_COLUMNS_MOST];
    size_t number = 0;
    double *values = TACET__ZALLOC(double, sim->records);
    tacet_tune_settings_defaults(&s);
    s.space = &w->space;
    s.records = sim->records;
    s.eps = sim->eps;
    s.evaluations = sim->evaluations;
    s.kept = 0;
    s.flat = flat;
    s.contrast = sim->contrast;
    s.seed = sim->seed * 1000003 + trial;
    tacet_status status =
        values != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a trial's values");
    TACET_THEN(status, tacet_noise_open_seeded(&ask.noise, sim->seed, trial, err));
    TACET_THEN(status, tacet_tune_open(&tune, &s, &ask, err));
    while (status == TACET_OK && number != TACET_TUNE_NONE) {
        status = tacet_tune_next(tune, &number, record, err);
        if (status == TACET_OK && number != TACET_TUNE_NONE) {
            tune_world_values(w, values, record);
            status = tacet_tune_tell(tune, number, values, sim->records, err);
        }
    }
    TACET_THEN(status, tacet_tune_winner(tune, tacet_tune_winners(tune) - 1, record, NULL, err));
    *gap = status == TACET_OK ? 100 * (w->top - tune_world_mean(w, record)) : 0;
    tacet_tune_close(tune);
    tacet_noise_close(ask.noise);
    free(values);
    return status;
}

/* The exact mean of a point of the cube on the records. */
static double score_at(const tune_world *w, double *values, const double *cube, double *record) {
    double sum = 0;
    tacet__tune_record(&w->space, record, cube);
    tune_world_values(w, values, record);
    for (size_t i = 0; i < w->records; i++) {
        sum += values[i];
    }
    return sum / (double)w->records;
}

typedef struct tried {
    size_t d, count;
    double *cubes, *scores, *values;
    tune_guide *guide;
} tried;

static tacet_status tried_open(tried *t, const tune_sim *sim, const tune_world *w, tacet_error *err) {
    memset(t, 0, sizeof *t);
    t->d = w->space.count;
    t->cubes = TACET__ZALLOC(double, sim->evaluations * t->d);
    t->scores = TACET__ZALLOC(double, sim->evaluations);
    t->values = TACET__ZALLOC(double, sim->records);
    if (t->cubes == NULL || t->scores == NULL || t->values == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a trial");
    }
    return tune_guide_create(&t->guide, &w->space, sim->evaluations, err);
}

static void tried_close(tried *t) {
    free(t->cubes);
    free(t->scores);
    free(t->values);
    tune_guide_free(t->guide);
}

static void uniform_cube(double *cube, size_t d, tacet_simrng *rng) {
    for (size_t j = 0; j < d; j++) {
        cube[j] = tacet_simrng_uniform(rng);
    }
}

/* Not private: random settings, or a Gaussian process after a first fifth of them; the best score is returned. */
static tacet_status play_bare(const tune_sim *sim, const tune_world *w, size_t trial, bool model, double *gap,
                              tacet_error *err) {
    tried t;
    tacet_simrng rng;
    double record[TUNE_COLUMNS_MOST], best[TUNE_COLUMNS_MOST] = {0}, most = -INFINITY;
    tacet_simrng_init(&rng, sim->seed ^ 0x62617265, 2 * trial + (model ? 1 : 0));
    const tacet_status status = tried_open(&t, sim, w, err);
    for (size_t i = 0; status == TACET_OK && i < sim->evaluations; i++) {
        double *cube = t.cubes + i * t.d;
        if (!model || i < sim->evaluations / 5 + 5) {
            uniform_cube(cube, t.d, &rng);
        } else {
            tune_guide_propose(t.guide, cube, &rng);
        }
        const double score = score_at(w, t.values, cube, record);
        if (model) {
            tune_guide_add(t.guide, cube, score, .2 / (double)sim->records);
        }
        if (score > most) {
            most = score;
            memcpy(best, record, sizeof best);
        }
    }
    *gap = 100 * (w->top - tune_world_mean(w, best));
    tried_close(&t);
    return status;
}

static tacet_status run_trial(void *user, size_t k, tacet_error *err) {
    tune_sim *sim = user;
    tune_world w;
    const tune_table *table = sim->table_count > 0 ? &sim->tables[k % sim->table_count] : NULL;
    tacet_status s = tune_world_init(&w, table, sim->records, sim->seed, k, err);
    if (s != TACET_OK) {
        return s;
    }
    sim->middle[k] = 100 * (w.top - w.middle);
    for (int p = 0; p < PLAYERS && s == TACET_OK; p++) {
        if (!sim->plays[p]) {
            continue;
        }
        double *gap = &sim->gap[p][k];
        s = p == RANDOM || p == GP ? play_bare(sim, &w, k, p == GP, gap, err)
                                   : play_product(sim, &w, k, p == FLAT, gap, err);
    }
    tune_world_clear(&w);
    return s;
}

static json_t *outcome_of(const double *values, size_t count) {
    double mean = 0, se = 0;
    lab_mean_se(&mean, &se, values, count);
    return cli_object("mean se", J(mean), J(se));
}

/* tune less flat, trial by trial: the same problems. */
static json_t *difference(const tune_sim *sim, player a, player b) {
    double *d = TACET__ZALLOC(double, sim->trials);
    for (size_t k = 0; d != NULL && k < sim->trials; k++) {
        d[k] = sim->gap[a][k] - sim->gap[b][k];
    }
    json_t *made = d != NULL ? outcome_of(d, sim->trials) : NULL;
    free(d);
    return made;
}

static int tell_gaps(const tune_sim *sim, const char *world) {
    json_t *gaps = json_object();
    for (int p = 0; p < PLAYERS; p++) {
        if (sim->plays[p]) {
            (void)json_object_set_new(gaps, NAMES[p], outcome_of(sim->gap[p], sim->trials));
        }
    }
    json_t *object = cli_object("world records eps evaluations trials seed chance gap", J(world), J(sim->records),
                                J(sim->eps), J(sim->evaluations), J(sim->trials), J((size_t)sim->seed),
                                J(outcome_of(sim->middle, sim->trials)), J(gaps));
    cli_add(object, "tune_less_flat?", J(sim->plays[TUNE] && sim->plays[FLAT] ? difference(sim, TUNE, FLAT) : NULL));
    return cli_tell(object,
                    "{world}, {records} records, eps {eps:.4g}, {evaluations} evaluations, {trials} trials; gap in "
                    "hundredths (a random setting: {chance.mean:.3g})\n{*gap|  {@:-8} {mean:.2f} ({se:.2f})\n}");
}

static tacet_status run_sim(tune_sim *sim, const cli_names *data, tacet_error *err) {
    tacet_status s = TACET_OK;
    bool memory = (sim->middle = TACET__ZALLOC(double, sim->trials)) != NULL;
    for (int p = 0; p < PLAYERS; p++) {
        sim->gap[p] = TACET__ZALLOC(double, sim->trials);
        memory = memory && sim->gap[p] != NULL;
    }
    sim->tables = TACET__ZALLOC(tune_table, data->count + 1);
    if (!memory || sim->tables == NULL) {
        s = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu trials", sim->trials);
    }
    for (size_t i = 0; s == TACET_OK && i < data->count; i++) {
        s = tune_table_load(&sim->tables[i], data->at[i], err);
        sim->table_count += s == TACET_OK ? 1 : 0;
    }
    return s == TACET_OK ? lab_trials_run(sim->trials, run_trial, sim, err) : s;
}

int lab_sim_tune(int argc, char **argv, const cli_command *self) {
    tune_sim sim = {.records = 1000, .evaluations = 100, .trials = 30, .eps = 1, .seed = 1};
    cli_names data = {0}, players = {0};
    tacet_error err = {0};
    const cli_option options[] = {
        CLI_OPT("data", &data, "FILE,…",
                "CSV of settings, made by lab/tune_tables.py; trials take turns. Default: made-up problems."),
        CLI_OPT("records", &sim.records, "N", "Validation records. Default 1000."),
        CLI_OPT("eps", &sim.eps, "E", "Default 1."),
        CLI_OPT("evaluations", &sim.evaluations, "N", "Settings tried. Default 100."),
        CLI_OPT("trials", &sim.trials, "N", "Problems. Default 30."),
        CLI_OPT("players", &players, "A,B", "Of tune, flat, random, gp. Default: all."),
        CLI_OPT("seed", &sim.seed, "S", "Default 1."),
        {0}};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (sim.records < 2 || sim.evaluations < 10 || sim.trials == 0 || !(sim.eps > 0)) {
        return cli_usage(self, "--records of at least 2, --evaluations of at least 10, a trial and --eps above 0");
    }
    for (int p = 0; p < PLAYERS; p++) {
        sim.plays[p] = players.count == 0;
        for (size_t i = 0; i < players.count; i++) {
            sim.plays[p] = sim.plays[p] || strcmp(players.at[i], NAMES[p]) == 0;
        }
    }
    const tacet_status status = run_sim(&sim, &data, &err);
    const int code = status == TACET_OK ? tell_gaps(&sim, data.count > 0 ? "table" : "mixed") : cli_fail(self, &err);
    for (size_t i = 0; sim.tables != NULL && i < sim.table_count; i++) {
        tune_table_clear(&sim.tables[i]);
    }
    free(sim.tables);
    free(sim.middle);
    for (int p = 0; p < PLAYERS; p++) {
        free(sim.gap[p]);
    }
    return code;
}
