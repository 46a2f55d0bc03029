/* SPDX-License-Identifier: Apache-2.0 */
/* dense.h - a Gaussian process the slow way, for tests: Gaussian elimination with pivoting over plain loops, sharing
 * nothing with the library's linear algebra, kernels or recursions. */
#pragma once

#include <stddef.h>

/* Solves A X = B in place of B: A is n x n (destroyed), B n x m, column-major. Fails the test when A is singular. */
void dense_solve(double *A, double *B, size_t n, size_t m);
/* ln |det A| of an n x n matrix (destroyed). */
double dense_logdet(double *A, size_t n);

/* Posterior of n candidates with prior covariance K (n x n, column-major) and mean m0, given t observations values[s]
 * of candidate at[s] with noise variance noise[s]. mean: n; cov: n x n, may be NULL; var: n. */
void dense_gp(double *mean, double *var, double *cov, const double *K, size_t n, double m0, const size_t *at,
              const double *values, const double *noise, size_t t);
/* Log marginal likelihood of the same observations. */
double dense_gp_likelihood(const double *K, size_t n, double m0, const size_t *at, const double *values,
                           const double *noise, size_t t);

/* Squared exponential of two points of d coordinates. */
double dense_se(const double *x, const double *y, size_t d, double lengthscale);
