/* SPDX-License-Identifier: Apache-2.0 */
/* test_linalg.c - the BLAS-facing file against plain loops and reconstructions: products, Cholesky and its jitter
 * schedule, solves, rank-one changes, eigenproblems, singular values, failing allocations. */
#include "support/test.h"

#include "gp/linalg.h"

#include <limits.h>
#include <tacet/core/simrng.h>

enum { N = 23, M = 17, LD = 29 };

static void fill(double *A, size_t count, uint64_t seed) {
    tacet_simrng rng = test_rng(seed, 0);
    for (size_t i = 0; i < count; i++) {
        A[i] = tacet_simrng_normal(&rng);
    }
}

/* A = B B' + shift I of order N, leading dimension LD, B N x rank. */
static void make_psd(double *A, size_t rank, double shift, uint64_t seed) {
    double B[N * N];
    fill(B, N * rank, seed);
    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < N; i++) {
            double sum = i == j ? shift : 0;
            for (size_t k = 0; k < rank; k++) {
                sum += B[k * N + i] * B[k * N + j];
            }
            A[j * LD + i] = sum;
        }
    }
}

static double entry(const double *L, size_t i, size_t j) { /* of L L' */
    double sum = 0;
    for (size_t k = 0; k < N; k++) {
        sum += L[k * LD + i] * L[k * LD + j];
    }
    return sum;
}

TEST(products) {
    static double A[LD * LD], B[LD * LD], C[LD * LD], D[LD * LD], x[LD], y[LD];
    fill(A, LD * LD, 1);
    fill(B, LD * LD, 2);
    fill(x, LD, 3);
    assert_close(tacet__dot(A, B, 0), 0, 0);
    double dot = 0;
    double square = 0;
    for (size_t i = 0; i < LD; i++) {
        dot += x[i] * A[i];
        square += x[i] * x[i];
    }
    assert_close(tacet__dot(x, A, LD), dot, 1e-13);
    assert_close(tacet__norm2(x, LD), sqrt(square), 1e-13);
    memcpy(y, A, sizeof y);
    tacet__axpy(y, -2, x, LD);
    for (size_t i = 0; i < LD; i++) {
        assert_close(y[i], A[i] - 2 * x[i], 1e-14);
    }
    for (int t = 0; t < 4; t++) {
        const int ta = t & 1;
        const int tb = t >> 1;
        fill(C, LD * LD, 4);
        memcpy(D, C, sizeof D);
        tacet__gemm(ta, tb, M, N, 11, 0.5, A, LD, B, LD, -2, C, LD);
        for (size_t j = 0; j < LD; j++) {
            for (size_t i = 0; i < LD; i++) {
                double sum = 0;
                for (size_t k = 0; k < 11; k++) {
                    sum += (ta ? A[i * LD + k] : A[k * LD + i]) * (tb ? B[k * LD + j] : B[j * LD + k]);
                }
                const double expected = i < M && j < N ? 0.5 * sum - 2 * D[j * LD + i] : D[j * LD + i];
                assert_close(C[j * LD + i], expected, 1e-13);
            }
        }
        fill(y, LD, 5);
        memcpy(D, y, sizeof y);
        tacet__gemv(ta, M, N, 3, A, LD, x, 0.5, y);
        for (size_t i = 0; i < (ta ? N : M); i++) {
            double sum = 0;
            for (size_t k = 0; k < (ta ? M : N); k++) {
                sum += (ta ? A[i * LD + k] : A[k * LD + i]) * x[k];
            }
            assert_close(y[i], 3 * sum + 0.5 * D[i], 1e-13);
        }
        fill(C, LD * LD, 6);
        memcpy(D, C, sizeof D);
        tacet__syrk(ta, N, 9, 2, A, LD, 0.25, C, LD);
        for (size_t j = 0; j < N; j++) {
            for (size_t i = 0; i < N; i++) {
                double sum = 0;
                for (size_t k = 0; k < 9; k++) {
                    sum += (ta ? A[i * LD + k] : A[k * LD + i]) * (ta ? A[j * LD + k] : A[k * LD + j]);
                }
                assert_close(C[j * LD + i], i >= j ? 2 * sum + 0.25 * D[j * LD + i] : D[j * LD + i], 1e-13);
            }
        }
        tacet__symmetrize(C, LD, N);
        for (size_t j = 0; j < N; j++) {
            for (size_t i = 0; i < N; i++) {
                assert_true(C[j * LD + i] == C[i * LD + j]);
            }
        }
    }
}

