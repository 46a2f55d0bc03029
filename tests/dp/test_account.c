/* test_account.c - composition rules against hand-computed sums, the filter at its edge, parallel parts, mixtures. */
#include "support/test.h"

#include <tacet/dp/account.h>
#include <tacet/dp/open/calibrate.h>

static tacet_charge base_charge(void) {
    tacet_charge c;
    tacet_charge_init(&c);
    c.what = "test";
    c.to_whom = "nobody";
    c.mechanism = "test";
    return c;
}

static tacet_charge pure(double eps) {
    tacet_charge c = base_charge();
    tacet_charge_pure(&c, eps);
    return c;
}

static tacet_charge gaussian(double mu, double eps, double delta) {
    tacet_charge c = base_charge();
    tacet_charge_gaussian(&c, mu, eps, delta);
    return c;
}

static tacet_charge zcdp(double rho, double eps, double delta) {
    tacet_charge c = base_charge();
    tacet_charge_zcdp(&c, rho, eps, delta);
    return c;
}

static tacet_charge approx(double eps, double delta) {
    tacet_charge c = base_charge();
    tacet_charge_approx(&c, eps, delta);
    return c;
}

static tacet_charge in_part(tacet_charge c, const char *group, const char *part) {
    c.group = group;
    c.part = part;
    return c;
}

static double eps_of(const tacet_tally *t, tacet_accounting rule, double delta) {
    double eps = NAN;
    assert_ok(tacet_tally_eps(t, &eps, rule, delta, NULL));
    return eps;
}

static void sums(void **state) {
    (void)state;
    tacet_tally t;
    tacet_tally_init(&t);
    assert_true(eps_of(&t, TACET_ACCOUNTING_BASIC, 0) == 0);
    assert_true(eps_of(&t, TACET_ACCOUNTING_ZCDP, 1e-5) == 0);
    assert_true(eps_of(&t, TACET_ACCOUNTING_GAUSSIAN, 1e-5) == 0);
    tacet_charge c = pure(0.5);
    assert_ok(tacet_tally_add(&t, &c, NULL));
    assert_ok(tacet_tally_add(&t, &c, NULL));
    assert_close(eps_of(&t, TACET_ACCOUNTING_BASIC, 0), 1, 1e-15);
    assert_true(eps_of(&t, TACET_ACCOUNTING_BASIC, 0) >= 1);
    double want = 0;
    assert_ok(tacet_zcdp_eps(&want, 0.25, 1e-5, NULL));
    assert_close(eps_of(&t, TACET_ACCOUNTING_ZCDP, 1e-5), want, 1e-9);
    double mu = 0;
    assert_ok(tacet_gdp_from_pure(&mu, 0.5, NULL));
    assert_ok(tacet_gdp_eps(&want, mu * sqrt(2), 1e-5, NULL));
    assert_close(eps_of(&t, TACET_ACCOUNTING_GAUSSIAN, 1e-5), want, 1e-9);
    /* an uncovered disclosure is no charge; what is no charge is refused */
    tacet_charge none = base_charge();
    none.mechanism = "none";
    const tacet_tally before = t;
    assert_ok(tacet_tally_add(&t, &none, NULL));
    assert_memory_equal(&before, &t, sizeof t);
    c.eps = NAN;
    assert_status(tacet_tally_add(&t, &c, NULL), TACET_INVALID);
    assert_memory_equal(&before, &t, sizeof t);
    double out = 0;
    assert_status(tacet_tally_eps(&t, &out, TACET_ACCOUNTING_BASIC, 1, NULL), TACET_INVALID);
    assert_status(tacet_tally_eps(&t, &out, TACET_ACCOUNTING_BASIC, NAN, NULL), TACET_INVALID);
    assert_status(tacet_tally_eps(&t, &out, (tacet_accounting)9, 0.1, NULL), TACET_INVALID);
    assert_status(tacet_tally_best_eps(&t, &out, -1, NULL), TACET_INVALID);
}

