/* SPDX-License-Identifier: Apache-2.0 */
/* test_rebuild.c - the attack reads every record of the published mechanism and none of a noisy release. */
#include <tacet/audit/audit.h>
#include <tacet/core/simrng.h>
#include <tacet/outsourced/trusted/curate.h>
#include "outsourced/trusted/published.h"

#include "support/space.h"
#include "support/test.h"

enum { N = 2000, D = 3, R = 8 };

typedef struct problem {
    double X[D * N], Z[R * N], M[D * R];
    tacet_simrng rng;
} problem;

static problem p;

static void make(double spread, double eps, tacet_published_report *report) {
    tacet_simrng_init(&p.rng, 7, 0);
    for (size_t i = 0; i < (size_t)D * N; i++) {
        p.X[i] = spread * (tacet_simrng_uniform(&p.rng) - 0.3);
    }
    for (size_t i = 0; i < (size_t)D * R; i++) {
        p.M[i] = tacet_simrng_normal(&p.rng);
    }
    assert_ok(tacet_published_project(p.Z, R, report, p.X, D, D, N, p.M, D, R, eps, 1e-5, NULL));
}

/* d + 1 known rows are enough, in either branch of the algorithm. */
static void check_rebuilt(void) {
    tacet_rebuild result;
    const size_t known[] = {0, 5, 99, 1500};
    assert_ok(tacet_rebuild_records(&result, NULL, p.Z, R, R, p.X, D, D, N, known, D + 1, NULL));
    assert_true(result.succeeded);
    assert_close(result.recovered, 1, 0);
    assert_true(result.largest < 1e-9 * result.blind);
    /* One row fewer leaves a direction open. */
    assert_ok(tacet_rebuild_records(&result, NULL, p.Z, R, R, p.X, D, D, N, known, D, NULL));
    assert_false(result.succeeded);
}

static void test_published_is_read_plain_branch(void **state) {
    tacet_published_report report;
    make(1000, 20, &report);
    assert_false(report.raised);
    check_rebuilt();
}

static void test_published_is_read_raised_branch(void **state) {
    tacet_published_report report;
    make(1, 1, &report);
    assert_true(report.raised);
    check_rebuilt();
}

static void test_noisy_rows_are_not(void **state) {
    tacet_rebuild result;
    size_t known[200];
    make(10, 1, NULL);
    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < R; i++) {
            p.Z[j * R + i] = i < D ? p.X[j * D + i] + 3 * tacet_simrng_normal(&p.rng) : 0;
        }
    }
    for (size_t a = 0; a < 200; a++) {
        known[a] = a;
    }
    assert_ok(tacet_rebuild_records(&result, NULL, p.Z, R, R, p.X, D, D, N, known, 200, NULL));
    assert_false(result.succeeded);
    assert_close(result.recovered, 0, 0);
    /* A uniform coordinate of width 10 has deviation 2.9, the noise 3: regression halves the variance at best. */
    assert_true(result.rms > 0.6 * result.blind);
}

static void test_bad_input(void **state) {
    tacet_rebuild result;
    const size_t twice[] = {1, 1};
    const size_t outside[] = {N};
    make(10, 1, NULL);
    assert_status(tacet_rebuild_records(&result, NULL, p.Z, R, R, p.X, D, D, N, twice, 2, NULL), TACET_INVALID);
    assert_status(tacet_rebuild_records(&result, NULL, p.Z, R, R, p.X, D, D, N, outside, 1, NULL), TACET_INVALID);
    assert_status(tacet_rebuild_records(&result, NULL, p.Z, R, R, p.X, D, D, N, twice, 0, NULL), TACET_INVALID);
    assert_status(tacet_published_project(p.Z, R, NULL, p.X, D, D, N, p.M, D, R, NAN, 1e-5, NULL), TACET_INVALID);
    assert_status(tacet_published_project(p.Z, R, NULL, p.X, D, D, N, p.M, D, R, 1, 0, NULL), TACET_INVALID);
    for (size_t j = 0; j < N; j++) {
        p.X[j * D + 1] = p.X[j * D]; /* dependent columns: nothing to raise from */
    }
    assert_status(tacet_published_project(p.Z, R, NULL, p.X, D, D, N, p.M, D, R, 1, 1e-5, NULL), TACET_NUMERIC);
}

