/* SPDX-License-Identifier: Apache-2.0 */
/* dense.c - a Gaussian process the slow way, for tests. Cost: cubic. */
#include "support/dense.h"
#include "support/test.h"

static double eliminate(double *A, double *B, size_t n, size_t m) {
    double logdet = 0;
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++) {
            if (fabs(A[k * n + i]) > fabs(A[k * n + pivot])) {
                pivot = i;
            }
        }
        if (!(fabs(A[k * n + pivot]) > 0)) {
            fail_msg("singular matrix in the dense reference");
        }
        for (size_t j = 0; j < n; j++) {
            const double swap = A[j * n + k];
            A[j * n + k] = A[j * n + pivot];
            A[j * n + pivot] = swap;
        }
        for (size_t j = 0; j < m; j++) {
            const double swap = B[j * n + k];
            B[j * n + k] = B[j * n + pivot];
            B[j * n + pivot] = swap;
        }
        logdet += log(fabs(A[k * n + k]));
        for (size_t i = k + 1; i < n; i++) {
            const double factor = A[k * n + i] / A[k * n + k];
            for (size_t j = k; j < n; j++) {
                A[j * n + i] -= factor * A[j * n + k];
            }
            for (size_t j = 0; j < m; j++) {
                B[j * n + i] -= factor * B[j * n + k];
            }
        }
    }
    for (size_t j = 0; j < m; j++) {
        for (size_t i = n; i-- > 0;) {
            double sum = B[j * n + i];
            for (size_t k = i + 1; k < n; k++) {
                sum -= A[k * n + i] * B[j * n + k];
            }
            B[j * n + i] = sum / A[i * n + i];
        }
    }
    return logdet;
}

void dense_solve(double *A, double *B, size_t n, size_t m) {
    (void)eliminate(A, B, n, m);
}

double dense_logdet(double *A, size_t n) {
    return eliminate(A, NULL, n, 0);
}

static double *gram(const double *K, size_t n, const size_t *at, const double *noise, size_t t) {
    double *A = malloc(t * t * sizeof *A);
    assert_non_null(A);
    for (size_t s = 0; s < t; s++) {
        for (size_t r = 0; r < t; r++) {
            A[s * t + r] = K[at[s] * n + at[r]] + (s == r ? noise[s] : 0);
        }
    }
    return A;
}

void dense_gp(double *mean, double *var, double *cov, const double *K, size_t n, double m0, const size_t *at,
              const double *values, const double *noise, size_t t) {
    const size_t columns = n + 1;
    double *A = t > 0 ? gram(K, n, at, noise, t) : NULL;
    double *B = malloc((t > 0 ? t : 1) * columns * sizeof *B);
    assert_non_null(B);
    for (size_t s = 0; s < t; s++) {
        for (size_t j = 0; j < n; j++) {
            B[j * t + s] = K[j * n + at[s]];
        }
        B[n * t + s] = values[s] - m0;
    }
    if (t > 0) {
        dense_solve(A, B, t, columns);
    }
    for (size_t j = 0; j < n; j++) {
        mean[j] = m0;
        for (size_t s = 0; s < t; s++) {
            mean[j] += K[j * n + at[s]] * B[n * t + s];
        }
        for (size_t i = 0; i < n; i++) {
            double c = K[j * n + i];
            for (size_t s = 0; s < t; s++) {
                c -= K[i * n + at[s]] * B[j * t + s];
            }
            if (cov != NULL) {
                cov[j * n + i] = c;
            }
            if (i == j) {
                var[j] = c;
            }
        }
    }
    free(A);
    free(B);
}

double dense_gp_likelihood(const double *K, size_t n, double m0, const size_t *at, const double *values,
                           const double *noise, size_t t) {
    double *A = gram(K, n, at, noise, t);
    double *r = malloc(t * sizeof *r);
    assert_non_null(r);
    for (size_t s = 0; s < t; s++) {
        r[s] = values[s] - m0;
    }
    const double logdet = eliminate(A, r, t, 1);
    double quadratic = 0;
    for (size_t s = 0; s < t; s++) {
        quadratic += (values[s] - m0) * r[s];
    }
    free(A);
    free(r);
    return -0.5 * (quadratic + logdet + (double)t * log(2 * acos(-1.0)));
}

double dense_se(const double *x, const double *y, size_t d, double lengthscale) {
    double r2 = 0;
    for (size_t c = 0; c < d; c++) {
        r2 += (x[c] - y[c]) * (x[c] - y[c]);
    }
    return exp(-r2 / (2 * lengthscale * lengthscale));
}
