/* SPDX-License-Identifier: Apache-2.0 */
/* test_stopping.c - the test that may be looked at all the time: its limits derived a second way, row by row; how often
 * they are wrong, under noise, at the edge of the hypothesis, and where rewards drift; and how soon it sees a
 * difference. */
#include "support/gate.h"
#include "support/test.h"

#include <math.h>
#include "ab/open/stopping.h"
#include <tacet/core/simrng.h>

enum { BETS = 20 };

static tacet_ab_test *make(size_t arms, double scale) {
    tacet_ab_test_settings s;
    tacet_ab_test *t = NULL;
    tacet_ab_test_settings_defaults(&s);
    s.arms = arms;
    s.scale = scale;
    s.typical = 0.3;
    assert_ok(tacet_ab_test_create(&t, &s, NULL));
    return t;
}

/* A slope at which a reward of 1 and the noise of a sum cannot ruin a bet. */
static double slope_of(size_t k, double scale) {
    return fmin(0.3, scale > 0 ? (1 - exp(-0.95 / scale)) / 2 : 0.3) * pow(0.01, (double)k / (BETS - 1));
}

/* The largest d whose wealth, each row divided by 1 + k d, is 40: two pairs of arms share 5 %. */
static double refuted(const double wealth[BETS], double scale, double rows) {
    double lower = -1, upper = 1;
    while (upper - lower > 1e-10) {
        const double d = (lower + upper) / 2;
        double mean = 0;
        for (size_t k = 0; k < BETS; k++) {
            mean += wealth[k] * pow(1 + d * slope_of(k, scale), -rows) / BETS;
        }
        *(mean >= 2 / 0.05 ? &lower : &upper) = d;
    }
    return lower;
}

/* Rows one at a time: a bet of slope k multiplies the wealth by 1 ± 2 k (s - rate), which a fair coin makes
 * 1 + k (s_b - s_a) on average. A sum that is told as x more multiplies it by r^x, r what a reward of 1 gives over one
 * of 0: divided by the mean of that, half an exponential law up and half of one down, and by the most that rounding
 * makes of it. Returns the limit in the end. */
static double limit_row_by_row(double scale, double grid) {
    tacet_ab_test *t = make(2, scale);
    tacet_simrng rng = test_rng(5, 1);
    double wealth[BETS], all_sums[2] = {0}, all[2] = {0}, rate = 0.3, seen = -1;
    for (size_t k = 0; k < BETS; k++) {
        wealth[k] = 1;
    }
    for (size_t epoch = 0; epoch < 4; epoch++) {
        double tickets[2] = {0}, sums[2] = {0.7 * scale + grid, -0.4 * scale};
        for (size_t k = 0; k < BETS; k++) {
            for (size_t arm = 0; arm < 2; arm++) {
                const double stake = (arm == 1 ? 2 : -2) * slope_of(k, scale);
                const double r = (1 + stake * (1 - rate)) / (1 - stake * rate), b = scale * log(r);
                wealth[k] *= pow(r, sums[arm]) / ((1 / (1 - b) + 1 / (1 + b)) / 2) / pow(fmax(r, 1 / r), grid);
            }
        }
        for (size_t i = 0; i < 400; i++) {
            const size_t arm = tacet_simrng_below(&rng, 2);
            const double s = tacet_simrng_uniform(&rng) < (arm == 1 ? 0.5 : 0.2) ? 1 : 0;
            for (size_t k = 0; k < BETS; k++) {
                wealth[k] *= 1 + (arm == 1 ? 2 : -2) * slope_of(k, scale) * (s - rate);
            }
            sums[arm] += s;
            tickets[arm] += 1;
        }
        const tacet_ab_epoch e = {sums, tickets, scale, grid};
        assert_ok(tacet_ab_test_add(t, &e, NULL));
        for (size_t arm = 0; arm < 2; arm++) {
            all_sums[arm] += sums[arm];
            all[arm] += tickets[arm];
        }
        rate = (all_sums[0] + all_sums[1]) / (all[0] + all[1]);
        seen = fmax(seen, refuted(wealth, scale, all[0] + all[1]));
        assert_close(tacet_ab_test_compare(t, 0, 1).lower, seen, 1e-7);
        assert_close(tacet_ab_test_compare(t, 1, 0).upper, -seen, 1e-7);
    }
    assert_close(tacet_ab_test_mean(t, 1), all_sums[1] / all[1], 1e-12);
    assert_true(tacet_ab_test_more(t, 1e9) == 0);
    tacet_ab_test_free(t);
    return seen;
}

