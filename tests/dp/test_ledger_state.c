/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger_state.c - what may follow what in a chain, and the totals against a plain recomputation. */
#include "support/test.h"

#include <tacet/core/simrng.h>
#include <tacet/dp/open/calibrate.h>

#include "dp/ledger/state.h"

static const unsigned char HASH[TACET_HASH_BYTES] = {1, 2, 3};

static tacet__record budget(tacet_accounting accounting, double cap) {
    tacet__record r;
    memset(&r, 0, sizeof r);
    r.kind = TACET__RECORD_BUDGET;
    r.budget.accounting = accounting;
    r.budget.eps = cap;
    r.budget.delta = 1e-5;
    r.budget.cap = cap;
    r.budget.uncovered_most = 2;
    return r;
}

static tacet__record reserve(uint64_t seq, const char *ticket, double eps) {
    tacet__record r;
    memset(&r, 0, sizeof r);
    r.kind = TACET__RECORD_RESERVE;
    r.seq = seq;
    r.reserve.ticket = ticket;
    tacet_charge_init(&r.reserve.charge);
    r.reserve.charge.what = "a";
    r.reserve.charge.to_whom = "b";
    tacet_charge_pure(&r.reserve.charge, eps);
    return r;
}

static tacet__record commit(uint64_t seq, uint64_t entry) {
    tacet__record r;
    memset(&r, 0, sizeof r);
    r.kind = TACET__RECORD_COMMIT;
    r.seq = seq;
    r.commit.entry = entry;
    return r;
}

static tacet_status apply(tacet__state *state, tacet__record record) {
    const uint64_t records = state->records;
    const double spent = tacet__sum_value(&state->spent);
    tacet_error err = {TACET_OK, ""};
    const tacet_status status = tacet__state_apply(state, &record, HASH, &err);
    if (status != TACET_OK) { /* nothing happened, and why is said */
        assert_int_equal(state->records, records);
        assert_close(tacet__sum_value(&state->spent), spent, 0);
        assert_true(err.message[0] != '\0');
    }
    return status;
}

static void test_what_may_follow(void **unused) {
    tacet__state state;
    (void)unused;
    tacet__state_init(&state);
    assert_status(apply(&state, reserve(1, "a", 0.1)), TACET_CORRUPT); /* out of order */
    assert_status(apply(&state, reserve(0, "a", 0.1)), TACET_CORRUPT); /* not the budget */
    assert_ok(apply(&state, budget(TACET_ACCOUNTING_BASIC, 1)));
    tacet__record second = budget(TACET_ACCOUNTING_BASIC, 1);
    second.seq = 1;
    assert_status(apply(&state, second), TACET_CORRUPT);
    assert_ok(apply(&state, reserve(1, "a", 0.5)));
    assert_status(apply(&state, reserve(1, "b", 0.5)), TACET_CORRUPT);
    assert_status(apply(&state, reserve(2, "a", 0.1)), TACET_CORRUPT); /* the ticket again */
    assert_status(apply(&state, reserve(2, "b", 0.6)), TACET_CORRUPT); /* too much */
    assert_ok(apply(&state, commit(2, 1)));
    assert_status(apply(&state, commit(3, 1)), TACET_CORRUPT); /* a second answer */
    assert_status(apply(&state, commit(3, 2)), TACET_CORRUPT); /* of an answer */
    assert_int_equal(tacet__state_find(&state, "a"), 1);
    assert_int_equal(tacet__state_find(&state, "b"), 0);
    tacet__record open_one = reserve(3, "c", 1);
    tacet_charge_init(&open_one.reserve.charge);
    assert_ok(apply(&state, open_one));
    open_one.seq = 4;
    open_one.reserve.ticket = "d";
    open_one.reserve.charge.seeded = true;
    assert_ok(apply(&state, open_one));
    open_one.seq = 5;
    open_one.reserve.ticket = "e";
    assert_status(apply(&state, open_one), TACET_CORRUPT); /* a third uncovered one */
    assert_int_equal(state.entries, 3);
    assert_int_equal(state.answered, 1);
    assert_int_equal(state.uncovered, 2);
    assert_int_equal(state.seeded, 1);
    assert_memory_equal(state.head, HASH, TACET_HASH_BYTES);
    tacet__state_clear(&state);
    assert_int_equal(state.records, 0);
}

static void test_units(void **unused) {
    tacet__cost cost;
    tacet_charge c;
    tacet__state state;
    (void)unused;
    tacet_charge_init(&c);
    tacet_charge_gaussian(&c, 2, INFINITY, 1);
    assert_true(tacet__cost_of(&cost, &c, TACET_ACCOUNTING_GAUSSIAN));
    assert_close(cost.main, 4, 0);
    assert_true(tacet__cost_of(&cost, &c, TACET_ACCOUNTING_ZCDP));
    assert_close(cost.main, 2, 1e-15);
    assert_false(tacet__cost_of(&cost, &c, TACET_ACCOUNTING_BASIC));
    tacet_charge_gaussian(&c, 2, 3, 1); /* eps without a delta is none */
    assert_false(tacet__cost_of(&cost, &c, TACET_ACCOUNTING_BASIC));
    tacet_charge_gaussian(&c, 2, 3, 1e-5);
    assert_true(tacet__cost_of(&cost, &c, TACET_ACCOUNTING_BASIC));
    assert_close(cost.main, 3, 0);
    assert_close(cost.delta, 1e-5, 0);
    tacet__state_init(&state);
    assert_ok(apply(&state, budget(TACET_ACCOUNTING_ZCDP, 1)));
    tacet__record r = reserve(1, "a", 0.1);
    tacet_charge_approx(&r.reserve.charge, 0.1, 1e-9);
    assert_status(tacet__state_fits(&state, &r.reserve.charge, NULL), TACET_INVALID);
    assert_status(apply(&state, r), TACET_CORRUPT);
    tacet__state_clear(&state);
}

