/* SPDX-License-Identifier: Apache-2.0 */
/* test_gp_ucb.c - the GP-UCB policy: conformance, and its sequence against a dense recomputation written here. */
#include "gp/cov_internal.h"
#include "support/conformance.h"
#include "support/dense.h"
#include "support/test.h"

#include <tacet/core/simrng.h>
#include "gp/gp_ucb.h"

enum { N = 80, D = 2, T = 40 };
static const double LENGTHSCALE = 0.3;
static const double NOISE = 1e-4;
static const double MEAN = 0.2;

typedef struct fixture {
    double X[N * D];
    double f[N];
    double K[N * N];
    tacet_kernel *kernel;
    tacet_kernel *other;
    tacet_gp_ucb_settings settings;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    tacet_simrng rng = test_rng(77, 0);
    for (size_t i = 0; i < (size_t)N * D; i++) {
        f->X[i] = tacet_simrng_uniform(&rng);
    }
    for (size_t j = 0; j < N; j++) {
        f->f[j] = sin(7 * f->X[j * D]) * cos(5 * f->X[j * D + 1]) + 0.3 * f->X[j * D];
        for (size_t i = 0; i < N; i++) {
            f->K[j * N + i] = dense_se(f->X + i * D, f->X + j * D, D, LENGTHSCALE);
        }
    }
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    spec.d = D;
    spec.lengthscales = &LENGTHSCALE;
    assert_ok(tacet_kernel_create(&f->kernel, &spec, NULL));
    const double wider = 2 * LENGTHSCALE;
    spec.lengthscales = &wider;
    assert_ok(tacet_kernel_create(&f->other, &spec, NULL));
    tacet_gp_ucb_settings_defaults(&f->settings);
    f->settings.mean = MEAN;
    f->settings.noise_var = NOISE;
    f->settings.horizon = T;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    tacet_kernel_free(f->kernel);
    tacet_kernel_free(f->other);
    free(f);
    return 0;
}

static tacet_status make(void *user, tacet_policy **out, tacet_error *err) {
    fixture *f = user;
    const tacet_cov_spec cov = {.kernel = f->kernel};
    return tacet_gp_ucb_create(out, &f->settings, &cov, f->X, D, N, err);
}

static tacet_status make_foreign(void *user, tacet_policy **out, tacet_error *err) {
    fixture *f = user;
    const tacet_cov_spec cov = {.kernel = f->other};
    return tacet_gp_ucb_create(out, &f->settings, &cov, f->X, D, N, err);
}

static double value(void *user, size_t k, const tacet_suggestion *suggestion) {
    const fixture *f = user;
    return f->f[suggestion->index] + 0.01 * sin((double)k);
}

TEST(conforms) {
    fixture *f = *state;
    conformance_problem problem = {.create = make,
                                   .create_foreign = make_foreign,
                                   .value = value,
                                   .user = f,
                                   .rounds = 12,
                                   .any_order = true,
                                   .tolerance = 1e-9,
                                   .has_impossible = true,
                                   .impossible = 1e300};
    test_policy_conformance(&problem);
    const size_t first[] = {17, 3, 17};
    f->settings.initial = first;
    f->settings.initial_count = 3;
    f->settings.allow_repeats = true;
    test_policy_conformance(&problem);
}

/* beta_t = 2 ln(n t^2 pi^2/(6 delta')), delta' = delta/2, as written. */
static double beta(size_t t, double delta) {
    const double pi = acos(-1.0);
    return 2 * log((double)N * (double)(t * t) * pi * pi / (6 * (delta / 2)));
}

