/* SPDX-License-Identifier: Apache-2.0 */
/* test_randomizer.c - reports against their exact mass functions; seeds fixed. Every chi-square fails below p = 1e-6
 * and every mean beyond five standard errors: a false alarm once in some 10,000 runs with fresh seeds. */
#include "local/shared/ldp.h"
#include "support/gate.h"
#include "support/test.h"

#include <float.h>

#include <tacet/dp/randomizer.h>

#include "dp/mechanisms/report.h"
#include "dp/noise/lazy.h"
#include "dp/script.h"

enum { REPORTS = 200000, KINDS = 4, BINS = 200 };

static double add_cells(double *mass, const tacet_ldp *ldp, uint64_t start, double weight, double low, double width) {
    const double total =
        (double)ldp->window * (double)ldp->ratio_num + (double)(ldp->cells - ldp->window) * (double)ldp->ratio_den;
    double sum = 0;
    for (uint32_t k = 0; k < ldp->cells; k++) {
        const bool likely = k >= start && k < start + ldp->window;
        const double p = weight * (double)(likely ? ldp->ratio_num : ldp->ratio_den) / total;
        mass[(size_t)((tacet_ldp_cell(ldp, k) - low) / width)] += p;
        sum += p;
    }
    return sum;
}

static double add_places(double *mass, const tacet_ldp *ldp, int64_t at, double weight, double low, double width) {
    double sum = 0;
    const double q = exp(-1 / ldp->laplace_scale);
    for (int64_t k = -70 * (int64_t)ldp->steps; k <= 70 * (int64_t)ldp->steps; k++) {
        const double p = (1 - q) / (1 + q) * pow(q, fabs((double)k));
        const double bin = floor((tacet_ldp_place(ldp, at + k) - low) / width);
        mass[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : (size_t)bin] += weight * p;
        sum += weight * p;
    }
    return sum;
}

/* Exact mass of every bin for a value, with the randomised rounding of the value in it. */
static void exact(double *mass, const tacet_ldp *ldp, double value, double low, double width) {
    const double fraction = (value - ldp->lo) / (ldp->hi - ldp->lo);
    const double share = ldp->kind == TACET_LDP_PIECEWISE ? 1 : ldexp(ldp->piecewise_share, -32);
    memset(mass, 0, BINS * sizeof *mass);
    const double places = ldp->steps > 0 ? ldp->steps : ldp->cells - ldp->window;
    const double at = fraction * places;
    double sum = 0;
    for (int up = 0; up < 2; up++) {
        const double weight = up ? at - floor(at) : 1 - (at - floor(at));
        const double start = floor(at) + up;
        if (weight == 0) {
            continue;
        }
        if (ldp->steps > 0) {
            sum += add_places(mass, ldp, (int64_t)start, weight, low, width);
        } else if (share > 0) {
            sum += add_cells(mass, ldp, (uint64_t)start, share * weight, low, width);
        }
    }
    if (ldp->steps == 0 && share < 1) {
        const double keep = (double)ldp->ratio_num / (double)(ldp->ratio_num + ldp->ratio_den);
        const double up = fraction * keep + (1 - fraction) * (1 - keep);
        mass[(size_t)((tacet_ldp_bit(ldp, true) - low) / width)] += (1 - share) * up;
        mass[(size_t)((tacet_ldp_bit(ldp, false) - low) / width)] += (1 - share) * (1 - up);
        sum += 1 - share;
    }
    assert_close(sum, 1, 1e-9);
}