/* The rule once more, in a few plain sums: charges on everybody, and the dearest part of the one group. */
typedef struct plain_sums {
    double all, part[3], all_delta, part_delta[3];
} plain_sums;

static bool plain_admits(plain_sums *sums, const tacet_charge *c, tacet_accounting accounting, double cap,
                         double cap_delta) {
    const double cost = accounting == TACET_ACCOUNTING_BASIC  ? c->eps
                        : accounting == TACET_ACCOUNTING_ZCDP ? c->rho
                                                              : c->mu * c->mu;
    const double delta = accounting == TACET_ACCOUNTING_BASIC ? c->delta : 0;
    const double limit = accounting == TACET_ACCOUNTING_GAUSSIAN ? cap * cap : cap;
    plain_sums next = *sums;
    if (c->group == NULL) {
        next.all += cost;
        next.all_delta += delta;
    } else {
        next.part[c->part[0] - '1'] += cost;
        next.part_delta[c->part[0] - '1'] += delta;
    }
    const double dearest = fmax(next.part[0], fmax(next.part[1], next.part[2]));
    const double most_delta = fmax(next.part_delta[0], fmax(next.part_delta[1], next.part_delta[2]));
    const bool fits = next.all + dearest <= limit && next.all_delta + most_delta <= cap_delta;
    *sums = fits ? next : *sums;
    return fits;
}

static void test_agrees_with_plain_sums(void **unused) {
    static const char *const PARTS[] = {"1", "2", "3"};
    int admitted = 0;
    int refused = 0;
    (void)unused;
    for (int round = 0; round < 30; round++) {
        const tacet_accounting accounting = (tacet_accounting)(1 + round % 3);
        plain_sums sums = {0};
        tacet__state state;
        tacet_simrng rng;
        double cap = 3;
        tacet_simrng_init(&rng, 8, (uint64_t)round);
        if (accounting == TACET_ACCOUNTING_ZCDP) {
            assert_ok(tacet_zcdp_rho(&cap, 3, 1e-5, NULL));
        } else if (accounting == TACET_ACCOUNTING_GAUSSIAN) {
            assert_ok(tacet_gdp_mu(&cap, 3, 1e-5, NULL));
        }
        tacet__state_init(&state);
        tacet__record first = budget(accounting, cap);
        first.budget.eps = 3;
        assert_ok(apply(&state, first));
        for (int i = 0; i < 60; i++) {
            char ticket[16];
            (void)snprintf(ticket, sizeof ticket, "%d", i);
            tacet__record r = reserve(state.records, ticket, 0.3 * tacet_simrng_uniform(&rng) + 1e-3);
            tacet_charge *c = &r.reserve.charge;
            if (accounting == TACET_ACCOUNTING_BASIC && i % 3 == 0) {
                tacet_charge_approx(c, c->eps, 6e-6 * tacet_simrng_uniform(&rng));
            } else if (i % 3 == 1) {
                tacet_charge_gaussian(c, 0.3 * tacet_simrng_uniform(&rng), 0.1, 1e-6);
            }
            const bool approx = accounting == TACET_ACCOUNTING_BASIC && c->claim == TACET_CLAIM_APPROX;
            if ((c->claim == TACET_CLAIM_PURE || approx) && tacet_simrng_below(&rng, 2) == 0) {
                c->group = "rows";
                c->part = PARTS[tacet_simrng_below(&rng, 3)];
            }
            const tacet_status mine = tacet__state_fits(&state, c, NULL);
            assert_int_equal(plain_admits(&sums, c, accounting, cap, 1e-5), mine == TACET_OK);
            if (mine == TACET_OK) {
                assert_ok(apply(&state, r));
                admitted++;
            } else {
                refused++;
            }
        }
        tacet__state_clear(&state);
    }
    assert_true(admitted > 100 && refused > 100);
}

static void test_no_memory(void **unused) {
    (void)unused;
    for (long n = 1;; n++) {
        tacet__state state;
        tacet__state_init(&state);
        fail_alloc_after(n);
        tacet_status status = apply(&state, budget(TACET_ACCOUNTING_BASIC, 1000));
        for (uint64_t i = 1; status == TACET_OK && i < 200; i++) {
            char ticket[16];
            (void)snprintf(ticket, sizeof ticket, "%d", (int)i);
            tacet__record r = reserve(i, ticket, 0.1);
            r.reserve.charge.group = "g";
            r.reserve.charge.part = ticket;
            status = apply(&state, r);
            if (status == TACET_NO_MEMORY) { /* going on works */
                assert_ok(apply(&state, r));
            }
        }
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        tacet__state_clear(&state);
        if (!hit) {
            assert_ok(status);
            break;
        }
        assert_int_equal(status, TACET_NO_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_may_follow),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_agrees_with_plain_sums),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
