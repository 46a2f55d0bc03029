/* SPDX-License-Identifier: Apache-2.0 */
/* cov.c - the prior covariance of a finite domain.
 * Ring: pure. Points are kept by coordinate, so that a row is d contiguous streams. Cost: 8 n d bytes; a row as its
 * kernel. */
#include "gp/cov_internal.h"

#include "gp/eiv.h"
#include "core/fail.h"
#include "gp/kernel_internal.h"
#include "core/memory.h"
#include "gp/vexp.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GATHERED = 1024 }; /* coordinates of a point that fit the stack */
enum { TOGETHER = 512 };       /* points at a time, at most */

struct tacet_cov {
    size_t n;
    const tacet_kernel *kernel;
    tacet__eiv *eiv; /* NULL: exact points */
    size_t d;
    double *coordinates; /* n x d, by coordinate */
    double *by_point;    /* d x n, a second copy for d > MOST_GATHERED */
};

static tacet_status check_points(const tacet_cov *cov, const tacet_kernel_spec *spec, tacet_error *err) {
    for (size_t c = 0; c < cov->d; c++) {
        for (size_t at = 0; at < cov->n; at += TOGETHER) {
            const size_t m = cov->n - at < TOGETHER ? cov->n - at : TOGETHER;
            const double *x = cov->coordinates + c * cov->n + at;
            bool good = true;
            for (size_t j = 0; j < m; j++) {
                good = good && isfinite(x[j]);
            }
            for (size_t j = 0; j < m && (!good || spec->kind == TACET_KERNEL_PRECOMPUTED); j++) {
                if (!isfinite(x[j])) {
                    return tacet__fail(err, TACET_INVALID, "coordinate %zu of candidate %zu is not finite", c, at + j);
                }
                if (spec->kind == TACET_KERNEL_PRECOMPUTED &&
                    !(x[j] >= 0 && x[j] < (double)spec->order && x[j] == floor(x[j]))) {
                    return tacet__fail(err, TACET_INVALID,
                                       "candidate %zu is not a row of the covariance matrix (order %zu)", at + j,
                                       spec->order);
                }
            }
        }
    }
    return TACET_OK;
}

static tacet_status copy_points(tacet_cov *cov, const double *X, size_t ldx, tacet_error *err) {
    if (X == NULL || ldx < cov->d) {
        return tacet__fail(err, TACET_INVALID, "no points, or a leading dimension below their %zu coordinates", cov->d);
    }
    size_t cells = 0;
    if (tacet__size_mul(&cells, cov->n, cov->d)) {
        cov->coordinates = TACET__ALIGNED(double, cells);
        cov->by_point = cov->d > MOST_GATHERED ? TACET__ALIGNED(double, cells) : NULL;
    }
    if (cov->coordinates == NULL || (cov->d > MOST_GATHERED && cov->by_point == NULL)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu candidates of %zu coordinates", cov->n, cov->d);
    }
    for (size_t at = 0; at < cov->n; at += TOGETHER) {
        const size_t end = cov->n - at < TOGETHER ? cov->n : at + TOGETHER;
        for (size_t c = 0; c < cov->d; c++) {
            for (size_t j = at; j < end; j++) {
                cov->coordinates[c * cov->n + j] = X[j * ldx + c];
            }
        }
    }
    for (size_t j = 0; j < cov->n && cov->by_point != NULL; j++) {
        memcpy(cov->by_point + j * cov->d, X + j * ldx, cov->d * sizeof *X);
    }
    return TACET_OK;
}

static bool stationary(const tacet_kernel *kernel) {
    return kernel->spec.kind == TACET_KERNEL_SE || kernel->spec.kind == TACET_KERNEL_MATERN;
}

/* Prior variances bound all covariances (Cauchy–Schwarz), so one pass over them is enough. */
static tacet_status check_diag(const tacet_cov *cov, tacet_error *err) {
    double v[TOGETHER];
    for (size_t at = 0; at < cov->n; at += TOGETHER) {
        const size_t m = cov->n - at < TOGETHER ? cov->n - at : TOGETHER;
        tacet_cov_diag(cov, v, at, m);
        for (size_t j = 0; j < m; j++) {
            if (!(v[j] >= 0 && isfinite(v[j]))) {
                return tacet__fail(err, TACET_NUMERIC, "the prior variance of candidate %zu is negative or not finite",
                                   at + j);
            }
        }
        if (stationary(cov->kernel)) {
            break; /* the same everywhere */
        }
    }
    return TACET_OK;
}

