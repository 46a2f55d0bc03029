/* SPDX-License-Identifier: Apache-2.0 */
/* figure_map.c - where the rows of a release lie, in the columns' own units, with the noise drawn as what it is; of
 * several holders together, each row with the noise of its own release.
 * Ring: open: what was released, and its manifest. Cost: O(rows drawn). */
#include "report/figure_internal.h"

#include "core/json_text.h"
#include "outsourced/shared/release_text.h"
#include "outsourced/shared/coordinates.h"
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
    (void)snprintf(s->column.typed.name, sizeof s->column.typed.name, "%.*s", TACET_SPACE_NAME - 1, cell->name);
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

/* One holder's release. */
typedef struct part {
    tacet_manifest m;
    tacet__release_cell *cells;
    side *sides;
    size_t count, numbers;
    const json_t *released;
    json_int_t holder; /* 0: there is one */
} part;

/* In own units, `off` standard deviations of the noise away; rows of a level lie beside each other. */
static double value_at(const part *h, const side *s, const json_t *row, double off) {
    const size_t at = s->cell.number ? s->cell.at : h->numbers + s->cell.at;
    const double z = json_number_value(json_array_get(row, 1 + at));
    if (!s->cell.number) {
        return z + 0.05 * ((double)(json_integer_value(json_array_get(row, 0)) % 13) - 6);
    }
    const double x = s->cell.middle + s->cell.unit * (z + off * h->m.sigma);
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

enum { NONE = -1 };

/* What a map is drawn of: sides of every part. y NONE: measured values lie on the other axis. */
typedef struct plan {
    const part *parts;
    size_t part_count;
    int x, y;
    const json_t *data;
} plan;

/* Appends a row; `value` NaN: it was not measured. */
static void add_row(json_t *series, const plan *p, const part *h, const json_t *row, double value) {
    const side *across = &h->sides[p->x], *up = p->y != NONE ? &h->sides[p->y] : NULL;
    const double x = value_at(h, across, row, 0), y = up != NULL ? value_at(h, up, row, 0) : value;
    const double off = up != NULL && up->cell.number ? 1 : 0, aside = across->cell.number ? 1 : 0;
    char a[TACET_SPACE_NAME], b[TACET_SPACE_NAME] = "", whose[40] = "", words[TACET__FIGURE_WORDS];
    tacet__figure_cell(&across->column, a, x);
    if (up != NULL) {
        tacet__figure_cell(&up->column, b, y);
    }
    if (h->holder > 0) {
        (void)snprintf(whose, sizeof whose, " of holder %lld", (long long)h->holder);
    }
    const int used = snprintf(words, sizeof words, "row %lld%s: %s %s%s%s%s%s",
                              (long long)json_integer_value(json_array_get(row, 0)), whose, across->cell.name, a,
                              up != NULL ? ", " : "", up != NULL ? up->cell.name : "", up != NULL ? " " : "", b);
    if (isfinite(value) && used < (int)sizeof words) {
        (void)snprintf(words + used, sizeof words - (size_t)used, ", measured %.4g", value);
    }
    tacet__figure_push_spread(series, x, y, up != NULL ? value_at(h, up, row, -off) : y,
                              up != NULL ? value_at(h, up, row, off) : y, words);
    if (json_object_get(series, "left") != NULL) {
        tacet__figure_push(json_object_get(series, "left"), value_at(h, across, row, -aside));
        tacet__figure_push(json_object_get(series, "right"), value_at(h, across, row, aside));
    }
}

static double measured_value(const json_t *data, json_int_t holder, json_int_t row) {
    const json_t *rows = tacet__figure_list(data, "rows"), *values = tacet__figure_list(data, "values");
    const json_t *holders = tacet__figure_list(data, "row_holders");
    for (size_t i = json_array_size(rows); i-- > 0;) {
        if (json_integer_value(json_array_get(rows, i)) == row &&
            (holder == 0 || json_integer_value(json_array_get(holders, i)) == holder)) {
            return json_number_value(json_array_get(values, i));
        }
    }
    return (double)NAN;
}

static json_t *map_of(const plan *p) {
    const json_int_t best = json_integer_value(json_object_get(p->data, "best_row"));
    const json_int_t best_holder = json_integer_value(json_object_get(p->data, "best_holder"));
    const char *x = p->parts[0].sides[p->x].cell.name;
    json_t *series[] = {open_series("best measured", true),
                        open_series("measured", json_array_size(tacet__figure_list(p->data, "rows")) <= BARS_MOST),
                        open_series("released, not measured", false)};
    char title[TACET__FIGURE_WORDS];
    (void)snprintf(title, sizeof title, "Released rows: %s and %s", x,
                   p->y != NONE ? p->parts[0].sides[p->y].cell.name : "what was measured");
    for (const part *h = p->parts; h < p->parts + p->part_count; h++) {
        for (size_t i = 0; i < json_array_size(h->released); i++) {
            const json_t *row = json_array_get(h->released, i);
            const json_int_t number = json_integer_value(json_array_get(row, 0));
            const double value = measured_value(p->data, h->holder, number);
            if (isfinite(value) || p->y != NONE) {
                const bool first = number == best && h->holder == best_holder;
                add_row(series[!isfinite(value) ? 2 : first ? 0 : 1], p, h, row, value);
            }
        }
    }
    json_t *all = json_array();
    for (size_t i = 0; i < 3; i++) {
        if (json_array_size(json_object_get(series[i], "x")) > 0) {
            (void)json_array_append(all, series[i]);
        }
        json_decref(series[i]);
    }
    return tacet__figure_chart(
        title, side_axis(&p->parts[0].sides[p->x]),
        p->y != NONE ? side_axis(&p->parts[0].sides[p->y]) : json_pack("{ss}", "label", "measured value"), all);
}

static void explain_noise(json_t *map, const part *parts, size_t count) {
    json_t *words = json_string("Rows lie where they were released, not where they are. The noise has a standard "
                                "deviation of");
    bool whole = true;
    for (size_t h = 0; h < count; h++) {
        char *noise = tacet_manifest_noise(&parts[h].m);
        json_t *longer =
            json_sprintf(parts[h].holder > 0 ? "%s%s %s (holder %lld)" : "%s%s %s", json_string_value(words),
                         h > 0 ? ";" : "", noise != NULL ? noise : "?", (long long)parts[h].holder);
        json_decref(words);
        words = longer;
        whole = whole && json_array_size(parts[h].released) == parts[h].m.rows;
        free(noise);
    }
    (void)json_object_set_new(map, "note",
                              json_sprintf("%s. Bars reach that far either way; a true record lies beyond its bar "
                                           "about one time in three.%s",
                                           json_string_value(words), whole ? "" : " Not all rows are drawn."));
    json_decref(words);
}

/* Every column in one map, two at a time; of an odd number the last beside the first. */
static void add_maps(json_t *out, plan *p) {
    const int count = (int)p->parts[0].count;
    for (int i = 0; i < count && i < 2 * MAPS_MOST; i += 2) {
        p->x = i + 1 < count || i == 0 ? i : 0;
        p->y = count == 1 ? NONE : i + 1 < count ? i + 1 : i;
        (void)json_array_append_new(out, map_of(p));
    }
}

/* False: no release, or another's columns than `first`. */
static bool open_part(part *h, const json_t *data, json_int_t holder, const part *first) {
    char *text = tacet__json_text(json_object_get(data, "manifest"), 0);
    *h = (part){.released = tacet__figure_list(data, "released"), .holder = holder};
    tacet_manifest_init(&h->m);
    const bool good =
        text != NULL && h->released != NULL && tacet_manifest_decode(&h->m, text, strlen(text), NULL) == TACET_OK;
    free(text);
    h->cells = good ? calloc(h->m.dims, sizeof *h->cells) : NULL;
    h->sides = good ? calloc(h->m.dims, sizeof *h->sides) : NULL;
    if (h->cells == NULL || h->sides == NULL) {
        return false;
    }
    tacet__release_cells(h->cells, &h->m);
    for (size_t i = 0; i < h->m.dims; i++) {
        h->numbers += h->cells[i].number;
        if (h->cells[i].number || tacet_space_traits_of(h->cells[i].column)->levels) { /* flags are no column */
            open_side(&h->sides[h->count++], &h->cells[i]);
        }
    }
    return h->count > 0 && (first == h || h->count == first->count);
}

static void close_part(part *h) {
    for (size_t i = 0; h->sides != NULL && i < h->count; i++) {
        json_decref(h->sides[i].levels);
    }
    free(h->cells);
    free(h->sides);
    tacet_manifest_clear(&h->m);
}

json_t *tacet__figure_maps(const json_t *data) {
    const json_t *holders = tacet__figure_list(data, "holders");
    const size_t count = holders != NULL ? json_array_size(holders) : 1;
    json_t *out = json_array();
    part *parts = calloc(count + 1, sizeof *parts);
    bool good = parts != NULL && count > 0;
    size_t opened = 0;
    for (; good && opened < count; opened++) {
        good = open_part(&parts[opened], holders != NULL ? json_array_get(holders, opened) : data,
                         holders != NULL ? (json_int_t)opened + 1 : 0, parts);
    }
    if (good) {
        add_maps(out, &(plan){.parts = parts, .part_count = count, .data = data});
        explain_noise(json_array_get(out, 0), parts, count);
    }
    for (size_t h = 0; h < opened; h++) {
        close_part(&parts[h]);
    }
    free(parts);
    return out;
}
