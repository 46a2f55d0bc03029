/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - a private log in a file: read by a space of typed columns, and what is refused because it would void the
 * proof.
 * Ring: trusted. Source: src/contextual/README.md, "Logs". Every private cell is read by a total function: a context
 * outside its bounds is the nearest within, one of no level the first, so that no refusal tells of it. Actions are
 * public, and refused where they lie outside. Cost: one pass over the file. */
#include "contextual/trusted/log_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "space/internal.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/io/csv.h>

enum { LIST_MOST = 400, SAMPLE_MOST = 60, LATTICE_COLUMNS = 16 };
static const double LENGTHSCALE = 0.3; /* of the width of a numeric column */

static bool is_category(const tacet_space_column *c) {
    return tacet_space_traits_of(c)->levels;
}

/* The same file under any name. */
static bool same_file(const char *a, const char *b) {
    struct stat x;
    struct stat y;
    return strcmp(a, b) == 0 || (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

/* --- what is public ---------------------------------------------------------------------------------------------- */

static tacet_status check(const char *path, const tacet_contextual_question *q, tacet_error *err) {
    if (q->space == NULL || q->action_columns == 0 || q->action_columns > q->space->count || q->reward == NULL ||
        strlen(q->reward) >= TACET_SPACE_NAME || (q->propensity != NULL && strlen(q->propensity) >= TACET_SPACE_NAME)) {
        return tacet__fail(err, TACET_INVALID, "a log has at least one action column, and a reward column");
    }
    if ((q->person != NULL || q->persons != NULL) != (q->rows_per_person > 0) ||
        (path != NULL ? q->persons != NULL : q->person != NULL) ||
        (q->person != NULL && strlen(q->person) >= TACET_SPACE_NAME)) {
        return tacet__fail(err, TACET_INVALID,
                           "a column that says whose row it is (--person) and how many rows each person may have "
                           "(--rows-per-person) go together");
    }
    const char *law = q->public_contexts;
    if (law != NULL && q->action_columns == q->space->count) {
        return tacet__fail(err, TACET_INVALID, "a law of contexts needs context columns");
    }
    if (law != NULL && path != NULL && same_file(law, path)) {
        return tacet__fail(err, TACET_INVALID,
                           "the law of contexts is taken from the private log itself: that would void the proof of "
                           "privacy");
    }
    if (q->lengthscale_count > 1 && q->lengthscale_count != q->space->count) {
        return tacet__fail(err, TACET_INVALID, "%zu lengthscales for %zu columns: one, or one for each",
                           q->lengthscale_count, q->space->count);
    }
    for (size_t i = 0; q->groups != NULL && i < q->space->count; i++) {
        if (q->groups[i] >= q->space->count) {
            return tacet__fail(err, TACET_INVALID, "column '%s' is in group %zu: groups are numbered from 0",
                               q->space->columns[i].name, q->groups[i]);
        }
    }
    return TACET_OK;
}

/* The lengthscale of a column, in its own units, as one of its coordinates. */
static tacet_status set_lengthscales(tacet_contextual_log *l, const tacet_contextual_question *q, tacet_error *err) {
    size_t at = 0;
    for (size_t i = 0; i < l->space.count; i++) {
        const tacet_space_column *c = &l->space.columns[i];
        const bool said = q->lengthscale_count > 1 || (q->lengthscale_count == 1 && !is_category(c));
        const double given = said ? q->lengthscales[q->lengthscale_count > 1 ? i : 0] : 0;
        const bool factor = tacet_space_traits_of(c)->factor;
        if (said && !(given > (factor ? 1 : 0) && isfinite(given))) {
            return tacet__fail(err, TACET_INVALID, "column '%s': a lengthscale is finite and above %d", c->name,
                               factor ? 1 : 0);
        }
        const double width = is_category(c) ? 1 : tacet__space_stretch(c, c->hi) - tacet__space_stretch(c, c->lo);
        for (size_t k = 0; k < tacet_space_column_dims(c); k++, at++) {
            const bool number = !is_category(c) && k == 0;
            const double span = l->upper[at] - l->lower[at];
            l->groups[at] = q->groups != NULL ? q->groups[i] : 0;
            l->lengthscales[at] = !number ? (said && is_category(c) ? given : 1)
                                  : said  ? tacet__space_stretch(c, given) / width * span
                                          : LENGTHSCALE * span;
        }
    }
    return TACET_OK;
}

/* The columns from `first` to `end`, embedded: all combinations of levels and per_axis values of numbers; where these
 * are too many and the function is a sum over groups, the points of a lattice, unless all are levels of actions. */
static tacet_status make_list(tacet_contextual_log *l, double **out, size_t *count, size_t first, size_t end,
                              bool additive, tacet_error *err) {
    const tacet_space part = {.columns = l->space.columns + first, .count = end - first};
    const size_t dims = tacet_space_dims(&part);
    size_t numbers = 0;
    size_t all = 1;
    for (size_t i = 0; i < part.count; i++) {
        numbers += is_category(&part.columns[i]) ? 0 : 1;
    }
    const size_t per_axis = numbers <= 1 ? 16 : numbers == 2 ? 8 : 5;
    const bool spread = additive && (numbers > 0 || first > 0) && part.count <= LATTICE_COLUMNS; /* a lattice will do */
    const size_t most = spread ? TACET__CONTEXTUAL_LATTICE : LIST_MOST;
    bool few = true;
    for (size_t i = 0; i < part.count; i++) {
        const size_t n = is_category(&part.columns[i]) ? part.columns[i].level_count : per_axis;
        few = few && tacet__size_mul(&all, all, n) && all <= most;
    }
    if (!few && !spread) {
        return tacet__fail(err, TACET_INVALID, "too many combinations of levels: at most %d, numbers at %zu values",
                           (int)LIST_MOST, per_axis);
    }
    all = few ? all : TACET__CONTEXTUAL_LATTICE;
    *out = TACET__ZALLOC(double, all *dims + 1);
    double *record = TACET__ZALLOC(double, part.count + 1);
    double *at = TACET__ZALLOC(double, all *part.count + 1);
    if (*out == NULL || record == NULL || at == NULL) {
        free(record);
        free(at);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu points", all);
    }
    if (!few) {
        tacet__contextual_lattice(at, part.count, all);
    }
    for (size_t j = 0; j < all; j++) {
        size_t rest = j;
        for (size_t i = 0; i < part.count; i++) {
            const tacet_space_column *c = &part.columns[i];
            const size_t n = is_category(c) ? c->level_count : per_axis;
            const double t = few ? ((double)(rest % n) + 0.5) / (double)n : at[j * part.count + i];
            record[i] = is_category(c) ? floor(t * (double)n) : tacet__space_along(c, t);
            rest /= n;
        }
        tacet_space_embed(&part, *out + j * dims, record);
    }
    *count = all;
    free(record);
    free(at);
    return TACET_OK;
}

/* A public sample: an even choice of at most SAMPLE_MOST of its rows. */
static tacet_status load_sample(tacet_contextual_log *l, const char *path, tacet_error *err) {
    const tacet_space part = {.columns = l->space.columns + l->action_columns,
                              .count = l->space.count - l->action_columns};
    const size_t dims = l->dims - l->action_dims;
    const char *names[TACET_SPACE_COLUMNS];
    tacet_csv_table table;
    for (size_t i = 0; i < part.count; i++) {
        names[i] = part.columns[i].name;
        if (is_category(&part.columns[i])) {
            return tacet__fail(err, TACET_UNSUPPORTED, "a public sample of contexts has numeric columns only");
        }
    }
    const tacet_csv_wanted wanted = {.columns = names, .d = part.count};
    const tacet_status status = tacet_csv_load_file(&table, path, &wanted, err);
    if (status != TACET_OK) {
        return status;
    }
    const size_t kept = table.n < SAMPLE_MOST ? table.n : SAMPLE_MOST;
    l->contexts = TACET__ZALLOC(double, kept *dims);
    for (size_t k = 0; k < kept && l->contexts != NULL; k++) {
        tacet_space_embed(&part, l->contexts + k * dims, table.values + k * table.n / kept * table.d);
    }
    l->context_count = kept;
    tacet_csv_table_clear(&table);
    return l->contexts == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for the public contexts") : TACET_OK;
}

static tacet_status make_basis(tacet_contextual_log *l, const tacet_contextual_question *q, tacet_error *err) {
    tacet_status status = TACET_OK;
    if (q->public_contexts != NULL) {
        status = load_sample(l, q->public_contexts, err);
    }
    if (status == TACET_OK && l->lists) {
        status = make_list(l, &l->actions, &l->action_count, 0, l->action_columns, q->groups != NULL, err);
    }
    if (status == TACET_OK && l->lists && l->contexts == NULL && l->dims > l->action_dims) {
        status =
            make_list(l, &l->contexts, &l->context_count, l->action_columns, l->space.count, q->groups != NULL, err);
    }
    l->settings.law_stated = q->public_contexts != NULL;
    const bool sample = q->public_contexts != NULL && !l->lists;
    const tacet_contextual_space space = {.action_dim = l->action_dims,
                                          .context_dim = l->dims - l->action_dims,
                                          .lower = l->lower,
                                          .upper = l->upper,
                                          .kind = q->kind,
                                          .matern_p = q->matern_p,
                                          .lengthscales = l->lengthscales,
                                          .lengthscale_count = l->dims,
                                          .groups = q->groups != NULL ? l->groups : NULL,
                                          .actions = l->actions,
                                          .action_count = l->action_count,
                                          .contexts = l->contexts,
                                          .context_count = l->context_count,
                                          .order = sample ? (l->action_dims == 1 ? 24 : 8) : 0};
    return status == TACET_OK ? tacet_contextual_basis_create(&l->basis, &space, 0, err) : status;
}

static tacet_status adopt(tacet_contextual_log *l, const char *path, const tacet_contextual_question *q,
                          tacet_error *err) {
    bool discrete = true;
    tacet_status status = tacet_space_copy(&l->space, q->space, err);
    if (status != TACET_OK) {
        return status;
    }
    l->path = path != NULL ? strdup(path) : NULL;
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
    (void)snprintf(l->propensity, sizeof l->propensity, "%s", q->propensity != NULL ? q->propensity : "");
    for (size_t i = 0; i < l->space.count; i++) {
        const tacet_space_column *c = &l->space.columns[i];
        l->dims += tacet_space_column_dims(c);
        l->action_dims += i < l->action_columns ? tacet_space_column_dims(c) : 0;
        l->lists = l->lists || tacet_space_column_dims(c) != 1 || is_category(c);
        discrete = discrete && (i >= l->action_columns || is_category(c));
    }
    if ((path != NULL && l->path == NULL) || l->dims > TACET_CONTEXTUAL_COORDINATES_MOST) {
        return path != NULL && l->path == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a log")
                                               : tacet__fail(err, TACET_INVALID,
                                                             "%zu coordinates: at most %d, one less than the levels "
                                                             "for a category",
                                                             l->dims, (int)TACET_CONTEXTUAL_COORDINATES_MOST);
    }
    l->settings.discrete = discrete;
    l->settings.propensities = q->propensity != NULL;
    if (q->propensity != NULL && !discrete) {
        return tacet__fail(err, TACET_INVALID, "propensities need actions that are levels");
    }
    tacet_space_box(&l->space, l->lower, l->upper);
    return set_lengthscales(l, q, err);
}

/* --- the rows ---------------------------------------------------------------------------------------------------- */

/* A cell of a column. Private ones of no level become NaN, which counts as the first level. */
static tacet_status read_cell(const tacet_contextual_log *l, tacet_csv *csv, double *out, size_t i, size_t column,
                              tacet_error *err) {
    const tacet_space_column *c = &l->space.columns[i];
    tacet_error why = {0};
    size_t length = 0;
    const char *text = tacet_csv_field(csv, column, &length);
    tacet_status status = tacet_space_cell(c, out, NULL, text, length, &why);
    if (status != TACET_OK && i >= l->action_columns && is_category(c)) {
        *out = NAN;
        return TACET_OK;
    }
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
    size_t columns[TACET_SPACE_COLUMNS + 2];
    size_t capacity = 0;
    bool found = true;
    tacet_csv *csv = NULL;
    tacet_status status = tacet_csv_open_file(&csv, l->path, NULL, err);
    l->width = l->space.count + 2;
    const size_t numbers = l->propensity[0] != '\0' ? 2 : 1;
    for (size_t i = 0; i < l->space.count && status == TACET_OK; i++) {
        status = tacet_csv_find(csv, &columns[i], l->space.columns[i].name, err);
    }
    status = status == TACET_OK ? tacet_csv_find(csv, &columns[l->space.count], l->reward, err) : status;
    if (status == TACET_OK && numbers == 2) {
        status = tacet_csv_find(csv, &columns[l->space.count + 1], l->propensity, err);
    }
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
            status = tacet_csv_numbers(csv, row + l->space.count, columns + l->space.count, numbers, err);
        }
        l->count += status == TACET_OK ? 1 : 0;
    }
    tacet_csv_close(csv);
    return status;
}

