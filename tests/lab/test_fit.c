/* SPDX-License-Identifier: Apache-2.0 */
/* test_fit.c - the likelihood against a dense one, its gradient against finite differences, and fits of made-up data.
 */
#include "support/dense.h"
#include "support/test.h"

#include "fit.h"
#include <tacet/core/simrng.h>

#include "likelihood.h"

enum { N = 18, D = 3, MOST = 120 };

static void points(double *X, double *y, size_t n, size_t d, uint64_t seed) {
    tacet_simrng rng = test_rng(seed, 0);
    for (size_t i = 0; i < n * d; i++) {
        X[i] = tacet_simrng_uniform(&rng);
    }
    for (size_t i = 0; i < n; i++) {
        y[i] = tacet_simrng_normal(&rng);
    }
}

static void check_gradient(const lab_fit_settings *settings, const double *X, const double *y, const double *at) {
    lab_likelihood *l = NULL;
    assert_ok(lab_likelihood_create(&l, settings, X, D, N, y, NULL));
    const size_t count = lab_likelihood_params(l);
    double params[8];
    double grad[8];
    lab_likelihood_value value;
    memcpy(params, at, count * sizeof *params);
    assert_ok(lab_likelihood_eval(l, &value, grad, params, NULL));
    for (size_t p = 0; p < count; p++) {
        const double h = 1e-5;
        lab_likelihood_value up;
        lab_likelihood_value down;
        params[p] = at[p] + h;
        assert_ok(lab_likelihood_eval(l, &up, NULL, params, NULL));
        params[p] = at[p] - h;
        assert_ok(lab_likelihood_eval(l, &down, NULL, params, NULL));
        params[p] = at[p];
        assert_close(grad[p], (up.log_likelihood - down.log_likelihood) / (2 * h), 1e-6);
    }
    lab_likelihood_free(l);
}

static void gradients(void **state) {
    static const char *const names[] = {"se", "matern12", "matern32", "matern52", "linear"};
    double X[N * D];
    double y[N];
    points(X, y, N, D, 1);
    const double l[D] = {1, 1, 1};
    const double sd[D] = {0.1, 0, 0.3};
    const size_t groups[D] = {0, 1, 0};
    const double at[5] = {-0.5, 0.2, -0.9, 0.3, -1.5}; /* three lengthscales, signal, noise */
    const double iso[3] = {-0.5, 0.3, -1.5};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        for (int variant = 0; variant < 8; variant++) {
            lab_fit_settings s;
            lab_fit_settings_defaults(&s);
            assert_ok(tacet_kernel_parse(&s.kernel, names[k], NULL));
            s.kernel.d = D;
            s.kernel.lengthscales = l;
            s.kernel.lengthscale_count = (variant & 1) != 0 ? D : 1;
            s.fix_mean = (variant & 2) != 0;
            s.mean = 0.7;
            if ((variant & 1) != 0 && s.kernel.kind != TACET_KERNEL_LINEAR) {
                s.kernel.groups = groups;
                s.kernel.group_count = 2;
            }
            if ((variant & 4) != 0) {
                if (s.kernel.kind == TACET_KERNEL_LINEAR) {
                    continue;
                }
                s.input_sd = sd;
                s.input_sd_count = D;
            }
            check_gradient(&s, X, y, (variant & 1) != 0 ? at : iso);
        }
    }
}

static void likelihood_is_the_dense_one(void **state) {
    double X[N * D];
    double y[N];
    points(X, y, N, D, 2);
    double K[N * N];
    size_t each[N];
    double noise[N];
    for (size_t j = 0; j < N; j++) {
        each[j] = j;
        noise[j] = 0.2;
        for (size_t i = 0; i < N; i++) {
            K[j * N + i] = 1.5 * dense_se(X + i * D, X + j * D, D, 0.6);
        }
    }
    const double params[3] = {log(0.6), log(1.5), log(0.2)};
    lab_fit_settings s;
    lab_fit_settings_defaults(&s);
    s.kernel.d = D;
    s.fix_mean = true;
    s.mean = -0.3;
    lab_likelihood *l = NULL;
    lab_likelihood_value value;
    assert_ok(lab_likelihood_create(&l, &s, X, D, N, y, NULL));
    assert_ok(lab_likelihood_eval(l, &value, NULL, params, NULL));
    assert_close(value.log_likelihood, dense_gp_likelihood(K, N, -0.3, each, y, noise, N), 1e-10);
    lab_likelihood_free(l);
    /* The profiled mean is where the dense likelihood is largest. */
    s.fix_mean = false;
    assert_ok(lab_likelihood_create(&l, &s, X, D, N, y, NULL));
    assert_ok(lab_likelihood_eval(l, &value, NULL, params, NULL));
    const double best = dense_gp_likelihood(K, N, value.mean, each, y, noise, N);
    assert_close(value.log_likelihood, best, 1e-10);
    assert_true(dense_gp_likelihood(K, N, value.mean + 1e-3, each, y, noise, N) < best);
    assert_true(dense_gp_likelihood(K, N, value.mean - 1e-3, each, y, noise, N) < best);
    lab_likelihood_free(l);
}

