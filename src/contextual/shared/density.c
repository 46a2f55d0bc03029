/* SPDX-License-Identifier: Apache-2.0 */
/* density.c - a law of contexts from a table: densities on a grid, linear in each coordinate between its points.
 * Ring: shared. Public, as every law of contexts must be; a wrong one costs utility, never privacy. Beyond the
 * outermost points the value of the nearest one holds. Cost: sorting to create; 2^dim numbers a look. */
#include <tacet/contextual/shared/basis.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MOST = 1 << 20 };

struct tacet_contextual_density {
    size_t dim;
    size_t counts[TACET_CONTEXTUAL_DIM_MOST];
    double *axes[TACET_CONTEXTUAL_DIM_MOST]; /* ascending */
    double *values;                          /* first coordinate fastest */
};

/* The distinct values of one coordinate, ascending. */
static void make_axis(tacet_contextual_density *d, size_t c, const double *points, size_t count) {
    double *axis = d->axes[c];
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        axis[i] = points[i * d->dim + c];
    }
    tacet__sort(axis, count);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || axis[i] > axis[kept - 1]) {
            axis[kept++] = axis[i];
        }
    }
    d->counts[c] = kept;
}

/* The last point of the axis that is not above x; 0 when all are. */
static size_t below(const tacet_contextual_density *d, size_t c, double x) {
    size_t low = 0;
    size_t high = d->counts[c];
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (d->axes[c][middle] <= x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static tacet_status check(const double *points, const double *values, size_t dim, size_t count, tacet_error *err) {
    double most = 0;
    if (dim == 0 || dim >= TACET_CONTEXTUAL_DIM_MOST || count == 0 || count > POINTS_MOST) {
        return tacet__fail(err, TACET_INVALID, "a table of densities has 1 to %d coordinates and 1 to %d rows",
                           (int)TACET_CONTEXTUAL_DIM_MOST - 1, (int)POINTS_MOST);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < dim; c++) {
            if (!isfinite(points[i * dim + c])) {
                return tacet__fail(err, TACET_INVALID, "row %zu of the densities: the context is not finite", i + 1);
            }
        }
        if (!(values[i] >= 0 && isfinite(values[i]))) {
            return tacet__fail(err, TACET_INVALID, "row %zu of the densities: not a finite number >= 0", i + 1);
        }
        most = fmax(most, values[i]);
    }
    return most > 0 ? TACET_OK : tacet__fail(err, TACET_INVALID, "the densities are all zero");
}

/* Every combination of the axes' points once: as many rows as combinations, and none twice. */
static tacet_status fill(tacet_contextual_density *d, const double *points, const double *values, size_t count,
                         tacet_error *err) {
    size_t all = 1;
    for (size_t c = 0; c < d->dim; c++) {
        all = all > count ? all : all * d->counts[c]; /* above the rows is enough to know */
    }
    for (size_t i = 0; i < count && all == count; i++) {
        d->values[i] = -1;
    }
    for (size_t i = 0; i < count && all == count; i++) {
        size_t at = 0;
        size_t stride = 1;
        for (size_t c = 0; c < d->dim; c++) {
            at += stride * below(d, c, points[i * d->dim + c]);
            stride *= d->counts[c];
        }
        if (d->values[at] >= 0) {
            return tacet__fail(err, TACET_INVALID, "row %zu of the densities: its context was there before", i + 1);
        }
        d->values[at] = values[i];
    }
    return all == count
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID,
                             "the densities are no full grid: every combination of the coordinates' values once");
}

tacet_status tacet_contextual_density_create(tacet_contextual_density **out, const double *points, const double *values,
                                             size_t dim, size_t count, tacet_error *err) {
    *out = NULL;
    tacet_status status = check(points, values, dim, count, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_contextual_density *d = TACET__ZALLOC(tacet_contextual_density, 1);
    if (d == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for densities");
    }
    d->dim = dim;
    d->values = TACET__ZALLOC(double, count);
    bool good = d->values != NULL;
    for (size_t c = 0; c < dim; c++) {
        d->axes[c] = TACET__ZALLOC(double, count);
        good = good && d->axes[c] != NULL;
    }
    if (!good) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu densities", count);
    } else {
        for (size_t c = 0; c < dim; c++) {
            make_axis(d, c, points, count);
        }
        status = fill(d, points, values, count, err);
    }
    if (status != TACET_OK) {
        tacet_contextual_density_free(d);
        return status;
    }
    *out = d;
    return TACET_OK;
}

void tacet_contextual_density_free(tacet_contextual_density *density) {
    if (density != NULL) {
        for (size_t c = 0; c < density->dim; c++) {
            free(density->axes[c]);
        }
        free(density->values);
        free(density);
    }
}

double tacet_contextual_density_at(const double *context, void *density) {
    const tacet_contextual_density *d = density;
    size_t first[TACET_CONTEXTUAL_DIM_MOST] = {0};
    double part[TACET_CONTEXTUAL_DIM_MOST] = {0}; /* of the way to the next point */
    double sum = 0;
    for (size_t c = 0; c < d->dim; c++) {
        const double *axis = d->axes[c];
        const double x = fmin(fmax(context[c], axis[0]), axis[d->counts[c] - 1]);
        const size_t at = below(d, c, x);
        first[c] = at;
        part[c] = at + 1 < d->counts[c] ? (x - axis[at]) / (axis[at + 1] - axis[at]) : 0;
    }
    for (size_t corner = 0; corner < (size_t)1 << d->dim; corner++) {
        double weight = 1;
        size_t at = 0;
        size_t stride = 1;
        for (size_t c = 0; c < d->dim; c++) {
            const size_t next = corner >> c & 1U;
            weight *= next != 0 ? part[c] : 1 - part[c];
            at += stride * (first[c] + next);
            stride *= d->counts[c];
        }
        sum += weight > 0 ? weight * d->values[at] : 0; /* a weight of 0 may stand for a point beyond the table */
    }
    return sum;
}