/* The mechanism of the paper gives its records away, Euclidean noise does not; of both the files are enough. */
static void a_release_in_a_folder_is_attacked(void **state) {
    static tacet_space_column COLUMNS[] = {TEST_REAL("x", -5, 5, 1), TEST_REAL("y", -5, 5, 1)};
    const tacet_space space = {COLUMNS, 2};
    static const tacet_curate_mechanism MECHANISMS[] = {TACET_CURATE_PUBLISHED, TACET_CURATE_LAPLACE};
    const char *base = test_mkdir();
    char data[256], folder[256];
    tacet_rebuild result;
    tacet_manifest manifest;
    (void)state;
    (void)snprintf(data, sizeof data, "%s/data.csv", base);
    FILE *file = fopen(data, "w");
    assert_non_null(file);
    (void)fprintf(file, "x,y\n");
    tacet_simrng_init(&p.rng, 3, 0);
    for (size_t i = 0; i < 200; i++) {
        (void)fprintf(file, "%.6f,%.6f\n", 9 * tacet_simrng_uniform(&p.rng) - 4, 9 * tacet_simrng_uniform(&p.rng) - 4);
    }
    assert_int_equal(fclose(file), 0);
    for (size_t m = 0; m < 2; m++) {
        tacet_curate_settings s;
        tacet_curate_defaults(&s);
        (void)snprintf(folder, sizeof folder, "%s/release%zu", base, m);
        s.data = data;
        s.folder = folder;
        s.space = &space;
        s.mechanism = MECHANISMS[m];
        s.ticket = folder;
        s.dims = m == 0 ? 4 : 0;
        s.eps = 1;
        s.delta = m == 0 ? 1e-5 : 0;
        s.budget_eps = m == 0 ? 10 : 0; /* then: what the ledger has */
        s.budget_delta = m == 0 ? 1e-4 : 0;
        s.accept_not_private = m == 0;
        assert_ok(tacet_curate_run(&manifest, &s, NULL));
        tacet_manifest_clear(&manifest);
        assert_ok(tacet_rebuild_release(&result, &manifest, folder, data, 20, 1, NULL));
        assert_int_equal(manifest.rows, 200);
        assert_int_equal(result.succeeded, m == 0);
        tacet_manifest_clear(&manifest);
        assert_status(tacet_rebuild_release(&result, &manifest, folder, data, 200, 1, NULL), TACET_INVALID);
    }
    assert_status(tacet_rebuild_release(&result, &manifest, base, data, 20, 1, NULL), TACET_NOT_FOUND);
    test_rmdir(base);
}

/* Numbers with missing cells, a logarithm, a category: what is attacked is the record as the space sees it. Noise of
 * eps = 1 hides it; at eps = 100 the attack comes close to all of it, so that it would have seen what is there to see.
 */
static void a_release_of_a_space_is_attacked(void **state) {
    static const char SPACE[] =
        "{\"columns\":[{\"name\":\"age\",\"kind\":\"integer\",\"bounds\":[18,90],\"unit\":5,"
        "\"missing\":{\"value\":50,\"flag\":true}},{\"name\":\"income\",\"kind\":\"log\",\"bounds\":[1000,200000],"
        "\"unit\":\"10 %\"},{\"name\":\"group\",\"kind\":\"category\",\"levels\":[\"A\",\"B\",\"C\"]}]}";
    const char *base = test_mkdir();
    char data[256], folder[256];
    tacet_space space;
    tacet_manifest manifest;
    tacet_rebuild result;
    (void)state;
    tacet_space_init(&space);
    assert_ok(tacet_space_decode(&space, SPACE, sizeof SPACE - 1, NULL));
    for (size_t m = 0; m < 2; m++) {
        (void)snprintf(data, sizeof data, "%s/data%zu.csv", base, m);
        FILE *file = fopen(data, "w");
        assert_non_null(file);
        (void)fprintf(file, "group,age,income\n");
        tacet_simrng_init(&p.rng, 4, m);
        for (size_t i = 0; i < 300; i++) {
            (void)fprintf(file, "%c,", "ABC"[tacet_simrng_below(&p.rng, 3)]);
            if (i % 5 != 0) {
                (void)fprintf(file, "%zu", 18 + tacet_simrng_below(&p.rng, 70));
            }
            (void)fprintf(file, ",%.2f\n", exp(7 + 5 * tacet_simrng_uniform(&p.rng)));
        }
        assert_int_equal(fclose(file), 0);
        tacet_curate_settings s;
        tacet_curate_defaults(&s);
        (void)snprintf(folder, sizeof folder, "%s/release%zu", base, m);
        s.data = data;
        s.folder = folder;
        s.space = &space;
        s.ticket = folder;
        s.eps = m == 0 ? 1 : 100;
        assert_ok(tacet_curate_run(&manifest, &s, NULL));
        tacet_manifest_clear(&manifest);
        assert_ok(tacet_rebuild_release(&result, &manifest, folder, data, 40, 1, NULL));
        print_message("error %.3g, blind %.3g, read %.2f\n", result.rms, result.blind, result.recovered);
        assert_true(m == 0 ? !result.succeeded && result.rms > 0.1 * result.blind : result.rms < 0.01 * result.blind);
        tacet_manifest_clear(&manifest);
    }
    FILE *file = fopen(data, "a");
    assert_non_null(file);
    (void)fprintf(file, "A,20,2000\n");
    assert_int_equal(fclose(file), 0);
    assert_status(tacet_rebuild_release(&result, &manifest, folder, data, 40, 1, NULL), TACET_PARSE);
    tacet_space_clear(&space);
    test_rmdir(base);
}