/* Sizes of zero: scaling only, and beta = 0 overwrites what was there, NaN included. */
TEST(empty_products) {
    double y[3] = {NAN, NAN, NAN};
    const double x[3] = {1, 2, 3};
    tacet__gemv(false, 3, 0, 1, x, 3, x, 0, y);
    assert_true(y[0] == 0 && y[1] == 0 && y[2] == 0);
    y[1] = 4;
    tacet__gemm(false, false, 3, 1, 0, 1, x, 3, x, 3, 0.5, y, 3);
    assert_true(y[0] == 0 && y[1] == 2);
    tacet__gemm(false, false, 0, 0, 3, 1, x, 1, x, 1, 0, y, 1);
    assert_true(y[1] == 2);
    tacet__syrk(false, 1, 0, 1, x, 3, 0.5, y + 1, 3);
    assert_true(y[1] == 1);
    tacet__syrk(false, 0, 0, 1, x, 3, 0.5, y, 3);
    tacet__trsm(false, 0, 1, x, 1, y, 1);
    tacet__trsv(false, 0, x, 1, y);
    tacet__chol_report report;
    assert_ok(tacet__cholesky(y, 1, 0, y, &report, NULL));
    assert_ok(tacet__eigh(y, 1, 0, y, NULL));
    assert_ok(tacet__tridiagonal(y, y, 0, y, 1, NULL));
}

TEST(cholesky) {
    static double A[LD * N], L[LD * N], work[N * N];
    make_psd(A, N, 1, 10);
    memcpy(L, A, sizeof A);
    for (size_t j = 1; j < N; j++) {
        L[j * LD] = NAN; /* the upper triangle is not read */
    }
    tacet__chol_report report = {.jitter = 9};
    assert_ok(tacet__cholesky(L, LD, N, work, &report, NULL));
    assert_true(report.jitter == 0);
    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < N; i++) {
            assert_true(i >= j || L[j * LD + i] == 0);
            assert_close(entry(L, i, j), A[j * LD + i], 1e-12);
        }
    }
}

/* A singular matrix gets the smallest jitter of the schedule that is enough, and it is told. */
TEST(jitter) {
    static double A[LD * N], L[LD * N], work[N * N];
    double mean = 0;
    make_psd(A, N - 3, 0, 11);
    /* Exactly singular whatever the rounding: a zero row and column. */
    for (size_t i = 0; i < N; i++) {
        A[5 * LD + i] = 0;
        A[i * LD + 5] = 0;
    }
    for (size_t i = 0; i < N; i++) {
        mean += A[i * LD + i] / N;
    }
    memcpy(L, A, sizeof A);
    tacet__chol_report report = {0};
    assert_ok(tacet__cholesky(L, LD, N, work, &report, NULL));
    const double steps = log10(report.jitter / (mean * 1e-12)); /* 1e-12 of the mean, 1e-11 of it, … */
    assert_close(steps, rint(steps), 1e-9);
    assert_true(steps > -0.5 && steps < TACET__JITTER_STEPS - 1.5);
    assert_true(report.jitter <= 1e-9 * mean);
    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < N; i++) {
            assert_close(entry(L, i, j), A[j * LD + i] + (i == j ? report.jitter : 0), 1e-12);
        }
    }
    memcpy(L, A, sizeof A);
    assert_status(tacet__cholesky(L, LD, N, NULL, NULL, NULL), TACET_NUMERIC); /* no work space: no retry */
}

