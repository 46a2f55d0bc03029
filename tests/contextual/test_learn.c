/* SPDX-License-Identifier: Apache-2.0 */
/* test_learn.c - the learner: exact sums, worst-case neighbours, choices, releases, the ledger, bad input. */
#include "support/test.h"

#include "gp/linalg.h"
#include "dp/bound_internal.h"
#include "contextual/trusted/internal.h"

#include <tacet/core/simrng.h>

static tacet_contextual_basis *basis;

static int group_setup(void **state) {
    tacet_contextual_space space;
    tacet_contextual_space_defaults(&space);
    space.order = test_slow() ? 10 : 14;
    return tacet_contextual_basis_create(&basis, &space, test_slow() ? 24 : 40, NULL) == TACET_OK ? 0 : 1;
}

static int group_teardown(void **state) {
    tacet_contextual_basis_free(basis);
    return 0;
}

static double f(double x, double c) {
    return 0.6 * sin(3 * x + 2 * c) - 0.2;
}

static tacet_contextual_learner *learner_of(size_t count, uint64_t seed, const tacet_contextual_settings *settings) {
    tacet_contextual_settings defaults;
    tacet_contextual_learner *l = NULL;
    tacet_simrng rng;
    tacet_contextual_settings_defaults(&defaults);
    assert_ok(tacet_contextual_learner_create(&l, basis, settings != NULL ? settings : &defaults, NULL));
    tacet_simrng_init(&rng, seed, 0);
    for (size_t i = 0; i < count; i++) {
        const double w[2] = {tacet_simrng_uniform(&rng), tacet_simrng_uniform(&rng)};
        assert_ok(tacet_contextual_learner_add(l, w, f(w[0], w[1]) + 0.1 * tacet_simrng_normal(&rng), NULL));
    }
    return l;
}

/* Puts another context and reward into record i; the action stays. */
static void replace(tacet_contextual_learner *l, size_t i, double context, double reward) {
    l->records[i * l->stride + 1] = context;
    l->records[i * l->stride + 2] = fmin(fmax(reward, -l->bound), l->bound);
}

static void pass_of(tacet__contextual_pass *pass, double *inverse_root, size_t m, double n, double ratio, double clip,
                    double bound) {
    for (size_t j = 0; j < m; j++) {
        inverse_root[j] = 1 / sqrt(n * (tacet_contextual_basis_eigenvalues(basis)[j] + ratio));
    }
    *pass = (tacet__contextual_pass){.m = m, .inverse_root = inverse_root, .clip = clip, .bound = bound};
}

TEST(test_sum) {
    enum { T = 333, M = 20 };
    double inverse_root[M];
    double naive[M] = {0};
    double step = 0;
    tacet_raw *raw = NULL;
    tacet__contextual_pass pass;
    tacet_contextual_learner *l = learner_of(T, 7, NULL);
    pass_of(&pass, inverse_root, M, T, 0.01, 0.2, 0.3);
    size_t clipped_norms = 0;
    size_t clipped_rewards = 0;
    for (size_t i = 0; i < T; i++) {
        double phi[40];
        double norm2 = 0;
        tacet_features_eval(basis->features, phi, l->records + l->stride * i, 2, 1);
        double r = l->records[l->stride * i + 2];
        for (size_t j = 0; j < M; j++) {
            norm2 += phi[j] * phi[j] * inverse_root[j] * inverse_root[j];
        }
        clipped_rewards += fabs(r) > 0.3;
        r = fmin(fmax(r, -0.3), 0.3);
        clipped_norms += norm2 > 0.04;
        const double omega = fmin(1, 0.2 / sqrt(norm2));
        for (size_t j = 0; j < M; j++) {
            naive[j] += omega * r * phi[j] * inverse_root[j];
        }
    }
    assert_true(clipped_norms > 10 && clipped_norms < T && clipped_rewards > 10 && clipped_rewards < T);
    assert_ok(tacet_raw_create(&raw, M, NULL));
    assert_ok(tacet__contextual_sum(l, raw, &pass, NULL));
    const double share = tacet__contextual_share(&pass, &step);
    assert_true(share >= 0.06 && share < 0.06 * (1 + 1e-7));
    for (size_t j = 0; j < M; j++) {
        assert_close(raw->values[j], naive[j], T * step);
    }
    /* Exact: whole steps. */
    for (size_t j = 0; j < M; j++) {
        assert_true(raw->values[j] / step == floor(raw->values[j] / step));
    }
    tacet_raw_free(raw);
    tacet_contextual_learner_free(l);
}

