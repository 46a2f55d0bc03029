/* SPDX-License-Identifier: Apache-2.0 */
/* test_policy.c - the joint-DP policy: conformance, horizon, bad input. test_batches.c has the ledger and restarts. */
#include "support/conformance.h"
#include "support/gate.h"
#include "support/test.h"

#include <tacet/core/simrng.h>
#include "central/shared/features.h"
#include "central/trusted/policy.h"

enum { ARMS = 7, ROUNDS = 30 };
static const tacet_domain BALL = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = 2};
static tacet_features *features, *level_features;
static tacet_central_map *map, *other_map, *levels_map;
static const double LOWER[] = {-1, -1}, UPPER[] = {1, 1};
static const size_t LEVELS[] = {3, 3};
static const tacet_domain NINE = {.kind = TACET_DOMAIN_BOX, .d = 2, .lower = LOWER, .upper = UPPER, .levels = LEVELS};

static int setup(void **state) {
    tacet_kernel *kernel = test_kernel("se", 2, 1);
    assert_ok(tacet_features_create_mercer(&features, kernel, &BALL, 12, 20, NULL));
    tacet_kernel_free(kernel);
    kernel = test_kernel("matern52", 2, 0.4);
    assert_ok(tacet__central_features(&level_features, kernel, &NINE, 20, NULL));
    assert_ok(tacet_central_map_create(&levels_map, level_features, &NINE, 9, 0, 1, NULL));
    tacet_kernel_free(kernel);
    assert_ok(tacet_central_map_create(&map, features, &BALL, 15, 0, 1, NULL));
    assert_ok(tacet_central_map_create(&other_map, features, &BALL, 12, 0, 1, NULL));
    return 0;
}

static int teardown(void **state) {
    tacet_central_map_free(map);
    tacet_central_map_free(other_map);
    tacet_central_map_free(levels_map);
    tacet_features_free(level_features);
    tacet_features_free(features);
    return 0;
}

static void settings_for_tests(tacet_central_settings *s) {
    tacet_central_settings_defaults(s);
    s->eps = 10;
    s->delta = 0.1;
    s->rounds = ROUNDS;
    s->open_most = 8;
    s->first_epoch = 2;
    s->learner.grid = 40;
}

typedef tacet_status (*maker)(tacet_policy **out, const tacet_ask *ask, tacet_error *err);

static tacet_status seeded(tacet_policy **out, maker make, tacet_error *err) {
    *out = NULL;
    tacet_noise *noise = NULL;
    tacet_status status = tacet_noise_open_seeded(&noise, 7, 0, err);
    if (status != TACET_OK) {
        return status;
    }
    const tacet_ask ask = {.noise = noise, .ticket = "study", .what = "a bandit", .to_whom = "all users"};
    status = make(out, &ask, err);
    tacet_noise_close(noise);
    return status;
}

static tacet_status make_central(tacet_policy **out, const tacet_ask *ask, tacet_error *err) {
    tacet_central_settings s;
    settings_for_tests(&s);
    return tacet_central_create(out, map, &s, ask, err);
}

static tacet_status make_counted(tacet_policy **out, const tacet_ask *ask, tacet_error *err) {
    tacet_central_settings s;
    settings_for_tests(&s);
    return tacet_central_create(out, levels_map, &s, ask, err);
}

static tacet_status make_other(tacet_policy **out, const tacet_ask *ask, tacet_error *err) {
    tacet_central_settings s;
    settings_for_tests(&s);
    return tacet_central_create(out, other_map, &s, ask, err);
}

static tacet_status make_unknown_horizon(tacet_policy **out, const tacet_ask *ask, tacet_error *err) {
    tacet_central_settings s;
    settings_for_tests(&s);
    s.rounds = 0;
    return tacet_central_create(out, map, &s, ask, err);
}

static tacet_status create(void *user, tacet_policy **out, tacet_error *err) {
    const maker *makers = user;
    return seeded(out, makers[0], err);
}

