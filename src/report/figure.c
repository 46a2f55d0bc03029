/* SPDX-License-Identifier: Apache-2.0 */
/* figure.c - every figure that is drawn of results, described once: marks and scales as a section of a report.
 * Ring: open. Pages, the board and Python draw what is said here and compute nothing: numbers, labels, log axes and
 * bands cannot differ between them (docs/report-format.md). Cost: O(size of the data). */
#include "report/figure.h"

#include "core/fail.h"
#include "report/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/space/space.h>

static json_t *list_of(const json_t *object, const char *field) {
    json_t *list = json_object_get(object, field);
    return json_is_array(list) ? list : NULL;
}

static double real_of(const json_t *object, const char *field) {
    const json_t *value = json_object_get(object, field);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void push(json_t *list, double v) {
    (void)json_array_append_new(list, isfinite(v) ? json_real(v) : json_null());
}

static json_t *chart(const char *title, json_t *x, json_t *y, json_t *series) {
    return json_pack("{ss ss so so so}", "kind", "chart", "title", title, "x", x, "y", y, "series", series);
}

static json_t *axis(const char *label) {
    return json_pack("{ss}", "label", label);
}

/* A value with what it errs by either way; a regret is nowhere negative, so neither is its band. */
static json_t *spread(const char *name, const char *style) {
    return json_pack("{ss ss s[] s[] s[] s[] s[]}", "name", name, "style", style, "x", "y", "lower", "upper", "words");
}

static void push_spread(json_t *series, double x, double y, double reach, const char *words) {
    push(json_object_get(series, "x"), x);
    push(json_object_get(series, "y"), y);
    push(json_object_get(series, "lower"), y - reach);
    push(json_object_get(series, "upper"), y + reach);
    (void)json_array_append_new(json_object_get(series, "words"), json_string(words));
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* A public column, from the JSON of a space or of a posterior: bounds as numbers or as texts. */
typedef struct column {
    tacet_space_column typed;
    const tacet_space_traits *kind;
    const json_t *levels;
} column;

#define ONE_MORE(kind) +1
enum { KIND_COUNT = 0 TACET_SPACE_KINDS(ONE_MORE), WORDS = 256 };

/* A cell as a number of a record: a level's index, a date's day. NaN: it is none. */
static double cell_of(const column *c, const json_t *value) {
    double out = (double)NAN;
    const char *text = json_string_value(value);
    if (json_is_number(value)) {
        return json_number_value(value);
    }
    for (size_t i = 0; text != NULL && i < json_array_size(c->levels); i++) {
        if (strcmp(text, json_string_value(json_array_get(c->levels, i))) == 0) {
            return (double)i;
        }
    }
    const bool good = text != NULL && c->kind->read != NULL && c->kind->read(&out, text, strlen(text)) == NULL;
    return good ? out : (double)NAN;
}

static bool read_column(column *c, const json_t *object) {
    const char *kind = tacet__report_words(object, "kind");
    const json_t *bounds = json_object_get(object, "bounds");
    *c = (column){.levels = list_of(object, "levels")};
    tacet_space_column_init(&c->typed);
    (void)snprintf(c->typed.name, sizeof c->typed.name, "%s", tacet__report_words(object, "name"));
    for (int k = 0; k < KIND_COUNT && c->kind == NULL; k++) {
        c->typed.kind = (tacet_space_kind)k;
        const tacet_space_traits *traits = tacet_space_traits_of(&c->typed);
        c->kind = strcmp(traits->name, kind) == 0 ? traits : NULL;
    }
    if (c->kind == NULL) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(c->levels); i++) {
        if (!json_is_string(json_array_get(c->levels, i))) {
            return false;
        }
    }
    c->typed.lo = c->kind->levels ? 0 : cell_of(c, json_array_get(bounds, 0));
    c->typed.hi = c->kind->levels ? (double)json_array_size(c->levels) - 1 : cell_of(c, json_array_get(bounds, 1));
    return isfinite(c->typed.lo) && isfinite(c->typed.hi) && c->typed.lo <= c->typed.hi;
}

static void cell_text(const column *c, char out[TACET_SPACE_NAME], double value) {
    if (c->kind->levels) {
        const char *name = json_string_value(json_array_get(c->levels, (size_t)fmax(0, nearbyint(value))));
        (void)snprintf(out, TACET_SPACE_NAME, "%s", name != NULL ? name : "?");
    } else if (c->kind->text) {
        c->kind->print(&c->typed, out, value);
    } else {
        (void)snprintf(out, TACET_SPACE_NAME, "%.4g", value);
    }
}

static json_t *column_axis(const column *c) {
    json_t *made = json_pack("{ss ss}", "label", c->typed.name, "scale",
                             c->kind->levels   ? "levels"
                             : c->kind->factor ? "log"
                             : c->kind->text   ? "date"
                                               : "linear");
    if (c->kind->levels) {
        (void)json_object_set(made, "levels", (json_t *)(size_t)c->levels); /* counted, not changed */
    } else if (c->typed.lo < c->typed.hi) {
        (void)json_object_set_new(made, "bounds", json_pack("[f f]", c->typed.lo, c->typed.hi));
    }
    if (c->kind->whole && !c->kind->text) {
        (void)json_object_set_new(made, "whole", json_true());
    }
    return made;
}

static bool nth_column(column *c, const json_t *data, const char *field) {
    const json_t *index = json_object_get(data, field);
    return json_is_integer(index) && json_integer_value(index) >= 0 &&
           read_column(c, json_array_get(list_of(data, "columns"), (size_t)json_integer_value(index)));
}

/* ---- measured values --------------------------------------------------------------------------------------------- */

static const char CHANCE[] = "reached by chance";

/* {"values", "minimize", "chance": {"likely", "likely_percent"}}. */
static json_t *progress(const json_t *data) {
    const json_t *values = list_of(data, "values");
    const bool least = json_is_true(json_object_get(data, "minimize"));
    const json_t *chance = json_object_get(data, "chance");
    const double likely = real_of(chance, "likely");
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
        push(best, so_far);
    }
    json_t *series = json_pack("[{ss ss so} {ss ss sO}]", "name", "best so far", "style", "step", "y", best, "name",
                               "measured", "style", "points", "y", values);
    if (isfinite(likely)) {
        (void)json_array_append_new(series, json_pack("{ss ss s[f]}", "name", CHANCE, "style", "level", "y", likely));
    }
    json_t *made = chart("Measured values", json_pack("{ss sb}", "label", "question", "whole", 1),
                         axis(least ? "measured value (less is better)" : "measured value"), series);
    if (isfinite(likely) && isfinite(real_of(chance, "likely_percent"))) {
        (void)json_object_set_new(
            made, "note",
            json_sprintf("Reached by chance: the best of as many random rows is as good as this with probability %.0f "
                         "%%, whatever the law of the values. How far it goes beyond, the rows asked at random do "
                         "not tell.",
                         real_of(chance, "likely_percent")));
    }
    return made;
}

