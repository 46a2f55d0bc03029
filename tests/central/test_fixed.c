/* SPDX-License-Identifier: Apache-2.0 */
/* test_fixed.c - fixed domains: tickets, ledger, restarts, and that it learns. */
#include "support/conformance.h"
#include "support/gate.h"
#include "support/test.h"

#include <tacet/gp/features.h>
#include <tacet/core/simrng.h>
#include <tacet/central/trusted/fixed.h>

enum { CHOICES = 21, FEATURES = 6, GROUPS = 2 };
static double Phi[FEATURES * CHOICES];
static tacet_fixed_group groups[GROUPS];

static int setup(void **state) {
    tacet_kernel *kernel = test_kernel("se", 1, 0.4);
    tacet_features *features = NULL;
    double X[CHOICES];
    for (size_t i = 0; i < CHOICES; i++) {
        X[i] = (double)i / (CHOICES - 1);
    }
    assert_ok(tacet_features_create_mercer_points(&features, kernel, X, 1, NULL, CHOICES, FEATURES, NULL));
    tacet_features_eval(features, Phi, X, 1, CHOICES);
    for (size_t g = 0; g < GROUPS; g++) {
        groups[g] = (tacet_fixed_group){Phi, tacet_features_dim(features), CHOICES};
    }
    tacet_features_free(features);
    tacet_kernel_free(kernel);
    return 0;
}

static tacet_central_fixed_settings settings_for_tests(void) {
    tacet_central_fixed_settings s;
    tacet_central_fixed_settings_defaults(&s);
    s.eps = 5;
    s.delta = 1e-5;
    s.rounds = 3000;
    return s;
}

static tacet_central_fixed *create_fixed(const tacet_central_fixed_settings *s, const tacet_ask *ask) {
    tacet_central_fixed *f = NULL;
    assert_ok(tacet_central_fixed_create(&f, groups, GROUPS, s, ask, NULL));
    return f;
}

/* Best at choices 15 and 4. */
static double truth(const size_t *arm) {
    const double a = ((double)arm[0] - 15) / 20, b = ((double)arm[1] - 4) / 20;
    return 0.9 - 0.5 * a * a - 0.6 * b * b;
}

static void learns(void **state) {
    const tacet_ask ask = test_ask(3, 0);
    tacet_central_fixed_settings s = settings_for_tests();
    tacet_central_fixed *f = create_fixed(&s, &ask);
    tacet_guarantee g;
    tacet_central_fixed_guarantee(f, &g);
    assert_true(!g.proven && isinf(g.eps));
    tacet_simrng rng = test_rng(8, 0);
    size_t arm[GROUPS];
    uint64_t ticket = 0;
    for (size_t t = 0; t < s.rounds; t++) {
        assert_ok(tacet_central_fixed_suggest(f, arm, &ticket, NULL));
        assert_int_equal(ticket, t + 1);
        const double y = fmin(fmax(truth(arm) + 0.1 * tacet_simrng_normal(&rng), 0), 1);
        assert_ok(tacet_central_fixed_observe(f, ticket, y, NULL));
    }
    assert_status(tacet_central_fixed_suggest(f, arm, &ticket, NULL), TACET_STATE);
    const double best = tacet_central_fixed_best(f, arm);
    assert_true(truth(arm) > 0.87);
    assert_close(best, 0.9, 0.06);
    tacet_central_fixed_free(f);
    tacet_noise_close(ask.noise);
}

/* What is left to the horizon and the noise: a short study looks around longer before its first release, and so does a
 * long one over a list of arms (one group) under much noise: at eps = 1, delta = 1e-5 six numbers have noise of 2.5. */