static void test_out_of_memory(void **state) {
    tacet_rebuild result;
    const size_t known[] = {0, 5, 99, 1500};
    make(10, 1, NULL);
    assert_each_alloc_fails(tacet_rebuild_records(&result, NULL, p.Z, R, R, p.X, D, D, N, known, D + 1, NULL), true);
}

/* The thresholds of the paper's grid: 100 x 100 points, largest norm 25 (design and Tables 1 to 3 of the paper). */
static void test_thresholds_of_the_paper(void **state) {
    static double grid[2 * 10000];
    double sigma_min = 0;
    for (size_t i = 0; i < 10000; i++) {
        grid[2 * i] = ((double)(i % 100) / 99 - 0.5) * 50 / sqrt(2);
        grid[2 * i + 1] = ((double)(i / 100) / 99 - 0.5) * 50 / sqrt(2);
    }
    assert_ok(tacet_published_sigma_min(&sigma_min, grid, 2, 2, 10000, NULL));
    assert_close(sigma_min, 1031, 1);
    assert_close(tacet_published_omega(10, exp(1.1), 1e-5), 976, 1);
    assert_close(tacet_published_omega(15, exp(1.3), 1e-5), 1003, 1);
    assert_close(tacet_published_omega(20, exp(1.5), 1e-5), 964, 1);
    assert_int_equal(tacet_published_suggest_r(sigma_min, exp(1.1), 1e-5), 11);
    assert_int_equal(tacet_published_suggest_r(0, exp(1.1), 1e-5), 0);
}

/* Distances survive: with r large the projection is nearly an isometry of the centred (or raised) records. */
static void test_distances_are_kept(void **state) {
    enum { WIDE = 4000 };
    static double M[2 * WIDE], Z[WIDE * 50], X[2 * 50];
    tacet_simrng rng = test_rng(3, 0);
    for (size_t i = 0; i < 100; i++) {
        X[i] = 1e6 * tacet_simrng_uniform(&rng);
    }
    for (size_t i = 0; i < (size_t)2 * WIDE; i++) {
        M[i] = tacet_simrng_normal(&rng);
    }
    assert_ok(tacet_published_project(Z, WIDE, NULL, X, 2, 2, 50, M, 2, WIDE, 50, 1e-2, NULL));
    for (size_t j = 1; j < 50; j++) {
        double before = 0;
        double after = 0;
        for (size_t i = 0; i < 2; i++) {
            before += (X[2 * j + i] - X[i]) * (X[2 * j + i] - X[i]);
        }
        for (size_t k = 0; k < WIDE; k++) {
            after += (Z[j * WIDE + k] - Z[k]) * (Z[j * WIDE + k] - Z[k]);
        }
        /* chi-square with 4000 degrees of freedom over 4000: deviation 0.022; five of them, 49 pairs: < 1e-4 by chance
         */
        assert_close(after / before, 1, 0.11);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_is_read_plain_branch),
        cmocka_unit_test(test_published_is_read_raised_branch),
        cmocka_unit_test(test_noisy_rows_are_not),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(a_release_in_a_folder_is_attacked),
        cmocka_unit_test(a_release_of_a_space_is_attacked),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_thresholds_of_the_paper),
        cmocka_unit_test(test_distances_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
