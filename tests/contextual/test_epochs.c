/* SPDX-License-Identifier: Apache-2.0 */
/* test_epochs.c - the policy with epochs: what any policy must do, who is in which part, what a missing report does,
 * what is learnt. */
#include "policy_fixture.h"

#include "contextual/trusted/epochs_internal.h"
#include "support/conformance.h"
#include "support/gate.h"
#include "support/test.h"

#include <math.h>
#include <string.h>
#include "contextual/trusted/epochs.h"

enum { FIRST = 120 };

static tacet_status make_epochs(const world *w, tacet_policy **out, tacet_error *err) {
    tacet_contextual_space space;
    tacet_contextual_epochs_settings settings;
    double list[ACTIONS];
    const double lengthscales[2] = {1.6, 0.8};
    tacet_contextual_space_defaults(&space);
    space.lower = w->lower;
    space.upper = w->upper;
    space.lengthscales = lengthscales;
    space.lengthscale_count = 2;
    space.order = 8;
    tacet_contextual_epochs_settings_defaults(&settings);
    settings.learner.reward_lower = -2;
    settings.learner.reward_upper = 1;
    settings.learner.eps = w->eps;
    settings.rounds = w->rounds;
    settings.first = w->first;
    settings.late = w->late;
    for (size_t i = 0; i < ACTIONS; i++) {
        list[i] = 4.0 * (double)i / (ACTIONS - 1);
    }
    const tacet_ask ask = {
        .ledger = w->ledger, .noise = w->noise, .ticket = w->ticket, .what = "model", .to_whom = "anyone"};
    return tacet_contextual_epochs_create(out, &space, list, ACTIONS, &settings, &ask, err);
}

static tacet_status create(void *user, tacet_policy **out, tacet_error *err) {
    return make_epochs(user, out, err);
}

static tacet_status create_foreign(void *user, tacet_policy **out, tacet_error *err) {
    world other = *(const world *)user;
    other.ticket = "another";
    return make_epochs(&other, out, err);
}

static void round_of(void *user, size_t k, tacet_round *out) {
    static double context;
    (void)user;
    context = context_of(k);
    *out = (tacet_round){.context = &context, .context_dim = 1};
}

static double value(void *user, size_t k, const tacet_suggestion *s) {
    (void)user;
    return f(4.0 * (double)s->index / (ACTIONS - 1), context_of(k));
}

static void test_conformance(void **state) {
    world w;
    world_init(&w, 24, 100);
    w.noise = test_noise(1, 1);
    const conformance_problem problem = {.create = create,
                                         .create_foreign = create_foreign,
                                         .round = round_of,
                                         .value = value,
                                         .user = &w,
                                         .rounds = 24,
                                         .any_order = true};
    test_policy_conformance(&problem);
    tacet_noise_close(w.noise);
}

/* Plays `rounds`; every `skip`-th (0: none) is not reported. Returns the mean regret of the last quarter. */
static double play(tacet_policy *policy, size_t rounds, size_t skip) {
    double regret = 0;
    for (size_t t = 0; t < rounds; t++) {
        const double c = context_of(t);
        const tacet_round round = {.context = &c, .context_dim = 1};
        tacet_suggestion s;
        double top = -INFINITY;
        assert_ok(tacet_policy_suggest(policy, &s, &round, NULL));
        for (size_t i = 0; i < ACTIONS; i++) {
            top = fmax(top, f(4.0 * (double)i / (ACTIONS - 1), c));
        }
        const double at = f(4.0 * (double)s.index / (ACTIONS - 1), c);
        regret += t >= rounds - rounds / 4 ? top - at : 0;
        if (skip == 0 || t % skip != 0) {
            assert_ok(tacet_policy_observe(policy, s.ticket, at, NULL));
        }
    }
    return regret / (double)(rounds / 4);
}

/* Later rounds earn more than even draws (about 0.9 here), with reports missing, too. */
static void test_learns(void **state) {
    for (int k = 0; k < 2; k++) {
        world w;
        tacet_policy *policy = NULL;
        world_init(&w, 2000, 250);
        w.eps = 3;
        w.noise = test_noise(5, (uint64_t)k);
        assert_ok(make_epochs(&w, &policy, NULL));
        assert_null(tacet_contextual_epochs_model(policy));
        const double regret = play(policy, 2000, k == 1 ? 4 : 0);
        assert_true(regret < 0.25);
        assert_non_null(tacet_contextual_epochs_model(policy));
        tacet_policy_free(policy);
        tacet_noise_close(w.noise);
    }
}

