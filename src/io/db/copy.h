/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - the rows of a table or view in PostgreSQL, read once, as they stand in one snapshot.
 *
 * All that is read after it is opened is of one snapshot, whatever others write meanwhile. Rows come in the order the
 * table is stored in, or by a column. What is stored page by page can be read in ranges of pages, over several
 * connections at a time, which share the snapshot. Knows no schema of ours. Only programs that link tacet_postgres have
 * it. One thread at a time for each connection. Ring: io. */
#ifndef TACET_SRC_IO_DB_COPY_H
#define TACET_SRC_IO_DB_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

typedef struct tacet__copy tacet__copy;

typedef struct tacet__copy_wanted {
    const char *url;            /* "postgresql://…"; what follows a '#' is left out */
    const char *table;          /* "name" or "schema.name", as it is spelled */
    const char *order;          /* NULL, or a column to read them by */
    const char *const *columns; /* names */
    size_t count;
    bool text; /* every cell as text; otherwise numbers, of columns whose type is one */
} tacet__copy_wanted;

/* A cell of the current row. Valid until the next row. */
typedef struct tacet__copy_cell {
    const char *text; /* NULL: there is none (SQL's NULL); also where numbers were asked for */
    size_t length;
    double number; /* where numbers were asked for */
    bool missing;
} tacet__copy_cell;

/* Connects and looks at the columns. INVALID: the URL, or a column that is no number where one is needed. NOT_FOUND: no
 * such database, table or column. DENIED: not for this role, or row security would hide some rows from it. IO: the
 * server is not there, or goes away. Messages have names, never values. *out is NULL on failure. `wanted` must stay
 * until it is closed. */
tacet_status tacet__copy_open(tacet__copy **out, const tacet__copy_wanted *wanted, tacet_error *err);
/* Pages of the table; 0: it can only be read as a whole (a view, an order, a server older than 14). */
size_t tacet__copy_pages(const tacet__copy *copy);
/* Another connection to the same snapshot, which `copy` must keep open. Fails as it does, and where the server cannot.
 */
tacet_status tacet__copy_join(tacet__copy **out, const tacet__copy *copy, tacet_error *err);
/* The rows of pages first … end - 1 come next; SIZE_MAX: to the end. 0 and SIZE_MAX: all. Once the rows before have
 * ended. */
tacet_status tacet__copy_begin(tacet__copy *copy, size_t first, size_t end, tacet_error *err);
/* The next row into `count` cells; *found is false at the end. IO: the server went away: what was read is not the whole
 * table. */
tacet_status tacet__copy_next(tacet__copy *copy, tacet__copy_cell *cells, bool *found, tacet_error *err);
void tacet__copy_close(tacet__copy *copy); /* NULL is allowed */

#endif