/* Rewards of 1e9 and contexts in corners: a sum never moves further than is claimed, and gets close to it. */
TEST(test_worst_case) {
    enum { T = 200, M = 20 };
    double inverse_root[M];
    double step = 0;
    double most = 0;
    tacet_raw *a = NULL;
    tacet_raw *b = NULL;
    tacet__contextual_pass pass;
    tacet_simrng rng = test_rng(19, 0);
    assert_ok(tacet_raw_create(&a, M, NULL));
    assert_ok(tacet_raw_create(&b, M, NULL));
    for (int attack = 0; attack < 40; attack++) {
        tacet_contextual_learner *l = learner_of(T, 100 + (uint64_t)attack, NULL);
        const size_t i = tacet_simrng_below(&rng, T);
        pass_of(&pass, inverse_root, M, T, 0.05, 0.15, 1);
        l->records[l->stride * i] =
            attack % 2 == 0 ? 0 : tacet_simrng_uniform(&rng); /* an action in the corner, by bad luck */
        replace(l, i, 0, 1e9);
        assert_ok(tacet__contextual_sum(l, a, &pass, NULL));
        replace(l, i, attack % 3 == 0 ? 1 : 0, -1e9);
        assert_ok(tacet__contextual_sum(l, b, &pass, NULL));
        double distance = 0;
        for (size_t j = 0; j < M; j++) {
            distance += (a->values[j] - b->values[j]) * (a->values[j] - b->values[j]);
        }
        distance = sqrt(distance);
        assert_true(distance <= 2 * tacet__contextual_share(&pass, &step));
        most = fmax(most, distance / (2 * tacet__contextual_share(&pass, &step)));
        tacet_contextual_learner_free(l);
    }
    assert_true(most > 0.99);
    tacet_raw_free(a);
    tacet_raw_free(b);
}

/* Scores of two neighbours: no further apart than claimed, and nearly so where the attack hits the worst point. */
TEST(test_score_bounds) {
    enum { T = 100, N = 9 };
    tacet_simrng rng;
    double most = 0;
    double actions[N];
    tacet_simrng_init(&rng, 23, 0);
    for (size_t i = 0; i < N; i++) {
        actions[i] = (double)i / (N - 1);
    }
    for (int attack = 0; attack < 20; attack++) {
        const double context = attack % 2 < 1 ? 0 : tacet_simrng_uniform(&rng);
        double scores[2][N];
        double bound = 0;
        double U[N * 40];
        for (int world = 0; world < 2; world++) {
            tacet_contextual_learner *l = learner_of(T, 300 + (uint64_t)attack, NULL);
            tacet_contextual_chooser *c = NULL;
            l->records[0] = attack % 3 == 0 ? 0 : attack % 3 == 1 ? 1 : tacet_simrng_uniform(&rng);
            replace(l, 0, context, world == 0 ? 1e9 : -1e9);
            assert_ok(tacet_contextual_chooser_create(&c, l, 10, NULL));
            assert_ok(tacet__contextual_levers(c, U, &context, actions, N, NULL));
            bound = tacet__contextual_score_bound(c, U, N);
            tacet__gemv(true, c->m, N, 1, U, c->m, c->v, 0, scores[world]);
            tacet_contextual_chooser_free(c);
            tacet_contextual_learner_free(l);
        }
        for (size_t i = 0; i < N; i++) {
            assert_true(fabs(scores[0][i] - scores[1][i]) <= bound);
            most = fmax(most, fabs(scores[0][i] - scores[1][i]) / bound);
        }
    }
    assert_true(most > 0.9);
}

/* The published bound does not hang on the certificate: were the supremum too small, shares are clipped at it, and the
 * asked actions' own leverages, which may be above it, are in the bound. */