TEST(cholesky_refuses) {
    double work[4];
    tacet_error err = {0};
    double indefinite[4] = {1, 2, 2, 1};
    assert_status(tacet__cholesky(indefinite, 2, 2, work, NULL, &err), TACET_NUMERIC);
    assert_non_null(strstr(err.message, "not positive definite"));
    tacet_error_clear(&err);
    double slightly[4] = {1, 0, 0, -1e-3}; /* beyond the last step, 1e-4 of the mean */
    assert_status(tacet__cholesky(slightly, 2, 2, work, NULL, NULL), TACET_NUMERIC);
    double within[4] = {1, 0, 0, -1e-6};
    tacet__chol_report report = {0};
    assert_ok(tacet__cholesky(within, 2, 2, work, &report, NULL));
    assert_close(report.jitter, 0.4999995e-5, 1e-10);
    double hole[4] = {1, NAN, 0, 1};
    assert_status(tacet__cholesky(hole, 2, 2, work, NULL, &err), TACET_NUMERIC);
    assert_non_null(strstr(err.message, "(1, 0) is not finite"));
    double infinite[4] = {INFINITY, 0, 0, 1};
    assert_status(tacet__cholesky(infinite, 2, 2, work, NULL, NULL), TACET_NUMERIC);
    assert_status(tacet__cholesky(work, (size_t)INT_MAX + 1, (size_t)INT_MAX + 1, NULL, NULL, NULL), TACET_OVERFLOW);
    assert_status(tacet__eigh(work, 1, (size_t)INT_MAX + 1, work, NULL), TACET_OVERFLOW);
    assert_status(tacet__tridiagonal(work, work, (size_t)INT_MAX + 1, work, 1, NULL), TACET_OVERFLOW);
}

TEST(solves) {
    static double A[LD * N], L[LD * N], B[LD * M], X[LD * M];
    double x[N];
    make_psd(A, N, 1, 12);
    memcpy(L, A, sizeof A);
    assert_ok(tacet__cholesky(L, LD, N, NULL, NULL, NULL));
    fill(B, LD * M, 13);
    for (int transpose = 0; transpose < 2; transpose++) {
        memcpy(X, B, sizeof B);
        tacet__trsm(transpose, N, M, L, LD, X, LD);
        memcpy(x, B + 3 * LD, sizeof x);
        tacet__trsv(transpose, N, L, LD, x);
        for (size_t j = 0; j < M; j++) {
            for (size_t i = 0; i < N; i++) {
                double sum = 0;
                for (size_t k = 0; k < N; k++) {
                    sum += (transpose ? L[i * LD + k] : L[k * LD + i]) * X[j * LD + k];
                }
                assert_close(sum, B[j * LD + i], 1e-12);
                assert_true(j != 3 || fabs(x[i] - X[j * LD + i]) < 1e-13 * (1 + fabs(x[i])));
            }
        }
    }
    memcpy(x, B, sizeof x);
    tacet__chol_solve(N, L, LD, x);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t k = 0; k < N; k++) {
            sum += A[k * LD + i] * x[k];
        }
        assert_close(sum, B[i], 1e-11);
    }
}

/* log det against the eigenvalues; the inverse against the identity, both triangles. */
TEST(logdet_and_inverse) {
    static double A[LD * N], L[LD * N], E[LD * N];
    double w[N];
    double sum = 0;
    make_psd(A, N, 1, 14);
    memcpy(L, A, sizeof A);
    memcpy(E, A, sizeof A);
    assert_ok(tacet__cholesky(L, LD, N, NULL, NULL, NULL));
    assert_ok(tacet__eigh(E, LD, N, w, NULL));
    for (size_t i = 0; i < N; i++) {
        sum += log(w[i]);
    }
    /* Without allocating: the same decomposition. */
    double *scratch = malloc(tacet__eigh_scratch(N) * sizeof *scratch);
    double again[N];
    assert_non_null(scratch);
    fail_alloc_after(1);
    const tacet_status status = tacet__eigh_in(A, LD, N, again, scratch, NULL);
    const int allocated = fail_alloc_hit();
    fail_alloc_after(0);
    assert_ok(status);
    assert_false(allocated);
    for (size_t i = 0; i < N; i++) {
        assert_close(again[i], w[i], 1e-11);
        assert_close(fabs(tacet__dot(A + i * LD, E + i * LD, N)), 1, 1e-9);
    }
    assert_ok(tacet__eigh_in(A, LD, 0, again, scratch, NULL));
    assert_status(tacet__eigh_in(A, LD, (size_t)INT_MAX + 1, again, scratch, NULL), TACET_OVERFLOW);
    assert_true(tacet__eigh_scratch(SIZE_MAX / 2) == SIZE_MAX);
    free(scratch);
    make_psd(A, N, 1, 14);
    assert_close(tacet__chol_logdet(N, L, LD), sum, 1e-11);
    assert_ok(tacet__chol_inverse(N, L, LD, NULL));
    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < N; i++) {
            double product = 0;
            for (size_t k = 0; k < N; k++) {
                product += A[k * LD + i] * L[j * LD + k];
            }
            assert_close(product, i == j, 1e-11);
            assert_true(L[j * LD + i] == L[i * LD + j]);
        }
    }
    double singular[4] = {1, 1, 0, 0};
    assert_status(tacet__chol_inverse(2, singular, 2, NULL), TACET_NUMERIC);
}

