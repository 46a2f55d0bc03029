/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the mean of a released model on a grid, and between its points by local polynomials.
 * Ring: open. A prediction over many actions in one context is made in two steps: the context's coordinates are
 * interpolated once, for all grid points of the actions; then each action takes 8 points a coordinate. The grid reaches
 * three cells beyond the box, where the mean is defined as well, so that every interpolation is centred: with cells of
 * h, a wave of frequency f per unit errs by about 0.001 (2 pi f h)^8 of its size. How fine is enough is measured, not
 * presumed. Source: Lagrange interpolation on equispaced points. Cost: points x nodes kernel values to make; 8^contexts
 * numbers a grid point of the actions and 8^actions an action, to use; nothing is allocated then. */
#include "contextual/open/internal.h"

#include "gp/domain.h"
#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAPS = 8, BEYOND = 3, TABLE_MOST = 1 << 20, PROBES = 512, CELLS_LEAST = 4 };
static const double COARSEST = 6; /* cells a lengthscale, at first */
static const double FINER = 1.5;

/* Weights of the TAPS points about a coordinate of the unit box; returns the first of them. */
static size_t taps(double *weights, double x, size_t cells) {
    /* (-1)^(7-k) / (k! (7-k)!) */
    static const double OVER[TAPS] = {-1.0 / 5040, 1.0 / 720, -1.0 / 240, 1.0 / 144,
                                      -1.0 / 144,  1.0 / 240, -1.0 / 720, 1.0 / 5040};
    const double at = x * (double)cells;
    const double cell = fmin(floor(at), (double)(cells - 1));
    const double t = at - cell + BEYOND;
    double before[TAPS];
    double after = 1;
    before[0] = 1;
    for (size_t k = 1; k < TAPS; k++) {
        before[k] = before[k - 1] * (t - (double)(k - 1));
    }
    for (size_t k = TAPS; k-- > 0;) {
        weights[k] = OVER[k] * before[k] * after;
        after *= t - (double)k;
    }
    return (size_t)cell;
}

const double *tacet__contextual_table_at(const tacet_contextual_model *model, double *room, const double *unit) {
    const tacet__contextual_table *t = &model->table;
    const size_t a = model->parts.action_dim;
    const size_t contexts = model->parts.context_dim;
    double weights[TACET_CONTEXTUAL_DIM_MOST][TAPS];
    size_t first[TACET_CONTEXTUAL_DIM_MOST];
    size_t combinations = 1;
    if (contexts == 0) {
        return t->values;
    }
    for (size_t c = 0; c < contexts; c++) {
        first[c] = taps(weights[c], unit[a + c], t->cells[a + c]);
        combinations *= TAPS;
    }
    memset(room, 0, t->action_points * sizeof *room);
    for (size_t k = 0; k < combinations; k++) {
        size_t rest = k;
        size_t at = 0;
        size_t stride = 1;
        double weight = 1;
        for (size_t c = 0; c < contexts; c++) {
            weight *= weights[c][rest % TAPS];
            at += stride * (first[c] + rest % TAPS);
            stride *= t->points[a + c];
            rest /= TAPS;
        }
        tacet__axpy(room, weight, t->values + at * t->action_points, t->action_points);
    }
    return room;
}

double tacet__contextual_table_mean(const tacet_contextual_model *model, const double *values, const double *unit) {
    const tacet__contextual_table *t = &model->table;
    const size_t a = model->parts.action_dim;
    double weights[TACET_CONTEXTUAL_DIM_MOST][TAPS];
    size_t first[TACET_CONTEXTUAL_DIM_MOST];
    size_t combinations = 1;
    double mean = 0;
    for (size_t c = 0; c < a; c++) {
        first[c] = taps(weights[c], unit[c], t->cells[c]);
        combinations *= c > 0 ? TAPS : 1;
    }
    for (size_t k = 0; k < combinations; k++) {
        size_t rest = k;
        size_t at = first[0];
        size_t stride = t->points[0];
        double weight = 1;
        double sum = 0;
        for (size_t c = 1; c < a; c++) {
            weight *= weights[c][rest % TAPS];
            at += stride * (first[c] + rest % TAPS);
            stride *= t->points[c];
            rest /= TAPS;
        }
        for (size_t i = 0; i < TAPS; i++) {
            sum += weights[0][i] * values[at + i];
        }
        mean += weight * sum;
    }
    return mean;
}

