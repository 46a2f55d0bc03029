/* SPDX-License-Identifier: Apache-2.0 */
/* test_published_ucb.c - the published server half against the formulas of Algorithm 1 and Theorem 1, written out. */
#include "support/dense.h"
#include "support/test.h"

#include <tacet/core/simrng.h>
#include "central/open/published_ucb.h"

static tacet_features *features;
enum { ORDER = 3, M = ORDER * ORDER, DIM = (M + 1) * (M + 2) / 2 };

static int setup(void **state) {
    tacet_kernel *kernel = test_kernel("se", 2, 1);
    assert_ok(tacet_features_create_qff(&features, kernel, ORDER, NULL));
    tacet_kernel_free(kernel);
    return 0;
}

static int teardown(void **state) {
    tacet_features_free(features);
    return 0;
}

static void add(double *sums, const double *phi, double y) {
    double z[M + 1];
    memcpy(z, phi, sizeof(double) * M);
    z[M] = y;
    for (size_t j = 0; j <= M; j++) {
        *sums++ += z[j] * z[j];
        for (size_t i = j + 1; i <= M; i++) {
            *sums++ += sqrt(2) * z[i] * z[j];
        }
    }
}

/* With exact sums, theta and sd are those of Bayesian linear regression (noise rho^2, prior rho^2/lambda). */
TEST(exact_sums_are_regression) {
    tacet_published_ucb_settings set;
    tacet_published_ucb_settings_defaults(&set);
    set.lambda = 0.7;
    tacet_published_ucb *ucb = NULL;
    assert_ok(tacet_published_ucb_create(&ucb, features, &set, NULL));
    assert_int_equal(tacet_published_ucb_dim(ucb), DIM);
    tacet_simrng rng = test_rng(4, 0);
    double sums[DIM] = {0}, phi[M], precision[M * M] = {0}, moment[M] = {0};
    for (size_t i = 0; i < M; i++) {
        precision[i * M + i] = set.lambda / (set.rho * set.rho);
    }
    for (int t = 0; t < 60; t++) {
        const double x[2] = {2 * tacet_simrng_uniform(&rng), tacet_simrng_uniform(&rng)};
        const double y = sin(3 * x[0]) * 0.5 + 0.5;
        tacet_features_eval(features, phi, x, 2, 1);
        add(sums, phi, y);
        for (size_t j = 0; j < M; j++) {
            moment[j] += y * phi[j] / (set.rho * set.rho);
            for (size_t i = 0; i < M; i++) {
                precision[j * M + i] += phi[i] * phi[j] / (set.rho * set.rho);
            }
        }
    }
    assert_ok(tacet_published_ucb_update(ucb, sums, NULL));
    double arms[10], mean[5], sd[5], beta = 0;
    for (size_t i = 0; i < 10; i++) {
        arms[i] = 2 * tacet_simrng_uniform(&rng);
    }
    /* ln det(V/lambda) is twice the information of the regression */
    double copy[M * M];
    memcpy(copy, precision, sizeof copy);
    beta = 1 + sqrt(dense_logdet(copy, M) - M * log(set.lambda / (set.rho * set.rho)) + 2 * log(2 / set.zeta));
    size_t best = 0;
    double top = -INFINITY;
    for (size_t j = 0; j < 5; j++) {
        tacet_features_eval(features, phi, arms + 2 * j, 2, 1);
        double solved[2 * M];
        memcpy(solved, moment, sizeof moment);
        memcpy(solved + M, phi, sizeof phi);
        memcpy(copy, precision, sizeof copy);
        dense_solve(copy, solved, M, 2);
        mean[j] = 0;
        sd[j] = 0;
        for (size_t i = 0; i < M; i++) {
            mean[j] += phi[i] * solved[i];
            sd[j] += phi[i] * solved[M + i];
        }
        sd[j] = sqrt(sd[j]);
        double own = 0;
        assert_int_equal(tacet_published_ucb_choose(ucb, &own, arms + 2 * j, 2, 1), 0);
        assert_close(own, mean[j] + beta * sd[j], 1e-9);
        if (mean[j] + beta * sd[j] > top) {
            top = mean[j] + beta * sd[j];
            best = j;
        }
    }
    double score = 0;
    assert_int_equal(tacet_published_ucb_choose(ucb, &score, arms, 2, 5), best);
    assert_close(score, top, 1e-9);
    tacet_published_ucb_free(ucb);
}

TEST(shift_and_repair) {
    double shift = 0, kappa = 0;
    tacet_published_ucb_spectrum(&shift, &kappa, 3, 100, 1024, 0.1);
    assert_close(shift, 3 * (40 + 2 * log(20480)), 1e-9);
    assert_close(kappa, 3 / sqrt(2 * shift) * (10 + sqrt(2 * log(20480))), 1e-9);
    tacet_published_ucb_settings set;
    tacet_published_ucb_settings_defaults(&set);
    set.shift = 2;
    set.kappa = 0.5;
    tacet_published_ucb *ucb = NULL;
    assert_ok(tacet_published_ucb_create(&ucb, features, &set, NULL));
    /* no data: V = (lambda + 2 shift) I, theta = 0 */
    const double x[2] = {0.3, 0.2}, beta = sqrt(25) + 1 + sqrt(M * log(5.0 / 3) + 2 * log(20));
    double phi[M], score = 0, norm2 = 0;
    tacet_features_eval(features, phi, x, 2, 1);
    for (size_t i = 0; i < M; i++) {
        norm2 += phi[i] * phi[i];
    }
    (void)tacet_published_ucb_choose(ucb, &score, x, 2, 1);
    assert_close(score, beta * set.rho * sqrt(norm2 / 5), 1e-9);
    double sums[DIM] = {0};
    sums[0] = -50; /* noise beyond the shift */
    assert_ok(tacet_published_ucb_update(ucb, sums, NULL));
    (void)tacet_published_ucb_choose(ucb, &score, x, 2, 1);
    assert_true(isfinite(score));
    sums[7] = NAN;
    assert_status(tacet_published_ucb_update(ucb, sums, NULL), TACET_INVALID);
    tacet_published_ucb_free(ucb);
}

TEST(refuses_and_fails) {
    tacet_published_ucb *ucb = NULL;
    for (int k = 0; k < 7; k++) {
        tacet_published_ucb_settings s;
        tacet_published_ucb_settings_defaults(&s);
        double *numbers[] = {&s.norm_bound, &s.rho, &s.lambda, &s.zeta, &s.shift, &s.kappa, &s.width};
        *numbers[k] = k % 2 == 0 ? NAN : -1;
        assert_status(tacet_published_ucb_create(&ucb, features, &s, NULL), TACET_INVALID);
        assert_null(ucb);
    }
    tacet_published_ucb_settings set;
    tacet_published_ucb_settings_defaults(&set);
    assert_each_alloc_fails(tacet_published_ucb_create(&ucb, features, &set, NULL), ucb == NULL);
    tacet_published_ucb_free(ucb);
}

TEST_ALL(setup, teardown)
