/* SPDX-License-Identifier: Apache-2.0 */
/* test_stated.c - three times the stated error covers the true one where the model's own belief is wrong: a sum over
 * groups where actions and contexts of different groups interact, rare two-valued rewards, rewards that are mostly 0.
 */
#include "support/gate.h"
#include "support/test.h"

#include <math.h>
#include <string.h>
#include <tacet/contextual/trusted/learn.h>
#include <tacet/core/simrng.h>

enum { RUNS = 5, POINTS = 500, DIM = 7 };

typedef struct world {
    size_t contexts, rows;
    bool grouped;
    double (*mean)(const double *w, uint64_t seed);
    double (*reward)(const double *w, uint64_t seed, tacet_simrng *rng);
} world;

/* The action suits the fourth and sixth context, of which no group has both. */
static double crossed(const double *w, uint64_t seed) {
    const double turn = 0.2 * (double)(seed % 5);
    return 0.35 * cos(3 * (w[0] - w[4] - turn)) + 0.2 * cos(4 * (w[0] - w[6])) + 0.2 * sin(3 * w[1]);
}
static double crossed_reward(const double *w, uint64_t seed, tacet_simrng *rng) {
    return crossed(w, seed) + 0.05 * tacet_simrng_normal(rng);
}

/* About 3 % of ones, in [-1, 1]; one narrow stretch of actions has ten times as many. */
static double rare(const double *w, uint64_t seed) {
    const double at = 0.1 * (double)(1 + seed % 8);
    const double rate = 0.02 * (1 + w[1]) + (fabs(w[0] - at) < 0.03 ? 0.3 : 0);
    return 2 * rate - 1;
}
static double rare_reward(const double *w, uint64_t seed, tacet_simrng *rng) {
    return 2 * tacet_simrng_uniform(rng) - 1 < rare(w, seed) ? 1 : -1;
}

/* Nothing in 97 % of rounds; then an amount of 0 to 1, mean 0.2 exp(.18), cut at 2. */
static double amounts(const double *w, uint64_t seed) {
    const double at = 0.1 * (double)(1 + seed % 8);
    return (0.03 + (fabs(w[0] - at) < 0.04 ? 0.5 : 0)) * 0.24 - 1;
}
static double amounts_reward(const double *w, uint64_t seed, tacet_simrng *rng) {
    const double rate = (amounts(w, seed) + 1) / 0.24;
    const double amount = fmin(0.2 * exp(0.6 * tacet_simrng_normal(rng)), 2);
    return tacet_simrng_uniform(rng) < rate ? amount - 1 : -1;
}

static void draw(double *w, size_t d, tacet_simrng *rng) {
    for (size_t c = 0; c < d; c++) {
        w[c] = tacet_simrng_uniform(rng);
    }
}

/* Whether three times what is stated covers the true root mean square in one run. */
static bool covers(const world *at, uint64_t seed) {
    static const double LOWER[DIM] = {0}, UPPER[DIM] = {1, 1, 1, 1, 1, 1, 1}, LENGTH = 0.3;
    static const size_t GROUPS[DIM] = {0, 0, 0, 1, 1, 2, 2};
    const size_t d = 1 + at->contexts;
    tacet_contextual_space space;
    tacet_contextual_settings settings;
    tacet_contextual_basis *basis = NULL;
    tacet_contextual_learner *l = NULL;
    tacet_contextual_model *model = NULL;
    tacet_noise *noise = test_noise(91, seed);
    tacet_simrng rng = test_rng(92, seed);
    double w[DIM], square = 0;
    tacet_contextual_space_defaults(&space);
    space.context_dim = at->contexts;
    space.lower = LOWER;
    space.upper = UPPER;
    space.lengthscales = &LENGTH;
    space.lengthscale_count = 1;
    space.groups = at->grouped ? GROUPS : NULL;
    tacet_contextual_settings_defaults(&settings);
    assert_ok(tacet_contextual_basis_create(&basis, &space, 0, NULL));
    assert_ok(tacet_contextual_learner_create(&l, basis, &settings, NULL));
    for (size_t i = 0; i < at->rows; i++) {
        draw(w, d, &rng);
        assert_ok(tacet_contextual_learner_add(l, w, at->reward(w, seed, &rng), NULL));
    }
    const tacet_ask ask = {.noise = noise, .ticket = "m", .what = "model", .to_whom = "test"};
    assert_ok(tacet_contextual_release(l, &model, &ask, NULL));
    for (size_t i = 0; i < POINTS; i++) {
        double mean = 0;
        size_t best = 0;
        draw(w, d, &rng);
        assert_ok(tacet_contextual_predict(model, &best, &mean, w, 1, w + 1, NULL));
        square += (mean - at->mean(w, seed)) * (mean - at->mean(w, seed)) / POINTS;
    }
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    const bool good = TACET_CONTEXTUAL_LIKELY * p->predicted_error >= sqrt(square);
    print_message("  rms %.3f, stated %.3f, outcomes %.3f\n", sqrt(square), p->predicted_error, p->outcome_error);
    tacet_contextual_model_free(model);
    tacet_contextual_learner_free(l);
    tacet_contextual_basis_free(basis);
    tacet_noise_close(noise);
    return good;
}

static void check(const world *at) {
    size_t covered = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        covered += covers(at, seed);
    }
    assert_int_equal(covered, RUNS);
}

/* The seeds are fixed: no false alarms. */
static void test_groups_that_interact(void **state) {
    check(&(world){.contexts = 6, .rows = 4000, .grouped = true, .mean = crossed, .reward = crossed_reward});
}
static void test_rare_rewards(void **state) {
    check(&(world){.contexts = 1, .rows = 30000, .mean = rare, .reward = rare_reward});
}
static void test_mostly_nothing(void **state) {
    check(&(world){.contexts = 1, .rows = 30000, .mean = amounts, .reward = amounts_reward});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups_that_interact), cmocka_unit_test(test_rare_rewards),
                                       cmocka_unit_test(test_mostly_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
