/* SPDX-License-Identifier: Apache-2.0 */
/* curate_shape.c - records on their way to the gate, and back as text: cells to numbers, numbers to scaled numbers and
 * levels, released values to lines.
 * Ring: trusted. In: cells of a CSV, or numbers in memory. Out: scaled numbers and indices of levels; lines. The metric
 * and why it covers a whole record: src/space/README.md; the proof of the release: src/outsourced/README.md. Cost: a
 * pass. */
#include "outsourced/trusted/curate_shape.h"

#include "core/decimal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "io/csv/block.h"
#include "io/csv/internal.h"
#include "outsourced/shared/form.h"
#include "space/internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tacet__curate_bare(const tacet_space *space) {
    bool bare = true;
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_traits *kind = tacet_space_traits_of(&space->columns[i]);
        bare = bare && !kind->levels && !kind->whole && !kind->text && space->columns[i].missing == TACET_SPACE_REFUSED;
    }
    return bare;
}

static tacet__curate_column take_column(const tacet_space_column *c) {
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    const double lo = tacet__space_stretch(c, c->lo), hi = tacet__space_stretch(c, c->hi);
    return (tacet__curate_column){.lo = c->lo,
                                  .hi = c->hi,
                                  .stand_in = c->stand_in,
                                  .stretch = kind->stretch,
                                  .middle = lo / 2 + hi / 2,
                                  .unit = tacet__space_stretch(c, c->unit),
                                  .level = kind->levels,
                                  .flagged = !kind->levels && c->missing == TACET_SPACE_FLAG};
}

tacet_status tacet__curate_shape_make(tacet__curate_shape *out, const tacet_curate_settings *s, tacet_error *err) {
    const tacet_space *space = s->space;
    const tacet__form *form = tacet__form_at((size_t)s->mechanism);
    if (form == NULL) {
        return tacet__fail(err, TACET_INVALID, "no such mechanism");
    }
    if (space == NULL || space->count == 0 ||
        tacet_space_numbers(space) + tacet_space_categories(space) > TACET_MANIFEST_COLUMNS) {
        return tacet__fail(err, TACET_INVALID, "a release has 1 to %d columns, missing flags counted",
                           TACET_MANIFEST_COLUMNS);
    }
    *out = (tacet__curate_shape){.space = space, .d = space->count, .bare = tacet__curate_bare(space)};
    if (form->projects && !out->bare) {
        return tacet__fail(err, TACET_INVALID,
                           "%s takes columns of plain numbers: whole numbers, dates, categories and missing cells are "
                           "released by gaussian or laplace noise",
                           form->name);
    }
    for (size_t i = 0; i < space->count; i++) {
        out->columns[i] = take_column(&space->columns[i]);
    }
    out->numbers = form->projects ? s->dims : tacet_space_numbers(space);
    out->dims = out->numbers + tacet_space_categories(space);
    return TACET_OK;
}

void tacet__curate_shape_clear(tacet__curate_shape *shape) {
    free(shape->cells);
    shape->cells = NULL;
}

/* --- cells to numbers --------------------------------------------------------------------------------------------- */

tacet_status tacet__curate_cells(const tacet__curate_shape *shape, const tacet_csv *block, const size_t *columns,
                                 double *record, tacet_error *err) {
    if (shape->bare) {
        return tacet_csv_numbers(block, record, columns, shape->d, err);
    }
    for (size_t i = 0; i < shape->d; i++) {
        size_t length = 0;
        tacet_error why = {0};
        const char *text = tacet_csv_field(block, columns[i], &length);
        const tacet_status status = tacet_space_cell(&shape->space->columns[i], &record[i], NULL, text, length, &why);
        if (status != TACET_OK) {
            return tacet__fail(err, status, "%s: line %llu: %s", tacet_csv_input(block),
                               (unsigned long long)tacet_csv_line(block), why.message);
        }
    }
    return TACET_OK;
}

