/* SPDX-License-Identifier: Apache-2.0 */
/* typed.c - releases of typed columns: what is released of a record, and what a released row says about the true one.
 * Ring: shared, pure. Source: unbiased estimates from randomised response (Warner 1965). Cost: a pass. */
#include "outsourced/shared/typed.h"

#include "core/fail.h"
#include "core/memory.h"
#include "space/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>

static bool is_numeric(const tacet_space_column *c) {
    return !tacet_space_traits_of(c)->levels;
}

static bool has_flag(const tacet_space_column *c) {
    return is_numeric(c) && c->missing == TACET_SPACE_FLAG;
}

size_t tacet_typed_numbers(const tacet_space *space) {
    size_t count = 0;
    for (size_t i = 0; i < space->count; i++) {
        count += is_numeric(&space->columns[i]) ? 1 : 0;
    }
    return count;
}

size_t tacet_typed_levels(const tacet_space *space) {
    return tacet_space_categories(space);
}

void tacet_typed_level_of(tacet_typed_level *out, const tacet_space *space, size_t i, double eps) {
    *out = (tacet_typed_level){.levels = 2};
    for (size_t c = 0; c < space->count; c++) {
        const tacet_space_column *column = &space->columns[c];
        if (is_numeric(column) && !has_flag(column)) {
            continue;
        }
        if (i-- == 0) {
            out->column = c;
            out->flag = is_numeric(column);
            out->levels = out->flag ? 2 : column->level_count;
            break;
        }
    }
    out->keep = tacet_levels_keep(out->levels, eps);
    out->other = tacet_levels_other(out->levels, eps);
}

void tacet_typed_split(const tacet_space *space, double *numbers, double *levels, const double *record) {
    for (size_t c = 0; c < space->count; c++) {
        const tacet_space_column *column = &space->columns[c];
        if (is_numeric(column)) {
            const tacet_space one = {(tacet_space_column *)(size_t)column, 1};
            double x[2];
            tacet_space_embed(&one, x, &record[c]);
            *numbers++ = x[0];
            if (has_flag(column)) {
                *levels++ = isnan(record[c]) ? 1 : 0;
            }
        } else {
            *levels++ = record[c];
        }
    }
}

tacet_status tacet_typed_describe(tacet_manifest *m, const tacet_space *space, tacet_error *err) {
    const size_t numbers = tacet_typed_numbers(space);
    for (size_t i = 0; i < space->count; i++) {
        if (space->columns[i].unit == 0) {
            return tacet__fail(err, TACET_INVALID, "column '%s' needs a unit: what counts as distance 1",
                               space->columns[i].name);
        }
    }
    tacet_space_clear(&m->space);
    tacet_status status = tacet_space_copy(&m->space, space, err);
    tacet_manifest_column *columns = TACET__ZALLOC(tacet_manifest_column, numbers);
    if (status != TACET_OK || columns == NULL) {
        free(columns);
        tacet_space_clear(&m->space);
        return status != TACET_OK ? status
                                  : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", numbers);
    }
    for (size_t i = 0, at = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        if (is_numeric(c)) {
            memcpy(columns[at].name, c->name, sizeof columns[at].name);
            columns[at].lo = tacet__space_stretch(c, c->lo);
            columns[at].hi = tacet__space_stretch(c, c->hi);
            columns[at].unit = tacet__space_stretch(c, c->unit);
            at++;
        }
    }
    free(m->columns);
    m->columns = columns;
    m->column_count = numbers;
    m->dims = numbers + tacet_typed_levels(space);
    return TACET_OK;
}

size_t tacet_typed_coordinates(const tacet_manifest *m) {
    return m->space.count > 0 ? tacet_space_dims(&m->space) : m->dims;
}

static size_t level_in(double released, size_t levels) {
    if (!(released > 0)) {
        return 0;
    }
    return released < (double)levels ? (size_t)released : levels - 1;
}

void tacet_typed_row(const tacet_manifest *m, double *x, const double *released) {
    const size_t numbers = m->space.count > 0 ? m->column_count : m->dims;
    memcpy(x, released, numbers * sizeof *x);
    x += numbers;
    for (size_t i = 0; i < tacet_typed_levels(&m->space); i++) {
        tacet_typed_level level;
        tacet_typed_level_of(&level, &m->space, i, m->eps);
        tacet_space_vertex(x, level_in(released[numbers + i], level.levels), level.levels);
        for (size_t j = 0; j + 1 < level.levels; j++) {
            x[j] /= level.keep - level.other;
        }
        x += level.levels - 1;
    }
}

/* A coordinate of a vertex, over levels that are equally likely, has mean 0 and mean square 1/(2 k), both before and
 * after randomised response; dividing by keep - other makes the latter larger. */
static double level_sd(const tacet_typed_level *level) {
    const double slope = level->keep - level->other;
    return sqrt(fmax(0, (1 / (slope * slope) - 1) / (2 * (double)level->levels)));
}

void tacet_typed_law(const tacet_manifest *m, double *sd, double *low, double *high) {
    const bool typed = m->space.count > 0;
    const size_t numbers = typed ? m->column_count : m->dims;
    const bool boxed = numbers == m->column_count; /* a projection's coordinates are no columns */
    size_t at = 0;
    for (; at < numbers; at++) {
        const tacet_manifest_column *c = boxed ? &m->columns[at] : NULL;
        const double half = c != NULL ? (c->hi / 2 - c->lo / 2) / c->unit : (double)INFINITY;
        if (sd != NULL) {
            sd[at] = m->sigma;
        }
        if (low != NULL && high != NULL) {
            low[at] = -half;
            high[at] = half;
        }
    }
    for (size_t i = 0; typed && i < tacet_typed_levels(&m->space); i++) {
        tacet_typed_level level;
        tacet_typed_level_of(&level, &m->space, i, m->eps);
        for (size_t j = 1; j < level.levels; j++, at++) {
            const double norm = sqrt(2 * (double)j * (double)(j + 1));
            if (sd != NULL) {
                sd[at] = level_sd(&level);
            }
            if (low != NULL && high != NULL) {
                low[at] = -(double)j / norm;
                high[at] = 1 / norm;
            }
        }
    }
}
