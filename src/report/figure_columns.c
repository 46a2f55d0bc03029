/* SPDX-License-Identifier: Apache-2.0 */
/* figure_columns.c - figures over public columns, in their own units: what a model says, what was tried, what won.
 * Ring: open. Source: contour lines by marching squares (Lorensen and Cline 1987, in two dimensions), a square whose
 * middle is above the level joined through it. Cost: O(points). */
#include "report/figure_internal.h"

#include "report/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ----------------------------------------------------------------------------------------------------- */

typedef tacet__figure_column column;

#define PLACE_OF(kind) PLACE_##kind,
enum { TACET_SPACE_KINDS(PLACE_OF) KIND_COUNT };

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
    *c = (column){.levels = tacet__figure_list(object, "levels")};
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

void tacet__figure_cell(const column *c, char out[TACET_SPACE_NAME], double value) {
    if (c->kind->levels) {
        const char *name = json_string_value(json_array_get(c->levels, (size_t)fmax(0, nearbyint(value))));
        (void)snprintf(out, TACET_SPACE_NAME, "%s", name != NULL ? name : "?");
    } else if (c->kind->text) {
        c->kind->print(&c->typed, out, value);
    } else {
        (void)snprintf(out, TACET_SPACE_NAME, "%.4g", value);
    }
}

json_t *tacet__figure_axis(const column *c) {
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
           read_column(c, json_array_get(tacet__figure_list(data, "columns"), (size_t)json_integer_value(index)));
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
    const json_t *list = tacet__figure_list(data, "points");
    point *out = calloc(json_array_size(list) + 1, sizeof *out);
    *count = 0;
    for (size_t i = 0; out != NULL && i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const json_t *at = tacet__figure_list(one, "at");
        const point p = {json_number_value(json_array_get(at, x)), json_number_value(json_array_get(at, by)),
                         tacet__figure_real(one, "mean"), tacet__figure_real(one, "sd")};
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
    tacet__figure_cell(x, a, p->x);
    if (by != NULL) {
        tacet__figure_cell(by, b, p->by);
    }
    if (p->sd > 0) {
        (void)snprintf(error, sizeof error, " \xc2\xb1 %.2g", p->sd);
    }
    (void)snprintf(out, TACET__FIGURE_WORDS, "%s %s%s%s%s%s: %.4g%s", x->typed.name, a, by != NULL ? ", " : "",
                   by != NULL ? by->typed.name : "", by != NULL ? " " : "", b, p->mean, error);
}

/* One line, or one for each level of a second column. Levels are no line; nor are points that differ in more columns.
 */
static json_t *slices(const column *x, const column *by, const point *points, size_t count, bool apart) {
    const size_t lines = by != NULL ? json_array_size(by->levels) : 1;
    const bool levels = x->kind->levels;
    json_t *all = json_array();
    for (size_t k = 0; k < lines && k < TACET__REPORT_SERIES; k++) {
        json_t *one = tacet__figure_spread(by != NULL ? json_string_value(json_array_get(by->levels, k)) : "mean",
                                           levels || apart ? "points" : "line");
        const double aside = levels && by != NULL ? ((double)k - (double)(lines - 1) / 2) * 0.6 / (double)lines : 0;
        for (size_t i = 0; i < count; i++) {
            char words[TACET__FIGURE_WORDS];
            if (by == NULL || (size_t)fmax(0, points[i].by) == k) {
                value_words(words, x, by, &points[i]);
                const double reach = isfinite(points[i].sd) ? points[i].sd : 0;
                tacet__figure_push_spread(one, points[i].x + aside, points[i].mean, points[i].mean - reach,
                                          points[i].mean + reach, words);
            }
        }
        (void)json_array_append_new(all, one);
    }
    return all;
}

/* ---- contours ---- */

enum { CONTOURS = 5, GRID_MOST = 64 };

/* Points on a whole grid: value [j * nx + i] at (x[i], y[j]). */
typedef struct grid {
    const column *x_column, *y_column;
    double x[GRID_MOST], y[GRID_MOST], z[GRID_MOST * GRID_MOST];
    size_t nx, ny;
} grid;

static size_t place_in(double *values, size_t *count, double v) {
    size_t at = 0;
    while (at < *count && values[at] < v) {
        at++;
    }
    if (at == *count || values[at] != v) {
        if (*count == GRID_MOST) {
            return GRID_MOST;
        }
        memmove(values + at + 1, values + at, (*count - at) * sizeof *values);
        values[at] = v;
        (*count)++;
    }
    return at;
}

static bool read_grid(grid *g, const point *points, size_t count, bool errors) {
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        good = place_in(g->x, &g->nx, points[i].x) < GRID_MOST && place_in(g->y, &g->ny, points[i].by) < GRID_MOST;
    }
    if (!good || g->nx * g->ny != count || g->nx < 2 || g->ny < 2) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        g->z[place_in(g->y, &g->ny, points[i].by) * g->nx + place_in(g->x, &g->nx, points[i].x)] =
            errors ? points[i].sd : points[i].mean;
    }
    return true;
}