/* A draw from N(mean, K) by the recursion f_i | f_<i, without the library. */
static void draw(double *f, double *K, size_t n, tacet_simrng *rng) {
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < j; k++) {
            for (size_t i = j; i < n; i++) {
                K[j * n + i] -= K[k * n + i] * K[k * n + j];
            }
        }
        const double root = sqrt(fmax(K[j * n + j], 1e-12));
        for (size_t i = j; i < n; i++) {
            K[j * n + i] /= root;
        }
    }
    double g[MOST];
    for (size_t i = 0; i < n; i++) {
        g[i] = tacet_simrng_normal(rng);
    }
    for (size_t i = 0; i < n; i++) {
        f[i] = 0;
        for (size_t k = 0; k <= i; k++) {
            f[i] += K[k * n + i] * g[k];
        }
    }
}

static void sample(double *X, double *y, size_t n, const double *l, double signal, double noise, double mean,
                   uint64_t seed) {
    static double K[MOST * MOST];
    tacet_simrng rng;
    points(X, y, n, 2, seed);
    tacet_simrng_init(&rng, seed, 1);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) {
            const double a = (X[2 * i] - X[2 * j]) / l[0];
            const double b = (X[2 * i + 1] - X[2 * j + 1]) / l[1];
            K[j * n + i] = signal * exp(-0.5 * (a * a + b * b)) + (i == j ? 1e-10 : 0);
        }
    }
    draw(y, K, n, &rng);
    for (size_t i = 0; i < n; i++) {
        y[i] += mean + sqrt(noise) * tacet_simrng_normal(&rng);
    }
}

static void finds_what_made_the_data(void **state) {
    double X[MOST * 2];
    double y[MOST];
    const double truth[2] = {0.15, 0.8};
    const double begin[2] = {1, 1};
    sample(X, y, MOST, truth, 2, 0.01, 3, 5);
    lab_fit_settings s;
    lab_fit_settings_defaults(&s);
    s.kernel.d = 2;
    s.kernel.lengthscales = begin;
    s.kernel.lengthscale_count = 2;
    double l[2];
    lab_fit_result r;
    assert_ok(lab_fit(&r, l, &s, X, 2, MOST, y, NULL));
    /* At least as likely as the truth, and near it: 120 values pin a lengthscale to some 15 per cent. */
    lab_likelihood *likelihood = NULL;
    lab_likelihood_value value;
    const double at_truth[4] = {log(truth[0]), log(truth[1]), log(2), log(0.01)};
    assert_ok(lab_likelihood_create(&likelihood, &s, X, 2, MOST, y, NULL));
    assert_ok(lab_likelihood_eval(likelihood, &value, NULL, at_truth, NULL));
    assert_true(r.log_likelihood >= value.log_likelihood);
    const double at_best[4] = {log(l[0]), log(l[1]), log(r.signal_var), log(r.noise_var)};
    double grad[4];
    assert_ok(lab_likelihood_eval(likelihood, &value, grad, at_best, NULL));
    assert_close(value.log_likelihood, r.log_likelihood, 1e-9);
    for (size_t p = 0; p < 4; p++) {
        assert_close(grad[p], 0, 0.01); /* stationary */
    }
    lab_likelihood_free(likelihood);
    assert_close(log(l[0] / truth[0]), 0, 0.3);
    assert_close(log(l[1] / truth[1]), 0, 0.5);
    assert_close(log(r.noise_var / 0.01), 0, 0.5);
    assert_true(r.converged >= 1 && r.at_bound == 0 && r.jitter == 0 && r.evaluations > 10);
    /* The same again gives the same bits. */
    double again[2];
    lab_fit_result r2;
    assert_ok(lab_fit(&r2, again, &s, X, 2, MOST, y, NULL));
    assert_memory_equal(l, again, sizeof l);
    assert_memory_equal(&r, &r2, sizeof r);
    /* Fixed ones stay. */
    s.fix_lengthscales = s.fix_noise_var = true;
    s.kernel.lengthscales = truth;
    s.noise_var = 0.01;
    assert_ok(lab_fit(&r, l, &s, X, 2, MOST, y, NULL));
    assert_close(l[0], truth[0], 1e-15);
    assert_close(r.noise_var, 0.01, 1e-15);
    s.fix_signal_var = true;
    s.kernel.signal_var = 2;
    assert_ok(lab_fit(&r, l, &s, X, 2, MOST, y, NULL));
    assert_int_equal(r.evaluations, 1);
    assert_close(r.mean, 3, 1.5);
}

