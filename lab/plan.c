/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - `tacet plan`: before any budget is spent, the expected regret against eps for a stated problem.
 * Ring: programs; made-up functions, seeded noise: nothing here is private. Every eps, random choice and the
 * non-private reference play the same functions, so that their differences are taken in pairs.
 *
 * A plan is settled when every eps, and the reference, is clearly better than random, or clearly gains less than a
 * tenth of what random leaves to be gained, and when the eps from which on most of the gain is kept is clear; until
 * then the number of functions doubles, or is taken four times, up to a limit: 16 times as many as it begins with, 4
 * times for that eps alone, which is told as an interval. What is not settled is called so, never too hard.
 *
 * The rule of the advice: an eps is *better than random* when the mean paired gain over random is more than two of its
 * standard errors above 0 (one-sided false alarm about 2.5 % for each eps), and *close to non-private* when it gains
 * more than 90 % of what the non-private reference gains over random, by 2.5 standard errors of the paired difference.
 * By as much below, it is not close; between, it is open, and the eps from which on all are close lies in an
 * interval. */
#include "common/space.h"
#include "plan.h"
#include "repro.h"
#include "trials.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_EPS = 24, DOUBLINGS = 4 };
static const double HARDLY = 0.1;      /* of random's regret: a gain below it is not worth having */
static const double SIGNIFICANT = 2;   /* standard errors of the paired gain */
static const double CLOSE_SHARE = 0.9; /* of the non-private gain */
/* Standard errors of what is kept beyond that share. A plan looks at most five times, at twice as many functions each
 * time: where exactly 90 % are kept, one of the looks passes 2.5 in 5 % of plans (and 2 in 16 %). */
static const double CLEAR = 2.5;
enum { FEWEST = 8 };    /* functions; a standard error of fewer says little */
enum { NARROWING = 4 }; /* times as many functions as it begins with: an interval is an answer, too */

typedef enum closeness { NOT_CLOSE, OPEN, CLOSE } closeness;

typedef struct point {
    double eps;
    lab_outcome outcome;
    double mean, se;
    double gain, gain_se;   /* random less this, in pairs */
    double spare, spare_se; /* its gain less CLOSE_SHARE of the reference's, in pairs */
    closeness close;
    bool better;
    bool hopeless; /* clearly no gain worth having */
} point;

typedef struct planning {
    const cli_command *self;
    plan_problem problem;
    point at[MOST_EPS];
    size_t count;
    point random, plain;
    char advice[640];
    size_t first;                 /* from here on every eps is better than random; count: none */
    size_t close_low, close_high; /* from one of these on every eps is close; count: none of those tried */
    double low, high;             /* the band of chance: nine of ten random players' regrets */
    size_t most;                  /* functions at most; */
    size_t narrow;                /* at most to narrow the eps from which on most is kept */
    bool told;                    /* what is better than random is settled */
    bool settled;                 /* and so is that eps */
    double seconds;
} planning;

static int ascending(const void *a, const void *b) {
    const double x = ((const point *)a)->eps;
    const double y = ((const point *)b)->eps;
    return (x > y) - (x < y);
}

static bool read_eps(planning *p, const char *text) {
    cli_reals given;
    bool ok = CLI_READ(&given, text) && given.count <= MOST_EPS;
    for (size_t i = 0; ok && i < given.count; i++) {
        p->at[i].eps = given.at[i];
        ok = given.at[i] > 0;
    }
    p->count = ok ? given.count : 0;
    qsort(p->at, p->count, sizeof *p->at, ascending);
    for (size_t i = 1; i < p->count; i++) {
        ok = ok && p->at[i - 1].eps < p->at[i].eps;
    }
    return ok;
}

/* --- running ------------------------------------------------------------------------------------------------------ */

