/* SPDX-License-Identifier: Apache-2.0 */
/* linalg.c - the one file that faces BLAS and LAPACK.
 * Ring: pure. Source: OpenBLAS, LAPACKE.
 * Differs: sizes are size_t, checked against the BLAS integer here and nowhere else; Cholesky retries along a fixed
 * jitter schedule and reports what it added. Cost: as LAPACK. */
#include "gp/linalg.h"

#include "core/fail.h"
#include "core/memory.h"

#include <cblas.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double JITTER_FIRST = 1e-12; /* relative to the mean diagonal; each step is ten times the last */

/* The BLAS integer is 32 bits in Debian's build. A matrix whose side does not fit cannot exist in memory here, but a
 * vector can: vector operations are split into chunks below this. */
enum { CHUNK = 1 << 30 };

static bool fits(size_t n) {
    return n <= (size_t)INT_MAX;
}

static blasint narrow(size_t n) {
    return (blasint)n;
}

void tacet_threads(int count) {
    openblas_set_num_threads(count);
}

const char *tacet__blas_core(void) {
    return openblas_get_corename();
}

double tacet__dot(const double *x, const double *y, size_t n) {
    double sum = 0;
    for (size_t at = 0; at < n; at += CHUNK) {
        sum += cblas_ddot(narrow(n - at < CHUNK ? n - at : CHUNK), x + at, 1, y + at, 1);
    }
    return sum;
}

void tacet__axpy(double *y, double a, const double *x, size_t n) {
    for (size_t at = 0; at < n; at += CHUNK) {
        cblas_daxpy(narrow(n - at < CHUNK ? n - at : CHUNK), a, x + at, 1, y + at, 1);
    }
}

double tacet__norm2(const double *x, size_t n) {
    double norm = 0;
    for (size_t at = 0; at < n; at += CHUNK) {
        norm = hypot(norm, cblas_dnrm2(narrow(n - at < CHUNK ? n - at : CHUNK), x + at, 1));
    }
    return norm;
}

static void scale(double *y, size_t n, double beta) {
    for (size_t i = 0; i < n; i++) {
        y[i] = beta == 0 ? 0 : beta * y[i];
    }
}

void tacet__gemv(bool transpose, size_t m, size_t n, double alpha, const double *A, size_t lda, const double *x,
                 double beta, double *y) {
    if (m == 0 || n == 0) {
        scale(y, transpose ? n : m, beta);
        return;
    }
    cblas_dgemv(CblasColMajor, transpose ? CblasTrans : CblasNoTrans, narrow(m), narrow(n), alpha, A, narrow(lda), x, 1,
                beta, y, 1);
}

void tacet__gemm(bool ta, bool tb, size_t m, size_t n, size_t k, double alpha, const double *A, size_t lda,
                 const double *B, size_t ldb, double beta, double *C, size_t ldc) {
    if (m == 0 || n == 0) {
        return;
    }
    if (k == 0) {
        for (size_t j = 0; j < n; j++) {
            scale(C + j * ldc, m, beta);
        }
        return;
    }
    cblas_dgemm(CblasColMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, narrow(m), narrow(n),
                narrow(k), alpha, A, narrow(lda), B, narrow(ldb), beta, C, narrow(ldc));
}

void tacet__syrk(bool transpose, size_t n, size_t k, double alpha, const double *A, size_t lda, double beta, double *C,
                 size_t ldc) {
    if (n == 0) {
        return;
    }
    if (k == 0) {
        for (size_t j = 0; j < n; j++) {
            scale(C + j * ldc + j, n - j, beta);
        }
        return;
    }
    cblas_dsyrk(CblasColMajor, CblasLower, transpose ? CblasTrans : CblasNoTrans, narrow(n), narrow(k), alpha, A,
                narrow(lda), beta, C, narrow(ldc));
}

void tacet__symmetrize(double *A, size_t lda, size_t n) {
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < j; i++) {
            A[j * lda + i] = A[i * lda + j];
        }
    }
}

static void copy_lower(double *to, size_t ldt, const double *from, size_t ldf, size_t n) {
    for (size_t j = 0; j < n; j++) {
        memcpy(to + j * ldt + j, from + j * ldf + j, (n - j) * sizeof *to);
    }
}

