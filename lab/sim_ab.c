/* SPDX-License-Identifier: Apache-2.0 */
/* sim_ab.c - tacet-lab simulate ab: made-up A/B logs, the table that is released of them, and what its posterior says
 * beside noisy counts and the same without noise. Ring: programs; made-up data, seeded noise. */
#include "space/internal.h"
#include "ab/shared/plan.h"
#include "ab/open/internal.h"
#include "ab_world.h"
#include "commands.h"
#include "trials.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/ab/trusted/log.h>

enum { LEARNT, CELLS, PLAIN, PLAIN_CELLS, SINGLE, RULES };
enum { VALUE, OVER_UNIFORM, OVER_SINGLE, OVER_LOGGED, ACTIONS, CLAIMS }; /* ACTIONS: each for all, share of them */
static const char *const RULE_NAMES[RULES] = {"share", "noisy_cells", "nonprivate", "nonprivate_cells", "best_single"};
static const char *const CLAIM_NAMES[CLAIMS] = {"value", "over_uniform", "over_single", "over_logged", "actions"};

typedef struct result {
    double share[RULES]; /* of the possible uplift over even play; NaN where none is possible */
    double covers[CLAIMS], width[CLAIMS];
    bool better, single;
} result;

typedef struct job {
    const char *world, *table, *log;
    size_t rows, trials, actions, columns;
    size_t levels[TACET_AB_COLUMNS_MOST];
    double eps;
    cli_span range;
    uint64_t seed;
    tacet_space space;
    result *results;
} job;

/* --- a world's values -------------------------------------------------------------------------------------------- */

static double value_of(const lab_ab_world *w, const size_t *rule) {
    double sum = 0;
    for (size_t c = 0; c < w->C; c++) {
        sum += w->q[c] * w->mean[c * w->A + rule[c]];
    }
    return sum;
}

static double value_of_all(const lab_ab_world *w, size_t action) {
    double sum = 0;
    for (size_t c = 0; c < w->C; c++) {
        sum += w->q[c] * w->mean[c * w->A + action];
    }
    return sum;
}

typedef struct yardstick {
    double best, uniform, logged, single;
} yardstick;

static yardstick measure(const lab_ab_world *w) {
    yardstick y = {0};
    for (size_t a = 0; a < w->A; a++) {
        const double value = value_of_all(w, a);
        for (size_t c = 0; c < w->C; c++) {
            y.logged += w->q[c] * w->logged[c * w->A + a] * w->mean[c * w->A + a];
        }
        y.uniform += value / (double)w->A;
        y.single = fmax(y.single, value);
    }
    for (size_t c = 0; c < w->C; c++) {
        double most = -INFINITY;
        for (size_t a = 0; a < w->A; a++) {
            most = fmax(most, w->mean[c * w->A + a]);
        }
        y.best += w->q[c] * most;
    }
    return y;
}

/* What a careful person does with counts: in each context the action of the highest rate. */
static double share_of_cells(const lab_ab_world *w, const yardstick *y, const double *up, const double *down) {
    double value = 0;
    for (size_t c = 0; c < w->C; c++) {
        double best = -INFINITY;
        size_t chosen = 0;
        for (size_t a = 0; a < w->A; a++) {
            const size_t i = c * w->A + a;
            const double rate = up[i] / fmax(up[i] + down[i], 1);
            if (rate > best) {
                best = rate;
                chosen = a;
            }
        }
        value += w->q[c] * w->mean[c * w->A + chosen];
    }
    return (value - y->uniform) / (y->best - y->uniform);
}

static void judge_one(result *r, size_t claim, const tacet_ab_estimate *e, double truth, double part) {
    r->covers[claim] += e->lower <= truth + 1e-12 && truth - 1e-12 <= e->upper ? part : 0;
    r->width[claim] += part * (e->upper - e->lower);
}

/* Rewards above `top` are not in what is stated: truths are of rewards cut there. */
static void judge(result *r, const lab_ab_world *w, const yardstick *y, const tacet_ab_posterior *p) {
    const double value = value_of(w, p->rule);
    judge_one(r, VALUE, &p->rule_value, value, 1);
    judge_one(r, OVER_UNIFORM, &p->over_uniform, value - y->uniform, 1);
    judge_one(r, OVER_SINGLE, &p->over_single, value - value_of_all(w, p->single), 1);
    judge_one(r, OVER_LOGGED, &p->over_logged, value - y->logged, 1);
    for (size_t a = 0; a < w->A; a++) {
        judge_one(r, ACTIONS, &p->action_value[a], value_of_all(w, a), 1 / (double)w->A);
    }
    r->better = p->over_uniform.lower > 0;
    r->single = p->rule_is_single;
}

