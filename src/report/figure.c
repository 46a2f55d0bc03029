/* SPDX-License-Identifier: Apache-2.0 */
/* figure.c - every figure that is drawn of results, described once: marks and scales as a section of a report.
 * Ring: open. Pages, the board and Python draw what is said here and compute nothing: numbers, labels, log axes and
 * bands cannot differ between them (docs/report-format.md). Cost: O(size of the data). */
#include "report/figure.h"

#include "core/fail.h"
#include "report/figure_internal.h"
#include "report/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/space/space.h>

json_t *tacet__figure_list(const json_t *object, const char *field) {
    json_t *list = json_object_get(object, field);
    return json_is_array(list) ? list : NULL;
}

double tacet__figure_real(const json_t *object, const char *field) {
    const json_t *value = json_object_get(object, field);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

void tacet__figure_push(json_t *list, double v) {
    (void)json_array_append_new(list, isfinite(v) ? json_real(v) : json_null());
}

void tacet__figure_point(json_t *series, double x, double y, const char *words) {
    tacet__figure_push(json_object_get(series, "x"), x);
    tacet__figure_push(json_object_get(series, "y"), y);
    if (words != NULL) {
        (void)json_array_append_new(json_object_get(series, "words"), json_string(words));
    }
}

json_t *tacet__figure_chart(const char *title, json_t *x, json_t *y, json_t *series) {
    return json_pack("{ss ss so so so}", "kind", "chart", "title", title, "x", x, "y", y, "series", series);
}

static json_t *axis(const char *label) {
    return json_pack("{ss}", "label", label);
}

/* A value with what it errs by either way; a regret is nowhere negative, so neither is its band. */
json_t *tacet__figure_spread(const char *name, const char *style) {
    return json_pack("{ss ss s[] s[] s[] s[] s[]}", "name", name, "style", style, "x", "y", "lower", "upper", "words");
}

void tacet__figure_push_spread(json_t *series, double x, double y, double lower, double upper, const char *words) {
    tacet__figure_point(series, x, y, words);
    tacet__figure_push(json_object_get(series, "lower"), lower);
    tacet__figure_push(json_object_get(series, "upper"), upper);
}

/* ---- measured values --------------------------------------------------------------------------------------------- */

static const char CHANCE[] = "reached by chance";

/* {"values", "minimize", "chance": {"likely", "likely_percent"}}. */
static json_t *progress(const json_t *data) {
    const json_t *values = tacet__figure_list(data, "values");
    const bool least = json_is_true(json_object_get(data, "minimize"));
    const json_t *chance = json_object_get(data, "chance");
    const double likely = tacet__figure_real(chance, "likely");
    json_t *best = json_array();
    double so_far = (double)NAN;
    if (json_array_size(values) == 0) {
        json_decref(best);
        return NULL;
    }
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        const double v = json_number_value(value);
        if (json_is_number(value) && (isnan(so_far) || (least ? v < so_far : v > so_far))) {
            so_far = v;
        }
        tacet__figure_push(best, so_far);
    }
    json_t *series = json_pack("[{ss ss so} {ss ss sO}]", "name", "best so far", "style", "step", "y", best, "name",
                               "measured", "style", "points", "y", values);
    if (isfinite(likely)) {
        (void)json_array_append_new(series, json_pack("{ss ss s[f]}", "name", CHANCE, "style", "level", "y", likely));
    }
    json_t *made = tacet__figure_chart("Measured values", json_pack("{ss sb}", "label", "question", "whole", 1),
                                       axis(least ? "measured value (less is better)" : "measured value"), series);
    if (isfinite(likely) && isfinite(tacet__figure_real(chance, "likely_percent"))) {
        (void)json_object_set_new(
            made, "note",
            json_sprintf("Reached by chance: the best of as many random rows is as good as this with probability %.0f "
                         "%%, whatever the law of the values. How far it goes beyond, the rows asked at random do "
                         "not tell.",
                         tacet__figure_real(chance, "likely_percent")));
    }
    return made;
}

/* ---- budgets ----------------------------------------------------------------------------------------------------- */

