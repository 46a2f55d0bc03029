/* SPDX-License-Identifier: Apache-2.0 */
/* figure_map.c - where the rows of a release lie, in the columns' own units, with the noise drawn as what it is.
 * Ring: open: what was released, and its manifest. Cost: O(rows drawn). */
#include "report/figure_internal.h"

#include "core/json_text.h"
#include "outsourced/shared/release_text.h"
#include "outsourced/shared/typed.h"
#include "report/internal.h"
#include "space/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAPS_MOST = 3, BARS_MOST = 60 };

/* One column of the release as an axis. */
typedef struct side {
    tacet__release_cell cell;
    tacet__figure_column column;
    json_t *levels;
} side;

static void open_side(side *s, const tacet__release_cell *cell) {
    *s = (side){.cell = *cell};
    tacet_space_column_init(&s->column.typed);
    if (cell->column != NULL) {
        s->column.typed = *cell->column;
    }
    (void)snprintf(s->column.typed.name, sizeof s->column.typed.name, "%s", cell->name);
    s->column.kind = tacet_space_traits_of(&s->column.typed);
    if (s->column.kind->levels) {
        s->levels = json_array();
        for (size_t i = 0; i < s->column.typed.level_count; i++) {
            (void)json_array_append_new(s->levels, json_string(s->column.typed.levels[i]));
        }
        s->column.levels = s->levels;
    }
}

/* Released rows lie beyond the bounds where the noise brings them there. */
static json_t *side_axis(const side *s) {
    json_t *axis = tacet__figure_axis(&s->column);
    (void)json_object_del(axis, "bounds");
    (void)json_object_del(axis, "whole");
    return axis;
}

/* In own units, `off` standard deviations of the noise away; rows of a level lie beside each other. */
static double value_at(const side *s, const tacet_manifest *m, const json_t *row, size_t numbers, double off) {
    const size_t at = s->cell.number ? s->cell.at : numbers + s->cell.at;
    const double z = json_number_value(json_array_get(row, 1 + at));
    if (!s->cell.number) {
        return z + 0.05 * ((double)(json_integer_value(json_array_get(row, 0)) % 13) - 6);
    }
    const double x = s->cell.middle + s->cell.unit * (z + off * m->sigma);
    return s->cell.column != NULL ? tacet__space_shrink(s->cell.column, x) : x;
}

static json_t *open_series(const char *name, bool bars) {
    json_t *one = tacet__figure_spread(name, "points");
    (void)json_object_set_new(one, "left", json_array());
    (void)json_object_set_new(one, "right", json_array());
    for (size_t i = 0; !bars && i < 4; i++) {
        static const char *const BARS[] = {"lower", "upper", "left", "right"};
        (void)json_object_del(one, BARS[i]);
    }
    return one;
}

/* What a map is drawn of. `y` NULL: measured values lie on the other axis. */
typedef struct plan {
    const tacet_manifest *m;
    const side *x, *y;
    size_t numbers;
    const json_t *data;
} plan;

/* Appends a row; `value` NaN: it was not measured. */
static void add_row(json_t *series, const plan *p, const json_t *row, double value) {
    const double x = value_at(p->x, p->m, row, p->numbers, 0);
    const double y = p->y != NULL ? value_at(p->y, p->m, row, p->numbers, 0) : value;
    const double off = p->y != NULL && p->y->cell.number ? 1 : 0;
    char a[TACET_SPACE_NAME], b[TACET_SPACE_NAME] = "", words[TACET__FIGURE_WORDS];
    tacet__figure_cell(&p->x->column, a, x);
    if (p->y != NULL) {
        tacet__figure_cell(&p->y->column, b, y);
    }
    const int used = snprintf(
        words, sizeof words, "row %lld: %s %s%s%s%s%s", (long long)json_integer_value(json_array_get(row, 0)),
        p->x->cell.name, a, p->y != NULL ? ", " : "", p->y != NULL ? p->y->cell.name : "", p->y != NULL ? " " : "", b);
    if (isfinite(value) && used < (int)sizeof words) {
        (void)snprintf(words + used, sizeof words - (size_t)used, ", measured %.4g", value);
    }
    tacet__figure_push_spread(series, x, y, p->y != NULL ? value_at(p->y, p->m, row, p->numbers, -off) : y,
                              p->y != NULL ? value_at(p->y, p->m, row, p->numbers, off) : y, words);
    const double aside = p->x->cell.number ? 1 : 0;
    if (json_object_get(series, "left") != NULL) {
        tacet__figure_push(json_object_get(series, "left"), value_at(p->x, p->m, row, p->numbers, -aside));
        tacet__figure_push(json_object_get(series, "right"), value_at(p->x, p->m, row, p->numbers, aside));
    }
}

