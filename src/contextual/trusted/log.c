/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - a private log in a file: read by a space of typed columns, and what is refused because it would void the
 * proof.
 * Ring: trusted. Source: src/contextual/README.md, section 1: a context outside its bounds is the nearest within, so
 * that no refusal tells of it. Actions are public, and refused where they lie outside. Cost: one pass over the file. */
#include "contextual/trusted/log_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "space/internal.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csv.h>

static const double LENGTHSCALE = 0.3; /* of the width of a numeric column */

/* --- what is public ---------------------------------------------------------------------------------------------- */

static tacet_status check(const tacet_contextual_question *q, tacet_error *err) {
    if (q->space == NULL || q->action_columns == 0 || q->action_columns > q->space->count || q->reward == NULL ||
        strlen(q->reward) >= TACET_SPACE_NAME) {
        return tacet__fail(err, TACET_INVALID, "a log has at least one action column, and a reward column");
    }
    if ((q->person != NULL) != (q->rows_per_person > 0) ||
        (q->person != NULL && strlen(q->person) >= TACET_SPACE_NAME)) {
        return tacet__fail(err, TACET_INVALID,
                           "a column that says whose row it is (--person) and how many rows each person may have "
                           "(--rows-per-person) go together");
    }
    if (q->lengthscale_count > 1 && q->lengthscale_count != q->space->count) {
        return tacet__fail(err, TACET_INVALID, "%zu lengthscales for %zu columns: one, or one for each",
                           q->lengthscale_count, q->space->count);
    }
    for (size_t i = 0; i < q->space->count; i++) {
        if (tacet_space_traits_of(&q->space->columns[i])->levels ||
            tacet_space_column_dims(&q->space->columns[i]) != 1) {
            return tacet__fail(err, TACET_UNSUPPORTED, "column '%s': a choice needs numeric columns",
                               q->space->columns[i].name);
        }
    }
    return TACET_OK;
}

/* The lengthscale of a column, in its own units, as its coordinate. */
static tacet_status set_lengthscales(tacet_contextual_log *l, const tacet_contextual_question *q, tacet_error *err) {
    for (size_t i = 0; i < l->space.count; i++) {
        const tacet_space_column *c = &l->space.columns[i];
        const bool said = q->lengthscale_count > 0;
        const double given = said ? q->lengthscales[q->lengthscale_count > 1 ? i : 0] : 0;
        const bool factor = tacet_space_traits_of(c)->factor;
        if (said && !(given > (factor ? 1 : 0) && isfinite(given))) {
            return tacet__fail(err, TACET_INVALID, "column '%s': a lengthscale is finite and above %d", c->name,
                               factor ? 1 : 0);
        }
        const double width = factor ? log(c->hi) - log(c->lo) : c->hi - c->lo;
        const double span = l->upper[i] - l->lower[i];
        l->lengthscales[i] = said ? (factor ? log(given) : given) / width * span : LENGTHSCALE * span;
    }
    return TACET_OK;
}

static tacet_status make_basis(tacet_contextual_log *l, const tacet_contextual_question *q, tacet_error *err) {
    const tacet_contextual_space space = {.action_dim = l->action_columns,
                                          .context_dim = l->space.count - l->action_columns,
                                          .lower = l->lower,
                                          .upper = l->upper,
                                          .kind = q->kind,
                                          .matern_p = q->matern_p,
                                          .lengthscales = l->lengthscales,
                                          .lengthscale_count = l->space.count};
    return tacet_contextual_basis_create(&l->basis, &space, 0, err);
}

