/* SPDX-License-Identifier: Apache-2.0 */
/* test_formulas.c - what simulations compare with: the best of random rows, the range of unbounded noise. */
#include "support/test.h"

#include "local_problem.h"
#include "random_rows.h"

/* All C(5, 2) pairs of {1, …, 5}: the best is 5 in 4 of 10, 4 in 3, 3 in 2, 2 in 1. */
TEST(the_exact_band_counts_every_choice) {
    const double values[] = {3, 1, 5, 2, 4};
    random_rows band;
    assert_ok(random_rows_best(&band, values, 5, 2, false, NULL));
    assert_close(band.mean, (4 * 5 + 3 * 4 + 2 * 3 + 2) / 10.0, 1e-12);
    assert_close(band.low, 2, 0);
    assert_close(band.median, 4, 0);
    assert_close(band.high, 5, 0);
    assert_ok(random_rows_best(&band, values, 5, 5, true, NULL));
    assert_close(band.mean, 1, 1e-12);
    assert_close(band.low, 1, 0);
    assert_status(random_rows_best(&band, values, 5, 6, false, NULL), TACET_INVALID);
}

/* The range of the noise: where all of it is rarer than delta, there is none to make room for. */
TEST(the_range_of_noise) {
    assert_close(local_noise_range(2, 0.5, 2, 100, 0.1), pow(2 * log(2000), 2), 1e-9);
    assert_true(local_noise_range(0.1, 0.5, 1, 1, 0.5) == 0);
    assert_true(local_noise_range(0.1, 0.5, 2, 1, 0.5) == 0);
    /* Sub-Weibull noise: exp(-x^2/2) tails (a = 2, b = 1/2, theta = 1/2) give sqrt(2 ln(2 T/delta)). */
    assert_close(local_noise_range(2, 0.5, 0.5, 20000, 0.1), sqrt(2 * log(2 * 20000 / 0.1)), 1e-12);
    assert_true(isnan(local_noise_range(2, 0.5, 0.5, 20000, 1)));
    assert_true(isnan(local_noise_range(2, NAN, 0.5, 20000, 0.1)));
    assert_true(isnan(local_noise_range(2, 0.5, 0.5, 0, 0.1)));
}