/* Between two values of a column, on its own scale. */
static double between(const column *c, double from, double to, double share) {
    return c->kind->factor ? from * pow(to / from, share) : from + share * (to - from);
}

/* Where a level crosses an edge of square (i, j): 0 below, 1 right, 2 above, 3 left. */
static void push_crossing(json_t *line, const grid *g, size_t i, size_t j, int edge, double level) {
    const size_t from_i = i + (edge == 1), from_j = j + (edge == 2);
    const size_t to_i = i + (edge != 3), to_j = j + (edge != 0);
    const double from = g->z[from_j * g->nx + from_i], to = g->z[to_j * g->nx + to_i];
    const double share = (level - from) / (to - from);
    tacet__figure_point(line, between(g->x_column, g->x[from_i], g->x[to_i], share),
                        between(g->y_column, g->y[from_j], g->y[to_j], share), NULL);
}

static void cross_square(json_t *line, const grid *g, size_t i, size_t j, double level) {
    const double *low = &g->z[j * g->nx + i], *high = &g->z[(j + 1) * g->nx + i];
    const bool corner[4] = {low[0] > level, low[1] > level, high[1] > level, high[0] > level};
    int crossed[4], count = 0;
    for (int edge = 0; edge < 4; edge++) {
        if (corner[edge] != corner[(edge + 1) % 4]) {
            crossed[count++] = edge;
        }
    }
    /* Of four crossings each corner that is not like the middle is cut off by a line of its own. */
    const bool middle = (low[0] + low[1] + high[0] + high[1]) / 4 > level;
    /* Edges are numbered round the square, so crossings 0-1 and 2-3 cut off corners 1 and 3; 1-2 and 3-0 the others. */
    const int first = count == 4 && corner[0] == middle ? 0 : count == 4 ? 1 : 0;
    for (int k = 0; k < count; k += 2) {
        push_crossing(line, g, i, j, crossed[(first + k) % count], level);
        push_crossing(line, g, i, j, crossed[(first + k + 1) % count], level);
        tacet__figure_point(line, (double)NAN, (double)NAN, NULL); /* the pen is lifted */
    }
}