tacet_status tacet__curate_text_rows(const tacet__curate_shape *shape, tacet_csv *block, const size_t *columns,
                                     double *records, size_t *got, size_t most, tacet_error *err) {
    bool found = false;
    tacet_status status = TACET_OK;
    *got = 0;
    while ((status = tacet_csv_next(block, &found, err)) == TACET_OK && found) {
        if (most > 0 && *got == most) {
            return tacet__fail(err, TACET_STATE, "%s: the table changed while it was read", tacet_csv_input(block));
        }
        status = tacet__curate_cells(shape, block, columns, records + (most > 0 ? *got * shape->d : 0), err);
        if (status != TACET_OK) {
            return status;
        }
        ++*got;
    }
    return status;
}

/* NULL, or what is wrong with it. */
static const char *settle_cell(const tacet_space_column *c, double *cell) {
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    if (isnan(*cell)) {
        *cell = c->missing == TACET_SPACE_STAND_IN ? c->stand_in : *cell;
        return c->missing == TACET_SPACE_REFUSED ? "is missing" : NULL;
    }
    if (kind->levels) {
        return *cell >= 0 && *cell < (double)c->level_count && *cell == floor(*cell) ? NULL : "is none of the levels";
    }
    return !isfinite(*cell) ? "is not a finite number" : kind->whole && *cell != floor(*cell) ? "is not whole" : NULL;
}

static bool all_finite(const double *values, size_t count) {
    size_t others = 0;
    for (size_t i = 0; i < count; i++) { /* without a way out, so that it is done several at a time */
        others += fabs(values[i]) <= DBL_MAX ? 0 : 1;
    }
    return others == 0;
}

tacet_status tacet__curate_settle(const tacet__curate_shape *shape, double *records, size_t first, size_t count,
                                  tacet_error *err) {
    if (shape->bare && all_finite(records, count * shape->d)) {
        return TACET_OK;
    }
    for (size_t j = 0; j < count; j++) {
        for (size_t i = 0; i < shape->d; i++) {
            const char *wrong = settle_cell(&shape->space->columns[i], &records[j * shape->d + i]);
            if (wrong != NULL) {
                return tacet__fail(err, TACET_PARSE, "row %zu (counted from 0): column '%s' %s", first + j,
                                   shape->space->columns[i].name, wrong);
            }
        }
    }
    return TACET_OK;
}

/* --- numbers to what is released ---------------------------------------------------------------------------------- */

void tacet__curate_split(const tacet__curate_shape *shape, double *out, const double *records, size_t count) {
    double *numbers = out, *levels = out + count * tacet_space_numbers(shape->space);
    for (size_t j = 0; j < count; j++, records += shape->d) {
        for (size_t i = 0; i < shape->d; i++) {
            const tacet__curate_column *c = &shape->columns[i];
            const bool missing = isnan(records[i]);
            if (c->level) {
                *levels++ = records[i];
                continue;
            }
            const double own = missing ? c->stand_in : records[i];
            const double up = own < c->lo ? c->lo : own;
            const double x = up > c->hi ? c->hi : up;
            *numbers++ = ((c->stretch != NULL ? c->stretch(x) : x) - c->middle) / c->unit;
            if (c->flagged) {
                *levels++ = missing ? 1 : 0;
            }
        }
    }
}

/* --- and to lines ------------------------------------------------------------------------------------------------- */

/* The row's number as text, and the next one's from it: most end in another digit only. */
typedef struct counter {
    char digits[TACET__FIXED_BYTES + TACET__FIXED_SLACK];
    size_t length;
} counter;

static void count_on(counter *c, size_t next) {
    size_t i = c->length;
    for (; i > 0 && c->digits[i - 1] == '9'; i--) {
        c->digits[i - 1] = '0';
    }
    if (i > 0) {
        c->digits[i - 1]++;
    } else {
        c->length = tacet__decimal_fixed(c->digits, (int64_t)next, 0);
    }
}

size_t tacet__curate_lines(const tacet__curate_shape *shape, char *text, size_t first, const double *values,
                           size_t rows) {
    char *at = text;
    const double *levels = values + rows * shape->numbers;
    counter row = {.length = 0};
    count_on(&row, first);
    for (size_t j = 0; j < rows; j++, values += shape->numbers) {
        memcpy(at, row.digits, sizeof row.digits); /* all of it, so that it is no call */
        at += row.length;
        count_on(&row, first + j + 1);
        at += tacet__release_cells_text(at, shape->cells, shape->dims, values, levels);
        levels += shape->dims - shape->numbers;
        *at++ = '\n';
    }
    return (size_t)(at - text);
}