/* A = V diag(w) V', V orthogonal, ascending, signs fixed; the strict upper triangle is not read. */
TEST(eigenvectors) {
    static double A[LD * N], V[LD * N];
    double w[N];
    make_psd(A, N - 4, 0, 17);
    memcpy(V, A, sizeof A);
    for (size_t j = 1; j < N; j++) {
        V[j * LD] = NAN;
    }
    assert_ok(tacet__eigh(V, LD, N, w, NULL));
    for (size_t j = 0; j < N; j++) {
        assert_true(j == 0 || w[j] >= w[j - 1]);
        assert_true(j > 3 || fabs(w[j]) < 1e-12);
        double largest = 0;
        for (size_t i = 0; i < N; i++) {
            largest = fabs(V[j * LD + i]) > fabs(largest) * (1 + 1e-8) ? V[j * LD + i] : largest;
            double sum = 0;
            double dot = 0;
            for (size_t k = 0; k < N; k++) {
                sum += V[k * LD + i] * w[k] * V[k * LD + j];
                dot += V[i * LD + k] * V[j * LD + k];
            }
            assert_close(sum, A[j * LD + i], 1e-12);
            assert_close(dot, i == j, 1e-13);
        }
        assert_true(largest > 0);
    }
}

/* The second difference matrix: eigenvalues 2 - 2 cos(k pi/(n + 1)). */
TEST(tridiagonal) {
    double d[N];
    double e[N];
    static double Z[LD * N];
    for (size_t i = 0; i < N; i++) {
        d[i] = 2;
        e[i] = -1;
    }
    assert_ok(tacet__tridiagonal(d, e, N, Z, LD, NULL));
    for (size_t k = 0; k < N; k++) {
        assert_close(d[k], 2 - 2 * cos((double)(k + 1) * 3.14159265358979323846 / (N + 1)), 1e-14);
        for (size_t i = 0; i < N; i++) {
            const double *z = Z + k * LD;
            const double image = 2 * z[i] - (i > 0 ? z[i - 1] : 0) - (i + 1 < N ? z[i + 1] : 0);
            assert_close(image, d[k] * z[i], 1e-13);
        }
    }
}

TEST(failing_allocations) {
    for (int kind = 0; kind < 2; kind++) {
        double A[4] = {2, 1, 1, 2};
        double w[2] = {1, 1};
        double e[2] = {0.5, 0};
        tacet_error err = {0};
        assert_each_alloc_fails(kind == 0 ? tacet__eigh(A, 2, 2, w, &err) : tacet__tridiagonal(w, e, 2, A, 2, &err),
                                err.status == TACET_NO_MEMORY);
        assert_true(fail_alloc_last() > 1);
    }
}

/* One thread or two: the same numbers to rounding. */
TEST(threads_do_not_matter) {
#ifdef __SANITIZE_THREAD__
    skip(); /* the library's own threads are not instrumented: its hand-over of C would count as a race */
#endif
    enum { SIDE = 300 };
    OWN_MEMORY double *A = malloc(SIDE * SIDE * sizeof *A);
    OWN_MEMORY double *C = malloc(2 * SIDE * SIDE * sizeof *C);
    fill(A, SIDE * SIDE, 19);
    for (int threads = 1; threads <= 2; threads++) {
        tacet_threads(threads);
        tacet__gemm(false, true, SIDE, SIDE, SIDE, 1, A, SIDE, A, SIDE, 0, C + (threads - 1) * SIDE * SIDE, SIDE);
    }
    tacet_threads(1);
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        assert_close(C[i], C[SIDE * SIDE + i], 1e-12 * (1 + fabs(C[i])));
    }
}
