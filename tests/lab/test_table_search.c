/* SPDX-License-Identifier: Apache-2.0 */
/* test_table_search.c - plain GP-UCB over a table on disk. test_gp_ucb.c has its rows against a dense recomputation. */
#include "support/test.h"

#include "table_search.h"

enum { N = 40, T = 12 };

static const char *const INPUTS[] = {"x"};
static const double LENGTH = 3;

typedef struct fixture {
    char data[400];
    lab_search_settings s;
} fixture;

static double target(size_t row) {
    return sin((double)row / 4) - 0.01 * (double)row;
}

static void setup(fixture *f) {
    const char *folder = test_mkdir();
    (void)snprintf(f->data, sizeof f->data, "%s/t.csv", folder);
    FILE *file = fopen(f->data, "w");
    assert_non_null(file);
    fprintf(file, "x,y\n");
    for (size_t j = 0; j < N; j++) {
        fprintf(file, "%zu,%.17g\n", j, target(j));
    }
    assert_int_equal(fclose(file), 0);
    lab_search_defaults(&f->s);
    f->s.data = f->data;
    f->s.inputs = INPUTS;
    f->s.d = 1;
    f->s.target = "y";
    f->s.lengthscales = &LENGTH;
    f->s.lengthscale_count = 1;
    f->s.queries = T;
}

static lab_search *run(const lab_search_settings *s, lab_search_result *r) {
    lab_search *search = NULL;
    assert_ok(lab_search_open(&search, s, NULL));
    assert_ok(lab_search_run(search, r, NULL));
    return search;
}

static void the_result_is_in_the_tables_own_sign(void **state) {
    fixture f;
    setup(&f);
    f.s.minimize = true;
    lab_search_result r;
    lab_search *search = run(&f.s, &r);
    double least = r.values[0];
    for (size_t t = 0; t < r.asked; t++) {
        assert_close(r.values[t], target(r.rows[t]), 0);
        least = fmin(least, r.values[t]);
    }
    double smallest = target(0);
    for (size_t j = 1; j < N; j++) {
        smallest = fmin(smallest, target(j));
    }
    assert_int_equal(r.n, N);
    assert_close(r.best.measured_value, least, 0);
    assert_close(r.best.measured_value, target(r.best.measured), 0);
    assert_close(r.regret, least - smallest, 1e-15);
    assert_status(lab_search_run(search, &r, NULL), TACET_STATE);
    lab_search_close(search);
}

static void a_table_that_repeats_a_row_is_refused(void **state) {
    fixture f;
    setup(&f);
    FILE *file = fopen(f.data, "a");
    assert_non_null(file);
    fprintf(file, "3,%.17g\n", target(3));
    assert_int_equal(fclose(file), 0);
    lab_search *search = NULL;
    tacet_error err = {0};
    assert_status(lab_search_open(&search, &f.s, &err), TACET_PARSE);
    assert_null(search);
    assert_non_null(strstr(err.message, "line 42"));
    f.s.allow_duplicates = true;
    assert_ok(lab_search_open(&search, &f.s, NULL));
    lab_search_close(search);
}

static void settings_that_mean_nothing_are_refused(void **state) {
    static const double NEGATIVE = -1;
    static const size_t OUTSIDE = N;
    fixture f;
    setup(&f);
    const lab_search_settings good = f.s;
    lab_search_settings bad[9];
    for (size_t i = 0; i < 9; i++) {
        bad[i] = good;
    }
    bad[0].queries = 0;
    bad[1].signal_var = NAN;
    bad[2].noise_var = -1e-9;
    bad[3].delta_ucb = 1;
    bad[4].beta_scale = 0;
    bad[5].lengthscales = &NEGATIVE;
    bad[6].lengthscale_count = 0;
    bad[7].queries = N + 1; /* these two need the table */
    bad[8].first = &OUTSIDE;
    bad[8].first_count = 1;
    for (size_t i = 0; i < 9; i++) {
        lab_search *search = NULL;
        assert_status(lab_search_check(&bad[i], NULL), i < 7 ? TACET_INVALID : TACET_OK);
        assert_status(lab_search_open(&search, &bad[i], NULL), TACET_INVALID);
        assert_null(search);
    }
    (void)state;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_result_is_in_the_tables_own_sign),
        cmocka_unit_test(a_table_that_repeats_a_row_is_refused),
        cmocka_unit_test(settings_that_mean_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