tacet_status tacet__cholesky(double *A, size_t lda, size_t n, double *work, tacet__chol_report *report,
                             tacet_error *err) {
    double mean = 0;
    if (!fits(n) || !fits(lda)) {
        return tacet__fail(err, TACET_OVERFLOW, "a matrix of order %zu does not fit the BLAS integer", n);
    }
    for (size_t j = 0; j < n; j++) {
        mean += A[j * lda + j] / (double)n;
        for (size_t i = j; i < n; i++) {
            if (!isfinite(A[j * lda + i])) {
                return tacet__fail(err, TACET_NUMERIC, "matrix entry (%zu, %zu) is not finite", i, j);
            }
        }
    }
    if (work != NULL) {
        copy_lower(work, n, A, lda, n);
    }
    double jitter = 0;
    for (unsigned step = 0; step < (work == NULL ? 1U : (unsigned)TACET__JITTER_STEPS); step++) {
        if (step > 0) {
            jitter = step == 1 ? mean * JITTER_FIRST : jitter * 10;
            copy_lower(A, lda, work, n, n);
            for (size_t j = 0; j < n; j++) {
                A[j * lda + j] += jitter;
            }
        }
        if (n == 0 || LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', narrow(n), A, narrow(lda)) == 0) {
            for (size_t j = 1; j < n; j++) {
                memset(A + j * lda, 0, j * sizeof *A);
            }
            if (report != NULL) {
                report->jitter = jitter;
            }
            return TACET_OK;
        }
    }
    return tacet__fail(err, TACET_NUMERIC, "matrix of order %zu is not positive definite (largest jitter tried %g)", n,
                       jitter);
}

void tacet__trsm(bool transpose, size_t n, size_t m, const double *L, size_t ldl, double *B, size_t ldb) {
    if (n != 0 && m != 0) {
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, transpose ? CblasTrans : CblasNoTrans, CblasNonUnit,
                    narrow(n), narrow(m), 1, L, narrow(ldl), B, narrow(ldb));
    }
}

void tacet__trsv(bool transpose, size_t n, const double *L, size_t ldl, double *x) {
    if (n != 0) {
        cblas_dtrsv(CblasColMajor, CblasLower, transpose ? CblasTrans : CblasNoTrans, CblasNonUnit, narrow(n), L,
                    narrow(ldl), x, 1);
    }
}

void tacet__chol_solve(size_t n, const double *L, size_t ldl, double *x) {
    tacet__trsv(false, n, L, ldl, x);
    tacet__trsv(true, n, L, ldl, x);
}

double tacet__chol_logdet(size_t n, const double *L, size_t ldl) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += log(L[i * ldl + i]);
    }
    return 2 * sum;
}

tacet_status tacet__chol_inverse(size_t n, double *L, size_t ldl, tacet_error *err) {
    if (n != 0 && LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', narrow(n), L, narrow(ldl)) != 0) {
        return tacet__fail(err, TACET_NUMERIC, "a factor of order %zu is singular", n);
    }
    tacet__symmetrize(L, ldl, n);
    return TACET_OK;
}

static void fix_signs(double *Z, size_t ldz, size_t rows, size_t columns) {
    for (size_t j = 0; j < columns; j++) {
        size_t largest = 0;
        for (size_t i = 1; i < rows; i++) {
            /* The small factor makes near-ties go to the first, whatever the rounding. */
            if (fabs(Z[j * ldz + i]) > fabs(Z[j * ldz + largest]) * (1 + 1e-9)) {
                largest = i;
            }
        }
        if (Z[j * ldz + largest] < 0) {
            for (size_t i = 0; i < rows; i++) {
                Z[j * ldz + i] = -Z[j * ldz + i];
            }
        }
    }
}

tacet_status tacet__eigh(double *A, size_t lda, size_t n, double *w, tacet_error *err) {
    if (!fits(n) || !fits(lda)) {
        return tacet__fail(err, TACET_OVERFLOW, "a matrix of order %zu does not fit the BLAS integer", n);
    }
    if (n == 0) {
        return TACET_OK;
    }
    double size = 0;
    lapack_int isize = 0;
    lapack_int info =
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', narrow(n), A, narrow(lda), w, &size, -1, &isize, -1);
    double *work = info == 0 ? TACET__ALIGNED(double, (size_t)size) : NULL;
    lapack_int *iwork = info == 0 ? TACET__ZALLOC(lapack_int, (size_t)isize) : NULL;
    tacet_status status = TACET_OK;
    if (work == NULL || iwork == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory in an eigendecomposition of order %zu", n);
        goto done;
    }
    info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', narrow(n), A, narrow(lda), w, work, (lapack_int)size, iwork,
                               isize);
    if (info != 0) {
        status = tacet__fail(err, TACET_NUMERIC, "eigendecomposition of order %zu did not converge", n);
        goto done;
    }
    fix_signs(A, lda, n, n);
done:
    free(work);
    free(iwork);
    return status;
}

/* LAPACK's least for dsyevd with vectors: 1 + 6 n + 2 n^2 reals, and 3 + 5 n integers, which doubles hold as well. */
size_t tacet__eigh_scratch(size_t n) {
    size_t square = 0;
    return n < SIZE_MAX / 64 && tacet__size_mul(&square, 2 * n, n) && square < SIZE_MAX / 2 ? square + 11 * n + 4
                                                                                            : SIZE_MAX;
}

