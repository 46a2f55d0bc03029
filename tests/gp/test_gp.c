/* SPDX-License-Identifier: Apache-2.0 */
/* test_gp.c - the incremental GP against a dense solve, order of observations, repeats, jitter, bad input, allocation
 * failures. */
#include "gp/kernel_internal.h"
#include "gp/cov_internal.h"
#include "support/dense.h"
#include "support/test.h"

#include "gp/gp_internal.h"

#include "gp/gp.h"
#include <tacet/core/simrng.h>

enum { N = 60, D = 3, T = 40 };

typedef struct fixture {
    double X[N * D];
    double K[N * N];
    tacet_kernel *kernel;
    tacet_cov *cov;
    size_t at[T];
    double values[T];
    double noise[T];
} fixture;

static void fixture_init(fixture *f, const char *name, uint64_t seed) {
    tacet_simrng rng = test_rng(seed, 0);
    for (size_t i = 0; i < (size_t)N * D; i++) {
        f->X[i] = tacet_simrng_uniform(&rng);
    }
    const double lengthscales[D] = {0.4, 0.7, 1.1};
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    spec.d = D;
    spec.signal_var = 1.7;
    spec.lengthscales = lengthscales;
    spec.lengthscale_count = D;
    assert_ok(tacet_kernel_parse(&spec, name, NULL));
    assert_ok(tacet_kernel_create(&f->kernel, &spec, NULL));
    const tacet_cov_spec cov = {.kernel = f->kernel};
    assert_ok(tacet_cov_create(&f->cov, &cov, f->X, D, N, NULL));
    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < N; i++) {
            f->K[j * N + i] = tacet_kernel_eval(f->kernel, f->X + i * D, f->X + j * D);
        }
    }
    for (size_t s = 0; s < T; s++) {
        f->at[s] = tacet_simrng_below(&rng, N); /* repeats happen: 40 draws of 60 */
        f->values[s] = tacet_simrng_normal(&rng);
        f->noise[s] = 0.01;
    }
}

static void fixture_clear(fixture *f) {
    tacet_cov_free(f->cov);
    tacet_kernel_free(f->kernel);
}

static tacet_gp *make(const fixture *f, double noise_var, size_t horizon) {
    const tacet_gp_settings settings = {.mean = 0.25, .noise_var = noise_var, .horizon = horizon};
    tacet_gp *gp = NULL;
    assert_ok(tacet_gp_create(&gp, &settings, f->cov, NULL));
    return gp;
}

TEST(matches_dense) {
    static const char *const names[] = {"se", "matern12", "matern32", "matern52", "linear"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        fixture f;
        fixture_init(&f, names[k], 10 + k);
        tacet_gp *gp = make(&f, 0.01, T);
        double mean[N];
        double var[N];
        double cov[N * N];
        for (size_t s = 0; s < T; s++) {
            assert_ok(tacet_gp_observe(gp, f.at[s], f.values[s], NULL));
            dense_gp(mean, var, cov, f.K, N, 0.25, f.at, f.values, f.noise, s + 1);
            for (size_t j = 0; j < N; j++) {
                assert_close(tacet_gp_mean(gp)[j], mean[j], 1e-10);
                assert_close(tacet_gp_var(gp)[j], var[j], 1e-11);
            }
        }
        tacet_gp_report report;
        tacet_gp_report_get(gp, &report);
        assert_int_equal(report.count, T);
        assert_int_equal(report.jittered, 0);
        assert_close(report.log_likelihood, dense_gp_likelihood(f.K, N, 0.25, f.at, f.values, f.noise, T), 1e-8);
        tacet_gp_free(gp);
        fixture_clear(&f);
    }
}

