/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - the sections of a report: are they what docs/report-format.md says? And charts as numbers.
 * Ring: open. Cost: O(size of the section). */
#include "report/internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond it differences could overflow. */
static const double LARGEST = 1e290;

const char *tacet__report_words(const json_t *object, const char *field) {
    const char *words = json_string_value(json_object_get(object, field));
    return words != NULL ? words : "";
}

/* The first rule that is broken is the one that is told. */
typedef struct checking {
    size_t number;
    tacet_status status;
    tacet_error *err;
} checking;

static void complain(checking *c, const char *field, const char *rule) {
    if (c->status == TACET_OK) {
        c->status = tacet__fail(c->err, TACET_PARSE, "section %zu: '%s' %s", c->number, field, rule);
    }
}

static void want_words(checking *c, const json_t *object, const char *field, bool required) {
    const json_t *value = json_object_get(object, field);
    if (value == NULL ? required : !json_is_string(value)) {
        complain(c, field, "is missing or no text");
    }
}

static const json_t *want_list(checking *c, const json_t *object, const char *field, size_t most) {
    const json_t *value = json_object_get(object, field);
    if (!json_is_array(value) || json_array_size(value) > most) {
        complain(c, field, "is missing, no list or too long");
        return NULL;
    }
    return value;
}

static void want_one_of(checking *c, const json_t *object, const char *field, const char *const *names) {
    const json_t *value = json_object_get(object, field);
    const char *words = json_string_value(value);
    for (; words != NULL && *names != NULL; names++) {
        if (strcmp(words, *names) == 0) {
            return;
        }
    }
    if (value != NULL) {
        complain(c, field, "has a value this version does not know");
    }
}

static bool scalar(const json_t *value) {
    return !json_is_array(value) && !json_is_object(value);
}

static void check_numbers(checking *c, const json_t *series, const char *field, size_t count, bool required) {
    const json_t *list = json_object_get(series, field);
    if (list == NULL && !required) {
        return;
    }
    if (!json_is_array(list) || json_array_size(list) != count || count > TACET__REPORT_POINTS) {
        complain(c, field, "is missing, no list, too long or not as long as 'y'");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_number(value) && !json_is_null(value)) {
            complain(c, field, "holds something that is neither a number nor null");
        }
    }
}

static void check_texts(checking *c, const json_t *object, const char *field, size_t count, bool required) {
    const json_t *list = json_object_get(object, field);
    if (list == NULL && !required) {
        return;
    }
    if (json_array_size(list) != count || count == 0 || count > TACET__REPORT_POINTS) {
        complain(c, field, "is missing, no list, too long or not as long as 'y'");
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!json_is_string(json_array_get(list, i))) {
            complain(c, field, "holds something that is no text");
        }
    }
}

static void check_axis(checking *c, const json_t *section, const char *field) {
    static const char *const SCALES[] = {"linear", "log", "date", "levels", NULL};
    const json_t *axis = json_object_get(section, field);
    if (!json_is_object(axis)) {
        complain(c, field, "is missing or no object");
        return;
    }
    want_words(c, axis, "label", true);
    want_words(c, axis, "unit", false);
    want_one_of(c, axis, "scale", SCALES);
    const json_t *bounds = json_object_get(axis, "bounds");
    if (bounds != NULL &&
        !(json_array_size(bounds) == 2 && json_is_number(json_array_get(bounds, 0)) &&
          json_number_value(json_array_get(bounds, 0)) < json_number_value(json_array_get(bounds, 1)) &&
          (strcmp(tacet__report_words(axis, "scale"), "log") != 0 ||
           json_number_value(json_array_get(bounds, 0)) > 0))) {
        complain(c, field, "has bounds that are not two numbers, the smaller first, above 0 on a log scale");
    }
    if (strcmp(tacet__report_words(axis, "scale"), "levels") == 0) {
        check_texts(c, axis, "levels", json_array_size(json_object_get(axis, "levels")), true);
    }
}

static void check_chart(checking *c, const json_t *section) {
    static const char *const STYLES[] = {"line", "step", "points", "level", "contour", "cells", NULL};
    check_axis(c, section, "x");
    check_axis(c, section, "y");
    const json_t *list = want_list(c, section, "series", TACET__REPORT_SERIES);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *series = json_array_get(list, i);
        const size_t count = json_array_size(json_object_get(series, "y"));
        want_words(c, series, "name", true);
        want_one_of(c, series, "style", STYLES);
        const bool cells = strcmp(tacet__report_words(series, "style"), "cells") == 0;
        check_numbers(c, series, "y", count, true);
        check_numbers(c, series, "x", count, cells);
        check_numbers(c, series, "z", count, cells);
        check_texts(c, series, "words", count, false);
        for (size_t k = 0; k < 2; k++) {
            static const char *const PAIRS[][2] = {{"lower", "upper"}, {"left", "right"}};
            check_numbers(c, series, PAIRS[k][0], count, false);
            check_numbers(c, series, PAIRS[k][1], count, false);
            if ((json_object_get(series, PAIRS[k][0]) == NULL) != (json_object_get(series, PAIRS[k][1]) == NULL)) {
                complain(c, PAIRS[k][0], "has its other end missing");
            }
        }
        if (cells && count > TACET__REPORT_ROWS) {
            complain(c, "z", "is too long: at most 5000 cells");
        }
        if (count != 1 && strcmp(tacet__report_words(series, "style"), "level") == 0) {
            complain(c, "y", "of a level is one number");
        }
    }
}

