/* test_blr.c - the feature-space model against a dense solve of the normal equations, and against the GP whose kernel
 * its features span. */
#include "support/dense.h"
#include "support/test.h"

#include <tacet/gp/blr.h>
#include <tacet/core/simrng.h>

#include "gp/blr_internal.h"

enum { M = 12, T = 50, Q = 150 };
static const double PRECISION = 0.8;

typedef struct fixture {
    double phi[(T + Q) * M]; /* observed ones, then the asked ones */
    double y[T];
    double noise[T];
} fixture;

static void fixture_init(fixture *f) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, 31, 0);
    for (size_t i = 0; i < sizeof f->phi / sizeof *f->phi; i++) {
        f->phi[i] = tacet_simrng_normal(&rng);
    }
    for (size_t s = 0; s < T; s++) {
        f->y[s] = tacet_simrng_normal(&rng);
        f->noise[s] = 0.1 + tacet_simrng_uniform(&rng);
    }
}

static void matches_dense(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f);
    tacet_blr *blr = NULL;
    assert_ok(tacet_blr_create(&blr, M, PRECISION, 0.5, NULL));
    /* The same problem as a GP: covariance phi' phi / precision over all T + Q points. */
    enum { ALL = T + Q };
    double *K = malloc((size_t)ALL * ALL * sizeof *K);
    double *mean = malloc(ALL * sizeof *mean);
    double *var = malloc(ALL * sizeof *var);
    assert_true(K != NULL && mean != NULL && var != NULL);
    size_t at[T];
    for (size_t j = 0; j < ALL; j++) {
        for (size_t i = 0; i < ALL; i++) {
            double sum = 0;
            for (size_t c = 0; c < M; c++) {
                sum += f.phi[i * M + c] * f.phi[j * M + c];
            }
            K[j * ALL + i] = sum / PRECISION;
        }
    }
    for (size_t s = 0; s < T; s++) {
        at[s] = s;
        assert_ok(tacet_blr_observe_noisy(blr, f.phi + s * M, f.y[s], f.noise[s], NULL));
        if (s % 7 == 0 || s + 1 == T) {
            double ours[ALL];
            double sd[ALL];
            dense_gp(mean, var, NULL, K, ALL, 0, at, f.y, f.noise, s + 1);
            tacet_blr_predict(blr, ours, sd, f.phi, M, ALL);
            for (size_t j = 0; j < ALL; j++) {
                assert_close(ours[j], mean[j], 1e-9);
                assert_close(sd[j] * sd[j], var[j], 1e-9);
            }
            assert_close(tacet_blr_log_likelihood(blr), dense_gp_likelihood(K, ALL, 0, at, f.y, f.noise, s + 1), 1e-8);
        }
    }
    assert_int_equal(tacet_blr_count(blr), T);
    /* w solves the normal equations. */
    double A[M * M] = {0};
    double b[M] = {0};
    for (size_t i = 0; i < M; i++) {
        A[i * M + i] = PRECISION;
        for (size_t s = 0; s < T; s++) {
            b[i] += f.phi[s * M + i] * f.y[s] / f.noise[s];
            for (size_t j = 0; j < M; j++) {
                A[j * M + i] += f.phi[s * M + i] * f.phi[s * M + j] / f.noise[s];
            }
        }
    }
    double copy[M * M];
    memcpy(copy, A, sizeof copy);
    assert_close(tacet_blr_information(blr), 0.5 * (dense_logdet(copy, M) - M * log(PRECISION)), 1e-10);
    dense_solve(A, b, M, 1);
    for (size_t i = 0; i < M; i++) {
        assert_close(tacet_blr_weights(blr)[i], b[i], 1e-11);
    }
    free(K);
    free(mean);
    free(var);
    tacet_blr_free(blr);
}

static void statistics_from_elsewhere(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f);
    tacet_blr *single = NULL;
    tacet_blr *given = NULL;
    assert_ok(tacet_blr_create(&single, M, PRECISION, 0.5, NULL));
    assert_ok(tacet_blr_create(&given, M, PRECISION, 0.5, NULL));
    double S[M * M] = {0};
    double u[M] = {0};
    for (size_t s = 0; s < T; s++) {
        assert_ok(tacet_blr_observe(single, f.phi + s * M, f.y[s], NULL));
        if (s < 10) {
            assert_ok(tacet_blr_observe(given, f.phi + s * M, f.y[s], NULL));
            continue;
        }
        for (size_t i = 0; i < M; i++) {
            u[i] += f.phi[s * M + i] * f.y[s] / 0.5;
            for (size_t j = 0; j <= i; j++) {
                S[j * M + i] += f.phi[s * M + i] * f.phi[s * M + j] / 0.5; /* lower triangle only */
            }
        }
    }
    assert_true(isfinite(tacet_blr_log_likelihood(given)));
    assert_ok(tacet_blr_add(given, S, M, u, NULL));
    assert_true(isnan(tacet_blr_log_likelihood(given)));
    for (size_t i = 0; i < M; i++) {
        assert_close(tacet_blr_weights(single)[i], tacet_blr_weights(given)[i], 1e-11);
    }
    double a[2];
    double b[2];
    tacet_blr_predict(single, &a[0], &a[1], f.phi + 60 * M, M, 1);
    tacet_blr_predict(given, &b[0], &b[1], f.phi + 60 * M, M, 1);
    assert_close(a[0], b[0], 1e-11);
    assert_close(a[1], b[1], 1e-11);
    /* Noise that would make A indefinite is refused, and nothing moved. */
    S[0] = -1e6;
    assert_status(tacet_blr_add(given, S, M, u, NULL), TACET_NUMERIC);
    S[0] = NAN;
    assert_status(tacet_blr_add(given, S, M, u, NULL), TACET_INVALID);
    S[0] = 1;
    u[0] = NAN;
    assert_status(tacet_blr_add(given, S, M, u, NULL), TACET_INVALID);
    tacet_blr_predict(given, &a[0], &a[1], f.phi + 60 * M, M, 1);
    assert_memory_equal(a, b, sizeof a);
    tacet_blr_free(single);
    tacet_blr_free(given);
}