static tacet_status run_point(planning *p, point *at, plan_player player, size_t number, tacet_error *err) {
    char what[64];
    const double all = (double)p->count + 2;
    (void)snprintf(what, sizeof what,
                   player == PLAN_PRIVATE  ? "eps %g"
                   : player == PLAN_RANDOM ? "random"
                                           : "non-private",
                   at->eps);
    lab_progress_within((double)number / all, (double)(number + 1) / all, what);
    lab_request request;
    tacet_status status = plan_request(&request, &p->problem, player, at->eps, err);
    if (status == TACET_OK) {
        status = lab_run(&at->outcome, &request, err);
    }
    const bool cumulative = p->problem.model != LAB_OUTSOURCED && p->problem.model != LAB_CONTEXTUAL;
    for (size_t i = 0; status == TACET_OK && cumulative && i < at->outcome.trials; i++) {
        at->outcome.value[i] /= (double)p->problem.rounds;
    }
    if (status == TACET_OK) {
        lab_mean_se(&at->mean, &at->se, at->outcome.value, at->outcome.trials);
    }
    return status;
}

/* What `at` gains over random less a share of what the reference gains, function by function. */
static tacet_status gain_beyond(double *mean, double *se, const planning *p, double share, const point *at,
                                tacet_error *err) {
    const size_t count = at->outcome.trials;
    double *v = TACET__ZALLOC(double, count);
    if (v == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu trials", count);
    }
    for (size_t i = 0; i < count; i++) {
        const double random = p->random.outcome.value[i];
        v[i] = random - at->outcome.value[i] - share * (random - p->plain.outcome.value[i]);
    }
    lab_mean_se(mean, se, v, count);
    free(v);
    return TACET_OK;
}

/* --- the advice --------------------------------------------------------------------------------------------------- */

/* Whether the advice has a sentence on what is kept of the non-private gain. */
static bool tells_share(const planning *p) {
    return p->plain.better && p->first < p->count;
}

static closeness closeness_of(const planning *p, const point *at) {
    if (at->hopeless && !at->better) {
        return NOT_CLOSE;
    }
    const double margin = CLEAR * at->spare_se;
    return p->problem.trials < FEWEST          ? OPEN
           : at->spare < -margin               ? NOT_CLOSE
           : at->spare >= margin && at->better ? CLOSE
                                               : OPEN;
}

/* From which eps on every one is better than random, and close: where that is open, between which two. */
static void find_thresholds(planning *p) {
    p->first = p->close_low = p->close_high = p->count;
    for (size_t i = p->count; i-- > 0 && p->at[i].better;) {
        p->first = i;
    }
    for (size_t i = 0; i < p->count; i++) {
        p->at[i].close = closeness_of(p, &p->at[i]);
    }
    for (size_t i = p->count; i-- > 0 && p->at[i].close == CLOSE;) {
        p->close_high = i;
    }
    for (size_t i = p->count; i-- > 0 && p->at[i].close != NOT_CLOSE;) {
        p->close_low = i;
    }
}

/* Appends the sentence on what is kept of the non-private gain. */
static tacet_status advise_share(planning *p, size_t used, tacet_error *err) {
    char *out = p->advice + used;
    const size_t size = sizeof p->advice - used;
    const point *last = &p->at[p->count - 1];
    const point *high = p->close_high < p->count ? &p->at[p->close_high] : last;
    const point *low = p->close_low < p->count ? &p->at[p->close_low] : last;
    char from[64];
    if (low == high) {
        (void)snprintf(from, sizeof from, "eps = %g", low->eps);
    } else {
        (void)snprintf(from, sizeof from, "an eps between %g and %g", low->eps, high->eps);
    }
    if (p->close_high < p->count) {
        (void)snprintf(out, size, " From %s on it keeps at least 90 %% of what can be gained without privacy%s.", from,
                       p->close_low < p->close_high ? " (more --trials would narrow it)" : "");
        return TACET_OK;
    }
    const double possible = p->plain.gain;
    const double share = last->gain / possible;
    double zero = 0;
    double se = 0;
    const tacet_status status = gain_beyond(&zero, &se, p, share, last, err);
    const int length = snprintf(out, size, " At eps = %g it keeps %.0f ± %.0f %% of what can be gained without privacy",
                                last->eps, 100 * share, ceil(100 * se / possible));
    const size_t at = length > 0 ? (size_t)length : 0;
    if (p->close_low == p->count) {
        (void)snprintf(out + at, size - at, ".");
    } else {
        (void)snprintf(out + at, size - at,
                       "; it keeps at least 90 %% from %s on, or only above %g (more --trials would tell).", from,
                       last->eps);
    }
    return status;
}

