/* SPDX-License-Identifier: Apache-2.0 */
/* sim_table.c - `tacet-lab simulate outsourced --world table`: a real table through the product's own curator and
 * the product's own session, no model option, beside what a plain Gaussian process and chance do. Ring: lab. A trial
 * releases the records with seeded noise (hence not private), lets tacet_session_run search, and counts its regret over
 * that of as many random rows, which is known exactly: the share of chance. Beside it, from the same first rows: a
 * plain Gaussian process (refit each round under the same prior, best draw, expected improvement of the function) on
 * the same release clipped to the box, and on the records themselves. Bounds are the table's own: a simulation may. */
#include "sim_table.h"

#include "outsourced_release.h"
#include "random_rows.h"
#include "trials.h"

#include "core/fail.h"
#include "core/memory.h"
#include "outsourced/open/modeler_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include <tacet/outsourced/open/session.h>

typedef enum player { PRODUCT, PLAIN, BARE, PLAYERS } player;
static const double TOO_BAD = 1.2; /* times chance */

typedef struct work {
    const lab_table_run *run;
    size_t d, n;
    double *X, *y; /* d x n; n, to be maximized */
    double low[LAB_MOST_INPUTS], high[LAB_MOST_INPUTS], unit[LAB_MOST_INPUTS];
    lab_curator curator;
    tacet_curate_mechanism mechanism;
    double delta;
    double top, chance; /* best value; mean regret of as many random rows */
    double too_bad;     /* probability that as many random rows end above TOO_BAD times that */
    double spread;      /* of the values */
    random_rows band;
    double *room;           /* of all that trials leave */
    double *share[PLAYERS]; /* trials */
    double *evidence;       /* trials */
    double *reached;        /* trials: probability that random rows reach what the session said they would */
    double *luck;           /* trials: the probability by luck that the session told */
    bool *told, *held;      /* trials: a most promising row was named; its value lies in the 90 % interval stated */
    double sigma;
    char words[TACET_MANIFEST_NAME];
} work;

static tacet_status take_table(work *w, tacet_error *err) {
    tacet_csv_table t = {0};
    TACET_OR_RETURN(lab_table_load(&t, &w->run->table, &w->d, err));
    w->n = t.n;
    w->X = TACET__ZALLOC(double, w->n * w->d);
    w->y = TACET__ZALLOC(double, w->n);
    if (w->X == NULL || w->y == NULL) {
        tacet_csv_table_clear(&t);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", w->n);
    }
    double mean = 0;
    double square = 0;
    for (size_t a = 0; a < w->d; a++) {
        w->low[a] = INFINITY;
        w->high[a] = -INFINITY;
    }
    for (size_t i = 0; i < w->n; i++) {
        for (size_t a = 0; a < w->d; a++) {
            const double x = t.values[i * t.d + a];
            w->X[i * w->d + a] = x;
            w->low[a] = fmin(w->low[a], x);
            w->high[a] = fmax(w->high[a], x);
        }
        w->y[i] = (w->run->table.minimize ? -1 : 1) * t.values[i * t.d + w->d];
        const double e = w->y[i] - mean;
        mean += e / (double)(i + 1);
        square += e * (w->y[i] - mean);
    }
    for (size_t a = 0; a < w->d; a++) {
        w->unit[a] = (w->high[a] - w->low[a]) / w->run->units;
    }
    w->spread = sqrt(square / (double)w->n);
    tacet_csv_table_clear(&t);
    return TACET_OK;
}

/* Rows are drawn without repeats: the hypergeometric probability of no success. Of `queries` random rows none has a
 * regret of at most this. */
static double chance_of_none(const work *w, double regret) {
    size_t good = 0;
    double none = 1;
    for (size_t i = 0; i < w->n; i++) {
        good += w->top - w->y[i] <= regret ? 1 : 0;
    }
    for (size_t i = 0; i < w->run->queries; i++) {
        none *= w->n - good > i ? (double)(w->n - good - i) / (double)(w->n - i) : 0;
    }
    return none;
}