/* ---- what a model says ------------------------------------------------------------------------------------------- */

typedef struct point {
    double x, by, mean, sd;
} point;

static int by_place(const void *a, const void *b) {
    const double left = ((const point *)a)->x, right = ((const point *)b)->x;
    return (left > right) - (left < right);
}

/* In the order of x; *count is set. NULL: a point is not as it should be. From malloc. */
static point *read_points(const json_t *data, size_t *count, size_t x, size_t by) {
    const json_t *list = list_of(data, "points");
    point *out = calloc(json_array_size(list) + 1, sizeof *out);
    *count = 0;
    for (size_t i = 0; out != NULL && i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const json_t *at = list_of(one, "at");
        const point p = {json_number_value(json_array_get(at, x)), json_number_value(json_array_get(at, by)),
                         real_of(one, "mean"), real_of(one, "sd")};
        if (!json_is_number(json_array_get(at, x)) || !json_is_number(json_array_get(at, by))) {
            free(out);
            return NULL;
        }
        if (isfinite(p.mean)) {
            out[(*count)++] = p;
        }
    }
    if (out != NULL) {
        qsort(out, *count, sizeof *out, by_place);
    }
    return out;
}

static void value_words(char *out, const column *x, const column *by, const point *p) {
    char a[TACET_SPACE_NAME], b[TACET_SPACE_NAME] = "", error[40] = "";
    cell_text(x, a, p->x);
    if (by != NULL) {
        cell_text(by, b, p->by);
    }
    if (p->sd > 0) {
        (void)snprintf(error, sizeof error, " \xc2\xb1 %.2g", p->sd);
    }
    (void)snprintf(out, WORDS, "%s %s%s%s%s%s: %.4g%s", x->typed.name, a, by != NULL ? ", " : "",
                   by != NULL ? by->typed.name : "", by != NULL ? " " : "", b, p->mean, error);
}

/* One line, or one for each level of a second column. Levels are no line; nor are points that differ in more columns.
 */
