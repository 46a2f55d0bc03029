/* SPDX-License-Identifier: Apache-2.0 */
/* test_policy.c - the joint-DP policies: conformance, restarts, the ledger, bad input. */
#include "support/conformance.h"
#include "support/gate.h"
#include "support/test.h"

#include <tacet/core/simrng.h>
#include <tacet/central/trusted/policy.h>

enum { ARMS = 7, ROUNDS = 30 };
static const tacet_domain BALL = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = 2};
static tacet_features *features, *qff;
static tacet_central_map *map, *other_map;

static int setup(void **state) {
    tacet_kernel *kernel = test_kernel("se", 2, 1);
    assert_ok(tacet_features_create_mercer(&features, kernel, &BALL, 12, 20, NULL));
    assert_ok(tacet_features_create_qff(&qff, kernel, 3, NULL));
    tacet_kernel_free(kernel);
    assert_ok(tacet_central_map_create(&map, features, &BALL, 15, 0, 1, NULL));
    assert_ok(tacet_central_map_create(&other_map, features, &BALL, 12, 0, 1, NULL));
    return 0;
}

static int teardown(void **state) {
    tacet_central_map_free(map);
    tacet_central_map_free(other_map);
    tacet_features_free(features);
    tacet_features_free(qff);
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
    s->save_first = false;
}

