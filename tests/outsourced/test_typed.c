/* SPDX-License-Identifier: Apache-2.0 */
/* test_typed.c - releases of typed columns: read, split, drawn, described, and understood by a modeler. */
#include "space/internal.h"
#include "outsourced/shared/release_text.h"
#include "outsourced/curate_fixture.h"

#include <math.h>
#include "outsourced/shared/coordinates.h"
#include <tacet/dp/open/calibrate.h>

static const char SPACE[] =
    "{\"columns\":["
    "{\"name\":\"sex\",\"kind\":\"category\",\"levels\":[\"Male\",\"Female\"]},"
    "{\"name\":\"income\",\"kind\":\"log\",\"bounds\":[1000,1000000],\"unit\":\"10 %\"},"
    "{\"name\":\"race\",\"levels\":[\"A\",\"B\",\"C\"],\"others\":\"rest\",\"missing\":\"unknown\"},"
    "{\"name\":\"bp\",\"kind\":\"integer\",\"bounds\":[60,220],\"unit\":10,\"missing\":{\"value\":120,\"flag\":true}},"
    "{\"name\":\"seen\",\"kind\":\"date\",\"bounds\":[\"2021-01-01\",\"2021-12-31\"],\"unit\":14}]}";

static void read_space(tacet_space *space) {
    assert_ok(tacet_space_decode(space, SPACE, sizeof SPACE - 1, NULL));
}

static void begin(fixture *f, tacet_space *space, const char *table) {
    read_space(space);
    test_write(f->data, table);
    f->settings.space = space;
    f->settings.mechanism = TACET_CURATE_LAPLACE;
    f->settings.delta = 0;
    f->settings.eps = 2;
}

enum { ROWS = 3000 };

static const char HEADER[] = "row,sex,income,race,bp,bp missing,seen\n";

static void write_rows(const fixture *f) {
    FILE *file = fopen(f->data, "w");
    assert_non_null(file);
    (void)fputs("id,seen,race,sex,bp,income\n", file);
    for (int i = 0; i < ROWS; i++) {
        (void)fprintf(file, "%d,2021-07-02,%s,%s,%s,31622.7766016838\n", i,
                      i % 3 == 0   ? "A"
                      : i % 3 == 1 ? "Z"
                                   : "",
                      i % 2 == 0 ? "Male" : "Female", i % 4 == 0 ? "" : "140");
    }
    assert_int_equal(fclose(file), 0);
}

/* Share of rows i with i % step == rest whose level in column c is the one wanted; off by more than five standard
 * errors with probability below 1e-6. */
static void assert_share(const double *rows, size_t c, size_t step, size_t rest, double level, double p) {
    double share = 0;
    double count = 0;
    for (size_t i = rest; i < ROWS; i += step) {
        share += rows[i * 6 + c] == level ? 1 : 0;
        count++;
    }
    assert_close(share / count, p, 5 * sqrt(p * (1 - p) / count));
}

