/* SPDX-License-Identifier: Apache-2.0 */
/* test_select.c - the price of the best of K runs against the exact law of the best, for mechanisms with two outcomes.
 */
#include "support/gate.h"
#include "support/test.h"

#include <tacet/dp/ledger.h>
#include <tacet/dp/open/calibrate.h>

/* E x^K, 0 <= x <= 1, of the truncated negative binomial law. */
static double generating(const tacet_select *law, double x) {
    const double inside = log1p(-(1 - law->gamma) * x);
    return law->eta == 0 ? inside / log(law->gamma) : expm1(-law->eta * inside) / expm1(-law->eta * log(law->gamma));
}

/* A run is "good" with probability p, or q for a neighbour, as far apart as eps allows; the best of K is good unless
 * all are bad: with probability E (1 - p)^K. */
TEST(the_exact_loss_is_below_the_price) {
    for (double eta = 0; eta <= 2; eta += 0.5) {
        for (double runs = 2; runs < 1000; runs *= 3) {
            for (double eps = 0.1; eps < 3; eps *= 2) {
                tacet_select law;
                double worst = 0;
                assert_ok(tacet_select_law(&law, eta, runs, NULL));
                assert_close(law.runs, runs, 1e-6 * runs);
                assert_ok(tacet_select_pure(&law, eps, NULL));
                assert_true(law.eps >= (2 + eta) * eps && law.eps < (2 + eta) * eps * 1.0001 && law.delta == 0);
                for (double p = 1e-6; p < 1; p *= 1.3) {
                    /* 1 - q = e^eps (1 - p) or q = e^eps p or the other way, whichever are probabilities */
                    const double others[] = {p * exp(eps), p * exp(-eps), 1 - (1 - p) * exp(eps),
                                             1 - (1 - p) * exp(-eps)};
                    for (int i = 0; i < 4; i++) {
                        const double q = others[i];
                        if (!(q > 0 && q < 1) || fabs(log(q / p)) > eps * 1.0000001 ||
                            fabs(log((1 - q) / (1 - p))) > eps * 1.0000001) {
                            continue;
                        }
                        const double bad_p = generating(&law, 1 - p);
                        const double bad_q = generating(&law, 1 - q);
                        worst = fmax(worst, fabs(log(bad_p / bad_q)));
                        if (bad_p < 1 - 1e-9 && bad_q < 1 - 1e-9) {
                            worst = fmax(worst, fabs(log((1 - bad_p) / (1 - bad_q))));
                        }
                    }
                }
                assert_true(worst <= law.eps * 1.00001);
                assert_true(worst > eps * 0.99); /* the choice costs more than a run */
            }
        }
    }
}

TEST(the_law_is_a_law) {
    tacet_select law;
    assert_ok(tacet_select_law(&law, 1, 10, NULL));
    assert_close(generating(&law, 1), 1, 1e-12);
    assert_close(generating(&law, 0), 0, 1e-12);
    assert_close(law.gamma, 0.1, 1e-9); /* geometric with mean 10 */
    assert_close((1 - generating(&law, 1 - 1e-7)) / 1e-7, 10, 1e-4);
}

/* Concentrated runs: more than one run at the same delta, less than as many as there are, and little for more. */
TEST(concentrated_runs_cost_little_more) {
    tacet_select ten, many;
    double once = 0, all = 0;
    assert_ok(tacet_zcdp_eps(&once, 0.05, 1e-6, NULL));
    assert_ok(tacet_zcdp_eps(&all, 0.05 * 100, 1e-6, NULL));
    assert_ok(tacet_select_law(&ten, 0, 10, NULL));
    assert_ok(tacet_select_zcdp(&ten, 0.05, 1e-6, NULL));
    assert_ok(tacet_select_law(&many, 0, 100, NULL));
    assert_ok(tacet_select_zcdp(&many, 0.05, 1e-6, NULL));
    assert_true(ten.eps > once && many.eps > ten.eps && many.eps < 2.5 * once && many.eps < all);
}

TEST(nonsense_is_refused) {
    tacet_select law;
    const double bad[] = {-1, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        assert_status(tacet_select_law(&law, bad[i], 10, NULL), TACET_INVALID);
        assert_status(tacet_select_law(&law, 0, bad[i], NULL), TACET_INVALID);
    }
    assert_ok(tacet_select_law(&law, 0, 10, NULL));
    for (int i = 0; i < 3; i++) {
        assert_status(tacet_select_pure(&law, bad[i], NULL), TACET_INVALID);
        assert_status(tacet_select_zcdp(&law, bad[i], 1e-5, NULL), TACET_INVALID);
        assert_status(tacet_select_zcdp(&law, 1, bad[i], NULL), TACET_INVALID);
    }
}

static tacet_status choose(tacet_ledger *ledger, tacet_entry *entry, const char *ticket, const tacet_select *law) {
    return tacet_ledger_select(ledger, entry, ticket, "best of some", "anyone", law, NULL);
}

TEST(a_choice_is_entered_once_or_refused) {
    OWN_FOLDER const char *folder = test_mkdir();
    char path[512];
    tacet_ledger_totals totals;
    tacet_entry first, again;
    tacet_select pure, approximate;
    (void)snprintf(path, sizeof path, "%s/basic", folder);
    OWN_LEDGER tacet_ledger *basic = test_ledger(path, TACET_ACCOUNTING_BASIC, 5);
    (void)snprintf(path, sizeof path, "%s/zcdp", folder);
    OWN_LEDGER tacet_ledger *zcdp = test_ledger(path, TACET_ACCOUNTING_ZCDP, 5);
    assert_ok(tacet_select_law(&pure, 0, 10, NULL));
    assert_status(choose(basic, &first, "no price", &pure), TACET_INVALID);
    const double prices[][2] = {{NAN, 0}, {INFINITY, 0}, {1, -1e-9}, {1, NAN}, {1, 1}};
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) { /* a law that was filled in by hand */
        pure.eps = prices[i][0];
        pure.delta = prices[i][1];
        assert_status(choose(basic, &first, "no price", &pure), TACET_INVALID);
    }
    assert_ok(tacet_ledger_total(basic, &totals, NULL));
    assert_true(totals.entries == 0);
    assert_ok(tacet_select_law(&pure, 0, 10, NULL));
    assert_ok(tacet_select_pure(&pure, 1, NULL));
    assert_ok(choose(basic, &first, "tuning", &pure));
    assert_ok(choose(basic, &again, "tuning", &pure));
    assert_true(again.answered && again.seq == first.seq);
    assert_ok(tacet_select_law(&approximate, 1, 10, NULL));
    assert_ok(tacet_select_zcdp(&approximate, 0.01, 1e-6, NULL));
    assert_ok(choose(basic, &again, "more", &approximate));
    assert_ok(tacet_ledger_total(basic, &totals, NULL));
    assert_true(totals.entries == 2 && totals.answered == 2);
    assert_close(totals.eps, pure.eps + approximate.eps, 1e-9);
    assert_close(totals.delta, 1e-6, 1e-12);
    assert_status(choose(basic, &again, "tuning", &approximate), TACET_CONFLICT);
    assert_status(choose(basic, &again, "too much", &pure), TACET_BUDGET);
    assert_ok(tacet_select_pure(&pure, 0.1, NULL));
    assert_ok(choose(zcdp, &again, "tuning", &pure)); /* a pure eps has a rho, an (eps, delta) has none */
    assert_status(choose(zcdp, &again, "more", &approximate), TACET_INVALID);
}
