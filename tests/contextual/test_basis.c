/* SPDX-License-Identifier: Apache-2.0 */
/* test_basis.c - the space of USCA and its features: against eqs (4) and (5), laws of contexts, what is refused. */
#include "basis_fixture.h"

#include "gp/kernel_internal.h"
#include "gp/linalg.h"
#include "support/dense.h"

#include <tacet/core/simrng.h>

static double uniform(tacet_simrng *rng, double low, double high) {
    return low + (high - low) * tacet_simrng_uniform(rng);
}

/* The features' second moment under the law is diag(lam), checked by plain Monte Carlo; bounds in other units change
 * nothing. */
TEST(test_moments) {
    const size_t order = test_slow() ? 12 : 0;
    tacet_contextual_basis *basis = basis_of(TACET_KERNEL_SE, 0, 1, 1, 0.4, order, 8);
    enum { M = 8 };
    const size_t N = test_slow() ? 2500 : 40000;
    double sum[M * M] = {0};
    tacet_simrng rng = test_rng(5, 0);
    assert_int_equal(tacet_contextual_basis_dim(basis), M);
    for (size_t i = 0; i < N; i++) {
        double phi[M];
        const double w[2] = {tacet_simrng_uniform(&rng), tacet_simrng_uniform(&rng)};
        tacet_features_eval(basis->features, phi, w, 2, 1);
        for (size_t a = 0; a < M; a++) {
            for (size_t b = 0; b < M; b++) {
                sum[a * M + b] += phi[a] * phi[b] / (double)N;
            }
        }
    }
    /* |phi_a phi_b| <= 1: a standard error of at most N^-1/2; five of them, 64 comparisons: false alarm below 1e-4. */
    for (size_t a = 0; a < M; a++) {
        for (size_t b = 0; b < M; b++) {
            assert_close(sum[a * M + b], a == b ? tacet_contextual_basis_eigenvalues(basis)[a] : 0,
                         5 / sqrt((double)N));
        }
    }
    const double lower[2] = {-3, 100};
    const double upper[2] = {5, 300};
    const double l[2] = {0.4 * 8, 0.4 * 200};
    tacet_contextual_space space;
    tacet_contextual_basis *other = NULL;
    tacet_contextual_space_defaults(&space);
    space.lower = lower;
    space.upper = upper;
    space.lengthscales = l;
    space.lengthscale_count = 2;
    space.order = order;
    assert_ok(tacet_contextual_basis_create(&other, &space, M, NULL));
    for (size_t a = 0; a < M; a++) {
        assert_close(tacet_contextual_basis_eigenvalues(other)[a], tacet_contextual_basis_eigenvalues(basis)[a], 1e-12);
    }
    const double inside[2] = {-3, 300};
    const double out1[2] = {5.01, 200};
    const double out2[2] = {0, (double)NAN};
    double unit[2];
    assert_int_equal(tacet_contextual_basis_outside(other, inside), 0);
    assert_int_equal(tacet_contextual_basis_outside(other, out1), 1);
    assert_int_equal(tacet_contextual_basis_outside(other, out2), 2);
    tacet__contextual_unit(other, unit, out1);
    assert_true(unit[0] == 1 && unit[1] == 0.5);
    tacet__contextual_unit(other, unit, out2);
    assert_true(unit[1] == 0.5);
    tacet_contextual_basis_free(other);
    tacet_contextual_basis_free(basis);
}

/* Eqs (4) and (5) of the paper as they are printed (Lemma 3.1), at n points w: on T rounds (W, y) and an approximating
 * set P of `count` points, mu = (k_W(w)'y - k_P(w)'A^-1 K_PW y)/tau and sigma^2 = (k(w, w) - k_P(w)'A^-1 k_P(w))/tau,
 * A = K_PP + K tau I. */
static void as_printed(double *mu, double *sigma2, const tacet_kernel *kernel, const double *W, const double *y,
                       size_t T, const double *P, size_t count, double K, double tau, const double *w, size_t n) {
    double *A = malloc(count * count * sizeof *A), *cross = malloc(count * n * sizeof *cross);
    double *B = calloc(count * (n + 1), sizeof *B); /* K_PW y, then k_P(w) of each point */
    tacet_kernel_matrix(kernel, A, count, P, 2, count, P, 2, count);
    tacet_kernel_matrix(kernel, cross, count, P, 2, count, w, 2, n);
    memcpy(B + count, cross, count * n * sizeof *B);
    for (size_t i = 0; i < count; i++) {
        A[i * (count + 1)] += K * tau;
        for (size_t t = 0; t < T; t++) {
            B[i] += tacet_kernel_eval(kernel, P + 2 * i, W + 2 * t) * y[t];
        }
    }
    dense_solve(A, B, count, n + 1);
    for (size_t j = 0; j < n; j++) {
        const double *point = w + 2 * j, *k = cross + j * count;
        mu[j] = sigma2[j] = 0;
        for (size_t t = 0; t < T; t++) {
            mu[j] += tacet_kernel_eval(kernel, W + 2 * t, point) * y[t] / tau;
        }
        for (size_t i = 0; i < count; i++) {
            mu[j] -= k[i] * B[i] / tau;
            sigma2[j] -= k[i] * B[(j + 1) * count + i] / tau;
        }
        sigma2[j] += tacet_kernel_eval(kernel, point, point) / tau;
    }
    free(A);
    free(B);
    free(cross);
}

