/* SPDX-License-Identifier: Apache-2.0 */
/* test_counts.c - arms that tell nothing of each other: what noisy counts of them are taken for. */
#include "support/gate.h"
#include "support/test.h"

#include "central/open/counts.h"
#include "central/open/learner_batches.h"
#include "central/shared/features.h"
#include "central/trusted/policy.h"
#include <tacet/core/simrng.h>

enum { ARMS = 10, ROUNDS = 3000 };
static const double LOWER[] = {0}, UPPER[] = {ARMS - 1};
static const size_t LEVELS[] = {ARMS};
static const tacet_domain LIST = {.kind = TACET_DOMAIN_BOX, .d = 1, .lower = LOWER, .upper = UPPER, .levels = LEVELS};
static const double MEANS[ARMS] = {.3, .5, .2, .45, .9, .35, .1, .6, .55, .4};

static tacet_central_map *map_of(tacet_features **features, double lengthscale) {
    tacet_central_map *map = NULL;
    tacet_kernel *kernel = test_kernel("matern52", 1, lengthscale);
    assert_ok(tacet__central_features(features, kernel, &LIST, 20, NULL));
    tacet_kernel_free(kernel);
    assert_ok(tacet_central_map_create(&map, *features, &LIST, tacet_features_dim(*features), 0, 1, NULL));
    return map;
}

TEST(related_arms_are_not_counted) {
    tacet_features *features = NULL;
    tacet_central_learner_settings s;
    tacet_central_learner *learner = NULL;
    tacet_central_map *map = map_of(&features, 0.4);
    assert_int_equal(tacet__central_countable(map), ARMS);
    tacet_central_map_free(map);
    tacet_features_free(features);
    map = map_of(&features, 3);
    assert_int_equal(tacet__central_countable(map), 0);
    tacet_central_learner_settings_defaults(&s);
    s.counted = true;
    assert_status(tacet_central_learner_create(&learner, map, &s, NULL), TACET_INVALID);
    tacet_central_map_free(map);
    tacet_features_free(features);
}

/* Counts of 400 rounds an arm, first with noise of sd 1, then of sd 1000. */
TEST(noise_decides_what_counts_tell) {
    tacet__counts *c = NULL;
    double sums[2 * ARMS], sd = 0;
    assert_ok(tacet__counts_create(&c, ARMS, ARMS, 0.5, NULL));
    for (size_t a = 0; a < ARMS; a++) {
        sums[a] = 400 * MEANS[a];
        sums[ARMS + a] = 400 * (1 - MEANS[a]);
    }
    tacet__counts_take(c, sums, 1e6, (uint64_t)400 * ARMS);
    for (size_t a = 0; a < ARMS; a++) {
        assert_close(tacet__counts_mean(c, a, &sd), 0.5, 0.01);
        assert_true(sd > 0.24); /* of sqrt(.06) */
    }
    tacet__counts_take(c, sums, 1, (uint64_t)400 * ARMS);
    for (size_t a = 0; a < ARMS; a++) {
        assert_close(tacet__counts_mean(c, a, &sd), MEANS[a], 0.01);
        assert_true(sd < 0.026); /* sqrt(.25/400) */
    }
    tacet__counts_free(c);
}

/* An arm that was not played tells nothing, whatever its noise says. */
TEST(an_arm_that_is_not_played_stays_as_it_was) {
    tacet__counts *c = NULL;
    double sums[2 * ARMS] = {0}, sd = 0, before = 0;
    assert_ok(tacet__counts_create(&c, ARMS, ARMS, 0.5, NULL));
    sums[4] = 360;
    sums[ARMS + 4] = 40;
    for (size_t a = 0; a < ARMS; a++) {
        sums[a] += a == 4 ? 0 : 20 * MEANS[a];
        sums[ARMS + a] += a == 4 ? 0 : 20 * (1 - MEANS[a]);
    }
    tacet__counts_take(c, sums, 8, (uint64_t)20 * ARMS);
    (void)tacet__counts_mean(c, 0, &before);
    for (size_t a = 0; a < ARMS; a++) {
        sums[a] = a == 4 ? 900 : 2.8;
        sums[ARMS + a] = a == 4 ? 100 : -2.8;
    }
    tacet__counts_take(c, sums, 8, 1000);
    (void)tacet__counts_mean(c, 0, &sd);
    assert_true(sd > 0.95 * before);
    assert_close(tacet__counts_mean(c, 4, &sd), 0.9, 0.03);
    tacet__counts_free(c);
}

static double regret_of(tacet_policy *policy, uint64_t seed) {
    tacet_simrng rng = test_rng(seed, 1);
    double regret = 0;
    for (size_t t = 0; t < ROUNDS; t++) {
        double X[ARMS], best = 0;
        tacet_suggestion s;
        for (size_t i = 0; i < ARMS; i++) {
            X[i] = (double)tacet_simrng_below(&rng, ARMS);
            best = fmax(best, MEANS[(size_t)X[i]]);
        }
        const tacet_round round = {.points = X, .ld = 1, .d = 1, .count = ARMS};
        assert_ok(tacet_policy_suggest(policy, &s, &round, NULL));
        const double mean = MEANS[(size_t)X[s.index]];
        regret += best - mean;
        assert_ok(tacet_policy_observe(policy, s.ticket, tacet_simrng_uniform(&rng) < mean ? 1 : 0, NULL));
    }
    return regret;
}

/* Play at random loses about 1,000; measured: 82. */
TEST(counted_arms_are_learnt_at_eps_1_and_released_as_a_model) {
    tacet_features *features = NULL;
    tacet_central_map *map = map_of(&features, 0.4);
    tacet_central_settings s;
    tacet_policy *policy = NULL;
    tacet_contextual_model *model = NULL;
    tacet_guarantee guarantee;
    tacet_recommendation best;
    tacet_blob bytes;
    const tacet_ask ask = test_ask(5, 5);
    tacet_central_settings_defaults(&s);
    s.eps = 1;
    s.delta = 1e-5;
    s.rounds = ROUNDS;
    s.learner.set_size = ARMS;
    assert_ok(tacet_central_create(&policy, map, &s, &ask, NULL));
    const double regret = regret_of(policy, 9);
    print_message("regret %.0f\n", regret);
    assert_true(regret < 200);
    tacet_policy_guarantee(policy, &guarantee);
    assert_false(guarantee.proven);
    assert_ok(tacet_policy_recommend(policy, &best, NULL));
    assert_close(best.mean, 0.9, 0.05);
    tacet_blob_init(&bytes);
    assert_ok(tacet_policy_save(policy, &bytes, NULL));
    assert_ok(tacet_central_model(&model, map, &s, &ask, bytes.data, bytes.size, NULL));
    double x = 4, mean = 0;
    size_t which = 0;
    assert_ok(tacet_contextual_predict(model, &which, &mean, &x, 1, NULL));
    assert_close(mean, best.mean, 0.01); /* with the last batch, which was not released yet */
    tacet_contextual_model_free(model);
    tacet_blob_clear(&bytes);
    tacet_policy_free(policy);
    tacet_noise_close(ask.noise);
    tacet_central_map_free(map);
    tacet_features_free(features);
}
