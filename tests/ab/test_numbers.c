/* SPDX-License-Identifier: Apache-2.0 */
/* test_numbers.c - columns of numbers: which bin a number is in, values between bins, and a log of numbers that is
 * learnt through the release. Seeds are fixed. */
#include "ab/shared/plan.h"
#include "ab/open/internal.h"
#include "ab/trusted/internal.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/ab/trusted/log.h>

static tacet_space space_of(const char *text) {
    tacet_space space;
    assert_ok(tacet_space_decode(&space, text, strlen(text), NULL));
    return space;
}

TEST(numbers_are_in_even_bins_of_their_scale) {
    tacet_space space = space_of("{\"columns\":[{\"name\":\"a\",\"kind\":\"real\",\"bounds\":[-1,3]},"
                                 "{\"name\":\"l\",\"kind\":\"log\",\"bounds\":[1,10000]},"
                                 "{\"name\":\"k\",\"kind\":\"integer\",\"bounds\":[2,4]}]}");
    tacet_ab_plan p;
    assert_ok(tacet_ab_plan_make(&p, &space, 1, 0, 1, 1, 5000, NULL));
    assert_int_equal(p.levels[0], 4);
    assert_int_equal(p.levels[1], 4);
    assert_int_equal(p.levels[2], 3); /* as many as there are */
    assert_true(p.smooth && p.spread && p.sensitivity == 2 + 1.0 / 16 && p.numbers == 2 * 48 + 1);
    const double records[][3] = {{-1, 1, 2}, {-0.01, 9.9, 3}, {0.01, 10.1, 4}, {3, 1e4, 1e9}, {-7, 1e9, -1e9}};
    const size_t actions[] = {0, 0, 1, 3, 0}, contexts[] = {0, 0 + 4 * 1, 1 + 4 * 2, 3 + 4 * 2, 3};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(tacet_ab_plan_action(&p, records[i]), actions[i]);
        assert_int_equal(tacet_ab_plan_context(&p, records[i]), contexts[i]);
    }
    /* The spread adds the part of a row that is charged, where most: in the middle of the rewards. */
    const double middle[] = {0, 1, 2, 0.5};
    size_t at[8];
    int64_t steps[8];
    assert_int_equal(tacet__ab_table_shares(at, steps, &p, 1, middle), 3);
    assert_true(at[2] == p.numbers - 1 && steps[2] == TACET_TALLY_ONE / TACET_AB_SPREAD_PARTS);
    const double missing[3] = {0, (double)NAN, 3};
    assert_int_equal(tacet_ab_plan_context(&p, missing), 2 + 4 * 1); /* the middle */
    assert_close(tacet_ab_plan_value(&p, 3, 0), 2.5, 1e-12);
    assert_close(tacet_ab_plan_value(&p, 1 + 4 * 2, 1), pow(10, 1.5), 1e-9);
    assert_true(tacet_ab_plan_value(&p, 1 + 4 * 2, 2) == 4);
    /* More rows, more bins, at most 16; many columns of numbers have halves, and nothing smooth. */
    assert_ok(tacet_ab_plan_make(&p, &space, 1, 0, 1, 1, 100000000, NULL));
    assert_true(p.levels[0] > 4 && p.cells <= 600);
    /* Few rows: three bins, and no totals beside them to share eps with. */
    assert_ok(tacet_ab_plan_make(&p, &space, 1, 0, 1, 1, 100, NULL));
    assert_true(p.levels[0] == 3 && !p.totals && p.sensitivity == 2 + 1.0 / 16);
    tacet_space_clear(&space);
}

/* What a bin's mean is must come out of the function between bins, and straight lines stay straight. */
TEST(values_between_bins_have_the_means_of_the_bins) {
    enum { N = 8, FINE = 50 };
    double weights[N], means[N], factor[N * N];
    assert_ok(tacet__ab_blend_init(factor, N, NULL));
    for (size_t i = 0; i < N; i++) {
        means[i] = 0.3 + 0.1 * ((double)i + 0.5) / N;
    }
    for (size_t i = 0; i < N; i++) {
        double sum = 0, line = 0;
        for (size_t k = 0; k < FINE; k++) {
            const double place = ((double)i + ((double)k + 0.5) / FINE) / N;
            double one = 0, at = 0;
            tacet__ab_blend(weights, factor, N, place);
            for (size_t j = 0; j < N; j++) {
                one += weights[j];
                at += weights[j] * means[j];
            }
            assert_close(one, 1, 1e-9);
            line = fmax(line, fabs(at - 0.3 - 0.1 * place));
            sum += at / FINE;
        }
        assert_close(sum, means[i], 0.002);
        assert_true(line < 0.01);
    }
}

/* A bump whose best action moves with the context; the level is far from the middle of the range. */
static double mean_of(double x, double c) {
    return 0.1 + 0.3 * exp(-8 * (x - 0.2 - 0.6 * c) * (x - 0.2 - 0.6 * c));
}

TEST(a_log_of_numbers_is_learnt) {
    enum { ROWS = 20000 };
    tacet_space space = space_of("{\"columns\":[{\"name\":\"x\",\"kind\":\"real\",\"bounds\":[0,1]},"
                                 "{\"name\":\"c\",\"kind\":\"real\",\"bounds\":[0,1]}]}");
    const tacet_ab_question q = {.space = &space, .action_columns = 1, .reward = "y", .lo = 0, .hi = 1, .eps = 1};
    const tacet_contextual_entry entry = {.ticket = "t", .to_whom = "w", .seeded = true, .seed = 3};
    tacet_simrng rng = test_rng(8, 0);
    OWN_MEMORY double *rows = calloc(ROWS * 3, sizeof *rows);
    tacet_ab_log *log = NULL;
    tacet_ab_model *model = NULL;
    double worst = 0;
    assert_non_null(rows);
    for (size_t i = 0; i < ROWS; i++) {
        rows[3 * i] = tacet_simrng_uniform(&rng);
        rows[3 * i + 1] = tacet_simrng_uniform(&rng);
        rows[3 * i + 2] = tacet_simrng_uniform(&rng) < mean_of(rows[3 * i], rows[3 * i + 1]) ? 1 : 0;
    }
    assert_ok(tacet_ab_log_open_rows(&log, rows, ROWS, &q, NULL));
    assert_ok(tacet_ab_log_release(log, &model, &entry, NULL));
    const tacet_ab_posterior *p = tacet_ab_model_posterior(model);
    for (size_t k = 0; k <= 10; k++) {
        const double record[2] = {0, (double)k / 10};
        double best = 0, mean = 0, sd = 0;
        assert_ok(tacet_ab_model_predict(model, &mean, &sd, &best, record, 1, NULL));
        worst = fmax(worst, 0.4 - mean_of(best, record[1]));
        assert_close(mean, 0.4, 0.08);
        assert_true(sd > 0.005 && sd < 0.05);
    }
    assert_true(worst < 0.02);
    double even = 0;
    for (size_t k = 0; k < 10000; k++) {
        even += mean_of(((double)(k % 100) + 0.5) / 100, ((double)(k / 100) + 0.5) / 100) / 10000; /* of even play */
    }
    assert_true(p->uniform_value.lower < even && even < p->uniform_value.upper);
    assert_true(p->uniform_value.upper - p->uniform_value.lower < 0.03 && p->over_uniform.lower > 0.05);
    tacet_ab_model_free(model);
    tacet_ab_log_free(log);
    tacet_space_clear(&space);
}