static tacet_status advise(planning *p, tacet_error *err) {
    const char *unit = p->problem.model == LAB_OUTSOURCED ? "queries" : "rounds";
    const size_t first = p->first;
    bool hopeless = true; /* the ones below; otherwise these functions are too few to tell */
    for (size_t i = 0; i < first; i++) {
        hopeless = hopeless && p->at[i].hopeless;
    }
    const char *so = hopeless ? "" : " as far as these functions tell (more --trials would settle it)";
    int at = 0;
    if (p->plain.hopeless && !p->plain.better) {
        (void)snprintf(p->advice, sizeof p->advice,
                       "Even without privacy %zu %s gain less than a tenth over random here (%zu functions): ask more, "
                       "or expect what random gives.",
                       p->problem.rounds, unit, p->problem.trials);
    } else if (!p->plain.better) {
        (void)snprintf(p->advice, sizeof p->advice,
                       "Not settled: over %zu functions the gain without privacy is %.3g +- %.2g of a regret of %.3g "
                       "at %zu %s. More --trials would tell.",
                       p->problem.trials, p->plain.gain, p->plain.gain_se, p->random.mean, p->problem.rounds, unit);
    } else if (first == p->count) {
        (void)snprintf(p->advice, sizeof p->advice,
                       "At every eps up to %g this is no better than random at %zu %s%s.%s", p->at[p->count - 1].eps,
                       p->problem.rounds, unit, so,
                       p->problem.model == LAB_OUTSOURCED
                           ? " A search is not worth its budget here: protect smaller changes (units k times smaller "
                             "have the noise of k times the eps), or ask more rows."
                           : "");
    } else if (first > 0) {
        at = snprintf(p->advice, sizeof p->advice, "Below eps = %g this is no better than random at %zu %s%s.",
                      p->at[first].eps, p->problem.rounds, unit, so);
        if (p->problem.model == LAB_OUTSOURCED) { /* noise is in units: both halve together */
            at += snprintf(p->advice + at, sizeof p->advice - (size_t)at,
                           " Units %.3g times smaller, which protect smaller changes, make it so at eps = %g.",
                           p->at[first].eps / p->at[0].eps, p->at[0].eps);
        }
    } else {
        at = snprintf(p->advice, sizeof p->advice, "Already at eps = %g this is better than random at %zu %s.",
                      p->at[0].eps, p->problem.rounds, unit);
    }
    return at > 0 && tells_share(p) ? advise_share(p, (size_t)at, err) : TACET_OK;
}

static bool is_settled(const point *at) {
    return at->better || at->hopeless;
}

static tacet_status band(planning *p, tacet_error *err) {
    const lab_outcome *o = &p->random.outcome;
    double *v = TACET__ZALLOC(double, o->trials);
    if (v == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu trials", o->trials);
    }
    memcpy(v, o->value, o->trials * sizeof *v);
    tacet__sort(v, o->trials);
    p->low = v[(o->trials - 1) / 20];
    p->high = v[o->trials - 1 - (o->trials - 1) / 20];
    free(v);
    return TACET_OK;
}

static void clear(planning *p) {
    for (size_t i = 0; i < p->count; i++) {
        lab_outcome_clear(&p->at[i].outcome);
    }
    lab_outcome_clear(&p->random.outcome);
    lab_outcome_clear(&p->plain.outcome);
}

