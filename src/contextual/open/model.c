/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - a released model: a sum of kernel functions, and where it came from.
 * Ring: open. Source: src/contextual/README.md, section 6. Kernel functions at the quadrature nodes, not features:
 * features of equal eigenvalues are defined up to a rotation that differs between machines, their sum is not. Cost:
 * count kernel values an action. */
#include "space/internal.h"
#include "contextual/open/internal.h"

#include "contextual/shared/internal.h"
#include "core/fail.h"
#include "gp/kernel_internal.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool good_space(const tacet_contextual_parts *p) {
    size_t dims[2] = {0};
    for (size_t i = 0; i < p->space->count; i++) {
        dims[i < p->action_columns ? 0 : 1] += tacet_space_column_dims(&p->space->columns[i]);
    }
    return p->action_columns <= p->space->count && dims[0] == p->action_dim && dims[1] == p->context_dim;
}

static tacet_status check(const tacet_contextual_parts *p, tacet_error *err) {
    if (p->action_dim == 0 || p->action_dim > TACET_CONTEXTUAL_COORDINATES_MOST ||
        p->context_dim > TACET_CONTEXTUAL_COORDINATES_MOST - p->action_dim) {
        return tacet__fail(err, TACET_INVALID, "a model has 1 to %d coordinates, one of them an action",
                           (int)TACET_CONTEXTUAL_COORDINATES_MOST);
    }
    const size_t d = p->action_dim + p->context_dim;
    for (size_t i = 0; i < d; i++) {
        if (!(isfinite(p->lower[i]) && isfinite(p->upper[i]) && p->lower[i] < p->upper[i] &&
              isfinite(p->upper[i] - p->lower[i]) && p->lengthscales[i] > 0 && isfinite(p->lengthscales[i]))) {
            return tacet__fail(err, TACET_INVALID,
                               "coordinate %zu: bounds must be finite and ordered, the lengthscale > 0", i + 1);
        }
    }
    if (p->space != NULL && !good_space(p)) {
        return tacet__fail(err, TACET_INVALID, "the model's space has other coordinates than the model");
    }
    if (p->kind != TACET_KERNEL_SE && p->kind != TACET_KERNEL_MATERN) {
        return tacet__fail(err, TACET_INVALID, "the kernel of a model is se or a matern");
    }
    if (p->count == 0 || p->count > TACET_CONTEXTUAL_NODES_MOST || !tacet__all_finite(p->nodes, d * p->count) ||
        !tacet__all_finite(p->weights, p->count) || !isfinite(p->offset) || !isfinite(p->logistic_lo) ||
        !(p->logistic_scale >= 0 && isfinite(p->logistic_scale))) {
        return tacet__fail(err, TACET_INVALID, "a model has 1 to %d nodes, nodes and weights finite",
                           (int)TACET_CONTEXTUAL_NODES_MOST);
    }
    if ((p->listed != NULL) != (p->listed_count > 0) || p->listed_count > TACET_CONTEXTUAL_NODES_MOST ||
        !tacet__all_finite(p->listed, p->action_dim * p->listed_count)) {
        return tacet__fail(err, TACET_INVALID, "a model lists at most %d actions, of finite numbers",
                           (int)TACET_CONTEXTUAL_NODES_MOST);
    }
    if (!(p->eps > 0 && isfinite(p->eps) && p->delta >= 0 && p->delta < 1 && p->predicted_error >= 0 &&
          isfinite(p->predicted_error)) ||
        p->receipt_count > TACET_CONTEXTUAL_RECEIPTS_MOST || !isfinite(p->range[0]) || !isfinite(p->range[1]) ||
        !(p->range[0] <= p->range[1])) {
        return tacet__fail(err, TACET_INVALID, "the claims of a model: eps > 0, delta in [0, 1), at most %d receipts",
                           (int)TACET_CONTEXTUAL_RECEIPTS_MOST);
    }
    return TACET_OK;
}

static void adopt(tacet_contextual_model *m, const tacet_contextual_parts *p) {
    const size_t d = m->d;
    memcpy(m->bounds[0], p->lower, d * sizeof(double));
    memcpy(m->bounds[1], p->upper, d * sizeof(double));
    memcpy(m->bounds[2], p->lengthscales, d * sizeof(double));
    memcpy(m->nodes, p->nodes, d * p->count * sizeof(double));
    memcpy(m->weights, p->weights, p->count * sizeof(double));
    if (p->listed_count > 0) {
        memcpy(m->listed, p->listed, p->action_dim * p->listed_count * sizeof *m->listed);
    }
    if (p->receipt_count > 0) {
        memcpy(m->receipts, p->receipts, p->receipt_count * sizeof *p->receipts);
    }
    for (size_t j = 0; j < p->count; j++) {
        for (size_t c = 0; c < d; c++) {
            m->by_coordinate[c * p->count + j] = p->nodes[j * d + c];
        }
    }
    m->parts = *p;
    m->parts.lower = m->bounds[0];
    m->parts.upper = m->bounds[1];
    m->parts.lengthscales = m->bounds[2];
    m->parts.nodes = m->nodes;
    m->parts.weights = m->weights;
    m->parts.listed = m->listed;
    m->parts.receipts = m->receipts;
    m->parts.space = m->space.count > 0 ? &m->space : NULL;
}

