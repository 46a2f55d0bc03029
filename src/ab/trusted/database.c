/* SPDX-License-Identifier: Apache-2.0 */
/* database.c - a log in PostgreSQL: the server counts, and what moves is a line a group.
 * Ring: trusted. Source: src/ab/README.md, "Elsewhere". Texts are grouped as they are and read here, by the code that
 * reads files; numbers are grouped by comparisons with the bins' exact edges. So the sums are those of the rows read
 * one by one. Cost: the server's one pass; here a line a group. */
#include "tally/gate.h"
#include "ab/shared/plan.h"
#include "ab/trusted/internal.h"
#include "core/fail.h"
#include "core/stop.h"
#include "io/db/copy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = TACET_AB_COLUMNS_MOST + TACET_AB_ACTION_COLUMNS_MOST, EDGES_MOST = 64 };
static const int64_t ROWS_MOST = (int64_t)1 << 40; /* their steps fit into 63 bits */

/* --- the edges of bins ------------------------------------------------------------------------------------------- */

/* Doubles in their order, as whole numbers. */
static int64_t place_of(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double at_place(int64_t place) {
    const int64_t bits = place < 0 ? INT64_MIN - place : place;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The bin of x in column j, as a number that grows with it. */
static size_t bin_of(const tacet_ab_plan *p, size_t j, double x) {
    double record[COLUMNS_MOST + 1];
    for (size_t i = 0; i <= COLUMNS_MOST; i++) {
        record[i] = NAN;
    }
    record[j] = x;
    return j < p->action_columns ? tacet_ab_plan_action(p, record) : tacet_ab_plan_context(p, record);
}

/* The bounds, and the first number of every bin. A subtraction, a quotient and a product by constants above 0 are
 * rounded monotonically, so a bin is all numbers between two edges. */
static size_t find_edges(const tacet_ab_plan *p, size_t j, double lo, double hi, double out[EDGES_MOST]) {
    const bool whole = p->scale[j].whole;
    size_t n = 0;
    out[n++] = lo;
    for (double edge = lo; n + 1 < EDGES_MOST && bin_of(p, j, hi) > bin_of(p, j, edge);) {
        int64_t below = place_of(edge), above = place_of(hi);
        while ((uint64_t)above - (uint64_t)below > 1) {
            const int64_t middle = below + (int64_t)(((uint64_t)above - (uint64_t)below) / 2);
            *(bin_of(p, j, at_place(middle)) > bin_of(p, j, edge) ? &above : &below) = middle;
        }
        edge = whole ? ceil(at_place(above)) : at_place(above);
        out[n++] = edge;
    }
    const double beyond = whole ? hi + 1 : nextafter(hi, INFINITY);
    if (isfinite(beyond)) {
        out[n++] = beyond;
    }
    return n;
}

/* --- groups ------------------------------------------------------------------------------------------------------ */

typedef struct lines {
    tacet__copy *copy;
    const char *bytes;
    size_t left;
} lines;

static tacet_status read_lines(void *user, void *buffer, size_t capacity, size_t *count, tacet_error *err) {
    lines *l = user;
    const tacet_status status = l->left > 0 ? TACET_OK : tacet__copy_read(l->copy, &l->bytes, &l->left, err);
    *count = l->left < capacity ? l->left : capacity;
    if (*count > 0) {
        memcpy(buffer, l->bytes, *count);
    }
    l->bytes += *count;
    l->left -= *count;
    return status;
}

/* A count of the server's; -1: none. */
static int64_t count_at(const tacet_csv *csv, size_t column) {
    const char *text = tacet_csv_field(csv, column, NULL);
    char *end = NULL;
    errno = 0;
    const long long value = text != NULL ? strtoll(text, &end, 10) : -1;
    return text != NULL && end != text && *end == '\0' && errno == 0 ? value : -1;
}

/* What a group adds. */
static tacet_status add_group(const tacet_ab_log *l, tacet_tally *tally, const tacet_csv *csv, double top,
                              tacet_error *err) {
    const size_t d = l->space.count;
    const int64_t rows = count_at(csv, d), up = count_at(csv, d + 1), parts = count_at(csv, d + 2);
    double row[COLUMNS_MOST + 1];
    size_t at[8];
    int64_t steps[8];
    if (count_at(csv, d + 3) != 0) {
        return tacet__fail(err, TACET_PARSE, "%s: column '%s' is empty or no finite number in some row", l->table,
                           l->reward);
    }
    if (rows < 1 || rows > ROWS_MOST || up < 0 || up > rows * TACET_TALLY_ONE || parts < 0 ||
        parts > rows * TACET_TALLY_ONE / TACET_AB_SPREAD_PARTS) {
        return tacet__fail(err, TACET_CORRUPT, "%s: the database gave counts that no rows have", l->table);
    }
    for (size_t i = 0; i < d; i++) {
        if (tacet__ab_read_cell(l, csv, &row[i], i, i, NULL) != TACET_OK) {
            return tacet__fail(err, TACET_INVALID,
                               "%s: action '%s' of some row lies outside its bounds, or is none of its levels",
                               l->table, l->space.columns[i].name);
        }
    }
    row[d] = l->plan.lo;
    size_t n = tacet__ab_table_shares(at, steps, &l->plan, top, row);
    for (size_t i = 0; i < n; i++) { /* up, down, and the same of the totals; then the spread */
        steps[i] = l->plan.spread && i + 1 == n ? parts : i % 2 == 0 ? up : rows * TACET_TALLY_ONE - up;
    }
    at[n] = tacet__ab_numbers(&l->plan, TACET_AB_TABLE); /* behind them: how many were taken */
    steps[n++] = rows * TACET_TALLY_ONE;
    sodium_memzero(row, sizeof row);
    return tacet_tally_add(tally, (uint64_t)rows, at, steps, n, err);
}

/* Opens what the server counts: by all columns, or all rows together. */
static tacet_status ask(const tacet_ab_log *l, tacet_csv **csv, lines *from, bool grouped, double top,
                        tacet_error *err) {
    const char *names[COLUMNS_MOST];
    double edges[COLUMNS_MOST][EDGES_MOST];
    tacet__copy_axis axes[COLUMNS_MOST] = {{0}};
    for (size_t i = 0; i < l->space.count; i++) {
        const tacet_space_column *c = &l->space.columns[i];
        const tacet_space_traits *kind = tacet_space_traits_of(c);
        names[i] = c->name;
        if (grouped && l->plan.number[i] && !kind->text && !kind->factor) { /* a logarithm may not be monotone */
            axes[i] = (tacet__copy_axis){
                .edges = edges[i], .count = find_edges(&l->plan, i, c->lo, c->hi, edges[i]), .whole = kind->whole};
        }
    }
    const tacet__copy_groups groups = {.axes = axes,
                                       .value = l->reward,
                                       .lo = l->plan.lo,
                                       .top = top,
                                       .one = TACET_TALLY_ONE,
                                       .part = TACET_TALLY_ONE * (TACET_AB_SPREAD_PARTS / 4)};
    const tacet__copy_wanted wanted = {
        .url = l->url, .table = l->table, .columns = names, .count = grouped ? l->space.count : 0, .groups = &groups};
    const tacet_csv_source source = {.name = l->table, .read = read_lines, .user = from};
    tacet_status status = tacet__copy_open(&from->copy, &wanted, err);
    TACET_THEN(status, tacet_csv_open(csv, &source, NULL, err));
    if (status != TACET_OK) {
        tacet__copy_close(from->copy);
        from->copy = NULL;
    }
    return status;
}

tacet_status tacet__ab_count_rows(const tacet_ab_log *l, uint64_t *rows, tacet_error *err) {
    tacet_csv *csv = NULL;
    lines from = {0};
    bool found = false;
    tacet_status status = ask(l, &csv, &from, false, l->plan.hi, err);
    TACET_THEN(status, tacet_csv_next(csv, &found, err));
    const int64_t count = status == TACET_OK && found ? count_at(csv, 0) : -1;
    if (status == TACET_OK && count < 0) {
        status = tacet__fail(err, TACET_CORRUPT, "%s: the database gave counts that no rows have", l->table);
    }
    *rows = count > 0 ? (uint64_t)count : 0;
    tacet_csv_close(csv);
    tacet__copy_close(from.copy);
    return status;
}

tacet_status tacet__ab_count_groups(void *user, tacet_tally **out, const tacet_ab_stage *stage, tacet_error *err) {
    const tacet_ab_log *l = user;
    tacet_tally_plan plan;
    tacet_csv *csv = NULL;
    lines from = {0};
    bool found = true;
    tacet_status status = tacet__ab_stage_plan(&plan, l, stage, err);
    TACET_THEN(status, tacet_tally_create(out, &plan, "the table of a database", err));
    TACET_THEN(status, ask(l, &csv, &from, true, stage->top, err));
    while (status == TACET_OK && (status = tacet_csv_next(csv, &found, err)) == TACET_OK && found) {
        status = tacet__stopped(l->stop, err);
        TACET_THEN(status, add_group(l, *out, csv, stage->top, err));
    }
    tacet_csv_close(csv);
    tacet__copy_close(from.copy);
    return status;
}