/* Everybody plays the same p->problem.trials functions. */
static tacet_status play(planning *p, tacet_error *err) {
    clear(p);
    tacet_status status = run_point(p, &p->random, PLAN_RANDOM, 0, err);
    if (status == TACET_OK) {
        status = run_point(p, &p->plain, PLAN_NONPRIVATE, 1, err);
    }
    for (size_t i = 0; i < p->count && status == TACET_OK; i++) {
        status = run_point(p, &p->at[i], PLAN_PRIVATE, i + 2, err);
    }
    p->settled = true;
    for (size_t i = 0; i <= p->count && status == TACET_OK; i++) {
        point *at = i < p->count ? &p->at[i] : &p->plain;
        status = gain_beyond(&at->gain, &at->gain_se, p, 0, at, err);
        TACET_THEN(status, gain_beyond(&at->spare, &at->spare_se, p, CLOSE_SHARE, at, err));
        at->better = at->gain > SIGNIFICANT * at->gain_se && at->gain > 0;
        at->hopeless = at->gain + SIGNIFICANT * at->gain_se < HARDLY * p->random.mean;
        p->settled = p->settled && is_settled(at);
    }
    find_thresholds(p);
    p->told = p->settled;
    p->settled = p->told && (!tells_share(p) || p->close_low == p->close_high);
    return status == TACET_OK ? band(p, err) : status;
}

/* How many functions to play next. All are played again, so twice as many are passed over where they would not do: if
 * the mean stays, its standard errors grow by the root. */
static size_t next_trials(const planning *p) {
    size_t times = 2;
    for (size_t i = p->close_low; i < p->close_high && tells_share(p); i++) {
        const point *at = &p->at[i];
        times = at->close == OPEN && fabs(at->spare) * sqrt(2) < CLEAR * at->spare_se ? 4 : times;
    }
    const size_t most = p->told ? p->narrow : p->most;
    return times * p->problem.trials < most ? times * p->problem.trials : most;
}

static tacet_status run(planning *p, tacet_error *err) {
    const double begin = cli_seconds();
    tacet_status status = play(p, err);
    p->narrow = p->most < NARROWING * p->problem.trials ? p->most : NARROWING * p->problem.trials;
    while (status == TACET_OK && !p->settled && p->problem.trials < (p->told ? p->narrow : p->most)) {
        p->problem.trials = next_trials(p);
        status = play(p, err);
    }
    lab_progress_within(0, 1, NULL);
    cli_progress_end();
    p->seconds = cli_seconds() - begin;
    return status == TACET_OK ? advise(p, err) : status;
}

/* --- printing ----------------------------------------------------------------------------------------------------- */

static const char *verdict(const planning *p, const point *at) {
    if (at == &p->random || at == &p->plain) {
        return "";
    }
    return !at->better          ? (at->hopeless ? "no better than random" : "not settled: no better than random so far")
           : at->close == CLOSE ? "close to non-private"
           : at->close == NOT_CLOSE ? "better than random"
                                    : "better than random, perhaps close to non-private";
}

/* printf counts bytes, and ± has two. */
static void print_row(const char *name, const char *mean, const char *gain, const char *verdict_words) {
    const int wide = 25;
    printf("%-12s  %-*s  %-*s  %s\n", name, strstr(mean, "±") != NULL ? wide + 1 : wide, mean,
           strstr(gain, "±") != NULL ? wide + 1 : wide, gain, verdict_words);
}

static void print(const planning *p) {
    char words[200];
    plan_words(words, sizeof words, &p->problem);
    printf("%s\n\n", words);
    print_row("eps", plan_quantity(p->problem.model), "gain over random", "");
    for (size_t i = 0; i < p->count + 2; i++) {
        const point *at = i == 0 ? &p->random : i <= p->count ? &p->at[i - 1] : &p->plain;
        char eps[32], mean[48], gain[48] = "";
        (void)snprintf(eps, sizeof eps, i == 0 ? "random" : i <= p->count ? "%g" : "non-private", at->eps);
        repro_number(mean, sizeof mean, at->mean, at->se);
        if (i > 0) {
            repro_number(gain, sizeof gain, at->gain, at->gain_se);
        }
        print_row(eps, mean, gain, verdict(p, at));
    }
    printf("\n%s\n", p->advice);
    printf("The band of chance: nine of ten random players end between %.3g and %.3g.\n\n", p->low, p->high);
    printf("± is one standard error over %zu made-up functions. Better than random: the paired gain exceeds two of its "
           "standard errors (one-sided, about 2.5 %% each); close: it keeps 90 %% of the non-private gain, by %g "
           "standard errors. Seeded noise: not private.\n",
           p->problem.trials, CLEAR);
}

