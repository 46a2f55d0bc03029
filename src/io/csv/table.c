/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - selected columns of a CSV stream as a matrix.
 * Ring: io. Cost: one pass; the array doubles, and the copies left behind are wiped. */
#include "io/csv/internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_RECORDS = 1024 };

static void wipe(double *values, size_t count) {
    if (values != NULL) {
        sodium_memzero(values, count * sizeof *values);
        free(values);
    }
}

/* Moves the n records to room for `capacity` of them. */
static bool resize(tacet_csv_table *table, size_t *held, size_t capacity) {
    size_t numbers = 0;
    if (!tacet__size_mul(&numbers, capacity, table->d)) {
        return false;
    }
    double *values = TACET__ALIGNED(double, numbers);
    if (values == NULL) {
        return false;
    }
    if (table->values != NULL) {
        memcpy(values, table->values, table->n * table->d * sizeof *values);
        wipe(table->values, *held * table->d);
    }
    table->values = values;
    *held = capacity;
    return true;
}

static tacet_status find_all(size_t *columns, const tacet_csv *csv, const tacet_csv_wanted *wanted, tacet_error *err) {
    for (size_t i = 0; i < wanted->d; i++) {
        TACET_OR_RETURN(tacet_csv_find(csv, &columns[i], wanted->columns[i], err));
        for (size_t k = 0; k < i; k++) {
            if (columns[k] == columns[i]) {
                return tacet__fail(err, TACET_INVALID, "%s: column '%.60s' is asked for twice", tacet_csv_input(csv),
                                   wanted->columns[i]);
            }
        }
    }
    return TACET_OK;
}

static tacet_status read_all(tacet_csv_table *table, size_t *held, tacet_csv *csv, const size_t *columns,
                             const tacet_csv_wanted *wanted, tacet_error *err) {
    bool found = false;
    tacet_status status = TACET_OK;
    while ((status = tacet_csv_next(csv, &found, err)) == TACET_OK && found) {
        if (wanted->most_records != 0 && table->n == wanted->most_records) {
            return tacet__fail(err, TACET_PARSE, "%s: line %llu: more than %zu records", tacet_csv_input(csv),
                               (unsigned long long)tacet_csv_line(csv), wanted->most_records);
        }
        if (table->n == *held) {
            size_t more = FIRST_RECORDS;
            if ((*held > 0 && !tacet__size_mul(&more, *held, 2)) || !resize(table, held, more)) {
                return tacet__fail(err, TACET_NO_MEMORY, "%s: out of memory for more than %zu records of %zu numbers",
                                   tacet_csv_input(csv), table->n, table->d);
            }
        }
        status = tacet_csv_numbers(csv, table->values + table->n * table->d, columns, table->d, err);
        if (status != TACET_OK) {
            return status;
        }
        table->n++;
    }
    return status;
}

static tacet_status check_columns(const tacet_csv_table *table, const tacet_csv *csv, const tacet_csv_wanted *wanted,
                                  tacet_error *err) {
    for (size_t i = 0; i < table->d; i++) {
        size_t j = 1;
        while (j < table->n && table->values[j * table->d + i] == table->values[i]) {
            j++;
        }
        if (j >= table->n) {
            return tacet__fail(err, TACET_PARSE, "%s: column '%.60s' has the same value in every record",
                               tacet_csv_input(csv), wanted->columns[i]);
        }
    }
    return TACET_OK;
}

tacet_status tacet_csv_load(tacet_csv_table *out, tacet_csv *csv, const tacet_csv_wanted *wanted, tacet_error *err) {
    *out = (tacet_csv_table){0};
    if (wanted->d == 0) {
        return tacet__fail(err, TACET_INVALID, "%s: no column is asked for", tacet_csv_input(csv));
    }
    tacet_csv_table table = {.d = wanted->d};
    size_t held = 0;
    size_t *columns = TACET__ZALLOC(size_t, wanted->d);
    if (columns == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "%s: out of memory reading a table", tacet_csv_input(csv));
    }
    tacet_status status = find_all(columns, csv, wanted, err);
    TACET_THEN(status, read_all(&table, &held, csv, columns, wanted, err));
    const size_t least = wanted->least_records > 0 ? wanted->least_records : 1;
    if (status == TACET_OK && table.n < least) {
        status = tacet__fail(err, TACET_PARSE, "%s: %zu records after the header, at least %zu needed",
                             tacet_csv_input(csv), table.n, least);
    }
    if (status == TACET_OK && wanted->no_constants) {
        status = check_columns(&table, csv, wanted, err);
    }
    if (status == TACET_OK && held > table.n && !resize(&table, &held, table.n)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "%s: out of memory for %zu records of %zu numbers",
                             tacet_csv_input(csv), table.n, table.d);
    }
    free(columns);
    if (status != TACET_OK) {
        wipe(table.values, held * table.d);
        return status;
    }
    *out = table;
    return TACET_OK;
}

void tacet_csv_table_clear(tacet_csv_table *table) {
    if (table != NULL) {
        wipe(table->values, table->n * table->d);
        *table = (tacet_csv_table){0};
    }
}