static tacet_status prepare(work *w, tacet_error *err) {
    const lab_table_run *r = w->run;
    if (!(r->units > 0) || !(r->noise >= 0) || r->trials == 0) {
        return tacet__fail(err, TACET_INVALID, "--units above 0, --noise of at least 0 and a trial are needed");
    }
    tacet_status status = take_table(w, err);
    TACET_THEN(status, random_rows_best(&w->band, w->y, w->n, r->queries, false, err));
    if (status != TACET_OK) {
        return status;
    }
    w->top = -INFINITY;
    for (size_t i = 0; i < w->n; i++) {
        w->top = fmax(w->top, w->y[i]);
    }
    w->chance = w->top - w->band.mean;
    if (!(w->chance > 0)) {
        return tacet__fail(err, TACET_INVALID, "as many random rows always find a best one: there is nothing to win");
    }
    w->too_bad = chance_of_none(w, TOO_BAD * w->chance);
    double **const arrays[] = {&w->share[PRODUCT], &w->share[PLAIN], &w->share[BARE],
                               &w->evidence,       &w->reached,      &w->luck};
    w->room = TACET__ZALLOC(double, sizeof arrays / sizeof *arrays * r->trials);
    w->told = TACET__ZALLOC(bool, 2 * r->trials);
    if (w->room == NULL || w->told == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu trials", r->trials);
    }
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k] = w->room + k * r->trials;
    }
    w->held = w->told + r->trials;
    return lab_curator_open(&w->curator, w->X, w->d, w->n, w->low, w->high, w->unit, err);
}

typedef struct table_asker {
    const double *values;
    double noise;
    tacet_simrng rng;
} table_asker;

static double measured(table_asker *a, size_t row) {
    return a->values[row] + (a->noise > 0 ? a->noise * tacet_simrng_normal(&a->rng) : 0);
}

static tacet_status answer(void *user, double *value, const char *ticket, size_t holder, size_t row, tacet_error *err) {
    table_asker *a = user;
    (void)ticket;
    (void)holder;
    (void)err;
    *value = measured(a, row);
    return TACET_OK;
}

static double share_of(const work *w, const double *values, const size_t *rows, size_t count) {
    double best = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        best = fmax(best, values[rows[i]]);
    }
    return (w->top - best) / w->chance;
}

/* A textbook Gaussian process on rows as they are, after the same first ones. */
static tacet_status play_plain(const work *w, double *share, table_asker *asker, const double *rows,
                               const size_t *first, size_t first_count, tacet_error *err) {
    tacet_modeler_settings s;
    tacet_policy *policy = NULL;
    size_t *asked = TACET__ZALLOC(size_t, w->run->queries);
    tacet_modeler_settings_defaults(&s);
    s.rows = rows;
    s.ld = s.d = w->d;
    s.n = w->n;
    s.horizon = w->run->queries;
    s.initial = first;
    s.initial_count = first_count;
    s.random_first = 0;
    tacet_status status = asked != NULL ? tacet__modeler_averaging(&policy, &s, true, err)
                                        : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a trial");
    for (size_t t = 0; status == TACET_OK && t < w->run->queries; t++) {
        tacet_suggestion next;
        status = tacet_policy_suggest(policy, &next, NULL, err);
        if (status == TACET_OK) {
            asked[t] = next.index;
            status = tacet_policy_observe(policy, next.ticket, measured(asker, next.index), err);
        }
    }
    if (status == TACET_OK) {
        *share = share_of(w, asker->values, asked, w->run->queries);
    }
    tacet_policy_free(policy);
    free(asked);
    return status;
}

/* What a careful person would do to released rows: no coordinate lies outside the public box. */
static void clip_to_box(const work *w, double *rows, size_t n) {
    for (size_t i = 0; i < n * w->d; i++) {
        const double half = (w->high[i % w->d] - w->low[i % w->d]) / 2 / w->unit[i % w->d];
        rows[i] = fmin(fmax(rows[i], -half), half);
    }
}