/* --- a trial ----------------------------------------------------------------------------------------------------- */

/* As tacet learn does it, with seeded noise. */
static tacet_status release(tacet_ab_model **out, const job *j, const double *rows, uint64_t seed, tacet_error *err) {
    const tacet_ab_question question = {.space = &j->space,
                                        .action_columns = 1,
                                        .reward = "reward",
                                        .lo = j->range.lo,
                                        .hi = j->range.hi,
                                        .eps = j->eps};
    const tacet_contextual_entry entry = {.ticket = "t", .to_whom = "nobody", .seeded = true, .seed = seed};
    tacet_ab_log *log = NULL;
    tacet_status status = tacet_ab_log_open_rows(&log, rows, j->rows, &question, err);
    TACET_THEN(status, tacet_ab_log_release(log, out, &entry, err));
    tacet_ab_log_free(log);
    return status;
}

/* The same rows without noise, beside. */
static tacet_status learn_plain(result *r, const job *j, const lab_ab_world *w, const yardstick *y, const double *rows,
                                const tacet_ab_facts *f, tacet_error *err) {
    const size_t K = f->plan.cells;
    double *sums = calloc(2 * K, sizeof *sums);
    tacet_ab_posterior p;
    if (sums == NULL) {
        return tacet_error_set(err, TACET_NO_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < j->rows; i++) {
        const double *row = rows + i * (j->columns + 2);
        const size_t cell = tacet_ab_plan_context(&f->plan, row) * w->A + (size_t)row[0];
        const double s = (fmin(fmax(row[j->columns + 1], f->plan.lo), f->top) - f->plan.lo) / (f->top - f->plan.lo);
        sums[cell] += s;
        sums[K + cell] += 1 - s;
    }
    const tacet_ab_table table = {.actions = w->A,
                                  .levels = w->levels,
                                  .columns = w->columns,
                                  .up = sums,
                                  .down = sums + K,
                                  .rows = (double)j->rows,
                                  .variance_share = f->variance_share};
    const tacet_status status = tacet_ab_posterior_make(&p, &table, 1, err);
    if (status == TACET_OK) {
        r->share[PLAIN] = (value_of(w, p.rule) - y->uniform) / (y->best - y->uniform);
        r->share[PLAIN_CELLS] = share_of_cells(w, y, sums, sums + K);
        tacet_ab_posterior_clear(&p);
    }
    free(sums);
    return status;
}

/* The first world's log, for tacet learn. */
static tacet_status write_log(const job *j, const double *rows, tacet_error *err) {
    FILE *file = fopen(j->log, "w");
    bool good = file != NULL && fputs("action", file) >= 0;
    for (size_t c = 0; c < j->columns && good; c++) {
        good = fprintf(file, ",column%zu", c + 1) > 0;
    }
    good = good && fputs(",reward\n", file) >= 0;
    for (size_t i = 0; i < j->rows * (j->columns + 2) && good; i++) {
        good = fprintf(file, "%.17g%c", rows[i], (i + 1) % (j->columns + 2) == 0 ? '\n' : ',') > 0;
    }
    return (file == NULL || fclose(file) == 0) && good
               ? TACET_OK
               : tacet_error_set(err, TACET_IO, "%.100s cannot be written", j->log);
}

static tacet_status trial(void *user, size_t k, tacet_error *err) {
    job *j = user;
    result *r = &j->results[k];
    lab_ab_world w;
    tacet_simrng rng;
    tacet_ab_model *model = NULL;
    const size_t width = j->columns + 2;
    double *rows = calloc(j->rows * width, sizeof *rows);
    if (rows == NULL) {
        return tacet_error_set(err, TACET_NO_MEMORY, "out of memory for %zu rows", j->rows);
    }
    tacet_simrng_init(&rng, j->seed + k, 0);
    tacet_status status = lab_ab_world_make(&w, j->world, j->actions, j->levels, j->columns, &rng, err);
    if (status != TACET_OK) {
        free(rows);
        return status;
    }
    for (size_t i = 0; i < j->rows; i++) {
        const lab_ab_row one = lab_ab_world_row(&w, &rng);
        size_t context = one.context;
        rows[i * width] = (double)one.action;
        for (size_t c = 0; c < j->columns; c++) {
            rows[i * width + 1 + c] = (double)(context % j->levels[c]);
            context /= j->levels[c];
        }
        rows[i * width + width - 1] = one.reward;
    }
    status = j->log != NULL && k == 0 ? write_log(j, rows, err) : TACET_OK;
    TACET_THEN(status, release(&model, j, rows, j->seed + k, err));
    if (status == TACET_OK) {
        const tacet_ab_facts *f = tacet_ab_model_facts(model);
        const tacet_ab_posterior *p = tacet_ab_model_posterior(model);
        yardstick y = measure(&w);
        y.best = y.best - y.uniform > 1e-12 ? y.best : NAN;
        r->share[LEARNT] = (value_of(&w, p->rule) - y.uniform) / (y.best - y.uniform);
        r->share[CELLS] = share_of_cells(&w, &y, f->released, f->released + f->plan.cells);
        r->share[SINGLE] = (y.single - y.uniform) / (y.best - y.uniform);
        status = learn_plain(r, j, &w, &y, rows, f, err);
        if (w.money) {
            lab_ab_world_cut(&w, f->top);
            y = measure(&w);
        }
        judge(r, &w, &y, p);
    }
    tacet_ab_model_free(model);
    lab_ab_world_clear(&w);
    free(rows);
    return status;
}

/* --- what is printed --------------------------------------------------------------------------------------------- */

static json_t *mean_json(double *x, size_t n) {
    size_t known = 0;
    double mean = 0, se = 0;
    for (size_t i = 0; i < n; i++) {
        const double at = x[i];
        x[known] = at;
        known += isnan(at) ? 0 : 1;
    }
    lab_mean_se(&mean, &se, x, known);
    return known > 0 ? cli_object("mean se worlds", J(mean), J(se), J(known)) : json_null();
}

static void report(const job *j, double *x, double seconds) {
    json_t *object =
        cli_object("world table rows eps trials", J(j->world), J(j->table), J(j->rows), J(j->eps), J(j->trials));
    size_t better = 0, same = 0;
    for (size_t r = 0; r < RULES; r++) {
        for (size_t k = 0; k < j->trials; k++) {
            x[k] = j->results[k].share[r];
        }
        cli_add(object, RULE_NAMES[r], J(mean_json(x, j->trials)));
    }
    for (size_t k = 0; k < j->trials; k++) {
        x[k] = j->results[k].share[LEARNT] - j->results[k].share[CELLS];
        better += j->results[k].better ? 1 : 0;
        same += j->results[k].single ? 1 : 0;
    }
    cli_add(object, "over_noisy_cells", J(mean_json(x, j->trials)));
    json_t *claims = json_object();
    for (size_t i = 0; i < CLAIMS; i++) {
        double share = 0, width = 0;
        for (size_t k = 0; k < j->trials; k++) {
            share += j->results[k].covers[i] / (double)j->trials;
            width += j->results[k].width[i] / (double)j->trials;
        }
        cli_add(claims, CLAIM_NAMES[i], J(cli_object("covers width", J(share), J(width))));
    }
    cli_add(object, "intervals better_claimed rule_is_single seconds", J(claims), J(better), J(same), J(seconds));
    (void)cli_tell(
        object,
        "{world}, {table}, {trials} logs of {rows} rows, eps = {eps:.4g}\n"
        "share of the possible uplift: {share.mean:.3f} ({share.se:.3f}); noisy cells "
        "{noisy_cells.mean:.3f}, paired difference {over_noisy_cells.mean:.3f} ({over_noisy_cells.se:.3f})\n"
        "without noise: {nonprivate.mean:.3f}, cells {nonprivate_cells.mean:.3f}; best single action "
        "{best_single.mean:.3f}\n"
        "95 % intervals cover, and are wide: value {intervals.value.covers:.3f}, {intervals.value.width:.4g}; "
        "gain over even play {intervals.over_uniform.covers:.3f}, {intervals.over_uniform.width:.4g}; over the "
        "best single action {intervals.over_single.covers:.3f}, {intervals.over_single.width:.4g}; one action for all "
        "{intervals.actions.covers:.3f}, {intervals.actions.width:.4g}\n"
        "\"better than even play\" claimed in {better_claimed} of {trials}\n");
}

static bool take_levels(job *j, const cli_wholes *levels) {
    bool good = levels->count >= 1 && levels->count - 1 <= TACET_AB_COLUMNS_MOST;
    for (size_t i = 0; i < levels->count && good; i++) {
        good = levels->at[i] >= 2 && levels->at[i] <= 1000;
        *(i == 0 ? &j->actions : &j->levels[i - 1]) = levels->at[i];
    }
    j->columns = levels->count - 1;
    return good;
}

/* A column of so many levels, called 0, 1, … */
static tacet_status add_column(tacet_space *space, const char *name, size_t levels, tacet_error *err) {
    tacet_space_options options = {.inputs = name};
    char *text = calloc(levels * 5 + strlen(name) + 2, 1);
    tacet_space one;
    if (text == NULL) {
        return tacet_error_set(err, TACET_NO_MEMORY, "out of memory");
    }
    size_t at = (size_t)sprintf(text, "%s=", name);
    for (size_t l = 0; l < levels; l++) {
        at += (size_t)sprintf(text + at, "%s%zu", l > 0 ? "|" : "", l);
    }
    options.levels = text;
    tacet_status status = tacet_space_short(&one, &options, err);
    if (status == TACET_OK) {
        status = tacet_space_add(space, &one.columns[0], err);
        tacet_space_clear(&one);
    }
    free(text);
    return status;
}

int lab_sim_ab(int argc, char **argv, const cli_command *self) {
    static const size_t USUAL[] = {5, 6};
    cli_wholes levels = {USUAL, 2};
    job j = {.world = "main", .rows = 20000, .trials = 60, .eps = 1, .seed = 1};
    const cli_option options[] = {
        CLI_OPT("world", &j.world, "NAME", "main, ind, cols, sparse, skew, low, half, null or revenue. Default main."),
        CLI_OPT("shape", &levels, "A,L,…", "Actions, then the levels of each context column. Default 5,6."),
        CLI_OPT("rows", &j.rows, "N", "Rows of a log. Default 20000."),
        CLI_OPT("eps", &j.eps, "E", "Default 1."),
        CLI_OPT("range", &j.range, "LO:HI", "Declared range of rewards. Default 0:1, and 0:500 for revenue."),
        CLI_OPT("trials", &j.trials, "N", "Worlds, each with a log. Default 60."),
        CLI_OPT("seed", &j.seed, "S", "Default 1."),
        CLI_OPT("out", &j.log, "FILE",
                "Receives the first log as CSV, for tacet learn --noise-seed of the same number."),
        {0}};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (j.range.lo == j.range.hi) {
        j.range = (cli_span){.lo = 0, .hi = strcmp(j.world, "revenue") == 0 ? 500 : 1};
    }
    if (!take_levels(&j, &levels) || j.trials == 0 || j.rows == 0 || !(j.eps > 0)) {
        return cli_usage(self, "--shape is numbers from 2 to 1000, --rows, --trials and --eps are above 0");
    }
    const double begin = cli_seconds();
    tacet_space_init(&j.space);
    tacet_status status = add_column(&j.space, "action", j.actions, &err);
    for (size_t c = 0; c < j.columns && status == TACET_OK; c++) {
        char name[32];
        (void)snprintf(name, sizeof name, "column%zu", c + 1);
        status = add_column(&j.space, name, j.levels[c], &err);
    }
    double *scratch = calloc(j.trials, sizeof *scratch);
    j.results = calloc(j.trials, sizeof *j.results);
    TACET_THEN(status, j.results == NULL || scratch == NULL ? tacet_error_set(&err, TACET_NO_MEMORY, "out of memory")
                                                            : lab_trials_run(j.trials, trial, &j, &err));
    if (status == TACET_OK) {
        report(&j, scratch, cli_seconds() - begin);
    } else {
        code = cli_refuse(self, &err);
    }
    free(scratch);
    free(j.results);
    tacet_space_clear(&j.space);
    return code;
}
