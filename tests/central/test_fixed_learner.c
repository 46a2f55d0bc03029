/* SPDX-License-Identifier: Apache-2.0 */
/* test_fixed_learner.c - planned batches keep their bound; the posterior is that of a plain regression. */
#include "support/test.h"

#include <tacet/core/simrng.h>
#include <tacet/central/open/fixed_learner.h>

enum { M1 = 3, N1 = 9, M2 = 2, N2 = 5, M = M1 + M2 };
static double phi1[M1 * N1], phi2[M2 * N2];
static const tacet_fixed_group GROUPS[2] = {{phi1, M1, N1}, {phi2, M2, N2}};

static int setup(void **state) {
    tacet_simrng rng = test_rng(2, 0);
    for (size_t i = 0; i < M1 * N1; i++) {
        phi1[i] = 0.4 * tacet_simrng_normal(&rng);
    }
    for (size_t i = 0; i < M2 * N2; i++) {
        phi2[i] = 0.4 * tacet_simrng_normal(&rng);
    }
    return 0;
}

static tacet_fixed_learner *make(const tacet_fixed_settings *settings) {
    tacet_fixed_learner *l = NULL;
    assert_ok(tacet_fixed_learner_create(&l, GROUPS, 2, settings, NULL));
    assert_int_equal(tacet_fixed_learner_dim(l), M);
    return l;
}

static void phi_of(double *phi, const size_t *arm) {
    memcpy(phi, phi1 + arm[0] * M1, sizeof(double) * M1);
    memcpy(phi + M1, phi2 + arm[1] * M2, sizeof(double) * M2);
}

