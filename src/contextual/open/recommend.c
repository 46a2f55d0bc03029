/* SPDX-License-Identifier: Apache-2.0 */
/* recommend.c - a released model asked in the terms of its columns: which actions there are, what a context is.
 * Ring: open. Source: none. Only declared levels and points within the bounds are ever recommended: candidates are made
 * as records of the space (whole numbers where it says so) and embedded from there. Cost: that of the candidates. */
#include "contextual/open/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "space/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_MOST = 1000000 };

void tacet_contextual_candidates_clear(tacet_contextual_candidates *c) {
    free(c->records);
    free(c->points);
    *c = (tacet_contextual_candidates){0};
}

/* The record with number j of the combinations. */
static void record_of(const tacet_space *part, double *out, size_t j, size_t per_axis) {
    for (size_t i = 0; i < part->count; i++) {
        const tacet_space_column *c = &part->columns[i];
        const tacet_space_traits *kind = tacet_space_traits_of(c);
        const size_t n = tacet__space_values(c, per_axis);
        const size_t at = j % n;
        const double x = kind->levels ? (double)at : tacet__space_along(c, n > 1 ? (double)at / (double)(n - 1) : 0.5);
        out[i] = kind->whole ? round(x) : x;
        j /= n;
    }
}

/* The listed actions, as they are. */
static tacet_status take_listed(tacet_contextual_candidates *out, const tacet_contextual_parts *p, tacet_error *err) {
    const size_t numbers = p->action_dim * p->listed_count;
    out->columns = p->action_dim;
    out->count = p->listed_count;
    out->records = TACET__ZALLOC(double, numbers);
    out->points = TACET__ZALLOC(double, numbers);
    if (out->records == NULL || out->points == NULL) {
        tacet_contextual_candidates_clear(out);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu actions", p->listed_count);
    }
    memcpy(out->records, p->listed, numbers * sizeof *out->records);
    memcpy(out->points, p->listed, numbers * sizeof *out->points);
    return TACET_OK;
}

tacet_status tacet_contextual_candidates_make(tacet_contextual_candidates *out, const tacet_contextual_model *model,
                                              size_t per_axis, tacet_error *err) {
    const tacet_contextual_parts *p = &model->parts;
    tacet_space part = {0};
    size_t count = 1;
    bool fits = per_axis >= 2;
    *out = (tacet_contextual_candidates){.columns = p->space != NULL ? p->action_columns : p->action_dim};
    if (p->listed != NULL && p->space == NULL) {
        return take_listed(out, p, err);
    }
    if (p->space != NULL) {
        part = (tacet_space){.columns = p->space->columns, .count = p->action_columns};
    }
    for (size_t i = 0; i < out->columns && fits; i++) {
        const size_t n = p->space != NULL ? tacet__space_values(&part.columns[i], per_axis) : per_axis;
        fits = tacet__size_mul(&count, count, n) && count <= CANDIDATES_MOST;
    }
    if (!fits) {
        return tacet__fail(err, TACET_INVALID, "at least 2 values a number, and at most %d actions in all",
                           (int)CANDIDATES_MOST);
    }
    out->records = TACET__ZALLOC(double, count * out->columns);
    out->points = TACET__ZALLOC(double, count * p->action_dim);
    out->count = count;
    if (out->records == NULL || out->points == NULL) {
        tacet_contextual_candidates_clear(out);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu actions", count);
    }
    if (p->space == NULL) {
        tacet_contextual_action_grid(model, out->points, per_axis);
        memcpy(out->records, out->points, count * p->action_dim * sizeof *out->points);
        return TACET_OK;
    }
    for (size_t j = 0; j < count; j++) {
        double *point = out->points + j * p->action_dim;
        record_of(&part, out->records + j * out->columns, j, per_axis);
        tacet_space_embed(&part, point, out->records + j * out->columns);
        for (size_t c = 0; c < p->action_dim; c++) { /* rounding must not leave the box */
            point[c] = fmin(fmax(point[c], p->lower[c]), p->upper[c]);
        }
    }
    return TACET_OK;
}

