/* SPDX-License-Identifier: Apache-2.0 */
/* space_check.c - a table looked at through a space, for the holder of the records.
 * Ring: trusted. In: a CSV of raw records. Out: counts that depend on them, stamped so by whoever prints them.
 * Cost: one pass over the table. */
#include "space/internal.h"
#include <tacet/outsourced/trusted/curate.h>

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csv.h>

static const double CORNER = 0.03;

typedef struct tally {
    const tacet_space *space;
    size_t *columns;  /* of the table */
    size_t *readable; /* by column */
    size_t *levels;   /* TACET_SPACE_LEVELS of each column */
} tally;

static void count_numeric(tacet_space_cells *out, const tacet_space_column *c, double value) {
    out->outside += value < c->lo || value > c->hi ? 1 : 0;
    const tacet_space one = {(tacet_space_column *)c, 1};
    double x[2];
    double low[2];
    double high[2];
    tacet_space_embed(&one, x, &value);
    tacet_space_box(&one, low, high);
    const double share = (x[0] - low[0]) / (high[0] - low[0]);
    out->lowest += share <= CORNER ? 1 : 0;
    out->highest += share >= 1 - CORNER ? 1 : 0;
}

static bool is_level(const tacet_space_column *c, const char *text) {
    const char *begin = text + strspn(text, " \t");
    for (size_t i = 0; i < c->level_count; i++) {
        const size_t length = strlen(c->levels[i]);
        if (strncmp(begin, c->levels[i], length) == 0 && begin[length + strspn(begin + length, " \t")] == '\0') {
            return true;
        }
    }
    return false;
}

static void count_cell(tally *t, tacet_space_cells *out, size_t i, const tacet_csv *csv) {
    const tacet_space_column *c = &t->space->columns[i];
    size_t length = 0;
    bool missing = false;
    double value = 0;
    const char *text = tacet_csv_field(csv, t->columns[i], &length);
    const tacet_status status = tacet_space_cell(c, &value, &missing, text, length, NULL);
    out->missing += missing ? 1 : 0;
    if (status != TACET_OK) {
        out->first_line = out->unreadable == 0 ? tacet_csv_line(csv) : out->first_line;
        out->unreadable++;
        return;
    }
    if (tacet_space_traits_of(c)->levels) {
        t->levels[i * TACET_SPACE_LEVELS + (size_t)value]++;
        out->others += !missing && !is_level(c, text) ? 1 : 0;
    } else if (!missing) {
        t->readable[i]++;
        count_numeric(out, c, value);
    }
}

static void sum_up(const tally *t, tacet_space_cells *out) {
    for (size_t i = 0; i < t->space->count; i++) {
        const tacet_space_column *c = &t->space->columns[i];
        const double cells = t->readable[i] > 0 ? (double)t->readable[i] : 1;
        out[i].lowest /= cells;
        out[i].highest /= cells;
        out[i].rarest = tacet_space_traits_of(c)->levels ? SIZE_MAX : 0;
        for (size_t k = 0; k < c->level_count; k++) {
            const size_t count = t->levels[i * TACET_SPACE_LEVELS + k];
            out[i].rarest = count < out[i].rarest ? count : out[i].rarest;
        }
    }
}

tacet_status tacet_space_table(tacet_space_cells *out, size_t *rows, const tacet_space *space, const char *path,
                               tacet_error *err) {
    tally t = {.space = space};
    tacet_csv *csv = NULL;
    bool found = false;
    *rows = 0;
    memset(out, 0, space->count * sizeof *out);
    t.columns = TACET__ZALLOC(size_t, space->count);
    t.readable = TACET__ZALLOC(size_t, space->count);
    t.levels = TACET__ZALLOC(size_t, space->count * TACET_SPACE_LEVELS);
    tacet_status status = TACET_OK;
    if (t.columns == NULL || t.readable == NULL || t.levels == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", space->count);
    }
    TACET_THEN(status, tacet_csv_open_file(&csv, path, NULL, err));
    for (size_t i = 0; i < space->count && status == TACET_OK; i++) {
        status = tacet_csv_find(csv, &t.columns[i], space->columns[i].name, err);
    }
    while (status == TACET_OK && (status = tacet_csv_next(csv, &found, err)) == TACET_OK && found) {
        for (size_t i = 0; i < space->count; i++) {
            count_cell(&t, &out[i], i, csv);
        }
        ++*rows;
    }
    sum_up(&t, out);
    tacet_csv_close(csv);
    free(t.columns);
    free(t.readable);
    free(t.levels);
    return status;
}
