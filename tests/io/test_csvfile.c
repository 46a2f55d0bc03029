/* SPDX-License-Identifier: Apache-2.0 */
/* test_csvfile.c - CSV files on disk: found, missing, unreadable, large. */
#include "support/test.h"

#include <sys/resource.h>
#include "io/csv/internal.h"
#include <unistd.h>

static char folder[256];
static char path[300];

static int setup(void **state) {
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    (void)snprintf(path, sizeof path, "%s/t.csv", folder);
    return 0;
}

static int teardown(void **state) {
    test_rmdir(folder);
    return 0;
}

static void put(const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

TEST(test_load) {
    static const char *const names[] = {"b"};
    const tacet_csv_wanted wanted = {.columns = names, .d = 1};
    tacet_csv_table table;
    tacet_error err = {0};
    put("a,b\r\n1,2\r\n3,4");
    assert_ok(tacet_csv_load_file(&table, path, &wanted, &err));
    assert_int_equal(table.n, 2);
    assert_true(table.values[0] == 2 && table.values[1] == 4);
    tacet_csv_table_clear(&table);
    put("a,b\n1,secret\n");
    assert_status(tacet_csv_load_file(&table, path, &wanted, &err), TACET_PARSE);
    assert_non_null(strstr(err.message, "t.csv: line 2, column 'b': not a number"));
    assert_null(strstr(err.message, "secret"));
}

TEST(test_missing) {
    tacet_csv *csv = NULL;
    tacet_error err = {0};
    assert_status(tacet_csv_open_file(&csv, "/nonexistent/x.csv", NULL, &err), TACET_NOT_FOUND);
    assert_string_equal(err.message, "/nonexistent/x.csv: cannot be opened: No such file or directory");
    assert_null(csv);
    tacet_error_clear(&err);
    assert_status(tacet_csv_open_file(&csv, folder, NULL, &err), TACET_IO);
    assert_non_null(strstr(err.message, "cannot be read: Is a directory"));
    assert_null(csv);
    tacet_error_clear(&err);
    put("");
    assert_status(tacet_csv_open_file(&csv, path, NULL, &err), TACET_PARSE);
}

TEST(test_no_memory) {
    put("a,b\n1,2\n");
    const int free_descriptor = dup(STDERR_FILENO);
    (void)close(free_descriptor);
    tacet_csv *csv = NULL;
    assert_each_alloc_fails(tacet_csv_open_file(&csv, path, NULL, NULL), csv == NULL);
    assert_true(fail_alloc_last() > 4);
    tacet_csv_close(csv);
    const int again = dup(STDERR_FILENO); /* no descriptor was lost on the way */
    assert_int_equal(again, free_descriptor);
    (void)close(again);
}

/* A million records stream through memory that does not grow with them. */
TEST(test_constant_memory) {
    enum { RECORDS = 1000000 };
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs("id,x,\"note, with comma\"\n", file);
    for (int i = 0; i < RECORDS; i++) {
        fprintf(file, "%d,%d.5,\"n\n%d\"\n", i, i, i);
    }
    assert_int_equal(fclose(file), 0);
    tacet_csv *csv = NULL;
    assert_ok(tacet_csv_open_file(&csv, path, NULL, NULL));
    size_t column = 0;
    assert_ok(tacet_csv_find(csv, &column, "x", NULL));
    struct rusage before;
    struct rusage after;
    double sum = 0;
    bool found = true;
    (void)getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0;; i++) {
        double value = 0;
        assert_ok(tacet_csv_next(csv, &found, NULL));
        if (!found) {
            assert_int_equal(i, RECORDS);
            break;
        }
        assert_ok(tacet_csv_numbers(csv, &value, &column, 1, NULL));
        sum += value;
    }
    (void)getrusage(RUSAGE_SELF, &after);
    assert_true(sum == 0.5 * RECORDS * (RECORDS - 1.0) + 0.5 * RECORDS);
    assert_int_equal(tacet_csv_line(csv), 2 * RECORDS);
    tacet_csv_close(csv);
    assert_true(after.ru_maxrss - before.ru_maxrss < 4096); /* kilobytes */
}

TEST_ALL(setup, teardown)
