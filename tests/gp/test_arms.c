/* SPDX-License-Identifier: Apache-2.0 */
/* test_arms.c - per-arm sufficient statistics against a dense solve over every single observation. */
#include "gp/kernel_internal.h"
#include "gp/cov_internal.h"
#include "support/dense.h"
#include "support/test.h"

#include "gp/arms.h"
#include <tacet/core/simrng.h>

#include "gp/arms_internal.h"

enum { N = 9, T = 300 };

typedef struct fixture {
    double X[N];
    double K[N * N];
    tacet_kernel *kernel;
    tacet_cov *cov;
    size_t at[T];
    double values[T];
    double noise[T];
} fixture;

static void fixture_init(fixture *f) {
    tacet_simrng rng = test_rng(21, 0);
    const double l = 0.3;
    f->kernel = test_kernel("matern52", 1, l);
    for (size_t i = 0; i < N; i++) {
        f->X[i] = tacet_simrng_uniform(&rng);
    }
    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < N; i++) {
            f->K[j * N + i] = tacet_kernel_eval(f->kernel, f->X + i, f->X + j);
        }
    }
    const tacet_cov_spec cov = {.kernel = f->kernel};
    assert_ok(tacet_cov_create(&f->cov, &cov, f->X, 1, N, NULL));
    for (size_t s = 0; s < T; s++) {
        f->at[s] = tacet_simrng_below(&rng, N - 1); /* the last arm is never seen */
        f->values[s] = tacet_simrng_normal(&rng);
        f->noise[s] = 0.05 + tacet_simrng_uniform(&rng);
    }
}

static void fixture_clear(fixture *f) {
    tacet_cov_free(f->cov);
    tacet_kernel_free(f->kernel);
}

static void check(const tacet_arms *arms, const fixture *f, const double *values, size_t t) {
    double mean[N];
    double var[N];
    double cov[N * N];
    dense_gp(mean, var, cov, f->K, N, 0, f->at, values, f->noise, t);
    for (size_t j = 0; j < N; j++) {
        assert_close(tacet_arms_mean(arms)[j], mean[j], 1e-10);
        assert_close(tacet_arms_var(arms)[j], var[j], 1e-11);
        for (size_t i = 0; i < N; i++) {
            assert_close(arms->P[j * N + i], cov[j * N + i], 1e-11);
            assert_true(arms->P[j * N + i] == arms->P[i * N + j]);
        }
    }
}

/* 300 observations, so rank-one steps and rebuilds (every 64) both happen many times. */
TEST(matches_dense) {
    fixture f;
    fixture_init(&f);
    tacet_arms *arms = NULL;
    assert_ok(tacet_arms_create(&arms, f.cov, 0, NULL));
    check(arms, &f, f.values, 0);
    for (size_t s = 0; s < T; s++) {
        assert_ok(tacet_arms_observe(arms, f.at[s], 1, f.values[s], f.noise[s], NULL));
        if (s < 5 || s % 7 == 0) {
            check(arms, &f, f.values, s + 1);
        }
    }
    check(arms, &f, f.values, T);
    /* Information: the log-determinant over every observation. */
    double *A = malloc((size_t)T * T * sizeof *A);
    assert_non_null(A);
    for (size_t s = 0; s < T; s++) {
        for (size_t r = 0; r < T; r++) {
            A[s * T + r] = f.K[f.at[s] * N + f.at[r]] / sqrt(f.noise[s] * f.noise[r]) + (s == r ? 1 : 0);
        }
    }
    assert_close(tacet_arms_information(arms), 0.5 * dense_logdet(A, T), 1e-9);
    free(A);
    uint64_t total = 0;
    for (size_t i = 0; i < N; i++) {
        total += tacet_arms_counts(arms)[i];
    }
    assert_int_equal(total, T);
    assert_int_equal(tacet_arms_counts(arms)[N - 1], 0);
    tacet_arms_free(arms);
    fixture_clear(&f);
}

TEST(many_at_once_are_many) {
    fixture f;
    fixture_init(&f);
    tacet_arms *single = NULL;
    tacet_arms *grouped = NULL;
    assert_ok(tacet_arms_create(&single, f.cov, 0, NULL));
    assert_ok(tacet_arms_create(&grouped, f.cov, 0, NULL));
    for (size_t g = 0; g < 40; g++) {
        double sum = 0;
        for (size_t k = 0; k < 5; k++) {
            const double y = f.values[(5 * g + k) % T];
            assert_ok(tacet_arms_observe(single, g % N, 1, y, 0.3, NULL));
            sum += y;
        }
        assert_ok(tacet_arms_observe(grouped, g % N, 5, sum, 0.3, NULL));
        for (size_t j = 0; j < N; j++) {
            assert_close(tacet_arms_mean(single)[j], tacet_arms_mean(grouped)[j], 1e-11);
            assert_close(tacet_arms_var(single)[j], tacet_arms_var(grouped)[j], 1e-12);
            assert_int_equal(tacet_arms_counts(single)[j], tacet_arms_counts(grouped)[j]);
        }
    }
    tacet_arms_free(single);
    tacet_arms_free(grouped);
    fixture_clear(&f);
}