static const double DAY_SECONDS = 86400;

/* What entries of one group cost together: the largest of them, for they are of different records. */
static double added(json_t *groups, const json_t *entry, double cost) {
    const json_t *group = json_object_get(entry, "group");
    char name[64];
    if (!json_is_string(group) && !json_is_integer(group)) {
        return cost;
    }
    (void)snprintf(name, sizeof name, "%.40s %lld", tacet__report_words(entry, "group"),
                   (long long)json_integer_value(group));
    const double before = json_number_value(json_object_get(groups, name));
    (void)json_object_set_new(groups, name, json_real(fmax(before, cost)));
    return fmax(0, cost - before);
}

/* From the first entry to the last, and half a minute more. */
static json_t *time_axis(const json_t *list) {
    const double margin = 30 / DAY_SECONDS;
    double lo = (double)INFINITY, hi = -(double)INFINITY;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const double day = tacet__figure_real(json_array_get(list, i), "time") / DAY_SECONDS;
        lo = fmin(lo, day);
        hi = fmax(hi, day);
    }
    return json_pack("{ss ss s[f f]}", "label", "time (UTC)", "scale", "date", "bounds", lo <= hi ? lo - margin : 0.0,
                     lo <= hi ? hi + margin : 1.0);
}

/* What 'tacet ledger show --json' prints: charges added up over time, against the budget. */
static json_t *budget(const json_t *data) {
    const json_t *list = tacet__figure_list(data, "list");
    const char *unit = tacet__report_words(data, "unit");
    const char *accounting = tacet__report_words(data, "accounting");
    const double cap = tacet__figure_real(data, "cap");
    const bool squares = strcmp(accounting, "gaussian") == 0;
    if (list == NULL || unit[0] == '\0' || !isfinite(cap)) {
        return NULL;
    }
    json_t *groups = json_object();
    json_t *spent = json_pack("{ss ss s[] s[] s[]}", "name", "spent", "style", "step", "x", "y", "words");
    json_t *open = json_pack("{ss ss s[] s[]}", "name", "disclosed without protection", "style", "points", "x", "y");
    double total = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const double day = tacet__figure_real(entry, "time") / DAY_SECONDS, cost = tacet__figure_real(entry, unit);
        const bool uncovered = strcmp(tacet__report_words(entry, "claim"), "uncovered") == 0 || !isfinite(cost);
        if (uncovered) {
            tacet__figure_point(open, day, 0, NULL);
            continue;
        }
        if (json_array_size(json_object_get(spent, "x")) == 0) {
            tacet__figure_point(spent, day, 0, "");
        }
        char words[TACET__FIGURE_WORDS];
        (void)snprintf(words, sizeof words, "%.60s: %s %.4g", tacet__report_words(entry, "what"), unit, cost);
        total += added(groups, entry, squares ? cost * cost : cost);
        tacet__figure_point(spent, day, squares ? sqrt(total) : total, words);
    }
    json_decref(groups);
    json_t *x = time_axis(list);
    if (json_array_size(json_object_get(spent, "x")) > 0) { /* and stays so until the axis ends */
        tacet__figure_point(spent, json_number_value(json_array_get(json_object_get(x, "bounds"), 1)),
                            squares ? sqrt(total) : total, "");
    }
    json_t *series =
        json_pack("[o {so ss s[f]}]", spent, "name",
                  json_sprintf("budget: eps %g", tacet__figure_real(data, "budget_eps")), "style", "level", "y", cap);
    if (json_array_size(json_object_get(open, "x")) > 0) {
        (void)json_array_append(series, open);
    }
    json_decref(open);
    json_t *y = json_pack("{so s[f f]}", "label", json_sprintf("%s, %s accounting", unit, accounting), "bounds", 0.0,
                          1.15 * cap);
    return tacet__figure_chart("The budget over time", x, y, series);
}

/* ---- what was lost ----------------------------------------------------------------------------------------------- */

static const double STANDARD_ERRORS = 2; /* a band either way */
static const char BANDS[] = "Bands are two standard errors either way.";