/* Sizes for cells of 1/fineness lengthscales; false: too many points. */
static bool size_table(tacet__contextual_table *t, const tacet_contextual_model *m, double fineness) {
    const size_t a = m->parts.action_dim;
    t->action_points = t->context_points = 1;
    for (size_t c = 0; c < m->d; c++) {
        const double cells = ceil(fineness * (m->bounds[1][c] - m->bounds[0][c]) / m->bounds[2][c]);
        size_t *product = c < a ? &t->action_points : &t->context_points;
        if (!(cells < TABLE_MOST)) {
            return false;
        }
        t->cells[c] = cells < CELLS_LEAST ? CELLS_LEAST : (size_t)cells;
        t->points[c] = t->cells[c] + 1 + 2 * BEYOND;
        *product *= t->points[c];
        if (*product > TABLE_MOST) {
            return false;
        }
    }
    return t->action_points * t->context_points <= TABLE_MOST &&
           (a == m->d || t->action_points <= TACET__CONTEXTUAL_ACTION_POINTS);
}

static void fill(tacet__contextual_table *t, const tacet_contextual_model *m) {
    const size_t all = t->action_points * t->context_points;
    for (size_t j = 0; j < all; j++) {
        double unit[TACET_CONTEXTUAL_DIM_MOST] = {0};
        size_t rest = j;
        for (size_t c = 0; c < m->d; c++) {
            unit[c] = ((double)(rest % t->points[c]) - BEYOND) / (double)t->cells[c];
            rest /= t->points[c];
        }
        t->values[j] = tacet__contextual_mean(m, unit);
    }
}

/* Where table and kernel values are compared: all over the box, and close beside nodes. */
static void probes(double *X, const tacet_contextual_model *m) {
    static const double LOWER[TACET_CONTEXTUAL_DIM_MOST] = {0};
    static const double UPPER[TACET_CONTEXTUAL_DIM_MOST] = {1, 1, 1, 1};
    const tacet_domain box = {.kind = TACET_DOMAIN_BOX, .d = m->d, .lower = LOWER, .upper = UPPER};
    tacet__domain_spread(&box, X, PROBES);
    for (size_t j = 0; j < PROBES / 2; j++) {
        const size_t node = j * m->parts.count / (PROBES / 2);
        for (size_t c = 0; c < m->d; c++) {
            const double offset =
                0.03 * (X[j * m->d + c] - 0.5) * m->bounds[2][c] / (m->bounds[1][c] - m->bounds[0][c]);
            X[j * m->d + c] = fmin(fmax(m->nodes[node * m->d + c] + offset, 0), 1);
        }
    }
}

static double largest_error(const tacet_contextual_model *m, const double *X, const double *direct) {
    double room[TACET__CONTEXTUAL_ACTION_POINTS];
    double most = 0;
    for (size_t j = 0; j < PROBES; j++) {
        const double *unit = X + j * m->d;
        const double *values = tacet__contextual_table_at(m, room, unit);
        most = fmax(most, fabs(tacet__contextual_table_mean(m, values, unit) - direct[j]));
    }
    return most;
}

tacet_status tacet_contextual_model_tabulate(tacet_contextual_model *model, double *error, double tolerance,
                                             tacet_error *err) {
    tacet__contextual_table old = model->table;
    tacet_status status = TACET_OK;
    double most = INFINITY;
    if (error != NULL) {
        *error = NAN;
    }
    if (!(tolerance > 0)) {
        return tacet__fail(err, TACET_INVALID, "a table needs a tolerance > 0");
    }
    if (model->d > TACET_CONTEXTUAL_DIM_MOST) {
        return tacet__fail(err, TACET_UNSUPPORTED, "a table has at most %d coordinates",
                           (int)TACET_CONTEXTUAL_DIM_MOST);
    }
    double *X = TACET__ZALLOC(double, PROBES * model->d);
    double *direct = TACET__ZALLOC(double, PROBES);
    if (X == NULL || direct == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table");
    } else {
        probes(X, model);
        for (size_t j = 0; j < PROBES; j++) {
            direct[j] = tacet__contextual_mean(model, X + j * model->d);
        }
    }
    model->table.values = NULL;
    double fineness = COARSEST / FINER;
    while (status == TACET_OK && !(most <= tolerance)) {
        fineness *= FINER;
        free(model->table.values);
        model->table.values = NULL;
        if (!size_table(&model->table, model, fineness)) {
            status = tacet__fail(err, TACET_UNSUPPORTED, "no table of %d numbers is within the tolerance", TABLE_MOST);
            break;
        }
        model->table.values = TACET__ALIGNED(double, model->table.action_points * model->table.context_points);
        if (model->table.values == NULL) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table");
            break;
        }
        fill(&model->table, model);
        most = largest_error(model, X, direct);
    }
    if (status == TACET_OK) {
        free(old.values);
        if (error != NULL) {
            *error = most;
        }
    } else {
        free(model->table.values);
        model->table = old;
    }
    free(X);
    free(direct);
    return status;
}