tacet_status tacet_contextual_model_create(tacet_contextual_model **out, const tacet_contextual_parts *parts,
                                           tacet_error *err) {
    *out = NULL;
    tacet_status status = check(parts, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_contextual_model *m = TACET__ZALLOC(tacet_contextual_model, 1);
    if (m == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model");
    }
    m->d = parts->action_dim + parts->context_dim;
    m->nodes = TACET__ZALLOC(double, m->d * parts->count);
    m->weights = TACET__ALIGNED(double, parts->count);
    m->by_coordinate = TACET__ALIGNED(double, m->d * parts->count);
    m->listed = parts->listed_count > 0 ? TACET__ZALLOC(double, parts->action_dim * parts->listed_count) : NULL;
    if (m->nodes == NULL || m->weights == NULL || m->by_coordinate == NULL ||
        (parts->listed_count > 0 && m->listed == NULL)) {
        tacet_contextual_model_free(m);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model of %zu nodes", parts->count);
    }
    status = parts->space != NULL ? tacet_space_copy(&m->space, parts->space, err) : TACET_OK;
    if (status != TACET_OK) {
        tacet_contextual_model_free(m);
        return status;
    }
    adopt(m, parts);
    double unit[TACET_CONTEXTUAL_COORDINATES_MOST];
    for (size_t i = 0; i < m->d; i++) {
        unit[i] = m->bounds[2][i] / (m->bounds[1][i] - m->bounds[0][i]);
    }
    const tacet_kernel_spec spec = {.kind = parts->kind,
                                    .d = m->d,
                                    .matern_p = parts->matern_p,
                                    .signal_var = 1,
                                    .lengthscales = unit,
                                    .lengthscale_count = m->d};
    status = tacet_kernel_create(&m->kernel, &spec, err);
    if (status != TACET_OK) {
        tacet_contextual_model_free(m);
        return status;
    }
    *out = m;
    return TACET_OK;
}

void tacet_contextual_model_free(tacet_contextual_model *model) {
    if (model != NULL) {
        tacet_space_clear(&model->space);
        free(model->nodes);
        free(model->weights);
        free(model->by_coordinate);
        free(model->listed);
        tacet_kernel_free(model->kernel);
        free(model);
    }
}

const tacet_contextual_parts *tacet_contextual_model_parts(const tacet_contextual_model *model) {
    return &model->parts;
}

double tacet__contextual_mean(const tacet_contextual_model *m, const double *unit) {
    double row[TACET__KERNEL_BLOCK];
    const size_t count = m->parts.count;
    double mean = m->parts.offset;
    for (size_t at = 0; at < count; at += TACET__KERNEL_BLOCK) {
        const size_t n = count - at < TACET__KERNEL_BLOCK ? count - at : TACET__KERNEL_BLOCK;
        tacet__kernel_row_soa(m->kernel, row, m->by_coordinate + at, count, n, unit);
        mean += tacet__dot(row, m->weights + at, n);
    }
    return mean;
}

static bool scaled(const tacet_contextual_model *m, double *out, const double *x, size_t first, size_t n) {
    bool inside = true;
    for (size_t i = 0; i < n; i++) {
        const double low = m->bounds[0][first + i];
        const double high = m->bounds[1][first + i];
        inside = inside && x[i] >= low && x[i] <= high;
        out[first + i] = (x[i] - low) / (high - low);
    }
    return inside;
}

tacet_status tacet_contextual_predict(const tacet_contextual_model *model, size_t *best, double *means,
                                      const double *actions, size_t n, const double *context, tacet_error *err) {
    const size_t a = model->parts.action_dim;
    double unit[TACET_CONTEXTUAL_COORDINATES_MOST]; /* an action, then the context */
    size_t top = 0;
    if (n == 0) {
        return tacet__fail(err, TACET_INVALID, "there is no action to choose from");
    }
    if (!scaled(model, unit, context, a, model->parts.context_dim)) {
        return tacet__fail(err, TACET_INVALID, "the context lies outside the bounds of the model");
    }
    for (size_t i = 0; i < n; i++) {
        if (!scaled(model, unit, actions + i * a, 0, a)) {
            return tacet__fail(err, TACET_INVALID, "action %zu lies outside the bounds of the model", i + 1);
        }
        means[i] = tacet__contextual_mean(model, unit);
        if (model->parts.logistic_scale > 0) {
            means[i] = model->parts.logistic_lo + model->parts.logistic_scale / (1 + exp(-means[i]));
        }
        top = means[i] > means[top] ? i : top;
    }
    for (size_t i = 0; i < n && model->parts.minimize; i++) {
        means[i] = -means[i];
    }
    /* After the sign: the range is that of the rewards themselves. */
    for (size_t i = 0; i < n && model->parts.range[0] < model->parts.range[1]; i++) {
        means[i] = fmin(fmax(means[i], model->parts.range[0]), model->parts.range[1]);
    }
    *best = top;
    return TACET_OK;
}

void tacet_contextual_action_grid(const tacet_contextual_model *model, double *actions, size_t per_axis) {
    const size_t a = model->parts.action_dim;
    size_t count = 1;
    per_axis = per_axis > 0 ? per_axis : 1;
    for (size_t i = 0; i < a; i++) {
        count *= per_axis;
    }
    for (size_t j = 0; j < count; j++) {
        size_t rest = j;
        for (size_t c = 0; c < a; c++) {
            const size_t at = rest % per_axis;
            const double t = per_axis > 1 ? (double)at / (double)(per_axis - 1) : 0.5;
            rest /= per_axis;
            actions[j * a + c] = at + 1 == per_axis && per_axis > 1
                                     ? model->bounds[1][c]
                                     : model->bounds[0][c] + t * (model->bounds[1][c] - model->bounds[0][c]);
        }
    }
}