static void note_knowledge(work *w, size_t trial, const tacet_session_result *r, const double *values) {
    const tacet_modeler_knowledge *k = &r->knowledge;
    w->evidence[trial] = r->known ? k->log_bayes_factor : (double)NAN;
    w->reached[trial] = r->compared ? 1 - chance_of_none(w, w->top - r->chance.likely) : (double)NAN;
    w->luck[trial] = r->compared ? r->chance.by_luck : (double)NAN;
    w->told[trial] = r->known && k->next_row != SIZE_MAX;
    w->held[trial] = w->told[trial] && values[k->next_row] >= k->next_low && values[k->next_row] <= k->next_high;
}

static tacet_status one_trial(void *user, size_t trial, tacet_error *err) {
    work *w = user;
    const lab_table_run *run = w->run;
    lab_release release = {0};
    tacet_session_result found = {0};
    tacet_session_settings s;
    double *values = TACET__ZALLOC(double, w->n);
    double *clipped = TACET__ZALLOC(double, w->n * w->d);
    if (values == NULL || clipped == NULL) {
        free(values);
        free(clipped);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a trial");
    }
    memcpy(values, w->y, w->n * sizeof *values);
    table_asker asker = {.values = values, .noise = run->noise * w->spread};
    tacet_simrng_init(&asker.rng, run->seed, 2 * trial + 1);
    for (size_t i = 0; run->permute && i < w->n; i++) {
        const size_t j = i + tacet_simrng_below(&asker.rng, w->n - i);
        const double kept = values[i];
        values[i] = values[j];
        values[j] = kept;
    }
    tacet_session_defaults(&s);
    s.queries = run->queries;
    s.seed = run->seed * 1000003 + trial;
    const tacet_session_asker ask = {.ask = answer, .user = &asker};
    tacet_status status =
        lab_curator_release(&w->curator, &release, w->mechanism, run->eps, w->delta, 0, run->seed, trial, err);
    if (status == TACET_OK) {
        const tacet_session_holder holder = {&release.manifest, release.text, release.rows};
        status = tacet_session_run(&found, &s, &ask, &holder, 1, err);
    }
    if (status == TACET_OK) {
        memcpy(clipped, release.rows, w->n * w->d * sizeof *clipped); /* as a plain person would take it */
        clip_to_box(w, clipped, w->n);
        const size_t first = found.chance.rows < found.count ? found.chance.rows : found.count;
        w->share[PRODUCT][trial] = share_of(w, values, found.rows, found.count);
        note_knowledge(w, trial, &found, values);
        status = play_plain(w, &w->share[PLAIN][trial], &asker, clipped, found.rows, first, err);
        TACET_THEN(status, play_plain(w, &w->share[BARE][trial], &asker, w->X, found.rows, first, err));
    }
    if (trial == 0 && status == TACET_OK) {
        w->sigma = release.manifest.sigma;
        (void)snprintf(w->words, sizeof w->words, "%s", release.manifest.mechanism);
    }
    tacet_session_result_clear(&found);
    lab_release_clear(&release);
    free(values);
    free(clipped);
    return status;
}

/* --- telling ---------------------------------------------------------------------------------------------------------
 */

static json_t *summary(const double *values, size_t count) {
    size_t above = 0;
    json_t *made = lab_summary(values, count, "max values");
    for (size_t i = 0; i < count; i++) {
        above += values[i] > TOO_BAD ? 1 : 0;
    }
    cli_add(made, "above_1.2", J(above));
    return made;
}

static size_t count_true(const bool *values, size_t count) {
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i] ? 1 : 0;
    }
    return sum;
}