TEST(test_small_supremum) {
    enum { T = 60, N = 3 };
    const double actions[N] = {0, 0.5, 1};
    const double context = 0;
    double scores[2][N];
    double bound = 0;
    double furthest = 0;
    double U[N * 40];
    for (int world = 0; world < 2; world++) {
        tacet_contextual_learner *l = learner_of(T, 9, NULL);
        tacet_contextual_chooser *c = NULL;
        l->records[0] = 0;
        replace(l, 0, context, world == 0 ? 1e9 : -1e9);
        assert_ok(tacet__contextual_chooser_begin(&c, l, 10, 0.05, NULL));
        assert_ok(tacet__contextual_levers(c, U, &context, actions, N, NULL));
        assert_true(tacet__norm2(U, c->m) > 2 * c->sup);
        bound = tacet__contextual_score_bound(c, U, N);
        tacet__gemv(true, c->m, N, 1, U, c->m, c->v, 0, scores[world]);
        tacet_contextual_chooser_free(c);
        tacet_contextual_learner_free(l);
    }
    for (size_t i = 0; i < N; i++) {
        furthest = fmax(furthest, fabs(scores[0][i] - scores[1][i]));
    }
    assert_true(furthest <= bound);
    assert_true(furthest > 0.9 * bound);
}

/* The published mechanism's choices have the law exp(eps mu / 4 B s). Chi-square, false alarm 1e-4. */
TEST(test_choice_law) {
    enum { T = 150, N = 5 };
    const size_t draws = test_slow() ? 600 : 6000;
    const double actions[N] = {0, 0.25, 0.5, 0.75, 1};
    const double context = 0.4;
    tacet_contextual_settings settings;
    tacet_noise *noise = NULL;
    tacet_contextual_chooser *c = NULL;
    double U[N * 40];
    double scores[N];
    double expected[N];
    double bound = 0;
    double total = 0;
    double chi2 = 0;
    size_t seen[N] = {0};
    tacet_contextual_settings_defaults(&settings);
    settings.eps = 8;
    tacet_contextual_learner *l = learner_of(T, 5, &settings);
    assert_ok(tacet_noise_open_seeded(&noise, 1, 2, NULL));
    assert_ok(tacet_contextual_chooser_create(&c, l, 0, NULL));
    assert_true(c->tau == 1);
    assert_ok(tacet__contextual_levers(c, U, &context, actions, N, NULL));
    bound = tacet__contextual_score_bound(c, U, N);
    assert_close(bound, 2 * c->sup * c->sup, 1e-6 * bound);
    tacet__gemv(true, c->m, N, 1, U, c->m, c->v, 0, scores);
    for (size_t i = 0; i < N; i++) {
        expected[i] = exp(settings.eps * scores[i] / (2 * bound));
        total += expected[i];
    }
    const tacet_ask ask = {.noise = noise, .ticket = "t", .what = "choice", .to_whom = "test"};
    for (size_t k = 0; k < draws; k++) {
        tacet_release *chosen = NULL;
        assert_ok(tacet_contextual_choose(c, &chosen, &ask, &context, actions, N, NULL));
        assert_false(tacet_release_receipt(chosen)->is_private);
        seen[(size_t)tacet_release_values(chosen)[0]]++;
        tacet_release_free(chosen);
    }
    for (size_t i = 0; i < N; i++) {
        const double want = (double)draws * expected[i] / total;
        chi2 += ((double)seen[i] - want) * ((double)seen[i] - want) / want;
    }
    assert_true(test_chi2_pvalue(chi2, N - 1) > 1e-4);
    assert_true(fabs(expected[0] - expected[2]) > 0.05 * total); /* the law is not flat, or this shows nothing */
    tacet_release *none = NULL;
    const double outside = 1.5;
    assert_status(tacet_contextual_choose(c, &none, &ask, &outside, actions, N, NULL), TACET_INVALID);
    assert_status(tacet_contextual_choose(c, &none, &ask, &context, &outside, 1, NULL), TACET_INVALID);
    const double beside[] = {0.5, outside};
    assert_status(tacet_contextual_choose(c, &none, &ask, &context, beside, 2, NULL), TACET_INVALID);
    assert_status(tacet_contextual_choose(c, &none, &ask, &context, actions, 1, NULL), TACET_INVALID); /* no choice */
    assert_null(none);
    tacet_contextual_chooser_free(c);
    tacet_noise_close(noise);
    tacet_contextual_learner_free(l);
}

