/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger_numerical.c - the numerical total of a ledger: what it adds up, what counts once, when it says nothing.
 */
#include "dp/ledger_view_fixture.h"
#include "dp/mechanisms/mechanism_internal.h"
#include "dp/open/parameters.h"

#include <jansson.h>
#include <tacet/dp/bound.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/open/ledger_read.h>
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

/* A record is in one part: a group costs as many of its dearest entries as the fullest part has entries. */
static void a_group_costs_its_dearest_part(void **state) {
    tacet_ledger *ledger = open_ledger(TACET_ACCOUNTING_BASIC, 40);
    add_part(ledger, "a", "row 1", 0.1);
    assert_close(numerical(), expected(1, 0.1, 0), 1e-9);
    add_part(ledger, "b", "row 2", 0.2);
    assert_close(numerical(), expected(1, 0.2, 0), 1e-9);
    add_part(ledger, "c", "row 3", 0.05);
    assert_close(numerical(), expected(1, 0.2, 0), 1e-9);
    add_part(ledger, "d", "row 1", 0.1);
    assert_close(numerical(), expected(2, 0.2, 0), 1e-9);
    add_part(ledger, "e", "row 2", 0.1);
    assert_close(numerical(), expected(2, 0.2, 0), 1e-9);
    tacet_ledger_close(ledger);
}

/* A charge as the gate writes it: noise of this scale on numbers of this sensitivity. */
static tacet_charge noise(const char *mechanism, double sensitivity, double scale, double count) {
    static char parameters[200];
    const double pure = nextafter(sensitivity / scale, INFINITY);
    tacet_charge c = charge(pure);
    (void)snprintf(parameters, sizeof parameters, "{\"scale\":%.17g,\"sensitivity\":%.17g,\"count\":%.17g}", scale,
                   sensitivity, count);
    c.mechanism = mechanism;
    c.parameters = parameters;
    if (strcmp(mechanism, "l2") == 0) {
        double mu = 0;
        assert_ok(tacet_gdp_from_pure(&mu, pure, NULL));
        tacet_charge_gaussian(&c, mu, 0.9 * pure, DELTA);
    }
    return c;
}

/* eps of one charge, alone in a ledger, twice. */
static double twice(const tacet_charge *c) {
    tacet_ledger *ledger = open_ledger(TACET_ACCOUNTING_GAUSSIAN, 40);
    add(ledger, "a", c, "x");
    add(ledger, "b", c, "x");
    tacet_ledger_close(ledger);
    const double eps = numerical();
    assert_int_equal(teardown(NULL), 0);
    assert_int_equal(setup(NULL), 0);
    return eps;
}

/* Noise is added up by its own curve, which is below that of its claim. */
static void noise_is_known_by_its_parameters(void **state) {
    tacet_pld *laplace = NULL, *euclidean = NULL;
    assert_ok(tacet_pld_create(&laplace, 12, 0, NULL));
    assert_ok(tacet_pld_laplace(laplace, 0.5, 2, NULL));
    assert_ok(tacet_pld_create(&euclidean, 12, 0, NULL));
    assert_ok(tacet_pld_l2(euclidean, 2, 1, 6, 2, NULL));
    const double of_laplace = tacet_pld_eps(laplace, DELTA), of_euclidean = tacet_pld_eps(euclidean, DELTA);
    const double of_pure = expected(2, 0.5, 0);
    double mu = 0;
    assert_ok(tacet_gdp_from_pure(&mu, 0.5, NULL));
    assert_true(of_euclidean < of_laplace && of_laplace < of_pure);
    tacet_charge c = noise("laplace", 1, 2, 6);
    assert_close(twice(&c), of_laplace, 1e-9);
    c = noise("k-norm", 1, 2, 1);
    assert_close(twice(&c), of_laplace, 1e-9);
    c = noise("k-norm", 1, 2, 6);
    assert_close(twice(&c), of_euclidean, 1e-9);
    c = noise("l2", 1, 2, 6);
    assert_close(twice(&c), of_euclidean, 1e-9);
    tacet_pld_free(laplace);
    tacet_pld_free(euclidean);
}