/* A long run: rounding does not pile up. */
TEST(does_not_drift) {
    fixture f;
    fixture_init(&f);
    tacet_arms *arms = NULL;
    tacet_arms *fresh = NULL;
    assert_ok(tacet_arms_create(&arms, f.cov, 0, NULL));
    assert_ok(tacet_arms_create(&fresh, f.cov, 0, NULL));
    for (size_t s = 0; s < 20000; s++) {
        assert_ok(tacet_arms_observe(arms, f.at[s % T], 1, f.values[s % T], 0.1, NULL));
    }
    for (size_t j = 0; j < N; j++) { /* all reports of an arm at once */
        const uint64_t count = tacet_arms_counts(arms)[j];
        if (count > 0) {
            assert_ok(tacet_arms_observe(fresh, j, count, 0.1 * tacet_arms_sums(arms)[j], 0.1, NULL));
        }
    }
    for (size_t j = 0; j < N; j++) {
        assert_close(tacet_arms_mean(arms)[j], tacet_arms_mean(fresh)[j], 1e-9);
        assert_close(tacet_arms_var(arms)[j], tacet_arms_var(fresh)[j], 1e-12);
    }
    tacet_arms_free(arms);
    tacet_arms_free(fresh);
    fixture_clear(&f);
}

static void visit_arms(void *arms, tacet__state *s) {
    tacet__arms_state(arms, s);
}

TEST(saved_state_continues_bit_for_bit) {
    fixture f;
    fixture_init(&f);
    tacet_arms *arms = NULL;
    assert_ok(tacet_arms_create(&arms, f.cov, 0, NULL));
    for (size_t cut = 0; cut < 150; cut += 31) {
        tacet_arms_reset(arms);
        for (size_t s = 0; s < cut; s++) {
            assert_ok(tacet_arms_observe(arms, f.at[s], 1, f.values[s], f.noise[s], NULL));
        }
        OWN_BLOB tacet_blob blob;
        tacet_blob_init(&blob);
        assert_ok(tacet__state_save(&blob, "arms", visit_arms, arms, NULL));
        tacet_arms *other = NULL;
        assert_ok(tacet_arms_create(&other, f.cov, 0, NULL));
        assert_ok(tacet__state_load(blob.data, blob.size, "arms", visit_arms, other, NULL));
        for (size_t s = cut; s < cut + 100; s++) {
            assert_ok(tacet_arms_observe(arms, f.at[s], 1, f.values[s], f.noise[s], NULL));
            assert_ok(tacet_arms_observe(other, f.at[s], 1, f.values[s], f.noise[s], NULL));
        }
        assert_memory_equal(tacet_arms_mean(arms), tacet_arms_mean(other), N * sizeof(double));
        assert_memory_equal(arms->P, other->P, N * N * sizeof(double));
        const double a = tacet_arms_information(arms);
        const double b = tacet_arms_information(other);
        assert_memory_equal(&a, &b, sizeof a);
        tacet_arms_free(other);
    }
    tacet_arms_free(arms);
    fixture_clear(&f);
}

/* So many arms spread over [0, 1], of which few tell the others. */
static tacet_cov *many_arms(tacet_kernel *kernel, double *X, size_t n) {
    const tacet_cov_spec spec = {.kernel = kernel};
    tacet_cov *cov = NULL;
    for (size_t i = 0; i < n; i++) {
        X[i] = (double)i / (double)(n - 1);
    }
    assert_ok(tacet_cov_create(&cov, &spec, X, 1, n, NULL));
    return cov;
}

/* The reduced form with next to no tolerance is the exact posterior, through many rebuilds; with the learner's
 * tolerance it is near it, and it goes on from a saved state with the same bits. */
