/* SPDX-License-Identifier: Apache-2.0 */
/* test_published.c - the published joint-DP bandit: its tree, its noise, and that it claims nothing. */
#include "central/trusted/published_tree.h"
#include "support/gate.h"
#include "support/test.h"

#include "central/trusted/policy.h"
#include <tacet/core/simrng.h>

/* Without noise worth the name: every prefix sum, also where t has many ones or is a power of two. */
TEST(prefixes_are_the_sums) {
    tacet__tree *tree = NULL;
    OWN_NOISE tacet_noise *noise = test_noise(3, 0);
    double exact[2] = {0};
    assert_ok(tacet__tree_create(&tree, 2, 1e-9, false, NULL));
    for (uint64_t t = 1; t <= 200; t++) {
        const double x[2] = {(double)(t * t % 17), (double)t / 8};
        double estimate[2], var = 0;
        exact[0] += x[0];
        exact[1] += x[1];
        assert_ok(tacet__tree_step(tree, estimate, &var, x, noise, NULL));
        assert_close(estimate[0], exact[0], 1e-6);
        assert_close(estimate[1], exact[1], 1e-6);
        assert_close(var, 1e-18 * __builtin_popcountll(t), 1e-24);
    }
    tacet__tree_free(tree);
}

/* Prefixes that share a node share its noise; those that share none are independent. 4,000 trees, seeded: the bounds
 * are four standard errors or more, a false alarm has a chance below 1e-4. */
TEST(nodes_have_noise_of_their_own) {
    enum { TREES = 4000, STEPS = 8 };
    OWN_NOISE tacet_noise *noise = test_noise(4, 0);
    double cov[STEPS][STEPS] = {{0}};
    for (size_t k = 0; k < TREES; k++) {
        tacet__tree *tree = NULL;
        double at[STEPS], var = 0;
        const double zero = 0;
        assert_ok(tacet__tree_create(&tree, 1, 1, false, NULL));
        for (size_t t = 0; t < STEPS; t++) {
            assert_ok(tacet__tree_step(tree, &at[t], &var, &zero, noise, NULL));
        }
        tacet__tree_free(tree);
        for (size_t i = 0; i < STEPS; i++) {
            for (size_t j = 0; j < STEPS; j++) {
                cov[i][j] += at[i] * at[j] / TREES;
            }
        }
    }
    for (size_t i = 1; i <= STEPS; i++) {
        for (size_t j = 1; j <= STEPS; j++) {
            int shared = 0; /* nodes in both: levels at which both have a one and the same bits above */
            for (size_t level = 0; level < 4; level++) {
                shared += ((i >> level) & 1) && ((j >> level) & 1) && i >> (level + 1) == j >> (level + 1);
            }
            assert_close(cov[i - 1][j - 1], shared, 0.25);
        }
    }
}

/* One record is in a node of each level that ends within the horizon. */
TEST(the_factor_counts_nodes) {
    assert_close(tacet__tree_factor(1, false), 1, 0);
    assert_close(tacet__tree_factor(1023, false), sqrt(10), 1e-15);
    assert_close(tacet__tree_factor(1024, false), sqrt(11), 1e-15);
    assert_close(tacet__tree_factor(1024, true), 1, 0);
}

/* The tree as printed: what a prefix carries is the noise of every leaf in it, so that two prefixes share that of the
 * shorter one. 4,000 trees, seeded; the bound is four standard errors or more. */
TEST(noise_in_leaves_alone_adds_up) {
    enum { TREES = 4000, STEPS = 6 };
    OWN_NOISE tacet_noise *noise = test_noise(5, 0);
    double cov[STEPS][STEPS] = {{0}};
    for (size_t k = 0; k < TREES; k++) {
        tacet__tree *tree = NULL;
        double at[STEPS], var = 0;
        const double one = 1;
        assert_ok(tacet__tree_create(&tree, 1, 1, true, NULL));
        for (size_t t = 0; t < STEPS; t++) {
            assert_ok(tacet__tree_step(tree, &at[t], &var, &one, noise, NULL));
            assert_close(var, (double)t + 1, 1e-12);
            at[t] -= (double)t + 1;
        }
        tacet__tree_free(tree);
        for (size_t i = 0; i < STEPS; i++) {
            for (size_t j = 0; j < STEPS; j++) {
                cov[i][j] += at[i] * at[j] / TREES;
            }
        }
    }
    for (size_t i = 0; i < STEPS; i++) {
        for (size_t j = 0; j < STEPS; j++) {
            assert_close(cov[i][j], (double)(i < j ? i : j) + 1, 0.55);
        }
    }
}