/* Gaussian elimination with pivoting: as unlike the learner's own algebra as can be. */
static void solve(double *A, double *b, size_t n) {
    for (size_t k = 0; k < n; k++) {
        size_t p = k;
        for (size_t i = k + 1; i < n; i++) {
            p = fabs(A[i * n + k]) > fabs(A[p * n + k]) ? i : p;
        }
        for (size_t j = 0; j < n; j++) {
            const double t = A[k * n + j];
            A[k * n + j] = A[p * n + j];
            A[p * n + j] = t;
        }
        const double t = b[k];
        b[k] = b[p];
        b[p] = t;
        for (size_t i = k + 1; i < n; i++) {
            const double f = A[i * n + k] / A[k * n + k];
            for (size_t j = k; j < n; j++) {
                A[i * n + j] -= f * A[k * n + j];
            }
            b[i] -= f * b[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++) {
            b[k] -= A[k * n + j] * b[j];
        }
        b[k] /= A[k * n + k];
    }
}

/* Exact sums, no weights in force: ordinary ridge regression with noise reward_var. */
static void exact_batches_are_ridge_regression(void **state) {
    tacet_fixed_settings set;
    tacet_fixed_settings_defaults(&set);
    tacet_fixed_learner *l = make(&set);
    double A[M * M] = {0}, b[M] = {0};
    for (size_t i = 0; i < M; i++) {
        A[i * M + i] = 1 / set.prior_var;
    }
    const double theta[M] = {0.3, -0.2, 0.1, 0.4, -0.3};
    for (int batch = 0; batch < 3; batch++) {
        assert_ok(tacet_fixed_learner_plan(l, 40, NULL));
        double u[M] = {0};
        for (size_t i = 0; i < 40; i++) {
            double phi[M], vector[M], v = 0.02 * sin(7.0 * (double)i), norm2 = 0;
            phi_of(phi, tacet_fixed_learner_arm(l, i));
            tacet_fixed_learner_vector(l, vector, i);
            for (size_t k = 0; k < M; k++) {
                v += theta[k] * phi[k];
                norm2 += vector[k] * vector[k];
            }
            assert_true(norm2 <= 1 + 1e-12);
            for (size_t k = 0; k < M; k++) {
                u[k] += v * vector[k];
                /* where an arm has a weight the sum is not sufficient for least squares: compare without */
                b[k] += v * phi[k] / set.reward_var;
                for (size_t j = 0; j < M; j++) {
                    A[k * M + j] += phi[k] * phi[j] / set.reward_var;
                }
            }
        }
        assert_ok(tacet_fixed_learner_update(l, u, 0, NULL));
    }
    solve(A, b, M);
    size_t arm[2];
    const double best = tacet_fixed_learner_best(l, arm);
    double phi[M], expected = 0.5;
    phi_of(phi, arm);
    for (size_t k = 0; k < M; k++) {
        expected += b[k] * phi[k];
    }
    assert_close(best, expected, 0.01); /* weights and the 1e-9 that keeps it definite */
    tacet_fixed_learner_free(l);
}

/* |c A phi| <= 1 for every planned arm, few or many, repeated or not; attained. */
static void bound_holds(void **state) {
    for (size_t n = 1; n <= 400; n = 2 * n + 1) {
        tacet_fixed_settings set;
        tacet_fixed_settings_defaults(&set);
        set.distinct = 1 + n / 3;
        set.coin_seed = n;
        tacet_fixed_learner *l = make(&set);
        double longest = 0, u[M] = {0.1, -0.2, 0.3, 0, 0.1};
        for (int batch = 0; batch < 3; batch++) {
            assert_ok(tacet_fixed_learner_plan(l, n, NULL));
            for (size_t i = 0; i < n; i++) {
                double v[M], norm2 = 0;
                tacet_fixed_learner_vector(l, v, i);
                for (size_t k = 0; k < M; k++) {
                    norm2 += v[k] * v[k];
                }
                assert_true(norm2 <= 1 + 1e-14);
                longest = fmax(longest, norm2);
            }
            assert_ok(tacet_fixed_learner_update(l, u, 0.5, NULL));
        }
        assert_true(longest > 0.9);
        tacet_fixed_learner_free(l);
    }
}

/* Without noise, as the references that know everything have it: many batches, growing, few different arms each. */
static void exact_batches_go_on_for_long(void **state) {
    enum { N = 100, F = 20 };
    static double many[F * N];
    for (size_t x = 0; x < N; x++) { /* smooth features whose sizes fall fast */
        for (size_t k = 0; k < F; k++) {
            many[x * F + k] = pow(0.4, (double)k) * cos((double)k * (double)x * 3.14159265 / (N - 1));
        }
    }
    const tacet_fixed_group group = {many, F, N};
    tacet_fixed_settings set;
    tacet_fixed_settings_defaults(&set);
    set.distinct = 8;
    tacet_fixed_learner *l = NULL;
    assert_ok(tacet_fixed_learner_create(&l, &group, 1, &set, NULL));
    for (double length = 8; length < 500; length *= 1.05) {
        double u[F] = {0}, x[F];
        assert_ok(tacet_fixed_learner_plan(l, (size_t)length, NULL));
        for (size_t i = 0; i < (size_t)length; i++) {
            const double at = (double)*tacet_fixed_learner_arm(l, i) / (N - 1) - 0.3;
            tacet_fixed_learner_vector(l, x, i);
            for (size_t k = 0; k < F; k++) {
                u[k] += (0.3 - at * at + (i % 2 == 0 ? 0.1 : -0.1)) * x[k];
            }
        }
        assert_ok(tacet_fixed_learner_update(l, u, 0, NULL));
    }
    size_t best = 0;
    (void)tacet_fixed_learner_best(l, &best);
    assert_true(best >= 25 && best <= 35);
    tacet_fixed_learner_free(l);
}

/* Earlier values are observations before the first batch: ridge regression on them, and known at once. */
static void earlier_values_are_ridge_regression(void **state) {
    const tacet_fixed_earlier known[] = {{0, 0.9, 0.1}, {4, 0.2, 0.05}, {7, 0.6, 0.3}, {4, 0.3, 0.2}};
    tacet_fixed_settings s;
    tacet_fixed_settings_defaults(&s);
    s.ladder = false;
    s.prior_var = 2;
    s.earlier = known;
    s.earlier_count = sizeof known / sizeof known[0];
    double A[M1 * M1] = {0}, b[M1] = {0};
    for (size_t i = 0; i < M1; i++) {
        A[i * M1 + i] = 1 / s.prior_var;
    }
    for (size_t k = 0; k < s.earlier_count; k++) {
        const double *phi = phi1 + known[k].arm * M1, weight = 1 / (known[k].sd * known[k].sd);
        for (size_t i = 0; i < M1; i++) {
            b[i] += weight * phi[i] * (known[k].value - 0.5);
            for (size_t j = 0; j < M1; j++) {
                A[i * M1 + j] += weight * phi[i] * phi[j];
            }
        }
    }
    solve(A, b, M1);
    tacet_fixed_learner *l = NULL;
    assert_ok(tacet_fixed_learner_create(&l, GROUPS, 1, &s, NULL));
    assert_true(tacet_fixed_learner_informed(l));
    for (size_t i = 0; i < M1; i++) {
        assert_close(tacet_fixed_learner_theta(l)[i], b[i], 1e-9 * (1 + fabs(b[i])));
    }
    tacet_fixed_learner_free(l);
    /* Of an arm that is none, without a standard deviation, over several groups: refused. */
    tacet_fixed_earlier bad = {N1, 0.5, 0.1};
    s.earlier = &bad;
    s.earlier_count = 1;
    assert_status(tacet_fixed_learner_create(&l, GROUPS, 1, &s, NULL), TACET_INVALID);
    bad = (tacet_fixed_earlier){0, 0.5, 0};
    assert_status(tacet_fixed_learner_create(&l, GROUPS, 1, &s, NULL), TACET_INVALID);
    bad = (tacet_fixed_earlier){0, 0.5, 0.1};
    assert_status(tacet_fixed_learner_create(&l, GROUPS, 2, &s, NULL), TACET_INVALID);
}

static void saved_and_loaded(void **state) {
    tacet_fixed_settings set;
    tacet_fixed_settings_defaults(&set);
    tacet_fixed_learner *a = make(&set), *b = make(&set);
    const double u[M] = {1, -0.5, 0.25, 0.75, -1};
    assert_ok(tacet_fixed_learner_plan(a, 20, NULL));
    assert_ok(tacet_fixed_learner_update(a, u, 0.3, NULL));
    assert_ok(tacet_fixed_learner_plan(a, 30, NULL));
    tacet_blob blob;
    tacet_blob_init(&blob);
    assert_ok(tacet_fixed_learner_save(a, &blob, NULL));
    assert_ok(tacet_fixed_learner_load(b, blob.data, blob.size, NULL));
    for (size_t i = 0; i < 30; i++) {
        double x[M], y[M];
        assert_memory_equal(tacet_fixed_learner_arm(a, i), tacet_fixed_learner_arm(b, i), 2 * sizeof(size_t));
        tacet_fixed_learner_vector(a, x, i);
        tacet_fixed_learner_vector(b, y, i);
        assert_memory_equal(x, y, sizeof x);
    }
    blob.data[blob.size / 3] ^= 4;
    assert_status(tacet_fixed_learner_load(b, blob.data, blob.size, NULL), TACET_CORRUPT);
    tacet_blob_clear(&blob);
    tacet_fixed_learner_free(a);
    tacet_fixed_learner_free(b);
}

static void refuses(void **state) {
    tacet_fixed_settings set;
    tacet_fixed_settings_defaults(&set);
    tacet_fixed_learner *l = NULL;
    assert_status(tacet_fixed_learner_create(&l, GROUPS, 0, &set, NULL), TACET_INVALID);
    set.reward_var = NAN;
    assert_status(tacet_fixed_learner_create(&l, GROUPS, 2, &set, NULL), TACET_INVALID);
    assert_null(l);
    tacet_fixed_settings_defaults(&set);
    l = make(&set);
    double u[M] = {0};
    assert_status(tacet_fixed_learner_update(l, u, 1, NULL), TACET_INVALID); /* nothing planned */
    assert_status(tacet_fixed_learner_plan(l, 0, NULL), TACET_INVALID);
    assert_status(tacet_fixed_learner_plan(l, TACET_FIXED_BATCH_MOST + 1, NULL), TACET_INVALID);
    assert_ok(tacet_fixed_learner_plan(l, 4, NULL));
    assert_status(tacet_fixed_learner_update(l, u, -1, NULL), TACET_INVALID);
    u[2] = NAN;
    assert_status(tacet_fixed_learner_update(l, u, 1, NULL), TACET_INVALID);
    tacet_fixed_learner_free(l);
}

static void failing_allocations(void **state) {
    tacet_fixed_settings set;
    tacet_fixed_settings_defaults(&set);
    tacet_fixed_learner *l = NULL;
    assert_each_alloc_fails(tacet_fixed_learner_create(&l, GROUPS, 2, &set, NULL), l == NULL);
    fail_alloc_after(1);
    assert_status(tacet_fixed_learner_plan(l, 10, NULL), TACET_NO_MEMORY);
    fail_alloc_after(0);
    tacet_fixed_learner_free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_batches_are_ridge_regression),
                                       cmocka_unit_test(earlier_values_are_ridge_regression),
                                       cmocka_unit_test(bound_holds),
                                       cmocka_unit_test(exact_batches_go_on_for_long),
                                       cmocka_unit_test(saved_and_loaded),
                                       cmocka_unit_test(refuses),
                                       cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