TEST(low_rank_is_the_same_posterior) {
    enum { MANY = 120, ROUNDS = 500 };
    static double X[MANY];
    tacet_simrng rng = test_rng(5, 0);
    tacet_kernel *kernel = test_kernel("se", 1, 0.2);
    tacet_cov *cov = many_arms(kernel, X, MANY);
    tacet_arms *exact = NULL, *reduced = NULL, *rough = NULL, *again = NULL;
    assert_ok(tacet_arms_create(&exact, cov, 0, NULL));
    assert_ok(tacet_arms_create(&reduced, cov, 1e-13, NULL));
    assert_ok(tacet_arms_create(&rough, cov, 1e-4, NULL));
    assert_ok(tacet_arms_create(&again, cov, 1e-4, NULL));
    assert_true(reduced->rank > 0); /* it is reduced, or this test says nothing */
    assert_true(rough->rank < 20 && rough->rank > 4);
    for (size_t s = 0; s < ROUNDS; s++) {
        const size_t arm = tacet_simrng_below(&rng, MANY);
        const double y = tacet_simrng_normal(&rng);
        assert_ok(tacet_arms_observe(exact, arm, 1, y, 4, NULL));
        assert_ok(tacet_arms_observe(reduced, arm, 1, y, 4, NULL));
        assert_ok(tacet_arms_observe(rough, arm, 1, y, 4, NULL));
        for (size_t i = 0; i < MANY; i++) {
            assert_close(tacet_arms_mean(reduced)[i], tacet_arms_mean(exact)[i], 1e-8);
            assert_close(tacet_arms_var(reduced)[i], tacet_arms_var(exact)[i], 1e-8);
            assert_close(tacet_arms_mean(rough)[i], tacet_arms_mean(exact)[i], 0.02);
            assert_close(tacet_arms_var(rough)[i], tacet_arms_var(exact)[i], 1e-3);
        }
        assert_close(tacet_arms_information(reduced), tacet_arms_information(exact), 1e-8);
        if (s == ROUNDS / 3) {
            OWN_BLOB tacet_blob blob;
            tacet_blob_init(&blob);
            assert_ok(tacet__state_save(&blob, "arms", visit_arms, rough, NULL));
            assert_ok(tacet__state_load(blob.data, blob.size, "arms", visit_arms, again, NULL));
        } else if (s > ROUNDS / 3) {
            assert_ok(tacet_arms_observe(again, arm, 1, y, 4, NULL));
        }
    }
    assert_memory_equal(tacet_arms_mean(rough), tacet_arms_mean(again), MANY * sizeof(double));
    assert_memory_equal(tacet_arms_var(rough), tacet_arms_var(again), MANY * sizeof(double));
    tacet_arms_free(exact);
    tacet_arms_free(reduced);
    tacet_arms_free(rough);
    tacet_arms_free(again);
    tacet_cov_free(cov);
    tacet_kernel_free(kernel);
}

/* What an update costs follows n times the rank, and the rank of a smooth kernel hardly follows n: the work of 400 arms
 * is at most 5 times that of 100, counted in the numbers an update touches. */
TEST(four_times_the_arms_is_no_sixteen_times_the_work) {
    static double X[400];
    double work[2] = {0};
    for (int scale = -2; scale <= 2; scale++) { /* the learner's ladder about a lengthscale of 0.2 */
        tacet_kernel *kernel = test_kernel("matern52", 1, ldexp(0.2, scale));
        for (size_t k = 0; k < 2; k++) {
            const size_t n = k == 0 ? 100 : 400;
            tacet_arms *arms = NULL;
            tacet_cov *cov = many_arms(kernel, X, n);
            assert_ok(tacet_arms_create(&arms, cov, 1e-4, NULL));
            const double m = (double)arms->order;
            work[k] += arms->rank > 0 ? (double)n * m + 2 * m * m : (double)n * (double)n;
            tacet_arms_free(arms);
            tacet_cov_free(cov);
        }
        tacet_kernel_free(kernel);
    }
    assert_true(work[1] < 5 * work[0]);
    assert_true(work[1] < 5.0 * 400 * 400 / 3); /* and not because 100 arms have become slow */
}

TEST(bad_input_changes_nothing) {
    fixture f;
    fixture_init(&f);
    tacet_arms *arms = NULL;
    assert_ok(tacet_arms_create(&arms, f.cov, 0, NULL));
    assert_ok(tacet_arms_observe(arms, 1, 1, 2, 0.1, NULL));
    double mean[N];
    memcpy(mean, tacet_arms_mean(arms), sizeof mean);
    assert_status(tacet_arms_observe(arms, N, 1, 2, 0.1, NULL), TACET_INVALID);
    assert_status(tacet_arms_observe(arms, 1, 0, 2, 0.1, NULL), TACET_INVALID);
    assert_status(tacet_arms_observe(arms, 1, 1, NAN, 0.1, NULL), TACET_INVALID);
    assert_status(tacet_arms_observe(arms, 1, 1, 2, 0, NULL), TACET_INVALID);
    assert_status(tacet_arms_observe(arms, 1, 1, 2, NAN, NULL), TACET_INVALID);
    assert_status(tacet_arms_observe(arms, 1, 1, 2, INFINITY, NULL), TACET_INVALID);
    assert_status(tacet_arms_observe(arms, 1, 1, 2, 1e-320, NULL), TACET_INVALID); /* a weight beyond double */
    assert_memory_equal(mean, tacet_arms_mean(arms), sizeof mean);
    assert_int_equal(tacet_arms_counts(arms)[1], 1);
    tacet_arms_free(arms);
    fixture_clear(&f);
}

TEST(survives_lack_of_memory) {
    fixture f;
    fixture_init(&f);
    tacet_arms *arms = NULL;
    assert_each_alloc_fails(tacet_arms_create(&arms, f.cov, 1e-4, NULL), arms == NULL);
    tacet_arms_free(arms);
    assert_each_alloc_fails(tacet_arms_create(&arms, f.cov, 0, NULL), arms == NULL);
    assert_true(fail_alloc_last() > 13);
    fail_alloc_after(1);
    for (size_t s = 0; s < 200; s++) {
        assert_ok(tacet_arms_observe(arms, f.at[s], 1, f.values[s], 0.1, NULL));
    }
    assert_int_equal(fail_alloc_hit(), 0); /* rebuilds included */
    fail_alloc_after(0);
    tacet_arms_free(arms);
    fixture_clear(&f);
}
