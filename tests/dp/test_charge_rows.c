/* SPDX-License-Identifier: Apache-2.0 */
/* test_charge_rows.c - what several rows of one person cost, each price computed a second time: by adding up, or from
 * the distributions themselves. Nothing is drawn. */
#include "support/gate.h"
#include "support/test.h"

#include <tacet/dp/ledger.h>
#include "dp/open/charge_rows.h"

#include <math.h>
#include <tacet/dp/open/calibrate.h>

static tacet_charge one(void) {
    tacet_charge c;
    tacet_charge_init(&c);
    return c;
}

TEST(one_row_costs_what_it_costs) {
    for (size_t rows = 0; rows <= 1; rows++) {
        tacet_charge c = one();
        tacet_charge_approx(&c, 1.5, 1e-6);
        assert_ok(tacet__charge_rows(&c, rows, false, NULL));
        assert_true(c.eps == 1.5 && c.delta == 1e-6 && c.claim == TACET_CLAIM_APPROX);
    }
    tacet_charge c = one();
    assert_ok(tacet__charge_rows(&c, 7, true, NULL)); /* what is not covered stays so */
    assert_true(isinf(c.eps) && c.claim == TACET_CLAIM_UNCOVERED);
}

/* Pure eps as Gaussian noise: never a mu that is too small, and none at all where a double cannot say it. */
TEST(pure_eps_is_never_less_as_gaussian_noise) {
    for (double eps = 0.1; eps < 540; eps += 0.1) {
        tacet_charge c = one();
        tacet_charge_pure(&c, eps);
        assert_true(isinf(c.mu) || 0.5 * erfc(c.mu / (2 * sqrt(2))) <= 1 / (1 + exp(eps)));
        assert_true(eps > 500 || isfinite(c.mu));
    }
}

TEST(ten_rows_of_pure_eps_cost_ten) {
    for (int apart = 0; apart < 2; apart++) {
        tacet_charge c = one();
        tacet_charge_pure(&c, 1);
        assert_ok(tacet__charge_rows(&c, 10, apart != 0, NULL));
        assert_true(c.eps == 10 && c.delta == 0 && c.claim == TACET_CLAIM_PURE);
        tacet_charge_pure(&c, 0.1); /* 3 x 0.1 is no double: never below */
        assert_ok(tacet__charge_rows(&c, 3, apart != 0, NULL));
        assert_true(c.eps >= 0.3 && fma(3, 0.1, -c.eps) <= 0);
    }
}

TEST(a_delta_adds_up_apart_and_grows_in_a_group) {
    tacet_charge c = one();
    tacet_charge_approx(&c, 0.5, 1e-6);
    assert_ok(tacet__charge_rows(&c, 4, true, NULL));
    assert_true(c.eps == 2 && c.delta >= 4e-6 && c.delta < 4.0001e-6);
    /* P <= e^eps P' + delta, four times over */
    double delta = 0;
    for (int k = 0; k < 4; k++) {
        delta = exp(0.5) * delta + 1e-6;
    }
    tacet_charge_approx(&c, 0.5, 1e-6);
    assert_ok(tacet__charge_rows(&c, 4, false, NULL));
    assert_true(c.eps == 2 && c.delta >= delta && c.delta < delta * 1.000001);
    for (double eps = 0.1; eps < 70; eps += 0.1) { /* never below it, also where 3 eps is no double */
        tacet_charge_approx(&c, eps, 1e-90);
        assert_ok(tacet__charge_rows(&c, 3, false, NULL));
        assert_true(c.delta >= 1e-90L * expm1l(3.0L * eps) / expm1l(eps));
    }
    tacet_charge_approx(&c, 2, 1e-6);
    assert_status(tacet__charge_rows(&c, 10, false, NULL), TACET_INVALID);
}