TEST(test_limits_row_by_row) {
    const double plain = limit_row_by_row(0, 0);
    assert_true(plain > 0.1 && plain < 0.3);
    assert_true(limit_row_by_row(2, 0) < plain);
    assert_true(limit_row_by_row(2, 0.5) > 0);
}

typedef struct world {
    size_t arms, rows;
    double scale, grid; /* all rounding is taken to favour odd arms */
    double (*rate)(size_t arm, size_t row);
} world;

static double laplace(tacet_simrng *rng, double scale) {
    const double u = tacet_simrng_uniform(rng);
    return scale * (tacet_simrng_uniform(rng) < 0.5 ? 1 : -1) * -log1p(-u);
}

/* One test to its end, looked at after every epoch: how many tickets until b beats a by more than d; 0: never. */
static size_t run(const world *w, size_t a, size_t b, double d, uint64_t seed) {
    tacet_ab_test *t = make(w->arms, w->scale);
    tacet_simrng rng = test_rng(77, seed);
    size_t row = 0, found = 0;
    while (row < w->rows && found == 0) {
        double sums[TACET_AB_ARMS_MOST] = {0}, tickets[TACET_AB_ARMS_MOST] = {0};
        const size_t end = row + tacet_ab_epoch_size(w->arms, row);
        for (; row < end; row++) {
            const size_t arm = tacet_simrng_below(&rng, w->arms);
            sums[arm] += tacet_simrng_uniform(&rng) < w->rate(arm, row) ? 1 : 0;
            tickets[arm] += 1;
        }
        for (size_t i = 0; i < w->arms; i++) {
            sums[i] += w->scale > 0 ? laplace(&rng, w->scale) + (i % 2 == 1 ? w->grid : -w->grid) : 0;
        }
        const tacet_ab_epoch e = {sums, tickets, w->scale, w->grid};
        assert_ok(tacet_ab_test_add(t, &e, NULL));
        for (size_t i = 0; i < w->arms && found == 0; i++) {
            for (size_t j = 0; j < w->arms; j++) {
                if (i != j && (a == b || (i == a && j == b)) && tacet_ab_test_compare(t, i, j).lower > d) {
                    found = row;
                }
            }
        }
    }
    tacet_ab_test_free(t);
    return found;
}

static double even(size_t arm, size_t row) {
    (void)arm;
    (void)row;
    return 0.1;
}

/* B ahead in the second half of every stretch of 6,000 rows and behind in the first: never ahead on average so far. */
static double turns(size_t arm, size_t row) {
    return arm == 0 ? 0.3 : row % 6000 < 3000 ? 0.2 : 0.4;
}

static double ahead(size_t arm, size_t row) {
    (void)row;
    return arm == 1 ? 0.2 : 0.1;
}

/* 400 runs each; at a true share of 5 % more than 37 are wrong in one of 10,000 of these tests. */
static void assert_rarely_wrong(const world *w, size_t a, size_t b, double d) {
    size_t wrong = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        wrong += run(w, a, b, d, seed) > 0 ? 1 : 0;
    }
    print_message("wrong in %zu of 400\n", wrong);
    assert_true(wrong <= 37);
}

/* Every arm's mean, after every epoch, within its limits in all but 5 % of runs; limits that are of use; none before.
 */