/* One group in the ledger, whose cost is that of one part, whatever the number of epochs. */
static void test_charged_once(void **state) {
    world w;
    tacet_policy *policy = NULL;
    tacet_blob saved;
    tacet_blob again;
    world_init(&w, 1000, FIRST);
    w.eps = 3;
    open_ledger(&w, test_mkdir(), 3);
    assert_ok(make_epochs(&w, &policy, NULL));
    (void)play(policy, 600, 5); /* epochs of 120, 120, 240, and a part of the next: three releases */
    tacet_blob_init(&saved);
    tacet_blob_init(&again);
    assert_ok(tacet_policy_save(policy, &saved, NULL));
    tacet_policy_free(policy);
    /* A copy goes on as the original would have. */
    assert_ok(make_epochs(&w, &policy, NULL));
    assert_ok(tacet_policy_load(policy, saved.data, saved.size, NULL));
    assert_ok(tacet_policy_save(policy, &again, NULL));
    assert_int_equal(saved.size, again.size);
    assert_memory_equal(saved.data, again.data, saved.size);
    tacet_blob_clear(&saved);
    tacet_blob_clear(&again);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
    tacet_ledger_close(w.ledger);
}

/* A round that was not reported changes no size, and a late report is accepted and not learnt. */
static void test_null_records(void **state) {
    world w;
    tacet_policy *policy = NULL;
    world_init(&w, 1000, FIRST);
    w.eps = 3;
    w.noise = test_noise(9, 0);
    assert_ok(make_epochs(&w, &policy, NULL));
    for (size_t t = 0; t < FIRST; t++) {
        (void)suggest_at(policy, context_of(t)); /* nobody reports */
    }
    (void)suggest_at(policy, context_of(FIRST));
    (void)suggest_at(policy, context_of(FIRST)); /* released all the same */
    assert_non_null(tacet_contextual_epochs_model(policy));
    assert_ok(tacet_policy_observe(policy, 1, 1, NULL));
    assert_status(tacet_policy_observe(policy, 1, 1, NULL), TACET_CONFLICT);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

/* Rounds from + 1 to `to`, all reported. */
/* A report that comes while its epoch's release is due is accepted, not learnt, and the state that holds it loads. */
static void test_a_report_while_a_release_is_due_is_kept_in_the_state(void **state) {
    (void)state;
    world w;
    tacet_policy *policy = NULL, *again = NULL;
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    world_init(&w, 1000, FIRST);
    w.noise = test_noise(9, 1);
    assert_ok(create(&w, &policy, NULL));
    assert_ok(create(&w, &again, NULL));
    for (size_t k = 0; k <= FIRST; k++) { /* one more than the epoch has: its release is due */
        (void)suggest_at(policy, context_of(k));
    }
    assert_ok(tacet_policy_observe(policy, 1, 0.5, NULL));
    assert_ok(tacet_policy_save(policy, &bytes, NULL));
    assert_ok(tacet_policy_load(again, bytes.data, bytes.size, NULL));
    assert_status(tacet_policy_observe(again, 1, 0.5, NULL), TACET_CONFLICT);
    (void)suggest_at(again, context_of(FIRST + 1));
    tacet_policy_free(policy);
    tacet_policy_free(again);
    tacet_noise_close(w.noise);
    tacet_blob_clear(&bytes);
}

static void play_on(tacet_policy *policy, size_t from, size_t to) {
    for (size_t t = from; t < to; t++) {
        const double c = context_of(t);
        const tacet_round round = {.context = &c, .context_dim = 1};
        tacet_suggestion s;
        assert_ok(tacet_policy_suggest(policy, &s, &round, NULL));
        assert_ok(tacet_policy_observe(policy, s.ticket, f(4.0 * (double)s.index / (ACTIONS - 1), c), NULL));
    }
}

/* The epoch that the horizon cuts short is released with the last suggestion, and by nothing that reports say. */
static void test_last_epoch(void **state) {
    world w;
    tacet_policy *policy = NULL;
    world_init(&w, FIRST, FIRST);
    w.eps = 3;
    w.noise = test_noise(9, 0);
    assert_ok(make_epochs(&w, &policy, NULL));
    play_on(policy, 0, FIRST - 1);
    assert_null(tacet_contextual_epochs_model(policy));
    (void)suggest_at(policy, context_of(FIRST - 1));
    assert_non_null(tacet_contextual_epochs_model(policy));
    tacet_policy_free(policy);
    /* Too short to tell anything: as before. */
    w.rounds = FIRST + FIRST / 4;
    assert_ok(make_epochs(&w, &policy, NULL));
    play_on(policy, 0, w.rounds - 1);
    const double before = tacet_contextual_model_parts(tacet_contextual_epochs_model(policy))->predicted_error;
    (void)suggest_at(policy, 0);
    assert_true(tacet_contextual_model_parts(tacet_contextual_epochs_model(policy))->predicted_error == before);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

/* A study is given more rounds after its last epoch was released, and goes on from a state of before: the ledger knows
 * where the epoch ended, so that it ends there again, with the stored release, and no round is in two. */
static void test_more_rounds(void **state) {
    enum { LONG = 400, MIDDLE = 300 };
    world w;
    tacet_policy *policy = NULL;
    tacet_blob middle, first, second;
    world_init(&w, LONG, FIRST);
    w.eps = 3;
    open_ledger(&w, test_mkdir(), 3);
    tacet_blob_init(&middle);
    tacet_blob_init(&first);
    tacet_blob_init(&second);
    assert_ok(make_epochs(&w, &policy, NULL));
    play_on(policy, 0, MIDDLE); /* epochs of 120, 120, and of 240 a part */
    assert_ok(tacet_policy_save(policy, &middle, NULL));
    play_on(policy, MIDDLE, LONG);
    assert_ok(tacet_policy_save(policy, &first, NULL));
    tacet_policy_free(policy);
    w.rounds = 1000;
    assert_ok(make_epochs(&w, &policy, NULL));
    assert_ok(tacet_policy_load(policy, middle.data, middle.size, NULL));
    play_on(policy, MIDDLE, LONG);
    assert_ok(tacet_policy_save(policy, &second, NULL));
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    assert_ok(tacet_policy_load(policy, first.data, first.size, NULL));
    play_on(policy, LONG, w.rounds); /* 399 + 480 and a last epoch of 120 */
    tacet_blob_clear(&middle);
    tacet_blob_clear(&first);
    tacet_blob_clear(&second);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
    tacet_ledger_close(w.ledger);
}

/* Rounds from + 1 to `to`, each reported when `out` more were suggested; taken: what was suggested. */
static void play_behind(tacet_policy *policy, size_t from, size_t to, size_t out, size_t *taken) {
    for (size_t t = from; t < to; t++) {
        taken[t] = suggest_at(policy, context_of(t));
        if (t >= out) {
            const double x = 4.0 * (double)taken[t - out] / (ACTIONS - 1);
            assert_ok(tacet_policy_observe(policy, t - out + 1, f(x, context_of(t - out)), NULL));
        }
    }
}

/* Releases that wait for 60 rounds are the same whether reports come at once or 60 rounds late, also where the policy
 * is saved between an epoch's end and its release; reports that come 61 rounds late are missing from them. */
static void test_late_reports(void **state) {
    enum { ROUNDS = 700, LATE = 60, MIDDLE = 2 * FIRST + LATE / 2 };
    static size_t taken[4][ROUNDS];
    const size_t out[4] = {0, LATE, LATE, LATE + 1};
    (void)state;
    for (int k = 0; k < 4; k++) {
        world w;
        tacet_policy *policy = NULL;
        tacet_blob blob;
        world_init(&w, ROUNDS, FIRST);
        w.eps = 3;
        w.late = LATE;
        tacet_blob_init(&blob);
        assert_ok(tacet_noise_open_seeded(&w.noise, 9, 0, NULL));
        assert_ok(make_epochs(&w, &policy, NULL));
        play_behind(policy, 0, FIRST + LATE, out[k], taken[k]);
        assert_null(tacet_contextual_epochs_model(policy));
        play_behind(policy, FIRST + LATE, MIDDLE, out[k], taken[k]);
        assert_non_null(tacet_contextual_epochs_model(policy));
        if (k == 2) {
            assert_ok(tacet_policy_save(policy, &blob, NULL));
            tacet_policy_free(policy);
            assert_ok(make_epochs(&w, &policy, NULL));
            assert_ok(tacet_policy_load(policy, blob.data, blob.size, NULL));
        }
        play_behind(policy, MIDDLE, ROUNDS, out[k], taken[k]);
        tacet_blob_clear(&blob);
        tacet_policy_free(policy);
        tacet_noise_close(w.noise);
    }
    assert_memory_equal(taken[0], taken[1], sizeof taken[0]);
    assert_memory_equal(taken[0], taken[2], sizeof taken[0]);
    assert_memory_not_equal(taken[0], taken[3], sizeof taken[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_conformance),
                                       cmocka_unit_test(test_learns),
                                       cmocka_unit_test(test_charged_once),
                                       cmocka_unit_test(test_null_records),
                                       cmocka_unit_test(test_last_epoch),
                                       cmocka_unit_test(test_more_rounds),
                                       cmocka_unit_test(test_late_reports),
                                       cmocka_unit_test(test_a_report_while_a_release_is_due_is_kept_in_the_state)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
