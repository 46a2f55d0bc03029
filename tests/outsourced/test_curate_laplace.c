/* SPDX-License-Identifier: Apache-2.0 */
/* test_curate_laplace.c - --mechanism laplace: the law of the released noise, its scale, what it is charged, and what
 * is refused. */
#include "outsourced/curate_fixture.h"

#include <tacet/dp/open/calibrate.h>

static const double ALARM = 1e-6;

static int setup_laplace(void **state) {
    (void)setup(state);
    fixture *f = *state;
    f->settings.mechanism = TACET_CURATE_LAPLACE;
    f->settings.delta = 0;
    return 0;
}

static double chi2(const size_t *counts, size_t cells, size_t total) {
    const double expected = (double)total / (double)cells;
    double statistic = 0;
    for (size_t c = 0; c < cells; c++) {
        statistic += ((double)counts[c] - expected) * ((double)counts[c] - expected) / expected;
    }
    return test_chi2_pvalue(statistic, (double)cells - 1);
}

/* Three vectors by row in V, in units of the scale. Their radius is Gamma(3), and given it every coordinate over it is
 * uniform in [-1, 1] (Archimedes): five by four cells of equal probability, for the coordinate `axis`. */
static double law_pvalue(const double *V, size_t n, size_t axis, double stretch) {
    enum { RADII = 5, COSINES = 4 };
    size_t counts[RADII * COSINES] = {0};
    for (size_t j = 0; j < n; j++) {
        const double *v = V + j * D;
        const double r = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        /* P(Gamma(3) > r) is the chi-square tail of 2r with six degrees of freedom. */
        const double u = test_chi2_pvalue(2 * r * stretch, 6);
        const double c = (v[axis] / r + 1) / 2;
        counts[(size_t)(u * RADII * (1 - 1e-12)) * COSINES + (size_t)(c * COSINES * (1 - 1e-12))]++;
    }
    return chi2(counts, RADII * COSINES, n);
}

static double *noise_of(const fixture *f, double scale) {
    double *V = released(f, D);
    for (size_t k = 0; k < D * f->n; k++) {
        V[k] = (V[k] - scaled(f, k / D, k % D)) / scale;
    }
    return V;
}

/* The released noise has the Euclidean Laplace law (three tests at 1e-6, seed fixed), which noise a tenth larger has
 * not, nor Gaussian noise of the same standard deviation. */
TEST(test_law) {
    fixture *f = *state;
    tacet_manifest m;
    write_table(f, 6000, false, false);
    run_ok(f, &m);
    assert_true(m.scale > 0 && m.grid > 0);
    assert_close(m.sigma, m.scale * 2, 1e-15);
    double *V = noise_of(f, m.scale);
    for (size_t axis = 0; axis < D; axis++) {
        assert_true(law_pvalue(V, f->n, axis, 1) > ALARM);
        assert_true(law_pvalue(V, f->n, axis, 1.1) < ALARM);
        assert_true(law_pvalue(V, f->n, axis, 1 / 1.1) < ALARM);
    }
    free(V);
    tacet_manifest_clear(&m);
    test_rmdir(f->out);
    f->settings.mechanism = TACET_CURATE_GAUSSIAN;
    f->settings.delta = 1e-5;
    run_ok(f, &m);
    V = noise_of(f, m.sigma / 2);
    assert_true(law_pvalue(V, f->n, 0, 1) < ALARM);
    free(V);
    tacet_manifest_clear(&m);
}

