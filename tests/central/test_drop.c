/* SPDX-License-Identifier: Apache-2.0 */
/* test_drop.c - tickets that are never reported, and what each policy makes of it: nothing (central), a fixed public
 * reward (fixed), the same question once more (moma), a round without a report (ucb, contextual). */
#include "local/shared/ldp.h"
#include "support/gate.h"
#include "core/policy_internal.h"
#include "support/test.h"

#include <tacet/core/simrng.h>
#include <tacet/local/open/local.h>
#include "central/trusted/policy.h"
#include "central/trusted/direct.h"
#include "ab/trusted/earning.h"

enum { ARMS = 5, SEED = 11 };
static double points[ARMS];
static tacet_kernel *kernel;

static int setup(void **state) {
    kernel = test_kernel("se", 1, 0.4);
    for (size_t i = 0; i < ARMS; i++) {
        points[i] = (double)i / (ARMS - 1);
    }
    return 0;
}

static int teardown(void **state) {
    tacet_kernel_free(kernel);
    return 0;
}

static void same_states(const tacet_policy *a, const tacet_policy *b) {
    OWN_BLOB tacet_blob x;
    OWN_BLOB tacet_blob y;
    tacet_blob_init(&x);
    tacet_blob_init(&y);
    assert_ok(tacet_policy_save(a, &x, NULL));
    assert_ok(tacet_policy_save(b, &y, NULL));
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
}

/* What every policy with tickets owes. */
static void refuses(tacet_policy *policy, uint64_t open, uint64_t reported, uint64_t never) {
    assert_status(tacet_policy_drop(policy, 0, NULL), TACET_NOT_FOUND);
    assert_status(tacet_policy_drop(policy, never, NULL), TACET_NOT_FOUND);
    assert_status(tacet_policy_drop(policy, reported, NULL), TACET_CONFLICT);
    assert_ok(tacet_policy_drop(policy, open, NULL));
    assert_status(tacet_policy_drop(policy, open, NULL), TACET_CONFLICT);
    assert_status(tacet_policy_observe(policy, open, 0.5, NULL), TACET_CONFLICT);
}

/* --- fixed -------------------------------------------------------------------------------------------------- */

static tacet_policy *make_fixed(tacet_noise **noise) {
    tacet_central_direct_settings s;
    const tacet_central_arms list = {NULL, points, 1, ARMS};
    tacet_policy *policy = NULL;
    assert_ok(tacet_noise_open_seeded(noise, SEED, 0, NULL));
    const tacet_ask ask = {.noise = *noise, .ticket = "t", .what = "w", .to_whom = "x"};
    tacet_central_direct_settings_defaults(&s);
    s.eps = 5;
    s.rounds = 200;
    s.each = 2;
    s.reward_lo = -1;
    s.reward_hi = 3;
    assert_ok(tacet_central_direct_policy(&policy, &list, &s, &ask, NULL));
    return policy;
}

/* Dropping is observing the middle of the range, and what is open stops nothing. */
TEST(test_fixed) {
    tacet_noise *noise[3] = {0};
    tacet_policy *drops = make_fixed(&noise[0]);
    tacet_policy *middle = make_fixed(&noise[1]);
    tacet_suggestion s = {0};
    size_t moved = 0;
    for (size_t t = 1; t <= 150; t++) {
        tacet_suggestion other = {0};
        assert_ok(tacet_policy_suggest(drops, &s, NULL, NULL));
        assert_ok(tacet_policy_suggest(middle, &other, NULL, NULL));
        assert_int_equal(s.index, other.index);
        moved += s.index != 0;
        if (t % 3 == 0) {
            assert_ok(tacet_policy_drop(drops, t, NULL));
            assert_ok(tacet_policy_observe(middle, t, 1, NULL));
        } else {
            assert_ok(tacet_policy_observe(drops, t, s.index == 2 ? 3 : -1, NULL));
            assert_ok(tacet_policy_observe(middle, t, s.index == 2 ? 3 : -1, NULL));
        }
        same_states(drops, middle);
    }
    assert_true(moved > 0);
    tacet_policy *waits = make_fixed(&noise[2]);
    for (size_t t = 1; t <= 60; t++) {
        assert_ok(tacet_policy_suggest(waits, &s, NULL, NULL));
        if (t > 1) {
            assert_ok(tacet_policy_observe(waits, t, 0, NULL));
        }
    }
    refuses(waits, 1, 2, 61);
    tacet_policy_free(drops);
    tacet_policy_free(middle);
    tacet_policy_free(waits);
    for (size_t i = 0; i < 3; i++) {
        tacet_noise_close(noise[i]);
    }
}

/* --- central --------------------------------------------------------------------------------------------------------
 */

