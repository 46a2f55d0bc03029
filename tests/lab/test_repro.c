/* SPDX-License-Identifier: Apache-2.0 */
/* test_repro.c - what counts as agreement with a paper, and the stretch that puts Branin into the paper's branch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "local_problem.h"
#include "outsourced_problem.h"
#include "repro.h"

#include <math.h>
#include "outsourced/trusted/published.h"

enum { TRIALS = 4 };

/* One row whose run has values about `mean` and took the branch `ran`. */
static repro_plan *plan_of(double *values, double mean, const char *ran) {
    repro_plan *plan = calloc(1, sizeof *plan);
    assert_non_null(plan);
    plan->columns = plan->cells = 1;
    plan->paper_trials = TRIALS;
    repro_row *row = repro_row_add(plan, "", "row");
    repro_row_paper(row, "0.0");
    row->branch = "else";
    row->cell[0] = 0;
    for (size_t i = 0; i < TRIALS; i++) {
        values[i] = mean + (i % 2 == 0 ? 1e-6 : -1e-6);
    }
    plan->cell[0].done = true;
    plan->cell[0].outcome =
        (lab_outcome){.trials = TRIALS, .value = values, .detail = json_pack("{ss}", "branch", ran)};
    return plan;
}

static void free_plan(repro_plan *plan) {
    json_decref(plan->cell[0].outcome.detail);
    free(plan);
}

static void a_run_in_another_branch_is_not_scored(void **state) {
    double values[TRIALS];
    repro_plan *plan = plan_of(values, 0, "if");
    assert_int_equal(repro_agrees(plan, 0), -1);
    free_plan(plan);
    plan = plan_of(values, 0, "else");
    assert_int_equal(repro_agrees(plan, 0), 1);
    free_plan(plan);
    (void)state;
}

static void the_finest_digit_of_the_table_is_the_tolerance(void **state) {
    double values[TRIALS];
    repro_plan *plan = plan_of(values, 0.03, "else");
    assert_int_equal(repro_agrees(plan, 0), 1); /* "0.0" alone is 0.0 +- 0.05 */
    repro_row_paper(repro_row_add(plan, "", "other"), "0.053");
    assert_int_equal(repro_agrees(plan, 0), 0); /* beside three digits it is 0.000 */
    free_plan(plan);
    (void)state;
}

static double sigma_min_of(const lab_problem *p) {
    double out = 0;
    assert_int_equal(tacet_published_sigma_min(&out, p->X, p->d, p->d, p->n, NULL), TACET_OK);
    return out;
}

static void records_are_stretched_to_the_wanted_singular_value(void **state) {
    const lab_table_options o = {.sigma_min = 189};
    lab_problem p;
    double largest = 0;
    assert_int_equal(lab_problem_init(&p, "branin", &o, 25, NAN, NAN, NAN, NAN, NULL), TACET_OK);
    for (size_t i = 0; i < p.n; i++) {
        largest = fmax(largest, hypot(p.X[2 * i], p.X[2 * i + 1]));
    }
    assert_true(fabs(sigma_min_of(&p) - 189) < 1e-6);
    assert_true(fabs(largest - 25) < 1e-9);
    assert_true(p.high[1] < p.high[0] && fabs(p.high[1] - p.X[2 * p.n - 1]) < 1e-9);
    lab_problem_clear(&p);
    const lab_table_options wide = {.sigma_min = 1e4};
    assert_int_equal(lab_problem_init(&p, "branin", &wide, 25, NAN, NAN, NAN, NAN, NULL), TACET_INVALID);
    (void)state;
}

/* Appendix A of the local paper: one cell at most is good for a function, its norm is what was asked, and rewards have
 * the mean f. 400,000 rewards, seeded: the bound is five standard errors. */
static void hard_instances_are_those_of_the_lower_bound(void **state) {
    enum { DRAWS = 400000 };
    local_problem p;
    local_function f;
    tacet_simrng rng;
    size_t top = 0;
    assert_int_equal(local_problem_synthetic(&p, "matern52", 0.2, 301, LOCAL_UNIFORM, NULL), TACET_OK);
    p.alpha = 1;
    assert_int_equal(local_problem_hard(&p, 1, 1, 1, 20000, NULL), TACET_OK);
    assert_true(p.hard_cells == (size_t)floor(1 / p.hard_width) && p.hard_cells > 10);
    assert_int_equal(local_function_make(&f, &p, 1, 3, 0, NULL), TACET_OK);
    for (size_t i = 0; i < p.n; i++) {
        top = f.f[i] > f.f[top] ? i : top;
    }
    assert_true(fabs(f.norm - 1) < 1e-6 && f.f[top] > 1.8 * p.hard_delta && f.f[top] <= 2 * p.hard_delta);
    for (size_t i = 0; i < p.n; i++) { /* the grid is a tenth of a cell wide */
        assert_true(fabs(p.X[i] - p.X[top]) <= 0.6 * p.hard_width || f.f[i] < p.hard_delta);
    }
    double mean = 0;
    tacet_simrng_init(&rng, 5, 0);
    for (size_t k = 0; k < DRAWS; k++) {
        mean += local_reward(&p, &f, top, &rng) / DRAWS;
    }
    assert_true(fabs(mean - f.f[top]) < 5 * sqrt(f.f[top] * p.hard_payout / DRAWS));
    local_function_clear(&f);
    local_problem_clear(&p);
    (void)state;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_in_another_branch_is_not_scored),
        cmocka_unit_test(the_finest_digit_of_the_table_is_the_tolerance),
        cmocka_unit_test(records_are_stretched_to_the_wanted_singular_value),
        cmocka_unit_test(hard_instances_are_those_of_the_lower_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