static json_t *point_json(const point *at) {
    json_t *close = at->close == OPEN ? json_null() : json_boolean(at->close == CLOSE);
    return json_pack("{so so so so so sb so so so}", "eps",
                     isfinite(at->eps) && at->eps > 0 ? cli_real(at->eps) : json_null(), "mean", cli_real(at->mean),
                     "se", cli_real(at->se), "gain", cli_real(at->gain), "gain_se", cli_real(at->gain_se),
                     "better_than_random", at->better, "close_to_nonprivate", close, "beyond_90_percent",
                     cli_real(at->spare), "beyond_90_percent_se", cli_real(at->spare_se));
}

/* The eps from which on 90 % are kept lies from low to high; null: above all that were tried. */
static json_t *close_json(const planning *p) {
    if (!tells_share(p)) {
        return json_null();
    }
    return json_pack("{so so}", "low", p->close_low < p->count ? cli_real(p->at[p->close_low].eps) : json_null(),
                     "high", p->close_high < p->count ? cli_real(p->at[p->close_high].eps) : json_null());
}

static json_t *result_json(const planning *p) {
    char words[200];
    plan_words(words, sizeof words, &p->problem);
    json_t *points = json_array();
    for (size_t i = 0; i < p->count; i++) {
        (void)json_array_append_new(points, point_json(&p->at[i]));
    }
    json_t *result =
        json_pack("{ss ss so so so ss so sI sI so sb}", "plan", plan_model_name(p->problem.model), "problem", words,
                  "delta", cli_real(plan_delta(&p->problem)), "points", points, "random", point_json(&p->random),
                  "advice", p->advice, "nonprivate", point_json(&p->plain), "trials", (json_int_t)p->problem.trials,
                  "seed", (json_int_t)p->problem.seed, "seconds", cli_real(p->seconds), "private", 0);
    if (result != NULL) {
        (void)json_object_set_new(result, "chance",
                                  json_pack("{so so}", "low", cli_real(p->low), "high", cli_real(p->high)));
        (void)json_object_set_new(result, "close_from", close_json(p));
        (void)json_object_set_new(result, "settled", json_boolean(p->settled));
    }
    return result;
}

static json_t *level(const char *name, const point *at) {
    return json_pack("{ss ss s[f] s[f] s[f]}", "name", name, "style", "level", "y", at->mean, "lower",
                     fmax(0, at->mean - 2 * at->se), "upper", at->mean + 2 * at->se);
}

static json_t *chart(const planning *p) {
    json_t *x = json_array();
    json_t *y = json_array();
    json_t *lower = json_array();
    json_t *upper = json_array();
    for (size_t i = 0; i < p->count; i++) {
        const point *at = &p->at[i];
        (void)json_array_append_new(x, json_real(at->eps));
        (void)json_array_append_new(y, json_real(at->mean));
        (void)json_array_append_new(lower, json_real(fmax(0, at->mean - 2 * at->se)));
        (void)json_array_append_new(upper, json_real(at->mean + 2 * at->se));
    }
    json_t *series = json_pack("[{ss so so so so} o o]", "name", "private", "x", x, "y", y, "lower", lower, "upper",
                               upper, level("random", &p->random), level("non-private", &p->plain));
    return json_pack("{ss ss s{ss ss} s{ss} so ss}", "kind", "chart", "title", "Regret against eps", "x", "label",
                     "eps", "scale", "log", "y", "label", plan_quantity(p->problem.model), "series", series, "note",
                     "Means over made-up functions; bands are two standard errors either way.");
}