static tacet_status learn_rows(tacet_contextual_log *l, tacet_error *err) {
    double record[TACET_SPACE_COLUMNS];
    double w[TACET_CONTEXTUAL_COORDINATES_MOST];
    tacet_status status = tacet_contextual_learner_create(&l->learner, l->basis, &l->settings, err);
    if (status == TACET_OK) {
        l->learner->space = &l->space;
        l->learner->action_columns = l->action_columns;
    }
    for (size_t i = 0; i < l->count && status == TACET_OK; i++) {
        const double *row = l->rows + i * l->width;
        for (size_t c = 0; c < l->space.count; c++) {
            record[c] = isnan(row[c]) && is_category(&l->space.columns[c]) ? 0 : row[c];
        }
        tacet_space_embed(&l->space, w, record);
        for (size_t c = 0; c < l->dims; c++) { /* rounding must not put an action outside its box */
            w[c] = fmin(fmax(w[c], l->lower[c]), l->upper[c]);
        }
        status = tacet_contextual_learner_add_logged(l->learner, w, row[l->space.count],
                                                     l->settings.propensities ? row[l->space.count + 1] : 1, err);
    }
    sodium_memzero(record, sizeof record);
    sodium_memzero(w, sizeof w);
    (void)crypto_generichash(l->hash, sizeof l->hash, (const unsigned char *)l->rows,
                             l->count * l->width * sizeof(double), NULL, 0);
    return status;
}