/* The learner that is told prefix sums of a stream. */
static void stream_for_tests(tacet_central_settings *s) {
    settings_for_tests(s);
    s->first_epoch = 5;
    s->learner.kind = TACET_CENTRAL_DECODE;
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

static tacet_status make_split(tacet_policy **out, const tacet_ask *ask, tacet_error *err) {
    tacet_central_settings s;
    settings_for_tests(&s);
    return tacet_central_create(out, map, &s, ask, err);
}

static tacet_status make_stream(tacet_policy **out, const tacet_ask *ask, tacet_error *err) {
    tacet_central_settings s;
    stream_for_tests(&s);
    return tacet_central_create(out, map, &s, ask, err);
}

static tacet_status make_stream_unknown(tacet_policy **out, const tacet_ask *ask, tacet_error *err) {
    tacet_central_settings s;
    stream_for_tests(&s);
    s.rounds = 0;
    return tacet_central_create(out, map, &s, ask, err);
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

static void published_for_tests(tacet_central_published_settings *s) {
    tacet_central_published_settings_defaults(s);
    s->eps = 10;
    s->delta = 0.1;
    s->rounds = ROUNDS;
    s->open_most = 8;
    s->save_first = false;
}

static tacet_status make_published(tacet_policy **out, const tacet_ask *ask, tacet_error *err) {
    tacet_central_published_settings s;
    published_for_tests(&s);
    return tacet_central_published_create(out, qff, &s, ask, err);
}

static tacet_status make_published_doubling(tacet_policy **out, const tacet_ask *ask, tacet_error *err) {
    tacet_central_published_settings s;
    published_for_tests(&s);
    s.rounds = 0;
    return tacet_central_published_create(out, qff, &s, ask, err);
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

static void conformance_split(void **state) {
    conforms(make_split, make_other);
}

static void conformance_unknown_horizon(void **state) {
    conforms(make_unknown_horizon, make_split);
}

static void conformance_stream(void **state) {
    conforms(make_stream, make_stream_unknown);
    conforms(make_stream_unknown, make_split);
}

static void conformance_published(void **state) {
    conforms(make_published, make_split);
}

static void conformance_published_doubling(void **state) {
    conforms(make_published_doubling, make_published);
}

static tacet_status one_round(tacet_policy *policy, size_t k, tacet_suggestion *s) {
    double X[2 * ARMS];
    fill(X, k);
    const tacet_round round = {.points = X, .ld = 2, .d = 2, .count = ARMS};
    tacet_status status = tacet_policy_suggest(policy, s, &round, NULL);
    return status == TACET_OK ? tacet_policy_observe(policy, s->ticket, value(NULL, k, s), NULL) : status;
}

static void assert_same_state(const tacet_policy *policy, const tacet_blob *expected) {
    tacet_blob now;
    tacet_blob_init(&now);
    assert_ok(tacet_policy_save(policy, &now, NULL));
    assert_int_equal(now.size, expected->size);
    assert_memory_equal(now.data, expected->data, now.size);
    tacet_blob_clear(&now);
}

static void refuses_bad_rounds(void **state) {
    tacet_policy *policy = NULL;
    assert_ok(seeded(&policy, make_split, NULL));
    tacet_suggestion s;
    assert_ok(one_round(policy, 0, &s));
    tacet_blob before;
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
    tacet_blob_clear(&before);
    tacet_policy_free(policy);
}

/* Neighbours by a reward far outside the range are neighbours: the record is clipped and stays in its epoch. Were it
 * refused, it would be missing, and each later epoch would begin one record later. */
static void a_wild_reward_is_one_record(void **state) {
    static const maker MAKERS[] = {make_split, make_published};
    static const double WILD[] = {7, 1e300};
    for (size_t m = 0; m < 2; m++) {
        tacet_blob states[2];
        for (size_t world = 0; world < 2; world++) {
            tacet_policy *policy = NULL;
            tacet_suggestion s;
            tacet_round round;
            assert_ok(seeded(&policy, MAKERS[m], NULL));
            for (size_t k = 0; k < ROUNDS; k++) {
                round_of(NULL, k, &round);
                assert_ok(tacet_policy_suggest(policy, &s, &round, NULL));
                const double reward = k == 1 ? (world == 0 ? 1 : WILD[m]) : value(NULL, k, &s);
                assert_ok(tacet_policy_observe(policy, s.ticket, reward, NULL));
            }
            tacet_blob_init(&states[world]);
            assert_ok(tacet_policy_save(policy, &states[world], NULL));
            tacet_policy_free(policy);
        }
        assert_int_equal(states[0].size, states[1].size);
        assert_memory_equal(states[0].data, states[1].data, states[0].size);
        tacet_blob_clear(&states[0]);
        tacet_blob_clear(&states[1]);
    }
}

static void ends_at_the_horizon(void **state) {
    tacet_policy *policy = NULL;
    assert_ok(seeded(&policy, make_split, NULL));
    tacet_suggestion s;
    for (size_t k = 0; k < ROUNDS; k++) {
        assert_ok(one_round(policy, k, &s));
    }
    assert_status(one_round(policy, ROUNDS, &s), TACET_STATE);
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

static void limits_open_tickets(void **state) {
    tacet_policy *policy = NULL;
    assert_ok(seeded(&policy, make_split, NULL));
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
    tacet_policy_free(policy);
}

/* With a ledger: private, charged once, no release before its data is stored, no second stream for the ticket. */
static void through_the_ledger(void **state) {
    const char *folder = test_mkdir();
    char path[512];
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
    tacet_ledger_settings budget;
    tacet_ledger_settings_defaults(&budget);
    budget.eps = 10.5;
    budget.delta = 0.1;
    tacet_ledger *ledger = NULL;
    tacet_noise *noise = NULL;
    assert_ok(tacet_ledger_open(&ledger, path, &budget, NULL));
    tacet_central_settings s;
    stream_for_tests(&s);
    s.save_first = true;
    const tacet_ask ask = {
        .ledger = ledger, .noise = noise, .ticket = "study", .what = "a bandit", .to_whom = "all users"};
    tacet_policy *policy = NULL, *again = NULL;
    assert_ok(tacet_central_create(&policy, map, &s, &ask, NULL));
    tacet_guarantee g;
    tacet_policy_guarantee(policy, &g);
    assert_true(g.proven && g.eps == 10 && g.delta == 0.1 && g.trust == TACET_TRUST_CENTRAL);
    tacet_suggestion suggestion;
    size_t k = 0, refused = 0;
    tacet_blob saved;
    tacet_blob_init(&saved);
    while (k < 12) {
        const tacet_status status = one_round(policy, k, &suggestion);
        if (status == TACET_STATE) {
            refused++;
            tacet_blob_clear(&saved);
            assert_ok(tacet_policy_save(policy, &saved, NULL));
            continue;
        }
        assert_ok(status);
        k++;
    }
    assert_true(refused >= 2);
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 1);
    assert_true(totals.eps <= 10.01 && totals.eps > 9.5);
    /* the same ticket can't begin another stream of noise, and another study no longer fits the budget */
    assert_status(tacet_central_create(&again, map, &s, &ask, NULL), TACET_CONFLICT);
    assert_null(again);
    tacet_ask second = ask;
    second.ticket = "another study";
    assert_status(tacet_central_create(&again, map, &s, &second, NULL), TACET_BUDGET);
    assert_null(again);
    /* after a crash: from the saved bytes, twice, with the same suggestions as the one that went on */
    tacet_policy *twin = NULL;
    assert_ok(tacet_central_restore(&again, map, &s, &ask, saved.data, saved.size, NULL));
    assert_ok(tacet_central_restore(&twin, map, &s, &ask, saved.data, saved.size, NULL));
    tacet_suggestion a, b;
    assert_ok(one_round(again, 50, &a));
    assert_ok(one_round(twin, 50, &b));
    assert_true(a.index == b.index && a.score == b.score && a.ticket == b.ticket);
    tacet_policy_free(twin);
    /* the model of the same bytes: the last release and its receipt; nothing is charged */
    tacet_release *model = NULL;
    assert_ok(tacet_central_release_sums(&model, map, &s, &ask, saved.data, saved.size, NULL));
    const tacet_receipt *receipt = tacet_release_receipt(model);
    assert_true(receipt->is_private && receipt->in_ledger && receipt->eps == 10 && receipt->delta == 0.1);
    assert_int_equal(tacet_release_count(model), 30);
    tacet_release_free(model);
    assert_status(tacet_central_restore(&twin, other_map, &s, &ask, saved.data, saved.size, NULL), TACET_CORRUPT);
    assert_null(twin);
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 1);
    tacet_policy_free(again);
    tacet_policy_free(policy);
    tacet_blob_clear(&saved);
    tacet_noise_close(noise);
    tacet_ledger_close(ledger);
    test_rmdir(folder);
}

/* A log of rounds, replayed from an old state by another process, gives the same suggestions and releases; a state that
 * is older than a release and goes on with other rounds gets to that release and no further. */
static void replays_and_old_states(void **state) {
    enum { MANY = 20, OLD = 2 };
    const char *folder = test_mkdir();
    char path[512];
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
    tacet_ledger_settings budget;
    tacet_ledger_settings_defaults(&budget);
    budget.eps = 10.5;
    budget.delta = 0.1;
    tacet_ledger *ledger = NULL;
    tacet_noise *noise = NULL;
    assert_ok(tacet_ledger_open(&ledger, path, &budget, NULL));
    tacet_central_settings s;
    stream_for_tests(&s);
    const tacet_ask ask = {
        .ledger = ledger, .noise = noise, .ticket = "study", .what = "a bandit", .to_whom = "all users"};
    tacet_policy *policy = NULL, *old = NULL;
    tacet_suggestion given[MANY], got;
    tacet_blob saved, newest;
    tacet_blob_init(&saved);
    tacet_blob_init(&newest);
    assert_ok(tacet_central_create(&policy, map, &s, &ask, NULL));
    for (size_t k = 0; k < MANY; k++) {
        if (k == OLD) {
            assert_ok(tacet_policy_save(policy, &saved, NULL));
        }
        assert_ok(one_round(policy, k, &given[k]));
    }
    assert_ok(tacet_policy_save(policy, &newest, NULL));
    tacet_ledger_totals before, after;
    assert_ok(tacet_ledger_total(ledger, &before, NULL));
    assert_true(before.records >= 3 + 3); /* several epochs have ended */
    tacet_error err = {TACET_OK, ""};
    assert_status(tacet_central_restore(&old, map, &s, &ask, saved.data, saved.size, &err), TACET_CONFLICT);
    assert_null(old);
    assert_non_null(strstr(err.message, "older"));
    /* nor into a policy that is there, which stays as it is */
    assert_status(tacet_policy_load(policy, saved.data, saved.size, NULL), TACET_CONFLICT);
    s.replay = true;
    assert_ok(tacet_central_restore(&old, map, &s, &ask, saved.data, saved.size, NULL));
    for (size_t k = OLD; k < MANY; k++) {
        assert_ok(one_round(old, k, &got));
        assert_true(got.index == given[k].index && got.score == given[k].score && got.ticket == given[k].ticket);
    }
    assert_ok(tacet_ledger_total(ledger, &after, NULL));
    assert_int_equal(after.records, before.records); /* nothing was written */
    /* both go on alike, and neither disturbs the other */
    for (size_t k = MANY; k < MANY + 5; k++) {
        assert_ok(one_round(old, k, &got));
        assert_ok(one_round(policy, k, &given[0]));
        assert_true(got.index == given[0].index && got.score == given[0].score);
    }
    tacet_policy_free(old);
    assert_ok(tacet_central_restore(&old, map, &s, &ask, saved.data, saved.size, NULL));
    size_t rounds = 0;
    tacet_status status = TACET_OK;
    for (; rounds < MANY && status == TACET_OK; rounds++) {
        status = one_round(old, 100 + rounds, &got);
    }
    assert_status(status, TACET_CONFLICT);
    assert_status(one_round(old, 7, &got), TACET_CONFLICT); /* and stays there */
    tacet_policy_free(old);
    /* another charge under the ticket: the same bytes with other texts */
    tacet_ask other = ask;
    other.to_whom = "somebody else";
    assert_status(tacet_central_restore(&old, map, &s, &other, newest.data, newest.size, NULL), TACET_CONFLICT);
    tacet_policy_free(policy);
    tacet_blob_clear(&saved);
    tacet_blob_clear(&newest);
    tacet_noise_close(noise);
    tacet_ledger_close(ledger);
    test_rmdir(folder);
}

/* The table of the derivation: proven sigma, and how far the published one is above it. */
static void published_noise(void **state) {
    const struct {
        double eps;
        uint64_t rounds;
        double sigma, ratio;
    } rows[] = {{0.1, 1024, 18.0, 48}, {1, 1024, 6.87, 12.6}, {10, 1024, 1.78, 4.8}, {1, 10000, 8.13, 12.4}};
    for (size_t i = 0; i < 4; i++) {
        tacet_central_published_settings s;
        published_for_tests(&s);
        s.eps = rows[i].eps;
        s.rounds = rows[i].rounds;
        double proven = 0, published = 0, eps = 0, delta = 0;
        assert_ok(tacet_central_published_noise(&proven, &eps, &delta, &s, NULL));
        assert_true(eps == s.eps && delta == s.delta);
        /* the tree of the gate releases the full prefix too, so a record is in one node more than in the derivation
         * where T is a power of two */
        assert_close(proven, rows[i].sigma, 0.06 * rows[i].sigma);
        s.calibration = TACET_CENTRAL_PUBLISHED;
        assert_ok(tacet_central_published_noise(&published, &eps, &delta, &s, NULL));
        assert_close(published / proven, rows[i].ratio, 0.06 * rows[i].ratio);
        assert_true(eps < s.eps && delta <= s.delta);
    }
}

static void refuses_settings(void **state) {
    const tacet_ask ask = test_ask(1, 1);
    for (int k = 0; k < 8; k++) {
        tacet_central_settings s;
        settings_for_tests(&s);
        s.eps = k == 0 ? NAN : s.eps;
        s.delta = k == 1 ? -1 : (k == 2 ? 1 : s.delta);
        s.growth = k == 3 ? 0.9 : s.growth;
        s.first_epoch = k == 4 ? -1 : s.first_epoch;
        s.open_most = k == 5 ? 0 : s.open_most;
        s.learner.width = k == 6 ? NAN : s.learner.width;
        tacet_policy *policy = NULL;
        assert_status(tacet_central_create(&policy, map, &s, k == 7 ? NULL : &ask, NULL), TACET_INVALID);
        assert_null(policy);
    }
    tacet_noise_close(ask.noise);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conformance_split),
                                       cmocka_unit_test(conformance_unknown_horizon),
                                       cmocka_unit_test(conformance_stream),
                                       cmocka_unit_test(conformance_published),
                                       cmocka_unit_test(conformance_published_doubling),
                                       cmocka_unit_test(refuses_bad_rounds),
                                       cmocka_unit_test(a_wild_reward_is_one_record),
                                       cmocka_unit_test(ends_at_the_horizon),
                                       cmocka_unit_test(limits_open_tickets),
                                       cmocka_unit_test(through_the_ledger),
                                       cmocka_unit_test(published_noise),
                                       cmocka_unit_test(refuses_settings),
                                       cmocka_unit_test(replays_and_old_states)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