static void gaussians_are_exact(void **state) {
    (void)state;
    /* 100 Gaussian charges are one of a tenth of the sigma */
    tacet_tally t;
    tacet_tally_init(&t);
    const tacet_charge c = gaussian(0.05, INFINITY, 1);
    for (int i = 0; i < 100; i++) {
        assert_ok(tacet_tally_add(&t, &c, NULL));
    }
    double want = 0, zc = 0, best = 0;
    assert_ok(tacet_gdp_eps(&want, 0.5, 1e-6, NULL));
    const double got = eps_of(&t, TACET_ACCOUNTING_GAUSSIAN, 1e-6);
    assert_true(got >= want);
    assert_close(got, want, 1e-9);
    assert_ok(tacet_zcdp_eps(&zc, 0.125, 1e-6, NULL));
    assert_close(eps_of(&t, TACET_ACCOUNTING_ZCDP, 1e-6), zc, 1e-9);
    assert_true(got < zc);
    assert_ok(tacet_tally_best_eps(&t, &best, 1e-6, NULL));
    assert_true(best == got);
    /* nothing was stated for basic composition */
    assert_true(isinf(eps_of(&t, TACET_ACCOUNTING_BASIC, 0.5)));
}

static void mixtures(void **state) {
    (void)state;
    tacet_tally t;
    tacet_tally_init(&t);
    const tacet_charge g = gaussian(0.2, 1, 1e-6), z = zcdp(0.02, 1, 1e-6), p = pure(0.01), a = approx(0.3, 1e-7);
    assert_ok(tacet_tally_add(&t, &g, NULL));
    assert_ok(tacet_tally_add(&t, &z, NULL));
    /* zCDP has no Gaussian bound */
    assert_true(isinf(eps_of(&t, TACET_ACCOUNTING_GAUSSIAN, 1e-5)));
    assert_close(eps_of(&t, TACET_ACCOUNTING_BASIC, 2e-6), 2, 1e-12);
    assert_true(isinf(eps_of(&t, TACET_ACCOUNTING_BASIC, 1e-6)));
    double want = 0, best = 0;
    assert_ok(tacet_zcdp_eps(&want, 0.04, 1e-5, NULL));
    assert_close(eps_of(&t, TACET_ACCOUNTING_ZCDP, 1e-5), want, 1e-9);
    assert_ok(tacet_tally_best_eps(&t, &best, 1e-5, NULL));
    assert_true(best <= want * (1 + 1e-9));
    assert_ok(tacet_tally_add(&t, &p, NULL));
    assert_ok(tacet_tally_add(&t, &a, NULL));
    assert_ok(tacet_zcdp_eps(&want, 0.04 + 0.00005 + 0.045, 1e-5 - 1e-7, NULL));
    assert_close(eps_of(&t, TACET_ACCOUNTING_ZCDP, 1e-5), want, 1e-9);
    /* delta is used up by the approximate charge */
    assert_true(isinf(eps_of(&t, TACET_ACCOUNTING_ZCDP, 0.5e-7)));
    assert_true(isinf(eps_of(&t, TACET_ACCOUNTING_GAUSSIAN, 0.5e-7)));
    assert_ok(tacet_tally_best_eps(&t, &best, 0.5e-7, NULL));
    assert_true(isinf(best));
    /* family by family wins where one small pure charge joins a large Gaussian one */
    tacet_tally_init(&t);
    const tacet_charge big = gaussian(2, INFINITY, 1), small = pure(1e-3);
    assert_ok(tacet_tally_add(&t, &big, NULL));
    assert_ok(tacet_tally_add(&t, &small, NULL));
    double alone = 0;
    assert_ok(tacet_gdp_eps(&alone, 2, 1e-5, NULL));
    assert_ok(tacet_tally_best_eps(&t, &best, 1e-5, NULL));
    assert_true(best >= alone && best <= alone + 1.001e-3);
    /* zCDP alone */
    tacet_tally_init(&t);
    assert_ok(tacet_tally_add(&t, &z, NULL));
    assert_ok(tacet_zcdp_eps(&want, 0.02, 1e-5, NULL));
    assert_ok(tacet_tally_best_eps(&t, &best, 1e-5, NULL));
    assert_close(best, want, 1e-9);
    /* an exponential mechanism keeps its better rho */
    tacet_charge e = pure(0.4);
    e.rho = 0.02;
    tacet_tally_init(&t);
    assert_ok(tacet_tally_add(&t, &e, NULL));
    assert_close(t.pure_rho, 0.02, 1e-15);
    /* an eps that calibration does not cover has no Gaussian reading, only the others */
    tacet_charge large = pure(1e99);
    large.eps = 2e100;
    large.mu = INFINITY;
    large.rho = INFINITY;
    tacet_tally_init(&t);
    assert_ok(tacet_tally_add(&t, &large, NULL));
    assert_true(isinf(eps_of(&t, TACET_ACCOUNTING_GAUSSIAN, 1e-5)));
    assert_true(isinf(eps_of(&t, TACET_ACCOUNTING_ZCDP, 1e-5)));
    assert_close(eps_of(&t, TACET_ACCOUNTING_BASIC, 0) / 2e100, 1, 1e-12);
}

