/* SPDX-License-Identifier: Apache-2.0 */
/* test_central.c - how far one round moves what central studies release, each with its default settings: decision sets
 * and rewards of many users (one round: its whole set and its reward), a public list of points, a space whose rewards
 * leave one by one (one round: its reward), and an A/B test (one ticket: its reward, and whether it was reported).
 * Rounds are replaced by others found by search: points at the corners and outside the domain, rewards at the ends and
 * far outside; some tickets are given up. */
#include "sensitivity/recorder.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ab/trusted/study.h"
#include "central/shared/features.h"
#include "central/trusted/direct.h"
#include "central/trusted/policy.h"
#include <tacet/core/simrng.h>

enum { ROUNDS = 90, ARMS = 6, POINTS = 40 };
static const double LOWER[] = {0, 0}, UPPER[] = {1, 1};
static const tacet_domain BOX = {.kind = TACET_DOMAIN_BOX, .d = 2, .lower = LOWER, .upper = UPPER};

typedef struct round_of {
    double points[2 * ARMS]; /* of decision sets */
    double reward;           /* whatever is played */
    bool dropped;
} round_of;

typedef struct study {
    const char *name;
    tacet_policy *(*make)(const tacet_ask *ask);
    bool sets;    /* rounds bring decision sets, which are private as well */
    bool reports; /* whether a round was reported is private as well */
    double eps;
} study;

static void play(const study *s, const round_of *rounds, recording *into, const recording *replay) {
    tacet_noise *noise = NULL;
    assert_ok(tacet_noise_open_seeded(&noise, 3, 3, NULL));
    const tacet_ask ask = {.noise = noise, .ticket = "study", .what = "w", .to_whom = "x"};
    tacet_policy *policy = s->make(&ask);
    recorder_begin(into, replay);
    for (size_t i = 0; i < ROUNDS; i++) {
        const tacet_round set = {.points = rounds[i].points, .ld = 2, .d = 2, .count = ARMS};
        tacet_suggestion got = {0};
        assert_ok(tacet_policy_suggest(policy, &got, s->sets ? &set : NULL, NULL));
        assert_ok(rounds[i].dropped ? tacet_policy_drop(policy, got.ticket, NULL)
                                    : tacet_policy_observe(policy, got.ticket, rounds[i].reward, NULL));
    }
    recorder_end();
    tacet_policy_free(policy);
    tacet_noise_close(noise);
}

/* Which tickets are given up is public in most studies (src/central/README.md): it stays. */
static void any_round(const study *s, round_of *r, tacet_simrng *rng) {
    const double u = tacet_simrng_uniform(rng);
    for (size_t i = 0; i < 2 * (size_t)ARMS && s->sets; i++) {
        const double v = tacet_simrng_uniform(rng);
        r->points[i] = v < 0.25 ? 0 : v < 0.5 ? 1 : v < 0.6 ? 30 : tacet_simrng_uniform(rng);
    }
    r->dropped = s->reports ? tacet_simrng_uniform(rng) < 0.3 : r->dropped;
    r->reward = u < 0.35 ? 0 : u < 0.7 ? 1 : u < 0.8 ? 1e9 : u < 0.9 ? -1e9 : tacet_simrng_uniform(rng);
}

static void check(const study *s, size_t pairs, double near) {
    round_of *rounds = calloc(ROUNDS, sizeof *rounds);
    recording first, second, third;
    movement m = {0};
    tacet_simrng rng;
    assert_non_null(rounds);
    tacet_simrng_init(&rng, 21, 1);
    for (size_t i = 0; i < ROUNDS; i++) {
        for (size_t j = 0; j < 2 * (size_t)ARMS; j++) {
            rounds[i].points[j] = tacet_simrng_uniform(&rng);
        }
        rounds[i].reward = tacet_simrng_uniform(&rng);
        rounds[i].dropped = tacet_simrng_uniform(&rng) < 0.03;
    }
    play(s, rounds, &first, NULL);
    for (size_t i = 0; i < pairs; i++) {
        const size_t at = (size_t)(tacet_simrng_uniform(&rng) * ROUNDS);
        const round_of kept = rounds[at];
        any_round(s, &rounds[at], &rng);
        play(s, rounds, &second, &first);
        any_round(s, &rounds[at], &rng);
        play(s, rounds, &third, &first);
        movement_add(&m, &first, &second);
        movement_add(&m, &second, &third);
        rounds[at] = kept;
        recording_clear(&second);
        recording_clear(&third);
    }
    print_message("%s: %zu draws, eps %.4f of %.4f, %g draws by one round\n", s->name, m.draws, m.eps, s->eps, m.moved);
    assert_true(m.draws >= 2 && m.moved == 1);
    assert_true(m.eps <= s->eps * (1 + 1e-9) && m.eps >= near * s->eps);
    recording_clear(&first);
    free(rounds);
}