static void first_batch_by_horizon(void **state) {
    const tacet_ask ask = test_ask(4, 0);
    const struct {
        uint64_t rounds;
        size_t given, first, groups;
        double eps;
    } cases[] = {{300, 0, 50, GROUPS, 1},  {160, 0, 40, GROUPS, 1},  {60, 0, 30, GROUPS, 1}, {301, 0, 30, GROUPS, 1},
                 {300, 20, 20, GROUPS, 1}, {4000, 0, 30, GROUPS, 1}, {4000, 0, 50, 1, 1},    {400, 0, 40, 1, 1},
                 {4000, 0, 30, 1, 10},     {300, 0, 50, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacet_central_fixed_settings s = settings_for_tests();
        s.rounds = cases[i].rounds;
        s.first_batch = cases[i].given;
        s.eps = cases[i].eps;
        tacet_central_fixed *f = NULL;
        assert_ok(tacet_central_fixed_create(&f, groups, cases[i].groups, &s, &ask, NULL));
        for (size_t t = 0; t <= cases[i].first; t++) {
            size_t arm[GROUPS] = {0};
            uint64_t ticket = 0;
            assert_ok(tacet_central_fixed_suggest(f, arm, &ticket, NULL));
            assert_int_equal(tacet_central_fixed_informed(f), t == cases[i].first);
            assert_true(t == cases[i].first || tacet_central_fixed_lacking(f) == cases[i].first - t);
            assert_ok(tacet_central_fixed_observe(f, ticket, truth(arm), NULL));
        }
        tacet_central_fixed_free(f);
    }
    tacet_noise_close(ask.noise);
}

/* Nothing is suggested after the last batch, so its last report releases it: a study of one batch ends with a model,
 * and a state saved then is whole. A rest of less than half a batch joins the batch before it. */
static void last_batch_is_released(void **state) {
    const tacet_ask ask = test_ask(4, 0);
    tacet_central_fixed_settings s = settings_for_tests();
    s.first_batch = 30;
    s.rounds = 40;
    for (int drop = 0; drop < 2; drop++) {
        tacet_blob blob;
        tacet_blob_init(&blob);
        tacet_central_fixed *f = create_fixed(&s, &ask), *g = create_fixed(&s, &ask);
        size_t arm[GROUPS];
        uint64_t ticket = 0;
        for (size_t t = 0; t < s.rounds; t++) {
            assert_ok(tacet_central_fixed_suggest(f, arm, &ticket, NULL));
            assert_false(tacet_central_fixed_informed(f)); /* one batch, all 40 rounds */
            assert_ok(drop == 1 && t + 1 == s.rounds ? tacet_central_fixed_drop(f, ticket, NULL)
                                                     : tacet_central_fixed_observe(f, ticket, truth(arm), NULL));
        }
        assert_true(tacet_central_fixed_informed(f));
        assert_int_equal(tacet_central_fixed_ended(f), s.rounds);
        assert_status(tacet_central_fixed_suggest(f, arm, &ticket, NULL), TACET_STATE);
        assert_status(tacet_central_fixed_observe(f, s.rounds, 0.5, NULL), TACET_CONFLICT);
        assert_ok(tacet_central_fixed_save(f, &blob, NULL));
        assert_ok(tacet_central_fixed_load(g, blob.data, blob.size, NULL));
        size_t other[GROUPS];
        assert_true(tacet_central_fixed_best(f, arm) == tacet_central_fixed_best(g, other));
        tacet_blob_clear(&blob);
        tacet_central_fixed_free(f);
        tacet_central_fixed_free(g);
    }
    tacet_noise_close(ask.noise);
}

static void refuses(void **state) {
    const tacet_ask ask = test_ask(3, 0);
    tacet_central_fixed *f = NULL;
    for (int k = 0; k < 6; k++) {
        tacet_central_fixed_settings s = settings_for_tests();
        s.eps = k == 0 ? NAN : s.eps;
        s.delta = k == 1 ? -1 : s.delta;
        s.rounds = k == 2 ? 0 : s.rounds;
        s.growth = k == 3 ? 1 : s.growth;
        s.reward_hi = k == 4 ? 0 : s.reward_hi;
        assert_status(tacet_central_fixed_create(&f, groups, GROUPS, &s, k == 5 ? NULL : &ask, NULL), TACET_INVALID);
        assert_null(f);
    }
    tacet_central_fixed_settings s = settings_for_tests();
    s.open_most = 2;
    assert_ok(tacet_central_fixed_create(&f, groups, GROUPS, &s, &ask, NULL));
    size_t arm[GROUPS];
    uint64_t ticket = 0;
    assert_status(tacet_central_fixed_observe(f, 1, 0.5, NULL), TACET_NOT_FOUND);
    assert_ok(tacet_central_fixed_suggest(f, arm, &ticket, NULL));
    assert_ok(tacet_central_fixed_suggest(f, arm, &ticket, NULL));
    assert_status(tacet_central_fixed_suggest(f, arm, &ticket, NULL), TACET_STATE); /* two are open */
    assert_status(tacet_central_fixed_observe(f, 1, NAN, NULL), TACET_INVALID);
    assert_ok(tacet_central_fixed_observe(f, 1, 1.01, NULL)); /* clipped */
    assert_status(tacet_central_fixed_observe(f, 1, 1, NULL), TACET_CONFLICT);
    tacet_central_fixed_free(f);
    tacet_noise_close(ask.noise);
}

/* Plays rounds up to `until` with rewards shifted by `shift`; returns the last arm. */
static void play(tacet_central_fixed *f, uint64_t until, double shift, size_t *arm) {
    uint64_t ticket = 0;
    while (ticket < until) {
        assert_ok(tacet_central_fixed_suggest(f, arm, &ticket, NULL));
        assert_ok(tacet_central_fixed_observe(f, ticket, truth(arm) - shift, NULL));
    }
}

/* A batch once released is answered from the ledger: rolled back to an older state, with other rewards reported, the
 * study sees the old release and no second one. All batches cost one budget. */
static void rolled_back(void **state) {
    const char *folder = test_mkdir();
    char path[512];
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
    tacet_ledger_settings budget;
    tacet_ledger_settings_defaults(&budget);
    budget.eps = 5.01;
    tacet_ledger *ledger = NULL;
    assert_ok(tacet_ledger_open(&ledger, path, &budget, NULL));
    const tacet_ask ask = {.ledger = ledger, .ticket = "study", .what = "w", .to_whom = "x"};
    tacet_central_fixed_settings s = settings_for_tests();
    tacet_central_fixed *f = NULL, *g = NULL;
    assert_ok(tacet_central_fixed_create(&f, groups, GROUPS, &s, &ask, NULL));
    size_t arm[GROUPS], other[GROUPS];
    play(f, 10, 0, arm);
    tacet_blob saved;
    tacet_blob_init(&saved);
    assert_ok(tacet_central_fixed_save(f, &saved, NULL));
    play(f, 120, 0, arm); /* two batches released */
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_true(totals.entries >= 2 && totals.eps <= 5.01);
    const uint64_t entries = totals.entries;
    assert_ok(tacet_central_fixed_create(&g, groups, GROUPS, &s, &ask, NULL));
    assert_ok(tacet_central_fixed_load(g, saved.data, saved.size, NULL));
    play(g, 120, 0.3, other);
    assert_memory_equal(arm, other, sizeof arm);
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, entries);
    tacet_central_fixed_free(g);
    tacet_ask elsewhere = ask;
    elsewhere.ticket = "another";
    assert_ok(tacet_central_fixed_create(&g, groups, GROUPS, &s, &elsewhere, NULL));
    assert_status(tacet_central_fixed_load(g, saved.data, saved.size, NULL), TACET_CORRUPT);
    saved.data[saved.size / 2] ^= 1;
    assert_status(tacet_central_fixed_load(f, saved.data, saved.size, NULL), TACET_CORRUPT);
    tacet_central_fixed_free(f);
    tacet_central_fixed_free(g);
    tacet_blob_clear(&saved);
    tacet_ledger_close(ledger);
    test_rmdir(folder);
}

