/* SPDX-License-Identifier: Apache-2.0 */
/* test_tally.c - tallies: every value counts between the ends of its range, and releases are calibrated for that. */
#include "support/gate.h"
#include "support/test.h"

#include "dp/tally_internal.h"

#include <tacet/dp/tally.h>

static int64_t sum_of(double lower, double upper, const double *values, size_t count) {
    tacet_tally *tally = NULL;
    assert_ok(tacet_tally_create(&tally, count, lower, upper, NULL));
    assert_ok(tacet_tally_add(tally, values, count, NULL));
    const int64_t sum = tacet__tally_sum(tally, 0);
    tacet_tally_free(tally);
    return sum;
}

static void every_value_counts_between_the_ends(void **state) {
    const struct {
        double value;
        int64_t steps;
    } cases[] = {{-2, 0},  {4, 65536},        {4, 65536},     {3, 65536},     {0.5, 32768}, {0.75, 36045},
                 {NAN, 0}, {INFINITY, 65536}, {-INFINITY, 0}, {1e300, 65536}, {-1e300, 0},  {-1.9999999, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(sum_of(-2, 3, &cases[i].value, 1), cases[i].steps);
    }
    tacet_simrng rng = test_rng(1, 0);
    for (int i = 0; i < 20000; i++) { /* ranges of all sizes, values at and around their ends */
        const double lower = ldexp(tacet_simrng_normal(&rng), (int)tacet_simrng_below(&rng, 60) - 30);
        const double upper = lower + ldexp(1 + tacet_simrng_uniform(&rng), (int)tacet_simrng_below(&rng, 60) - 30);
        if (!(lower < upper)) {
            continue;
        }
        const double values[] = {nextafter(upper, -INFINITY), nextafter(lower, INFINITY), lower, upper,
                                 lower + tacet_simrng_uniform(&rng) * (upper - lower)};
        for (size_t k = 0; k < 5; k++) {
            const int64_t steps = sum_of(lower, upper, &values[k], 1);
            assert_true(steps >= 0 && steps <= TACET_TALLY_STEPS);
        }
    }
}

static void sums_do_not_depend_on_the_order(void **state) {
    enum { N = 1000 };
    double values[N], turned[N];
    tacet_simrng rng = test_rng(2, 0);
    for (size_t i = 0; i < N; i++) {
        values[i] = tacet_simrng_uniform(&rng) * 3 - 1;
        turned[N - 1 - i] = values[i];
    }
    assert_int_equal(sum_of(0, 1, values, N), sum_of(0, 1, turned, N));
}

/* The receipt's sensitivity is what the noise was calibrated for: never below the steps of one record. */
static void releases_are_calibrated_for_one_record(void **state) {
    enum { N = 50 };
    double values[N];
    tacet_tally *tally = NULL;
    tacet_release *release = NULL;
    tacet_ask ask = test_ask(3, 0);
    assert_ok(tacet_tally_create(&tally, N, 0, 1, NULL));
    assert_status(tacet_tally_choose(tally, &release, &ask, 1, NULL), TACET_STATE);
    for (size_t i = 0; i < N; i++) {
        values[i] = i < 30;
    }
    assert_ok(tacet_tally_add(tally, values, N, NULL));
    assert_ok(tacet_tally_add_lowest(tally, NULL));
    assert_int_equal(tacet_tally_candidates(tally), 2);
    assert_ok(tacet_tally_choose(tally, &release, &ask, 1, NULL));
    const tacet_receipt *receipt = tacet_release_receipt(release);
    assert_true(receipt->sensitivity >= TACET_TALLY_STEPS && receipt->sensitivity <= TACET_TALLY_STEPS + 1);
    assert_true(receipt->eps == 1 && receipt->delta == 0 && !receipt->is_private);
    tacet_release_free(release);
    assert_ok(tacet_tally_release(tally, &release, &ask, 0, 2, NULL));
    receipt = tacet_release_receipt(release);
    assert_true(receipt->scale >= TACET_TALLY_STEPS / 2.0 && receipt->scale < 1.00001 * TACET_TALLY_STEPS / 2);
    /* 24 scales: e^-24 of all seeds would fail */
    assert_close(tacet_release_values(release)[0], 30.0 * TACET_TALLY_STEPS, 24 * receipt->scale);
    tacet_release_free(release);
    assert_status(tacet_tally_release(tally, &release, &ask, 2, 2, NULL), TACET_INVALID);
    tacet_noise_close(ask.noise);
    tacet_tally_free(tally);
}

/* Two candidates 20 records apart, eps 1: permute-and-flip takes the worse one with probability e^-10/2 + … < 1e-4;
 * with the sensitivity of a mean forgotten (n times too much noise) it would be a half. */
static void the_better_candidate_wins(void **state) {
    enum { N = 100, RUNS = 400 };
    double good[N] = {0}, bad[N] = {0};
    size_t worse = 0;
    for (size_t i = 0; i < N; i++) {
        good[i] = i < 60;
        bad[i] = i < 40;
    }
    tacet_tally *tally = NULL;
    tacet_ask ask = test_ask(4, 0);
    assert_ok(tacet_tally_create(&tally, N, 0, 1, NULL));
    assert_ok(tacet_tally_add(tally, bad, N, NULL));
    assert_ok(tacet_tally_add(tally, good, N, NULL));
    for (int i = 0; i < RUNS; i++) {
        tacet_release *release = NULL;
        assert_ok(tacet_tally_choose(tally, &release, &ask, 1, NULL));
        worse += tacet_release_values(release)[0] == 0;
        tacet_release_free(release);
    }
    assert_true(worse <= 2);
    tacet_noise_close(ask.noise);
    tacet_tally_free(tally);
}

static void what_is_no_tally_is_refused(void **state) {
    tacet_tally *tally = NULL;
    tacet_error err = {0};
    const double two[] = {0, 1};
    assert_status(tacet_tally_create(&tally, 0, 0, 1, NULL), TACET_INVALID);
    assert_status(tacet_tally_create(&tally, 5, 1, 1, NULL), TACET_INVALID);
    assert_status(tacet_tally_create(&tally, 5, 0, NAN, NULL), TACET_INVALID);
    assert_status(tacet_tally_create(&tally, 5, -INFINITY, 1, NULL), TACET_INVALID);
    assert_null(tally);
    assert_each_alloc_fails(tacet_tally_create(&tally, 3, 0, 1, NULL), tally == NULL);
    assert_status(tacet_tally_add(tally, two, 2, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "not a mean"));
    assert_status(tacet__tally_put(tally, -1, NULL), TACET_INVALID);
    assert_status(tacet__tally_put(tally, 3 * TACET_TALLY_STEPS + 1, NULL), TACET_INVALID);
    assert_int_equal(tacet_tally_candidates(tally), 0);
    for (size_t i = 0; i < 200; i++) { /* past the first allocation */
        assert_ok(tacet__tally_put(tally, (int64_t)i, NULL));
    }
    assert_int_equal(tacet__tally_sum(tally, 150), 150);
    tacet_tally_free(tally);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_counts_between_the_ends), cmocka_unit_test(sums_do_not_depend_on_the_order),
        cmocka_unit_test(releases_are_calibrated_for_one_record), cmocka_unit_test(the_better_candidate_wins),
        cmocka_unit_test(what_is_no_tally_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