/* A number of a table in memory: what is public is refused, what is private is read by a total function. */
static tacet_status settle_number(const tacet_contextual_log *l, double *cell, size_t row, size_t i, tacet_error *err) {
    const tacet_space_column *c = &l->space.columns[i];
    if (isnan(*cell) && c->missing == TACET_SPACE_STAND_IN) {
        *cell = c->stand_in;
    }
    if (i < l->action_columns) {
        return tacet_space_holds(c, *cell)
                   ? TACET_OK
                   : tacet__fail(err, TACET_INVALID, "row %zu (counted from 0): action '%s' lies outside its bounds",
                                 row, c->name);
    }
    if (is_category(c) && !(*cell >= 0 && *cell < (double)c->level_count && *cell == floor(*cell))) {
        *cell = NAN;
    } else if (!is_category(c) && isnan(*cell) && c->missing == TACET_SPACE_REFUSED) {
        return tacet__fail(err, TACET_PARSE, "row %zu (counted from 0): column '%s' is missing", row, c->name);
    }
    return TACET_OK;
}

static tacet_status copy_rows(tacet_contextual_log *l, const double *rows, const uint64_t *persons, size_t count,
                              tacet_error *err) {
    const size_t d = l->space.count;
    const size_t numbers = l->propensity[0] != '\0' ? 2 : 1;
    size_t all = 0;
    l->width = d + 2;
    l->rows = tacet__size_mul(&all, count, l->width) ? TACET__ZALLOC(double, all + 1) : NULL;
    if (l->rows == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", count);
    }
    for (size_t j = 0; j < count; j++) {
        double *row = l->rows + l->count * l->width;
        bool keep = true;
        tacet_status status = TACET_OK;
        if (l->persons != NULL) {
            const uint64_t who = tacet__persons_hash(l->persons, &persons[j], sizeof *persons);
            status = tacet__persons_keep(l->persons, &keep, who, err);
        }
        if (status == TACET_OK && !keep) {
            continue;
        }
        memcpy(row, rows + j * (d + numbers), (d + numbers) * sizeof *row);
        for (size_t i = 0; i < d && status == TACET_OK; i++) {
            status = settle_number(l, &row[i], j, i, err);
        }
        if (status != TACET_OK) {
            return status;
        }
        for (size_t i = d; i < d + numbers; i++) {
            if (!isfinite(row[i])) {
                return tacet__fail(err, TACET_PARSE, "row %zu (counted from 0): column '%s' is not a finite number", j,
                                   i == d ? l->reward : l->propensity);
            }
        }
        l->count++;
    }
    return TACET_OK;
}