static void failing_allocations(void **state) {
    const tacet_ask ask = test_ask(3, 0);
    tacet_central_fixed_settings s = settings_for_tests();
    tacet_central_fixed *f = NULL;
    assert_each_alloc_fails(tacet_central_fixed_create(&f, groups, GROUPS, &s, &ask, NULL), f == NULL);
    tacet_central_fixed_free(f);
    tacet_noise_close(ask.noise);
}

/* --- behind the interface of all policies --- */

enum { POINTS = 40, ROUNDS = 20 };

typedef struct pool {
    tacet_noise *noise;
    tacet_ledger *ledger; /* shared: a batch that one copy released is what the others see */
    double points[2 * POINTS];
    double scale; /* of the kernel */
} pool;

static tacet_status make(const pool *p, tacet_policy **out, double scale, tacet_error *err) {
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    spec.d = 2;
    spec.lengthscales = &scale;
    tacet_kernel *kernel = NULL;
    *out = NULL;
    tacet_status status = tacet_kernel_create(&kernel, &spec, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_central_fixed_settings s = settings_for_tests();
    s.rounds = 64;
    s.first_batch = 4;
    s.open_most = 8;
    const tacet_ask ask = {
        .ledger = p->ledger, .noise = p->noise, .ticket = "pool", .what = "a bandit", .to_whom = "all users"};
    status = tacet_central_fixed_policy_points(out, kernel, p->points, 2, POINTS, 8, &s, &ask, err);
    tacet_kernel_free(kernel);
    return status;
}

static tacet_status create(void *user, tacet_policy **out, tacet_error *err) {
    return make(user, out, 0.5, err);
}

static tacet_status create_foreign(void *user, tacet_policy **out, tacet_error *err) {
    return make(user, out, 0.7, err);
}

static double value(void *user, size_t k, const tacet_suggestion *s) {
    const pool *p = user;
    return 0.3 + 0.4 * p->points[2 * s->index] + 0.01 * (double)(k % 3);
}

static void begin_pool(pool *p, char *path, size_t room) {
    *p = (pool){0}; /* no noise of its own: the ledger mints it */
    (void)snprintf(path, room, "%s/ledger.db", test_mkdir());
    tacet_ledger_settings budget;
    tacet_ledger_settings_defaults(&budget);
    budget.eps = 5.01;
    assert_ok(tacet_ledger_open(&p->ledger, path, &budget, NULL));
    for (size_t i = 0; i < POINTS; i++) {
        p->points[2 * i] = (double)(i % 8) / 7;
        p->points[2 * i + 1] = (double)(i / 8) / 4; /* NOLINT(bugprone-integer-division) */
    }
}

static void end_pool(pool *p, char *path) {
    tacet_noise_close(p->noise);
    tacet_ledger_close(p->ledger);
    *strrchr(path, '/') = '\0';
    test_rmdir(path);
}

static void conformance(void **state) {
    pool p = {0};
    char path[512];
    begin_pool(&p, path, sizeof path);
    const conformance_problem problem = {.create = create,
                                         .create_foreign = create_foreign,
                                         .value = value,
                                         .user = &p,
                                         .rounds = ROUNDS,
                                         .one_at_a_time = false,
                                         .may_allocate = true};
    test_policy_conformance(&problem);
    end_pool(&p, path);
}

/* Open tickets of a batch, reported in any order: the same sum, so the same release from a noise that knows no better.
 */
static void any_order(void **state) {
    tacet_blob blobs[2];
    for (int k = 0; k < 2; k++) {
        const tacet_ask ask = test_ask(3, 0);
        tacet_central_fixed_settings s = settings_for_tests();
        s.first_batch = 5;
        tacet_central_fixed *f = create_fixed(&s, &ask);
        size_t arms[5][GROUPS], arm[GROUPS];
        uint64_t ticket = 0;
        for (size_t i = 0; i < 5; i++) {
            assert_ok(tacet_central_fixed_suggest(f, arms[i], &ticket, NULL));
        }
        for (size_t i = 0; i < 5; i++) {
            assert_status(tacet_central_fixed_suggest(f, arm, &ticket, NULL), TACET_STATE); /* the batch waits */
            const size_t at = k == 0 ? i : 4 - i;
            assert_ok(tacet_central_fixed_observe(f, at + 1, truth(arms[at]), NULL));
            assert_status(tacet_central_fixed_observe(f, at + 1, truth(arms[at]), NULL), TACET_CONFLICT);
        }
        assert_ok(tacet_central_fixed_suggest(f, arm, &ticket, NULL));
        assert_status(tacet_central_fixed_observe(f, 5, 0.5, NULL), TACET_CONFLICT); /* of a batch that ended */
        assert_int_equal(ticket, 6);
        tacet_blob_init(&blobs[k]);
        assert_ok(tacet_central_fixed_save(f, &blobs[k], NULL));
        tacet_central_fixed_free(f);
        tacet_noise_close(ask.noise);
    }
    assert_int_equal(blobs[0].size, blobs[1].size);
    assert_memory_equal(blobs[0].data, blobs[1].data, blobs[0].size);
    tacet_blob_clear(&blobs[0]);
    tacet_blob_clear(&blobs[1]);
}

static void indices(void **state) {
    const tacet_ask ask = test_ask(3, 0);
    tacet_central_fixed_settings s = settings_for_tests();
    s.rounds = 1500;
    s.eps = 50;
    tacet_policy *policy = NULL;
    tacet_central_fixed *twin = NULL;
    assert_ok(tacet_central_fixed_policy(&policy, groups, GROUPS, &s, &ask, NULL));
    assert_ok(tacet_central_fixed_create(&twin, groups, GROUPS, &s, &ask, NULL));
    tacet_recommendation best;
    assert_status(tacet_policy_recommend(policy, &best, NULL), TACET_STATE);
    size_t arm[GROUPS];
    uint64_t ticket = 0;
    tacet_suggestion got;
    for (size_t t = 0; t < 20; t++) { /* before the first release both play alike */
        assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
        assert_ok(tacet_central_fixed_suggest(twin, arm, &ticket, NULL));
        assert_int_equal(got.index, arm[0] + CHOICES * arm[1]);
        assert_ok(tacet_policy_observe(policy, got.ticket, truth(arm), NULL));
        assert_ok(tacet_central_fixed_observe(twin, ticket, truth(arm), NULL));
    }
    for (size_t t = 20; t < s.rounds; t++) {
        assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
        arm[0] = got.index % CHOICES;
        arm[1] = got.index / CHOICES;
        assert_ok(tacet_policy_observe(policy, got.ticket, truth(arm), NULL));
    }
    assert_ok(tacet_policy_recommend(policy, &best, NULL));
    arm[0] = best.index % CHOICES;
    arm[1] = best.index / CHOICES;
    assert_true(truth(arm) > 0.87 && best.sd > 0 && best.sd < 0.2);
    assert_close(best.mean, truth(arm), 0.1);
    tacet_policy_free(policy);
    tacet_central_fixed_free(twin);
    /* more arms than an index can name */
    tacet_fixed_group many[16];
    for (size_t g = 0; g < 16; g++) {
        many[g] = groups[0];
    }
    assert_status(tacet_central_fixed_policy(&policy, many, 16, &s, &ask, NULL), TACET_INVALID);
    assert_null(policy);
    /* many points: features of a sample of them */
    tacet_kernel *kernel = test_kernel("se", 1, 1);
    static double line[600];
    for (size_t i = 0; i < 600; i++) {
        line[i] = (double)i / 599;
    }
    assert_ok(tacet_central_fixed_policy_points(&policy, kernel, line, 1, 600, 6, &s, &ask, NULL));
    assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
    assert_true(got.index < 600);
    tacet_policy_free(policy);
    line[5] = NAN;
    assert_status(tacet_central_fixed_policy_points(&policy, kernel, line, 1, 600, 6, &s, &ask, NULL), TACET_INVALID);
    assert_status(tacet_central_fixed_policy_points(&policy, kernel, line, 1, 0, 6, &s, &ask, NULL), TACET_INVALID);
    tacet_kernel_free(kernel);
    tacet_noise_close(ask.noise);
}

/* Rewards that jump from one end of the range to the other: a smooth posterior overshoots beside the jumps, and what
 * the model states does not, whichever way it looks. Seeded noise, so nothing here is left to chance. */
static void a_model_states_means_within_the_range_of_rewards(void **state) {
    tacet_central_fixed_settings s = settings_for_tests();
    s.eps = 50;
    s.rounds = 600;
    double points[POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        points[i] = (double)i / (POINTS - 1);
    }
    for (int minimize = 0; minimize < 2; minimize++) {
        const tacet_ask ask = test_ask(17, 0);
        tacet_kernel *kernel = test_kernel("se", 1, 0.2);
        tacet_policy *policy = NULL;
        s.reward_lo = minimize ? -5 : -3; /* of the negated reward where it minimizes */
        s.reward_hi = minimize ? 3 : 5;
        assert_ok(tacet_central_fixed_policy_points(&policy, kernel, points, 1, POINTS, 12, &s, &ask, NULL));
        const tacet_round round = {0};
        for (size_t t = 0; t < 600; t++) {
            tacet_suggestion at;
            assert_ok(tacet_policy_suggest(policy, &at, &round, NULL));
            const bool high = at.index < POINTS / 2;
            assert_ok(tacet_policy_observe(policy, at.ticket, high ? s.reward_hi : s.reward_lo, NULL));
        }
        const double lower = 0, upper = 1;
        const tacet_contextual_parts about = {.lower = &lower, .upper = &upper, .minimize = minimize != 0};
        tacet_contextual_model *model = NULL;
        double means[POINTS];
        size_t best = 0, at_end = 0;
        assert_ok(tacet_central_fixed_model(&model, policy, kernel, &about, NULL));
        assert_ok(tacet_contextual_predict(model, &best, means, points, POINTS, NULL, NULL));
        for (size_t i = 0; i < POINTS; i++) {
            assert_true(means[i] >= -3 && means[i] <= 5);
            at_end += means[i] == -3 || means[i] == 5;
        }
        assert_true(at_end > 0); /* some would have gone beyond */
        tacet_contextual_model_free(model);
        tacet_policy_free(policy);
        tacet_kernel_free(kernel);
        tacet_noise_close(ask.noise);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(learns),
                                       cmocka_unit_test(first_batch_by_horizon),
                                       cmocka_unit_test(last_batch_is_released),
                                       cmocka_unit_test(refuses),
                                       cmocka_unit_test(rolled_back),
                                       cmocka_unit_test(failing_allocations),
                                       cmocka_unit_test(conformance),
                                       cmocka_unit_test(any_order),
                                       cmocka_unit_test(indices),
                                       cmocka_unit_test(a_model_states_means_within_the_range_of_rewards)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