static void settings_for_tests(tacet_central_published_settings *s) {
    tacet_central_published_settings_defaults(s);
    s->eps = 10;
    s->delta = 0.1;
    s->rounds = 30;
    s->open_most = 2;
}

/* The table of the derivation: proven sigma, and how far the published one is above it. */
TEST(published_noise) {
    const struct {
        double eps;
        uint64_t rounds;
        double sigma, ratio;
    } rows[] = {{0.1, 1024, 18.9, 45.8}, {1, 1024, 7.20, 12.0}, {10, 1024, 1.87, 4.62}, {1, 10000, 8.13, 12.4}};
    for (size_t i = 0; i < 4; i++) {
        tacet_central_published_settings s;
        settings_for_tests(&s);
        s.eps = rows[i].eps;
        s.rounds = rows[i].rounds;
        double proven = 0, published = 0, eps = 0, delta = 0;
        assert_ok(tacet_central_published_noise(&proven, &eps, &delta, &s, NULL));
        assert_true(eps == s.eps && delta == s.delta);
        assert_close(proven, rows[i].sigma, 0.005 * rows[i].sigma);
        s.calibration = TACET_CENTRAL_PUBLISHED;
        assert_ok(tacet_central_published_noise(&published, &eps, &delta, &s, NULL));
        assert_close(published / proven, rows[i].ratio, 0.005 * rows[i].ratio);
        assert_true(eps < s.eps && delta <= s.delta);
    }
}

/* Tickets as every policy has them; no claim of privacy, no state that could be taken for one. */
TEST(it_plays_and_claims_nothing) {
    tacet_features *features = NULL;
    tacet_kernel *kernel = test_kernel("se", 2, 1);
    tacet_noise *noise = test_noise(5, 0);
    tacet_central_published_settings s;
    tacet_policy *policy = NULL;
    tacet_suggestion got;
    tacet_guarantee g;
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    settings_for_tests(&s);
    assert_ok(tacet_features_create_qff(&features, kernel, 3, NULL));
    assert_status(tacet_central_published_create(&policy, features, &s, NULL, NULL), TACET_INVALID);
    assert_ok(tacet_central_published_create(&policy, features, &s, noise, NULL));
    tacet_policy_guarantee(policy, &g);
    assert_true(!g.proven && isinf(g.eps));
    assert_status(tacet_policy_save(policy, &bytes, NULL), TACET_UNSUPPORTED);
    tacet_simrng rng = test_rng(6, 0);
    for (uint64_t t = 1; t <= 30; t++) {
        double X[6];
        for (size_t i = 0; i < 6; i++) {
            X[i] = tacet_simrng_uniform(&rng);
        }
        const tacet_round round = {.points = X, .ld = 2, .d = 2, .count = 3};
        assert_ok(tacet_policy_suggest(policy, &got, &round, NULL));
        assert_int_equal(got.ticket, t);
        assert_true(got.index < 3);
        if (t == 7) {
            assert_ok(tacet_policy_drop(policy, t, NULL));
        } else {
            assert_ok(tacet_policy_observe(policy, t, X[2 * got.index], NULL));
        }
        assert_status(tacet_policy_observe(policy, t, 0, NULL), TACET_CONFLICT);
    }
    const double x[2] = {0, 0};
    const tacet_round round = {.points = x, .ld = 2, .d = 2, .count = 1};
    assert_status(tacet_policy_suggest(policy, &got, &round, NULL), TACET_STATE); /* the horizon */
    assert_status(tacet_policy_observe(policy, 31, 0, NULL), TACET_NOT_FOUND);
    tacet_policy_free(policy);
    tacet_noise_close(noise);
    tacet_features_free(features);
    tacet_kernel_free(kernel);
}
