/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger_numerical.c - the numerical total of a ledger: what it adds up, what counts once, when it says nothing.
 */
#include "dp/ledger_view_fixture.h"

#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/open/pld.h>

static const double DELTA = 1e-5;

static double numerical(void) {
    tacet__ledger_view *view = NULL;
    double eps = 0;
    assert_ok(tacet__ledger_view_open(&view, path, NULL));
    assert_ok(tacet__ledger_numerical(view, &eps, DELTA, 3, NULL));
    tacet__ledger_view_close(view);
    return eps;
}

static double expected(size_t pure, double each, double mu) {
    tacet_pld *p = NULL;
    assert_ok(tacet_pld_create(&p, 12, 0, NULL));
    if (mu > 0) {
        assert_ok(tacet_pld_gaussian(p, mu, 1, NULL));
    }
    if (pure > 0) {
        assert_ok(tacet_pld_approx(p, each, 0, pure, NULL));
    }
    const double eps = tacet_pld_eps(p, DELTA);
    tacet_pld_free(p);
    return eps;
}

static void add_part(tacet_ledger *ledger, const char *ticket, const char *part, double eps) {
    tacet_charge c = charge(eps);
    c.group = "outputs";
    c.part = part;
    add(ledger, ticket, &c, "x");
}

static void entries_are_added_up_and_parts_count_once(void **state) {
    tacet_ledger *ledger = open_ledger(TACET_ACCOUNTING_GAUSSIAN, 40);
    tacet_charge c = charge(0.1), gaussian = charge(1), open;
    char ticket[16];
    double eps = 0, mu = 0.4;
    assert_true(numerical() == 0); /* nothing spent */
    for (int i = 0; i < 30; i++) {
        (void)snprintf(ticket, sizeof ticket, "t%d", i);
        add(ledger, ticket, &c, i % 2 == 0 ? "x" : NULL); /* answered or not: it is spent */
    }
    assert_close(numerical(), expected(30, 0.1, 0), 1e-9);
    assert_true(numerical() < 3);
    assert_ok(tacet_gdp_eps(&eps, mu, DELTA, NULL));
    gaussian.mechanism = "gaussian";
    tacet_charge_gaussian(&gaussian, mu, eps, DELTA);
    add(ledger, "g", &gaussian, "x");
    const double both = numerical();
    assert_close(both, expected(30, 0.1, mu), 0.01 * both); /* in another order: the rounding differs */
    add_part(ledger, "p1", "row 1", 0.1);
    const double one_part = numerical();
    assert_close(one_part, expected(31, 0.1, mu), 0.01 * one_part);
    assert_true(one_part > both);
    add_part(ledger, "p2", "row 2", 0.1);
    add_part(ledger, "p3", "row 3", 0.1);
    assert_true(numerical() == one_part);
    tacet_charge_init(&open);
    open.what = "a value";
    open.to_whom = "the modeler";
    open.uncovered_fields = "value";
    tacet_entry entry;
    tacet_blob memo;
    tacet_blob_init(&memo);
    assert_ok(tacet_ledger_disclose(ledger, &entry, &memo, "u", &open, "x", 1, NULL));
    tacet_blob_clear(&memo);
    assert_true(numerical() == one_part); /* an uncovered entry has no eps to add */
    tacet_ledger_close(ledger);
}

/* Parts of different cost, or one part twice: nothing is said, rather than too little. */
static void what_it_cannot_add_up_is_infinite(void **state) {
    static const char *const PARTS[][2] = {{"row 1", "row 1"}, {"row 1", "row 2"}};
    static const double COSTS[] = {0.1, 0.2};
    for (size_t i = 0; i < 2; i++) {
        tacet_ledger *ledger = open_ledger(TACET_ACCOUNTING_BASIC, 40);
        add_part(ledger, "a", PARTS[i][0], 0.1);
        assert_true(isfinite(numerical()));
        add_part(ledger, "b", PARTS[i][1], COSTS[i]);
        assert_true(numerical() == INFINITY);
        tacet_ledger_close(ledger);
        assert_int_equal(teardown(NULL), 0);
        assert_int_equal(setup(NULL), 0);
    }
    tacet_ledger *ledger = open_ledger(TACET_ACCOUNTING_ZCDP, 40);
    tacet_charge c = charge(1);
    tacet_charge_zcdp(&c, 0.01, 1, DELTA);
    add(ledger, "z", &c, "x");
    assert_true(numerical() == INFINITY);
    const tacet_charge pure = charge(0.1); /* what can be added up does not hide what cannot */
    add(ledger, "p", &pure, "x");
    assert_true(numerical() == INFINITY);
    tacet_ledger_close(ledger);
}

/* Out of memory anywhere: no number, or the right one. Costs that differ in one part only are told apart. */
static void no_memory(void **state) {
    tacet_ledger *ledger = open_ledger(TACET_ACCOUNTING_BASIC, 40);
    char ticket[16];
    for (int i = 0; i < 12; i++) {
        tacet_charge c = charge(i % 2 == 0 ? 0.1 : 0.2);
        c.delta = i % 4 < 2 ? 1e-8 : 1e-9; /* each eps with either, and neither always first */
        c.claim = TACET_CLAIM_APPROX;
        c.rho = c.mu = INFINITY;
        (void)snprintf(ticket, sizeof ticket, "t%d", i);
        add(ledger, ticket, &c, "x");
    }
    tacet_ledger_close(ledger);
    const double want = numerical();
    assert_true(want > 1 && want < 2);
    size_t failures = 0;
    for (long n = 1;; n++) {
        tacet__ledger_view *view = NULL;
        double eps = 0;
        fail_alloc_after(n);
        tacet_status status = tacet__ledger_view_open(&view, path, NULL);
        status = status == TACET_OK ? tacet__ledger_numerical(view, &eps, DELTA, 3, NULL) : status;
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        tacet__ledger_view_close(view);
        assert_true(status == TACET_OK ? eps == want : status == TACET_NO_MEMORY && !(eps > 0 && isfinite(eps)));
        failures += status != TACET_OK;
        if (!hit) {
            break;
        }
    }
    assert_true(failures > 10);
    failures = 0;
    for (long n = 1;; n++) { /* and the same of verifying */
        tacet__ledger_report report;
        fail_alloc_after(n);
        const tacet_status status = verify(&report, NULL, &(tacet_error){0});
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        failures += status != TACET_OK;
        if (!hit) {
            assert_ok(status);
            break;
        }
    }
    assert_true(failures > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(entries_are_added_up_and_parts_count_once, setup, teardown),
        cmocka_unit_test_setup_teardown(what_it_cannot_add_up_is_infinite, setup, teardown),
        cmocka_unit_test_setup_teardown(no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