static void follow(fixture *f, bool repeats, size_t first) {
    f->settings.allow_repeats = repeats;
    f->settings.initial = &first;
    f->settings.initial_count = 1;
    OWN_POLICY tacet_policy *policy = NULL;
    assert_ok(make(f, &policy, NULL));
    size_t at[T];
    double values[T];
    double noise[T];
    double mean[N];
    double var[N];
    bool asked[N] = {false};
    for (size_t t = 1; t <= T; t++) {
        tacet_suggestion s;
        assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
        assert_int_equal(s.ticket, t);
        dense_gp(mean, var, NULL, f->K, N, MEAN, at, values, noise, t - 1);
        size_t best = SIZE_MAX;
        double top = 0;
        for (size_t j = 0; j < N; j++) {
            const double bound = mean[j] + sqrt(beta(t, 0.05)) * sqrt(fmax(var[j], 0));
            if ((repeats || !asked[j]) && (best == SIZE_MAX || bound > top)) {
                best = j;
                top = bound;
            }
        }
        if (t == 1) {
            assert_int_equal(s.index, first);
        } else {
            assert_int_equal(s.index, best);
            assert_close(s.score, top, 1e-6);
        }
        asked[s.index] = true;
        at[t - 1] = s.index;
        values[t - 1] = f->f[s.index];
        noise[t - 1] = NOISE;
        assert_ok(tacet_policy_observe(policy, s.ticket, values[t - 1], NULL));
    }
    tacet_recommendation r;
    assert_ok(tacet_policy_recommend(policy, &r, NULL));
    dense_gp(mean, var, NULL, f->K, N, MEAN, at, values, noise, T);
    size_t best = 0;
    size_t measured = 0;
    for (size_t j = 0; j < N; j++) {
        best = mean[j] > mean[best] ? j : best;
    }
    for (size_t k = 0; k < T; k++) {
        measured = values[k] > values[measured] ? k : measured;
    }
    assert_int_equal(r.index, best);
    assert_close(r.mean, mean[best], 1e-8);
    assert_close(r.sd, sqrt(var[best]), 1e-6);
    assert_int_equal(r.measured, at[measured]);
    assert_close(r.measured_value, values[measured], 0);
    assert_int_equal(tacet_gp_count(tacet_gp_ucb_model(policy)), T);
    tacet_suggestion s;
    assert_status(tacet_policy_suggest(policy, &s, NULL, NULL), TACET_STATE); /* the horizon is over */
}

TEST(asks_what_a_dense_solve_would) {
    follow(*state, false, 17);
}

TEST(asks_again_when_allowed) {
    follow(*state, true, 5);
}

TEST(ties_go_to_the_lowest) {
    fixture *f = *state;
    /* Twins: candidate j + N/2 is candidate j. All of them are asked: always the lower first. */
    memcpy(f->X + (size_t)(N / 2) * D, f->X, sizeof(double) * (N / 2) * D);
    f->settings.horizon = N;
    f->settings.noise_var = 0.1;
    OWN_POLICY tacet_policy *policy = NULL;
    assert_ok(make(f, &policy, NULL));
    size_t when[N];
    for (size_t t = 0; t < N; t++) {
        tacet_suggestion s;
        assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
        if (t == 0) {
            assert_int_equal(s.index, 0); /* the prior is flat */
        }
        when[s.index] = t;
        assert_ok(tacet_policy_observe(policy, s.ticket, f->f[s.index % (N / 2)], NULL));
    }
    for (size_t j = 0; j < N / 2; j++) {
        assert_true(when[j] < when[j + N / 2]);
    }
    tacet_suggestion s;
    assert_status(tacet_policy_suggest(policy, &s, NULL, NULL), TACET_STATE);
}

/* Over several blocks the search skips candidates that cannot be the best: never the one a plain look at all of them
 * finds. With a mean so large that bounds differ by a few units in its last place, and with variances at the end of the
 * range, rounding decides. */
TEST(skips_no_candidate_that_is_best) {
    enum { MANY = 9000 };
    static const struct {
        double mean, signal_var, width;
    } cases[] = {{0, 1, 1}, {1e9, 1e-12, 1}, {-3, 1e-17, 1}, {0, 1e-306, 1}, {1e5, 1e-20, 1e-3}};
    const fixture *f = *state;
    OWN_MEMORY double *X = calloc((size_t)MANY * D, sizeof *X);
    assert_non_null(X);
    tacet_simrng rng = test_rng(79, 0);
    for (size_t i = 0; i < (size_t)MANY * D; i++) {
        X[i] = tacet_simrng_uniform(&rng);
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bool asked[MANY] = {false};
        tacet_gp_ucb_settings settings = f->settings;
        settings.mean = cases[k].mean;
        settings.beta_scale = cases[k].width;
        settings.noise_var = cases[k].signal_var;
        tacet_kernel_spec spec;
        tacet_kernel_spec_defaults(&spec);
        spec.d = D;
        spec.lengthscales = &LENGTHSCALE;
        spec.signal_var = cases[k].signal_var;
        tacet_kernel *kernel = NULL;
        tacet_cov *cov = NULL;
        tacet_gp *gp = NULL;
        tacet_policy *policy = NULL;
        assert_ok(tacet_kernel_create(&kernel, &spec, NULL));
        const tacet_cov_spec with = {.kernel = kernel};
        const tacet_gp_settings model = {.mean = settings.mean, .noise_var = settings.noise_var, .horizon = T};
        assert_ok(tacet_cov_create(&cov, &with, X, D, MANY, NULL));
        assert_ok(tacet_gp_create(&gp, &model, cov, NULL));
        assert_ok(tacet_gp_ucb_create(&policy, &settings, &with, X, D, MANY, NULL));
        for (size_t t = 1; t <= T; t++) {
            const double width = sqrt(settings.beta_scale * tacet_gp_ucb_beta(MANY, t, settings.delta_ucb));
            size_t best = MANY;
            double top = 0;
            for (size_t j = 0; j < MANY; j++) {
                const double bound = tacet_gp_mean(gp)[j] + width * sqrt(tacet_gp_var(gp)[j]);
                if (!asked[j] && (best == MANY || bound > top)) {
                    best = j;
                    top = bound;
                }
            }
            tacet_suggestion s;
            assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
            assert_int_equal(s.index, best);
            assert_true(s.score == top);
            asked[best] = true;
            const double y = cases[k].mean + sqrt(cases[k].signal_var) * sin(9 * X[best * D] + X[best * D + 1]);
            assert_ok(tacet_policy_observe(policy, s.ticket, y, NULL));
            assert_ok(tacet_gp_observe(gp, best, y, NULL));
        }
        tacet_policy_free(policy);
        tacet_gp_free(gp);
        tacet_cov_free(cov);
        tacet_kernel_free(kernel);
    }
}

