/* SPDX-License-Identifier: Apache-2.0 */
/* test_study.c - a running A/B test: what any policy must do, whose coin is fair, what a missing or late report does,
 * what the ledger is charged, and what more rounds change. */
#include "support/conformance.h"
#include "support/gate.h"
#include "support/test.h"

#include <math.h>
#include <string.h>
#include "ab/trusted/study.h"
#include <sodium.h>
#include <tacet/core/simrng.h>
#include <tacet/tally/trusted/tally.h>

typedef struct world {
    tacet_noise *noise;
    tacet_ledger *ledger;
    const char *ticket;
    tacet_ab_study_settings s;
} world;

static void world_init(world *w, size_t arms, size_t rounds, size_t first, double eps) {
    *w = (world){.ticket = "study"};
    tacet_ab_study_settings_defaults(&w->s);
    w->s.arms = arms;
    w->s.rounds = rounds;
    w->s.first = first;
    w->s.eps = eps;
}

static tacet_status create(void *user, tacet_policy **out, tacet_error *err) {
    const world *w = user;
    const tacet_ask ask = {
        .ledger = w->ledger, .noise = w->noise, .ticket = w->ticket, .what = "sums", .to_whom = "anyone"};
    return tacet_ab_study_create(out, &w->s, &ask, err);
}

static tacet_status create_foreign(void *user, tacet_policy **out, tacet_error *err) {
    world other = *(const world *)user;
    other.s.coin_seed++;
    return create(&other, out, err);
}

static void round_of(void *user, size_t k, tacet_round *out) {
    (void)user;
    (void)k;
    *out = (tacet_round){0};
}

static double value(void *user, size_t k, const tacet_suggestion *s) {
    (void)user;
    return (double)((k + s->index) % 3) / 2;
}