static tacet_status create_foreign(void *user, tacet_policy **out, tacet_error *err) {
    const maker *makers = user;
    return seeded(out, makers[1], err);
}

static double points[2 * ARMS];

static void fill(double *X, size_t k) {
    tacet_simrng rng = test_rng(11, k);
    for (size_t i = 0; i < 2 * ARMS; i++) {
        X[i] = 2.6 * tacet_simrng_uniform(&rng) - 1.3;
    }
}

static void round_of(void *user, size_t k, tacet_round *out) {
    (void)user;
    fill(points, k);
    *out = (tacet_round){.points = points, .ld = 2, .d = 2, .count = ARMS};
}

static double value(void *user, size_t k, const tacet_suggestion *s) {
    (void)user;
    double X[2 * ARMS];
    fill(X, k);
    const double *x = X + 2 * s->index;
    return exp(-(x[0] - 0.5) * (x[0] - 0.5) - x[1] * x[1]);
}

static void conforms(maker first, maker second) {
    maker makers[2] = {first, second};
    const conformance_problem problem = {.create = create,
                                         .create_foreign = create_foreign,
                                         .round = round_of,
                                         .value = value,
                                         .user = makers,
                                         .rounds = 24,
                                         .may_allocate = true}; /* rewards out of range are clipped */
    test_policy_conformance(&problem);
}

TEST(conformance_known_horizon) {
    conforms(make_central, make_other);
}

TEST(conformance_unknown_horizon) {
    conforms(make_unknown_horizon, make_central);
}

TEST(conformance_of_counted_arms) {
    conforms(make_counted, make_central);
}

static tacet_status one_round(tacet_policy *policy, size_t k, tacet_suggestion *s) {
    double X[2 * ARMS];
    fill(X, k);
    const tacet_round round = {.points = X, .ld = 2, .d = 2, .count = ARMS};
    tacet_status status = tacet_policy_suggest(policy, s, &round, NULL);
    return status == TACET_OK ? tacet_policy_observe(policy, s->ticket, value(NULL, k, s), NULL) : status;
}

static void assert_same_state(const tacet_policy *policy, const tacet_blob *expected) {
    OWN_BLOB tacet_blob now;
    tacet_blob_init(&now);
    assert_ok(tacet_policy_save(policy, &now, NULL));
    assert_int_equal(now.size, expected->size);
    assert_memory_equal(now.data, expected->data, now.size);
}

TEST(refuses_bad_rounds) {
    OWN_POLICY tacet_policy *policy = NULL;
    assert_ok(seeded(&policy, make_central, NULL));
    tacet_suggestion s;
    assert_ok(one_round(policy, 0, &s));
    OWN_BLOB tacet_blob before;
    tacet_blob_init(&before);
    assert_ok(tacet_policy_save(policy, &before, NULL));
    double X[3 * ARMS] = {0};
    const tacet_round empty = {.points = X, .ld = 2, .d = 2, .count = 0};
    const tacet_round deeper = {.points = X, .ld = 3, .d = 3, .count = ARMS};
    const tacet_round context = {.points = X, .ld = 2, .d = 2, .count = ARMS, .context = X, .context_dim = 1};
    tacet_error err;
    tacet_error_clear(&err);
    assert_status(tacet_policy_suggest(policy, &s, &empty, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "decision set is empty"));
    tacet_error_clear(&err);
    assert_status(tacet_policy_suggest(policy, &s, &deeper, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "3 dimensions"));
    assert_status(tacet_policy_suggest(policy, &s, &context, NULL), TACET_INVALID);
    X[1] = NAN;
    const tacet_round holes = {.points = X, .ld = 2, .d = 2, .count = ARMS};
    assert_status(tacet_policy_suggest(policy, &s, &holes, NULL), TACET_INVALID);
    assert_same_state(policy, &before);
    X[1] = 0;
    assert_ok(tacet_policy_suggest(policy, &s, &holes, NULL));
    tacet_error_clear(&err);
    assert_status(tacet_policy_observe(policy, s.ticket, NAN, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "not finite"));
    assert_ok(tacet_policy_observe(policy, s.ticket, -0.01, NULL));
}