static bool any_positive(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!(values[i] == 0)) {
            return true; /* NaN too: the constructor refuses it */
        }
    }
    return false;
}

tacet_status tacet_cov_create(tacet_cov **out, const tacet_cov_spec *spec, const double *X, size_t ldx, size_t n,
                              tacet_error *err) {
    *out = NULL;
    if (n == 0) {
        return tacet__fail(err, TACET_INVALID, "a domain needs at least one candidate");
    }
    if (spec->kernel == NULL) {
        return tacet__fail(err, TACET_INVALID, "a covariance needs a kernel");
    }
    tacet_status status = TACET_OK;
    tacet_cov *cov = TACET__ZALLOC(tacet_cov, 1);
    if (cov == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory creating a covariance");
        goto done;
    }
    cov->n = n;
    cov->kernel = spec->kernel;
    const tacet_kernel_spec *kernel = tacet_kernel_describe(spec->kernel);
    cov->d = kernel->d;
    status = copy_points(cov, X, ldx, err);
    TACET_THEN(status, check_points(cov, kernel, err));
    if (status == TACET_OK && spec->input_sd != NULL && any_positive(spec->input_sd, spec->input_sd_count)) {
        status = tacet__eiv_create(&cov->eiv, kernel, spec->input_sd, spec->input_sd_count, err);
    }
    TACET_THEN(status, check_diag(cov, err));
    if (status == TACET_OK) {
        *out = cov;
        cov = NULL;
    }
done:
    tacet_cov_free(cov);
    return status;
}

void tacet_cov_free(tacet_cov *cov) {
    if (cov != NULL) {
        tacet__eiv_free(cov->eiv);
        free(cov->by_point);
        free(cov->coordinates);
        free(cov);
    }
}

size_t tacet_cov_size(const tacet_cov *cov) {
    return cov->n;
}

size_t tacet__cov_dim(const tacet_cov *cov) {
    return cov->d;
}

void tacet__cov_point(const tacet_cov *cov, double *out, size_t i) {
    for (size_t c = 0; c < cov->d; c++) {
        out[c] = cov->coordinates[c * cov->n + i];
    }
}

/* Point i, in `room` for MOST_GATHERED coordinates or in the second copy. */
static const double *point(const tacet_cov *cov, double *room, size_t i) {
    if (cov->by_point != NULL) {
        return cov->by_point + i * cov->d;
    }
    tacet__cov_point(cov, room, i);
    return room;
}

void tacet__cov_row_at(const tacet_cov *cov, double *out, size_t first, size_t count, const double *x, size_t i) {
    const double *Xt = cov->coordinates + first;
    if (cov->eiv == NULL) {
        tacet__kernel_row_soa(cov->kernel, out, Xt, cov->n, count, x);
    } else {
        tacet__eiv_row_soa(cov->eiv, out, Xt, cov->n, count, x);
    }
    if (cov->eiv != NULL && i >= first && i - first < count) {
        out[i - first] = tacet_kernel_eval(cov->kernel, x, x); /* a row has one true position, whatever it is */
    }
}

void tacet_cov_row(const tacet_cov *cov, double *out, size_t first, size_t count, size_t i) {
    double room[MOST_GATHERED];
    tacet__cov_row_at(cov, out, first, count, point(cov, room, i), i);
}

void tacet_cov_diag(const tacet_cov *cov, double *out, size_t first, size_t count) {
    double room[MOST_GATHERED];
    for (size_t k = 0; k < count; k++) {
        if (stationary(cov->kernel)) {
            out[k] = cov->kernel->spec.signal_var;
        } else {
            tacet_kernel_diag(cov->kernel, out + k, point(cov, room, first + k), cov->d, 1);
        }
    }
}
