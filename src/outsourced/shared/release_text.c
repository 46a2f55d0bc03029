/* SPDX-License-Identifier: Apache-2.0 */
/* release_text.c - released rows as a table people can read, and back: columns by their names, numbers in their own
 * units, levels as levels, days as days.
 * Ring: shared. What is printed is a function of what was released and of public settings: post-processing. Numbers are
 * rounded, after the noise, to the fewest decimals whose step is a thousandth of the noise's scale or less, which
 * nobody can tell from none. Coordinates of a projection have no name of their own: z1, z2, …. Cost: a pass over the
 * text. */
#include "outsourced/shared/release_text.h"

#include "core/decimal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "space/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csv.h>
#include "outsourced/shared/coordinates.h"

static const double PARTS = 1000;                            /* steps in the noise's scale */
static const double FIRST_DAY = -719162, LAST_DAY = 2932896; /* years 1 and 9999, which have four digits */
static const char *const FLAG_WORDS[] = {"no", "yes"};

/* Of a scale in own units; -1: no such number of decimals. */
static int decimals_for(double scale) {
    double step = 1;
    int decimals = 0;
    while (decimals <= TACET__FIXED_DECIMALS && step * PARTS > scale) {
        step /= 10;
        decimals++;
    }
    return decimals <= TACET__FIXED_DECIMALS ? decimals : -1;
}

static bool is_factor(const tacet__release_cell *c) {
    return c->column != NULL && tacet_space_traits_of(c->column)->factor;
}

static void number_cell(tacet__release_cell *out, const tacet_manifest *m, const tacet_space_column *column,
                        size_t at) {
    const tacet_manifest_column *c = &m->columns[at];
    const double scale = m->scale > 0 ? m->scale : m->sigma;
    *out = (tacet__release_cell){.column = column, .number = true, .at = at, .unit = c->unit, .decimals = -1};
    (void)snprintf(out->name, sizeof out->name, "%s", c->name);
    out->middle = c->lo / 2 + c->hi / 2;
    if (scale > 0 && is_factor(out)) { /* a step of the last of n digits is at most 10^(1 - n) of the number */
        out->decimals = 1 + (int)ceil(fmax(0, log10(PARTS / (scale * c->unit))));
    } else if (scale > 0) {
        out->decimals = decimals_for(scale * c->unit);
    }
}

void tacet__release_cells(tacet__release_cell *out, const tacet_manifest *m) {
    size_t numbers = 0;
    size_t levels = 0;
    if (tacet_manifest_projects(m)) {
        const double scale = m->scale > 0 ? m->scale : m->sigma;
        for (size_t i = 0; i < m->dims; i++) {
            out[i] = (tacet__release_cell){.number = true, .at = i, .unit = 1, .decimals = -1};
            (void)snprintf(out[i].name, sizeof out[i].name, "z%zu", i + 1);
            out[i].decimals = scale > 0 ? decimals_for(scale) : -1;
        }
        return;
    }
    for (size_t i = 0; i < m->space.count; i++) {
        const tacet_space_column *c = &m->space.columns[i];
        const bool level = tacet_space_traits_of(c)->levels;
        if (!level) {
            number_cell(out++, m, c, numbers++);
        }
        if (level || c->missing == TACET_SPACE_FLAG) {
            *out = (tacet__release_cell){.column = c, .at = levels++};
            (void)snprintf(out->name, sizeof out->name, level ? "%s" : "%s missing", c->name);
            out++;
        }
    }
}

/* Quoted where a comma, a quote or a blank at an end would be misread. */
static size_t put_name(char *out, const char *name) {
    const size_t length = strlen(name);
    size_t at = 0;
    if (strpbrk(name, ",\"") == NULL && name[0] != ' ' && (length == 0 || name[length - 1] != ' ')) {
        memcpy(out, name, length);
        return length;
    }
    out[at++] = '"';
    for (size_t i = 0; i < length; i++) {
        out[at++] = name[i];
        if (name[i] == '"') {
            out[at++] = '"';
        }
    }
    out[at++] = '"';
    return at;
}

size_t tacet__release_header(char *out, const tacet__release_cell *cells, size_t count) {
    size_t at = put_name(out, "row");
    for (size_t i = 0; i < count; i++) {
        out[at++] = ',';
        at += put_name(out + at, cells[i].name);
    }
    out[at++] = '\n';
    return at;
}

static size_t put_number(char *out, const tacet__release_cell *c, double z) {
    double x = c->middle + c->unit * z;
    int decimals = c->decimals;
    if (c->column != NULL && tacet_space_traits_of(c->column)->text) {
        char day[TACET_SPACE_NAME];
        tacet_space_text(c->column, day, fmin(fmax(nearbyint(x), FIRST_DAY), LAST_DAY));
        out[0] = ',';
        memcpy(out + 1, day, strlen(day));
        return 1 + strlen(day);
    }
    if (is_factor(c)) {
        x = tacet__space_shrink(c->column, x);
        const double first = floor(log10(x)); /* place of the first digit */
        const double after = (double)decimals - 1 - first;
        decimals = decimals < 0 || after > TACET__FIXED_DECIMALS ? -1 : after > 0 ? (int)after : 0;
    }
    if (decimals >= 0) {
        return tacet__decimal_list(out, &x, 1, (unsigned)decimals);
    }
    out[0] = ',';
    return 1 + tacet__decimal(out + 1, x, -1074); /* 17 digits */
}