static void one_value(tacet_noise *noise, const tacet_ldp *ldp, double value) {
    static double mass[BINS];
    const int reports = test_slow() ? REPORTS / 50 : REPORTS;
    double seen[BINS] = {0};
    const double spread = ldp->steps > 0 ? 8 * (ldp->hi - ldp->lo) : tacet_ldp_bound(ldp) * (1 + 1e-9);
    const double low = (ldp->lo + ldp->hi) / 2 - spread;
    const double width = 2 * spread / BINS * (1 + 1e-12);
    exact(mass, ldp, value, low, width);
    double sum = 0;
    for (int i = 0; i < reports; i++) {
        double report = 0;
        assert_ok(tacet_randomize(noise, &report, ldp, value, NULL));
        assert_true(tacet_ldp_possible(ldp, report));
        const double bin = floor((report - low) / width);
        seen[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : (size_t)bin] += 1;
        sum += report;
    }
    assert_close(sum / reports, value, 5 * sqrt(tacet_ldp_variance(ldp) / reports));
    double statistic = 0, freedom = -1, expected = 0, observed = 0;
    for (int i = 0; i < BINS; i++) {
        expected += mass[i] * reports;
        observed += seen[i];
        if (expected >= 10) {
            statistic += (observed - expected) * (observed - expected) / expected;
            freedom += 1;
            expected = observed = 0;
        }
    }
    assert_true(observed <= 60);
    assert_true(test_chi2_pvalue(statistic, freedom) > 1e-6);
}

TEST(test_mass) {
    static const double eps[] = {0.4, 1, 3};
    static const double values[] = {-2, 0.137, 5};
    OWN_NOISE tacet_noise *noise = test_noise(3, 1);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int e = test_slow() ? 2 : 0; e < 3; e++) { /* the exact masses take longest */
            tacet_ldp ldp;
            assert_ok(tacet_ldp_init(&ldp, (tacet_ldp_kind)kind, eps[e], -2, 5, NULL));
            one_value(noise, &ldp, values[(kind + e) % 3]);
        }
    }
}

/* The words that decide Duchi's bit, one by one: kept for exactly the words below 2^64 num / (num + den). */
TEST(test_bit_exact) {
    tacet_ldp ldp;
    OWN_NOISE tacet_noise *noise = test_noise(3, 2);
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, -1, 1, NULL));
    __extension__ typedef unsigned __int128 wide;
    const wide q = ldp.ratio_num + ldp.ratio_den;
    const uint64_t edge = (uint64_t)(((wide)ldp.ratio_num << 64) / q); /* the word that does not decide */
    for (int side = -1; side <= 1; side += 2) {
        for (int flip = 0; flip < 2; flip++) {
            double report = 0;
            (void)tacet__noise_next(noise);
            noise->next = 0;
            noise->words[0] = 5; /* hybrid's coin, of probability 0 here, still takes its word */
            noise->words[1] = 0; /* the input's coin: a fraction of 0 or 1 leaves nothing to decide */
            noise->words[2] = flip ? edge + 1 : edge - 1;
            assert_ok(tacet_randomize(noise, &report, &ldp, side, NULL));
            assert_int_equal(noise->next, 3);
            assert_true(report == tacet_ldp_bit(&ldp, (side > 0) != (flip == 1)));
        }
    }
}

/* Piecewise, outside: the cell before the window and the cell after it are neighbours among the outside ones. */
TEST(test_around_window) {
    OWN_NOISE tacet_noise *noise = script_open();
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_PIECEWISE, 2, 0, 1, NULL));
    const uint64_t outside = ldp.cells - ldp.window;
    for (uint64_t start = 0; start <= outside; start += outside / 4) {
        const double value = (double)start / (double)outside; /* exact up to the coin of the input, forced below */
        for (int side = 0; side < 2; side++) {
            const uint64_t k = start + (uint64_t)side - 1; /* the last one before the window, the first one after it */
            if (k >= outside) {
                continue;
            }
            double report = 0;
            const double at = value * (double)outside;
            const uint64_t coin = at < (double)start ? 0 : UINT64_MAX;
            const uint64_t word = UINT64_MAX / outside * k + UINT64_MAX / outside / 2;
            script(noise, (uint64_t[]){coin, UINT64_MAX, word}, 3);
            assert_ok(tacet_randomize(noise, &report, &ldp, value, NULL));
            assert_script_used(noise);
            assert_true(report == tacet_ldp_cell(&ldp, (uint32_t)(side ? start + ldp.window : start - 1)));
        }
        for (uint64_t in = 0; in < 2; in++) { /* inside: its first and last cell */
            double report = 0;
            const uint64_t coin = value * (double)outside < (double)start ? 0 : UINT64_MAX;
            script(noise, (uint64_t[]){coin, 0, in ? UINT64_MAX : UINT64_C(1) << 40}, 3);
            assert_ok(tacet_randomize(noise, &report, &ldp, value, NULL));
            assert_script_used(noise);
            assert_true(report == tacet_ldp_cell(&ldp, (uint32_t)(in ? start + ldp.window - 1 : start)));
        }
    }
}