typedef struct central {
    tacet_features *features;
    tacet_central_map *map;
    tacet_noise *noise;
    tacet_policy *policy;
} central;

static void make_central(central *j, size_t open_most) {
    static const double LOWER[] = {0};
    static const double UPPER[] = {1};
    static const tacet_domain BOX = {.kind = TACET_DOMAIN_BOX, .d = 1, .lower = LOWER, .upper = UPPER};
    tacet_central_settings s;
    *j = (central){0};
    assert_ok(tacet_features_create_mercer(&j->features, kernel, &BOX, 32, 6, NULL));
    assert_ok(tacet_central_map_create(&j->map, j->features, &BOX, 4, 0, 1, NULL));
    j->noise = test_noise(SEED, 0);
    tacet_central_settings_defaults(&s);
    s.eps = 10;
    s.delta = 1e-5;
    s.rounds = 400;
    s.open_most = open_most;
    const tacet_ask ask = {.noise = j->noise, .ticket = "t", .what = "w", .to_whom = "x"};
    assert_ok(tacet_central_create(&j->policy, j->map, &s, &ask, NULL));
}

static void free_central(central *j) {
    tacet_policy_free(j->policy);
    tacet_central_map_free(j->map);
    tacet_features_free(j->features);
    tacet_noise_close(j->noise);
}

static uint64_t suggest_set(tacet_policy *policy, tacet_suggestion *s) {
    const tacet_round round = {.points = points, .ld = 1, .d = 1, .count = ARMS};
    assert_ok(tacet_policy_suggest(policy, s, &round, NULL));
    return s->ticket;
}

/* A dropped ticket is one that is never reported: all that follows is the same, and its place is free. */
TEST(test_central) {
    central drops;
    central never;
    make_central(&drops, 2);
    make_central(&never, 200);
    bool informed = false;
    for (size_t t = 1; t <= 300; t++) {
        tacet_suggestion s = {0};
        tacet_suggestion other = {0};
        (void)suggest_set(drops.policy, &s);
        (void)suggest_set(never.policy, &other);
        assert_int_equal(s.index, other.index);
        if (t % 3 == 0) {
            assert_ok(tacet_policy_drop(drops.policy, t, NULL));
        } else {
            assert_ok(tacet_policy_observe(drops.policy, t, s.index == 3, NULL));
            assert_ok(tacet_policy_observe(never.policy, t, s.index == 3, NULL));
        }
        tacet_recommendation best;
        informed = informed || tacet_policy_recommend(drops.policy, &best, NULL) == TACET_OK;
    }
    assert_true(informed);
    tacet_suggestion s = {0};
    (void)suggest_set(drops.policy, &s);
    refuses(drops.policy, 301, 1, 302);
    free_central(&drops);
    free_central(&never);
}

/* --- local -------------------------------------------------------------------------------------------------------- */

static tacet_policy *make_local(tacet_local_algorithm algorithm) {
    tacet_local_settings s;
    tacet_ldp ldp;
    tacet_policy *policy = NULL;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 2, 0, 1, NULL));
    tacet_local_settings_defaults(&s);
    s.algorithm = algorithm;
    s.parameters = TACET_LOCAL_TUNED;
    s.ldp = &ldp;
    s.bound = 1;
    s.noise_bound = 0.5;
    s.lanes = algorithm == TACET_LOCAL_MOMA ? 3 : 0;
    s.horizon = 300;
    const tacet_cov_spec cov = {.kernel = kernel};
    assert_ok(tacet_local_create(&policy, &s, &cov, points, 1, ARMS, NULL));
    return policy;
}

static double bit(tacet_simrng *rng) {
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 2, 0, 1, NULL));
    return tacet_ldp_bit(&ldp, tacet_simrng_uniform(rng) < 0.5);
}

/* An epoch asks its arm once more for each ticket that was dropped; then it is as if nothing had happened. */
TEST(test_moma) {
    OWN_POLICY tacet_policy *whole = make_local(TACET_LOCAL_MOMA);
    OWN_POLICY tacet_policy *torn = make_local(TACET_LOCAL_MOMA);
    tacet_simrng rng;
    size_t tickets = 0;
    tacet_simrng_init(&rng, 3, 0);
    for (size_t epoch = 0; epoch < 20; epoch++) {
        tacet_suggestion first = {0};
        uint64_t open[3];
        for (size_t i = 0; i < 3; i++) {
            tacet_suggestion a = {0};
            tacet_suggestion b = {0};
            assert_ok(tacet_policy_suggest(whole, &a, NULL, NULL));
            assert_ok(tacet_policy_suggest(torn, &b, NULL, NULL));
            first = i == 0 ? a : first;
            assert_int_equal(a.index, first.index);
            assert_int_equal(b.index, first.index);
            open[i] = b.ticket;
            tickets++;
        }
        assert_status(tacet_policy_suggest(torn, &first, NULL, NULL), TACET_STATE);
        for (size_t i = 0; i < 3; i++) {
            const double y = bit(&rng);
            assert_ok(tacet_policy_observe(whole, 3 * epoch + i + 1, y, NULL));
            if (i == epoch % 4) {
                tacet_suggestion again = {0};
                assert_ok(tacet_policy_drop(torn, open[i], NULL));
                assert_ok(tacet_policy_suggest(torn, &again, NULL, NULL));
                assert_int_equal(again.index, first.index);
                open[i] = again.ticket;
                tickets++;
            }
            assert_ok(tacet_policy_observe(torn, open[i], y, NULL));
        }
        tacet_recommendation a;
        tacet_recommendation b;
        assert_ok(tacet_policy_recommend(whole, &a, NULL));
        assert_ok(tacet_policy_recommend(torn, &b, NULL));
        assert_true(a.index == b.index && a.mean == b.mean && a.sd == b.sd);
    }
    assert_int_equal(tickets, 60 + 15);
}