static int report(const work *w, double seconds) {
    const lab_table_run *r = w->run;
    const double sign = r->table.minimize ? -1 : 1;
    double evidence = 0, reached = 0, unused = 0;
    size_t told = 0, lucky = 0;
    lab_mean_se(&reached, &unused, w->reached, r->trials);
    lab_mean_se(&evidence, &unused, w->evidence, r->trials);
    for (size_t i = 0; i < r->trials; i++) {
        told += w->evidence[i] > 3 ? 1 : 0;
        lucky += w->luck[i] < 0.05 ? 1 : 0;
    }
    json_t *chance = cli_object("regret low median high above_1.2", J(w->chance), J(sign * w->band.low),
                                J(sign * w->band.median), J(sign * w->band.high), J(w->too_bad));
    return cli_tell(
        cli_object("model table inputs target mechanism eps delta sigma rows queries trials seed permuted chance "
                   "evidence likely_reached luck_below_.05 intervals seconds private share plain nonprivate _bad _told "
                   "_percent",
                   J("outsourced"), J(r->table.data), J(r->table.inputs), J(r->table.target), J(w->words), J(r->eps),
                   J(w->delta), J(w->sigma), J(w->n), J(r->queries), J(r->trials), J(r->seed), JB(r->permute),
                   J(chance), J(cli_object("mean above_3", J(evidence), J(told))), J(reached), J(lucky),
                   J(cli_object("told held", J(count_true(w->told, r->trials)), J(count_true(w->held, r->trials)))),
                   J(seconds), JB(false), J(summary(w->share[PRODUCT], r->trials)),
                   J(summary(w->share[PLAIN], r->trials)), J(summary(w->share[BARE], r->trials)), J(TOO_BAD), J(told),
                   J(100 * w->too_bad)),
        "{table}: {target} from {inputs}, {rows} records; {mechanism}, eps = {eps:.6g}, noise {sigma:.3g} units "
        "(seeded: not private)\n"
        "{queries} queries, {trials} trials{?permuted|, values permuted}; regret as a share of that of {queries} "
        "random rows ({chance.regret:.5g} on average):\n"
        "  tacet modeler run        {share.mean:.3f} +- {share.se:.3f}, worst {share.max:.2f}\n"
        "  plain GP, rows clipped   {plain.mean:.3f} +- {plain.se:.3f}, worst {plain.max:.2f}\n"
        "  plain GP, the records    {nonprivate.mean:.3f} +- {nonprivate.se:.3f}, worst {nonprivate.max:.2f}\n"
        "random rows themselves end above {_bad:.1f} in {_percent:.0f} % of runs\n"
        "the inputs were said to inform in {_told} of {trials} trials\n");
}

static tacet_status choose_mechanism(work *w, tacet_error *err) {
    const lab_table_run *r = w->run;
    if (r->mechanism == NULL || strcmp(r->mechanism, "auto") == 0) {
        w->mechanism = TACET_CURATE_AUTO;
        w->delta = isnan(r->delta) ? 0 : r->delta;
        return TACET_OK;
    }
    const tacet_status status = tacet_curate_parse(&w->mechanism, r->mechanism, err);
    const tacet_law *law = status == TACET_OK ? tacet_curate_law(w->mechanism) : NULL;
    if (status == TACET_OK && law == NULL) {
        return tacet__fail(err, TACET_INVALID,
                           "--world table takes a mechanism that adds noise to the columns themselves");
    }
    w->delta = isnan(r->delta) ? (law != NULL && law->pure ? 0 : 1e-5) : r->delta;
    return status;
}

int lab_sim_table(const lab_table_run *run, const cli_command *self) {
    work w = {.run = run};
    tacet_error err = {0};
    const double start = cli_seconds();
    tacet_status status = choose_mechanism(&w, &err);
    TACET_THEN(status, prepare(&w, &err));
    TACET_THEN(status, lab_trials_run(run->trials, one_trial, &w, &err));
    int code = CLI_EXIT_OK;
    if (status == TACET_OK) {
        code = report(&w, cli_seconds() - start);
    } else {
        code = cli_refuse(self, &err);
    }
    lab_curator_close(&w.curator);
    free(w.X);
    free(w.y);
    free(w.room);
    free(w.told);
    return code;
}
