/* SPDX-License-Identifier: Apache-2.0 */
/* test_levels.c - levels by exact randomised response: their law, their price, and their place beside numbers. */
#include "support/gate.h"
#include "support/test.h"

#include "dp/bound_internal.h"
#include "dp/mechanisms/mechanism_internal.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

#include "dp/mechanism.h"
#include <tacet/dp/open/calibrate.h>

enum { DRAWS = 200000 };

/* Chi-square against the exact law, k - 1 degrees of freedom; the seed is fixed. Each bound is passed by chance with
 * probability 1e-4: k = 2: 15.1, 3: 18.4, 7: 27.9, 40: 83.6. */
TEST(levels_have_the_law_of_randomised_response) {
    static const size_t K[] = {2, 3, 7, 40};
    static const double LIMIT[] = {15.1, 18.4, 27.9, 83.6};
    static const double EPS[] = {0.01, 0.5, 1, 3, 5.7};
    OWN_NOISE tacet_noise *noise = test_noise(5, 0);
    for (size_t i = 0; i < 4; i++) {
        for (size_t e = 0; e < 5; e++) {
            const size_t k = K[i];
            const size_t level = k / 2;
            size_t count[40] = {0};
            for (size_t t = 0; t < DRAWS / 4; t++) {
                size_t out = k;
                assert_ok(tacet__draw_level(noise, &out, level, k, EPS[e], NULL));
                assert_true(out < k);
                count[out]++;
            }
            double chi = 0;
            for (size_t l = 0; l < k; l++) {
                const double p = l == level ? tacet_levels_keep(k, EPS[e]) : tacet_levels_other(k, EPS[e]);
                const double expected = p * DRAWS / 4;
                chi += ((double)count[l] - expected) * ((double)count[l] - expected) / expected;
            }
            if (!(chi < LIMIT[i])) {
                fail_msg("k %zu eps %g: chi-square %g", k, EPS[e], chi);
            }
        }
    }
}

TEST(keeping_is_e_to_the_eps_as_likely_as_any_other) {
    for (size_t k = 2; k < 100; k += 7) {
        for (double eps = 0.1; eps < 30; eps *= 2) {
            const double keep = tacet_levels_keep(k, eps);
            const double other = tacet_levels_other(k, eps);
            assert_close(keep / other / exp(eps), 1, 1e-12);
            assert_close(keep + (double)(k - 1) * other, 1, 1e-12);
        }
    }
}

/* Numbers of all rows first, then levels of all rows; the levels do not touch the noise of the numbers. */
TEST(rows_have_numbers_and_then_levels) {
    enum { ROWS = 500 };
    const size_t levels[2] = {3, 5};
    const tacet_neighbours move = {TACET_RELATION_MOVE, 1};
    OWN_BOUND tacet_bound *bound = NULL;
    OWN_TABLE tacet_table *table = NULL;
    tacet_release *answered = NULL;
    OWN_RAW tacet_raw *raw = NULL;
    double out[ROWS * 4];
    bound = test_range(2, -1, 1);
    OWN_MECHANISM tacet_mechanism *m = test_mechanism(TACET_MECHANISM_KNORM, bound, &move, 3, 0);
    assert_ok(tacet_mechanism_add_levels(m, levels, 2, NULL));
    assert_int_equal(tacet_mechanism_add_levels(m, levels, 2, NULL), TACET_INVALID);
    assert_ok(tacet_raw_create(&raw, ROWS * 4, NULL));
    for (size_t r = 0; r < ROWS; r++) {
        raw->values[2 * r] = 0.5;
        raw->values[2 * r + 1] = -0.5;
        raw->values[2 * ROWS + 2 * r] = 2;
        raw->values[2 * ROWS + 2 * r + 1] = r % 2 == 0 ? 99 : NAN; /* the last, and the first */
    }
    OWN_NOISE tacet_noise *noise = test_noise(7, 0);
    const tacet_ask ask = {.noise = noise, .ticket = "t", .what = "w", .to_whom = "x"};
    assert_ok(tacet_table_open(&table, &answered, m, &ask, ROWS, NULL));
    assert_int_equal(tacet_table_rows(table, out, raw, 0, ROWS + 1, NULL), TACET_INVALID);
    assert_ok(tacet_table_rows(table, out, raw, 0, ROWS, NULL));
    double mean[2] = {0};
    size_t kept[2] = {0};
    for (size_t r = 0; r < ROWS; r++) {
        mean[0] += out[2 * r] / ROWS;
        mean[1] += out[2 * r + 1] / ROWS;
        kept[0] += out[2 * ROWS + 2 * r] == 2 ? 1 : 0;
        kept[1] += out[2 * ROWS + 2 * r + 1] == (r % 2 == 0 ? 4 : 0) ? 1 : 0;
    }
    /* within five standard errors */
    assert_close(mean[0], 0.5, 5 * m->error_sd / sqrt(ROWS));
    assert_close(mean[1], -0.5, 5 * m->error_sd / sqrt(ROWS));
    for (size_t i = 0; i < 2; i++) {
        const double p = tacet_levels_keep(levels[i], 3);
        assert_close((double)kept[i] / ROWS, p, 5 * sqrt(p * (1 - p) / ROWS));
    }
}

