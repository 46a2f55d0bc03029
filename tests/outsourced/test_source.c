/* SPDX-License-Identifier: Apache-2.0 */
/* test_source.c - tables that come from several files: every allocation on the way may fail, and then
 * nothing is left open or half made. What they release is in tests/e2e/curate_sources.sh and postgres_curate.sh. */
#include "outsourced/curate_fixture.h"

#include "outsourced/trusted/curate_source.h"

static const char *const NAMES[] = {"age", "bmi"};

static void write_npy(const char *path, size_t rows) {
    char head[128];
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    (void)snprintf(head, sizeof head, "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, 2), }", rows);
    (void)fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, head);
    for (size_t i = 0; i < 2 * rows; i++) {
        const double x = (double)i / 2;
        assert_int_equal(fwrite(&x, sizeof x, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

static void a_list_of_files_is_one_file_where_that_is_there(void **state) {
    const fixture *f = *state;
    char path[PATH_BYTES];
    char **files = NULL;
    size_t count = 0;
    assert_ok(tacet__file_names(&files, &count, "a.csv,b,c", NULL));
    assert_int_equal(count, 3);
    assert_string_equal(files[0], "a.csv");
    assert_string_equal(files[2], "c");
    tacet__file_names_free(files, count);
    (void)snprintf(path, sizeof path, "%s/with,comma.csv", f->folder);
    test_write(path, "age,bmi\n1,2\n");
    assert_ok(tacet__file_names(&files, &count, path, NULL));
    assert_int_equal(count, 1);
    assert_string_equal(files[0], path);
    tacet__file_names_free(files, count);
    assert_int_equal(unlink(path), 0);
}

static void npy_files_are_read_across_their_ends(void **state) {
    fixture *f = *state;
    char one[PATH_BYTES], two[PATH_BYTES], both[2 * PATH_BYTES + 1];
    const char *const columns[] = {"1", "0"};
    tacet__source s;
    double rows[20];
    (void)snprintf(one, sizeof one, "%s/one.npy", f->folder);
    (void)snprintf(two, sizeof two, "%s/two.npy", f->folder);
    write_npy(one, 3);
    write_npy(two, 5);
    (void)snprintf(both, sizeof both, "%s,%s", one, two);
    f->settings.data = both;
    for (long n = 1;; n++) {
        fail_alloc_after(n);
        const tacet_status status = tacet__source_open(&s, &f->settings, columns, 2, NULL, NULL, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        assert_status(status, hit ? TACET_NO_MEMORY : TACET_OK);
        if (!hit) {
            break;
        }
        assert_null(s.files);
    }
    assert_int_equal(s.count, 8);
    assert_ok(tacet__source_read(&s, rows, 0, 8, NULL));
    for (size_t i = 0; i < 8; i++) {
        const size_t own = i < 3 ? i : i - 3;
        assert_true(rows[2 * i] == (double)(2 * own + 1) / 2 && rows[2 * i + 1] == (double)(2 * own) / 2);
    }
    tacet__source_close(&s);
    assert_int_equal(unlink(one), 0);
    assert_int_equal(unlink(two), 0);
}

/* A database that cannot be reached is named, and nothing stays open. */
static void a_database_that_is_not_there_is_named(void **state) {
    fixture *f = *state;
    tacet__source s;
    tacet_error err = {0};
    f->settings.data = "postgresql:///nothing?host=/nowhere&user=nobody";
    f->settings.table = "people";
    assert_status(tacet__source_open(&s, &f->settings, NAMES, 2, NULL, NULL, &err), TACET_IO);
    assert_non_null(strstr(err.message, "people"));
    assert_int_equal(s.spool, -1);
    f->settings.table = "a.b.c";
    assert_status(tacet__source_open(&s, &f->settings, NAMES, 2, NULL, NULL, &err), TACET_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_list_of_files_is_one_file_where_that_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(npy_files_are_read_across_their_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(a_database_that_is_not_there_is_named, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
