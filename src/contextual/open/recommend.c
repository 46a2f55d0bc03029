/* SPDX-License-Identifier: Apache-2.0 */
/* recommend.c - a released model asked in the terms of its columns: which actions there are, what they earn.
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
static void record_of(const tacet_space *space, double *out, size_t j, size_t per_axis) {
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        const tacet_space_traits *kind = tacet_space_traits_of(c);
        const size_t n = tacet__space_values(c, per_axis);
        const size_t at = j % n;
        const double x = kind->levels ? (double)at : tacet__space_along(c, n > 1 ? (double)at / (double)(n - 1) : 0.5);
        out[i] = kind->whole ? round(x) : x;
        j /= n;
    }
}

/* Equispaced, end points included. */
static void action_grid(const tacet_contextual_parts *p, double *actions, size_t count, size_t per_axis) {
    for (size_t j = 0; j < count; j++) {
        size_t rest = j;
        for (size_t c = 0; c < p->action_dim; c++) {
            const size_t at = rest % per_axis;
            rest /= per_axis;
            actions[j * p->action_dim + c] =
                at + 1 == per_axis ? p->upper[c]
                                   : p->lower[c] + (double)at / (double)(per_axis - 1) * (p->upper[c] - p->lower[c]);
        }
    }
}

/* Rounding must not leave the box. */
static void embed(const tacet_contextual_parts *p, double *point, const double *record) {
    tacet_space_embed(p->space, point, record);
    for (size_t c = 0; c < p->action_dim; c++) {
        point[c] = fmin(fmax(point[c], p->lower[c]), p->upper[c]);
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
    size_t count = 1;
    bool fits = per_axis >= 2;
    *out = (tacet_contextual_candidates){.columns = p->space != NULL ? p->space->count : p->action_dim};
    if (p->listed != NULL && p->space == NULL) {
        return take_listed(out, p, err);
    }
    for (size_t i = 0; i < out->columns && fits; i++) {
        const size_t n = p->space != NULL ? tacet__space_values(&p->space->columns[i], per_axis) : per_axis;
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
        action_grid(p, out->points, count, per_axis);
        memcpy(out->records, out->points, count * p->action_dim * sizeof *out->points);
        return TACET_OK;
    }
    for (size_t j = 0; j < count; j++) {
        record_of(p->space, out->records + j * out->columns, j, per_axis);
        embed(p, out->points + j * p->action_dim, out->records + j * out->columns);
    }
    return TACET_OK;
}

/* The point of a record. */
static tacet_status action_point(const tacet_contextual_model *model, double *point, const double *record,
                                 tacet_error *err) {
    const tacet_contextual_parts *p = &model->parts;
    if (p->space == NULL) {
        memcpy(point, record, p->action_dim * sizeof *point);
        return TACET_OK;
    }
    for (size_t i = 0; i < p->space->count; i++) {
        if (!tacet_space_holds(&p->space->columns[i], record[i])) {
            return tacet__fail(err, TACET_INVALID, "the action lies outside the bounds of the model: column '%s'",
                               p->space->columns[i].name);
        }
    }
    embed(p, point, record);
    return TACET_OK;
}

tacet_status tacet_contextual_predict_records(const tacet_contextual_model *model, double *means, const double *records,
                                              size_t n, tacet_error *err) {
    const tacet_contextual_parts *p = &model->parts;
    const size_t columns = p->space != NULL ? p->space->count : p->action_dim;
    double action[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        tacet_error why = {0};
        tacet_status status = action_point(model, action, records + i * columns, &why);
        TACET_THEN(status, tacet_contextual_predict(model, &best, means + i, action, 1, &why));
        if (status != TACET_OK) {
            return tacet__fail(err, status, "row %zu (counted from 0): %.200s", i, why.message);
        }
    }
    return TACET_OK;
}