TEST(test_limits_of_arms) {
    enum { ARMS = 3, EPOCHS = 8 };
    static const double RATE[ARMS] = {0.02, 0.1, 0.9};
    size_t wrong = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        tacet_ab_test *t = make(ARMS, 2);
        tacet_simrng rng = test_rng(78, seed);
        bool missed = false;
        assert_true(tacet_ab_test_limits(t, 0).lower == 0 && tacet_ab_test_limits(t, 0).upper == 1);
        for (size_t e = 0, row = 0; e < EPOCHS; e++) {
            double sums[ARMS], tickets[ARMS] = {0};
            for (size_t i = 0; i < ARMS; i++) {
                sums[i] = laplace(&rng, 2) + (e % 2 == 1 ? 0.5 : -0.5);
            }
            for (const size_t end = row + tacet_ab_epoch_size(ARMS, row); row < end; row++) {
                const size_t arm = tacet_simrng_below(&rng, ARMS);
                sums[arm] += tacet_simrng_uniform(&rng) < RATE[arm] ? 1 : 0;
                tickets[arm] += 1;
            }
            const tacet_ab_epoch epoch = {sums, tickets, 2, 0.5};
            assert_ok(tacet_ab_test_add(t, &epoch, NULL));
            for (size_t i = 0; i < ARMS; i++) {
                const tacet_ab_limits l = tacet_ab_test_limits(t, i);
                missed = missed || l.lower > RATE[i] || l.upper < RATE[i];
                assert_true(l.lower <= tacet_ab_test_mean(t, i) && tacet_ab_test_mean(t, i) <= l.upper);
            }
        }
        const tacet_ab_limits last = tacet_ab_test_limits(t, 1);
        assert_true(last.upper - last.lower < 0.09); /* 1,570 tickets: 4.4 standard deviations and the noise */
        wrong += missed ? 1 : 0;
        tacet_ab_test_free(t);
    }
    print_message("an arm outside its limits in %zu of 400\n", wrong);
    assert_true(wrong <= 37);
}

TEST(test_false_claims_are_rare) {
    const world plain = {.arms = 2, .rows = 12000, .rate = even};
    const world noisy = {.arms = 2, .rows = 12000, .scale = 4, .grid = 1, .rate = even};
    const world many = {.arms = 6, .rows = 12000, .rate = even};
    const world edge = {.arms = 2, .rows = 12000, .scale = 1, .rate = ahead};
    const world drift = {.arms = 2, .rows = 30000, .scale = 1, .rate = turns};
    assert_rarely_wrong(&plain, 0, 0, 0);
    assert_rarely_wrong(&noisy, 0, 0, 0);
    assert_rarely_wrong(&many, 0, 0, 0);
    assert_rarely_wrong(&edge, 0, 1, 0.1); /* the truth is the limit */
    assert_rarely_wrong(&drift, 0, 1, 0);
}

/* Without noise 2,000 rows would show .2 against .1 at a level of 5 % with a power above 99.9 %. */
TEST(test_differences_are_seen) {
    const world w = {.arms = 2, .rows = 20000, .scale = 1, .rate = ahead};
    double sum = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        const size_t rows = run(&w, 0, 1, 0, seed);
        assert_true(rows > 0);
        sum += (double)rows;
    }
    assert_true(sum / 40 < 3000);
}

/* What is said to come is about what comes: the mean over runs, within a factor of two. */
TEST(test_more_tickets) {
    tacet_ab_test *t = make(2, 1);
    double sums[2] = {25, 50}, tickets[2] = {250, 250};
    assert_true(isinf(tacet_ab_test_more(t, 1e9)) && tacet_ab_test_tickets(t) == 0);
    const tacet_ab_epoch e = {sums, tickets, 1, 0};
    assert_ok(tacet_ab_test_add(t, &e, NULL));
    const double more = tacet_ab_test_more(t, 1e9);
    assert_true(more > 100 && more < 2000);
    assert_true(isinf(tacet_ab_test_more(t, 10)));
    tacet_ab_test_free(t);
}

TEST(test_refusals) {
    tacet_ab_test_settings s;
    tacet_ab_test *t = NULL;
    tacet_ab_test_settings_defaults(&s);
    assert_status(tacet_ab_test_create(&t, &s, NULL), TACET_INVALID); /* no arms */
    s.arms = TACET_AB_ARMS_MOST + 1;
    assert_status(tacet_ab_test_create(&t, &s, NULL), TACET_INVALID);
    s.arms = 2;
    s.alpha = NAN;
    assert_status(tacet_ab_test_create(&t, &s, NULL), TACET_INVALID);
    t = make(2, 1);
    const double good[2] = {1, 2}, bad[2] = {1, NAN}, below[2] = {-1, 3};
    const tacet_ab_epoch wrong[] = {{bad, good, 1, 0}, {good, below, 1, 0}, {good, good, 1.5, 0}, {good, good, 1, NAN}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_status(tacet_ab_test_add(t, &wrong[i], NULL), TACET_INVALID);
    }
    assert_true(tacet_ab_test_tickets(t) == 0 && isnan(tacet_ab_test_mean(t, 0)));
    tacet_ab_test_free(t);
}