tacet_status tacet__eigh_in(double *A, size_t lda, size_t n, double *w, double *scratch, tacet_error *err) {
    const size_t reals = 2 * n * n + 6 * n + 1;
    if (!fits(n) || !fits(lda) || !fits(reals)) {
        return tacet__fail(err, TACET_OVERFLOW, "a matrix of order %zu does not fit the BLAS integer", n);
    }
    if (n == 0) {
        return TACET_OK;
    }
    const lapack_int info =
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', narrow(n), A, narrow(lda), w, scratch, narrow(reals),
                            (lapack_int *)(void *)(scratch + reals), narrow(5 * n + 3));
    if (info != 0) {
        return tacet__fail(err, TACET_NUMERIC, "eigendecomposition of order %zu did not converge", n);
    }
    fix_signs(A, lda, n, n);
    return TACET_OK;
}

tacet_status tacet__triangle(double *A, size_t lda, size_t m, size_t n, tacet_error *err) {
    if (!fits(m) || !fits(n) || !fits(lda) || m > n) {
        return tacet__fail(err, TACET_OVERFLOW, "a %zu x %zu matrix has no triangle, or does not fit the BLAS integer",
                           m, n);
    }
    double size = 0;
    double *tau = TACET__ALIGNED(double, m);
    lapack_int info = LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, narrow(m), narrow(n), A, narrow(lda), tau, &size, -1);
    double *work = info == 0 ? TACET__ALIGNED(double, (size_t)size) : NULL;
    if (tau != NULL && work != NULL) {
        info = LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, narrow(m), narrow(n), A, narrow(lda), tau, work, (lapack_int)size);
    }
    const bool room = tau != NULL && work != NULL;
    free(tau);
    free(work);
    if (!room || info != 0) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the triangle of a %zu x %zu matrix", m, n);
    }
    for (size_t i = 0; i < m; i++) {
        const double sign = A[i + i * lda] < 0 ? -1 : 1;
        for (size_t j = 0; j < n; j++) {
            A[i + j * lda] = j < i ? 0 : sign * A[i + j * lda];
        }
    }
    return TACET_OK;
}

tacet_status tacet__least_squares(double *A, size_t lda, size_t m, size_t n, double *B, size_t ldb, size_t k,
                                  double cutoff, tacet_error *err) {
    if (!fits(m) || !fits(n) || !fits(k) || !fits(lda) || !fits(ldb)) {
        return tacet__fail(err, TACET_OVERFLOW, "a %zu x %zu matrix does not fit the BLAS integer", m, n);
    }
    const size_t least = m < n ? m : n;
    double *s = TACET__ALIGNED(double, least);
    double *work = NULL;
    lapack_int *iwork = NULL;
    double size = 0;
    lapack_int isize = 0;
    lapack_int rank = 0;
    tacet_status status = TACET_OK;
    lapack_int info = LAPACKE_dgelsd_work(LAPACK_COL_MAJOR, narrow(m), narrow(n), narrow(k), A, narrow(lda), B,
                                          narrow(ldb), s, cutoff, &rank, &size, -1, &isize);
    if (info == 0) {
        work = TACET__ALIGNED(double, (size_t)size);
        iwork = TACET__ZALLOC(lapack_int, (size_t)isize);
    }
    if (s == NULL || work == NULL || iwork == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory in least squares of a %zu x %zu matrix", m, n);
        goto done;
    }
    info = LAPACKE_dgelsd_work(LAPACK_COL_MAJOR, narrow(m), narrow(n), narrow(k), A, narrow(lda), B, narrow(ldb), s,
                               cutoff, &rank, work, (lapack_int)size, iwork);
    if (info != 0) {
        status = tacet__fail(err, TACET_NUMERIC, "least squares of a %zu x %zu matrix did not converge", m, n);
    }
done:
    free(s);
    free(work);
    free(iwork);
    return status;
}

tacet_status tacet__tridiagonal(double *d, double *e, size_t n, double *Z, size_t ldz, tacet_error *err) {
    if (!fits(n) || !fits(ldz)) {
        return tacet__fail(err, TACET_OVERFLOW, "a matrix of order %zu does not fit the BLAS integer", n);
    }
    if (n == 0) {
        return TACET_OK;
    }
    double *work = TACET__ALIGNED(double, 2 * n);
    if (work == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory in a tridiagonal eigenproblem of order %zu", n);
    }
    const lapack_int info = LAPACKE_dsteqr_work(LAPACK_COL_MAJOR, 'I', narrow(n), d, e, Z, narrow(ldz), work);
    free(work);
    if (info != 0) {
        return tacet__fail(err, TACET_NUMERIC, "tridiagonal eigenproblem of order %zu did not converge", n);
    }
    fix_signs(Z, ldz, n, n);
    return TACET_OK;
}