static json_t *table(const planning *p) {
    json_t *rows = json_array();
    for (size_t i = 0; i < p->count + 2; i++) {
        const point *at = i == 0 ? &p->random : i <= p->count ? &p->at[i - 1] : &p->plain;
        char eps[32], mean[48], gain[48];
        (void)snprintf(eps, sizeof eps, i == 0 ? "random" : i <= p->count ? "%g" : "non-private", at->eps);
        repro_number(mean, sizeof mean, at->mean, at->se);
        repro_number(gain, sizeof gain, at->gain, at->gain_se);
        (void)json_array_append_new(rows, json_pack("[s s s s]", eps, mean, i == 0 ? "" : gain, verdict(p, at)));
    }
    return json_pack("{ss ss s[s s s s] so ss}", "kind", "table", "title", "The numbers", "columns", "eps",
                     plan_quantity(p->problem.model), "gain over random", "verdict", "rows", rows, "note",
                     "Better than random: the paired gain exceeds two of its standard errors. Close to non-private: at "
                     "least 90 % of the non-private gain is kept, by 2.5 standard errors; perhaps: that is open. "
                     "Simulated with seeded noise: not private.");
}

static tacet_status write_report(const planning *p, const char *path, tacet_error *err) {
    char words[200];
    plan_words(words, sizeof words, &p->problem);
    json_t *document =
        json_pack("{ss ss ss s[{ss ss ss ss} o o]}", "format", "tacet-report-1", "title", "Plan", "subtitle", words,
                  "sections", "kind", "text", "title", "Advice", "text", p->advice, "tone", "note", chart(p), table(p));
    return lab_report(path, "plan", document, err);
}

/* The size of a space: coordinates, and how far its corners lie from its middle in units. Categories count as the
 * coordinates of their simplex. */
static int plan_space(plan_problem *q, const cli_space *typed, const cli_command *self) {
    tacet_space space = {0};
    double low[64] = {0}, high[64] = {0}, square = 0;
    size_t without = 0, categories = 0;
    const int code = cli_space_read(&space, typed, self);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    const size_t dims = tacet_space_dims(&space);
    for (size_t i = 0; i < space.count; i++) {
        without += space.columns[i].unit == 0 ? 1 : 0;
        categories += tacet_space_traits_of(&space.columns[i])->levels ? 1 : 0;
    }
    if (dims <= 64) {
        tacet_space_box(&space, low, high);
    }
    tacet_space_clear(&space);
    if (dims > 64 || q->dim > 0 || (q->model == LAB_OUTSOURCED && without > 0)) {
        return cli_usage(self, dims > 64    ? "--space: at most 64 coordinates are planned for"
                               : q->dim > 0 ? "--space says how many coordinates there are: no --dim"
                                            : "--space: a plan of a release needs the unit of every number");
    }
    for (size_t c = 0; c < dims; c++) {
        square += (high[c] - low[c]) * (high[c] - low[c]) / 4;
    }
    q->dim = dims;
    if (q->model == LAB_OUTSOURCED) {
        q->radius = sqrt(square);
        cli_say(self, "the space: %zu coordinates, corners %.3g units from the middle%s", dims, q->radius,
                categories > 0 ? "; categories are planned as coordinates" : "");
    }
    return CLI_EXIT_OK;
}

