/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - a log: read row by row, from a file or from memory.
 * Ring: trusted. Source: src/ab/README.md, "What is released". Cost: one pass to count and know the rows, one a stage;
 * memory is that of the table. */
#include "space/internal.h"
#include "ab/trusted/internal.h"
#include "core/fail.h"
#include "core/json_text.h"
#include "core/memory.h"
#include "io/csv/persons.h"

#include "io/csv/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- rows -------------------------------------------------------------------------------------------------------- */

/* One cell of a record: contexts are private, so what is no level counts as the first, and what is no number as the
 * middle, without a word. */
tacet_status tacet__ab_read_cell(const tacet_ab_log *l, const tacet_csv *csv, double *out, size_t i, size_t column,
                                 tacet_error *err) {
    const tacet_space_column *c = &l->space.columns[i];
    size_t length = 0;
    const char *text = tacet_csv_field(csv, column, &length);
    const tacet_status status = tacet_space_cell(c, out, NULL, text, length, NULL);
    const bool within = status == TACET_OK && (i >= l->plan.action_columns ? !isnan(*out) : tacet_space_holds(c, *out));
    if (within) {
        return TACET_OK;
    }
    *out = l->plan.number[i] ? NAN : 0;
    return i >= l->plan.action_columns
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID,
                             "row %llu: action '%s' lies outside its bounds, or is none of its levels",
                             (unsigned long long)tacet_csv_record(csv) + 1, c->name);
}

static tacet_status visit_file(const tacet_ab_log *l, tacet__ab_visitor visit, void *user, tacet_error *err) {
    const size_t d = l->space.count;
    size_t columns[TACET_AB_COLUMNS_MOST + TACET_AB_ACTION_COLUMNS_MOST + 1];
    double row[TACET_AB_COLUMNS_MOST + TACET_AB_ACTION_COLUMNS_MOST + 1];
    bool found = true;
    uint64_t number = 0;
    size_t person = 0;
    tacet_csv *csv = NULL;
    tacet__persons *persons = NULL; /* of this pass: each keeps the same rows */
    tacet_status status = tacet_csv_open_file(&csv, l->path, NULL, err);
    if (status == TACET_OK && l->rows_per_person > 0) {
        status = tacet_csv_find(csv, &person, l->person, err);
        TACET_THEN(status, tacet__persons_open(&persons, l->rows_per_person, err));
    }
    for (size_t i = 0; i <= d && status == TACET_OK; i++) {
        status = tacet_csv_find(csv, &columns[i], i < d ? l->space.columns[i].name : l->reward, err);
    }
    while (status == TACET_OK && (status = tacet__persons_next(persons, csv, person, &found, err)) == TACET_OK &&
           found) {
        for (size_t i = 0; i < d && status == TACET_OK; i++) {
            status = tacet__ab_read_cell(l, csv, &row[i], i, columns[i], err);
        }
        if (status == TACET_OK) {
            status = tacet_csv_numbers(csv, row + d, columns + d, 1, err);
        }
        if (status == TACET_OK) {
            status = visit(user, row, number++, err);
        }
    }
    tacet_csv_close(csv);
    tacet__persons_close(persons);
    sodium_memzero(row, sizeof row);
    return status;
}

static tacet_status visit_memory(const tacet_ab_log *l, tacet__ab_visitor visit, void *user, tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < l->count && status == TACET_OK; i++) {
        status = visit(user, l->rows + i * (l->space.count + 1), i, err);
    }
    return status;
}

tacet_status tacet__ab_visit(const tacet_ab_log *l, tacet__ab_visitor visit, void *user, tacet_error *err) {
    return l->path != NULL ? visit_file(l, visit, user, err) : visit_memory(l, visit, user, err);
}

/* --- opening ----------------------------------------------------------------------------------------------------- */

/* A row in memory as a file would have it: what is public is refused, what is private counts as something. */
static tacet_status settle_row(const tacet_ab_log *l, double *row, size_t number, tacet_error *err) {
    for (size_t c = 0; c < l->space.count; c++) {
        const tacet_space_column *k = &l->space.columns[c];
        row[c] = isnan(row[c]) && k->missing == TACET_SPACE_STAND_IN ? k->stand_in : row[c];
        if (c < l->plan.action_columns && (isnan(row[c]) || !tacet_space_holds(k, row[c]))) {
            return tacet__fail(err, TACET_INVALID, "row %zu (counted from 0): action '%s' %s", number, k->name,
                               isnan(row[c]) ? "is missing" : "lies outside its bounds");
        }
        row[c] = l->plan.number[c] || tacet_space_holds(k, row[c]) ? row[c] : 0;
    }
    return isfinite(row[l->space.count])
               ? TACET_OK
               : tacet__fail(err, TACET_PARSE, "row %zu (counted from 0): column '%s' is not a finite number", number,
                             l->reward);
}