static void budgets(void **state) {
    (void)state;
    tacet_budget b = {TACET_ACCOUNTING_BASIC, 1, 0, 0};
    assert_ok(tacet_budget_check(&b, NULL));
    const double bad_eps[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        b.eps = bad_eps[i];
        assert_status(tacet_budget_check(&b, NULL), TACET_INVALID);
    }
    b = (tacet_budget){TACET_ACCOUNTING_BASIC, 1, 1, 0};
    assert_status(tacet_budget_check(&b, NULL), TACET_INVALID);
    b = (tacet_budget){TACET_ACCOUNTING_ZCDP, 1, 0, 0};
    assert_status(tacet_budget_check(&b, NULL), TACET_INVALID);
    b = (tacet_budget){TACET_ACCOUNTING_GAUSSIAN, 1, 1, 0.5};
    assert_status(tacet_budget_check(&b, NULL), TACET_INVALID);
    b = (tacet_budget){TACET_ACCOUNTING_GAUSSIAN, 1, 1e-5, 1e-5};
    assert_status(tacet_budget_check(&b, NULL), TACET_INVALID);
    b = (tacet_budget){TACET_ACCOUNTING_GAUSSIAN, 1, 1e-101, 0};
    assert_status(tacet_budget_check(&b, NULL), TACET_INVALID);
    b = (tacet_budget){TACET_ACCOUNTING_GAUSSIAN, 1, 1e-5, NAN};
    assert_status(tacet_budget_check(&b, NULL), TACET_INVALID);
    b = (tacet_budget){TACET_ACCOUNTING_GAUSSIAN, 1, NAN, 0};
    assert_status(tacet_budget_check(&b, NULL), TACET_INVALID);
    b = (tacet_budget){TACET_ACCOUNTING_GAUSSIAN, 1, 1e-5, -1e-6};
    assert_status(tacet_budget_check(&b, NULL), TACET_INVALID);
    b = (tacet_budget){(tacet_accounting)0, 1, 1e-5, 0};
    assert_status(tacet_budget_check(&b, NULL), TACET_INVALID);
    tacet_tally t;
    tacet_tally_init(&t);
    assert_status(tacet_budget_fits(&b, &t, NULL), TACET_INVALID);
    tacet_account *account = (tacet_account *)&t;
    assert_status(tacet_account_create(&account, &b, NULL), TACET_INVALID);
    assert_null(account);
    tacet_account_free(NULL);
}

