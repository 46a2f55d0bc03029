/* SPDX-License-Identifier: Apache-2.0 */
/* test_curate.c - a table through the curator: what is released. */
#include "outsourced/shared/release_text.h"
#include "outsourced/curate_fixture.h"

#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/ledger.h>

/* Twenty cells of equal probability under the normal law; p-value of the count. */
static double normal_pvalue(const double *residuals, size_t count) {
    enum { CELLS = 20 };
    size_t counts[CELLS] = {0};
    double statistic = 0;
    for (size_t k = 0; k < count; k++) {
        const double u = 0.5 * erfc(-residuals[k] / sqrt(2));
        counts[u >= 1 ? CELLS - 1 : (size_t)(u * CELLS)]++;
    }
    const double expected = (double)count / CELLS;
    for (size_t c = 0; c < CELLS; c++) {
        statistic += ((double)counts[c] - expected) * ((double)counts[c] - expected) / expected;
    }
    return test_chi2_pvalue(statistic, CELLS - 1);
}

/* The difference to the scaled record has the normal law (false alarms: 1e-6, seed fixed). */
TEST(test_gaussian) {
    fixture *f = *state;
    OWN_MANIFEST tacet_manifest m;
    write_table(f, 3000, false, false);
    run_ok(f, &m);
    OWN_MEMORY double *Z = released(f, D);
    assert_true(m.sigma > 0 && m.grid > 0);
    for (size_t k = 0; k < D * f->n; k++) {
        Z[k] = (Z[k] - scaled(f, k / D, k % D)) / m.sigma;
    }
    const double p = normal_pvalue(Z, D * f->n);
    assert_true(p > 1e-6);
    /* Half the noise, or one and a half, would not pass. */
    for (size_t k = 0; k < D * f->n; k++) {
        Z[k] *= 1.1;
    }
    assert_true(normal_pvalue(Z, D * f->n) < 1e-6);
}

/* A rehearsal tells what the release will have, finds the same faults, and leaves nothing behind. */
TEST(test_rehearsal) {
    fixture *f = *state;
    tacet_manifest told;
    tacet_manifest made;
    tacet_error err = {0};
    for (int kind = TACET_CURATE_GAUSSIAN; kind <= TACET_CURATE_LAPLACE; kind++) {
        f->settings.mechanism = (tacet_curate_mechanism)kind;
        f->settings.accept_not_private = true;
        f->settings.dims = 2;
        f->settings.delta = kind == TACET_CURATE_LAPLACE ? 0 : 1e-5;
        assert_ok(tacet_curate_rehearse(&told, &f->settings, &err));
        assert_false(exists(f->out));
        assert_false(exists(f->ledger));
        run_ok(f, &made);
        assert_true(told.sigma == made.sigma && told.scale == made.scale && told.grid == made.grid);
        assert_true(told.rows == made.rows && told.dims == made.dims);
        assert_string_equal(told.mechanism, made.mechanism);
        tacet_manifest_clear(&told);
        tacet_manifest_clear(&made);
        test_rmdir(f->out);
    }
    f->settings.eps = -1;
    assert_int_equal(tacet_curate_rehearse(&told, &f->settings, &err), TACET_INVALID);
    f->settings.eps = 2;
    err = (tacet_error){0};
    test_write(f->data, "age,bmi,dose\n30,20,1\n30,x,1\n");
    assert_int_equal(tacet_curate_rehearse(&told, &f->settings, &err), TACET_PARSE);
    assert_non_null(strstr(err.message, "line 3"));
    assert_null(told.columns);
    assert_false(exists(f->out));
}