/* A regret is nowhere negative, so neither is its band. */
static void push_mean(json_t *series, const char *what, double x, double mean, double se) {
    const double reach = STANDARD_ERRORS * se;
    char words[TACET__FIGURE_WORDS], error[32] = "";
    if (reach > 0) {
        (void)snprintf(error, sizeof error, " \xc2\xb1 %.2g", reach);
    }
    (void)snprintf(words, sizeof words, "%s %g: %.4g%s", what, x, mean, error);
    tacet__figure_push_spread(series, x, mean, mean >= 0 ? fmax(0, mean - reach) : mean - reach, mean + reach, words);
}

static double nth(const json_t *list, size_t i) {
    const json_t *value = json_array_get(list, i);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* {"runs": [{"name", "mean": […], "se": […], "rounds"}]}: by query, or, where a run says its rounds, in even steps up
 * to them. */
static json_t *regret(const json_t *data) {
    const json_t *runs = tacet__figure_list(data, "runs");
    const bool simple = !isfinite(tacet__figure_real(json_array_get(runs, 0), "rounds"));
    const char *what = simple ? "query" : "round";
    json_t *all = json_array();
    for (size_t k = 0; k < json_array_size(runs); k++) {
        const json_t *run = json_array_get(runs, k);
        const json_t *mean = tacet__figure_list(run, "mean"), *se = tacet__figure_list(run, "se");
        const size_t count = json_array_size(mean);
        const double step = simple ? 1 : tacet__figure_real(run, "rounds") / (double)count;
        json_t *one = tacet__figure_spread(tacet__report_words(run, "name"), "line");
        for (size_t i = 0; i < count; i++) {
            push_mean(one, what, step * (double)(i + 1), nth(mean, i), nth(se, i));
        }
        (void)json_array_append_new(all, one);
    }
    if (json_array_size(all) == 0) {
        json_decref(all);
        return NULL;
    }
    json_t *made = tacet__figure_chart(simple ? "Simple regret" : "Cumulative regret", axis(what),
                                       axis(simple ? "mean simple regret" : "mean cumulative regret"), all);
    (void)json_object_set_new(made, "note", json_string(BANDS));
    return made;
}

/* A line over eps, or one level where there are no points. */
static json_t *loss(const char *name, const json_t *one, const json_t *points) {
    json_t *series = tacet__figure_spread(name, points != NULL ? "line" : "level");
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        push_mean(series, "eps", tacet__figure_real(point, "eps"), tacet__figure_real(point, "mean"),
                  tacet__figure_real(point, "se"));
    }
    if (points == NULL) {
        const double se = tacet__figure_real(one, "se");
        push_mean(series, "eps", 1, tacet__figure_real(one, "mean"), isfinite(se) ? se : 0);
        (void)json_object_del(series, "x");
        (void)json_object_del(series, "words");
    }
    return series;
}

/* {"points": [{"eps", "mean", "se"}], "random": {"mean", "se"}, "nonprivate": {"mean", "se"}}, as plan prints it; or
 * {"runs": [{"name", "points"} or {"name", "mean", "se"}]}. NULL: all have the same eps. */
static json_t *utility(const json_t *data) {
    static const char *const LEVELS[][2] = {{"random", "random"}, {"without privacy", "nonprivate"}};
    const json_t *points = tacet__figure_list(data, "points"), *runs = tacet__figure_list(data, "runs");
    json_t *series = json_array();
    bool shown = points != NULL;
    if (points != NULL) {
        (void)json_array_append_new(series, loss("private", NULL, points));
    }
    for (size_t k = 0; points != NULL && k < 2; k++) {
        const json_t *one = json_object_get(data, LEVELS[k][1]);
        if (isfinite(tacet__figure_real(one, "mean"))) {
            (void)json_array_append_new(series, loss(LEVELS[k][0], one, NULL));
        }
    }
    for (size_t k = 0; k < json_array_size(runs); k++) {
        const json_t *run = json_array_get(runs, k), *own = tacet__figure_list(run, "points");
        const size_t count = json_array_size(own);
        shown = shown || (count > 1 && !json_equal(json_object_get(json_array_get(own, 0), "eps"),
                                                   json_object_get(json_array_get(own, count - 1), "eps")));
        (void)json_array_append_new(series, loss(tacet__report_words(run, "name"), run, own));
    }
    if (!shown || json_array_size(series) == 0) {
        json_decref(series);
        return NULL;
    }
    json_t *x = json_pack("{ss ss}", "label", "eps", "scale", "log");
    if (points != NULL) {
        (void)json_object_set(x, "ticks", json_object_get(json_array_get(series, 0), "x"));
    }
    json_t *made =
        tacet__figure_chart("What privacy costs", x, axis(points != NULL ? "regret" : "mean regret or error"), series);
    (void)json_object_set_new(made, "note", json_string(BANDS));
    return made;
}