TEST(a_charge_covers_a_move_and_a_change_of_level) {
    const size_t levels[1] = {4};
    const tacet_neighbours move = {TACET_RELATION_MOVE, 1};
    char parameters[TACET__PARAMETERS_BYTES];
    tacet_charge charge, pure;
    OWN_BOUND tacet_bound *bound = NULL;
    tacet_charge_init(&pure);
    tacet_charge_pure(&pure, 1);
    bound = test_range(1, -1, 1);
    tacet_mechanism *m = test_mechanism(TACET_MECHANISM_GAUSSIAN, bound, &move, 1, 1e-5);
    tacet__mechanism_charge(m, &charge, parameters, sizeof parameters, 1, 0);
    assert_true(charge.mu < 0.3);
    assert_ok(tacet_mechanism_add_levels(m, levels, 1, NULL));
    tacet__mechanism_charge(m, &charge, parameters, sizeof parameters, 1, 0);
    assert_true(charge.eps == 1 && charge.delta == 1e-5);
    assert_true(charge.mu >= pure.mu && charge.rho >= pure.rho); /* the response is the dearer one as a curve */
    assert_non_null(strstr(parameters, "\"levels\":[4]}"));
    tacet_mechanism_free(m);
    assert_ok(tacet_mechanism_response(&m, levels, 1, 1, NULL));
    tacet__mechanism_charge(m, &charge, parameters, sizeof parameters, 1, 0);
    assert_true(charge.claim == TACET_CLAIM_PURE && charge.eps == 1 && charge.delta == 0);
    tacet_mechanism_free(m);
}

TEST(what_has_no_proof_is_refused) {
    const size_t one[1] = {1};
    const size_t two[1] = {2};
    const tacet_neighbours replace = {TACET_RELATION_REPLACE, 0};
    OWN_BOUND tacet_bound *bound = NULL;
    tacet_mechanism *m = NULL;
    assert_int_equal(tacet_mechanism_response(&m, one, 1, 1, NULL), TACET_INVALID);
    assert_int_equal(tacet_mechanism_response(&m, two, 0, 1, NULL), TACET_INVALID);
    assert_int_equal(tacet_mechanism_response(&m, two, 1, 0, NULL), TACET_INVALID);
    assert_int_equal(tacet_mechanism_response(&m, two, 1, NAN, NULL), TACET_INVALID);
    assert_int_equal(tacet_mechanism_response(&m, two, 1, TACET__LEVEL_EPS_MOST + 1, NULL), TACET_INVALID);
    const size_t too_many[1] = {SIZE_MAX};
    assert_int_equal(tacet_mechanism_response(&m, too_many, 1, 1, NULL), TACET_INVALID);
    for (long n = 1; n <= 2; n++) {
        fail_alloc_after(n);
        assert_int_equal(tacet_mechanism_response(&m, two, 1, 1, NULL), TACET_NO_MEMORY);
        fail_alloc_after(0);
        assert_null(m);
    }
    assert_ok(tacet_mechanism_response(&m, two, 1, 1, NULL));
    assert_int_equal(tacet_mechanism_add_levels(m, two, 1, NULL), TACET_INVALID); /* once */
    tacet_mechanism_free(m);
    m = NULL;
    size_t drawn = 7;
    tacet_noise *noise = test_noise(6, 0);
    const uint64_t before = noise->next;
    assert_int_equal(tacet__draw_level(noise, &drawn, 0, 1, 1, NULL), TACET_INVALID);
    assert_int_equal(tacet__draw_level(noise, &drawn, 2, 2, 1, NULL), TACET_INVALID);
    assert_int_equal(tacet__draw_level(noise, &drawn, 0, 2, 0, NULL), TACET_INVALID);
    assert_int_equal(tacet__draw_level(noise, &drawn, 0, 2, TACET__LEVEL_EPS_MOST + 1, NULL), TACET_INVALID);
    assert_true(drawn == 0 && noise->next == before); /* nothing drawn */
    tacet_noise_close(noise);
    assert_null(m);
    bound = test_range(1, 0, 1);
    assert_ok(tacet_mechanism_create(&m, TACET_MECHANISM_GAUSSIAN, bound, &replace, 1, 1e-5, NULL));
    assert_int_equal(tacet_mechanism_add_levels(m, two, 1, NULL), TACET_INVALID);
    tacet_mechanism_free(m);
    assert_ok(tacet_mechanism_create(&m, TACET_MECHANISM_EXPONENTIAL, bound, &replace, 1, 0, NULL));
    assert_int_equal(tacet_mechanism_add_levels(m, two, 1, NULL), TACET_INVALID);
    tacet_mechanism_free(m);
}