static double measured_value(const json_t *data, json_int_t row) {
    const json_t *rows = tacet__figure_list(data, "rows"), *values = tacet__figure_list(data, "values");
    for (size_t i = json_array_size(rows); i-- > 0;) {
        if (json_integer_value(json_array_get(rows, i)) == row) {
            return json_number_value(json_array_get(values, i));
        }
    }
    return (double)NAN;
}

static json_t *map_of(const plan *p) {
    const json_t *released = tacet__figure_list(p->data, "released");
    const json_int_t best = json_integer_value(json_object_get(p->data, "best_row"));
    json_t *series[] = {open_series("best measured", true),
                        open_series("measured", json_array_size(tacet__figure_list(p->data, "rows")) <= BARS_MOST),
                        open_series("released, not measured", false)};
    char title[TACET__FIGURE_WORDS];
    (void)snprintf(title, sizeof title, "Released rows: %s and %s", p->x->cell.name,
                   p->y != NULL ? p->y->cell.name : "what was measured");
    for (size_t i = 0; i < json_array_size(released); i++) {
        const json_t *row = json_array_get(released, i);
        const json_int_t number = json_integer_value(json_array_get(row, 0));
        const double value = measured_value(p->data, number);
        if (isfinite(value) || p->y != NULL) {
            add_row(series[!isfinite(value) ? 2 : number == best ? 0 : 1], p, row, value);
        }
    }
    json_t *all = json_array();
    for (size_t i = 0; i < 3; i++) {
        if (json_array_size(json_object_get(series[i], "x")) > 0) {
            (void)json_array_append(all, series[i]);
        }
        json_decref(series[i]);
    }
    json_t *made = tacet__figure_chart(
        title, side_axis(p->x), p->y != NULL ? side_axis(p->y) : json_pack("{ss}", "label", "measured value"), all);
    return made;
}

static void explain_noise(json_t *map, const tacet_manifest *m, const json_t *released) {
    char *noise = tacet_manifest_noise(m);
    (void)json_object_set_new(
        map, "note",
        json_sprintf("Rows lie where they were released, not where they are. The noise has a standard deviation of %s. "
                     "Bars reach that far either way; a true record lies beyond its bar about one time in three.%s",
                     noise != NULL ? noise : "?",
                     json_array_size(released) < m->rows ? " Not all rows are drawn." : ""));
    free(noise);
}

/* Every column in one map, two at a time; of an odd number the last beside the first. */
static void add_maps(json_t *out, plan *p, side *sides, size_t count) {
    for (size_t i = 0; i < count && i < 2 * (size_t)MAPS_MOST; i += 2) {
        p->x = &sides[i + 1 < count || i == 0 ? i : 0];
        p->y = count == 1 ? NULL : &sides[i + 1 < count ? i + 1 : i];
        (void)json_array_append_new(out, map_of(p));
    }
}

json_t *tacet__figure_maps(const json_t *data) {
    tacet_manifest m;
    json_t *out = json_array();
    tacet_manifest_init(&m);
    char *text = tacet__json_text(json_object_get(data, "manifest"), 0);
    const bool good = text != NULL && tacet__figure_list(data, "released") != NULL &&
                      tacet_manifest_decode(&m, text, strlen(text), NULL) == TACET_OK;
    tacet__release_cell *cells = good ? calloc(m.dims, sizeof *cells) : NULL;
    side *sides = good ? calloc(m.dims, sizeof *sides) : NULL;
    if (cells != NULL && sides != NULL) {
        plan p = {.m = &m, .data = data};
        size_t count = 0;
        tacet__release_cells(cells, &m);
        for (size_t i = 0; i < m.dims; i++) {
            p.numbers += cells[i].number;
            if (cells[i].number || tacet_space_traits_of(cells[i].column)->levels) { /* flags are no column */
                open_side(&sides[count++], &cells[i]);
            }
        }
        add_maps(out, &p, sides, count);
        explain_noise(json_array_get(out, 0), &m, tacet__figure_list(data, "released"));
        for (size_t i = 0; i < count; i++) {
            json_decref(sides[i].levels);
        }
    }
    free(cells);
    free(sides);
    free(text);
    tacet_manifest_clear(&m);
    return out;
}
