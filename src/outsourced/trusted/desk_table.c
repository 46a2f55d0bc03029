/* SPDX-License-Identifier: Apache-2.0 */
/* desk_table.c - the table a desk answers from: its measured values, and whether its rows lie as they were released.
 * Ring: trusted. A row is all that a question names: in another order every answer would be another person's. The
 * registry of this machine has a keyed sum of each column (src/registry); those of the released inputs are compared.
 * Cost: one pass over the table. */
#include "outsourced/trusted/desk_internal.h"
#include "outsourced/trusted/evaluate.h"

#include "core/fail.h"
#include "core/memory.h"
#include "registry/registry.h"

#include <stdio.h>
#include <tacet/io/csv.h>
#include <tacet/space/space.h>

/* What is found in one pass. */
typedef struct reading {
    tacet_csv *csv;
    tacet__comparison *order; /* NULL: nothing to compare with */
    tacet__persons *persons;  /* NULL: all rows are in the release */
    size_t person;            /* their column */
    tacet_space_column cell;  /* a measured value; an empty one is NaN */
    size_t column;            /* where they are; SIZE_MAX: nowhere */
} reading;

/* Rows that are in no release are compared as well: the sums are of the whole table. */
static tacet_status read_row(tacet_desk *desk, reading *r, size_t *n, tacet_error *err) {
    tacet_error why = {0};
    bool keep = true;
    uint64_t hash = 0;
    double value = 0;
    size_t length = 0;
    if (r->order != NULL) {
        tacet__compare_row(r->order, r->csv);
    }
    if (r->persons != NULL) {
        TACET_OR_RETURN(tacet__persons_cell(r->persons, &hash, r->csv, r->person, err));
        TACET_OR_RETURN(tacet__persons_keep(r->persons, &keep, hash, err));
    }
    if (!keep) {
        return TACET_OK;
    }
    if (r->column != SIZE_MAX) {
        const char *text = tacet_csv_field(r->csv, r->column, &length);
        const tacet_status status = tacet_space_cell(&r->cell, &value, NULL, text, length, &why);
        if (status != TACET_OK) {
            return tacet__fail(err, status, "%s: line %llu: %s", desk->data, (unsigned long long)tacet_csv_line(r->csv),
                               why.message);
        }
        if (*n < desk->manifest.rows) {
            desk->values[*n] = value;
        }
    }
    ++*n;
    return TACET_OK;
}

static void doubt(tacet_desk *desk, const char *why) {
    (void)snprintf(desk->doubt, sizeof desk->doubt, "cannot tell whether %.100s is in the released order: %s",
                   desk->data, why);
}

/* The released columns, and that of the persons, as far as both have them. */
static tacet_status check_order(tacet_desk *desk, const tacet__comparison *order, tacet_error *err) {
    const tacet_manifest *m = &desk->manifest;
    size_t compared = 0;
    for (size_t c = 0; c <= m->space.count && order != NULL; c++) {
        const char *name = c < m->space.count ? m->space.columns[c].name : m->person;
        bool same = false;
        if (name[0] == '\0' || !tacet__compare_column(order, name, &same)) {
            continue;
        }
        if (!same) {
            return tacet__fail(err, TACET_PARSE,
                               "%.100s: column '%.60s' differs from the table the release was made from, in the order "
                               "of its rows or in its values: serve the file as it was released",
                               desk->data, name);
        }
        compared++;
    }
    if (order == NULL) {
        doubt(desk, "the registry of this machine does not have it");
    } else if (compared == 0) {
        doubt(desk, "it has none of the released columns to compare");
    }
    return TACET_OK;
}

static tacet_status open_reading(tacet_desk *desk, reading *r, const char *values, tacet_error *err) {
    tacet_error why = {0};
    tacet_status status = tacet_csv_open_file(&r->csv, desk->data, NULL, err);
    if (values != NULL) {
        TACET_THEN(status, tacet_csv_find(r->csv, &r->column, values, err));
        desk->values = TACET__ALIGNED(double, desk->manifest.rows); /* wiped when the desk closes */
        if (status == TACET_OK && desk->values == NULL) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu values", desk->manifest.rows);
        }
        tacet_space_column_init(&r->cell);
        (void)snprintf(r->cell.name, sizeof r->cell.name, "%.60s", values);
        r->cell.missing = TACET_SPACE_FLAG;
    }
    TACET_THEN(status, tacet__release_persons(&r->persons, &r->person, r->csv, &desk->manifest, err));
    if (status == TACET_OK && desk->manifest.is_private) { /* what protects nothing is not in the registry */
        status = tacet__registry_compare(&r->order, desk->manifest.entry_hash, r->csv, &why);
        status = status == TACET_NOT_FOUND ? TACET_OK : status;
        return status == TACET_OK ? status : tacet__fail(err, status, "%s", why.message);
    }
    return status;
}

tacet_status tacet__desk_read(tacet_desk *desk, const char *values, tacet_error *err) {
    reading r = {.column = SIZE_MAX};
    bool found = true;
    size_t n = 0;
    tacet_status status = open_reading(desk, &r, values, err);
    while (status == TACET_OK && (status = tacet_csv_next(r.csv, &found, err)) == TACET_OK && found) {
        status = read_row(desk, &r, &n, err);
    }
    if (status == TACET_OK && n != desk->manifest.rows) {
        status =
            tacet__fail(err, TACET_PARSE, "%s has %zu records, the release has %zu: not the table it was made from",
                        desk->data, n, desk->manifest.rows);
    }
    TACET_THEN(status, check_order(desk, r.order, err));
    tacet__compare_close(r.order);
    tacet__persons_close(r.persons);
    tacet_csv_close(r.csv);
    return status;
}
