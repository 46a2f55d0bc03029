/* table.c - reading and checking the table of `tacet gp-ucb`.
 * Ring: programs. Cost: one pass over the file and a sort of its rows; a second pass only to name the line of a
 * duplicate. */
#include "plain/table.h"

#include <tacet/core/status.h>

#include <stdlib.h>
#include <string.h>
#include <tacet/io/csvfile.h>

/* Total order of rows by their numbers, then by position, so that of equal rows the first comes first. */
static int compare(const void *a, const void *b, void *user) {
    const tacet_csv_table *table = user;
    const size_t i = *(const size_t *)a;
    const size_t j = *(const size_t *)b;
    for (size_t c = 0; c < table->d; c++) {
        const double x = table->values[i * table->d + c];
        const double y = table->values[j * table->d + c];
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return i < j ? -1 : i > j;
}

static bool same(const tacet_csv_table *table, size_t i, size_t j) {
    for (size_t c = 0; c < table->d; c++) {
        if (table->values[i * table->d + c] != table->values[j * table->d + c]) {
            return false;
        }
    }
    return true;
}

/* The lines two records begin on; false when the file cannot be read again (standard input). */
static bool lines_of(const char *path, size_t first, size_t second, unsigned long long lines[2]) {
    tacet_csv *csv = NULL;
    bool found = false;
    if (strcmp(path, "-") == 0 || tacet_csv_open_file(&csv, path, NULL, NULL) != TACET_OK) {
        return false;
    }
    size_t named = 0;
    while (named < 2 && tacet_csv_next(csv, &found, NULL) == TACET_OK && found) {
        if (tacet_csv_record(csv) == first || tacet_csv_record(csv) == second) {
            lines[named++] = (unsigned long long)tacet_csv_line(csv);
        }
    }
    tacet_csv_close(csv);
    return named == 2;
}

static tacet_status check_duplicates(const tacet_csv_table *table, const char *path, tacet_error *err) {
    size_t *order = calloc(table->n, sizeof *order);
    if (order == NULL) {
        return tacet_error_set(err, TACET_NO_MEMORY, "out of memory checking %zu rows", table->n);
    }
    for (size_t i = 0; i < table->n; i++) {
        order[i] = i;
    }
    qsort_r(order, table->n, sizeof *order, compare, (void *)(size_t)table);
    size_t first = SIZE_MAX;
    size_t second = SIZE_MAX; /* the earliest row that repeats one before it */
    for (size_t k = 1; k < table->n; k++) {
        if (order[k] < second && same(table, order[k - 1], order[k])) {
            first = order[k - 1];
            second = order[k];
        }
    }
    free(order);
    if (second == SIZE_MAX) {
        return TACET_OK;
    }
    unsigned long long lines[2] = {0, 0};
    if (lines_of(path, first, second, lines)) {
        return tacet_error_set(
            err, TACET_PARSE,
            "%s: line %llu: row %zu has the inputs and the target of row %zu (line %llu): duplicate rows "
            "are refused without --allow-duplicates",
            path, lines[1], second, first, lines[0]);
    }
    return tacet_error_set(err, TACET_PARSE,
                       "%s: row %zu has the inputs and the target of row %zu: duplicate rows are refused without "
                       "--allow-duplicates",
                       path, second, first);
}

tacet_status table_load(tacet_csv_table *out, const char *path, char **inputs, size_t input_count, const char *target,
                        bool allow_duplicates, tacet_error *err) {
    memset(out, 0, sizeof *out);
    const char **columns = calloc(input_count + 1, sizeof *columns);
    if (columns == NULL) {
        return tacet_error_set(err, TACET_NO_MEMORY, "out of memory reading %s", path);
    }
    for (size_t c = 0; c < input_count; c++) {
        columns[c] = inputs[c];
    }
    columns[input_count] = target;
    const tacet_csv_wanted wanted = {
        .columns = columns, .d = input_count + 1, .least_records = 2, .no_constants = true};
    tacet_status status = tacet_csv_load_file(out, path, &wanted, err);
    free(columns);
    if (status == TACET_OK && !allow_duplicates) {
        status = check_duplicates(out, path, err);
        if (status != TACET_OK) {
            tacet_csv_table_clear(out);
        }
    }
    return status;
}
