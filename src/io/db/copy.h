/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - a table or view in PostgreSQL as the text of a CSV file, as it stands in one snapshot; or counted by the
 * server, so that what moves is a line a group.
 *
 * Rows come in the order the table is stored in, or by a column. Knows no schema of ours. Only programs that link
 * tacet_postgres have it. One thread at a time. Ring: io. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

typedef struct tacet__copy tacet__copy;

/* How rows are told apart by one column: by its text, or, where it has a type of number, by where it lies among edges.
 * What is printed of a group is then its lowest edge (below the first: the number before it); NaN and infinities stay
 * what they are. Edges of `whole` columns are whole; what is not is printed as 0.5. */
typedef struct tacet__copy_axis {
    const double *edges; /* ascending; NULL: by text */
    size_t count;
    bool whole;
} tacet__copy_axis;

/* Rows counted by all columns at once. Each group has, after the columns, "rows", "steps", "parts" and "none": how many
 * there are, the sums of s and of s (one - s)/part rounded down, s being `value` on [lo, top] in whole steps up to
 * `one` as tacet_tally_steps counts them, and how many have no finite value. Without columns: "rows" alone. */
typedef struct tacet__copy_groups {
    const tacet__copy_axis *axes; /* of each column */
    const char *value;
    double lo, top;
    int64_t one, part;
} tacet__copy_groups;

typedef struct tacet__copy_wanted {
    const char *url;            /* "postgresql://…"; what follows a '#' is left out */
    const char *table;          /* "name" or "schema.name", as it is spelled */
    const char *order;          /* NULL, or a column to read them by */
    const char *const *columns; /* names */
    size_t count;
    size_t numbers; /* so many of the first columns must have a type of number; the rest come as they are */
    const tacet__copy_groups *groups; /* NULL: row by row */
} tacet__copy_wanted;

/* Connects, looks at the columns, and begins. INVALID: the URL, or a column that is no number where one is needed.
 * NOT_FOUND: no such database, table or column. DENIED: not for this role, or row security would hide some rows from
 * it. IO: the server is not there, or goes away. Messages have names, never values. *out is NULL on failure. */
tacet_status tacet__copy_open(tacet__copy **out, const tacet__copy_wanted *wanted, tacet_error *err);
/* The next bytes of its text, a header and then a line a row; *count = 0 is the end. IO: the server went away: what was
 * read is not the whole table. */
tacet_status tacet__copy_read(tacet__copy *copy, const char **bytes, size_t *count, tacet_error *err);
void tacet__copy_close(tacet__copy *copy); /* NULL is allowed */