size_t tacet__release_cells_text(char *out, const tacet__release_cell *cells, size_t count, const double *numbers,
                                 const double *levels) {
    char *at = out;
    for (size_t i = 0; i < count; i++) {
        const tacet__release_cell *c = &cells[i];
        if (c->number) {
            at += put_number(at, c, numbers[c->at]);
            continue;
        }
        const size_t level = (size_t)levels[c->at];
        *at++ = ',';
        at += put_name(at, tacet_space_traits_of(c->column)->levels ? c->column->levels[level] : FLAG_WORDS[level]);
    }
    return (size_t)(at - out);
}

/* --- and back ------------------------------------------------------------------------------------------------------
 */

static bool read_cell(const tacet__release_cell *c, double *out, const char *text, size_t length) {
    if (!c->number && !tacet_space_traits_of(c->column)->levels) {
        const bool yes = length == 3 && memcmp(text, FLAG_WORDS[1], 3) == 0;
        *out = yes ? 1 : 0;
        return yes || (length == 2 && memcmp(text, FLAG_WORDS[0], 2) == 0);
    }
    tacet_space_column bare; /* as a plain cell: a released number may lie outside the bounds, and none is missing */
    tacet_space_column_init(&bare);
    if (c->column != NULL) {
        bare = *c->column;
        bare.missing = TACET_SPACE_REFUSED;
        bare.others = TACET_SPACE_NONE;
        bare.kind = tacet_space_traits_of(c->column)->noisy; /* noise is not whole */
    }
    if (tacet_space_cell(&bare, out, NULL, text, length, NULL) != TACET_OK) {
        return false;
    }
    if (c->number) {
        *out = ((c->column != NULL ? tacet__space_stretch(c->column, *out) : *out) - c->middle) / c->unit;
    }
    return isfinite(*out);
}

static tacet_status read_rows(double *rows, tacet_csv *csv, const tacet_manifest *m, const tacet__release_cell *cells,
                              const char *path, tacet_error *err) {
    size_t numbers = 0;
    for (size_t i = 0; i < m->dims; i++) {
        numbers += cells[i].number ? 1 : 0;
    }
    bool found = false;
    for (size_t j = 0;; j++) {
        TACET_OR_RETURN(tacet_csv_next(csv, &found, err));
        if (!found || j == m->rows) {
            return !found && j == m->rows
                       ? TACET_OK
                       : tacet__fail(err, TACET_PARSE, "%s has another number of rows than its manifest says", path);
        }
        for (size_t i = 0; i < m->dims; i++) {
            const tacet__release_cell *c = &cells[i];
            size_t length = 0;
            const char *text = tacet_csv_field(csv, i + 1, &length);
            if (!read_cell(c, &rows[j * m->dims + c->at + (c->number ? 0 : numbers)], text, length)) {
                return tacet__fail(err, TACET_PARSE, "%s: line %llu: column '%s' is not what its manifest says", path,
                                   (unsigned long long)tacet_csv_line(csv), c->name);
            }
        }
    }
}

tacet_status tacet_manifest_rows(const tacet_manifest *m, double **rows, const char *path, tacet_error *err) {
    size_t size = 0;
    tacet_csv *csv = NULL;
    *rows = NULL;
    if (m->dims == 0 || m->dims > TACET_MANIFEST_COLUMNS || !tacet__size_mul(&size, m->rows, m->dims)) {
        return tacet__fail(err, TACET_UNSUPPORTED, "a release of more than %d coordinates", TACET_MANIFEST_COLUMNS);
    }
    tacet__release_cell *cells = TACET__ZALLOC(tacet__release_cell, m->dims);
    double *out = TACET__ALIGNED(double, size);
    tacet_status status = cells != NULL && out != NULL
                              ? tacet_csv_open_file(&csv, path, NULL, err)
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", m->rows);
    if (status == TACET_OK) {
        tacet__release_cells(cells, m);
        bool same = tacet_csv_columns(csv) == m->dims + 1;
        for (size_t i = 0; i < m->dims && same; i++) {
            same = strcmp(tacet_csv_name(csv, i + 1), cells[i].name) == 0;
        }
        status = same ? read_rows(out, csv, m, cells, path, err)
                      : tacet__fail(err, TACET_PARSE, "%s does not have the columns its manifest says", path);
    }
    tacet_csv_close(csv);
    free(cells);
    if (status != TACET_OK) {
        free(out);
        return status;
    }
    *rows = out;
    return TACET_OK;
}