/* Neighbours by a reward far outside the range are neighbours: the record is clipped and stays in its batch. Were it
 * refused, it would be missing, and each later batch would begin one record later. */
TEST(a_wild_reward_is_one_record) {
    static const double WILD[] = {7, 1e300, -7, -1e300};
    for (size_t m = 0; m < 4; m++) {
        tacet_blob states[2];
        for (size_t world = 0; world < 2; world++) {
            OWN_POLICY tacet_policy *policy = NULL;
            tacet_suggestion s;
            tacet_round round;
            assert_ok(seeded(&policy, make_central, NULL));
            for (size_t k = 0; k < ROUNDS; k++) {
                round_of(NULL, k, &round);
                assert_ok(tacet_policy_suggest(policy, &s, &round, NULL));
                const double reward = k == 1 ? (world == 0 ? WILD[m] > 0 : WILD[m]) : value(NULL, k, &s);
                assert_ok(tacet_policy_observe(policy, s.ticket, reward, NULL));
            }
            tacet_blob_init(&states[world]);
            assert_ok(tacet_policy_save(policy, &states[world], NULL));
        }
        assert_int_equal(states[0].size, states[1].size);
        assert_memory_equal(states[0].data, states[1].data, states[0].size);
        tacet_blob_clear(&states[0]);
        tacet_blob_clear(&states[1]);
    }
}

TEST(ends_at_the_horizon) {
    tacet_policy *policy = NULL;
    assert_ok(seeded(&policy, make_central, NULL));
    tacet_suggestion s;
    for (size_t k = 0; k < ROUNDS; k++) {
        assert_ok(one_round(policy, k, &s));
    }
    double X[2 * ARMS];
    fill(X, ROUNDS);
    const tacet_round round = {.points = X, .ld = 2, .d = 2, .count = ARMS};
    assert_status(tacet_policy_suggest(policy, &s, &round, NULL), TACET_STATE); /* before anybody plays it */
    tacet_recommendation r;
    assert_ok(tacet_policy_recommend(policy, &r, NULL));
    assert_true(r.index == SIZE_MAX && isfinite(r.mean) && r.sd > 0);
    tacet_policy_free(policy);
    assert_ok(seeded(&policy, make_unknown_horizon, NULL));
    for (size_t k = 0; k < 40 * ROUNDS; k++) {
        assert_ok(one_round(policy, k, &s));
    }
    tacet_policy_free(policy);
}

TEST(every_batch_says_how_many_reports_it_lacks) {
    OWN_POLICY tacet_policy *policy = NULL;
    tacet_suggestion s;
    uint64_t rounds = 0, left = 0, releases = 0;
    assert_ok(seeded(&policy, make_central, NULL));
    assert_ok(tacet_central_batch(policy, &rounds, &left, NULL));
    assert_true(rounds >= 2 && left == rounds);
    for (size_t k = 0; k < ROUNDS; k++) {
        const uint64_t before = left;
        assert_ok(one_round(policy, k, &s));
        assert_ok(tacet_central_batch(policy, &rounds, &left, NULL));
        assert_true(before == 0 ? left == rounds - 1 : left == before - 1);
        releases += left == 0 ? 1 : 0;
    }
    assert_true(left == 0 && releases >= 3);
}