/* No kind takes another one's noise. */
TEST(an_unknown_kind_is_refused) {
    tacet_ldp ldp;
    double report = 0;
    OWN_NOISE tacet_noise *noise = test_noise(1, 1);
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, 0, 1, NULL));
    ldp.kind = (tacet_ldp_kind)99;
    assert_status(tacet_randomize(noise, &report, &ldp, 0.5, NULL), TACET_INVALID);
    assert_true(isnan(report));
    assert_int_equal(tacet_ldp_init(&ldp, (tacet_ldp_kind)99, 1, 0, 1, NULL), TACET_INVALID);
}

/* A Laplace draw that fails gives no report. */
TEST(test_no_report) {
    OWN_NOISE tacet_noise *noise = script_open();
    uint64_t words[NOISE_WORDS];
    size_t n = 0;
    words[n++] = 0;                       /* the input */
    words[n++] = (UINT64_C(1) << 40) + 5; /* the fractional part of the noise */
    words[n++] = UINT64_MAX;              /* kept */
    for (int i = 0; i < EXPONENTIAL_END; i++) {
        words[n++] = UINT64_C(1) << 40;
        words[n++] = UINT64_MAX;
    }
    script(noise, words, n);
    tacet_ldp ldp;
    double report = 0;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_LAPLACE, 1, 0, 1, NULL));
    assert_status(tacet_randomize(noise, &report, &ldp, 0, NULL), TACET_NUMERIC);
    assert_true(isnan(report));
}

TEST(test_clipping) {
    OWN_NOISE tacet_noise *a = test_noise(9, 1);
    OWN_NOISE tacet_noise *b = test_noise(9, 1);
    for (int kind = 0; kind < KINDS; kind++) {
        tacet_ldp ldp;
        assert_ok(tacet_ldp_init(&ldp, (tacet_ldp_kind)kind, 2, -1, 4, NULL));
        const double outside[] = {7, INFINITY, -3, -INFINITY, DBL_MAX, -DBL_MAX};
        for (size_t i = 0; i < 6; i++) {
            double x = 0;
            double y = 0;
            assert_ok(tacet_randomize(a, &x, &ldp, outside[i], NULL));
            assert_ok(tacet_randomize(b, &y, &ldp, outside[i] > 0 ? 4 : -1, NULL));
            assert_true(x == y);
        }
        double x = 0;
        tacet_error err = {0};
        const size_t before = a->next;
        assert_status(tacet_randomize(a, &x, &ldp, NAN, &err), TACET_INVALID);
        assert_true(isnan(x));
        assert_int_equal(a->next, before); /* nothing drawn */
    }
}

/* A choice among cells is drawn from orders that name each cell once, and from no noise that is only looked at. */
TEST(a_choice_among_cells_needs_each_of_them) {
    enum { CELLS = 256, DRAWS = 2000 };
    static uint32_t order[CELLS];
    OWN_NOISE tacet_noise *noise = NULL, *sample = NULL;
    tacet_ldp ldp, wide;
    double out = 0;
    size_t likely = 0;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_SPHERE, 1, 0, 1, NULL));
    assert_int_equal(ldp.cells, CELLS);
    assert_ok(tacet_noise_open_seeded(&noise, 7, 0, NULL));
    assert_ok(tacet_noise_open_sample(&sample, NULL));
    for (uint32_t i = 0; i < CELLS; i++) {
        order[i] = CELLS - 1 - i;
    }
    for (int i = 0; i < DRAWS; i++) {
        assert_ok(tacet_randomize_among(noise, &out, &ldp, order, NULL));
        likely += out > CELLS - 1 - (double)ldp.window;
    }
    /* within six standard errors of the share that the randomiser states */
    const double in = (double)ldp.window * (double)ldp.ratio_num;
    const double share = in / (in + (double)(CELLS - ldp.window) * (double)ldp.ratio_den);
    assert_close((double)likely / DRAWS, share, 6 * sqrt(share * (1 - share) / DRAWS));
    assert_status(tacet_randomize_among(sample, &out, &ldp, order, NULL), TACET_INVALID);
    order[3] = order[2]; /* one twice */
    assert_status(tacet_randomize_among(noise, &out, &ldp, order, NULL), TACET_INVALID);
    order[3] = CELLS; /* one that is not there */
    assert_status(tacet_randomize_among(noise, &out, &ldp, order, NULL), TACET_INVALID);
    wide = ldp;
    wide.cells = UINT32_MAX;
    assert_status(tacet_randomize_among(noise, &out, &wide, order, NULL), TACET_INVALID);
    assert_true(isnan(out));
    assert_status(tacet_randomize(noise, &out, &ldp, 0.5, NULL), TACET_INVALID); /* nor is it for a number */
}