int lab_plan(int argc, char **argv, const cli_command *self) {
    planning p = {.self = self, .problem = plan_defaults()};
    plan_problem *q = &p.problem;
    const char *eps = "0.5,1,2,4,8";
    const char *report = NULL;
    const char *model = NULL;
    size_t queries = 0;
    size_t threads = 0;
    double delta = NAN;
    cli_space typed = {0};
    const cli_option options[] = {
        CLI_NEED("model", &model, "NAME", "outsourced, central, local, local-statistics or contextual."),
        CLI_HEADING("Problem"),
        {"candidates", CLI_COUNT, &q->candidates, "N",
         "Rows of the table (outsourced), arms (local), arms a round (central, local-statistics), actions "
         "(contextual). Default 2000, 100, 25, 101.",
         false},
        {"dim", CLI_COUNT, &q->dim, "D",
         "Coordinates; contextual: of the action, beside one of the context. Default 2; contextual 1.", false},
        CLI_OPT("lengthscale", &q->lengthscale, "L", "Of the objective, as a fraction of the domain. Default 0.2."),
        CLI_OPT("noise", &q->noise, "S",
                "Standard deviation of a measurement (local: largest deviation), where the objective has about 1 "
                "(central, local-statistics: lies in [0, 1]). Default 0.1."),
        CLI_SPACE_FILE(typed),
        CLI_SPACE_SHORT(typed),
        CLI_SPACE_UNIT(typed),
        CLI_OPT("radius", &q->radius, "R",
                "outsourced: half the diagonal of the domain, in units of the move of a record that is protected. "
                "Default 25."),
        {"queries", CLI_COUNT, &queries, "T", "outsourced: measurements. Default 40.", false},
        {"rounds", CLI_COUNT, &q->rounds, "T",
         "The others: rounds. Default 1000; local 10000; contextual 10000 records.", false},
        CLI_HEADING("Privacy"),
        CLI_OPT("eps", &eps, "LIST", "Values to try. Default 0.5,1,2,4,8."),
        CLI_OPT("delta", &delta, "D",
                "central, local-statistics: default 1e-5. outsourced: as for 'tacet curate', considered only if given "
                "(gaussian: default 1e-5). The others have none, nor has laplace."),
        CLI_OPT("mechanism", &q->mechanism, "NAME",
                "outsourced: auto (default), gaussian, laplace or l2, the noise of 'tacet curate --mechanism'."),
        CLI_OPT("known-prior", &q->known_prior, NULL,
                "outsourced: the modeler is told the lengthscale and the noise. Default: it is told nothing."),
        CLI_HEADING("Simulation"),
        {"trials", CLI_COUNT, &q->trials, "N",
         "Made-up functions, exactly. Default: 20 (local, contextual 10), then twice or four times as many until the "
         "answer "
         "is "
         "settled, 16 times as many at most.",
         false},
        CLI_OPT("seed", &q->seed, "S", "Default 1."),
        CLI_OPT("threads", &threads, "N", "Default 0: one per processor. Results do not depend on it."),
        CLI_OPT("report", &report, "FILE", "One HTML page: advice, chart, table."),
        {0}};
    int code = CLI_EXIT_OK;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (!plan_model_parse(&q->model, model)) {
        return cli_usage(self, "--model is outsourced, central, local, local-statistics or contextual");
    }
    if (queries > 0 && q->rounds > 0) {
        return cli_usage(self, "--queries or --rounds, not both");
    }
    if (!read_eps(&p, eps)) {
        return cli_usage(self, "--eps is a list of 1 to %d different positive numbers", (int)MOST_EPS);
    }
    if (!isnan(delta) && delta != 0 && strcmp(q->mechanism, "laplace") == 0) {
        return cli_usage(self, "--delta: the laplace mechanism has pure eps, so there is none to give (it is 0)");
    }
    if (cli_space_given(&typed)) {
        code = plan_space(q, &typed, self);
        if (code != CLI_EXIT_OK) {
            return code;
        }
    }
    q->asked_delta = delta;
    q->delta = isnan(delta) || strcmp(q->mechanism, "laplace") == 0 ? q->delta : delta;
    q->rounds = queries > 0 ? queries : q->rounds;
    const bool fixed = q->trials > 0;
    plan_complete(q);
    p.most = fixed ? q->trials : q->trials << DOUBLINGS;
    tacet_error err;
    tacet_error_clear(&err);
    lab_threads(threads);
    tacet_status status = plan_check(q, &err);
    if (status != TACET_OK) {
        return cli_usage(self, "%s", err.message);
    }
    status = run(&p, &err);
    if (status == TACET_OK && report != NULL) {
        status = write_report(&p, report, &err);
    }
    if (status == TACET_OK) {
        if (!cli_json_wanted()) {
            print(&p);
        }
        cli_json_print(result_json(&p));
    } else {
        code = cli_fail(self, &err);
    }
    clear(&p);
    return code;
}