TEST(order_does_not_matter) {
    fixture f;
    fixture_init(&f, "se", 4);
    tacet_gp *one = make(&f, 0.01, T);
    tacet_gp *other = make(&f, 0.01, T);
    size_t order[T];
    tacet_simrng rng = test_rng(5, 0);
    for (size_t s = 0; s < T; s++) {
        order[s] = s;
        assert_ok(tacet_gp_observe(one, f.at[s], f.values[s], NULL));
    }
    for (int trial = 0; trial < 20; trial++) {
        for (size_t s = T; s > 1; s--) {
            const size_t r = tacet_simrng_below(&rng, s);
            const size_t swap = order[s - 1];
            order[s - 1] = order[r];
            order[r] = swap;
        }
        tacet_gp_reset(other);
        for (size_t s = 0; s < T; s++) {
            assert_ok(tacet_gp_observe(other, f.at[order[s]], f.values[order[s]], NULL));
        }
        for (size_t j = 0; j < N; j++) {
            assert_close(tacet_gp_mean(one)[j], tacet_gp_mean(other)[j], 1e-10);
            assert_close(tacet_gp_var(one)[j], tacet_gp_var(other)[j], 1e-11);
        }
        tacet_gp_report a;
        tacet_gp_report b;
        tacet_gp_report_get(one, &a);
        tacet_gp_report_get(other, &b);
        assert_close(a.log_likelihood, b.log_likelihood, 1e-9);
    }
    tacet_gp_free(one);
    tacet_gp_free(other);
    fixture_clear(&f);
}

/* Twins far apart in the domain, in different blocks and at different places within them, stay equal to the last
 * bit: a tie is a tie. */
TEST(equal_points_keep_equal_bits) {
    enum { BIG = 10007, ROUNDS = 37 };
    OWN_MEMORY double *X = malloc((size_t)BIG * sizeof *X);
    assert_non_null(X);
    for (size_t j = 0; j < BIG; j++) {
        X[j] = (double)(j % 101) / 101;
    }
    const double l = 0.3;
    tacet_kernel *kernel = test_kernel("se", 1, l);
    tacet_cov *cov = NULL;
    const tacet_cov_spec cov_spec = {.kernel = kernel};
    assert_ok(tacet_cov_create(&cov, &cov_spec, X, 1, BIG, NULL));
    const tacet_gp_settings settings = {.noise_var = 1e-3, .horizon = ROUNDS};
    tacet_gp *gp = NULL;
    assert_ok(tacet_gp_create(&gp, &settings, cov, NULL));
    for (size_t s = 0; s < ROUNDS; s++) {
        assert_ok(tacet_gp_observe(gp, (s * 7919) % BIG, sin((double)s), NULL));
        for (size_t j = 101; j < BIG; j++) {
            assert_true(tacet_gp_mean(gp)[j] == tacet_gp_mean(gp)[j % 101]);
            assert_true(tacet_gp_var(gp)[j] == tacet_gp_var(gp)[j % 101]);
        }
    }
    tacet_gp_free(gp);
    tacet_cov_free(cov);
    tacet_kernel_free(kernel);
}

TEST(repeats_without_noise_are_reported) {
    fixture f;
    fixture_init(&f, "se", 6);
    tacet_gp *gp = make(&f, 0, T);
    for (size_t s = 0; s < 6; s++) {
        assert_ok(tacet_gp_observe(gp, 3, 1.5, NULL));
    }
    assert_ok(tacet_gp_observe(gp, 4, -1, NULL));
    assert_ok(tacet_gp_observe(gp, 3, 1.5, NULL));
    assert_close(tacet_gp_mean(gp)[3], 1.5, 1e-9);
    assert_close(tacet_gp_mean(gp)[4], -1, 1e-9);
    assert_close(tacet_gp_var(gp)[3], 0, 1e-9);
    tacet_gp_report report;
    tacet_gp_report_get(gp, &report);
    assert_int_equal(report.jittered, 6);
    assert_true(report.largest_jitter > 0 && report.largest_jitter <= 1.7e-9);
    /* Contradicting values: between the two, finite everywhere. */
    for (size_t s = 0; s < 20; s++) {
        assert_ok(tacet_gp_observe(gp, 3, s % 2 == 0 ? 2 : 1, NULL));
    }
    for (size_t j = 0; j < N; j++) {
        assert_true(isfinite(tacet_gp_mean(gp)[j]));
        assert_true(tacet_gp_var(gp)[j] >= 0 && tacet_gp_var(gp)[j] <= 1.7);
    }
    assert_true(tacet_gp_mean(gp)[3] > 0.99 && tacet_gp_mean(gp)[3] < 2.01);
    /* All N candidates without noise: interpolates, never crashes. */
    tacet_gp_free(gp);
    gp = make(&f, 0, N);
    for (size_t j = 0; j < N; j++) {
        assert_ok(tacet_gp_observe(gp, j, f.X[j * D], NULL));
    }
    for (size_t j = 0; j < N; j++) {
        assert_close(tacet_gp_mean(gp)[j], f.X[j * D], 1e-4);
    }
    tacet_gp_free(gp);
    fixture_clear(&f);
}