static tacet_status copy_rows(tacet_ab_log *l, const double *rows, const uint64_t *persons, size_t count,
                              tacet_error *err) {
    const size_t width = l->space.count + 1;
    size_t all = 0;
    tacet__persons *kept = NULL;
    l->rows = tacet__size_mul(&all, count, width) ? TACET__ZALLOC(double, all + 1) : NULL;
    tacet_status status =
        l->rows == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", count) : TACET_OK;
    if (status == TACET_OK && l->rows_per_person > 0) {
        status = tacet__persons_open(&kept, l->rows_per_person, err);
    }
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        double *row = l->rows + l->count * width;
        bool keep = true;
        if (kept != NULL) {
            status = tacet__persons_keep(kept, &keep, tacet__persons_hash(kept, &persons[i], sizeof *persons), err);
        }
        if (status == TACET_OK && keep) {
            memcpy(row, rows + i * width, width * sizeof *row);
            l->count++; /* also what is refused is wiped */
            status = settle_row(l, row, i, err);
        }
    }
    tacet__persons_close(kept);
    return status;
}

/* Whose row it is, of a file by a column, of rows in memory by a number; and with it how many each may have. */
static tacet_status check_persons(const tacet_ab_question *q, bool file, tacet_error *err) {
    const bool named = file ? q->person != NULL : q->persons != NULL;
    const bool other = file ? q->persons != NULL : q->person != NULL;
    return !other && named == (q->rows_per_person > 0) && (q->person == NULL || strlen(q->person) < TACET_SPACE_NAME)
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID,
                             "a column that says whose row it is (--person) and how many rows each person may have "
                             "(--rows-per-person) go together");
}

tacet_status tacet__ab_log_make(tacet_ab_log **out, const char *path, const double *rows, size_t count,
                                const tacet_ab_question *q, tacet_error *err) {
    tacet_ab_plan plan;
    *out = NULL;
    tacet_status status = tacet_ab_plan_make(&plan, q->space, q->action_columns, q->lo, q->hi, q->eps, 1, err);
    TACET_THEN(status, check_persons(q, path != NULL, err));
    for (size_t i = 0; i < q->space->count && status == TACET_OK; i++) {
        if (strcmp(q->space->columns[i].name, q->reward) == 0) {
            status = tacet__fail(err, TACET_INVALID,
                                 "column '%s' is the reward: it cannot be an action or a context, too", q->reward);
        }
    }
    if (status != TACET_OK) {
        return status;
    }
    tacet_ab_log *l = TACET__ZALLOC(tacet_ab_log, 1);
    if (l == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a log");
    }
    l->plan = plan;
    l->rows_per_person = q->rows_per_person;
    l->stop = q->stop;
    (void)snprintf(l->person, sizeof l->person, "%s", q->person != NULL ? q->person : "");
    (void)snprintf(l->reward, sizeof l->reward, "%s", q->reward);
    l->path = path != NULL ? strdup(path) : NULL;
    status = path != NULL && l->path == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a log")
                                             : tacet_space_copy(&l->space, q->space, err);
    if (status == TACET_OK && path == NULL) {
        status = copy_rows(l, rows, q->persons, count, err);
    }
    if (status != TACET_OK) {
        tacet_ab_log_free(l);
        return status;
    }
    *out = l;
    return TACET_OK;
}

/* Counts the rows and knows them, if need be, and plans for so many. */
static tacet_status plan_rows(tacet_ab_log *l, uint64_t rows, const tacet_ab_question *q, tacet_error *err) {
    const tacet_ab_stage known = {.pass = TACET_AB_KNOWN};
    tacet_tally *tally = NULL;
    tacet_status status = TACET_OK;
    l->plan.rows = rows;
    if (l->engine == NULL || l->plan.money) { /* an engine's pass is spared where there is only one */
        status = tacet__ab_pass(l, &tally, &known, err);
    }
    if (tally != NULL) {
        rows = tacet_tally_rows(tally);
        l->known = true;
        tacet__ab_identity(l->hash, &l->plan, tally, TACET_AB_KNOWN);
    }
    tacet_tally_free(tally);
    if (status == TACET_OK && rows == 0) {
        status = tacet__fail(err, TACET_STATE, "the log has no rows");
    }
    return status == TACET_OK
               ? tacet_ab_plan_make(&l->plan, &l->space, q->action_columns, q->lo, q->hi, q->eps, rows, err)
               : status;
}