/* eps and delta may say more than mu, which is that of the pure eps an l2 mechanism has besides. */
TEST(the_smaller_eps_is_told) {
    tacet_charge c = one();
    tacet_charge_gaussian(&c, 3, 1, 1e-6);
    assert_ok(tacet__charge_rows(&c, 4, true, NULL));
    assert_true(c.claim == TACET_CLAIM_GAUSSIAN && c.eps == 4 && c.delta >= 4e-6 && c.delta < 4.0001e-6 && c.mu >= 6);
    tacet_charge_gaussian(&c, 3, 1, 1e-6);
    assert_ok(tacet__charge_rows(&c, 2, false, NULL));
    assert_true(c.eps == 2 && c.delta >= (1 + exp(1)) * 1e-6 && c.delta < 3.72e-6 && c.mu >= 6);
}

/* Rows apart are independent Gaussians, so their squares add up; one sum moves by all of them. */
TEST(gaussian_noise_composes_or_shifts) {
    double mu = 0, eps = 0;
    assert_ok(tacet_gdp_mu(&mu, 1, 1e-5, NULL));
    for (int apart = 0; apart < 2; apart++) {
        tacet_charge c = one();
        const double whole = mu * (apart != 0 ? 3 : 9); /* of nine rows */
        tacet_charge_gaussian(&c, mu, 1, 1e-5);
        assert_ok(tacet__charge_rows(&c, 9, apart != 0, NULL)); /* a group of them has a delta of no use: the curve */
        assert_ok(tacet_gdp_eps(&eps, whole, 1e-5, NULL));
        assert_true(c.mu >= whole && c.mu < whole * 1.000001);
        assert_true(c.eps >= eps && c.eps < eps * 1.000001 && c.delta == 1e-5);
        tacet_charge_zcdp(&c, 0.5, 1, 1e-5);
        assert_ok(tacet__charge_rows(&c, 9, apart != 0, NULL));
        assert_true(c.rho >= (apart != 0 ? 4.5 : 40.5) && c.rho < (apart != 0 ? 4.501 : 40.51) && isinf(c.eps));
    }
}

/* Through the gate: what the ledger has spent on a release of ten rows a person. */
TEST(a_release_is_charged_for_all_rows_of_a_person) {
    OWN_FOLDER const char *folder = test_mkdir();
    const double value = 0.5;
    const tacet_neighbours replace = {.relation = TACET_RELATION_REPLACE};
    tacet_ledger_totals totals;
    OWN_RELEASE tacet_release *release = NULL;
    OWN_TEXT char *path = test_text("%s/ledger", folder);
    OWN_LEDGER tacet_ledger *ledger = test_ledger(path, TACET_ACCOUNTING_BASIC, 5);
    OWN_BOUND tacet_bound *bound = test_norm(1, 1);
    OWN_MECHANISM tacet_mechanism *mechanism = test_mechanism(TACET_MECHANISM_KNORM, bound, &replace, 0.25, 0);
    OWN_BOUNDED tacet_bounded *bounded = test_bounded(bound, &value);
    const tacet_ask ask = {.ledger = ledger, .ticket = "t", .what = "w", .to_whom = "x", .rows_each = 10};
    assert_ok(tacet_mechanism_run(mechanism, &release, &ask, bounded, NULL));
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_true(totals.spent >= 2.5 && totals.spent < 2.5 * 1.000001);
    /* One draw hides them all: a Gaussian's curve is ten times as far, and not the root of it. */
    OWN_TEXT char *beside = test_text("%s/curves", folder);
    OWN_LEDGER tacet_ledger *curves = test_ledger(beside, TACET_ACCOUNTING_GAUSSIAN, 5);
    OWN_MECHANISM tacet_mechanism *normal = test_mechanism(TACET_MECHANISM_GAUSSIAN, bound, &replace, 0.25, 1e-5);
    OWN_RELEASE tacet_release *other = NULL;
    const tacet_ask group = {.ledger = curves, .ticket = "t", .what = "w", .to_whom = "x", .rows_each = 10};
    const double mu = tacet_mechanism_sensitivity(normal) / tacet_mechanism_scale(normal);
    assert_ok(tacet_mechanism_run(normal, &other, &group, bounded, NULL));
    assert_ok(tacet_ledger_total(curves, &totals, NULL));
    assert_true(totals.spent >= 10 * mu && totals.spent < 10 * mu * 1.000001);
}
