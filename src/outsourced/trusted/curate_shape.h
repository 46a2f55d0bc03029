/* SPDX-License-Identifier: Apache-2.0 */
/* curate_shape.h - what goes into a release and what comes out of it, column by column; all of it is public.
 * Ring: trusted: the functions here see records. */
#pragma once

#include "dp/mechanism.h"
#include "outsourced/shared/release_text.h"

#include <tacet/io/csv.h>
#include <tacet/outsourced/trusted/curate.h>

/* How the cells of a column become a number, a level, or a number and the flag that it was missing. */
typedef struct tacet__curate_column {
    double lo, hi, stand_in;   /* in own units */
    double (*stretch)(double); /* to where distances are measured; NULL: as it is */
    double middle, unit;       /* there */
    bool level, flagged;
} tacet__curate_column;

typedef struct tacet__curate_shape {
    const tacet_space *space;
    size_t d;       /* columns of the table */
    size_t dims;    /* released coordinates */
    size_t numbers; /* of them those with noise: all but the levels, which come last */
    bool bare;      /* every cell is a number, any number: the fastest reader takes them */
    tacet__curate_column columns[TACET_MANIFEST_COLUMNS];
    tacet__release_cell *cells; /* dims: the columns of release.csv; they borrow the manifest's space */
} tacet__curate_shape;

/* INVALID: no column or too many, a column without a unit, a mechanism that does not take such columns. */
tacet_status tacet__curate_shape_make(tacet__curate_shape *out, const tacet_curate_settings *settings,
                                      tacet_error *err);
void tacet__curate_shape_clear(tacet__curate_shape *shape);

/* Whether cells of text are wanted, or numbers would do. */
bool tacet__curate_bare(const tacet_space *space);
/* The current record of a block of text. PARSE names line and column. */
tacet_status tacet__curate_cells(const tacet__curate_shape *shape, const tacet_csv *block, const size_t *columns,
                                 double *record, tacet_error *err);
/* Up to `most` further records of a block of text, and how many there were. `most` 0: all are read, into one place, and
 * counted. STATE: there are more. */
tacet_status tacet__curate_text_rows(const tacet__curate_shape *shape, tacet_csv *block, const size_t *columns,
                                     double *records, size_t *got, size_t most, tacet_error *err);
/* Stand-ins for what is missing of `count` records in memory, the first of which has number `first`. PARSE names row
 * and column of what cannot be released: not finite, not whole, in no level, missing. */
tacet_status tacet__curate_settle(const tacet__curate_shape *shape, double *records, size_t first, size_t count,
                                  tacet_error *err);
/* Records into what is to be released: the scaled numbers of all of them, then the levels of all of them. `out` may be
 * `records` where there are no levels. */
void tacet__curate_split(const tacet__curate_shape *shape, double *out, const double *records, size_t count);

/* The lines of release.csv for rows of dims values, numbers of all rows before the levels of all rows, numbered from
 * `first`; returns the bytes written. */
size_t tacet__curate_lines(const tacet__curate_shape *shape, char *text, size_t first, const double *values,
                           size_t rows);
/* Bytes that a line, or the header, needs at most. */
static inline size_t tacet__curate_line_bytes(const tacet__curate_shape *shape) {
    return (shape->dims + 1) * TACET__CELL_BYTES;
}

/* The mechanism: numbers with noise, levels by randomised response. */
tacet_status tacet__curate_mechanism(tacet_mechanism **out, tacet_bound **bound, const tacet__curate_shape *shape,
                                     const tacet_curate_settings *settings, tacet_error *err);
/* eps of records at distance 1, 2, 3, and of any two, into the manifest. */
void tacet__curate_distances(const tacet__curate_shape *shape, const tacet_curate_settings *settings,
                             const tacet_mechanism *mechanism, tacet_manifest *manifest);