/* On the same random approximating set the feature form is eqs (4) and (5). Written out here from the features alone:
 * Z~ = 1/K sum phi phi' + tau I, mu = phi' Z~^-1 Phi y, sigma^2 = phi' Z~^-1 phi. */
TEST(test_equals_dense) {
    enum { D = 2, POINTS = 200 };
    const size_t T = 25; /* the approximating set has T ceil(T/gamma) points, and is solved for */
    /* A lengthscale at which the features above the cut-off are all there are to this precision. */
    tacet_contextual_basis *basis = basis_of(TACET_KERNEL_SE, 0, 1, 1, 1.0, test_slow() ? 14 : 24, 0);
    const tacet_kernel *kernel = tacet_features_kernel(basis->features);
    const double tau = 10; /* what the features cut off, 1e-10 of the kernel, is divided by it */
    const size_t K = (size_t)ceil((double)T / tacet__contextual_gain(basis, (double)T, tau));
    const size_t count = T * K;
    const size_t m = tacet_contextual_basis_dim(basis);
    tacet_simrng rng = test_rng(11, 0);
    double *W = malloc(D * T * sizeof *W);
    double *y = malloc(T * sizeof *y);
    double *P = malloc(D * count * sizeof *P);
    double *phi = malloc(m * count * sizeof *phi);
    double *Z = calloc(m * m, sizeof *Z);
    double *b = calloc(m, sizeof *b);
    double *u = malloc(m * sizeof *u);
    assert_true(K >= 2);
    for (size_t i = 0; i < D * T; i++) {
        W[i] = tacet_simrng_uniform(&rng);
    }
    for (size_t i = 0; i < T; i++) {
        y[i] = uniform(&rng, -1, 1);
    }
    for (size_t i = 0; i < D * count; i++) {
        P[i] = tacet_simrng_uniform(&rng);
    }
    double w[D * POINTS], mu[POINTS], sigma2[POINTS];
    for (size_t i = 0; i < (size_t)D * POINTS; i++) {
        w[i] = tacet_simrng_uniform(&rng);
    }
    as_printed(mu, sigma2, kernel, W, y, T, P, count, (double)K, tau, w, POINTS);
    tacet_features_eval(basis->features, phi, P, D, count);
    for (size_t j = 0; j < count; j++) {
        for (size_t a = 0; a < m; a++) {
            for (size_t c = 0; c < m; c++) {
                Z[c * m + a] += phi[j * m + a] * phi[j * m + c] / (double)K;
            }
        }
    }
    for (size_t a = 0; a < m; a++) {
        Z[a * m + a] += tau;
    }
    assert_ok(tacet__cholesky(Z, m, m, NULL, NULL, NULL));
    tacet_features_eval(basis->features, phi, W, D, T);
    for (size_t j = 0; j < T; j++) {
        tacet__axpy(b, y[j], phi + j * m, m);
    }
    tacet__trsv(false, m, Z, m, b);
    const tacet__lever lever = {
        .features = basis->features, .L = Z, .tau = tau, .d = D, .lengthscale = basis->unit_lengthscale};
    double sup = 0;
    for (size_t i = 0; i < POINTS; i++) {
        tacet_features_eval(basis->features, u, w + D * i, D, 1);
        tacet__lever_apply(&lever, u, 1);
        assert_close(tacet__dot(u, b, m), mu[i], 1e-9);
        assert_close(tacet__dot(u, u, m), sigma2[i], 1e-9);
        sup = fmax(sup, sigma2[i]);
    }
    /* The certificate holds for this operator too. */
    tacet_contextual_certificate certificate;
    assert_ok(tacet__lever_certify(&certificate, &lever, 0.005, 100000, NULL));
    assert_true(certificate.upper * certificate.upper >= sup);
    free(W);
    free(y);
    free(P);
    free(phi);
    free(Z);
    free(b);
    free(u);
    tacet_contextual_basis_free(basis);
}

TEST(test_bad_spaces) {
    tacet_contextual_space good;
    tacet_contextual_basis *basis = NULL;
    tacet_contextual_space_defaults(&good);
    const double wrong[2] = {0, (double)NAN}, zero = 0;
    for (size_t k = 0; k < 8; k++) {
        tacet_contextual_space s = good;
        s.action_dim = k == 0 ? 0 : s.action_dim;
        s.context_dim = k == 1 ? 4 : s.context_dim;
        s.upper = k == 2 ? wrong : s.upper;
        s.lengthscales = k == 3 ? &zero : s.lengthscales;
        s.lengthscale_count = k == 4 ? 3 : s.lengthscale_count;
        s.order = k == 5 ? 100 : s.order;
        s.kind = k == 6 ? TACET_KERNEL_LINEAR : k == 7 ? TACET_KERNEL_MATERN : s.kind;
        s.matern_p = k == 7 ? 0 : s.matern_p;
        assert_status(tacet_contextual_basis_create(&basis, &s, 0, NULL), k < 6 ? TACET_INVALID : TACET_UNSUPPORTED);
    }
    assert_null(basis);
}

/* Every allocation fails once, in the basis, a certificate and a plan. */
TEST(test_no_memory) {
    tacet_contextual_space space;
    tacet_contextual_basis *basis = NULL;
    tacet_contextual_space_defaults(&space);
    space.order = 5;
    assert_each_alloc_fails(tacet_contextual_basis_create(&basis, &space, 8, NULL), basis == NULL);
    tacet_contextual_basis_free(basis);
}