TEST(the_horizon_is_the_end) {
    fixture f;
    fixture_init(&f, "matern32", 8);
    tacet_gp *gp = make(&f, 0.01, 3);
    for (size_t s = 0; s < 3; s++) {
        assert_ok(tacet_gp_observe(gp, f.at[s], f.values[s], NULL));
    }
    assert_status(tacet_gp_observe(gp, f.at[3], f.values[3], NULL), TACET_STATE);
    assert_int_equal(tacet_gp_count(gp), 3);
    tacet_gp_free(gp);
    fixture_clear(&f);
}

TEST(bad_input_changes_nothing) {
    fixture f;
    fixture_init(&f, "se", 9);
    tacet_gp *gp = make(&f, 0.01, T);
    assert_ok(tacet_gp_observe(gp, 1, 0.5, NULL));
    double mean[N];
    double var[N];
    memcpy(mean, tacet_gp_mean(gp), sizeof mean);
    memcpy(var, tacet_gp_var(gp), sizeof var);
    assert_status(tacet_gp_observe(gp, N, 0.5, NULL), TACET_INVALID);
    assert_status(tacet_gp_observe(gp, 2, NAN, NULL), TACET_INVALID);
    assert_status(tacet_gp_observe(gp, 2, INFINITY, NULL), TACET_INVALID);
    assert_status(tacet_gp_observe(gp, 2, 1e300, NULL), TACET_INVALID);
    assert_int_equal(tacet_gp_count(gp), 1);
    assert_memory_equal(mean, tacet_gp_mean(gp), sizeof mean);
    assert_memory_equal(var, tacet_gp_var(gp), sizeof var);
    tacet_gp *none = gp;
    tacet_gp_settings settings = {.mean = NAN, .noise_var = 0.01, .horizon = T};
    assert_status(tacet_gp_create(&none, &settings, f.cov, NULL), TACET_INVALID);
    assert_null(none);
    settings.mean = 0;
    settings.noise_var = NAN;
    assert_status(tacet_gp_create(&none, &settings, f.cov, NULL), TACET_INVALID);
    settings.noise_var = -1;
    assert_status(tacet_gp_create(&none, &settings, f.cov, NULL), TACET_INVALID);
    settings.noise_var = 0.01;
    settings.horizon = SIZE_MAX / 16;
    assert_status(tacet_gp_create(&none, &settings, f.cov, NULL), TACET_OVERFLOW);
    tacet_gp_free(gp);
    fixture_clear(&f);
}

TEST(survives_lack_of_memory) {
    fixture f;
    fixture_init(&f, "se", 13);
    const tacet_gp_settings settings = {.noise_var = 0.1, .horizon = 4};
    tacet_gp *gp = NULL;
    assert_each_alloc_fails(tacet_gp_create(&gp, &settings, f.cov, NULL), gp == NULL);
    assert_true(fail_alloc_last() > 5);
    /* No allocation per observation: the first one would fail. */
    fail_alloc_after(1);
    assert_ok(tacet_gp_observe(gp, 0, 1, NULL));
    assert_int_equal(fail_alloc_hit(), 0);
    fail_alloc_after(0);
    tacet_gp_free(gp);
    fixture_clear(&f);
}