/* Lines at round values of what the cells show; NULL: the points are no grid, or all alike. */
static json_t *contours(const column *x, const column *y, const point *points, size_t count, bool errors, double least,
                        double most) {
    grid *g = calloc(1, sizeof *g);
    json_t *line = NULL;
    if (g != NULL && most - least > 1e-9 * fabs(most) && read_grid(g, points, count, errors)) {
        char name[TACET__FIGURE_WORDS] = "contours";
        tacet__scale scale;
        g->x_column = x;
        g->y_column = y;
        tacet__scale_make(&scale, least, most, false, CONTOURS);
        tacet__scale_texts(&scale);
        line = json_pack("{ss ss s[] s[]}", "name", "", "style", "contour", "x", "y");
        for (size_t k = 0; k < scale.count; k++) {
            if (scale.ticks[k] > least && scale.ticks[k] < most) {
                const size_t used = strlen(name);
                (void)snprintf(name + used, sizeof name - used, "%s %s", used > 8 ? "," : " at", scale.texts[k]);
                for (size_t i = 0; i < (g->nx - 1) * (g->ny - 1); i++) {
                    cross_square(line, g, i % (g->nx - 1), i / (g->nx - 1), scale.ticks[k]);
                }
            }
        }
        (void)json_object_set_new(line, "name", json_string(name));
    }
    free(g);
    return line;
}

/* Two columns of numbers: a cell for each pair, with contours, and a mark where it cannot be told from the best by one
 * error. Of errors: what the mean errs by. */
static json_t *map(const column *x, const column *y, const point *points, size_t count, bool minimize, bool errors) {
    json_t *cells = json_pack("{ss ss s[] s[] s[] s[]}", "name", "", "style", "cells", "x", "y", "z", "words");
    json_t *near = json_pack("{ss ss s[] s[]}", "name", "within its error of the best", "style", "points", "x", "y");
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, errors ? points[i].sd : points[i].mean);
        most = fmax(most, errors ? points[i].sd : points[i].mean);
    }
    for (size_t i = 0; i < count; i++) {
        const point *p = &points[i];
        char words[TACET__FIGURE_WORDS];
        value_words(words, x, y, p);
        tacet__figure_point(cells, p->x, p->by, words);
        tacet__figure_push(json_object_get(cells, "z"), errors ? p->sd : p->mean);
        if (!errors && isfinite(p->sd) && (minimize ? p->mean - p->sd <= least : p->mean + p->sd >= most)) {
            tacet__figure_point(near, p->x, p->by, NULL);
        }
    }
    (void)json_object_set_new(
        cells, "name",
        most > least ? json_sprintf("%s, from %.4g (faint) to %.4g (full)", errors ? "error" : "mean", least, most)
                     : json_sprintf("%s %.4g everywhere", errors ? "error" : "mean", most));
    json_t *all = json_pack("[o]", cells);
    json_t *lines = contours(x, y, points, count, errors, least, most);
    if (lines != NULL) {
        (void)json_array_append_new(all, lines);
    }
    if (json_array_size(json_object_get(near, "x")) > 0) {
        (void)json_array_append(all, near);
    }
    json_decref(near);
    return all;
}

/* {"columns": […], "x": 0, "by": 1, "points": [{"at": […], "mean", "sd"}], "minimize", "y": "mean reward"}. */
static json_t *surface(const json_t *data, bool errors) {
    column x, by;
    size_t count = 0;
    const bool two = json_is_integer(json_object_get(data, "by"));
    if (!nth_column(&x, data, "x") || (two && !nth_column(&by, data, "by")) || (errors && !two)) {
        return NULL;
    }
    const size_t at = (size_t)json_integer_value(json_object_get(data, "x"));
    const size_t across = two ? (size_t)json_integer_value(json_object_get(data, "by")) : at;
    point *points = read_points(data, &count, at, across);
    const bool apart = strcmp(tacet__report_words(data, "kind"), "points") == 0 &&
                       json_array_size(tacet__figure_list(data, "columns")) > 1;
    const char *label = tacet__report_words(data, "y");
    json_t *made = NULL;
    char title[TACET__FIGURE_WORDS];
    (void)snprintf(title, sizeof title, "%s over %s%s%s", errors ? "Error" : "Mean", x.typed.name, two ? " and " : "",
                   two ? by.typed.name : "");
    if (points != NULL && two && !by.kind->levels) {
        made =
            tacet__figure_chart(title, tacet__figure_axis(&x), tacet__figure_axis(&by),
                                map(&x, &by, points, count, json_is_true(json_object_get(data, "minimize")), errors));
    } else if (points != NULL && !errors) {
        made = tacet__figure_chart(title, tacet__figure_axis(&x),
                                   json_pack("{ss}", "label", label[0] != '\0' ? label : "mean reward"),
                                   slices(&x, two ? &by : NULL, points, count, apart));
    }
    free(points);
    return made;
}

