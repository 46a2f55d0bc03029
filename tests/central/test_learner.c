/* SPDX-License-Identifier: Apache-2.0 */
/* test_learner.c - what the learner makes of released sums. */
#include "support/map_record.h"
#include "support/test.h"

#include "central/open/learner_batches.h"

#include <tacet/core/simrng.h>
#include "central/open/learner.h"

typedef struct fixture {
    tacet_features *features;
    tacet_central_map *map;
    tacet_central_learner *learner;
} fixture;

static const tacet_domain BALL = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = 2};

static void make_learner(fixture *f) {
    tacet_central_learner_settings settings;
    tacet_central_learner_settings_defaults(&settings);
    tacet_central_learner_free(f->learner);
    assert_ok(tacet_central_learner_create(&f->learner, f->map, &settings, NULL));
}

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    tacet_kernel *kernel = test_kernel("se", 2, 1);
    assert_ok(tacet_features_create_mercer(&f->features, kernel, &BALL, 12, 25, NULL));
    tacet_kernel_free(kernel);
    assert_ok(tacet_central_map_create(&f->map, f->features, &BALL, 15, 0, 1, NULL));
    make_learner(f);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    tacet_central_learner_free(f->learner);
    tacet_central_map_free(f->map);
    tacet_features_free(f->features);
    free(f);
    return 0;
}

static double truth(const double *x) {
    return 0.9 * exp(-0.5 * ((x[0] - 0.8) * (x[0] - 0.8) + (x[1] + 0.6) * (x[1] + 0.6)));
}

/* n plays at uniform points, as sums without noise. */
static void play(fixture *f, double *sums, size_t n, uint64_t seed) {
    tacet_simrng rng = test_rng(seed, 0);
    memset(sums, 0, 30 * sizeof(double));
    for (size_t t = 0; t < n; t++) {
        double x[2], s[30], work[27];
        do {
            x[0] = 4 * tacet_simrng_uniform(&rng) - 2;
            x[1] = 4 * tacet_simrng_uniform(&rng) - 2;
        } while (x[0] * x[0] + x[1] * x[1] > 4);
        map_record(f->map, s, work, x, tacet_simrng_uniform(&rng) < truth(x) ? 1 : 0);
        for (size_t i = 0; i < 30; i++) {
            sums[i] += s[i];
        }
        tacet_central_learner_played(f->learner);
    }
}

TEST(finds_the_peak) {
    fixture *f = *state;
    double sums[30];
    play(f, sums, 20000, 3);
    assert_false(tacet_central_learner_informed(f->learner));
    assert_ok(tacet_central_learner_update(f->learner, sums, 1, 20000, NULL));
    assert_true(tacet_central_learner_informed(f->learner));
    double x[2] = {0, 0}, mean = 0, sd = 0;
    tacet_central_learner_best(f->learner, x, &mean, &sd);
    assert_true(hypot(x[0] - 0.8, x[1] + 0.6) < 0.35);
    assert_close(mean, 0.9, 0.1);
    const double arms[6] = {-1.5, 0.5, 0.75, -0.5, 1.9, 0.2};
    double score = 0;
    assert_int_equal(tacet_central_learner_choose(f->learner, &score, arms, 2, 3, NULL), 1);
    double means[3], sds[3];
    tacet_central_learner_predict(f->learner, means, sds, arms, 2, 3);
    for (size_t j = 0; j < 3; j++) {
        assert_close(means[j], truth(arms + 2 * j), 0.1);
        assert_true(sds[j] > 0 && sds[j] < 0.75);
    }
    /* a logit with 1.5 standard deviations more, less where there is noise: of half the variance in each number */
    const double logit = log(means[1] / (1 - means[1])), spread = sds[1] / (means[1] * (1 - means[1]));
    assert_close(score, 1 / (1 + exp(-logit - 1.5 / (1 + sqrt(0.5) / 3) * spread)), 1e-12);
}

/* There is no floor: the more rounds, the closer, and the posterior says so. */
TEST(it_closes_in) {
    fixture *f = *state;
    const double arms[8] = {-1.5, 0.5, 0.75, -0.5, 1.9, 0.2, 0, 0};
    double sums[30], before = INFINITY, error[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        const size_t n = k == 0 ? 500 : 50000;
        double means[4], sds[4], x[2], best = 0, sd = 0;
        make_learner(f); /* afresh: the rounds of this test are never played by its scores */
        play(f, sums, n, 3);
        assert_ok(tacet_central_learner_update(f->learner, sums, 1, n, NULL));
        tacet_central_learner_predict(f->learner, means, sds, arms, 2, 4);
        for (size_t j = 0; j < 4; j++) {
            error[k] = fmax(error[k], fabs(means[j] - truth(arms + 2 * j)));
            assert_true(means[j] > 0 && means[j] < 1);
            assert_true(fabs(means[j] - truth(arms + 2 * j)) < 4 * sds[j] + 0.03); /* the grid's share */
        }
        assert_int_equal(tacet_central_learner_choose(f->learner, NULL, arms, 2, 3, NULL), 1);
        tacet_central_learner_best(f->learner, x, &best, &sd);
        assert_true(hypot(x[0] - 0.8, x[1] + 0.6) < (k == 0 ? 0.8 : 0.3));
        const double overall = tacet_central_learner_error(f->learner);
        assert_true(overall < before && overall > 0);
        before = overall;
    }
    assert_true(error[1] < 0.08 && error[1] < error[0] / 2);
}

