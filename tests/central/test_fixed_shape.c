/* SPDX-License-Identifier: Apache-2.0 */
/* test_fixed_shape.c - a batch's release is shaped to tell most: no other shape of the same length tells more. */
#include "support/test.h"

#include <tacet/core/simrng.h>

#include "central/open/fixed_shape.h"
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

static void no_other_shape_tells_more(void **state) {
    tacet_simrng rng = test_rng(5, 0);
    for (int trial = 0; trial < 40; trial++) {
        double S[M * M], P[M * M], copy[M * M], A[M * M], other[M * M], scratch[3 * M * M + 2 * M];
        const double noise = exp(2 * tacet_simrng_normal(&rng)), reward = trial % 4 == 0 ? 0 : 0.25;
        random_square(S, -1, &rng);
        random_square(P, -0.7, &rng);
        memcpy(copy, P, sizeof P);
        assert_ok(tacet__fixed_shape(A, S, copy, M, N, reward, noise, scratch, NULL));
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
static void nearly_no_noise_drops_nothing(void **state) {
    tacet_simrng rng = test_rng(6, 0);
    double S[M * M], P[M * M], A[M * M], w[M], scratch[3 * M * M + 2 * M];
    random_square(S, -0.5, &rng);
    random_square(P, -0.5, &rng);
    assert_ok(tacet__fixed_shape(A, S, P, M, N, 0.01, 0, scratch, NULL));
    assert_ok(tacet__eigh(A, M, M, w, NULL));
    assert_true(w[0] > 1e-3 * w[M - 1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_other_shape_tells_more),
                                       cmocka_unit_test(nearly_no_noise_drops_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