static json_t *slices(const column *x, const column *by, const point *points, size_t count, bool apart) {
    const size_t lines = by != NULL ? json_array_size(by->levels) : 1;
    const bool levels = x->kind->levels;
    json_t *all = json_array();
    for (size_t k = 0; k < lines && k < TACET__REPORT_SERIES; k++) {
        json_t *one = spread(by != NULL ? json_string_value(json_array_get(by->levels, k)) : "mean",
                             levels || apart ? "points" : "line");
        const double aside = levels && by != NULL ? ((double)k - (double)(lines - 1) / 2) * 0.6 / (double)lines : 0;
        for (size_t i = 0; i < count; i++) {
            char words[WORDS];
            if (by == NULL || (size_t)fmax(0, points[i].by) == k) {
                value_words(words, x, by, &points[i]);
                push_spread(one, points[i].x + aside, points[i].mean, isfinite(points[i].sd) ? points[i].sd : 0, words);
            }
        }
        (void)json_array_append_new(all, one);
    }
    return all;
}

/* Two columns of numbers: a cell for each pair, and a mark where it cannot be told from the best by one error. */
static json_t *map(const column *x, const column *y, const point *points, size_t count, bool minimize) {
    json_t *cells = json_pack("{ss ss s[] s[] s[] s[]}", "name", "", "style", "cells", "x", "y", "z", "words");
    json_t *near = json_pack("{ss ss s[] s[]}", "name", "within its error of the best", "style", "points", "x", "y");
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, points[i].mean);
        most = fmax(most, points[i].mean);
    }
    for (size_t i = 0; i < count; i++) {
        const point *p = &points[i];
        char words[WORDS];
        value_words(words, x, y, p);
        push(json_object_get(cells, "x"), p->x);
        push(json_object_get(cells, "y"), p->by);
        push(json_object_get(cells, "z"), p->mean);
        (void)json_array_append_new(json_object_get(cells, "words"), json_string(words));
        if (isfinite(p->sd) && (minimize ? p->mean - p->sd <= least : p->mean + p->sd >= most)) {
            push(json_object_get(near, "x"), p->x);
            push(json_object_get(near, "y"), p->by);
        }
    }
    (void)json_object_set_new(cells, "name", json_sprintf("mean, from %.4g (faint) to %.4g (full)", least, most));
    json_t *all = json_pack("[o]", cells);
    if (json_array_size(json_object_get(near, "x")) > 0) {
        (void)json_array_append(all, near);
    }
    json_decref(near);
    return all;
}