static int admitted(const tacet_budget *b, const tacet_charge *c, int most) {
    tacet_account *account = NULL;
    assert_ok(tacet_account_create(&account, b, NULL));
    int count = 0;
    while (count < most) {
        tacet_error err;
        tacet_error_clear(&err);
        const tacet_status s = tacet_account_admit(account, c, &err);
        if (s != TACET_OK) {
            assert_int_equal(s, TACET_BUDGET);
            assert_non_null(strstr(err.message, "budget"));
            break;
        }
        count++;
    }
    /* a refusal changes nothing */
    tacet_tally total;
    tacet_account_total(account, &total);
    assert_ok(tacet_budget_fits(b, &total, NULL));
    tacet_account_free(account);
    return count;
}

static void filter(void **state) {
    (void)state;
    tacet_budget b = {TACET_ACCOUNTING_BASIC, 1, 0, 0};
    tacet_charge c = pure(0.1);
    assert_int_equal(admitted(&b, &c, 100), 10);
    c = pure(0.3);
    assert_int_equal(admitted(&b, &c, 100), 3);
    c = approx(0.1, 1e-6);
    assert_int_equal(admitted(&b, &c, 100), 0);
    b.delta = 3e-6;
    assert_int_equal(admitted(&b, &c, 100), 3);
    c = gaussian(0.1, INFINITY, 1);
    assert_int_equal(admitted(&b, &c, 100), 0);
    /* Gaussian: a charge of exactly the budget fits once; a quarter of its mu^2 four times */
    b = (tacet_budget){TACET_ACCOUNTING_GAUSSIAN, 1, 1e-5, 0};
    double sigma = 0, mu = 0;
    assert_ok(tacet_calibrate_gaussian(&sigma, 1, 1e-5, 1, NULL));
    c = gaussian(nextafter(1 / sigma, INFINITY), 1, 1e-5);
    assert_int_equal(admitted(&b, &c, 100), 1);
    assert_ok(tacet_gdp_mu(&mu, 1, 1e-5, NULL));
    c = gaussian(mu / 2, 1, 1e-5);
    assert_int_equal(admitted(&b, &c, 100), 4);
    c = zcdp(1e-9, 1, 1e-5);
    assert_int_equal(admitted(&b, &c, 100), 0);
    c = approx(0.01, 1e-6);
    assert_int_equal(admitted(&b, &c, 100), 0);
    b.delta_approx = 5e-6;
    assert_int_equal(admitted(&b, &c, 100), 5);
    /* zCDP */
    b = (tacet_budget){TACET_ACCOUNTING_ZCDP, 1, 1e-5, 0};
    double rho = 0;
    assert_ok(tacet_zcdp_rho(&rho, 1, 1e-5, NULL));
    c = zcdp(rho / 8, INFINITY, 1);
    assert_int_equal(admitted(&b, &c, 100), 8);
    c = gaussian(sqrt(2 * rho / 8), INFINITY, 1);
    assert_int_equal(admitted(&b, &c, 100), 8);
    c = pure(NAN);
    tacet_account *account = NULL;
    assert_ok(tacet_account_create(&account, &b, NULL));
    assert_status(tacet_account_admit(account, &c, NULL), TACET_INVALID);
    tacet_account_free(account);
}