/* From a file, or from rows in memory. */
static tacet_status open_log(tacet_contextual_log **out, const char *path, const double *rows, size_t count,
                             const tacet_contextual_question *q, tacet_error *err) {
    *out = NULL;
    tacet_status status = check(path, q, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_contextual_log *l = TACET__ZALLOC(tacet_contextual_log, 1);
    if (l == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a log");
    }
    status = adopt(l, path, q, err);
    if (status == TACET_OK) {
        status = make_basis(l, q, err);
    }
    if (status == TACET_OK) {
        status = path != NULL ? read_rows(l, err) : copy_rows(l, rows, q->persons, count, err);
    }
    if (status == TACET_OK) {
        status = learn_rows(l, err);
    }
    if (status != TACET_OK) {
        tacet_contextual_log_free(l);
        return status;
    }
    *out = l;
    return TACET_OK;
}

tacet_status tacet_contextual_log_open(tacet_contextual_log **out, const char *path, const tacet_contextual_question *q,
                                       tacet_error *err) {
    return open_log(out, path, NULL, 0, q, err);
}

tacet_status tacet_contextual_log_open_rows(tacet_contextual_log **out, const double *rows, size_t count,
                                            const tacet_contextual_question *q, tacet_error *err) {
    return open_log(out, NULL, rows, count, q, err);
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
    free(l->actions);
    free(l->contexts);
    free(l->rows);
    free(l->path);
    sodium_memzero(l->hash, sizeof l->hash);
    free(l);
}

const tacet_contextual_learner *tacet_contextual_log_learner(const tacet_contextual_log *l) {
    return l->learner;
}
