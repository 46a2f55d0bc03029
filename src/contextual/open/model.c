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

static tacet_status check(const tacet_contextual_parts *p, tacet_error *err) {
    const size_t d = p->action_dim;
    if (d == 0 || d > TACET_CONTEXTUAL_COORDINATES_MOST) {
        return tacet__fail(err, TACET_INVALID, "a model has 1 to %d coordinates",
                           (int)TACET_CONTEXTUAL_COORDINATES_MOST);
    }
    for (size_t i = 0; i < d; i++) {
        if (!(isfinite(p->lower[i]) && isfinite(p->upper[i]) && p->lower[i] < p->upper[i] &&
              isfinite(p->upper[i] - p->lower[i]) && p->lengthscales[i] > 0 && isfinite(p->lengthscales[i]))) {
            return tacet__fail(err, TACET_INVALID,
                               "coordinate %zu: bounds must be finite and ordered, the lengthscale > 0", i + 1);
        }
    }
    if (p->space != NULL && tacet_space_dims(p->space) != d) {
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
        !tacet__all_finite(p->listed, d * p->listed_count)) {
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
    const size_t d = p->action_dim;
    memcpy(m->bounds[0], p->lower, d * sizeof(double));
    memcpy(m->bounds[1], p->upper, d * sizeof(double));
    memcpy(m->bounds[2], p->lengthscales, d * sizeof(double));
    memcpy(m->nodes, p->nodes, d * p->count * sizeof(double));
    memcpy(m->weights, p->weights, p->count * sizeof(double));
    if (p->listed_count > 0) {
        memcpy(m->listed, p->listed, d * p->listed_count * sizeof *m->listed);
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
    TACET_OR_RETURN(check(parts, err));
    tacet_contextual_model *m = TACET__ZALLOC(tacet_contextual_model, 1);
    if (m == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model");
    }
    const size_t d = parts->action_dim;
    m->nodes = TACET__ZALLOC(double, d * parts->count);
    m->weights = TACET__ALIGNED(double, parts->count);
    m->by_coordinate = TACET__ALIGNED(double, d * parts->count);
    m->listed = parts->listed_count > 0 ? TACET__ZALLOC(double, d * parts->listed_count) : NULL;
    if (m->nodes == NULL || m->weights == NULL || m->by_coordinate == NULL ||
        (parts->listed_count > 0 && m->listed == NULL)) {
        tacet_contextual_model_free(m);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model of %zu nodes", parts->count);
    }
    tacet_status status = parts->space != NULL ? tacet_space_copy(&m->space, parts->space, err) : TACET_OK;
    if (status != TACET_OK) {
        tacet_contextual_model_free(m);
        return status;
    }
    adopt(m, parts);
    double unit[TACET_CONTEXTUAL_COORDINATES_MOST];
    for (size_t i = 0; i < d; i++) {
        unit[i] = m->bounds[2][i] / (m->bounds[1][i] - m->bounds[0][i]);
    }
    const tacet_kernel_spec spec = {.kind = parts->kind,
                                    .d = d,
                                    .matern_p = parts->matern_p,
                                    .signal_var = 1,
                                    .lengthscales = unit,
                                    .lengthscale_count = d};
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

static bool scaled(const tacet_contextual_model *m, double *out, const double *x) {
    bool inside = true;
    for (size_t i = 0; i < m->parts.action_dim; i++) {
        const double low = m->bounds[0][i], high = m->bounds[1][i];
        inside = inside && x[i] >= low && x[i] <= high;
        out[i] = (x[i] - low) / (high - low);
    }
    return inside;
}

tacet_status tacet_contextual_predict(const tacet_contextual_model *model, size_t *best, double *means,
                                      const double *actions, size_t n, tacet_error *err) {
    const size_t a = model->parts.action_dim;
    double unit[TACET_CONTEXTUAL_COORDINATES_MOST];
    size_t top = 0;
    if (n == 0) {
        return tacet__fail(err, TACET_INVALID, "there is no action to choose from");
    }
    for (size_t i = 0; i < n; i++) {
        if (!scaled(model, unit, actions + i * a)) {
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
