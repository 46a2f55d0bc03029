/* SPDX-License-Identifier: Apache-2.0 */
/* space_check.h - what a space makes of a table, told to the holder of its records: everything here depends on them.
 *
 * Which cells fall outside the bounds, how many are missing or cannot be read, and which columns crowd into a corner of
 * their bounds, so that most of the range, and of the noise, is spent on nobody. No number of it may leave. */
#ifndef TACET_OUTSOURCED_TRUSTED_SPACE_CHECK_H
#define TACET_OUTSOURCED_TRUSTED_SPACE_CHECK_H

#include <stddef.h>
#include <stdint.h>
#include <tacet/space/space.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TACET_SPACE_STAMP "DEPENDS ON THE RECORDS: for their holder only"

typedef struct tacet_space_cells {
    size_t missing;      /* cells; those of a column that says nothing of missing ones are unreadable as well */
    size_t outside;      /* below or above the bounds: clipped */
    size_t others;       /* in no level, counted to the level for others */
    size_t unreadable;   /* refused: not a number, no date, in no level, missing */
    uint64_t first_line; /* of an unreadable one; 0: none */
    double lowest;       /* share of the readable cells in the lowest 3 % of the scaled range; 0 for categories */
    double highest;      /* … in the highest 3 % */
    size_t rarest;       /* category: cells of its rarest level */
} tacet_space_cells;

/* Above this share in one corner a column is crowded: another scale, or tighter bounds, would spread it. */
#define TACET_SPACE_CROWDED 0.9

/* Reads the CSV file once; `out` has a place for each column of the space. NOT_FOUND names a column that the table does
 * not have. PARSE, IO: the file. */
TACET_API tacet_status tacet_space_table(tacet_space_cells *out, size_t *rows, const tacet_space *space,
                                         const char *path, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