json_t *tacet__figure_posterior(const json_t *data) {
    return surface(data, false);
}

json_t *tacet__figure_uncertainty(const json_t *data) {
    return surface(data, true);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* What a column was in a round, at a height of the figure. */
static void push_round(json_t *series, const column *c, double number, double height, double value) {
    char text[TACET_SPACE_NAME], words[TACET__FIGURE_WORDS];
    tacet__figure_cell(c, text, value);
    (void)snprintf(words, sizeof words, "round %.0f: %s %s", number, c->typed.name, text);
    tacet__figure_point(series, number, height, words);
}

/* {"columns", "x": 0, "rounds": [{"number", "point": {name: cell}}]}: what was tried, round by round, in one column. */
json_t *tacet__figure_tried(const json_t *data) {
    column c;
    const json_t *rounds = tacet__figure_list(data, "rounds");
    if (!nth_column(&c, data, "x") || rounds == NULL) {
        return NULL;
    }
    json_t *one = json_pack("{ss ss s[] s[] s[]}", "name", "tried", "style", "points", "x", "y", "words");
    for (size_t i = 0; i < json_array_size(rounds); i++) {
        const json_t *round = json_array_get(rounds, i);
        const double v = cell_of(&c, json_object_get(json_object_get(round, "point"), c.typed.name));
        if (isfinite(v)) {
            push_round(one, &c, tacet__figure_real(round, "number"), v, v);
        }
    }
    return tacet__figure_chart("What was tried", json_pack("{ss sb}", "label", "event", "whole", 1),
                               tacet__figure_axis(&c), json_pack("[o]", one));
}

/* Where a value lies between the ends of its column, on the column's own scale. */
static double place(const column *c, double v) {
    const bool stretched = c->kind->stretch != NULL;
    const double lo = stretched ? c->kind->stretch(c->typed.lo) : c->typed.lo;
    const double hi = stretched ? c->kind->stretch(c->typed.hi) : c->typed.hi;
    return hi > lo ? ((stretched ? c->kind->stretch(v) : v) - lo) / (hi - lo) : 0.5;
}

/* {"space": {"columns"}, "winners": [{"setting": {name: cell}}]}, as tune prints it: where the winners lie. */
json_t *tacet__figure_winners(const json_t *data) {
    const json_t *columns = tacet__figure_list(json_object_get(data, "space"), "columns");
    const json_t *list = tacet__figure_list(data, "winners");
    json_t *all = json_array();
    bool good = json_array_size(list) > 0 && json_array_size(columns) > 0;
    for (size_t j = 0; good && j < json_array_size(columns) && j < TACET__REPORT_SERIES; j++) {
        column c;
        good = read_column(&c, json_array_get(columns, j));
        json_t *one = json_pack("{ss s[] s[] s[]}", "name", c.typed.name, "x", "y", "words");
        for (size_t i = 0; good && i < json_array_size(list); i++) {
            const json_t *setting = json_object_get(json_array_get(list, i), "setting");
            const double v = cell_of(&c, json_object_get(setting, c.typed.name));
            good = isfinite(v);
            push_round(one, &c, (double)(i + 1), place(&c, v), good ? v : 0);
        }
        (void)json_array_append_new(all, one);
    }
    if (!good) {
        json_decref(all);
        return NULL;
    }
    return tacet__figure_chart(
        "The winner of each round", json_pack("{ss sb}", "label", "round", "whole", 1),
        json_pack("{ss s[f f]}", "label", "place between low and high end", "bounds", -0.05, 1.05), all);
}
