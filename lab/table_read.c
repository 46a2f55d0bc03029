/* SPDX-License-Identifier: Apache-2.0 */
/* table_read.c - reading and checking the table of `tacet-lab gp-ucb`.
 * Ring: none. Cost: one pass over the files and a sort of 16 bytes a row; a second pass only to name the line of a
 * duplicate. */
#include "table_read.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/file/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "io/csv/internal.h"

double lab_search_table_value(const lab_search_table *t, size_t row, size_t c) {
    return t->csv.values[row * (t->d + 1) + c];
}

static uint64_t stir(uint64_t hash, double value) {
    const double plain = value + 0.0; /* -0 is 0 */
    uint64_t bits = 0;
    memcpy(&bits, &plain, sizeof bits);
    hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static uint64_t row_hash(const lab_search_table *t, size_t row) {
    uint64_t hash = UINT64_C(0x243f6a8885a308d3);
    for (size_t c = 0; c <= t->d; c++) {
        hash = stir(hash, lab_search_table_value(t, row, c));
    }
    return hash;
}

static bool same(const lab_search_table *t, size_t i, size_t j) {
    for (size_t c = 0; c <= t->d; c++) {
        if (lab_search_table_value(t, i, c) != lab_search_table_value(t, j, c)) {
            return false;
        }
    }
    return true;
}

/* --- duplicates -------------------------------------------------------------------------------------------------- */

typedef struct mark {
    uint64_t hash;
    size_t row;
} mark;

static int compare(const void *a, const void *b) {
    const mark *x = a;
    const mark *y = b;
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : x->row < y->row ? -1 : x->row > y->row;
}

/* The lines two records begin on; false when the file cannot be read again (standard input) or is one of several. */
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

/* The earliest row that repeats one before it; SIZE_MAX: none. */
static size_t find_duplicate(const lab_search_table *t, mark *marks, size_t *earlier) {
    for (size_t i = 0; i < t->n; i++) {
        marks[i] = (mark){row_hash(t, i), i};
    }
    qsort(marks, t->n, sizeof *marks, compare);
    size_t second = SIZE_MAX;
    for (size_t k = 1; k < t->n; k++) {
        /* Equal hashes of different rows are rare: all pairs of such a run are looked at. */
        for (size_t i = k; i > 0 && marks[i - 1].hash == marks[k].hash; i--) {
            if (marks[k].row < second && same(t, marks[i - 1].row, marks[k].row)) {
                *earlier = marks[i - 1].row;
                second = marks[k].row;
                break;
            }
        }
    }
    return second;
}

static tacet_status check_duplicates(const lab_search_table *t, const char *path, tacet_error *err) {
    mark *marks = calloc(t->n, sizeof *marks);
    if (marks == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory checking %zu rows", t->n);
    }
    size_t first = 0;
    const size_t second = find_duplicate(t, marks, &first);
    free(marks);
    if (second == SIZE_MAX) {
        return TACET_OK;
    }
    unsigned long long lines[2] = {0, 0};
    if (strchr(path, ',') == NULL && lines_of(path, first, second, lines)) {
        return tacet__fail(err, TACET_PARSE,
                           "%s: line %llu: row %zu has the inputs and the target of row %zu (line %llu): duplicate "
                           "rows are refused without --allow-duplicates",
                           path, lines[1], second, first, lines[0]);
    }
    return tacet__fail(
        err, TACET_PARSE,
        "%s: row %zu has the inputs and the target of row %zu: duplicate rows are refused without --allow-duplicates",
        path, second, first);
}

/* What the reader of one file checks by itself, of several. */
static tacet_status check_numbers(const lab_search_table *t, const lab_search_table_wanted *w, tacet_error *err) {
    if (t->n < 2) {
        return tacet__fail(err, TACET_PARSE, "%s: %zu records where at least 2 are needed", w->data, t->n);
    }
    for (size_t c = 0; c <= t->d; c++) {
        const char *name = c < t->d ? w->inputs[c] : w->target;
        bool varies = false;
        for (size_t r = 0; r < t->n; r++) {
            const double x = lab_search_table_value(t, r, c);
            if (!isfinite(x)) {
                return tacet__fail(err, TACET_PARSE, "%s: row %zu, column '%s' is not a finite number", w->data, r,
                                   name);
            }
            varies = varies || x != lab_search_table_value(t, 0, c);
        }
        if (!varies) {
            return tacet__fail(err, TACET_PARSE, "%s: column '%s' has the same value in every record", w->data, name);
        }
    }
    return TACET_OK;
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

/* The rows of another file after those there are. */
static tacet_status append(tacet_csv_table *table, const tacet_csv_table *more, tacet_error *err) {
    double *values = realloc(table->values, (table->n + more->n) * table->d * sizeof *values);
    if (values == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", table->n + more->n);
    }
    memcpy(values + table->n * table->d, more->values, more->n * table->d * sizeof *values);
    table->values = values;
    table->n += more->n;
    return TACET_OK;
}

static tacet_status load_csv(lab_search_table *t, const lab_search_table_wanted *w, tacet_error *err) {
    char **files = NULL;
    size_t count = 0;
    const char **columns = TACET__ZALLOC(const char *, w->d + 1);
    tacet_status status = columns != NULL ? tacet__file_names(&files, &count, w->data, err)
                                          : tacet__fail(err, TACET_NO_MEMORY, "out of memory reading %s", w->data);
    for (size_t c = 0; c <= w->d && columns != NULL; c++) {
        columns[c] = c < w->d ? w->inputs[c] : w->target;
    }
    /* One file is checked by its reader, which knows lines; of several the whole is checked. */
    const tacet_csv_wanted wanted = {
        .columns = columns, .d = w->d + 1, .least_records = count == 1 ? 2 : 1, .no_constants = count == 1};
    for (size_t f = 0; f < count && status == TACET_OK; f++) {
        tacet_csv_table part = {0};
        if (files[f][0] == '\0') {
            status = tacet__fail(err, TACET_INVALID, "--data: files are separated by commas");
            break;
        }
        status = tacet_csv_load_file(f == 0 ? &t->csv : &part, files[f], &wanted, err);
        status = status != TACET_OK || f == 0 ? status : append(&t->csv, &part, err);
        tacet_csv_table_clear(&part);
    }
    t->n = t->csv.n;
    tacet__file_names_free(files, count);
    free(columns);
    return status != TACET_OK || count == 1 ? status : check_numbers(t, w, err);
}

void lab_search_table_clear(lab_search_table *t) {
    tacet_csv_table_clear(&t->csv);
    *t = (lab_search_table){0};
}

tacet_status lab_search_table_load(lab_search_table *out, const lab_search_table_wanted *w, tacet_error *err) {
    *out = (lab_search_table){.d = w->d};
    tacet_status status = load_csv(out, w, err);
    if (status == TACET_OK && !w->allow_duplicates) {
        status = check_duplicates(out, w->data, err);
    }
    if (status != TACET_OK) {
        lab_search_table_clear(out);
    }
    return status;
}
