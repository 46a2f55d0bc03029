/* SPDX-License-Identifier: Apache-2.0 */
/* smooth.c - effects that are smooth along bins of numbers, as features of cells; and values between bins.
 * Ring: open. Source: src/ab/README.md, "Numbers". A family's effects have covariance R_1 x R_2 x … over its columns, R
 * squared exponential along bins and the identity over levels; its leading eigenvectors are products of those of the
 * columns. Cost: an eigenproblem a column, at most 16 x 16 for bins. */
#include "ab/open/internal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES_MOST = 48, POINTS = 3 };
static const double EIGENVALUE_LEAST = 1e-3; /* of the largest */
/* Values between bins: lengthscale in bins of the function that is laid through their means, and how far it may pass
 * by them, as a share of its variance. */
static const double BLEND_BINS = 2, BLEND_SLACK = 1e-3;

typedef struct axis {
    size_t count;
    double *values, *vectors;
} axis;

typedef struct mode {
    double value;
    size_t number;
} mode;

static int by_value(const void *a, const void *b) {
    const mode *x = a, *y = b;
    return x->value > y->value ? -1 : x->value < y->value ? 1 : x->number < y->number ? -1 : x->number > y->number;
}

static tacet_status make_axis(axis *x, size_t count, bool smooth, double lengthscale, tacet_error *err) {
    x->count = count;
    x->values = TACET__ZALLOC(double, count);
    x->vectors = TACET__ZALLOC(double, count *count);
    if (x->values == NULL || x->vectors == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu bins", count);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            const double r = ((double)i - (double)j) / ((double)count * lengthscale);
            x->vectors[i * count + j] = smooth ? exp(-0.5 * r * r) : i == j ? 1 : 0;
        }
    }
    return tacet__eigh(x->vectors, count, count, x->values, err);
}

/* The leading products of the columns' eigenvectors, by their eigenvalues. */
static tacet_status choose_modes(mode **out, size_t *count, const axis *axes, size_t n, tacet_error *err) {
    size_t all = 1;
    for (size_t j = 0; j < n; j++) {
        all *= axes[j].count;
    }
    mode *modes = TACET__ZALLOC(mode, all);
    if (modes == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features", all);
    }
    for (size_t k = 0; k < all; k++) {
        size_t rest = k;
        modes[k] = (mode){.value = 1, .number = k};
        for (size_t j = 0; j < n; j++) {
            modes[k].value *= fmax(axes[j].values[rest % axes[j].count], 0);
            rest /= axes[j].count;
        }
    }
    qsort(modes, all, sizeof *modes, by_value);
    *count = 0;
    while (*count < all && *count < FEATURES_MOST && modes[*count].value > EIGENVALUE_LEAST * modes[0].value) {
        ++*count;
    }
    *out = modes;
    return TACET_OK;
}

static double feature(const tacet_ab_table *t, const bool *varies, const axis *axes, size_t number, size_t cell) {
    double x = 1;
    for (size_t j = 0; j < t->axis_count; j++) {
        const size_t level = cell % t->axes[j], m = number % axes[j].count;
        x *= varies[j] ? axes[j].vectors[m * axes[j].count + level] : 1;
        cell /= t->axes[j];
        number /= axes[j].count;
    }
    return x;
}

tacet_status tacet__ab_features(double **out, size_t *count, const tacet__ab_data *d, const bool *varies,
                                double lengthscale, tacet_error *err) {
    const tacet_ab_table *t = d->table;
    axis axes[TACET_AB_AXES_MOST] = {{0}};
    mode *modes = NULL;
    tacet_status status = TACET_OK;
    *out = NULL;
    for (size_t j = 0; j < t->axis_count && status == TACET_OK; j++) {
        status = make_axis(&axes[j], varies[j] ? t->axes[j] : 1, t->smooth[j], lengthscale, err);
    }
    if (status == TACET_OK) {
        status = choose_modes(&modes, count, axes, t->axis_count, err);
    }
    if (status == TACET_OK) {
        *out = TACET__ZALLOC(double, *count * d->K);
        status = *out == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features", *count) : TACET_OK;
    }
    for (size_t i = 0; i < d->K && status == TACET_OK; i++) {
        for (size_t m = 0; m < *count; m++) {
            (*out)[i * *count + m] = sqrt(modes[m].value) * feature(t, varies, axes, modes[m].number, i);
        }
    }
    for (size_t j = 0; j < t->axis_count; j++) {
        free(axes[j].values);
        free(axes[j].vectors);
    }
    free(modes);
    return status;
}

/* --- between bins ------------------------------------------------------------------------------------------------ */

static double kernel(double r) {
    return exp(-0.5 * r * r / (BLEND_BINS * BLEND_BINS));
}

/* Gauss–Legendre points of a bin of width 1 about 0. */
static const double AT[POINTS] = {-0.3872983346207417, 0, 0.3872983346207417};
static const double WEIGHT[POINTS] = {5.0 / 18, 8.0 / 18, 5.0 / 18};

/* The function of least norm that has the bins' means as its means over them: what these vary by together. */
tacet_status tacet__ab_blend_init(double *factor, size_t count, tacet_error *err) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            factor[i * count + j] = i == j ? BLEND_SLACK : 0;
            for (size_t k = 0; k < POINTS * POINTS; k++) {
                factor[i * count + j] += WEIGHT[k % POINTS] * WEIGHT[k / POINTS] *
                                         kernel((double)i + AT[k % POINTS] - (double)j - AT[k / POINTS]);
            }
        }
    }
    return tacet__cholesky(factor, count, count, NULL, NULL, err);
}

void tacet__ab_blend(double *weights, const double *factor, size_t count, double place) {
    const double x = place * (double)count - 0.5;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        weights[i] = 0;
        for (size_t k = 0; k < POINTS; k++) {
            weights[i] += WEIGHT[k] * kernel(x - (double)i - AT[k]);
        }
    }
    tacet__chol_solve(count, factor, count, weights);
    for (size_t i = 0; i < count; i++) {
        sum += weights[i];
    }
    for (size_t i = 0; i < count; i++) {
        weights[i] /= sum;
    }
}
