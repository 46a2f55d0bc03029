/* SPDX-License-Identifier: Apache-2.0 */
/* coordinates.c - what a released row says about the true one.
 * Ring: shared, pure. Source: unbiased estimates from randomised response (Warner 1965). Cost: a pass. */
#include "outsourced/shared/coordinates.h"

#include "core/fail.h"
#include "core/memory.h"
#include "outsourced/shared/form.h"
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

void tacet_manifest_level_of(tacet_manifest_level *out, const tacet_space *space, size_t i, double eps) {
    *out = (tacet_manifest_level){.levels = 2};
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

bool tacet_manifest_projects(const tacet_manifest *m) {
    const tacet__form *form = tacet__form_find(m->mechanism);
    return form != NULL && form->projects;
}

tacet_status tacet_manifest_describe(tacet_manifest *m, const tacet_space *space, tacet_error *err) {
    const size_t numbers = tacet_space_numbers(space);
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
    m->dims = tacet_manifest_projects(m) ? m->dims : numbers + tacet_space_categories(space);
    return TACET_OK;
}

size_t tacet_manifest_coordinates(const tacet_manifest *m) {
    return tacet_manifest_projects(m) ? m->dims : tacet_space_dims(&m->space);
}

static size_t level_in(double released, size_t levels) {
    if (!(released > 0)) {
        return 0;
    }
    return released < (double)levels ? (size_t)released : levels - 1;
}

void tacet_manifest_row(const tacet_manifest *m, double *x, const double *released) {
    const size_t levels = tacet_manifest_projects(m) ? 0 : tacet_space_categories(&m->space);
    const size_t numbers = m->dims - levels;
    memcpy(x, released, numbers * sizeof *x);
    x += numbers;
    for (size_t i = 0; i < levels; i++) {
        tacet_manifest_level level;
        tacet_manifest_level_of(&level, &m->space, i, m->eps);
        tacet_space_vertex(x, level_in(released[numbers + i], level.levels), level.levels);
        for (size_t j = 0; j + 1 < level.levels; j++) {
            x[j] /= level.keep - level.other;
        }
        x += level.levels - 1;
    }
}

/* A coordinate of a vertex, over levels that are equally likely, has mean 0 and mean square 1/(2 k), both before and
 * after randomised response; dividing by keep - other makes the latter larger. */
static double level_sd(const tacet_manifest_level *level) {
    const double slope = level->keep - level->other;
    return sqrt(fmax(0, (1 / (slope * slope) - 1) / (2 * (double)level->levels)));
}

void tacet_manifest_spread(const tacet_manifest *m, double *sd, double *low, double *high) {
    const bool projects = tacet_manifest_projects(m);
    const size_t levels = projects ? 0 : tacet_space_categories(&m->space);
    size_t at = 0;
    for (; at < m->dims - levels; at++) {
        const tacet_manifest_column *c = projects ? NULL : &m->columns[at];
        const double half = c == NULL ? (double)INFINITY : (c->hi / 2 - c->lo / 2) / c->unit;
        if (sd != NULL) {
            sd[at] = m->sigma;
        }
        if (low != NULL && high != NULL) {
            low[at] = -half;
            high[at] = half;
        }
    }
    for (size_t i = 0; i < levels; i++) {
        tacet_manifest_level level;
        tacet_manifest_level_of(&level, &m->space, i, m->eps);
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