/* scale = Delta / eps, rounded up: Delta as in src/outsourced/README.md, computed here from the columns. */
TEST(test_scale) {
    fixture *f = *state;
    static const double EPS[] = {0.01, 1, 2, 7.389056};
    for (size_t k = 0; k < sizeof EPS / sizeof EPS[0]; k++) {
        tacet_manifest m;
        long double numbers = 0, reach = 0;
        f->settings.eps = EPS[k];
        run_ok(f, &m);
        for (size_t i = 0; i < D; i++) {
            const tacet_space_column *c = &f->columns[i];
            const long double N = fmaxl(fabsl((long double)c->lo), fabsl((long double)c->hi)) / c->unit;
            const long double R = ((long double)c->hi - c->lo) / (2 * (long double)c->unit);
            numbers += N * N;
            reach += R * R;
        }
        const long double delta =
            1 + 0x1p-51L * sqrtl(numbers) + 0x1p-49L * sqrtl(reach) + sqrtl((long double)D) * m.grid;
        assert_true(m.scale >= delta / EPS[k]);
        assert_true(m.scale <= delta / EPS[k] * (1 + 1e-14L));
        tacet_manifest_clear(&m);
        test_rmdir(f->out);
    }
    /* Numbers that are large for their unit come further apart when they are read: charged as well. */
    tacet_manifest m;
    f->space.count = 1;
    f->columns[0] = (tacet_space_column)TEST_REAL("age", 1e15, 1e15 + 1, 0.001);
    f->settings.eps = 1;
    test_write(f->data, "age\n1000000000000000.062\n1000000000000000.5\n");
    run_ok(f, &m);
    assert_true(m.scale >= (strtod("1000000000000000.063", NULL) - strtod("1000000000000000.062", NULL)) / 0.001);
    tacet_manifest_clear(&m);
}

/* Really private: the manifest and the ledger say eps, and no delta; measured values add their eps. */
TEST(test_manifest_and_ledger) {
    fixture *f = *state;
    f->settings.seeded = false;
    for (int k = 0; k < 2; k++) {
        tacet_manifest m, stored;
        tacet_ledger_totals totals;
        f->settings.outputs_private = k == 1;
        assert_ok(tacet_ldp_init(&f->settings.outputs, TACET_LDP_HYBRID, 0.5, 0, 1, NULL));
        f->settings.new_budget = k == 1 ? "the first ledger was removed with its folder" : NULL;
        run_ok(f, &m);
        char *text = slurp(f->manifest);
        assert_ok(tacet_manifest_decode(&stored, text, strlen(text), NULL));
        assert_string_equal(stored.new_budget, k == 1 ? f->settings.new_budget : "");
        assert_string_equal(stored.mechanism, "laplace");
        assert_true(stored.is_private && stored.eps == 2 && stored.delta == 0);
        assert_true(stored.scale == m.scale && stored.sigma == m.sigma && stored.dims == D);
        totals_of(&totals, f);
        assert_int_equal(totals.accounting, TACET_ACCOUNTING_BASIC);
        assert_true(totals.eps == 2 && totals.delta == 0 && totals.budget_delta == 0 && totals.spent_delta == 0);
        assert_close(totals.budget_eps, k == 0 ? 2 : 2.5, 1e-8);
        assert_int_equal(totals.seeded, 0);
        free(text);
        tacet_manifest_clear(&stored);
        tacet_manifest_clear(&m);
        test_rmdir(f->out);
    }
}