TEST(test_bad_input) {
    tacet_contextual_settings good;
    tacet_contextual_settings s;
    tacet_contextual_learner *l = NULL;
    tacet_contextual_chooser *chooser = NULL;
    tacet_error err = {0};
    tacet_contextual_settings_defaults(&good);
    const double bad_eps[] = {0, -1, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < 4; i++) {
        s = good;
        s.eps = bad_eps[i];
        assert_status(tacet_contextual_learner_create(&l, basis, &s, NULL), TACET_INVALID);
        assert_null(l);
    }
    s = good;
    s.reward_upper = s.reward_lower;
    assert_status(tacet_contextual_learner_create(&l, basis, &s, NULL), TACET_INVALID);
    s.reward_upper = INFINITY;
    assert_status(tacet_contextual_learner_create(&l, basis, &s, NULL), TACET_INVALID);
    l = learner_of(0, 1, NULL);
    const double outside[2] = {1.25, 0.5};
    const double nan[2] = {(double)NAN, 0.5};
    const double inside[2] = {0.5, 0.5};
    assert_status(tacet_contextual_learner_add(l, outside, 0, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "action 1"));
    assert_null(strstr(err.message, "1.25"));
    assert_status(tacet_contextual_learner_add(l, nan, 0, NULL), TACET_INVALID);
    assert_int_equal(l->count, 0);
    assert_status(tacet_contextual_chooser_create(&chooser, l, 0, NULL), TACET_STATE);
    assert_ok(tacet_contextual_learner_add(l, inside, 1e9, NULL));
    assert_true(l->records[2] == 1);
    l->count = TACET__CONTEXTUAL_RECORDS_MOST; /* sums of more shares would not be exact */
    assert_status(tacet_contextual_learner_add(l, inside, 0, NULL), TACET_INVALID);
    l->count = 1;
    assert_status(tacet_contextual_chooser_create(&chooser, l, -1, NULL), TACET_INVALID);
    assert_null(chooser);
    tacet_contextual_learner_free(l);
}

/* Whatever a context or a reward is, the record is taken, as the nearest one that can be: no outcome depends on it. */
TEST(test_total) {
    const double rewards[] = {0.25, 1e9, -(double)INFINITY, (double)NAN, (double)INFINITY};
    const double contexts[] = {0.25, -3, (double)INFINITY, (double)NAN, 1e308};
    const double reward_taken[] = {0.25, 1, -1, 0, 1};
    const double context_taken[] = {0.25, 0, 1, 0.5, 1};
    tacet_contextual_learner *l = learner_of(0, 1, NULL);
    for (size_t i = 0; i < 25; i++) {
        const double w[2] = {0.5, contexts[i % 5]};
        tacet_error err = {0};
        assert_ok(tacet_contextual_learner_add(l, w, rewards[i / 5], &err));
        assert_true(err.message[0] == '\0');
        assert_true(l->records[l->stride * i + 1] == context_taken[i % 5] &&
                    l->records[l->stride * i + 2] == reward_taken[i / 5]);
    }
    assert_int_equal(l->count, 25);
    tacet_contextual_learner_free(l);
}

TEST(test_no_memory) {
    tacet_noise *noise = NULL;
    tacet_contextual_settings settings;
    tacet_contextual_settings_defaults(&settings);
    tacet_contextual_learner *l = learner_of(400, 1, &settings);
    assert_ok(tacet_noise_open_seeded(&noise, 1, 1, NULL));
    const tacet_ask ask = {.noise = noise, .ticket = "m", .what = "model", .to_whom = "test"};
    const double actions[2] = {0, 1};
    const double context = 0.5;
    for (long n = 1;; n++) {
        tacet_contextual_chooser *c = NULL;
        tacet_release *chosen = NULL;
        fail_alloc_after(n);
        tacet_status status = tacet_contextual_chooser_create(&c, l, 100, NULL);
        if (status == TACET_OK) {
            status = tacet_contextual_choose(c, &chosen, &ask, &context, actions, 2, NULL);
        }
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        tacet_contextual_chooser_free(c);
        if (!hit) {
            assert_ok(status);
            tacet_release_free(chosen);
            break;
        }
        assert_int_equal(status, TACET_NO_MEMORY);
        assert_null(chosen);
    }
    tacet_noise_close(noise);
    tacet_contextual_learner_free(l);
}

TEST_ALL(group_setup, group_teardown)