/* {"columns": […], "x": 0, "by": 1, "points": [{"at": […], "mean", "sd"}], "minimize", "y": "mean reward"}. */
static json_t *posterior(const json_t *data) {
    column x, by;
    size_t count = 0;
    const bool two = json_is_integer(json_object_get(data, "by"));
    if (!nth_column(&x, data, "x") || (two && !nth_column(&by, data, "by"))) {
        return NULL;
    }
    const size_t at = (size_t)json_integer_value(json_object_get(data, "x"));
    const size_t across = two ? (size_t)json_integer_value(json_object_get(data, "by")) : at;
    point *points = read_points(data, &count, at, across);
    const bool apart =
        strcmp(tacet__report_words(data, "kind"), "points") == 0 && json_array_size(list_of(data, "columns")) > 1;
    const char *label = tacet__report_words(data, "y");
    json_t *made = NULL;
    char title[WORDS];
    (void)snprintf(title, sizeof title, "Mean over %s%s%s", x.typed.name, two ? " and " : "", two ? by.typed.name : "");
    if (points != NULL && two && !by.kind->levels) {
        made = chart(title, column_axis(&x), column_axis(&by),
                     map(&x, &by, points, count, json_is_true(json_object_get(data, "minimize"))));
    } else if (points != NULL) {
        made = chart(title, column_axis(&x), axis(label[0] != '\0' ? label : "mean reward"),
                     slices(&x, two ? &by : NULL, points, count, apart));
    }
    free(points);
    return made;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* {"columns", "x": 0, "rounds": [{"number", "point": {name: cell}}]}: what was tried, round by round, in one column. */
static json_t *tried(const json_t *data) {
    column c;
    const json_t *rounds = list_of(data, "rounds");
    if (!nth_column(&c, data, "x") || rounds == NULL) {
        return NULL;
    }
    json_t *one = json_pack("{ss ss s[] s[] s[]}", "name", "tried", "style", "points", "x", "y", "words");
    for (size_t i = 0; i < json_array_size(rounds); i++) {
        const json_t *round = json_array_get(rounds, i);
        const double v = cell_of(&c, json_object_get(json_object_get(round, "point"), c.typed.name));
        char text[TACET_SPACE_NAME];
        if (isfinite(v)) {
            cell_text(&c, text, v);
            push(json_object_get(one, "x"), real_of(round, "number"));
            push(json_object_get(one, "y"), v);
            (void)json_array_append_new(
                json_object_get(one, "words"),
                json_sprintf("round %.0f: %s %s", real_of(round, "number"), c.typed.name, text));
        }
    }
    return chart("What was tried", json_pack("{ss sb}", "label", "round", "whole", 1), column_axis(&c),
                 json_pack("[o]", one));
}

/* Where a value lies between the ends of its column, on the column's own scale. */
static double place(const column *c, double v) {
    const bool stretched = c->kind->stretch != NULL;
    const double lo = stretched ? c->kind->stretch(c->typed.lo) : c->typed.lo;
    const double hi = stretched ? c->kind->stretch(c->typed.hi) : c->typed.hi;
    return hi > lo ? ((stretched ? c->kind->stretch(v) : v) - lo) / (hi - lo) : 0.5;
}

/* {"space": {"columns"}, "winners": [{"setting": {name: cell}}]}, as tune prints it: where the winners lie. */
static json_t *winners(const json_t *data) {
    const json_t *columns = list_of(json_object_get(data, "space"), "columns");
    const json_t *list = list_of(data, "winners");
    json_t *all = json_array();
    bool good = json_array_size(list) > 0 && json_array_size(columns) > 0;
    for (size_t j = 0; good && j < json_array_size(columns) && j < TACET__REPORT_SERIES; j++) {
        column c;
        good = read_column(&c, json_array_get(columns, j));
        json_t *one = json_pack("{ss s[] s[] s[]}", "name", c.typed.name, "x", "y", "words");
        for (size_t i = 0; good && i < json_array_size(list); i++) {
            const json_t *setting = json_object_get(json_array_get(list, i), "setting");
            const double v = cell_of(&c, json_object_get(setting, c.typed.name));
            char text[TACET_SPACE_NAME];
            good = isfinite(v);
            cell_text(&c, text, good ? v : 0);
            push(json_object_get(one, "x"), (double)(i + 1));
            push(json_object_get(one, "y"), place(&c, v));
            (void)json_array_append_new(json_object_get(one, "words"),
                                        json_sprintf("round %zu: %s %s", i + 1, c.typed.name, text));
        }
        (void)json_array_append_new(all, one);
    }
    if (!good) {
        json_decref(all);
        return NULL;
    }
    return chart("The winner of each round", json_pack("{ss sb}", "label", "round", "whole", 1),
                 json_pack("{ss s[f f]}", "label", "place in its column, from the low end to the high end", "bounds",
                           -0.05, 1.05),
                 all);
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
        const double day = real_of(json_array_get(list, i), "time") / DAY_SECONDS;
        lo = fmin(lo, day);
        hi = fmax(hi, day);
    }
    return json_pack("{ss ss s[f f]}", "label", "time (UTC)", "scale", "date", "bounds", lo <= hi ? lo - margin : 0.0,
                     lo <= hi ? hi + margin : 1.0);
}

/* What 'tacet ledger show --json' prints: charges added up over time, against the budget. */
static json_t *budget(const json_t *data) {
    const json_t *list = list_of(data, "list");
    const char *unit = tacet__report_words(data, "unit");
    const char *accounting = tacet__report_words(data, "accounting");
    const double cap = real_of(data, "cap");
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
        const double day = real_of(entry, "time") / DAY_SECONDS, cost = real_of(entry, unit);
        const bool uncovered = strcmp(tacet__report_words(entry, "claim"), "uncovered") == 0 || !isfinite(cost);
        if (!uncovered) {
            if (json_array_size(json_object_get(spent, "x")) == 0) {
                push(json_object_get(spent, "x"), day);
                push(json_object_get(spent, "y"), 0);
                (void)json_array_append_new(json_object_get(spent, "words"), json_string(""));
            }
            total += added(groups, entry, squares ? cost * cost : cost);
        }
        json_t *to = uncovered ? open : spent;
        push(json_object_get(to, "x"), day);
        push(json_object_get(to, "y"), uncovered ? 0 : squares ? sqrt(total) : total);
        if (!uncovered) {
            (void)json_array_append_new(json_object_get(to, "words"),
                                        json_sprintf("%.60s: %s %.4g", tacet__report_words(entry, "what"), unit, cost));
        }
    }
    json_decref(groups);
    json_t *x = time_axis(list);
    if (json_array_size(json_object_get(spent, "x")) > 0) { /* and stays so until the axis ends */
        push(json_object_get(spent, "x"), json_number_value(json_array_get(json_object_get(x, "bounds"), 1)));
        push(json_object_get(spent, "y"), squares ? sqrt(total) : total);
        (void)json_array_append_new(json_object_get(spent, "words"), json_string(""));
    }
    json_t *series = json_pack("[o {so ss s[f]}]", spent, "name",
                               json_sprintf("budget: eps %g", real_of(data, "budget_eps")), "style", "level", "y", cap);
    if (json_array_size(json_object_get(open, "x")) > 0) {
        (void)json_array_append(series, open);
    }
    json_decref(open);
    json_t *y = json_pack("{so s[f f]}", "label", json_sprintf("%s, %s accounting", unit, accounting), "bounds", 0.0,
                          1.15 * cap);
    return chart("The budget over time", x, y, series);
}