/* A state with dropped tickets goes on bit for bit, whether reports are remembered or not. */
TEST(test_local_states) {
    for (int way = 0; way < 2; way++) {
        const tacet_local_algorithm algorithm = way == 0 ? TACET_LOCAL_MOMA : TACET_LOCAL_UCB;
        OWN_POLICY tacet_policy *policy = make_local(algorithm);
        OWN_POLICY tacet_policy *other = make_local(algorithm);
        tacet_simrng rng = test_rng(5, 0);
        for (size_t t = 1; t <= 60; t++) {
            tacet_suggestion a = {0};
            tacet_suggestion b = {0};
            OWN_BLOB tacet_blob bytes;
            tacet_blob_init(&bytes);
            assert_ok(tacet_policy_suggest(policy, &a, NULL, NULL));
            if (t > 1) {
                assert_ok(tacet_policy_suggest(other, &b, NULL, NULL));
                assert_true(a.index == b.index && a.ticket == b.ticket && a.score == b.score);
            }
            assert_ok(t % 4 == 0 ? tacet_policy_drop(policy, t, NULL)
                                 : tacet_policy_observe(policy, t, bit(&rng), NULL));
            assert_ok(tacet_policy_save(policy, &bytes, NULL));
            assert_ok(tacet_policy_load(other, bytes.data, bytes.size, NULL));
            same_states(policy, other);
        }
        tacet_suggestion s = {0};
        assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
        refuses(policy, s.ticket, 1, s.ticket + 1);
    }
}

/* --- the rest ----------------------------------------------------------------------------------------------------- */

TEST(test_contextual) {
    const tacet_space_options columns = {.bounds = "dose=0:1,age=0:1"};
    tacet_space space;
    OWN_NOISE tacet_noise *noise = NULL;
    OWN_POLICY tacet_policy *policy = NULL;
    const double list[3] = {0, 0.5, 1};
    const double context = 0.5;
    const tacet_round round = {.context = &context, .context_dim = 1};
    tacet_suggestion got = {0};
    assert_ok(tacet_space_short(&space, &columns, NULL));
    const tacet_ab_earning_settings s = {
        .space = &space, .action_columns = 1, .actions = list, .count = 3, .upper = 1, .eps = 1, .rounds = 10};
    assert_ok(tacet_noise_open_seeded(&noise, 1, 1, NULL));
    const tacet_ask ask = {.noise = noise, .ticket = "m", .what = "model", .to_whom = "test"};
    assert_ok(tacet_ab_earning_create(&policy, &s, &ask, NULL));
    tacet_space_clear(&space);
    assert_ok(tacet_policy_suggest(policy, &got, &round, NULL));
    assert_ok(tacet_policy_suggest(policy, &got, &round, NULL));
    assert_ok(tacet_policy_observe(policy, 1, 0.5, NULL));
    assert_status(tacet_policy_drop(policy, 1, NULL), TACET_CONFLICT);
    assert_status(tacet_policy_drop(policy, 3, NULL), TACET_NOT_FOUND);
    assert_status(tacet_policy_drop(policy, 0, NULL), TACET_NOT_FOUND);
    assert_ok(tacet_policy_drop(policy, 2, NULL));
}

static void nothing(void *self) {
    (void)self;
}

TEST(test_unsupported) {
    static const tacet__policy_ops NONE = {.name = "none", .free = nothing};
    OWN_POLICY tacet_policy *policy = NULL;
    tacet_error err = {0};
    assert_ok(tacet__policy_wrap(&policy, &NONE, NULL, NULL));
    assert_status(tacet_policy_drop(policy, 1, &err), TACET_UNSUPPORTED);
    assert_non_null(strstr(err.message, "none"));
}

TEST_ALL(setup, teardown)
