/* SPDX-License-Identifier: Apache-2.0 */
/* test_release_text.c - release.csv: what is printed reads back as what was released, but for a thousandth of the
 * noise; names and levels may hold what CSV quotes; another table's file is refused. */
#include "support/test.h"

#include "outsourced/shared/release_text.h"

#include <math.h>
#include <stdio.h>
#include <tacet/core/simrng.h>
#include "outsourced/shared/coordinates.h"

static const char SPACE[] =
    "{\"columns\":["
    "{\"name\":\"a, \\\"b\\\"\",\"kind\":\"category\",\"levels\":[\"x,y\",\"say \\\"no\\\"\",\"plain\"]},"
    "{\"name\":\"income\",\"kind\":\"log\",\"bounds\":[0.001,1000000],\"unit\":\"10 %\"},"
    "{\"name\":\"bp\",\"kind\":\"integer\",\"bounds\":[60,220],\"unit\":10,\"missing\":{\"value\":120,\"flag\":true}},"
    "{\"name\":\"wide\",\"kind\":\"real\",\"bounds\":[0,1e9],\"unit\":1000000},"
    "{\"name\":\"seen\",\"kind\":\"date\",\"bounds\":[\"0001-01-01\",\"2021-12-31\"],\"unit\":3000}]}";

enum { ROWS = 400, NUMBERS = 4, LEVELS = 2, DIMS = NUMBERS + LEVELS };

static void describe(tacet_manifest *m) {
    tacet_space space;
    tacet_manifest_init(m);
    (void)snprintf(m->mechanism, sizeof m->mechanism, "gaussian");
    m->sigma = 0.7;
    m->eps = 1;
    m->rows = ROWS;
    assert_ok(tacet_space_decode(&space, SPACE, sizeof SPACE - 1, NULL));
    assert_ok(tacet_manifest_describe(m, &space, NULL));
    tacet_space_clear(&space);
    assert_int_equal(m->dims, DIMS);
}

static void write_release(const tacet_manifest *m, const char *path, double (*numbers)[NUMBERS],
                          double (*levels)[LEVELS]) {
    tacet__release_cell cells[DIMS];
    char line[(DIMS + 1) * TACET__CELL_BYTES];
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    tacet__release_cells(cells, m);
    assert_true(fwrite(line, 1, tacet__release_header(line, cells, DIMS), file) > 0);
    for (size_t j = 0; j < ROWS; j++) {
        const size_t size = tacet__release_cells_text(line, cells, DIMS, numbers[j], levels[j]);
        assert_true(size < sizeof line);
        (void)fprintf(file, "%zu%.*s\n", j, (int)size, line);
    }
    assert_int_equal(fclose(file), 0);
}

TEST(what_is_printed_reads_back) {
    static double numbers[ROWS][NUMBERS], levels[ROWS][LEVELS];
    tacet_manifest m;
    tacet_simrng rng;
    OWN_FOLDER const char *top = test_mkdir();
    OWN_TEXT char *path = test_text("%s/release.csv", top);
    describe(&m);
    tacet_simrng_init(&rng, 4, 0);
    for (size_t j = 0; j < ROWS; j++) { /* far beyond the bounds, as noise goes */
        for (size_t a = 0; a < NUMBERS; a++) {
            const double half = (m.columns[a].hi - m.columns[a].lo) / 2 / m.columns[a].unit;
            numbers[j][a] = 1.2 * half * (2 * tacet_simrng_uniform(&rng) - 1);
        }
        levels[j][0] = (double)tacet_simrng_below(&rng, 3);
        levels[j][1] = (double)tacet_simrng_below(&rng, 2);
    }
    write_release(&m, path, numbers, levels);
    double *rows = NULL;
    tacet_error err = {0};
    assert_done(tacet_manifest_rows(&m, &rows, path, &err));
    for (size_t j = 0; j < ROWS; j++) {
        for (size_t a = 0; a < 3; a++) {
            assert_true(fabs(rows[j * DIMS + a] - numbers[j][a]) <= m.sigma / 1000);
        }
        /* a date is whole days from the year 1 on */
        const double first = (-719162 - (m.columns[3].lo + m.columns[3].hi) / 2) / m.columns[3].unit;
        assert_true(fabs(rows[j * DIMS + 3] - fmax(numbers[j][3], first)) <= 0.5001 / m.columns[3].unit);
        assert_true(rows[j * DIMS + 4] == levels[j][0] && rows[j * DIMS + 5] == levels[j][1]);
    }
    free(rows);
    /* rows, columns and cells that are not the manifest's */
    m.rows = ROWS - 1;
    assert_status(tacet_manifest_rows(&m, &rows, path, NULL), TACET_PARSE);
    m.rows = ROWS + 1;
    assert_status(tacet_manifest_rows(&m, &rows, path, NULL), TACET_PARSE);
    m.rows = ROWS;
    (void)snprintf(m.space.columns[1].name, sizeof m.space.columns[1].name, "other");
    (void)snprintf(m.columns[0].name, sizeof m.columns[0].name, "other");
    assert_status(tacet_manifest_rows(&m, &rows, path, NULL), TACET_PARSE);
    assert_null(rows);
    tacet_manifest_clear(&m);
    describe(&m);
    (void)snprintf(m.space.columns[0].levels[0], TACET_SPACE_NAME, "other");
    assert_status(tacet_manifest_rows(&m, &rows, path, &err), TACET_PARSE);
    tacet_manifest_clear(&m);
}