static tacet_status open_log(tacet_ab_log **out, tacet_ab_log *l, uint64_t rows, const tacet_ab_question *q,
                             tacet_error *err) {
    const tacet_status status = plan_rows(l, rows, q, err);
    if (status != TACET_OK) {
        tacet_ab_log_free(l);
        return status;
    }
    *out = l;
    return TACET_OK;
}

/* Rows of a database have no places, and nobody counts those of a person. */
static tacet_status open_database(tacet_ab_log **out, const char *url, const tacet_ab_question *q, tacet_error *err) {
    tacet_ab_log *l = NULL;
    uint64_t rows = 0;
    if (q->person != NULL) {
        return tacet__ab_no_persons(err);
    }
    tacet_status status = tacet__ab_log_make(&l, NULL, NULL, 0, q, err);
    if (status == TACET_OK && l->plan.money) {
        status =
            tacet__fail(err, TACET_UNSUPPORTED,
                        "rewards from 0 to more than 1 are cut where some of the rows say, dealt by their places, "
                        "and a database's rows have none: export the table to a CSV, or state a range from below 0");
    }
    if (status == TACET_OK) {
        l->url = strdup(url);
        l->table = strdup(q->table);
        l->engine = tacet__ab_count_groups;
        l->user = l;
        status = l->url == NULL || l->table == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a log")
                                                    : tacet__ab_count_rows(l, &rows, err);
    }
    if (status != TACET_OK) {
        tacet_ab_log_free(l);
        return status;
    }
    return open_log(out, l, rows, q, err);
}

tacet_status tacet_ab_log_open(tacet_ab_log **out, const char *path, const tacet_ab_question *q, tacet_error *err) {
    tacet_ab_log *l = NULL;
    *out = NULL;
    if (q->table != NULL) {
        return open_database(out, path, q, err);
    }
    const tacet_status status = tacet__ab_log_make(&l, path, NULL, 0, q, err);
    return status == TACET_OK ? open_log(out, l, 0, q, err) : status;
}

tacet_status tacet_ab_log_open_rows(tacet_ab_log **out, const double *rows, size_t count, const tacet_ab_question *q,
                                    tacet_error *err) {
    tacet_ab_log *l = NULL;
    *out = NULL;
    const tacet_status status = tacet__ab_log_make(&l, NULL, rows, count, q, err);
    return status == TACET_OK ? open_log(out, l, 0, q, err) : status;
}

tacet_status tacet_ab_log_open_engine(tacet_ab_log **out, uint64_t rows, tacet_ab_engine engine, void *user,
                                      const tacet_ab_question *q, tacet_error *err) {
    tacet_ab_log *l = NULL;
    tacet_ab_question bare = *q;
    *out = NULL;
    if (q->person != NULL || q->persons != NULL) {
        return tacet__ab_no_persons(err);
    }
    if (q->rows_per_person > TACET__PERSON_ROWS_MOST) {
        return tacet__fail(err, TACET_INVALID, "rows per person: from 1 to %d", (int)TACET__PERSON_ROWS_MOST);
    }
    bare.rows_per_person = 0; /* of rows in memory, of which there are none */
    const tacet_status status = tacet__ab_log_make(&l, NULL, NULL, 0, &bare, err);
    if (status != TACET_OK) {
        return status;
    }
    l->rows_per_person = q->rows_per_person;
    l->engine = engine;
    l->user = user;
    return open_log(out, l, rows, q, err);
}

void tacet_ab_log_free(tacet_ab_log *l) {
    if (l == NULL) {
        return;
    }
    if (l->rows != NULL) {
        sodium_memzero(l->rows, l->count * (l->space.count + 1) * sizeof *l->rows);
    }
    free(l->rows);
    free(l->path);
    free(l->url);
    free(l->table);
    tacet_space_clear(&l->space);
    sodium_memzero(l, sizeof *l);
    free(l);
}

const tacet_ab_plan *tacet_ab_log_plan(const tacet_ab_log *l) {
    return &l->plan;
}

const tacet_space *tacet_ab_log_space(const tacet_ab_log *l) {
    return &l->space;
}