static void check_table(checking *c, const json_t *section) {
    const json_t *columns = want_list(c, section, "columns", TACET__REPORT_COLUMNS);
    const json_t *rows = want_list(c, section, "rows", TACET__REPORT_ROWS);
    for (size_t i = 0; i < json_array_size(columns); i++) {
        if (!json_is_string(json_array_get(columns, i))) {
            complain(c, "columns", "holds something that is no text");
        }
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!json_is_array(row) || json_array_size(row) != json_array_size(columns)) {
            complain(c, "rows", "has a row that is not as long as 'columns'");
        }
        for (size_t j = 0; j < json_array_size(row); j++) {
            if (!scalar(json_array_get(row, j))) {
                complain(c, "rows", "holds something that is neither text nor number");
            }
        }
    }
}

static void check_items(checking *c, const json_t *section, bool bars) {
    static const char *const TONES[] = {"good", "bad", "note", NULL};
    const json_t *list = want_list(c, section, "items", TACET__REPORT_ROWS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const json_t *value = json_object_get(item, "value");
        const json_t *of = json_object_get(item, "of");
        want_words(c, item, "label", true);
        want_words(c, item, "note", false);
        want_one_of(c, item, "tone", TONES);
        if (bars ? !json_is_number(value) : value == NULL || !scalar(value)) {
            complain(c, "value", "is missing or of the wrong kind");
        }
        if (bars && !(json_is_number(of) && json_number_value(of) > 0)) {
            complain(c, "of", "is missing or not above 0");
        }
    }
}

static void check_parties(checking *c, const json_t *section) {
    const json_t *list = want_list(c, section, "parties", TACET__REPORT_COLUMNS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        static const char *const LISTS[] = {"saw", "did_not_see"};
        const json_t *party = json_array_get(list, i);
        want_words(c, party, "name", true);
        for (size_t k = 0; k < 2; k++) {
            const json_t *lines = json_object_get(party, LISTS[k]);
            if (lines != NULL && !json_is_array(lines)) {
                complain(c, LISTS[k], "is no list");
            }
            for (size_t j = 0; j < json_array_size(lines); j++) {
                if (!json_is_string(json_array_get(lines, j))) {
                    complain(c, LISTS[k], "holds something that is no text");
                }
            }
        }
    }
}

static void check_ledger(checking *c, const json_t *section) {
    const json_t *ledger = json_object_get(section, "ledger");
    if (!json_is_object(ledger) || !json_is_number(json_object_get(ledger, "budget_eps"))) {
        complain(c, "ledger", "is not what 'tacet ledger show --json' prints");
        return;
    }
    const json_t *list = want_list(c, ledger, "list", TACET__REPORT_POINTS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!json_is_object(json_array_get(list, i))) {
            complain(c, "list", "holds something that is no object");
        }
    }
}

tacet_status tacet__report_check(const json_t *section, size_t number, tacet_error *err) {
    static const char *const TONES[] = {"good", "bad", "note", NULL};
    checking c = {.number = number, .status = TACET_OK, .err = err};
    const char *kind = tacet__report_words(section, "kind");
    want_words(&c, section, "title", false);
    want_words(&c, section, "note", false);
    want_one_of(&c, section, "tone", TONES);
    if (strcmp(kind, "text") == 0) {
        want_words(&c, section, "text", true);
    } else if (strcmp(kind, "table") == 0) {
        check_table(&c, section);
    } else if (strcmp(kind, "chart") == 0) {
        check_chart(&c, section);
    } else if (strcmp(kind, "facts") == 0 || strcmp(kind, "bars") == 0) {
        check_items(&c, section, kind[0] == 'b');
    } else if (strcmp(kind, "parties") == 0) {
        check_parties(&c, section);
    } else if (strcmp(kind, "ledger") == 0) {
        check_ledger(&c, section);
    } else {
        complain(&c, "kind", "is none of text, facts, table, chart, bars, ledger, parties");
    }
    return c.status;
}

/* --- charts as numbers ----------------------------------------------------------------------------------------------
 */