size_t tacet_contextual_context_columns(const tacet_contextual_model *model) {
    const tacet_contextual_parts *p = &model->parts;
    return p->space != NULL ? p->space->count - p->action_columns : p->context_dim;
}

tacet_status tacet_contextual_context_point(const tacet_contextual_model *model, double *point, const double *values,
                                            tacet_error *err) {
    const tacet_contextual_parts *p = &model->parts;
    if (p->space == NULL) {
        memcpy(point, values, p->context_dim * sizeof *point);
        return TACET_OK;
    }
    const tacet_space part = {.columns = p->space->columns + p->action_columns,
                              .count = p->space->count - p->action_columns};
    for (size_t i = 0; i < part.count; i++) {
        if (!tacet_space_holds(&part.columns[i], values[i])) {
            return tacet__fail(err, TACET_INVALID, "the context lies outside the bounds of the model: column '%s'",
                               part.columns[i].name);
        }
    }
    tacet_space_embed(&part, point, values);
    for (size_t c = 0; c < p->context_dim; c++) {
        point[c] = fmin(fmax(point[c], p->lower[p->action_dim + c]), p->upper[p->action_dim + c]);
    }
    return TACET_OK;
}

static tacet_status at_row(tacet_status status, size_t row, const tacet_error *why, tacet_error *err) {
    return tacet__fail(err, status, "row %zu (counted from 0): %.200s", row, why->message);
}

/* The point of a record's action. */
static tacet_status action_point(const tacet_contextual_model *model, double *point, const double *record,
                                 tacet_error *err) {
    const tacet_contextual_parts *p = &model->parts;
    if (p->space == NULL) {
        memcpy(point, record, p->action_dim * sizeof *point);
        return TACET_OK;
    }
    const tacet_space part = {.columns = p->space->columns, .count = p->action_columns};
    for (size_t i = 0; i < part.count; i++) {
        if (!tacet_space_holds(&part.columns[i], record[i])) {
            return tacet__fail(err, TACET_INVALID, "the action lies outside the bounds of the model: column '%s'",
                               part.columns[i].name);
        }
    }
    tacet_space_embed(&part, point, record);
    for (size_t c = 0; c < p->action_dim; c++) {
        point[c] = fmin(fmax(point[c], p->lower[c]), p->upper[c]);
    }
    return TACET_OK;
}

tacet_status tacet_contextual_predict_records(const tacet_contextual_model *model, double *means, const double *records,
                                              size_t n, tacet_error *err) {
    const tacet_contextual_parts *p = &model->parts;
    const size_t actions = p->space != NULL ? p->action_columns : p->action_dim;
    const size_t columns = actions + tacet_contextual_context_columns(model);
    double action[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    double context[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        const double *record = records + i * columns;
        tacet_error why = {0};
        tacet_status status = action_point(model, action, record, &why);
        TACET_THEN(status, tacet_contextual_context_point(model, context, record + actions, &why));
        TACET_THEN(status, tacet_contextual_predict(model, &best, means + i, action, 1, context, &why));
        if (status != TACET_OK) {
            return at_row(status, i, &why, err);
        }
    }
    return TACET_OK;
}

tacet_status tacet_contextual_recommend(const tacet_contextual_model *model, size_t *best, double *means,
                                        const tacet_contextual_candidates *candidates, const double *contexts, size_t n,
                                        tacet_error *err) {
    const size_t columns = tacet_contextual_context_columns(model);
    double context[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    double *all = TACET__ZALLOC(double, candidates->count);
    tacet_status status =
        all != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu actions", candidates->count);
    for (size_t i = 0; i < n && status == TACET_OK; i++) {
        tacet_error why = {0};
        status = tacet_contextual_context_point(model, context, contexts + i * columns, &why);
        TACET_THEN(status, tacet_contextual_predict(model, &best[i], all, candidates->points, candidates->count,
                                                    context, &why));
        if (status != TACET_OK) {
            status = at_row(status, i, &why, err);
        } else {
            means[i] = all[best[i]];
        }
    }
    free(all);
    return status;
}