/* What is loaded goes on with the same bits. */
TEST(states_go_on) {
    fixture *f = *state;
    double sums[30], x[2] = {0.3, 0.4}, a = 0, b = 0, sd = 0;
    tacet_blob bytes, again;
    tacet_blob_init(&bytes);
    tacet_blob_init(&again);
    play(f, sums, 300, 5);
    assert_ok(tacet_central_learner_update(f->learner, sums, 4, 300, NULL));
    assert_ok(tacet__state_save(&bytes, "learner", tacet__central_learner_state, f->learner, NULL));
    tacet_central_learner_settings s;
    tacet_central_learner_settings_defaults(&s);
    tacet_central_learner *other = NULL;
    assert_ok(tacet_central_learner_create(&other, f->map, &s, NULL));
    assert_ok(tacet__state_load(bytes.data, bytes.size, "learner", tacet__central_learner_state, other, NULL));
    assert_ok(tacet__state_save(&again, "learner", tacet__central_learner_state, other, NULL));
    assert_int_equal(bytes.size, again.size);
    assert_memory_equal(bytes.data, again.data, bytes.size);
    assert_ok(tacet_central_learner_update(f->learner, sums, 2, 300, NULL));
    assert_ok(tacet_central_learner_update(other, sums, 2, 300, NULL));
    tacet_central_learner_predict(f->learner, &a, &sd, x, 2, 1);
    tacet_central_learner_predict(other, &b, &sd, x, 2, 1);
    assert_true(a == b);
    tacet_central_learner_free(other);
    tacet_blob_clear(&bytes);
    tacet_blob_clear(&again);
}

/* More noise, wider posterior: the release is worth less. */
TEST(knows_its_noise) {
    fixture *f = *state;
    double sums[30], before = 0;
    for (int k = 0; k < 4; k++) {
        const double x[2] = {0.8, -0.6};
        make_learner(f);
        play(f, sums, 400, 4);
        double mean = 0, sd = 0;
        assert_ok(tacet_central_learner_update(f->learner, sums, pow(10, 2 * k), 400, NULL));
        tacet_central_learner_predict(f->learner, &mean, &sd, x, 2, 1);
        sd /= mean * (1 - mean); /* of the logit */
        assert_true(sd > before);
        before = sd;
    }
}

TEST(refuses_bad_releases) {
    fixture *f = *state;
    double sums[30];
    play(f, sums, 50, 5);
    assert_ok(tacet_central_learner_update(f->learner, sums, 4, 50, NULL));
    tacet_blob before, after;
    tacet_blob_init(&before);
    tacet_blob_init(&after);
    assert_ok(tacet__state_save(&before, "learner", tacet__central_learner_state, f->learner, NULL));
    assert_status(tacet_central_learner_update(f->learner, sums, 0, 50, NULL), TACET_INVALID);
    assert_status(tacet_central_learner_update(f->learner, sums, NAN, 50, NULL), TACET_INVALID);
    assert_status(tacet_central_learner_update(f->learner, sums, 4, 0, NULL), TACET_INVALID);
    sums[29] = INFINITY;
    assert_status(tacet_central_learner_update(f->learner, sums, 4, 50, NULL), TACET_INVALID);
    assert_ok(tacet__state_save(&after, "learner", tacet__central_learner_state, f->learner, NULL));
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
    /* damaged, and of other settings */
    before.data[before.size / 2] ^= 1;
    assert_status(
        tacet__state_load(before.data, before.size, "learner", tacet__central_learner_state, f->learner, NULL),
        TACET_CORRUPT);
    tacet_central_learner_settings settings;
    tacet_central_learner_settings_defaults(&settings);
    settings.typical_reward = 0.25;
    tacet_central_learner *other = NULL;
    assert_ok(tacet_central_learner_create(&other, f->map, &settings, NULL));
    assert_status(tacet__state_load(after.data, after.size, "learner", tacet__central_learner_state, other, NULL),
                  TACET_CORRUPT);
    assert_ok(tacet__state_load(after.data, after.size, "learner", tacet__central_learner_state, f->learner, NULL));
    tacet_central_learner_free(other);
    tacet_blob_clear(&before);
    tacet_blob_clear(&after);
}

TEST(refuses_settings) {
    fixture *f = *state;
    for (int k = 0; k < 4; k++) {
        tacet_central_learner_settings s;
        tacet_central_learner_settings_defaults(&s);
        s.typical_reward = k == 0 ? NAN : k == 1 ? 1 : s.typical_reward;
        s.grid = k == 2 ? 1 : s.grid;
        s.set_size = k == 3 ? 0 : s.set_size;
        tacet_central_learner *learner = NULL;
        assert_status(tacet_central_learner_create(&learner, f->map, &s, NULL), TACET_INVALID);
        assert_null(learner);
    }
}

TEST(failing_allocations) {
    fixture *f = *state;
    tacet_central_learner_settings settings;
    tacet_central_learner_settings_defaults(&settings);
    tacet_central_learner *learner = NULL;
    assert_each_alloc_fails(tacet_central_learner_create(&learner, f->map, &settings, NULL), learner == NULL);
    tacet_central_learner_free(learner);
}

TEST_EACH(setup, teardown)