/* By the key of its reservation: the same again for the same, and digests that tell apart what is reported. */
TEST(reports_are_functions_of_their_key) {
    enum { CELLS = 256 };
    static uint32_t order[CELLS];
    const tacet_mint mint = {{1}, {2}}, other = {{3}, {2}};
    tacet_ldp ldp, sphere;
    double one = 0, again = 1, differ = 0;
    unsigned char a[TACET_MINT_BYTES], b[TACET_MINT_BYTES];
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_LAPLACE, 1, 0, 1, NULL));
    assert_ok(tacet_ldp_init(&sphere, TACET_LDP_SPHERE, 1, 0, 1, NULL));
    assert_ok(tacet__report_draw(&one, &mint, &ldp, 0.25, NULL));
    assert_ok(tacet__report_draw(&again, &mint, &ldp, 0.25, NULL));
    assert_ok(tacet__report_draw(&differ, &other, &ldp, 0.25, NULL));
    assert_true(one == again && one != differ);
    for (uint32_t i = 0; i < CELLS; i++) {
        order[i] = i;
    }
    assert_ok(tacet__report_draw_among(&one, &mint, &sphere, order, NULL));
    assert_ok(tacet__report_draw_among(&again, &mint, &sphere, order, NULL));
    assert_true(one == again);
    tacet__report_digest_among(a, &sphere, order);
    order[0] = 1;
    order[1] = 0; /* the same set of likely cells */
    tacet__report_digest_among(b, &sphere, order);
    assert_memory_equal(a, b, sizeof a);
    order[0] = CELLS - 1;
    order[CELLS - 1] = 1;
    tacet__report_digest_among(b, &sphere, order);
    assert_memory_not_equal(a, b, sizeof a);
    sphere.window = UINT32_MAX; /* more than there is room for are not looked at */
    static uint32_t many[1024];
    tacet__report_digest_among(b, &sphere, many);
}

/* What a reserved key may draw for is one value under one design: whatever differs has another digest, and what is
 * clipped to the same number has the same. */
TEST(what_is_reported_has_a_digest) {
    unsigned char of[7][TACET_MINT_BYTES];
    tacet_ldp l;
    for (size_t k = 0; k < 7; k++) {
        assert_ok(tacet_ldp_init(&l, k == 1 ? TACET_LDP_LAPLACE : TACET_LDP_HYBRID, k == 2 ? 2 : 1, k == 3 ? -1 : 0,
                                 k == 4 ? 2 : 1, NULL));
        tacet__report_digest(of[k], &l, k == 5 ? 0.25 : k == 6 ? 7 : 0.5);
        for (size_t j = 0; j < k; j++) {
            assert_memory_not_equal(of[j], of[k], sizeof of[k]);
        }
    }
    tacet__report_digest(of[0], &l, 1);
    assert_memory_equal(of[0], of[6], sizeof of[0]);
    tacet__report_digest(of[0], &l, l.lo);
    tacet__report_digest(of[1], &l, -9);
    assert_memory_equal(of[0], of[1], sizeof of[0]);
}