TEST(a_typed_table_is_released_under_the_law_it_states) {
    fixture *f = *state;
    OWN_SPACE tacet_space space;
    tacet_manifest m, again;
    tacet_error err = {0};
    begin(f, &space, "");
    write_rows(f);
    if (tacet_curate_run(&m, &f->settings, &err) != TACET_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(m.dims, 6);
    assert_int_equal(m.column_count, 3);
    char *csv = slurp(f->release);
    assert_memory_equal(csv, HEADER, sizeof HEADER - 1);
    free(csv);
    f->n = ROWS;
    double *rows = released(f, 6);
    /* sex, race, and the flag of bp, in the order of the space */
    assert_share(rows, 3, 2, 0, 0, exp(2) / (exp(2) + 1));
    assert_share(rows, 3, 2, 1, 1, exp(2) / (exp(2) + 1));
    assert_share(rows, 4, 3, 0, 0, exp(2) / (exp(2) + 4));
    assert_share(rows, 4, 3, 1, 3, exp(2) / (exp(2) + 4)); /* others */
    assert_share(rows, 4, 3, 2, 4, exp(2) / (exp(2) + 4)); /* missing */
    assert_share(rows, 5, 4, 0, 1, exp(2) / (exp(2) + 1));
    assert_share(rows, 5, 4, 1, 0, exp(2) / (exp(2) + 1));
    /* numbers: income in the middle of its logarithm, bp 140 or its stand-in 120, the day in the middle of the year */
    double mean[3] = {0};
    double square = 0;
    for (size_t i = 0; i < ROWS; i++) {
        mean[0] += rows[i * 6] / ROWS;
        square += rows[i * 6] * rows[i * 6] / ROWS;
        mean[1] += rows[i * 6 + 1] / ROWS;
        mean[2] += rows[i * 6 + 2] / ROWS;
    }
    const double se = m.sigma / sqrt(ROWS);
    assert_close(m.sigma, sqrt(4) / 2, 1e-5); /* three numbers: scale 1/eps, sd sqrt(3 + 1) of it */
    assert_close(mean[0], 0, 5 * se);
    assert_close(square, m.sigma * m.sigma, 0.15 * m.sigma * m.sigma);
    assert_close(mean[1], 0.25 * -2, 5 * se); /* a quarter at 120, two units below the middle, 140 */
    assert_close(mean[2], 0, 5 * se);
    free(rows);
    /* eps at distances, and any: numbers ln(1000)/ln(1.1), 16, 26 units; three categories */
    assert_true(m.eps_at[0] == 2 && m.eps_at[1] == 4 && m.eps_at[2] == 6);
    const double widest = sqrt(pow(log(1000) / log(1.1), 2) + 256 + 26 * 26);
    assert_close(m.eps_at[3], 2 * (widest + 3), 1e-6);
    /* the manifest reads back as the same */
    char *text = NULL;
    assert_ok(tacet_manifest_encode(&m, &text, NULL));
    if (tacet_manifest_decode(&again, text, strlen(text), &err) != TACET_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(again.space.count, 5);
    assert_int_equal(again.column_count, 3);
    assert_close(again.columns[0].unit, log(1.1), 1e-12);
    assert_true(again.eps_at[3] == m.eps_at[3]);
    assert_non_null(strstr(text, "a factor of"));
    assert_non_null(strstr(text, "sex kept with probability 0.881"));
    free(text);
    tacet_manifest_clear(&again);
    tacet_manifest_clear(&m);
}

static void refuse(fixture *f, const char *cells, const char *word) {
    OWN_SPACE tacet_space space;
    tacet_manifest m;
    tacet_error err = {0};
    OWN_TEXT char *table = test_text("seen,race,sex,bp,income\n2021-05-01,A,Male,100,5000\n%s\n", cells);
    begin(f, &space, table);
    assert_int_equal(tacet_curate_run(&m, &f->settings, &err), TACET_PARSE);
    if (strstr(err.message, "line 3") == NULL || strstr(err.message, word) == NULL) {
        fail_msg("'%s' does not name line 3 and '%s'", err.message, word);
    }
    assert_null(strstr(err.message, "secret"));
    assert_int_equal(access(f->release, F_OK), -1);
    assert_int_equal(access(f->ledger, F_OK), -1);
}

TEST(cells_that_do_not_fit_are_named_and_nothing_is_charged) {
    fixture *f = *state;
    refuse(f, "2021-05-01,A,secret,100,5000", "'sex'");
    refuse(f, "2021-05-01,A,,100,5000", "'sex'");
    refuse(f, "2021-05-01,A,Male,100,secret", "'income'");
    refuse(f, "2021-05-01,A,Male,100,", "'income'");
    refuse(f, "2021-05-01,A,Male,100.5,5000", "'bp'");
    refuse(f, "2021-05-41,A,Male,100,5000", "'seen'");
}

TEST(settings_that_do_not_fit_are_refused) {
    fixture *f = *state;
    OWN_SPACE tacet_space space;
    tacet_manifest m;
    begin(f, &space, "seen,race,sex,bp,income\n2021-05-01,A,Male,100,5000\n");
    f->settings.mechanism = TACET_CURATE_PUBLISHED;
    f->settings.accept_not_private = true;
    f->settings.delta = 1e-5;
    f->settings.dims = 2;
    assert_int_equal(tacet_curate_run(&m, &f->settings, NULL), TACET_INVALID);
    f->settings.mechanism = TACET_CURATE_GAUSSIAN;
    space.columns[1].unit = 0;
    assert_int_equal(tacet_curate_run(&m, &f->settings, NULL), TACET_INVALID);
    assert_int_equal(access(f->ledger, F_OK), -1);
}

TEST(a_table_of_levels_alone_is_released) {
    fixture *f = *state;
    static const char ONLY[] = "{\"columns\":[{\"name\":\"sex\",\"levels\":[\"Male\",\"Female\"]}]}";
    tacet_space space;
    tacet_manifest m, again;
    tacet_error err = {0};
    begin(f, &space, "sex\nMale\nFemale\n");
    tacet_space_clear(&space);
    assert_ok(tacet_space_decode(&space, ONLY, sizeof ONLY - 1, NULL));
    if (tacet_curate_run(&m, &f->settings, &err) != TACET_OK) {
        fail_msg("%s", err.message);
    }
    assert_true(m.dims == 1 && m.sigma == 0 && m.eps_at[3] == 2);
    char *text = NULL;
    assert_ok(tacet_manifest_encode(&m, &text, NULL));
    if (tacet_manifest_decode(&again, text, strlen(text), &err) != TACET_OK) {
        fail_msg("%s", err.message);
    }
    free(text);
    tacet_manifest_clear(&again);
    tacet_manifest_clear(&m);
    tacet_space_clear(&space);
}

/* Under gaussian noise two changes of level cost 2 eps, a move of 2 the Gaussian curve, which is more. */
TEST(gaussian_distances_take_the_dearest_way) {
    fixture *f = *state;
    OWN_SPACE tacet_space space;
    OWN_MANIFEST tacet_manifest m;
    begin(f, &space, "seen,race,sex,bp,income\n2021-05-01,A,Male,100,5000\n");
    f->settings.mechanism = TACET_CURATE_GAUSSIAN;
    f->settings.delta = 1e-5;
    assert_ok(tacet_curate_rehearse(&m, &f->settings, NULL));
    assert_true(m.eps_at[1] > 4 && m.eps_at[2] > m.eps_at[1] + 2);
    /* the numbers of two records are no further apart than the ranges are wide: the rest is levels */
    double mu = 0, farthest = 0;
    assert_ok(tacet_gdp_mu(&mu, 2, 1e-5, NULL));
    assert_ok(tacet_gdp_eps(&farthest, mu * sqrt(pow(log(1000) / log(1.1), 2) + 256 + 26 * 26), 1e-5, NULL));
    assert_close(m.eps_at[3], 3 * 2 + farthest, 1e-6 * farthest);
}

TEST(released_levels_are_unbiased_in_coordinates) {
    OWN_MANIFEST tacet_manifest m;
    OWN_SPACE tacet_space space;
    double sd[16], low[16], high[16];
    tacet_manifest_init(&m);
    (void)snprintf(m.mechanism, sizeof m.mechanism, "gaussian");
    read_space(&space);
    m.eps = 1.3;
    m.sigma = 2;
    assert_ok(tacet_manifest_describe(&m, &space, NULL));
    assert_int_equal(m.dims, 6);
    const size_t d = tacet_manifest_coordinates(&m);
    assert_int_equal(d, 3 + 1 + 4 + 1);
    tacet_manifest_spread(&m, sd, low, high);
    assert_true(sd[0] == 2 && sd[1] == 2 && low[1] == -high[1] && high[1] == 8);
    tacet_manifest_level level;
    tacet_manifest_level_of(&level, &space, 1, m.eps);
    assert_true(level.column == 2 && level.levels == 5 && !level.flag);
    double variance[4] = {0};
    for (size_t truth = 0; truth < 5; truth++) {
        double vertex[4], mean[4] = {0}, second[4] = {0};
        tacet_space_vertex(vertex, truth, 5);
        for (size_t r = 0; r < 5; r++) {
            const double row[6] = {0, 0, 0, 0, (double)r, 0};
            double x[16];
            tacet_manifest_row(&m, x, row);
            const double p = r == truth ? level.keep : level.other;
            for (size_t c = 0; c < 4; c++) {
                mean[c] += p * x[4 + c];
                second[c] += p * x[4 + c] * x[4 + c];
            }
        }
        for (size_t c = 0; c < 4; c++) {
            assert_close(mean[c], vertex[c], 1e-12);
            variance[c] += (second[c] - mean[c] * mean[c]) / 5;
        }
    }
    for (size_t c = 0; c < 4; c++) {
        assert_close(variance[c], sd[4 + c] * sd[4 + c], 1e-12);
    }
}

TEST_EACH(setup, teardown)
