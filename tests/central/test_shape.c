/* SPDX-License-Identifier: Apache-2.0 */
/* test_shape.c - a batch's release is shaped to tell most: no other shape of the same length tells more. */
#include "support/test.h"

#include <tacet/core/simrng.h>

#include "central/open/shape.h"
#include "gp/linalg.h"

enum { M = 4, N = 50 };

/* 2 x nats about theta ~ N(0, P) in A sum v phi + N(0, noise I), v = phi'theta + N(0, reward): log det(I + N^-1 H P
 * H'), H = n A S, N = reward n A S A' + noise I. */
static double nats(const double *A, const double *S, const double *P, double reward, double noise) {
    double AS[M * M], H[M * M], V[M * M], HP[M * M], Q[M * M];
    tacet__gemm(false, false, M, M, M, 1, A, M, S, M, 0, AS, M);
    tacet__gemm(false, true, M, M, M, reward * N, AS, M, A, M, 0, V, M);
    for (size_t i = 0; i < M * M; i++) {
        H[i] = N * AS[i];
    }
    for (size_t i = 0; i < M; i++) {
        V[i * (M + 1)] += noise;
    }
    tacet__gemm(false, false, M, M, M, 1, H, M, P, M, 0, HP, M);
    memcpy(Q, V, sizeof Q);
    tacet__gemm(false, true, M, M, M, 1, HP, M, H, M, 1, Q, M);
    assert_ok(tacet__cholesky(Q, M, M, NULL, NULL, NULL));
    assert_ok(tacet__cholesky(V, M, M, NULL, NULL, NULL));
    return tacet__chol_logdet(M, Q, M) - tacet__chol_logdet(M, V, M);
}

/* Mean |A phi|^2 = tr(A S A'). */
static double length2(const double *A, const double *S) {
    double AS[M * M], trace = 0;
    tacet__gemm(false, false, M, M, M, 1, A, M, S, M, 0, AS, M);
    for (size_t i = 0; i < M * M; i++) {
        trace += AS[i] * A[i];
    }
    return trace;
}

static void random_square(double *out, double spread, tacet_simrng *rng) {
    double B[M * M];
    for (size_t i = 0; i < M * M; i++) {
        B[i] = tacet_simrng_normal(rng) * exp(spread * (double)(i % M));
    }
    tacet__gemm(false, true, M, M, M, 1.0 / M, B, M, B, M, 0, out, M);
}

TEST(no_other_shape_tells_more) {
    tacet_simrng rng = test_rng(5, 0);
    for (int trial = 0; trial < 40; trial++) {
        double S[M * M], P[M * M], copy[M * M], A[M * M], other[M * M], scratch[3 * M * M + 3 * M];
        const double noise = exp(2 * tacet_simrng_normal(&rng)), reward = trial % 4 == 0 ? 0 : 0.25;
        random_square(S, -1, &rng);
        random_square(P, -0.7, &rng);
        memcpy(copy, P, sizeof P);
        const tacet__batch_noise one = {.gaussian_var = noise};
        size_t numbers = 0;
        assert_ok(tacet__batch_shape(A, &numbers, S, copy, M, N, reward, &one, M, scratch, NULL));
        assert_close(length2(A, S), 1, 1e-6);
        const double best = nats(A, S, P, reward, noise);
        for (int k = 0; k < 60; k++) { /* others near it, and anywhere */
            const double far = k < 30 ? 0.1 : 3;
            for (size_t i = 0; i < M * M; i++) {
                other[i] = A[i] + far * tacet_simrng_normal(&rng) / sqrt(M);
            }
            const double scale = 1 / sqrt(length2(other, S));
            for (size_t i = 0; i < M * M; i++) {
                other[i] *= scale;
            }
            assert_true(nats(other, S, P, reward, noise) <= best + 1e-9);
        }
    }
}

/* Without noise to speak of all directions get through: the update sees the whole second moment. */
TEST(nearly_no_noise_drops_nothing) {
    tacet_simrng rng = test_rng(6, 0);
    double S[M * M], P[M * M], A[M * M], w[M], scratch[3 * M * M + 3 * M];
    random_square(S, -0.5, &rng);
    random_square(P, -0.5, &rng);
    const tacet__batch_noise none = {0};
    size_t numbers = 0;
    assert_ok(tacet__batch_shape(A, &numbers, S, P, M, N, 0.01, &none, M, scratch, NULL));
    assert_int_equal(numbers, M);
    tacet__gemm(true, false, M, M, M, 1, A, M, A, M, 0, P, M);
    assert_ok(tacet__eigh(P, M, M, w, NULL));
    assert_true(w[0] > 1e-6 * w[M - 1]); /* the squares of the singular values */
}

/* Where noise grows with the numbers few are released, and the triangle does not depend on the eigenvectors found. */
TEST(few_numbers_where_noise_grows) {
    tacet_simrng rng = test_rng(7, 0);
    const tacet__batch_noise grows = {.gaussian_var = 400, .unit = 4}, level = {.gaussian_var = 5};
    double S[M * M] = {0}, P[M * M] = {0}, copy[M * M], A[M * M], B[M * M], turned[M * M], scratch[3 * M * M + 3 * M];
    size_t few = 0, many = 0;
    random_square(S, 0, &rng);
    for (size_t i = 0; i < M; i++) {
        P[i * (M + 1)] = 1;
    }
    memcpy(copy, P, sizeof P);
    assert_ok(tacet__batch_shape(A, &few, S, copy, M, N, 0, &grows, M, scratch, NULL));
    memcpy(copy, P, sizeof P);
    assert_ok(tacet__batch_shape(B, &many, S, copy, M, N, 0, &level, M, scratch, NULL));
    assert_true(few >= 1 && few < many);
    for (size_t i = 0; i < M; i++) {
        assert_true(i < few ? A[i * (M + 1)] > 0 : A[i * (M + 1)] == 0);
        for (size_t j = 0; j < i; j++) {
            assert_true(A[i + j * M] == 0);
        }
    }
    /* equal eigenvalues: any rotation of their vectors is as good, and all give one triangle */
    memcpy(copy, P, sizeof P);
    assert_ok(tacet__batch_shape(A, &few, P, copy, M, N, 0.25, &level, M, scratch, NULL));
    memcpy(turned, P, sizeof P);
    turned[1] = turned[M] = 1e-15; /* a hair off: LAPACK then takes others */
    memcpy(copy, P, sizeof P);
    assert_ok(tacet__batch_shape(B, &many, turned, copy, M, N, 0.25, &level, M, scratch, NULL));
    for (size_t i = 0; i < M * M; i++) {
        assert_close(A[i], B[i], 1e-9);
    }
    /* at most so many */
    memcpy(copy, P, sizeof P);
    assert_ok(tacet__batch_shape(B, &many, S, copy, M, N, 0, &level, 2, scratch, NULL));
    assert_int_equal(many, 2);
}