/* What the gate itself writes is read: noise costs less than its claim, unless levels stand beside it. */
static void charges_of_the_gate_are_read(void **state) {
    static const tacet_mechanism_kind KINDS[] = {TACET_MECHANISM_LAPLACE, TACET_MECHANISM_KNORM, TACET_MECHANISM_L2};
    static const tacet_neighbours MOVE = {TACET_RELATION_MOVE, 1};
    static const size_t LEVELS[] = {4};
    char parameters[TACET__PARAMETERS_BYTES];
    tacet_bound *bound = NULL;
    assert_ok(tacet_bound_norm(&bound, 6, 25, NULL));
    for (size_t i = 0; i < 3; i++) {
        tacet_mechanism *m = NULL;
        tacet_charge c;
        assert_ok(tacet_mechanism_create(&m, KINDS[i], bound, &MOVE, 0.7, DELTA, NULL));
        for (size_t levels = 0; levels < (i > 0 ? 2 : 1); levels++) {
            if (levels == 1) {
                assert_ok(tacet_mechanism_add_levels(m, LEVELS, 1, NULL));
            }
            tacet__mechanism_charge(m, &c, parameters, sizeof parameters, 10, 10);
            c.what = "rows";
            c.to_whom = "the modeler";
            const double noise = twice(&c);
            c.parameters = "";
            const double claim = twice(&c);
            assert_true(levels == 0 ? noise < claim - 1e-6 : noise == claim);
        }
        tacet_mechanism_free(m);
    }
    tacet_bound_free(bound);
}

/* A claim above what this noise would cost covers more than the noise (here a change in each of three numbers, each of
 * this sensitivity), and is not made smaller. */
static void a_claim_above_its_noise_counts(void **state) {
    tacet_charge c = noise("laplace", 1, 2, 3);
    tacet_charge_pure(&c, 1.5);
    assert_close(twice(&c), expected(2, 1.5, 0), 1e-9);
    c = noise("k-norm", 1, 2, 3);
    tacet_charge_pure(&c, 0.5 * (1 + 1e-6));
    assert_close(twice(&c), expected(2, 0.5 * (1 + 1e-6), 0), 1e-9);
}

static void parameters_are_found_by_their_names(void **state) {
    static const char *const NONE[] = {
        "",           "{",           "{}",          "{\"a\":\"1\"}",           "{\"a\":1,\"a\":1}", "{\"a\":1",
        "{\"ba\":1}", "{\"a\":[1]}", "{\"a\":nan}", "{\"b\":\"\\\"a\\\":1\"}", "{\"b\":\"a\"}"};
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++) {
        assert_true(tacet__parameter_number(NONE[i], "a") == 0);
    }
    assert_true(tacet__parameter_number("{\"b\":2,\"a\":-1.5e-3}", "a") == -1.5e-3);
    assert_true(tacet__parameter_number("{\"a\":12345678.901234567,\"b\":2}", "a") == 12345678.901234567);
    assert_true(tacet__parameter_named("{\"b\":2,\"levels\":[2,", "levels"));
    assert_false(tacet__parameter_named("{\"b\":\"levels\"}", "levels"));
}

/* Parameters that say nothing, or do not fit the claim, change nothing: the claim is what was proven. */
static void otherwise_the_claim_counts(void **state) {
    static const char *const SAY_NOTHING[] = {"",
                                              "{",
                                              "{}",
                                              "{\"scale\":2,\"sensitivity\":1}",
                                              "{\"scale\":2,\"sensitivity\":1,\"count\":4097}",
                                              "{\"scale\":-2,\"sensitivity\":1,\"count\":1}",
                                              "{\"scale\":0,\"sensitivity\":1,\"count\":1}",
                                              "{\"scale\":1e-3,\"sensitivity\":1,\"count\":1}",
                                              "{\"scale\":2,\"sensitivity\":1,\"count\":1,\"levels\":[2]}",
                                              "{\"scale\":1.9,\"sensitivity\":1,\"count\":1}"};
    const double of_pure = expected(2, nextafter(0.5, 1), 0);
    tacet_charge c = noise("laplace", 1, 2, 1);
    assert_true(twice(&c) < of_pure - 1e-6);
    for (size_t i = 0; i < sizeof SAY_NOTHING / sizeof *SAY_NOTHING; i++) {
        c.parameters = SAY_NOTHING[i];
        assert_close(twice(&c), of_pure, 1e-9);
    }
    static const char *const CHOICES[] = {"exponential", "hybrid", "gaussian"};
    for (size_t i = 0; i < 3; i++) {
        c = noise(CHOICES[i], 1, 2, 1);
        assert_close(twice(&c), of_pure, 1e-9);
    }
    c = noise("l2", 1, 2, 6); /* of a mu that its scale does not have */
    const double mu = c.mu = 0.9 * c.mu;
    c.rho = mu * mu / 2;
    tacet_pld *p = NULL;
    assert_ok(tacet_pld_create(&p, 12, 0, NULL));
    assert_ok(tacet_pld_gaussian(p, mu, 2, NULL));
    assert_close(twice(&c), tacet_pld_eps(p, DELTA), 1e-9);
    tacet_pld_free(p);
    tacet_ledger *ledger = open_ledger(TACET_ACCOUNTING_BASIC, 40);
    c = noise("laplace", 1, 2, 1);
    tacet_charge_approx(&c, 0.5, 1e-9); /* a claim that this noise never makes */
    add(ledger, "a", &c, "x");
    add(ledger, "b", &c, "x");
    tacet_ledger_close(ledger);
    assert_true(numerical() >= of_pure);
}