/* {"records", "evaluations", "range": [lo, hi]}: how far below the best of so many settings a chosen one is at the
 * most, on average (permute-and-flip: 2 length / (records eps) ln evaluations). */
static json_t *choice(const json_t *data) {
    enum { STEPS = 41 };
    const double records = tacet__figure_real(data, "records"), evaluations = tacet__figure_real(data, "evaluations");
    const json_t *range = tacet__figure_list(data, "range");
    const double length = json_number_value(json_array_get(range, 1)) - json_number_value(json_array_get(range, 0));
    if (!(records >= 1 && evaluations >= 1 && length > 0)) {
        return NULL;
    }
    json_t *one = json_pack("{ss s[] s[]}", "name", "at the most", "x", "y");
    for (int i = 0; i < STEPS; i++) {
        const double eps = pow(10, -1 + 2.0 * i / (STEPS - 1)); /* 0.1 to 10 */
        tacet__figure_point(one, eps, fmin(2 * length / (records * eps) * log(evaluations), length), NULL);
    }
    return tacet__figure_chart(
        "What eps buys", json_pack("{ss ss}", "label", "eps", "scale", "log"),
        json_pack("{so ss}", "label", json_sprintf("below the best of %.0f settings", evaluations), "scale", "log"),
        json_pack("[o]", one));
}

/* ---- an A/B test ------------------------------------------------------------------------------------------------- */

static json_t *named(const char *title, const char *x, json_t *names, const char *y, json_t *series) {
    return tacet__figure_chart(title, json_pack("{ss ss so}", "label", x, "scale", "levels", "levels", names), axis(y),
                               series);
}

/* One more place: "a over b: 0.4, from 0.25 to 0.5". */
static void push_limits(json_t *series, const char *name, const json_t *of, const char *field) {
    const double lower = tacet__figure_real(of, "lower"), upper = tacet__figure_real(of, "upper");
    char words[TACET__FIGURE_WORDS];
    (void)snprintf(words, sizeof words, "%.130s: %.4g, from %.4g to %.4g", name, tacet__figure_real(of, field), lower,
                   upper);
    tacet__figure_push_spread(series, (double)json_array_size(json_object_get(series, "y")),
                              tacet__figure_real(of, field), lower, upper, words);
}

static void say_limits(json_t *figure, const json_t *test, const char *more) {
    (void)json_object_set_new(
        figure, "note",
        json_sprintf("All limits hold together, however often one looks, with probability %.0f %%.%s",
                     100 * tacet__figure_real(test, "confidence"), more));
}