TEST(test_conformance) {
    world w;
    world_init(&w, 3, 60, 50, 1);
    w.s.late = 2;
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

static tacet_policy *make(world *w) {
    tacet_policy *policy = NULL;
    tacet_error err = {0};
    test_assert_status(create(w, &policy, &err), TACET_OK, &err, __FILE__, __LINE__);
    return policy;
}

static tacet_suggestion next(tacet_policy *policy) {
    const tacet_round none = {0};
    tacet_suggestion s = {0};
    assert_ok(tacet_policy_suggest(policy, &s, &none, NULL));
    return s;
}

/* Arms come as often as they should, and so do pairs in a row, whatever is reported: chi-square of 9 cells below 34 in
 * all but one of 10,000 seeds. */
TEST(test_coins) {
    enum { N = 9000 };
    world w;
    double cells[9] = {0}, chi = 0;
    size_t before = 0;
    world_init(&w, 3, N, 0, 1);
    w.noise = test_noise(2, 1);
    tacet_policy *policy = make(&w);
    for (size_t i = 0; i < N; i++) {
        const tacet_suggestion s = next(policy);
        assert_ok(tacet_policy_observe(policy, s.ticket, s.index == 0 ? 1 : 0, NULL));
        cells[before * 3 + s.index] += 1;
        before = s.index;
    }
    for (size_t i = 0; i < 9; i++) {
        chi += (cells[i] - N / 9.0) * (cells[i] - N / 9.0) / (N / 9.0);
    }
    assert_true(chi < 34);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

/* Traffic that alternates from ticket to ticket; visitors who come 20 times in a row, each with a habit; and an arm of
 * which three in ten who do not buy never report. */
static bool buys(size_t kind, size_t round, tacet_simrng *rng, double *habit) {
    if (round % 20 == 0) {
        *habit = tacet_simrng_uniform(rng);
    }
    const double rate = kind == 0 ? (round % 2 == 0 ? 0.5 : 0.1) : kind == 1 ? *habit : 0.2;
    return tacet_simrng_uniform(rng) < rate;
}

/* Arms that earn the same, whoever comes: 200 runs each; at a true share of 5 % more than 23 are wrong in one of 10,000
 * of these tests. An arm kept for a visitor, or in turns, would be wrong in half of them and in all. */
TEST(whoever_comes_false_claims_are_rare) {
    for (size_t kind = 0; kind < 3; kind++) {
        size_t wrong = 0;
        for (uint64_t seed = 0; seed < 200; seed++) {
            world w;
            double habit = 0;
            bool claimed = false;
            tacet_simrng rng;
            tacet_simrng_init(&rng, 17 + kind, seed);
            world_init(&w, 2, 6000, 0, 1);
            w.s.coin_seed = seed + 1;
            w.noise = test_noise(seed, 1);
            tacet_policy *policy = make(&w);
            for (size_t i = 0; i < 6000; i++) {
                const tacet_suggestion s = next(policy);
                const bool bought = buys(kind, i, &rng, &habit);
                const bool silent = kind == 2 && s.index == 1 && !bought && tacet_simrng_uniform(&rng) < 0.3;
                assert_ok(silent ? TACET_OK : tacet_policy_observe(policy, s.ticket, bought ? 1 : 0, NULL));
                const tacet_ab_test *test = tacet_ab_study_test(policy);
                claimed = claimed || (i % 100 == 0 && (tacet_ab_test_compare(test, 0, 1).lower > 0 ||
                                                       tacet_ab_test_compare(test, 1, 0).lower > 0));
            }
            wrong += claimed ? 1 : 0;
            tacet_policy_free(policy);
            tacet_noise_close(w.noise);
        }
        print_message("wrong in %zu of 200\n", wrong);
        assert_true(wrong <= 23);
    }
}

/* With hardly any noise the released means are those of the tickets: unreported ones count 0, rewards are clipped, a
 * report after its epoch's release is accepted and counts no more. */
TEST(test_what_counts) {
    world w;
    double tickets[2] = {0}, sums[2] = {0};
    enum { WAITS = 6 };
    world_init(&w, 2, 1000, 100, 1e6);
    w.s.lower = -2;
    w.s.upper = 2;
    w.s.late = 10;
    w.noise = test_noise(3, 1);
    tacet_policy *policy = make(&w);
    const tacet_ab_test *test = tacet_ab_study_test(policy);
    for (size_t i = 0; i < 100; i++) {
        const tacet_suggestion s = next(policy);
        tickets[s.index] += 1;
        if (s.ticket > 90 && s.ticket <= 90 + WAITS) {
            sums[s.index] += 1; /* later */
        } else if (i % 4 != 0 && i != 99) {
            assert_ok(tacet_policy_observe(policy, s.ticket, i % 4 == 1 ? 50 : 1, NULL));
            sums[s.index] += i % 4 == 1 ? 1 : 0.75;
        }
    }
    double after[2] = {0};
    for (size_t i = 0; i < 10; i++) { /* of the next epoch */
        const tacet_suggestion s = next(policy);
        after[s.index] += 1;
        assert_ok(tacet_policy_observe(policy, s.ticket, 2, NULL));
        if (i == 5) { /* late, and in time */
            for (uint64_t k = 1; k <= WAITS; k++) {
                assert_ok(tacet_policy_observe(policy, 90 + k, 2, NULL));
            }
        }
    }
    assert_true(tacet_ab_test_tickets(test) == 0);
    tacet_recommendation best;
    assert_status(tacet_policy_recommend(policy, &best, NULL), TACET_STATE);
    const tacet_suggestion last = next(policy);
    assert_ok(tacet_policy_observe(policy, 5, 2, NULL)); /* the release is due: nothing changes what it is of */
    assert_ok(tacet_policy_observe(policy, last.ticket, 2, NULL));
    after[last.index] += 1;
    after[next(policy).index] += 1; /* the release, and a ticket that is not reported */
    assert_true(tacet_ab_test_tickets(test) == 100);
    double told = 0;
    for (size_t arm = 0; arm < 2; arm++) {
        told += tacet_ab_test_mean(test, arm) * tickets[arm];
        assert_close(tacet_ab_test_mean(test, arm) * tickets[arm], sums[arm], 1e-3);
    }
    assert_ok(tacet_policy_observe(policy, 1, 2, NULL)); /* too late, and so is the epoch's last */
    assert_ok(tacet_policy_observe(policy, 100, 2, NULL));
    assert_status(tacet_policy_observe(policy, 1, 2, NULL), TACET_CONFLICT);
    assert_ok(tacet_policy_recommend(policy, &best, NULL));
    assert_true(best.mean > -2 && best.mean < 2 && best.sd > 0);
    /* The next epoch has its own tickets, those waited for among them, and all of their rewards. */
    for (size_t i = 0; i < 29; i++) { /* with those before, 41 tickets: 30, and 11 that are waited for */
        const tacet_suggestion s = next(policy);
        assert_ok(tacet_policy_observe(policy, s.ticket, 2, NULL));
        after[s.index] += i < 18 ? 1 : 0;
    }
    assert_true(tacet_ab_test_tickets(test) == 100);
    (void)next(policy);
    assert_true(tacet_ab_test_tickets(test) == 130);
    double both = 0;
    for (size_t arm = 0; arm < 2; arm++) {
        both += tacet_ab_test_mean(test, arm) * (tickets[arm] + after[arm]);
    }
    assert_close(both, told + 29, 1e-3);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

/* Each suggestion brings the next release one nearer, and it comes when that was said. */
static void play(tacet_policy *policy, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        size_t before = 0, after = 0;
        const double seen = tacet_ab_test_tickets(tacet_ab_study_test(policy));
        assert_int_equal(tacet_ab_study_issued(policy, &before), i);
        const tacet_suggestion s = next(policy);
        assert_int_equal(tacet_ab_study_issued(policy, &after), i + 1);
        assert_true((before == 1) == (tacet_ab_test_tickets(tacet_ab_study_test(policy)) > seen));
        assert_true(before == 1 || after + 1 == before || (before == 0 && after == 0));
        if (i % 5 != 0) {
            assert_ok(tacet_policy_observe(policy, s.ticket, (double)(s.index % 2), NULL));
        }
    }
}

/* One group in the ledger: however many epochs, a ticket costs eps once. The last epoch ends before the last round.
 * More rounds go on from where the released epochs ended. */
TEST(test_charges_and_horizon) {
    tacet_ledger_settings budget;
    tacet_ledger_totals totals;
    tacet_blob saved;
    world w;
    world_init(&w, 2, 400, 100, 3);
    OWN_TEXT char *path = test_text("%s/ledger", test_mkdir());
    tacet_ledger_settings_defaults(&budget);
    budget.eps = 3;
    budget.delta = 0;
    budget.accounting = TACET_ACCOUNTING_BASIC;
    budget.create = true;
    assert_ok(tacet_ledger_open(&w.ledger, path, &budget, NULL));
    tacet_policy *policy = make(&w);
    play(policy, 0, 400); /* 100, 30, 39, 51, 66, 86, and the rest: 26 */
    assert_ok(tacet_ledger_total(w.ledger, &totals, NULL));
    assert_int_equal(totals.entries, 7);
    assert_close(totals.eps, 3, 1e-9);
    assert_true(tacet_ab_test_tickets(tacet_ab_study_test(policy)) == 398);
    const tacet_round none = {0};
    tacet_suggestion over;
    assert_status(tacet_policy_suggest(policy, &over, &none, NULL), TACET_STATE);
    tacet_guarantee g;
    tacet_policy_guarantee(policy, &g);
    assert_true(g.proven && g.eps == 3 && g.delta == 0);
    const double lower = tacet_ab_test_compare(tacet_ab_study_test(policy), 0, 1).lower;
    assert_true(lower > 0); /* .8 against 0 */
    tacet_blob_init(&saved);
    assert_ok(tacet_policy_save(policy, &saved, NULL));
    tacet_policy_free(policy);
    w.s.rounds = 800;
    policy = make(&w);
    assert_ok(tacet_policy_load(policy, saved.data, saved.size, NULL));
    assert_true(tacet_ab_test_compare(tacet_ab_study_test(policy), 0, 1).lower == lower);
    play(policy, 400, 520);
    assert_true(tacet_ab_test_tickets(tacet_ab_study_test(policy)) == 398 + 120);
    tacet_blob_clear(&saved);
    tacet_policy_free(policy);
    tacet_ledger_close(w.ledger);
}

/* A study that is given a few rounds again and again has short epochs, and no more of them than it has room for. */
TEST(test_epochs_end) {
    const tacet_round none = {0};
    world w;
    tacet_blob saved;
    tacet_suggestion s;
    bool ended = false;
    world_init(&w, 2, 6, 4, 1e3);
    w.noise = test_noise(5, 1);
    tacet_blob_init(&saved);
    tacet_policy *policy = make(&w);
    for (size_t t = 0; t < 1000 && !ended; t++) {
        if (t == w.s.rounds) {
            assert_ok(tacet_policy_save(policy, &saved, NULL));
            tacet_policy_free(policy);
            w.s.rounds += 3;
            policy = make(&w);
            assert_ok(tacet_policy_load(policy, saved.data, saved.size, NULL));
            tacet_blob_clear(&saved);
        }
        const tacet_status status = tacet_policy_suggest(policy, &s, &none, NULL);
        ended = status != TACET_OK;
        assert_status(status, ended ? TACET_STATE : TACET_OK);
    }
    assert_true(ended);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

/* Number `at` of a named array of a saved state. */
static unsigned char *place_in(const tacet_blob *saved, const char *name, size_t at) {
    const size_t length = strlen(name);
    for (size_t i = 0; i + length < saved->size; i++) {
        if (memcmp(saved->data + i, name, length) == 0) {
            return saved->data + i + length + 8 * (at + 1); /* after its name and length */
        }
    }
    return NULL;
}

/* What no study of these settings can have come to, and what is of another eps, is not gone on with. */
TEST(test_forged_states_are_refused) {
    enum { HASH = 32 };
    static const struct {
        const char *name;
        uint64_t value;
    } FORGED[] = {{"now", 11 * (uint64_t)TACET_TALLY_ONE}, /* more than ten tickets give */
                  {"tickets", 0},                          /* fewer than were suggested */
                  {"size", 3}};                            /* an epoch that should have ended */
    world w;
    tacet_blob saved;
    tacet_policy *other = NULL;
    (void)state;
    world_init(&w, 2, 400, 100, 1);
    w.noise = test_noise(8, 1);
    tacet_blob_init(&saved);
    tacet_policy *policy = make(&w);
    for (size_t i = 0; i < 10; i++) {
        (void)next(policy);
    }
    assert_ok(tacet_policy_save(policy, &saved, NULL));
    w.s.eps = 2;
    other = make(&w);
    assert_status(tacet_policy_load(other, saved.data, saved.size, NULL), TACET_CORRUPT);
    for (size_t k = 0; k < sizeof FORGED / sizeof *FORGED; k++) {
        unsigned char kept[8], *at = place_in(&saved, FORGED[k].name, 0);
        assert_non_null(at);
        memcpy(kept, at, sizeof kept);
        memcpy(at, &FORGED[k].value, sizeof FORGED[k].value);
        (void)crypto_generichash(saved.data + saved.size - HASH, HASH, saved.data, saved.size - HASH, NULL, 0);
        assert_status(tacet_policy_load(policy, saved.data, saved.size, NULL), TACET_CORRUPT);
        memcpy(at, kept, sizeof kept);
    }
    (void)crypto_generichash(saved.data + saved.size - HASH, HASH, saved.data, saved.size - HASH, NULL, 0);
    assert_ok(tacet_policy_load(policy, saved.data, saved.size, NULL));
    tacet_blob_clear(&saved);
    tacet_policy_free(other);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

/* A saved state is as long whoever has reported: its length is seen where the state is not. */
TEST(the_length_of_a_state_tells_no_reports) {
    world w;
    tacet_blob before, after;
    world_init(&w, 2, 400, 100, 1);
    w.noise = test_noise(8, 1);
    tacet_blob_init(&before);
    tacet_blob_init(&after);
    tacet_policy *policy = make(&w);
    for (size_t i = 0; i < 10; i++) {
        (void)next(policy);
    }
    assert_ok(tacet_policy_save(policy, &before, NULL));
    for (uint64_t ticket = 1; ticket < 8; ticket++) {
        assert_ok(tacet_policy_observe(policy, ticket, 1, NULL));
    }
    assert_ok(tacet_policy_save(policy, &after, NULL));
    assert_int_equal(before.size, after.size);
    tacet_blob_clear(&before);
    tacet_blob_clear(&after);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

TEST(test_refusals) {
    world w;
    tacet_policy *policy = NULL;
    world_init(&w, 2, 100, 0, 1);
    assert_status(create(&w, &policy, NULL), TACET_INVALID); /* neither ledger nor seeded noise */
    w.noise = test_noise(4, 1);
    const tacet_ab_study_settings good = w.s;
    w.s.rounds = 0;
    assert_status(create(&w, &policy, NULL), TACET_INVALID);
    w.s = good;
    w.s.upper = w.s.lower;
    assert_status(create(&w, &policy, NULL), TACET_INVALID);
    w.s = good;
    w.s.typical = 3;
    assert_status(create(&w, &policy, NULL), TACET_INVALID);
    w.s = good;
    w.s.eps = 0;
    assert_status(create(&w, &policy, NULL), TACET_INVALID);
    w.s = good;
    w.s.arms = 1;
    assert_status(create(&w, &policy, NULL), TACET_INVALID);
    assert_null(policy);
    tacet_noise_close(w.noise);
}