static tacet_features *features;
static tacet_central_map *map;

static tacet_policy *make_sets(const tacet_ask *ask) {
    tacet_central_settings s;
    tacet_policy *policy = NULL;
    tacet_central_settings_defaults(&s);
    s.eps = 3;
    s.delta = 1e-3;
    s.rounds = ROUNDS;
    assert_ok(tacet_central_create(&policy, map, &s, ask, NULL));
    return policy;
}

TEST(test_a_round_of_decision_sets_moves_one_batch) {
    const study s = {.name = "decision sets", .make = make_sets, .sets = true, .eps = 3};
    tacet_kernel *kernel = test_kernel("matern52", 2, 0.5);
    assert_ok(tacet_features_create_mercer(&features, kernel, &BOX, 8, 20, NULL));
    assert_ok(tacet_central_map_create(&map, features, &BOX, 20, 0, 1, NULL));
    check(&s, 60, 0.7);
    tacet_central_map_free(map);
    tacet_features_free(features);
    tacet_kernel_free(kernel);
}

/* Nine arms that tell nothing of each other: counted, with Laplace noise. */
TEST(test_a_round_of_counted_arms_moves_one_batch) {
    static const size_t LEVELS[] = {3, 3};
    const tacet_domain levels = {.kind = TACET_DOMAIN_BOX, .d = 2, .lower = LOWER, .upper = UPPER, .levels = LEVELS};
    const study s = {.name = "counted arms", .make = make_sets, .sets = true, .eps = 3};
    tacet_kernel *kernel = test_kernel("matern52", 2, 0.2);
    assert_ok(tacet__central_features(&features, kernel, &levels, 20, NULL));
    assert_ok(tacet_central_map_create(&map, features, &levels, 9, 0, 1, NULL));
    check(&s, 60, 0.99);
    tacet_central_map_free(map);
    tacet_features_free(features);
    tacet_kernel_free(kernel);
}

static tacet_policy *make_list(const tacet_ask *ask) {
    static double points[2 * POINTS];
    const tacet_central_arms arms = {NULL, points, 2, POINTS};
    tacet_central_direct_settings s;
    tacet_policy *policy = NULL;
    tacet_simrng rng;
    tacet_simrng_init(&rng, 6, 6);
    for (size_t i = 0; i < 2 * (size_t)POINTS; i++) {
        points[i] = tacet_simrng_uniform(&rng);
    }
    tacet_central_direct_settings_defaults(&s);
    s.eps = 2;
    s.rounds = ROUNDS;
    s.each = 4;
    assert_ok(tacet_central_direct_policy(&policy, &arms, &s, ask, NULL));
    return policy;
}

TEST(test_a_reward_over_a_public_list_moves_one_sum) {
    const study s = {.name = "a public list", .make = make_list, .eps = 2};
    check(&s, 12, 0.99);
}

static tacet_policy *make_direct(const tacet_ask *ask) {
    static const char SPACE[] = "{\"columns\":[{\"name\":\"x\",\"kind\":\"real\",\"bounds\":[-2,3]},"
                                "{\"name\":\"k\",\"kind\":\"category\",\"levels\":[\"a\",\"b\",\"c\"]}]}";
    tacet_central_direct_settings s;
    tacet_policy *policy = NULL;
    tacet_space space;
    tacet_space_init(&space);
    assert_ok(tacet_space_decode(&space, SPACE, strlen(SPACE), NULL));
    tacet_central_direct_settings_defaults(&s);
    s.eps = 2;
    s.rounds = ROUNDS;
    assert_ok(tacet_central_direct_policy(&policy, &(tacet_central_arms){.space = &space}, &s, ask, NULL));
    tacet_space_clear(&space);
    return policy;
}

TEST(test_a_reward_that_leaves_at_once_moves_its_own_number) {
    const study s = {.name = "one by one", .make = make_direct, .eps = 2};
    check(&s, 12, 0.99);
}

static tacet_policy *make_ab(const tacet_ask *ask) {
    tacet_ab_study_settings s;
    tacet_policy *policy = NULL;
    tacet_ab_study_settings_defaults(&s);
    s.arms = 3;
    s.eps = 2;
    s.rounds = ROUNDS;
    s.first = 20;
    s.late = 5;
    assert_ok(tacet_ab_study_create(&policy, &s, ask, NULL));
    return policy;
}

TEST(test_a_report_of_an_ab_study_moves_one_sum_of_one_epoch) {
    const study s = {.name = "A/B", .make = make_ab, .reports = true, .eps = 2};
    check(&s, 60, 0.99);
}
