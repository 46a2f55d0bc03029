/* SPDX-License-Identifier: Apache-2.0 */
/* linalg.h - all linear algebra, over OpenBLAS and LAPACKE. The only door to the BLAS integer.
 *
 * Column-major, explicit leading dimensions, lower triangles. Sizes are size_t; one that does not fit the BLAS integer
 * fails as OVERFLOW (functions returning a status) or is split (vector operations). Ring: pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>
#include <tacet/gp/threads.h>

/* The processor whose kernels OpenBLAS has chosen: a yardstick for benchmarks should say it. */
const char *tacet__blas_core(void);

double tacet__dot(const double *x, const double *y, size_t n);
void tacet__axpy(double *y, double a, const double *x, size_t n); /* y += a x */
double tacet__norm2(const double *x, size_t n);
/* y = beta y + alpha op(A) x, A is m x n. */
void tacet__gemv(bool transpose, size_t m, size_t n, double alpha, const double *A, size_t lda, const double *x,
                 double beta, double *y);
/* C = beta C + alpha op(A) op(B), C is m x n, the inner size is k. */
void tacet__gemm(bool ta, bool tb, size_t m, size_t n, size_t k, double alpha, const double *A, size_t lda,
                 const double *B, size_t ldb, double beta, double *C, size_t ldc);
/* Symmetric rank-k: lower triangle of C = beta C + alpha A A' (A n x k), or A' A (A k x n) when transpose. */
void tacet__syrk(bool transpose, size_t n, size_t k, double alpha, const double *A, size_t lda, double beta, double *C,
                 size_t ldc);
/* Copies the lower triangle to the upper one. */
void tacet__symmetrize(double *A, size_t lda, size_t n);

/* The jitter schedule: 0, then scale * 1e-12 * 10^k, k = 0 … 8, scale = mean diagonal. */
enum { TACET__JITTER_STEPS = 10 };
typedef struct tacet__chol_report {
    double jitter; /* what was added to the diagonal; 0 when nothing was needed */
} tacet__chol_report;

/* In place: lower triangle of A becomes L with L L' = A + jitter I; the strict upper triangle is set to zero.
 * `work` needs n*n doubles (the copy to retry from); NULL: no retry, NUMERIC at once when A is not positive definite.
 * report may be NULL. NUMERIC: not positive definite at the last step of the schedule, or not finite; A is then
 * undefined. */
tacet_status tacet__cholesky(double *A, size_t lda, size_t n, double *work, tacet__chol_report *report,
                             tacet_error *err);
/* B (n x m) = L^-1 B, or L^-T B. */
void tacet__trsm(bool transpose, size_t n, size_t m, const double *L, size_t ldl, double *B, size_t ldb);
void tacet__trsv(bool transpose, size_t n, const double *L, size_t ldl, double *x);
/* x = (L L')^-1 x. */
void tacet__chol_solve(size_t n, const double *L, size_t ldl, double *x);
/* 2 sum ln L_ii. */
double tacet__chol_logdet(size_t n, const double *L, size_t ldl);
/* A = (L L')^-1 in place of L, both triangles. */
tacet_status tacet__chol_inverse(size_t n, double *L, size_t ldl, tacet_error *err);

/* Eigenvalues ascending in w; A becomes the eigenvectors, one per column, each with its largest component positive, so
 * that the result is a function of A. Reads the lower triangle. */
tacet_status tacet__eigh(double *A, size_t lda, size_t n, double *w, tacet_error *err);
/* The same without allocating: scratch has tacet__eigh_scratch(n) doubles, or those of any larger order. */
size_t tacet__eigh_scratch(size_t n); /* SIZE_MAX on overflow */
tacet_status tacet__eigh_in(double *A, size_t lda, size_t n, double *w, double *scratch, tacet_error *err);
/* The triangle of A = Q R: A (m x n, m <= n) becomes upper trapezoidal with a diagonal that is not negative. */
tacet_status tacet__triangle(double *A, size_t lda, size_t m, size_t n, tacet_error *err);
/* Least squares of least norm: B (max(m, n) x k on entry, its first m rows the right sides) becomes X (n x k) with |A X
 * - B| least and, among those, |X| least. A (m x n) is destroyed. Singular values below `cutoff` times the largest
 * count as 0. */
tacet_status tacet__least_squares(double *A, size_t lda, size_t m, size_t n, double *B, size_t ldb, size_t k,
                                  double cutoff, tacet_error *err);
/* Symmetric tridiagonal eigenproblem (Golub–Welsch): diag d (n), off-diagonal e (n-1, destroyed); d becomes the
 * ascending eigenvalues, Z (n x n) the eigenvectors. */
tacet_status tacet__tridiagonal(double *d, double *e, size_t n, double *Z, size_t ldz, tacet_error *err);