TEST(test_manifest_and_ledger) {
    fixture *f = *state;
    OWN_MANIFEST tacet_manifest m;
    OWN_MANIFEST tacet_manifest stored;
    tacet_ledger_totals totals;
    struct stat st;
    f->settings.seeded = false; /* the operating system's entropy: really private */
    run_ok(f, &m);
    OWN_TEXT char *text = slurp(f->manifest);
    assert_ok(tacet_manifest_decode(&stored, text, strlen(text), NULL));
    assert_true(stored.is_private);
    assert_null(strstr(text, TACET_MANIFEST_STAMP));
    assert_int_equal(stored.rows, 40);
    assert_int_equal(stored.dims, D);
    assert_true(stored.eps == 2 && stored.sigma == m.sigma && stored.grid == m.grid);
    assert_string_equal(stored.columns[1].name, "bmi");
    assert_string_equal(stored.entry_hash, m.entry_hash);
    assert_int_equal(strlen(stored.entry_hash), 64);
    assert_int_equal(stat(f->release, &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
    assert_false(exists(f->unfinished));
    totals_of(&totals, f);
    assert_int_equal(totals.entries, 1);
    assert_int_equal(totals.answered, 1);
    assert_int_equal(totals.seeded, 0);
    assert_close(totals.eps, 2, 1e-6);
}

/* Values outside the bounds are released as the bound would be, and nothing counts them. The published
 * mechanism tells whether they were clipped as records, not only as what goes into the noise. */
TEST(test_clipped) {
    fixture *f = *state;
    static const tacet_curate_mechanism MECHANISMS[] = {TACET_CURATE_GAUSSIAN, TACET_CURATE_LAPLACE,
                                                        TACET_CURATE_PUBLISHED};
    f->settings.accept_not_private = true;
    f->settings.dims = D;
    for (int k = 0; k < 3; k++) {
        tacet_manifest m;
        f->settings.mechanism = MECHANISMS[k];
        f->settings.delta = MECHANISMS[k] == TACET_CURATE_LAPLACE ? 0 : 1e-5;
        write_table(f, 40, true, false);
        run_ok(f, &m);
        double *wild = released(f, D);
        char *first = slurp(f->manifest);
        tacet_manifest_clear(&m);
        test_rmdir(f->out);
        write_table(f, 40, true, true);
        run_ok(f, &m);
        double *clipped = released(f, D);
        char *second = slurp(f->manifest);
        assert_memory_equal(wild, clipped, D * 40 * sizeof *wild);
        *strstr(first, "\"receipt\"") = *strstr(second, "\"receipt\"") = '\0'; /* the ledger's hash covers the time */
        assert_string_equal(first, second);
        free(wild);
        free(clipped);
        free(first);
        free(second);
        tacet_manifest_clear(&m);
        test_rmdir(f->out);
    }
}

/* Records at a distance of at most 1 are further apart once scaled in floating point: the noise pays for that too. */
TEST(test_scaling_rounds) {
    fixture *f = *state;
    OWN_MANIFEST tacet_manifest m;
    /* A quarter in both columns is a distance of just less than 1. */
    const double root_half = 0.7071067811865475, unit = 0.25 / root_half * (1 + 1e-15), hi = 0x1p27;
    double furthest = 0, sigma = 0;
    f->space.count = 2;
    for (size_t i = 0; i < 2; i++) {
        f->columns[i].lo = 0;
        f->columns[i].hi = hi;
        f->columns[i].unit = unit;
    }
    write_table(f, 3, false, false);
    run_ok(f, &m);
    for (int k = 0; k < 2000; k++) {
        const double x = hi - 1000 + 0.125 * k;
        furthest = fmax(furthest, ((x + 0.25 - hi / 2) / unit - (x - hi / 2) / unit) * sqrt(2));
    }
    assert_true(furthest > 1 + 1e-9);
    assert_ok(tacet_calibrate_gaussian(&sigma, m.eps, m.delta, furthest + sqrt(2) * m.grid, NULL));
    assert_true(m.sigma >= sigma);
}

/* Records are decimal text. Where numbers are large for their unit, two that differ by one unit are many units apart
 * once they are doubles: the noise pays for the distance of the doubles. */
TEST(test_reading_rounds) {
    fixture *f = *state;
    OWN_MANIFEST tacet_manifest m;
    double sigma = 0;
    f->space.count = 1;
    f->columns[0].lo = 1e15;
    f->columns[0].hi = 1e15 + 1;
    f->columns[0].unit = 0.001;
    const double near = strtod("1000000000000000.062", NULL), far = strtod("1000000000000000.063", NULL);
    const double apart = (far - near) / f->columns[0].unit;
    assert_true(apart > 124);
    test_write(f->data, "age\n1000000000000000.062\n1000000000000000.5\n");
    run_ok(f, &m);
    assert_ok(tacet_calibrate_gaussian(&sigma, m.eps, m.delta, apart, NULL));
    assert_true(m.sigma >= sigma);
}

TEST(test_published) {
    fixture *f = *state;
    tacet_manifest m;
    tacet_error err = {0};
    f->settings.mechanism = TACET_CURATE_PUBLISHED;
    f->settings.dims = 5;
    assert_status(run(f, &err), TACET_DENIED);
    assert_non_null(strstr(err.message, "not differentially private"));
    assert_false(exists(f->out));
    f->settings.accept_not_private = true;
    f->settings.seeded = false;
    run_ok(f, &m);
    assert_false(m.is_private);
    assert_true(m.sigma == 0 && m.grid == 0);
    char *text = slurp(f->manifest);
    assert_non_null(strstr(text, "\"stamp\": \"" TACET_MANIFEST_STAMP "\""));
    assert_non_null(strstr(text, "Nothing is protected"));
    free(text);
    double *Z = released(f, 5);
    for (size_t k = 0; k < 5; k++) { /* centred */
        double sum = 0, size = 0;
        for (size_t j = 0; j < f->n; j++) {
            sum += Z[j * 5 + k];
            size += fabs(Z[j * 5 + k]);
        }
        assert_close(sum / size, 0, 1e-12);
    }
    free(Z);
    tacet_manifest_clear(&m);
    assert_status(run(f, &err), TACET_CONFLICT);
    tacet_ledger_totals totals;
    totals_of(&totals, f);
    assert_int_equal(totals.uncovered, 1);
}

/* Seeded noise is reproducible, and therefore stamped. */
TEST(test_seeded_is_stamped) {
    fixture *f = *state;
    OWN_MANIFEST tacet_manifest m;
    run_ok(f, &m);
    assert_false(m.is_private);
    OWN_TEXT char *text = slurp(f->manifest);
    assert_non_null(strstr(text, TACET_MANIFEST_STAMP));
}

/* What is released depends on the seed and the table, not on how many threads there are; and a bad cell is the first
 * one, found before anything is spent. */
TEST(test_threads) {
    fixture *f = *state;
    char *first = NULL;
    for (size_t threads = 1; threads <= 7; threads += threads < 3 ? 1 : 2) {
        tacet_manifest m;
        f->settings.threads = threads;
        if (threads == 1) {
            write_table(f, 20000, true, false); /* several blocks */
        }
        run_ok(f, &m);
        assert_int_equal(m.rows, f->n);
        tacet_manifest_clear(&m);
        free(released(f, D));
        char *text = slurp(f->release);
        if (first == NULL) {
            first = text;
        } else {
            assert_string_equal(first, text);
            free(text);
        }
        test_rmdir(f->out);
    }
    free(first);
    FILE *file = fopen(f->data, "a");
    assert_non_null(file);
    for (int j = 0; j < 20000; j++) {
        (void)fputs(j == 9000 ? "r,1,x,1\n" : j == 19000 ? "r,y,1,1\n" : "r,1,1,1\n", file);
    }
    assert_int_equal(fclose(file), 0);
    for (size_t threads = 1; threads <= 8; threads++) {
        tacet_error err = {0};
        f->settings.threads = threads;
        assert_status(run(f, &err), TACET_PARSE);
        assert_non_null(strstr(err.message, "line 29002, column 'bmi'"));
        assert_false(exists(f->out));
    }
}

TEST_EACH(setup, teardown)
