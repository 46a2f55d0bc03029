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
#include "space/internal.h"
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

enum { DOUBLINGS = 4, SEARCH_DOUBLINGS = 2 };
static const double HARDLY = 0.1;      /* of random's regret: a gain below it is not worth having */
static const double SIGNIFICANT = 2;   /* standard errors of the paired gain */
static const double CLOSE_SHARE = 0.9; /* of the non-private gain */
enum { FEWEST = 8 };                   /* functions; a standard error of fewer says little */
enum { NARROWING = 4 };                /* times as many functions as it begins with: an interval is an answer, too */

/* What would make a search that is not worth its budget worth it. */
static const size_t TIMES[] = {2, 4, 8, 16};
enum { UNIT_TIMES = 4, QUERY_TIMES = 2 };

static int ascending(const void *a, const void *b) {
    const double x = ((const plan_point *)a)->eps;
    const double y = ((const plan_point *)b)->eps;
    return (x > y) - (x < y);
}

static bool read_eps(plan_state *p, cli_reals given) {
    bool ok = given.count <= PLAN_MOST_EPS;
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

/* Of random players; before their regrets give way to what is to be expected, which tells the same with less noise. */
static tacet_status band(plan_state *p, tacet_error *err) {
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
    const json_t *expected = json_object_get(o->detail, "expected");
    for (size_t i = 0; i < json_array_size(expected); i++) {
        o->value[i] = json_number_value(json_array_get(expected, i));
    }
    return TACET_OK;
}

static tacet_status run_point(plan_state *p, plan_point *at, plan_player player, size_t number, tacet_error *err) {
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
    TACET_THEN(status, lab_run(&at->outcome, &request, err));
    const bool cumulative = p->problem.model != LAB_OUTSOURCED && p->problem.model != LAB_CONTEXTUAL;
    for (size_t i = 0; status == TACET_OK && cumulative && i < at->outcome.trials; i++) {
        at->outcome.value[i] /= (double)p->problem.rounds;
    }
    status = status == TACET_OK && player == PLAN_RANDOM ? band(p, err) : status;
    if (status == TACET_OK) {
        lab_mean_se(&at->mean, &at->se, at->outcome.value, at->outcome.trials);
    }
    return status;
}

/* What `at` gains over random less a share of what the reference gains, function by function. */
static tacet_status gain_beyond(double *mean, double *se, const plan_state *p, double share, const plan_point *at,
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
bool plan_tells_share(const plan_state *p) {
    return p->plain.better && p->first < p->count;
}

static plan_closeness closeness_of(const plan_state *p, const plan_point *at) {
    if (at->hopeless && !at->better) {
        return PLAN_NOT_CLOSE;
    }
    const double margin = PLAN_CLEAR * at->spare_se;
    return p->problem.trials < FEWEST          ? PLAN_OPEN
           : at->spare < -margin               ? PLAN_NOT_CLOSE
           : at->spare >= margin && at->better ? PLAN_CLOSE
                                               : PLAN_OPEN;
}

/* From which eps on every one is better than random, and close: where that is open, between which two. */
static void find_thresholds(plan_state *p) {
    p->first = p->close_low = p->close_high = p->count;
    for (size_t i = p->count; i-- > 0 && p->at[i].better;) {
        p->first = i;
    }
    for (size_t i = 0; i < p->count; i++) {
        p->at[i].close = closeness_of(p, &p->at[i]);
    }
    for (size_t i = p->count; i-- > 0 && p->at[i].close == PLAN_CLOSE;) {
        p->close_high = i;
    }
    for (size_t i = p->count; i-- > 0 && p->at[i].close != PLAN_NOT_CLOSE;) {
        p->close_low = i;
    }
}

/* Appends the sentence on what is kept of the non-private gain. */
static tacet_status advise_share(plan_state *p, size_t used, tacet_error *err) {
    char *out = p->advice + used;
    const size_t size = sizeof p->advice - used;
    const plan_point *last = &p->at[p->count - 1];
    const plan_point *high = p->close_high < p->count ? &p->at[p->close_high] : last;
    const plan_point *low = p->close_low < p->count ? &p->at[p->close_low] : last;
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

/* The verdict on one eps of a search. */
static void judge(plan_state *p) {
    const plan_point *at = &p->at[0];
    char *out = p->advice;
    size_t size = sizeof p->advice;
    int used = snprintf(out, size,
                        "%s: at eps = %g a search ends at %.0f ± %.0f %% of the regret of %zu random rows "
                        "(%.0f %% without privacy; %zu made-up functions).",
                        at->better     ? "Worth it"
                        : at->hopeless ? "Not worth it"
                                       : "Not clearly worth it",
                        at->eps, 100 * p->share, ceil(100 * p->share_se), p->problem.rounds,
                        100 * p->plain.mean / p->random.mean, p->problem.trials);
    if (at->better || used < 0) {
        return;
    }
    out += used;
    size -= (size_t)used;
    if (p->units > 0) {
        used = snprintf(out, size,
                        " Units %zu times smaller, which protect changes %zu times smaller, would make it so, "
                        "as would eps = %g.",
                        p->units, p->units, (double)p->units * at->eps);
    } else {
        used = snprintf(out, size, " Nor would units %zu times smaller make it so.", TIMES[UNIT_TIMES - 1]);
    }
    if (p->queries > 0 && used > 0) {
        (void)snprintf(out + used, size - (size_t)used, " So would %zu questions.", p->queries);
    } else if (used > 0) {
        (void)snprintf(out + used, size - (size_t)used, " More questions would not.");
    }
}

static tacet_status advise(plan_state *p, tacet_error *err) {
    if (p->problem.model == LAB_OUTSOURCED && p->count == 1 && p->plain.better) {
        judge(p);
        return TACET_OK;
    }
    const char *unit = p->problem.model == LAB_OUTSOURCED ? "queries" : "rounds";
    const size_t first = p->first;
    bool hopeless = true; /* the ones below; otherwise these functions are too few to tell */
    for (size_t i = 0; i < first; i++) {
        hopeless = hopeless && p->at[i].hopeless;
    }
    const char *so = hopeless ? "" : " as far as these functions tell (more --trials would settle it)";
    int at = 0;
    if (p->random.mean <= 0) { /* every row is asked */
        (void)snprintf(p->advice, sizeof p->advice, "%zu %s at random leave nothing to gain: no search is needed.",
                       p->problem.rounds, unit);
    } else if (p->plain.hopeless && !p->plain.better) {
        (void)snprintf(p->advice, sizeof p->advice,
                       "Even without privacy %zu %s gain less than a tenth over random here (%zu functions): ask more, "
                       "or expect what random gives.",
                       p->problem.rounds, unit, p->problem.trials);
    } else if (!p->plain.better) {
        (void)snprintf(p->advice, sizeof p->advice,
                       "A small gain, if any: without privacy %zu %s end between %.0f and %.0f %% of the regret of as "
                       "many at random (95 %%, %zu made-up functions); noise takes from that.",
                       p->problem.rounds, unit,
                       100 * fmax(0, p->plain.mean - SIGNIFICANT * p->plain.gain_se) / p->random.mean,
                       100 * (p->plain.mean + SIGNIFICANT * p->plain.gain_se) / p->random.mean, p->problem.trials);
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
    return at > 0 && plan_tells_share(p) ? advise_share(p, (size_t)at, err) : TACET_OK;
}

bool plan_is_settled(const plan_point *at) {
    return at->better || at->hopeless;
}

static void clear(plan_state *p) {
    for (size_t i = 0; i < p->count; i++) {
        lab_outcome_clear(&p->at[i].outcome);
    }
    lab_outcome_clear(&p->random.outcome);
    lab_outcome_clear(&p->plain.outcome);
}

/* Standard error of a share of random's regret, as a regret: functions differ in how much there is to gain, and that is
 * no uncertainty about the share (the delta method for a ratio of means). */
static tacet_status share_error(double *se, const plan_state *p, const plan_point *at, tacet_error *err) {
    const size_t count = at->outcome.trials;
    const double share = at->mean / p->random.mean;
    double mean = 0;
    double *v = TACET__ZALLOC(double, count);
    if (v == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu trials", count);
    }
    for (size_t i = 0; i < count; i++) {
        v[i] = at->outcome.value[i] - share * p->random.outcome.value[i];
    }
    lab_mean_se(&mean, se, v, count);
    free(v);
    return TACET_OK;
}

static tacet_status compare(plan_state *p, plan_point *at, tacet_error *err) {
    tacet_status status = gain_beyond(&at->gain, &at->gain_se, p, 0, at, err);
    if (status == TACET_OK && p->problem.model == LAB_OUTSOURCED && p->random.mean > 0) {
        status = share_error(&at->gain_se, p, at, err);
    }
    at->better = at->gain > SIGNIFICANT * at->gain_se && at->gain > 0;
    at->hopeless = at->gain + SIGNIFICANT * at->gain_se < HARDLY * p->random.mean;
    return status;
}

/* Whether the first eps, `times` as large, gains over random. Noise is in units: that is units so many times smaller.
 */
static tacet_status try_eps(plan_state *p, bool *better, size_t times, tacet_error *err) {
    plan_point at = {.eps = (double)times * p->at[0].eps};
    tacet_status status = run_point(p, &at, PLAN_PRIVATE, 2, err);
    TACET_THEN(status, compare(p, &at, err));
    *better = at.better;
    lab_outcome_clear(&at.outcome);
    return status;
}

/* The least of some remedies for a search that is not worth it: smaller units, more questions. */
static tacet_status find_remedies(plan_state *p, tacet_error *err) {
    tacet_status status = TACET_OK;
    bool better = false;
    for (size_t i = 0; i < UNIT_TIMES && p->units == 0 && status == TACET_OK; i++) {
        status = try_eps(p, &better, TIMES[i], err);
        p->units = better ? TIMES[i] : 0;
    }
    plan_state more = *p;
    memset(&more.random.outcome, 0, sizeof more.random.outcome);
    for (size_t i = 0; i < QUERY_TIMES && p->queries == 0 && status == TACET_OK; i++) {
        more.problem.rounds = TIMES[i] * p->problem.rounds;
        if (plan_check(&more.problem, NULL) != TACET_OK) {
            break;
        }
        lab_outcome_clear(&more.random.outcome);
        status = run_point(&more, &more.random, PLAN_RANDOM, 2, err);
        TACET_THEN(status, try_eps(&more, &better, 1, err));
        p->queries = better ? more.problem.rounds : 0;
    }
    lab_outcome_clear(&more.random.outcome);
    return status;
}

/* Everybody plays the same p->problem.trials functions. */
static tacet_status play(plan_state *p, tacet_error *err) {
    clear(p);
    tacet_status status = run_point(p, &p->random, PLAN_RANDOM, 0, err);
    TACET_THEN(status, run_point(p, &p->plain, PLAN_NONPRIVATE, 1, err));
    for (size_t i = 0; i < p->count && status == TACET_OK; i++) {
        status = run_point(p, &p->at[i], PLAN_PRIVATE, i + 2, err);
    }
    p->settled = true;
    for (size_t i = 0; i <= p->count && status == TACET_OK; i++) {
        plan_point *at = i < p->count ? &p->at[i] : &p->plain;
        status = compare(p, at, err);
        TACET_THEN(status, gain_beyond(&at->spare, &at->spare_se, p, CLOSE_SHARE, at, err));
        p->settled = p->settled && plan_is_settled(at);
    }
    find_thresholds(p);
    p->told = p->settled;
    p->settled = p->told && (!plan_tells_share(p) || p->close_low == p->close_high);
    return status;
}

/* How many functions to play next. All are played again, so twice as many are passed over where they would not do: if
 * the mean stays, its standard errors grow by the root. */
static size_t next_trials(const plan_state *p) {
    size_t times = 2;
    for (size_t i = p->close_low; i < p->close_high && plan_tells_share(p); i++) {
        const plan_point *at = &p->at[i];
        times = at->close == PLAN_OPEN && fabs(at->spare) * sqrt(2) < PLAN_CLEAR * at->spare_se ? 4 : times;
    }
    const size_t most = p->told ? p->narrow : p->most;
    return times * p->problem.trials < most ? times * p->problem.trials : most;
}

static tacet_status run(plan_state *p, tacet_error *err) {
    const double begin = cli_seconds();
    tacet_status status = play(p, err);
    const size_t narrowing =
        p->problem.model == LAB_OUTSOURCED ? 1 : NARROWING; /* a verdict is what is wanted of a search */
    p->narrow = p->most < narrowing * p->problem.trials ? p->most : narrowing * p->problem.trials;
    while (status == TACET_OK && !p->settled && p->problem.trials < (p->told ? p->narrow : p->most)) {
        p->problem.trials = next_trials(p);
        status = play(p, err);
    }
    if (status == TACET_OK && p->problem.model == LAB_OUTSOURCED && p->count == 1) {
        p->share = p->at[0].mean / p->random.mean;
        p->share_se = p->at[0].gain_se / p->random.mean;
        status = p->plain.better && !p->at[0].better ? find_remedies(p, err) : TACET_OK;
    }
    lab_progress_within(0, 1, NULL);
    cli_progress_end();
    p->seconds = cli_seconds() - begin;
    return status == TACET_OK ? advise(p, err) : status;
}

/* The size of a space: coordinates, and how far its corners lie from its middle in units. Categories count as the
 * coordinates of their simplex. */
static int plan_space(plan_problem *q, const char *file, const cli_command *self) {
    tacet_space space = {0};
    double low[64] = {0}, high[64] = {0}, square = 0;
    size_t without = 0, categories = 0;
    const cli_space given = {.file = file};
    const int code = cli_space_read(&space, &given, self);
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
                               : q->dim > 0 ? "--space says how many coordinates there are: no --dims"
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

/* Everything after the options. */
static int plan_it(plan_state *p, cli_reals eps, double delta, const char *space, const char *page) {
    const cli_command *self = p->self;
    plan_problem *q = &p->problem;
    if (!read_eps(p, eps)) {
        return cli_usage(self, "--eps is a list of 1 to %d different positive numbers", (int)PLAN_MOST_EPS);
    }
    if (!isnan(delta) && delta != 0 && strcmp(q->mechanism, "laplace") == 0) {
        return cli_usage(self, "--delta: the laplace mechanism has pure eps, so there is none to give (it is 0)");
    }
    int code = space != NULL ? plan_space(q, space, self) : CLI_EXIT_OK;
    if (code != CLI_EXIT_OK) {
        return code;
    }
    q->asked_delta = delta;
    q->delta = isnan(delta) || strcmp(q->mechanism, "laplace") == 0 ? q->delta : delta;
    const bool fixed = q->trials > 0;
    plan_complete(q);
    p->most = fixed ? q->trials : q->trials << (q->model == LAB_OUTSOURCED ? SEARCH_DOUBLINGS : DOUBLINGS);
    tacet_error err;
    tacet_error_clear(&err);
    tacet_status status = plan_check(q, &err);
    if (status != TACET_OK) {
        return cli_usage(self, "%s", err.message);
    }
    status = run(p, &err);
    if (status == TACET_OK && page != NULL) {
        status = plan_page(p, page, &err);
    }
    if (status == TACET_OK) {
        code = plan_tell(p);
    } else {
        code = cli_fail(self, &err);
    }
    clear(p);
    return code;
}

/* As typed; 0, NaN or NULL: not given. */
typedef struct typed {
    size_t rows, queries, arms, rounds, dim, trials;
    double lengthscale, noise, delta, rate, lift;
    cli_reals eps;
    const char *mechanism, *space, *page;
} typed;

/* The models, a bit each: those of lab_model in their order, and the A/B study. */
enum { OF_OUTSOURCED = 1, OF_AB = 1 << 5, OF_BANDITS = OF_AB - 2, OF_SIMULATED = OF_AB - 1 };

/* An option that says nothing of the model: its name; NULL: none was given. */
static const char *misplaced(const typed *t, unsigned model) {
    const struct {
        const char *name;
        bool given;
        unsigned models;
    } rules[] = {
        {"rows", t->rows > 0, OF_OUTSOURCED},
        {"queries", t->queries > 0, OF_OUTSOURCED},
        {"mechanism", t->mechanism != NULL, OF_OUTSOURCED},
        {"rounds", t->rounds > 0, OF_BANDITS},
        {"arms", t->arms > 0, OF_BANDITS | OF_AB},
        {"space", t->space != NULL, OF_SIMULATED},
        {"dims", t->dim > 0, OF_SIMULATED},
        {"lengthscale", !isnan(t->lengthscale), OF_SIMULATED},
        {"noise", !isnan(t->noise), OF_SIMULATED},
        {"delta", !isnan(t->delta), OF_SIMULATED},
        {"trials", t->trials > 0, OF_SIMULATED},
        {"page", t->page != NULL, OF_SIMULATED},
        {"rate", !isnan(t->rate), OF_AB},
        {"lift", !isnan(t->lift), OF_AB},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].given && (rules[i].models & model) == 0) {
            return rules[i].name;
        }
    }
    return NULL;
}

int lab_plan(int argc, char **argv, const cli_command *self) {
    static const double USUAL[] = {0.5, 1, 2, 4, 8};
    plan_state p = {.self = self, .problem = plan_defaults()};
    plan_problem *q = &p.problem;
    typed t = {.lengthscale = NAN, .noise = NAN, .delta = NAN, .rate = NAN, .lift = NAN};
    const char *model = NULL;
    size_t models = 1;
    const cli_option options[] = {
        CLI_HEADING("Problem"),
        CLI_OPT("space", &t.space, "FILE", "The space; outsourced: with units."),
        {"rows", CLI_COUNT, &t.rows, "N", "outsourced: rows of the table. Default 2000.", false},
        {"queries", CLI_COUNT, &t.queries, "N", "outsourced: rows that are measured. Default 40.", false},
        {"rounds", CLI_COUNT, &t.rounds, "T", "The others: default 1000; local 10000; contextual 10000 records.",
         false},
        {"arms", CLI_COUNT, &t.arms, "N",
         "Arms (local, ab), arms a round (central, local-statistics), actions (contextual). Default 100, 2, 25, 101.",
         false},
        CLI_OPT("rate", &t.rate, "P", "ab: share of visitors who convert now."),
        CLI_OPT("lift", &t.lift, "X", "ab: the change worth seeing: the other arms' share is so many times that."),
        CLI_MORE,
        {"dims", CLI_COUNT, &t.dim, "N",
         "Without a space: coordinates (outsourced: of a box whose corners are 25 units from its middle); contextual: "
         "of the action, beside one of the context. Default 2; contextual 1.",
         false},
        CLI_OPT("lengthscale", &t.lengthscale, "L",
                "Of the objective, as a fraction of the domain. Default 0.2; outsourced: 1/16 to 1 by turns, half of "
                "the functions with skewed values."),
        CLI_OPT("noise", &t.noise, "SD",
                "Standard deviation of a measurement (local: largest deviation), where the objective has about 1 "
                "(central, local-statistics: lies in [0, 1]). Default 0.1."),
        CLI_HEADING("Privacy"),
        CLI_OPT("eps", &t.eps, "E,…",
                "One value: the verdict on it. Several: a table. Default 1; central, local, contextual 0.5,1,2,4,8."),
        CLI_MORE,
        CLI_OPT("delta", &t.delta, "D",
                "central: default 1e-5. outsourced: as for 'tacet curate', considered only if given."),
        CLI_OPT("mechanism", &t.mechanism, "NAME",
                "outsourced: auto (default), gaussian, laplace or l2, the noise of 'tacet curate --mechanism'."),
        CLI_HEADING("Simulation"),
        CLI_OPT("page", &t.page, "FILE", "One HTML page: advice, chart, table."),
        CLI_MORE,
        {"trials", CLI_COUNT, &t.trials, "N",
         "Made-up functions, exactly. Default: 20 (local, contextual 10), then twice or four times as many until the "
         "answer is settled, 16 times as many at most (outsourced 4).",
         false},
        CLI_OPT("seed", &q->seed, "S", "Default 1."),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, &model, &models);
    const bool ab = models == 1 && strcmp(model, "ab") == 0;
    if (models != 1 || (!ab && !plan_model_parse(&q->model, model))) {
        return cli_usage(self, "what is planned? outsourced, central, local, local-statistics, contextual or ab");
    }
    const char *wrong = misplaced(&t, ab ? OF_AB : 1U << q->model);
    if (wrong != NULL) {
        return cli_usage(self, "--%s says nothing of the %s model", wrong, model);
    }
    if (ab) {
        return plan_ab(t.rate, t.lift, t.arms > 0 ? t.arms : 2, t.eps, q->seed, self);
    }
    const bool searched = q->model == LAB_OUTSOURCED;
    q->candidates = searched ? t.rows : t.arms;
    q->rounds = searched ? t.queries : t.rounds;
    q->dim = t.dim;
    q->trials = t.trials;
    q->lengthscale = t.lengthscale;
    q->noise = isnan(t.noise) ? q->noise : t.noise;
    q->mechanism = t.mechanism != NULL ? t.mechanism : q->mechanism;
    if (t.eps.count == 0) {
        t.eps = searched ? (cli_reals){USUAL + 1, 1} : (cli_reals){USUAL, sizeof USUAL / sizeof *USUAL};
    }
    return plan_it(&p, t.eps, t.delta, t.space, t.page);
}
