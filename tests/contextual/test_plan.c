/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan.c - the staged release before any data is seen: the fusion of stages, clipping, and plans. */
#include "basis_fixture.h"

#include <tacet/core/simrng.h>

/* The gain of a stage is the posterior of a linear Gaussian model: against a dense formula in other terms (information
 * form), and with no clipping and no noise against ridge's 1/(n lam + r2/p). */
static void test_fusion(void **state) {
    tacet_contextual_basis *basis = basis_of(TACET_KERNEL_SE, 0, 1, 1, 0.5, 12, 10);
    enum { M = 10 };
    tacet__contextual_fusion f;
    double clip = 0;
    double risk = 0;
    const double n = 500;
    const double prior = 0.05;
    const double r2 = 0.04;
    /* However fast the prior falls, the function's mean square is the prior's, kept or in the tail. */
    for (int k = 0; k < 4; k++) {
        assert_ok(tacet__contextual_fusion_init(&f, basis, M, prior, 0.5 * k, NULL));
        assert_close(tacet__contextual_fusion_risk(&f, f.P), prior, 1e-12);
        assert_close(f.P[0] / f.P[(M - 1) * M + M - 1], pow(f.lam[0] / f.lam[M - 1], 0.5 * k), 1e-6 * pow(10, 4 * k));
        tacet__contextual_fusion_clear(&f);
    }
    assert_ok(tacet__contextual_fusion_init(&f, basis, M, prior, 0, NULL));
    assert_close(tacet__contextual_fusion_risk(&f, f.P), prior * (basis->tail + 1) - prior * basis->tail, 1e-3);
    tacet__contextual_fusion_clip(&f, 0.01, 1e9, &clip); /* nothing is clipped: H = S = diag(lam) */
    for (size_t j = 0; j < M; j++) {
        assert_close(f.H[j * M + j], f.lam[j], 1e-12);
        assert_close(f.S[j * M + j], f.lam[j], 1e-12);
    }
    assert_ok(tacet__contextual_fusion_gain(&f, f.P, &risk, n, 0.01, r2, 100 * sqrt(r2), 1e-9, NULL));
    for (size_t j = 0; j < M; j++) {
        assert_close(f.P[j * M + j], 1 / (1 / prior + n * f.lam[j] / r2), 1e-9);
        /* K b with b = n lam theta gives back theta but for what the prior keeps. */
        assert_close(f.gain[j * M + j] * n * f.lam[j], 1 - f.P[j * M + j] / prior, 1e-9);
    }
    /* Clipping keeps what it keeps: omega <= 1, so S <= H <= lam on the diagonal, and something was clipped. */
    tacet__contextual_fusion_clip(&f, 0.01, 0.7, &clip);
    for (size_t j = 0; j < M; j++) {
        assert_true(f.S[j * M + j] <= f.H[j * M + j] && f.H[j * M + j] <= f.lam[j] * (1 + 1e-9));
    }
    assert_true(f.H[0] < 0.999 * f.lam[0]);
    tacet__contextual_fusion_clear(&f);
    tacet_contextual_basis_free(basis);
}

/* What clipping leaves of a residual, by simulation: the regression of the clipped on the signal, and the mean square.
 * 200,000 draws: standard errors below 0.003, limits at 5 of them, and wider with fewer draws. */
static void test_clipped(void **state) {
    const size_t N = test_slow() ? 20000 : 200000;
    const double wider = sqrt(200000 / (double)N);
    const double bounds[] = {0.05, 0.3, 0.6, 3};
    tacet_simrng rng = test_rng(41, 0);
    for (size_t k = 0; k < 4; k++) {
        double cross = 0;
        double signal2 = 0;
        double square = 0;
        double response = 0;
        double left = 0;
        for (size_t i = 0; i < N; i++) {
            const double signal = 0.3 * tacet_simrng_normal(&rng);
            const double clipped = fmin(fmax(signal + 0.4 * tacet_simrng_normal(&rng), -bounds[k]), bounds[k]);
            cross += signal * clipped / (double)N;
            signal2 += signal * signal / (double)N;
            square += clipped * clipped / (double)N;
        }
        tacet__contextual_fusion_clipped(&response, &left, 0.25, bounds[k]);
        assert_close(response, cross / signal2, 0.015 * wider);
        assert_close(left, square, 0.005 * wider);
    }
    double response = 0;
    double left = 0;
    tacet__contextual_fusion_clipped(&response, &left, 0.25, INFINITY);
    assert_true(response == 1 && fabs(left - 0.25) < 1e-15);
}

static void test_plan(void **state) {
    tacet_contextual_basis *basis = basis_of(TACET_KERNEL_SE, 0, 1, 1, 0.3, 16, 0);
    tacet__contextual_plan_settings s = {.rounds = 1000,
                                         .bound = 1,
                                         .noise_sd = 0.1,
                                         .prior_var = 0.05,
                                         .unit_sd = sqrt(2),
                                         .grows = true,
                                         .stages_most = TACET__CONTEXTUAL_STAGES_MOST};
    double last = 0.05;
    const size_t most = test_slow() ? 100 : 100000;
    for (size_t rounds = 100; rounds <= most; rounds *= 10) {
        tacet__contextual_plan plan;
        size_t total = 0;
        s.rounds = rounds;
        assert_ok(tacet__contextual_plan_make(&plan, basis, &s, NULL));
        for (size_t j = 0; j < plan.count; j++) {
            total += plan.stages[j].n;
            assert_true(plan.stages[j].n > 0 && plan.stages[j].clip > 0 && plan.stages[j].bound <= 1);
            assert_true(j == 0 || plan.stages[j].risk < plan.stages[j - 1].risk);
        }
        assert_int_equal(total, rounds);
        assert_true(plan.risk < last);
        last = plan.risk;
        /* One release is a plan too, and never predicts less. */
        tacet__contextual_plan one;
        s.stages_most = 1;
        assert_ok(tacet__contextual_plan_make(&one, basis, &s, NULL));
        assert_int_equal(one.count, 1);
        assert_true(one.risk >= plan.risk && one.stages[0].bound == 1);
        s.stages_most = TACET__CONTEXTUAL_STAGES_MOST;
    }
    /* More privacy, more error. */
    tacet__contextual_plan plan;
    s.unit_sd = 10 * sqrt(2);
    assert_ok(tacet__contextual_plan_make(&plan, basis, &s, NULL));
    assert_true(plan.risk > last);
    s.rounds = 0;
    assert_status(tacet__contextual_plan_make(&plan, basis, &s, NULL), TACET_INVALID);
    s.rounds = 10;
    s.prior_var = (double)NAN;
    assert_status(tacet__contextual_plan_make(&plan, basis, &s, NULL), TACET_INVALID);
    tacet_contextual_basis_free(basis);
}

static void test_no_memory(void **state) {
    tacet_contextual_basis *basis = basis_of(TACET_KERNEL_SE, 2, 1, 1, 0.3, 5, 8);
    const tacet__contextual_plan_settings s = {.rounds = 100,
                                               .bound = 1,
                                               .noise_sd = 0.1,
                                               .prior_var = 0.05,
                                               .unit_sd = 1,
                                               .stages_most = 2,
                                               .features_most = 5};
    tacet__contextual_plan plan;
    assert_each_alloc_fails(tacet__contextual_plan_make(&plan, basis, &s, NULL), true);
    tacet_contextual_basis_free(basis);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fusion), cmocka_unit_test(test_clipped),
                                       cmocka_unit_test(test_plan), cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