static void parallel(void **state) {
    (void)state;
    const tacet_budget b = {TACET_ACCOUNTING_BASIC, 1, 0, 0};
    tacet_account *account = NULL;
    assert_ok(tacet_account_create(&account, &b, NULL));
    /* 50 disjoint rows at 0.5 each cost 0.5 together */
    char part[16];
    for (int i = 0; i < 50; i++) {
        snprintf(part, sizeof part, "row %d", (i * 37) % 50);
        const tacet_charge c = in_part(pure(0.5), "rows", part);
        assert_ok(tacet_account_admit(account, &c, NULL));
    }
    tacet_tally total;
    tacet_account_total(account, &total);
    assert_close(total.pure_eps, 0.5, 1e-12);
    /* one row again: 1.0; a third time is too much for it, not for the others */
    tacet_charge c = in_part(pure(0.5), "rows", "row 7");
    assert_ok(tacet_account_admit(account, &c, NULL));
    assert_status(tacet_account_admit(account, &c, NULL), TACET_BUDGET);
    c.part = "row 8";
    assert_ok(tacet_account_admit(account, &c, NULL));
    /* a cheap row does not make the dearest cheaper */
    c = in_part(pure(0.1), "rows", "row 99");
    assert_ok(tacet_account_admit(account, &c, NULL));
    tacet_account_total(account, &total);
    assert_close(total.pure_eps, 1, 1e-12);
    /* everybody, or another group, comes on top */
    c = pure(0.1);
    assert_status(tacet_account_admit(account, &c, NULL), TACET_BUDGET);
    c = in_part(pure(0.1), "rounds", "1");
    assert_status(tacet_account_admit(account, &c, NULL), TACET_BUDGET);
    tacet_account_total(account, &total);
    assert_close(total.pure_eps, 1, 1e-12);
    tacet_account_free(account);
    /* two groups add up */
    assert_ok(tacet_account_create(&account, &b, NULL));
    c = in_part(pure(0.4), "rows", "1");
    assert_ok(tacet_account_admit(account, &c, NULL));
    c = in_part(pure(0.4), "rounds", "1");
    assert_ok(tacet_account_admit(account, &c, NULL));
    c = pure(0.2);
    assert_ok(tacet_account_admit(account, &c, NULL));
    c = pure(1e-3);
    assert_status(tacet_account_admit(account, &c, NULL), TACET_BUDGET);
    tacet_account_free(account);
    /* merging takes the larger of each sum, joining the sum */
    tacet_tally x, y;
    tacet_tally_init(&x);
    tacet_tally_init(&y);
    const tacet_charge g = gaussian(0.5, 2, 1e-6), a = approx(0.25, 1e-7);
    assert_ok(tacet_tally_add(&x, &g, NULL));
    assert_ok(tacet_tally_add(&y, &a, NULL));
    tacet_tally merged = x;
    tacet_tally_merge(&merged, &y);
    assert_true(merged.gauss_mu_sq == x.gauss_mu_sq && merged.approx_eps == y.approx_eps);
    assert_true(merged.approx_delta == y.approx_delta && merged.stated_eps == x.stated_eps);
    tacet_tally_merge(&merged, &x);
    assert_true(merged.gauss_mu_sq == x.gauss_mu_sq);
    tacet_tally_join(&merged, &x);
    assert_close(merged.gauss_mu_sq, 0.5, 1e-15);
}

static void out_of_memory(void **state) {
    (void)state;
    const tacet_budget b = {TACET_ACCOUNTING_BASIC, 1, 0, 0};
    const tacet_charge c = in_part(pure(0.5), "rows", "a");
    for (long n = 1;; n++) {
        tacet_account *account = NULL;
        fail_alloc_after(n);
        tacet_status s = tacet_account_create(&account, &b, NULL);
        if (s == TACET_OK) {
            s = tacet_account_admit(account, &c, NULL);
        }
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (!hit) {
            assert_ok(s);
            assert_true(n > 4);
            tacet_account_free(account);
            break;
        }
        assert_int_equal(s, TACET_NO_MEMORY);
        if (account != NULL) { /* it works on */
            tacet_tally total;
            tacet_account_total(account, &total);
            assert_true(total.pure_eps == 0);
            assert_ok(tacet_account_admit(account, &c, NULL));
            tacet_account_free(account);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),          cmocka_unit_test(gaussians_are_exact),
        cmocka_unit_test(mixtures),      cmocka_unit_test(budgets),
        cmocka_unit_test(filter),        cmocka_unit_test(parallel),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