/* NaN where there is no number. Without a list: 1, 2, 3, … */
static double *numbers(const json_t *list, size_t count) {
    double *out = TACET__ZALLOC(double, count);
    for (size_t i = 0; out != NULL && i < count; i++) {
        const json_t *value = json_array_get(list, i);
        const double v = json_number_value(value);
        out[i] = list == NULL ? (double)(i + 1) : json_is_number(value) && fabs(v) <= LARGEST ? v : NAN;
    }
    return out;
}

/* The strings stay the list's. */
static const char **texts(const json_t *list) {
    const size_t count = json_array_size(list);
    const char **out = TACET__ZALLOC(const char *, count);
    for (size_t i = 0; out != NULL && i < count; i++) {
        out[i] = json_string_value(json_array_get(list, i));
    }
    return out;
}

static bool read_series(tacet__series *s, const json_t *series) {
    static const char *const STYLES[] = {[TACET__SERIES_STEP] = "step",
                                         [TACET__SERIES_POINTS] = "points",
                                         [TACET__SERIES_LEVEL] = "level",
                                         [TACET__SERIES_CONTOUR] = "contour",
                                         [TACET__SERIES_CELLS] = "cells"};
    static const char *const FIELDS[] = {"z", "lower", "upper", "left", "right"};
    double **const ARRAYS[] = {&s->z, &s->lower, &s->upper, &s->left, &s->right};
    const char *style = tacet__report_words(series, "style");
    s->name = tacet__report_words(series, "name");
    s->count = json_array_size(json_object_get(series, "y"));
    s->style = TACET__SERIES_LINE;
    for (size_t i = TACET__SERIES_STEP; i < sizeof STYLES / sizeof *STYLES; i++) {
        s->style = strcmp(style, STYLES[i]) == 0 ? (tacet__series_style)i : s->style;
    }
    s->x = numbers(json_object_get(series, "x"), s->count);
    s->y = numbers(json_object_get(series, "y"), s->count);
    bool good = s->x != NULL && s->y != NULL;
    for (size_t i = 0; i < 5; i++) {
        const json_t *list = json_object_get(series, FIELDS[i]);
        *ARRAYS[i] = list != NULL ? numbers(list, s->count) : NULL;
        good = good && (list == NULL || *ARRAYS[i] != NULL);
    }
    const json_t *words = json_object_get(series, "words");
    s->words = words != NULL ? texts(words) : NULL;
    return good && (words == NULL || s->words != NULL);
}

static bool read_axis(tacet__axis *axis, const json_t *object) {
    const char *scale = tacet__report_words(object, "scale");
    const json_t *bounds = json_object_get(object, "bounds");
    axis->label = tacet__report_words(object, "label");
    axis->unit = tacet__report_words(object, "unit");
    axis->kind = strcmp(scale, "log") == 0      ? TACET__AXIS_LOG
                 : strcmp(scale, "date") == 0   ? TACET__AXIS_DATE
                 : strcmp(scale, "levels") == 0 ? TACET__AXIS_LEVELS
                                                : TACET__AXIS_LINEAR;
    axis->whole = json_is_true(json_object_get(object, "whole"));
    axis->bounded = bounds != NULL;
    axis->lo = json_number_value(json_array_get(bounds, 0));
    axis->hi = json_number_value(json_array_get(bounds, 1));
    if (axis->kind == TACET__AXIS_LEVELS) {
        axis->levels = texts(json_object_get(object, "levels"));
        axis->level_count = json_array_size(json_object_get(object, "levels"));
    }
    return axis->kind != TACET__AXIS_LEVELS || axis->levels != NULL;
}

tacet_status tacet__report_chart(tacet__chart *chart, const json_t *section, tacet_error *err) {
    const json_t *list = json_object_get(section, "series");
    *chart = (tacet__chart){.title = tacet__report_words(section, "title"), .count = json_array_size(list)};
    chart->series = TACET__ZALLOC(tacet__series, chart->count);
    bool ok = read_axis(&chart->x, json_object_get(section, "x"));
    ok = read_axis(&chart->y, json_object_get(section, "y")) && ok && chart->series != NULL;
    for (size_t i = 0; ok && i < chart->count; i++) {
        ok = read_series(&chart->series[i], json_array_get(list, i));
    }
    if (!ok) {
        tacet__report_chart_clear(chart);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory drawing a chart");
    }
    return TACET_OK;
}

void tacet__report_chart_clear(tacet__chart *chart) {
    for (size_t i = 0; chart->series != NULL && i < chart->count; i++) {
        tacet__series *s = &chart->series[i];
        double *const arrays[] = {s->x, s->y, s->z, s->lower, s->upper, s->left, s->right};
        for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
            free(arrays[k]);
        }
        free(s->words);
    }
    free(chart->series);
    free(chart->x.levels);
    free(chart->y.levels);
    *chart = (tacet__chart){0};
}