/* Releases under one budget: pure eps adds up, to the last one that fits. */
TEST(test_budget) {
    fixture *f = *state;
    static const char *const TICKETS[] = {"one", "two", "three", "four"};
    tacet_ledger_totals totals;
    tacet_error err = {0};
    f->settings.eps = 1;
    f->settings.budget_eps = 3;
    for (int k = 0; k < 4; k++) {
        f->settings.ticket = TICKETS[k];
        f->settings.budget_eps = k == 0 ? 3 : 0;
        assert_status(run(f, &err), k < 3 ? TACET_OK : TACET_BUDGET);
    }
    assert_non_null(strstr(err.message, "eps 1 asked, 3 of 3 spent"));
    assert_null(strstr(err.message, "Gaussian"));
    totals_of(&totals, f);
    assert_true(totals.eps == 3 && totals.delta == 0);
    assert_int_equal(totals.entries, 3);
    test_rmdir(f->out);
    /* A ledger without delta has none for Gaussian noise; one with a delta has, and both add up. */
    for (int k = 0; k < 2; k++) {
        f->settings.mechanism = TACET_CURATE_LAPLACE;
        f->settings.eps = 1.5;
        f->settings.delta = 0;
        f->settings.ticket = "pure";
        f->settings.budget_eps = 3;
        f->settings.budget_delta = k == 0 ? 0 : 1e-5;
        assert_ok(run(f, &err));
        f->settings.mechanism = TACET_CURATE_GAUSSIAN;
        f->settings.delta = 1e-5;
        f->settings.ticket = "curve";
        f->settings.budget_eps = f->settings.budget_delta = 0;
        assert_status(run(f, &err), k == 0 ? TACET_BUDGET : TACET_OK);
        totals_of(&totals, f);
        assert_close(totals.eps, k == 0 ? 1.5 : 3, 1e-12);
        assert_close(totals.delta, k == 0 ? 0 : 1e-5, 1e-18);
        test_rmdir(f->out);
    }
    /* Where Gaussian curves add up, it is charged as the curve that eps implies: much more than eps. */
    double mu = 0, pure = 0, eps = 0;
    f->settings.ticket = "curve";
    f->settings.eps = 1;
    f->settings.budget_eps = 2;
    assert_ok(run(f, &err));
    f->settings.mechanism = TACET_CURATE_LAPLACE;
    f->settings.delta = 0;
    f->settings.budget_eps = 0;
    f->settings.ticket = "pure";
    assert_status(run(f, &err), TACET_BUDGET);
    assert_non_null(strstr(err.message, "Gaussian curves; as one, a pure eps costs several times itself)"));
    test_rmdir(f->out);
    assert_ok(tacet_gdp_mu(&mu, 1, 1e-5, NULL));
    assert_ok(tacet_gdp_from_pure(&pure, 1, NULL));
    assert_ok(tacet_gdp_eps(&eps, hypot(mu, pure) * (1 + 1e-9), 1e-5, NULL));
    assert_true(eps > 5);
    f->settings.mechanism = TACET_CURATE_GAUSSIAN;
    f->settings.delta = 1e-5;
    f->settings.ticket = "curve";
    f->settings.budget_eps = eps;
    assert_ok(run(f, &err));
    f->settings.mechanism = TACET_CURATE_LAPLACE;
    f->settings.delta = 0;
    f->settings.budget_eps = 0;
    f->settings.ticket = "pure";
    assert_ok(run(f, &err));
    totals_of(&totals, f);
    assert_close(totals.eps, eps, 1e-6);
}

TEST(test_bad_settings) {
    fixture *f = *state;
    static const double DELTAS[] = {1e-5, NAN, -1, INFINITY};
    static const double EPS[] = {0, -1, NAN, INFINITY, 1e300};
    tacet_error err = {0};
    for (size_t k = 0; k < sizeof DELTAS / sizeof DELTAS[0]; k++) {
        f->settings.delta = DELTAS[k];
        assert_status(run(f, &err), TACET_INVALID);
        assert_non_null(strstr(err.message, "delta is 0"));
    }
    f->settings.delta = 0;
    for (size_t k = 0; k < sizeof EPS / sizeof EPS[0]; k++) {
        f->settings.eps = EPS[k];
        assert_status(run(f, &err), TACET_INVALID);
    }
    f->settings.eps = 1;
    f->settings.mechanism = (tacet_curate_mechanism)(TACET_CURATE_LAPLACE + 1);
    assert_status(run(f, &err), TACET_INVALID);
    assert_false(exists(f->ledger)); /* nothing was spent */
    assert_false(exists(f->release));
}

/* The same bytes however many threads draw them. */
TEST(test_threads) {
    fixture *f = *state;
    char *first = NULL;
    tacet_error err = {0};
    write_table(f, 9000, true, false); /* several blocks */
    for (size_t threads = 1; threads <= 4; threads++) {
        f->settings.threads = threads;
        assert_ok(run(f, &err));
        char *text = slurp(f->release);
        assert_true(first == NULL || strcmp(first, text) == 0);
        free(first);
        first = text;
        test_rmdir(f->out);
    }
    free(first);
}

TEST(test_no_memory) {
    each_allocation_fails(*state);
}

TEST_EACH(setup_laplace, teardown)
