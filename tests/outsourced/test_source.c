/* SPDX-License-Identifier: Apache-2.0 */
/* test_source.c - tables that come from several files: every allocation on the way may fail, and then
 * nothing is left open or half made. What they release is in tests/e2e/curate_sources.sh and postgres_curate.sh. */
#include "outsourced/curate_fixture.h"

#include "outsourced/trusted/curate_source.h"

static const char *const NAMES[] = {"age", "bmi"};

TEST(a_list_of_files_is_one_file_where_that_is_there) {
    const fixture *f = *state;
    char **files = NULL;
    size_t count = 0;
    assert_ok(tacet__file_names(&files, &count, "a.csv,b,c", NULL));
    assert_int_equal(count, 3);
    assert_string_equal(files[0], "a.csv");
    assert_string_equal(files[2], "c");
    tacet__file_names_free(files, count);
    OWN_TEXT char *path = test_text("%s/with,comma.csv", f->folder);
    test_write(path, "age,bmi\n1,2\n");
    assert_ok(tacet__file_names(&files, &count, path, NULL));
    assert_int_equal(count, 1);
    assert_string_equal(files[0], path);
    tacet__file_names_free(files, count);
    assert_int_equal(unlink(path), 0);
}

/* A database that cannot be reached is named, and nothing stays open. */
TEST(a_database_that_is_not_there_is_named) {
    fixture *f = *state;
    tacet__source s;
    tacet_error err = {0};
    f->settings.data = "postgresql:///nothing?host=/nowhere&user=nobody";
    f->settings.table = "people";
    assert_status(tacet__source_open(&s, &f->settings, NAMES, 2, &err), TACET_IO);
    assert_non_null(strstr(err.message, "people"));
    assert_int_equal(s.spool, -1);
    f->settings.table = "a.b.c";
    assert_status(tacet__source_open(&s, &f->settings, NAMES, 2, &err), TACET_INVALID);
}

TEST_EACH(setup, teardown)