/* README.md, (c) and (g): longer under more noise, which is public. 65536 is the longest that the gate's grid takes. */
TEST(the_first_batch_follows_the_noise) {
    static const struct {
        bool counted;
        double eps, first_epoch;
        uint64_t rounds;
    } CASES[] = {{false, 100, 0, 5},  {false, 10, 0, 6},   {false, 3, 0, 8},  {false, 1, 0, 12},
                 {false, 0.2, 0, 34}, {false, 0.1, 0, 43}, {false, 10, 3, 5}, {false, 10, 1e6, 65536},
                 {true, 0.1, 0, 90},  {true, 1, 0, 90},    {true, 2, 0, 45},  {true, 100, 0, 27}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const tacet_ask ask = test_ask(1, 1);
        tacet_central_settings s;
        tacet_policy *policy = NULL;
        uint64_t rounds = 0, left = 0;
        tacet_central_settings_defaults(&s);
        s.eps = CASES[i].eps;
        s.delta = 0.1;
        s.first_epoch = CASES[i].first_epoch;
        assert_ok(tacet_central_create(&policy, CASES[i].counted ? levels_map : map, &s, &ask, NULL));
        assert_ok(tacet_central_batch(policy, &rounds, &left, NULL));
        assert_int_equal(rounds, CASES[i].rounds);
        tacet_policy_free(policy);
        tacet_noise_close(ask.noise);
    }
}

/* A log that was cut or put together says another ticket, or an arm that there was not. */
TEST(repeats_the_next_ticket_only) {
    OWN_POLICY tacet_policy *policy = NULL;
    tacet_round round;
    assert_ok(seeded(&policy, make_central, NULL));
    round_of(NULL, 0, &round);
    for (uint64_t i = 0; i < 2; i++) {
        const tacet_suggestion skipped = {.ticket = i + 2}, arm = {.ticket = i + 1, .index = ARMS};
        const tacet_suggestion next = {.ticket = i + 1, .index = ARMS - 1};
        assert_status(tacet_policy_repeat(policy, &skipped, &round, NULL), TACET_CORRUPT);
        assert_status(tacet_policy_repeat(policy, &arm, &round, NULL), TACET_CORRUPT);
        assert_ok(tacet_policy_repeat(policy, &next, &round, NULL));
        assert_status(tacet_policy_repeat(policy, &next, &round, NULL), TACET_CORRUPT);
        assert_ok(tacet_policy_observe(policy, next.ticket, 1, NULL));
    }
}

TEST(limits_open_tickets) {
    OWN_POLICY tacet_policy *policy = NULL;
    assert_ok(seeded(&policy, make_central, NULL));
    double X[2 * ARMS];
    fill(X, 0);
    const tacet_round round = {.points = X, .ld = 2, .d = 2, .count = ARMS};
    tacet_suggestion s;
    for (int k = 0; k < 8; k++) {
        assert_ok(tacet_policy_suggest(policy, &s, &round, NULL));
    }
    assert_status(tacet_policy_suggest(policy, &s, &round, NULL), TACET_STATE);
    assert_ok(tacet_policy_observe(policy, 3, 1, NULL));
    assert_ok(tacet_policy_suggest(policy, &s, &round, NULL));
    assert_int_equal(s.ticket, 9);
    assert_status(tacet_policy_observe(policy, 3, 1, NULL), TACET_CONFLICT);
}

TEST(refuses_settings) {
    const tacet_ask ask = test_ask(1, 1);
    for (int k = 0; k < 9; k++) {
        tacet_central_settings s;
        settings_for_tests(&s);
        s.eps = k == 0 ? NAN : s.eps;
        s.delta = k == 1 ? -1 : (k == 2 ? 1 : s.delta);
        s.growth = k == 3 ? 0.9 : s.growth;
        s.first_epoch = k == 4 ? -1 : (k == 8 ? 1e6 + 1 : s.first_epoch);
        s.open_most = k == 5 ? 0 : s.open_most;
        s.learner.typical_reward = k == 6 ? 1 : s.learner.typical_reward;
        tacet_policy *policy = NULL;
        assert_status(tacet_central_create(&policy, map, &s, k == 7 ? NULL : &ask, NULL), TACET_INVALID);
        assert_null(policy);
    }
    tacet_noise_close(ask.noise);
}

TEST_ALL(setup, teardown)