TEST(says_that_it_protects_nothing) {
    fixture *f = *state;
    tacet_policy *policy = NULL;
    assert_ok(make(f, &policy, NULL));
    tacet_guarantee g;
    tacet_policy_guarantee(policy, &g);
    assert_int_equal(g.trust, TACET_TRUST_NONE);
    assert_false(g.proven);
    assert_true(isinf(g.eps));
    assert_non_null(strstr(g.statement, "Unprotected"));
    tacet_policy_free(policy);
    /* Over a release it keeps the release's guarantee. */
    const tacet_guarantee release = {.trust = TACET_TRUST_OUTSOURCED,
                                     .proven = true,
                                     .eps = 3,
                                     .delta = 1e-5,
                                     .protects = "a record",
                                     .statement = "s",
                                     .proof = "p"};
    f->settings.guarantee = &release;
    assert_ok(make(f, &policy, NULL));
    tacet_policy_guarantee(policy, &g);
    assert_int_equal(g.trust, release.trust);
    assert_true(g.proven);
    assert_true(g.eps == release.eps && g.delta == release.delta);
    assert_string_equal(g.protects, release.protects);
    assert_string_equal(g.statement, release.statement);
    assert_string_equal(g.proof, release.proof);
    tacet_policy_free(policy);
}

TEST(bad_settings) {
    fixture *f = *state;
    const tacet_gp_ucb_settings good = f->settings;
    const size_t twice[] = {4, 4};
    const size_t beyond = N;
    tacet_policy *policy = NULL;
#define REFUSED(change)                                                                                                \
    do {                                                                                                               \
        f->settings = good;                                                                                            \
        change;                                                                                                        \
        assert_status(make(f, &policy, NULL), TACET_INVALID);                                                          \
        assert_null(policy);                                                                                           \
    } while (0)
    REFUSED(f->settings.delta_ucb = 0);
    REFUSED(f->settings.delta_ucb = 1);
    REFUSED(f->settings.delta_ucb = NAN);
    REFUSED(f->settings.beta_scale = 0);
    REFUSED(f->settings.beta_scale = NAN);
    REFUSED(f->settings.horizon = 0);
    REFUSED(f->settings.horizon = N + 1);
    REFUSED(f->settings.noise_var = -1);
    REFUSED(f->settings.mean = INFINITY);
    REFUSED(f->settings.initial = &beyond; f->settings.initial_count = 1);
    REFUSED(f->settings.initial = twice; f->settings.initial_count = 2);
    f->settings = good;
    f->settings.allow_repeats = true;
    f->settings.horizon = N + 1;
    assert_ok(make(f, &policy, NULL));
    const double point = 0;
    const tacet_round round = {.points = &point, .ld = 1, .d = 1, .count = 1};
    tacet_suggestion s;
    assert_status(tacet_policy_suggest(policy, &s, &round, NULL), TACET_INVALID);
    tacet_policy_free(policy);
    assert_close(tacet_gp_ucb_beta(N, 3, 0.05), beta(3, 0.05), 1e-12);
}

TEST_EACH(setup, teardown)
