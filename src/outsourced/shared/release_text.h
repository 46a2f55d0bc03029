/* SPDX-License-Identifier: Apache-2.0 */
/* release_text.h - release.csv: its columns by name, in their own units. Ring: shared. */
#pragma once

#include <tacet/outsourced/shared/manifest.h>

enum { TACET__CELL_NAME = TACET_SPACE_NAME + 8, TACET__CELL_BYTES = 2 * TACET_SPACE_NAME + 16 };

/* One column of the file. */
typedef struct tacet__release_cell {
    char name[TACET__CELL_NAME];
    const tacet_space_column *column; /* of the space; NULL: a coordinate of a projection */
    bool number;                      /* with noise; else a level, or a flag */
    size_t at;                        /* which of the row's numbers, or of its levels */
    double middle, unit;              /* of a number z: middle + unit z, where its distances are measured */
    int decimals;                     /* of a number in its own units; of a log column: significant digits; -1: all */
} tacet__release_cell;

/* The m->dims columns behind `row`, in the order of the table: a number's missing flag follows it. Borrows m->space. */
void tacet__release_cells(tacet__release_cell *out, const tacet_manifest *m);
/* The header, and the cells of one row behind its number, both as text; they return the bytes written. A row needs
 * m->dims TACET__CELL_BYTES bytes. */
size_t tacet__release_header(char *out, const tacet__release_cell *cells, size_t count);
size_t tacet__release_cells_text(char *out, const tacet__release_cell *cells, size_t count, const double *numbers,
                                 const double *levels);

/* JSON text, from malloc. INVALID: a name that is not UTF-8, a number that is not finite. NO_MEMORY. */
tacet_status tacet_manifest_encode(const tacet_manifest *manifest, char **out, tacet_error *err);
/* The rows of a release (dims x rows, freed with free()) from its release.csv, in scaled units: numbers as distances
 * from the middle of their bounds, then levels by index. PARSE: the file is not what the manifest says. NOT_FOUND, IO,
 * NO_MEMORY. */
tacet_status tacet_manifest_rows(const tacet_manifest *manifest, double **rows, const char *path, tacet_error *err);
/* The law of the noise on a row; NULL: no noise (published), or a mechanism that is not known. */
const tacet_law *tacet_manifest_law(const tacet_manifest *manifest);