/* {"test": {"arms", "pairs", "confidence"}}, as the status of an A/B study has it: the arm ahead against each other. */
static json_t *comparison(const json_t *data) {
    const json_t *test = json_object_get(data, "test");
    const json_t *pairs = tacet__figure_list(test, "pairs");
    const char *ahead = NULL;
    for (size_t i = 0; i < json_array_size(pairs); i++) { /* who is behind nobody */
        const char *arm = tacet__report_words(json_array_get(pairs, i), "arm");
        bool beaten = false;
        for (size_t k = 0; k < json_array_size(pairs); k++) {
            beaten = beaten || strcmp(tacet__report_words(json_array_get(pairs, k), "over"), arm) == 0;
        }
        ahead = beaten ? ahead : arm;
    }
    if (ahead == NULL) {
        return NULL;
    }
    json_t *one = tacet__figure_spread("difference, with its limits", "points"), *others = json_array();
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        const json_t *pair = json_array_get(pairs, i);
        if (strcmp(tacet__report_words(pair, "arm"), ahead) == 0) {
            char name[TACET__FIGURE_WORDS / 2];
            (void)snprintf(name, sizeof name, "%.60s over %.60s", ahead, tacet__report_words(pair, "over"));
            push_limits(one, name, pair, "difference");
            (void)json_array_append(others, json_object_get(pair, "over"));
        }
    }
    char label[TACET__FIGURE_WORDS];
    (void)snprintf(label, sizeof label, "%.80s earns more by", ahead);
    json_t *made = named("What the arm ahead earns more", "than", others, label,
                         json_pack("[o {ss ss s[f]}]", one, "name", "no difference", "style", "level", "y", 0.0));
    say_limits(made, test, " An arm is better where its whole bar is above 0.");
    return made;
}

/* The same status: what each arm earns. */
static json_t *arms(const json_t *data) {
    const json_t *test = json_object_get(data, "test"), *list = tacet__figure_list(test, "arms");
    json_t *one = tacet__figure_spread("mean, with its limits", "points"), *names = json_array();
    bool known = json_array_size(list) > 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *arm = json_array_get(list, i);
        push_limits(one, tacet__report_words(arm, "arm"), arm, "mean");
        (void)json_array_append_new(names, json_string(tacet__report_words(arm, "arm")));
        known = known && isfinite(tacet__figure_real(arm, "mean"));
    }
    json_t *made = named("What each arm earns", "arm", names, "mean reward of a ticket", json_pack("[o]", one));
    say_limits(made, test, "");
    if (!known) { /* nothing has been released */
        json_decref(made);
        return NULL;
    }
    return made;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

json_t *tacet__figure(const char *kind, const json_t *data) {
    static const struct {
        const char *name;
        json_t *(*make)(const json_t *data);
    } FIGURES[] = {{"progress", progress},
                   {"posterior", tacet__figure_posterior},
                   {"uncertainty", tacet__figure_uncertainty},
                   {"tried", tacet__figure_tried},
                   {"winners", tacet__figure_winners},
                   {"arms", arms},
                   {"comparison", comparison},
                   {"variants", tacet__figure_variants},
                   {"budget", budget},
                   {"regret", regret},
                   {"utility", utility},
                   {"choice", choice}};
    for (size_t i = 0; i < sizeof FIGURES / sizeof *FIGURES; i++) {
        if (strcmp(FIGURES[i].name, kind) == 0) {
            return FIGURES[i].make(data);
        }
    }
    return NULL;
}

tacet_status tacet_figure(char **out, const char *kind, const char *data, tacet_error *err) {
    json_t *read = kind != NULL && data != NULL ? json_loads(data, JSON_REJECT_DUPLICATES, NULL) : NULL;
    json_t *made = read != NULL ? tacet__figure(kind, read) : NULL;
    tacet_status status = made != NULL ? tacet__report_check(made, 1, err)
                                       : tacet__fail(err, TACET_INVALID, "there is nothing to draw, or no such figure");
    *out = status == TACET_OK ? json_dumps(made, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (status == TACET_OK && *out == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory describing a figure");
    }
    json_decref(made);
    json_decref(read);
    return status;
}

tacet_status tacet__figure_svg(char **out, size_t *length, const json_t *figure, int width, tacet__chart_form form,
                               tacet_error *err) {
    tacet__chart c = {0};
    tacet__text text = {0};
    tacet_status status = tacet__report_check(figure, 1, err);
    TACET_THEN(status, tacet__report_chart(&c, figure, err));
    if (status == TACET_OK) {
        tacet__chart_svg(&text, &c, width, form);
        status = text.failed ? tacet__fail(err, TACET_NO_MEMORY, "out of memory drawing a chart") : TACET_OK;
    }
    tacet__report_chart_clear(&c);
    *out = status == TACET_OK ? text.at : NULL;
    *length = text.length;
    if (status != TACET_OK) {
        free(text.at);
    }
    return status;
}
