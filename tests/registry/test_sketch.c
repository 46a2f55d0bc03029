/* SPDX-License-Identifier: Apache-2.0 */
/* test_sketch.c - how much of a table is in another one, from sketches; with a fixed key, so no false alarms. */
#include "support/test.h"

#include "registry/sketch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const unsigned char KEY[TACET__SKETCH_KEY] = {1, 2, 3};
static char folder[256];

static void sketch_rows(tacet__sketch *out, size_t from, size_t to, const char *row, const unsigned char *key) {
    char path[300];
    (void)snprintf(path, sizeof path, "%s/t.csv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("a,b\n", file);
    for (size_t i = from; i < to; i++) {
        (void)fprintf(file, row, i, i % 7);
    }
    assert_int_equal(fclose(file), 0);
    assert_ok(tacet__sketch_files(out, (const char *const[]){path}, 1, 0, key, NULL));
}

static double shared_of(size_t a, size_t b, size_t c, size_t d) {
    tacet__sketch x;
    tacet__sketch y;
    sketch_rows(&x, a, b, "%zu,%zu\n", KEY);
    sketch_rows(&y, c, d, "%zu,%zu\n", KEY);
    const double shared = tacet__sketch_shared(&x, &y);
    assert_true(shared == tacet__sketch_shared(&y, &x));
    tacet__sketch_clear(&x);
    tacet__sketch_clear(&y);
    return shared;
}

/* As several threads see a table: runs of it in any order, each into a sketch of its own. */
static void numbers_in_runs_make_the_table_that_they_are(void **state) {
    enum { COUNT = 50000, WIDTH = 3, RUN = 777, SEERS = 3 };
    double *rows = calloc((size_t)COUNT * WIDTH, sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < (size_t)COUNT * WIDTH; i++) {
        rows[i] = (double)(i * 7919 % 100003) / 8;
    }
    tacet__sketching *seers[SEERS];
    for (size_t k = 0; k < SEERS; k++) {
        seers[k] = tacet__sketching_begin(KEY);
        assert_non_null(seers[k]);
    }
    for (size_t at = 0; at < COUNT; at += RUN) {
        const size_t run = COUNT - at < RUN ? COUNT - at : RUN;
        tacet__sketching_add(seers[at / RUN * 5 % SEERS], rows + at * WIDTH, run, WIDTH);
    }
    tacet__sketching_gather(seers[0], seers[1]);
    tacet__sketching_gather(seers[0], seers[2]);
    tacet__sketch x;
    tacet__sketch y;
    assert_ok(tacet__sketching_end(&x, seers[0], KEY, NULL));
    assert_ok(tacet__sketch_rows(&y, &(tacet__rows){.numbers = rows, .width = WIDTH, .count = COUNT}, 0, KEY, NULL));
    assert_memory_equal(x.bytes, y.bytes, sizeof x.bytes);
    assert_true(x.full && y.full);
    assert_int_equal(x.count, y.count);
    assert_memory_equal(x.rows, y.rows, x.count * sizeof *x.rows);
    for (size_t k = 0; k < SEERS; k++) {
        tacet__sketching_free(seers[k]);
    }
    tacet__sketch_clear(&x);
    tacet__sketch_clear(&y);
    free(rows);
}

static void small_tables_are_compared_exactly(void **state) {
    assert_true(shared_of(0, 1000, 0, 1000) == 1);
    assert_true(shared_of(0, 1000, 1000, 2000) == 0);
    assert_true(shared_of(0, 1000, 900, 1900) == 0.1);
    assert_true(shared_of(0, 1000, 899, 1899) == 0.101);
    assert_true(shared_of(0, 1000, 0, 10) == 1); /* all of the smaller one */
    assert_true(shared_of(0, 0, 0, 10) == 0);
}

/* The estimate rests on 4,096 rows or more: its standard deviation is below 0.008. */
static void large_tables_are_compared_by_their_smallest_hashes(void **state) {
    assert_true(fabs(shared_of(0, 60000, 30000, 90000) - 0.5) < 0.04);
    assert_true(fabs(shared_of(0, 60000, 54000, 114000) - 0.1) < 0.02);
    assert_true(shared_of(0, 60000, 60000, 120000) == 0);
    assert_true(shared_of(0, 60000, 100, 600) == 1); /* an extract */
}

static void writing_a_row_differently_does_not_change_it(void **state) {
    tacet__sketch x;
    tacet__sketch y;
    sketch_rows(&x, 0, 500, "%zu,%zu\n", KEY);
    sketch_rows(&y, 0, 500, "\"%zu\" ,\t%zu\r\n", KEY);
    assert_int_equal(x.count, 500);
    assert_false(x.full);
    assert_memory_equal(x.bytes, y.bytes, sizeof x.bytes);
    assert_true(tacet__sketch_shared(&x, &y) == 1);
    tacet__sketch_clear(&y);
    sketch_rows(&y, 0, 500, "x%zu,%zu\n", KEY); /* every row is another one: not known, and the documents say so */
    assert_true(tacet__sketch_shared(&x, &y) == 0);
    tacet__sketch_clear(&x);
    tacet__sketch_clear(&y);
}

static void rows_that_repeat_count_once_and_another_key_tells_nothing(void **state) {
    static const unsigned char OTHER[TACET__SKETCH_KEY] = {9};
    tacet__sketch x;
    tacet__sketch y;
    sketch_rows(&x, 0, 20000, "same,row\n", KEY);
    assert_int_equal(x.count, 1);
    tacet__sketch_clear(&x);
    sketch_rows(&x, 0, 500, "%zu,%zu\n", KEY);
    sketch_rows(&y, 0, 500, "%zu,%zu\n", OTHER);
    assert_true(tacet__sketch_shared(&x, &y) == 0);
    tacet__sketch_clear(&x);
    tacet__sketch_clear(&y);
}

static void a_missing_file_and_missing_memory_are_told(void **state) {
    tacet__sketch x;
    assert_int_equal(tacet__sketch_files(&x, (const char *const[]){"/nowhere/t.csv"}, 1, 0, KEY, NULL),
                     TACET_NOT_FOUND);
    assert_null(x.rows);
    char path[300];
    (void)snprintf(path, sizeof path, "%s/pipe", folder); /* would be that of no rows, and be waited for */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(tacet__sketch_files(&x, (const char *const[]){path}, 1, 0, KEY, NULL), TACET_INVALID);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/t.csv", folder);
    for (long n = 1;; n++) {
        fail_alloc_after(n);
        const tacet_status status = tacet__sketch_files(&x, (const char *const[]){path}, 1, 0, KEY, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (!hit) {
            assert_ok(status);
            tacet__sketch_clear(&x);
            break;
        }
        assert_true(status == TACET_NO_MEMORY || status == TACET_IO || status == TACET_OK);
        tacet__sketch_clear(&x);
    }
}

static void a_table_in_memory_is_known_by_its_numbers(void **state) {
    enum { N = 1000 };
    static double a[2 * N], b[2 * N];
    tacet__sketch x, y;
    for (size_t i = 0; i < N; i++) {
        a[2 * i] = (double)i;
        a[2 * i + 1] = 0.5;
        b[2 * i] = (double)(N - 1 - i) + (i < 900 ? 0.25 : 0); /* backwards, a tenth of it the same */
        b[2 * i + 1] = 0.5;
    }
    assert_ok(tacet__sketch_rows(&x, &(tacet__rows){.numbers = a, .width = 2, .count = N}, 0, KEY, NULL));
    assert_ok(tacet__sketch_rows(&y, &(tacet__rows){.numbers = b, .width = 2, .count = N}, 0, KEY, NULL));
    assert_true(tacet__sketch_shared(&x, &y) == 0.1);
    tacet__sketch_clear(&y);
    assert_ok(tacet__sketch_rows(&y, &(tacet__rows){.numbers = a, .width = 2, .count = N}, 0, KEY, NULL));
    assert_memory_equal(x.bytes, y.bytes, sizeof x.bytes);
    tacet__sketch_clear(&x);
    tacet__sketch_clear(&y);
}

/* Rows of every length fall across the borders of parts and of what is read at once; some are written with blanks, some
 * are empty, the last has no line end. */
static void parts_of_a_table_make_the_whole_of_it(void **state) {
    char path[300];
    (void)snprintf(path, sizeof path, "%s/p.csv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("\n\na,b\n", file);
    size_t rows = 0;
    for (size_t i = 0; i < 9000; i++) {
        (void)fprintf(file, i % 61 == 0 ? "\"%zu\", %0*d\r\n" : "%zu,%0*d\n", i, (int)(1 + i * i % 97), 7);
        rows++;
        if (i % 500 == 0) {
            (void)fputs("\n", file);
        }
        if (i == 4000) {
            (void)fprintf(file, "%0*d\n", 200000, 1); /* longer than what is read at once */
            rows++;
        }
    }
    (void)fputs("end", file);
    assert_int_equal(fclose(file), 0);
    tacet__sketch one;
    assert_ok(tacet__sketch_files(&one, (const char *const[]){path}, 1, 1, KEY, NULL));
    assert_true(one.full && rows > TACET__SKETCH_MOST);
    for (size_t threads = 2; threads <= 8; threads++) {
        tacet__sketch many;
        assert_ok(tacet__sketch_files(&many, (const char *const[]){path}, 1, threads, KEY, NULL));
        assert_memory_equal(many.bytes, one.bytes, sizeof one.bytes);
        assert_int_equal(many.count, one.count);
        assert_true(many.full);
        assert_memory_equal(many.rows, one.rows, one.count * sizeof *one.rows);
        tacet__sketch_clear(&many);
    }
    tacet__sketch_clear(&one);
}

static void a_row_more_or_less_is_another_table(void **state) {
    static const char *const ROWS[] = {"a\n1\n2\n", "a\n1\n2\n2\n", "a\n1\n1\n2\n", "a\n1\n3\n", "a\n2\n1\n"};
    unsigned char bytes[5][TACET__SKETCH_HASH];
    char path[300];
    (void)snprintf(path, sizeof path, "%s/r.csv", folder);
    for (size_t i = 0; i < 5; i++) {
        tacet__sketch x;
        test_write(path, ROWS[i]);
        assert_ok(tacet__sketch_files(&x, (const char *const[]){path}, 1, 0, KEY, NULL));
        memcpy(bytes[i], x.bytes, sizeof x.bytes);
        tacet__sketch_clear(&x);
        for (size_t j = 0; j < i; j++) {
            assert_true((memcmp(bytes[i], bytes[j], sizeof bytes[i]) == 0) == (i == 4 && j == 0)); /* another order */
        }
    }
}

int main(void) {
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_in_memory_is_known_by_its_numbers),
        cmocka_unit_test(numbers_in_runs_make_the_table_that_they_are),
        cmocka_unit_test(small_tables_are_compared_exactly),
        cmocka_unit_test(large_tables_are_compared_by_their_smallest_hashes),
        cmocka_unit_test(writing_a_row_differently_does_not_change_it),
        cmocka_unit_test(rows_that_repeat_count_once_and_another_key_tells_nothing),
        cmocka_unit_test(parts_of_a_table_make_the_whole_of_it),
        cmocka_unit_test(a_row_more_or_less_is_another_table),
        cmocka_unit_test(a_missing_file_and_missing_memory_are_told),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_rmdir(folder);
    return failed;
}
