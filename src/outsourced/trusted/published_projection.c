/* SPDX-License-Identifier: Apache-2.0 */
/* published_projection.c - the published random projection of all records. NOT PRIVATE.
 * Ring: trusted. Source: Kharkovskii, Dai, Low, "Private Outsourced Bayesian Optimization" (ICML 2020), Algorithm 1.
 * Differs: the radical of omega covers the logarithm (the printed formula does not fit the printed thresholds); the
 * singular value decomposition is taken of the d x d Gram matrix, which gives the same V and Sigma. Why it is not
 * private: src/outsourced/README.md. Cost: O(n d (d + r)). */
#include "outsourced/trusted/published.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

static const double RANK_CUTOFF = 1e-12; /* relative to the largest eigenvalue of the Gram matrix */

double tacet_published_omega(size_t r, double eps, double delta) {
    const double dims = (double)r;
    return 16 * sqrt(dims * log(2 / delta)) * log(16 * dims / delta) / eps;
}

size_t tacet_published_suggest_r(double sigma_min, double eps, double delta) {
    const size_t most = 1000000; /* omega grows with r, so the search ends far below for any real table */
    size_t r = 0;
    while (r < most && tacet_published_omega(r + 1, eps, delta) <= sigma_min) {
        r++;
    }
    return r;
}

static void column_means(double *mean, const double *X, size_t ldx, size_t d, size_t n) {
    for (size_t i = 0; i < d; i++) {
        mean[i] = 0;
    }
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < d; i++) {
            mean[i] += X[j * ldx + i] / (double)n;
        }
    }
}

/* V (d x d) and the squared singular values, ascending, of the centred records. */
static tacet_status decompose(double *V, double *squares, double *mean, const double *X, size_t ldx, size_t d, size_t n,
                              tacet_error *err) {
    if (d == 0 || n == 0 || ldx < d) {
        return tacet__fail(err, TACET_INVALID, "no records, or no columns");
    }
    column_means(mean, X, ldx, d, n);
    for (size_t i = 0; i < d * d; i++) {
        V[i] = 0;
    }
    for (size_t j = 0; j < n; j++) {
        const double *x = X + j * ldx;
        for (size_t a = 0; a < d; a++) {
            for (size_t b = a; b < d; b++) {
                V[a * d + b] += (x[a] - mean[a]) * (x[b] - mean[b]);
            }
        }
    }
    return tacet__eigh(V, d, d, squares, err);
}

tacet_status tacet_published_sigma_min(double *out, const double *X, size_t ldx, size_t d, size_t n, tacet_error *err) {
    double *work = TACET__ALIGNED(double, d *d + 2 * d);
    if (work == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", d);
    }
    const tacet_status status = decompose(work, work + d * d, work + d * d + d, X, ldx, d, n, err);
    if (status == TACET_OK) {
        *out = sqrt(fmax(work[d * d], 0));
    }
    free(work);
    return status;
}

/* P = r^-1/2 V diag(raise) V' M, so that Z = (x - mean)' P row by row. raise is 1 where nothing is raised. */
static tacet_status combine(double *P, double *W, const double *V, const double *squares, size_t d, const double *M,
                            size_t ldm, size_t r, const tacet_published_report *report, tacet_error *err) {
    tacet__gemm(true, false, d, r, d, 1 / sqrt((double)r), V, d, M, ldm, 0, W, d);
    if (report->raised) {
        for (size_t i = 0; i < d; i++) {
            if (!(squares[i] > squares[d - 1] * RANK_CUTOFF)) {
                return tacet__fail(err, TACET_NUMERIC,
                                   "the records are linearly dependent: their singular values cannot be raised");
            }
            const double raise = sqrt(1 + report->omega * report->omega / squares[i]);
            for (size_t k = 0; k < r; k++) {
                W[k * d + i] *= raise;
            }
        }
    }
    tacet__gemm(false, false, d, r, d, 1, V, d, W, d, 0, P, d);
    return TACET_OK;
}

tacet_status tacet_published_project(double *Z, size_t ldz, tacet_published_report *report, const double *X, size_t ldx,
                                     size_t d, size_t n, const double *M, size_t ldm, size_t r, double eps,
                                     double delta, tacet_error *err) {
    if (!(eps > 0) || !isfinite(eps) || !(delta > 0 && delta < 1) || r == 0 || ldz < r || ldm < d) {
        return tacet__fail(err, TACET_INVALID, "eps must be above 0, delta between 0 and 1, and r at least 1");
    }
    tacet_published_report own = {0};
    size_t size = 0;
    if (!tacet__size_mul(&size, d, r) || !tacet__size_mul(&size, size, 2) ||
        !tacet__size_add(&size, size, d * d + 2 * d + r)) {
        return tacet__fail(err, TACET_OVERFLOW, "a projection of %zu to %zu dimensions is too large", d, r);
    }
    double *work = TACET__ALIGNED(double, size);
    if (work == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory projecting %zu to %zu dimensions", d, r);
    }
    double *V = work;
    double *squares = V + d * d;
    double *mean = squares + d;
    double *P = mean + d;
    double *W = P + d * r;
    double *shift = W + d * r;
    tacet_status status = decompose(V, squares, mean, X, ldx, d, n, err);
    if (status != TACET_OK) {
        goto done;
    }
    own.sigma_min = sqrt(fmax(squares[0], 0));
    own.omega = tacet_published_omega(r, eps, delta);
    own.raised = own.sigma_min < own.omega;
    status = combine(P, W, V, squares, d, M, ldm, r, &own, err);
    if (status != TACET_OK) {
        goto done;
    }
    tacet__gemv(true, d, r, 1, P, d, mean, 0, shift);
    tacet__gemm(true, false, r, n, d, 1, P, d, X, ldx, 0, Z, ldz);
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < r; k++) {
            Z[j * ldz + k] -= shift[k];
        }
    }
    if (report != NULL) {
        *report = own;
    }
done:
    free(work);
    return status;
}