/* Points seen through noise: knowing it recovers the lengthscale, ignoring it does not. */
static void knows_the_input_noise(void **state) {
    const double truth[2] = {0.3, 0.3};
    const double begin = 0.5;
    const double sd = 0.12;
    double known_error = 0;
    double plain_error = 0;
    for (uint64_t trial = 0; trial < 4; trial++) {
        double X[MOST * 2];
        double y[MOST];
        sample(X, y, MOST, truth, 1, 1e-4, 0, 40 + trial);
        tacet_simrng rng = test_rng(40 + trial, 2);
        for (size_t i = 0; i < (size_t)MOST * 2; i++) {
            X[i] += sd * tacet_simrng_normal(&rng);
        }
        lab_fit_settings s;
        lab_fit_settings_defaults(&s);
        s.kernel.d = 2;
        s.kernel.lengthscales = &begin;
        s.starts = 4;
        s.fix_noise_var = true; /* of the measurements: known too */
        s.noise_var = 1e-4;
        double l = 0;
        lab_fit_result r;
        assert_ok(lab_fit(&r, &l, &s, X, 2, MOST, y, NULL));
        plain_error += fabs(log(l / truth[0])) / 4;
        s.input_sd = &sd;
        s.input_sd_count = 1;
        assert_ok(lab_fit(&r, &l, &s, X, 2, MOST, y, NULL));
        known_error += fabs(log(l / truth[0])) / 4;
    }
    assert_true(known_error < 0.3);
    assert_true(plain_error > 2 * known_error);
}

static void singular_is_reported(void **state) {
    double X[2 * N];
    double y[2 * N];
    points(X, y, N, 1, 3);
    memcpy(X + N, X, N * sizeof *X); /* every point twice, without noise */
    memcpy(y + N, y, N * sizeof *y);
    lab_fit_settings s;
    lab_fit_settings_defaults(&s);
    s.fix_noise_var = true;
    s.noise_var = 0;
    s.starts = 2;
    double l = 0;
    lab_fit_result r;
    assert_ok(lab_fit(&r, &l, &s, X, 1, 2 * N, y, NULL));
    assert_true(r.jitter > 0);
    assert_true(isfinite(r.log_likelihood) && l > 0);
}

static void bad_input(void **state) {
    double X[N];
    double y[N];
    points(X, y, N, 1, 4);
    lab_fit_settings good;
    lab_fit_settings_defaults(&good);
    lab_fit_settings s = good;
    double l = 0;
    lab_fit_result r;
#define REFUSED(change, status)                                                                                        \
    do {                                                                                                               \
        s = good;                                                                                                      \
        change;                                                                                                        \
        assert_status(lab_fit(&r, &l, &s, X, 1, N, y, NULL), status);                                                  \
    } while (0)
    const double zero = 0;
    const double sd = 0.1;
    REFUSED(s.starts = 0, TACET_INVALID);
    REFUSED(s.most_evaluations = 0, TACET_INVALID);
    REFUSED(s.noise_var = 0, TACET_INVALID);
    REFUSED(s.noise_var = NAN, TACET_INVALID);
    REFUSED(s.kernel.lengthscales = &zero, TACET_INVALID);
    REFUSED(s.kernel.signal_var = NAN, TACET_INVALID);
    REFUSED(s.lengthscale.low = 2; s.lengthscale.high = 1, TACET_INVALID);
    REFUSED(s.signal_var.low = -1; s.signal_var.high = 1, TACET_INVALID);
    REFUSED(s.noise_var_range.high = NAN, TACET_INVALID);
    REFUSED(s.fix_mean = true; s.mean = NAN, TACET_INVALID);
    REFUSED(s.kernel.kind = TACET_KERNEL_LINEAR; s.input_sd = &sd; s.input_sd_count = 1, TACET_UNSUPPORTED);
    s = good;
    assert_status(lab_fit(&r, &l, &s, X, 1, 1, y, NULL), TACET_INVALID);
    y[3] = NAN;
    assert_status(lab_fit(&r, &l, &s, X, 1, N, y, NULL), TACET_INVALID);
    y[3] = 0;
    X[2] = INFINITY;
    assert_status(lab_fit(&r, &l, &s, X, 1, N, y, NULL), TACET_INVALID);
    X[2] = 0;
    for (size_t i = 0; i < N; i++) {
        y[i] = 4;
    }
    tacet_error err;
    tacet_error_clear(&err);
    assert_status(lab_fit(&r, &l, &s, X, 1, N, y, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "equal"));
    assert_true(l == 0);
}

static void survives_lack_of_memory(void **state) {
    double X[N];
    double y[N];
    points(X, y, N, 1, 6);
    lab_fit_settings s;
    lab_fit_settings_defaults(&s);
    const double sd = 0.05;
    s.input_sd = &sd;
    s.input_sd_count = 1;
    s.starts = 1;
    s.most_evaluations = 2;
    double l = 0;
    lab_fit_result r;
    assert_each_alloc_fails(lab_fit(&r, &l, &s, X, 1, N, y, NULL), l == 0);
    assert_true(fail_alloc_last() > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients),
        cmocka_unit_test(likelihood_is_the_dense_one),
        cmocka_unit_test(finds_what_made_the_data),
        cmocka_unit_test(knows_the_input_noise),
        cmocka_unit_test(singular_is_reported),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