/* ---- what eps buys ----------------------------------------------------------------------------------------------- */

static const double STANDARD_ERRORS = 2; /* a band either way */

static void push_mean(json_t *series, double eps, const json_t *summary) {
    const double mean = real_of(summary, "mean"), reach = STANDARD_ERRORS * real_of(summary, "se");
    char words[WORDS];
    (void)snprintf(words, sizeof words, "eps %g: %.4g \xc2\xb1 %.2g", eps, mean, reach);
    push_spread(series, eps, mean, reach, words);
}

/* {"points": [{"eps", "mean", "se"}], "random": {"mean", "se"}, "nonprivate": {"mean", "se"}}, as plan prints it. */
static json_t *utility(const json_t *data) {
    static const char *const LEVELS[][2] = {{"random", "random"}, {"without privacy", "nonprivate"}};
    const json_t *points = list_of(data, "points");
    if (json_array_size(points) == 0) {
        return NULL;
    }
    json_t *series = json_pack("[o]", spread("private", "line"));
    for (size_t i = 0; i < json_array_size(points); i++) {
        push_mean(json_array_get(series, 0), real_of(json_array_get(points, i), "eps"), json_array_get(points, i));
    }
    for (size_t k = 0; k < 2; k++) {
        const json_t *one = json_object_get(data, LEVELS[k][1]);
        const double mean = real_of(one, "mean"), reach = STANDARD_ERRORS * real_of(one, "se");
        if (isfinite(mean)) {
            (void)json_array_append_new(series,
                                        json_pack("{ss ss s[f] s[f] s[f]}", "name", LEVELS[k][0], "style", "level", "y",
                                                  mean, "lower", isfinite(reach) ? mean - reach : mean, "upper",
                                                  isfinite(reach) ? mean + reach : mean));
        }
    }
    json_t *x = json_pack("{ss ss sO}", "label", "eps", "scale", "log", "ticks",
                          json_object_get(json_array_get(series, 0), "x"));
    json_t *made = chart("What privacy costs", x, axis("regret"), series);
    (void)json_object_set_new(made, "note", json_string("Bands are two standard errors either way."));
    return made;
}

/* {"records", "evaluations", "range": [lo, hi]}: how far below the best of so many settings a chosen one is at the
 * most, on average (permute-and-flip: 2 length / (records eps) ln evaluations). */
static json_t *choice(const json_t *data) {
    enum { STEPS = 41 };
    const double records = real_of(data, "records"), evaluations = real_of(data, "evaluations");
    const json_t *range = list_of(data, "range");
    const double length = json_number_value(json_array_get(range, 1)) - json_number_value(json_array_get(range, 0));
    if (!(records >= 1 && evaluations >= 1 && length > 0)) {
        return NULL;
    }
    json_t *one = json_pack("{ss s[] s[]}", "name", "at the most", "x", "y");
    for (int i = 0; i < STEPS; i++) {
        const double eps = pow(10, -1 + 2.0 * i / (STEPS - 1)); /* 0.1 to 10 */
        push(json_object_get(one, "x"), eps);
        push(json_object_get(one, "y"), fmin(2 * length / (records * eps) * log(evaluations), length));
    }
    return chart(
        "What eps buys", json_pack("{ss ss}", "label", "eps", "scale", "log"),
        json_pack("{so ss}", "label", json_sprintf("below the best of %.0f settings", evaluations), "scale", "log"),
        json_pack("[o]", one));
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

json_t *tacet__figure(const char *kind, const json_t *data) {
    static const struct {
        const char *name;
        json_t *(*make)(const json_t *data);
    } FIGURES[] = {{"progress", progress}, {"posterior", posterior}, {"tried", tried},  {"winners", winners},
                   {"budget", budget},     {"utility", utility},     {"choice", choice}};
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
    status = status != TACET_OK ? status : tacet__report_chart(&c, figure, err);
    if (status == TACET_OK) {
        tacet__chart_svg(&text, &c, width, 0, form);
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