static void saved_state_continues_bit_for_bit(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f);
    tacet_blr *one = NULL;
    tacet_blr *other = NULL;
    assert_ok(tacet_blr_create(&one, M, PRECISION, 0.5, NULL));
    assert_ok(tacet_blr_create(&other, M, PRECISION, 0.5, NULL));
    for (size_t s = 0; s < T; s++) {
        tacet_blob blob;
        tacet_blob_init(&blob);
        tacet__writer w;
        tacet__reader r;
        tacet__write_begin(&w, &blob, "blr", 1);
        tacet__blr_write(one, &w);
        assert_ok(tacet__write_end(&w, NULL));
        tacet_blr_reset(other);
        assert_ok(tacet__read_begin(&r, blob.data, blob.size, "blr", 1, NULL));
        tacet__blr_read(other, &r);
        assert_ok(tacet__read_end(&r, NULL));
        assert_ok(tacet_blr_observe(one, f.phi + s * M, f.y[s], NULL));
        assert_ok(tacet_blr_observe(other, f.phi + s * M, f.y[s], NULL));
        assert_memory_equal(tacet_blr_weights(one), tacet_blr_weights(other), M * sizeof(double));
        const double a = tacet_blr_log_likelihood(one);
        const double b = tacet_blr_log_likelihood(other);
        assert_memory_equal(&a, &b, sizeof a);
        tacet_blob_clear(&blob);
    }
    tacet_blr_free(one);
    tacet_blr_free(other);
}

static void bad_input_changes_nothing(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f);
    tacet_blr *blr = NULL;
    assert_status(tacet_blr_create(&blr, 0, 1, 1, NULL), TACET_INVALID);
    assert_status(tacet_blr_create(&blr, 2, 0, 1, NULL), TACET_INVALID);
    assert_status(tacet_blr_create(&blr, 2, NAN, 1, NULL), TACET_INVALID);
    assert_status(tacet_blr_create(&blr, 2, 1, 0, NULL), TACET_INVALID);
    assert_status(tacet_blr_create(&blr, SIZE_MAX / 2, 1, 1, NULL), TACET_NO_MEMORY);
    assert_null(blr);
    assert_ok(tacet_blr_create(&blr, M, 1, 1, NULL));
    assert_ok(tacet_blr_observe(blr, f.phi, 1, NULL));
    double w[M];
    memcpy(w, tacet_blr_weights(blr), sizeof w);
    f.phi[M - 1] = NAN;
    assert_status(tacet_blr_observe(blr, f.phi, 1, NULL), TACET_INVALID);
    assert_status(tacet_blr_observe(blr, f.phi + M, NAN, NULL), TACET_INVALID);
    assert_status(tacet_blr_observe_noisy(blr, f.phi + M, 1, 0, NULL), TACET_INVALID);
    assert_memory_equal(w, tacet_blr_weights(blr), sizeof w);
    assert_int_equal(tacet_blr_count(blr), 1);
    tacet_blr_free(blr);
}

static void survives_lack_of_memory(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f);
    for (long n = 1;; n++) {
        tacet_blr *blr = NULL;
        fail_alloc_after(n);
        const tacet_status status = tacet_blr_create(&blr, M, 1, 1, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (!hit) {
            assert_ok(status);
            double mean[Q];
            double sd[Q];
            fail_alloc_after(1);
            assert_ok(tacet_blr_observe(blr, f.phi, 1, NULL));
            tacet_blr_predict(blr, mean, sd, f.phi + T * M, M, Q);
            assert_int_equal(fail_alloc_hit(), 0);
            fail_alloc_after(0);
            tacet_blr_free(blr);
            assert_true(n > 6);
            break;
        }
        assert_status(status, TACET_NO_MEMORY);
        assert_null(blr);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_dense),
        cmocka_unit_test(statistics_from_elsewhere),
        cmocka_unit_test(saved_state_continues_bit_for_bit),
        cmocka_unit_test(bad_input_changes_nothing),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