/* By the path of a ledger: the grid follows what was spent; at delta = 0 the rule of the ledger is all there is. */
static void a_ledger_is_read_by_its_path(void **state) {
    static const double DELTAS[] = {0, 1e-5};
    for (size_t i = 0; i < 2; i++) {
        tacet_ledger *ledger = NULL;
        tacet_ledger_settings s;
        double eps = 1;
        tacet_ledger_settings_defaults(&s);
        s.eps = 40;
        s.accounting = TACET_ACCOUNTING_BASIC;
        s.delta = DELTAS[i];
        assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
        assert_ok(tacet_ledger_numerical(&eps, path, NULL));
        assert_true(eps == 0);
        for (int k = 0; k < 10; k++) {
            char ticket[16];
            const tacet_charge c = noise("laplace", 1, 10, 3);
            (void)snprintf(ticket, sizeof ticket, "t%d", k);
            add(ledger, ticket, &c, "x");
        }
        assert_ok(tacet_ledger_numerical(&eps, path, NULL));
        tacet_pld *p = NULL;
        assert_ok(tacet_pld_create(&p, 4, 0, NULL));
        assert_ok(tacet_pld_laplace(p, nextafter(0.1, 1), 10, NULL));
        assert_close(eps, i == 0 ? 1 : tacet_pld_eps(p, DELTAS[i]), 1e-6);
        tacet_pld_free(p);
        tacet_ledger_close(ledger);
        assert_int_equal(teardown(NULL), 0);
        assert_int_equal(setup(NULL), 0);
    }
}

static void what_it_cannot_add_up_is_infinite(void **state) {
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

/* Losses beyond all grids may tell everything: alone, and in the part of a group that another part hides. */
static void what_is_beyond_all_grids_is_infinite(void **state) {
    for (int grouped = 0; grouped < 2; grouped++) {
        tacet_ledger *ledger = open_ledger(TACET_ACCOUNTING_BASIC, 1e4);
        const tacet_charge small = charge(0.1), large = charge(600);
        double eps = 0;
        add(ledger, "small", &small, "x");
        if (grouped == 1) {
            add_part(ledger, "a", "row 1", 600);
            add_part(ledger, "b", "row 2", 0.1);
        } else {
            add(ledger, "large", &large, "x");
        }
        tacet_ledger_close(ledger);
        assert_ok(tacet_ledger_numerical(&eps, path, NULL));
        assert_true(eps == INFINITY);
        assert_int_equal(teardown(NULL), 0);
        assert_int_equal(setup(NULL), 0);
    }
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
    const tacet_charge laplace = noise("laplace", 1, 100 / 3.0, 2); /* more digits than fit where a parser begins */
    add(ledger, "noise", &laplace, "x");
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
        cmocka_unit_test_setup_teardown(a_group_costs_its_dearest_part, setup, teardown),
        cmocka_unit_test_setup_teardown(noise_is_known_by_its_parameters, setup, teardown),
        cmocka_unit_test_setup_teardown(charges_of_the_gate_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_claim_above_its_noise_counts, setup, teardown),
        cmocka_unit_test(parameters_are_found_by_their_names),
        cmocka_unit_test_setup_teardown(otherwise_the_claim_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(a_ledger_is_read_by_its_path, setup, teardown),
        cmocka_unit_test_setup_teardown(what_it_cannot_add_up_is_infinite, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_beyond_all_grids_is_infinite, setup, teardown),
        cmocka_unit_test_setup_teardown(no_memory, setup, teardown),
    };
    json_set_alloc_funcs(malloc, free); /* so that jansson's can fail, too */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