static tacet_status adopt(tacet_contextual_log *l, const char *path, const tacet_contextual_question *q,
                          tacet_error *err) {
    tacet_status status = tacet_space_copy(&l->space, q->space, err);
    if (status != TACET_OK) {
        return status;
    }
    l->path = strdup(path);
    l->action_columns = q->action_columns;
    l->settings = q->settings;
    l->rows_per_person = q->rows_per_person;
    (void)snprintf(l->person, sizeof l->person, "%s", q->person != NULL ? q->person : "");
    if (q->rows_per_person > 0) {
        status = tacet__persons_open(&l->persons, q->rows_per_person, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    (void)snprintf(l->reward, sizeof l->reward, "%s", q->reward);
    if (l->path == NULL || l->space.count > TACET_CONTEXTUAL_COORDINATES_MOST) {
        return l->path == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a log")
                               : tacet__fail(err, TACET_INVALID, "%zu columns: at most %d", l->space.count,
                                             (int)TACET_CONTEXTUAL_COORDINATES_MOST);
    }
    tacet_space_box(&l->space, l->lower, l->upper);
    return set_lengthscales(l, q, err);
}

/* --- the rows ---------------------------------------------------------------------------------------------------- */

static tacet_status read_cell(const tacet_contextual_log *l, tacet_csv *csv, double *out, size_t i, size_t column,
                              tacet_error *err) {
    const tacet_space_column *c = &l->space.columns[i];
    tacet_error why = {0};
    size_t length = 0;
    const char *text = tacet_csv_field(csv, column, &length);
    const tacet_status status = tacet_space_cell(c, out, NULL, text, length, &why);
    if (status == TACET_OK && i < l->action_columns && !tacet_space_holds(c, *out)) {
        return tacet__fail(err, TACET_INVALID, "row %llu: action '%s' lies outside its bounds",
                           (unsigned long long)tacet_csv_record(csv) + 1, c->name);
    }
    return status == TACET_OK
               ? TACET_OK
               : tacet__fail(err, status, "line %llu, %s", (unsigned long long)tacet_csv_line(csv), why.message);
}

static tacet_status grow(tacet_contextual_log *l, size_t *capacity, tacet_error *err) {
    if (l->count * l->width < *capacity) {
        return TACET_OK;
    }
    const size_t more = *capacity == 0 ? 1024 * l->width : 2 * *capacity;
    double *rows = TACET__ZALLOC(double, more);
    if (rows == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", l->count + 1);
    }
    if (l->rows != NULL) {
        memcpy(rows, l->rows, *capacity * sizeof *rows);
        sodium_memzero(l->rows, *capacity * sizeof *rows);
    }
    free(l->rows);
    l->rows = rows;
    *capacity = more;
    return TACET_OK;
}

static tacet_status read_rows(tacet_contextual_log *l, tacet_error *err) {
    size_t columns[TACET_SPACE_COLUMNS + 1];
    size_t capacity = 0;
    bool found = true;
    tacet_csv *csv = NULL;
    tacet_status status = tacet_csv_open_file(&csv, l->path, NULL, err);
    l->width = l->space.count + 1;
    for (size_t i = 0; i < l->space.count && status == TACET_OK; i++) {
        status = tacet_csv_find(csv, &columns[i], l->space.columns[i].name, err);
    }
    TACET_THEN(status, tacet_csv_find(csv, &columns[l->space.count], l->reward, err));
    size_t person = 0;
    if (status == TACET_OK && l->persons != NULL) {
        status = tacet_csv_find(csv, &person, l->person, err);
    }
    while (status == TACET_OK) {
        status = tacet__persons_next(l->persons, csv, person, &found, err);
        if (status != TACET_OK || !found) {
            break;
        }
        status = grow(l, &capacity, err);
        double *row = status == TACET_OK ? l->rows + l->count * l->width : NULL;
        for (size_t i = 0; i < l->space.count && status == TACET_OK; i++) {
            status = read_cell(l, csv, &row[i], i, columns[i], err);
        }
        if (status == TACET_OK) {
            status = tacet_csv_numbers(csv, row + l->space.count, columns + l->space.count, 1, err);
        }
        l->count += status == TACET_OK ? 1 : 0;
    }
    tacet_csv_close(csv);
    return status;
}

static tacet_status learn_rows(tacet_contextual_log *l, tacet_error *err) {
    double w[TACET_CONTEXTUAL_COORDINATES_MOST];
    tacet_status status = tacet_contextual_learner_create(&l->learner, l->basis, &l->settings, err);
    for (size_t i = 0; i < l->count && status == TACET_OK; i++) {
        const double *row = l->rows + i * l->width;
        tacet_space_embed(&l->space, w, row);
        for (size_t c = 0; c < l->space.count; c++) { /* rounding must not put an action outside its box */
            w[c] = fmin(fmax(w[c], l->lower[c]), l->upper[c]);
        }
        status = tacet_contextual_learner_add(l->learner, w, row[l->space.count], err);
    }
    sodium_memzero(w, sizeof w);
    return status;
}

tacet_status tacet_contextual_log_open(tacet_contextual_log **out, const char *path, const tacet_contextual_question *q,
                                       tacet_error *err) {
    *out = NULL;
    tacet_status status = check(q, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_contextual_log *l = TACET__ZALLOC(tacet_contextual_log, 1);
    if (l == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a log");
    }
    status = adopt(l, path, q, err);
    TACET_THEN(status, make_basis(l, q, err));
    TACET_THEN(status, read_rows(l, err));
    TACET_THEN(status, learn_rows(l, err));
    if (status != TACET_OK) {
        tacet_contextual_log_free(l);
        return status;
    }
    *out = l;
    return TACET_OK;
}

void tacet_contextual_log_free(tacet_contextual_log *l) {
    if (l == NULL) {
        return;
    }
    if (l->rows != NULL) {
        sodium_memzero(l->rows, l->count * l->width * sizeof *l->rows);
    }
    tacet__persons_close(l->persons);
    tacet_contextual_learner_free(l->learner);
    tacet_contextual_basis_free(l->basis);
    tacet_space_clear(&l->space);
    free(l->rows);
    free(l->path);
    free(l);
}
