/* SPDX-License-Identifier: Apache-2.0 */
/* test_source.c - tables that come from several files, and parts: every allocation on the way may fail, and then
 * nothing is left open or half made. What they release is in tests/e2e/curate_sources.sh and postgres_curate.sh. */
#include "outsourced/curate_fixture.h"

#include "outsourced/trusted/curate_source.h"

#include <tacet/outsourced/trusted/join.h>

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

static void make_part(fixture *f, size_t number, const char *folder) {
    tacet_manifest m;
    f->settings.part = number;
    f->settings.parts = 2;
    f->settings.folder = folder;
    assert_ok(tacet_curate_run(&m, &f->settings, NULL));
    assert_int_equal(m.part, number);
    tacet_manifest_clear(&m);
}

/* Cut otherwise, the table is the same records again. */
static void another_number_of_parts_is_charged_anew(void **state) {
    fixture *f = *state;
    char ledger[PATH_BYTES], folder[PATH_BYTES];
    tacet_manifest m;
    tacet_error err;
    (void)snprintf(ledger, sizeof ledger, "%s/ledger.db", f->folder);
    (void)snprintf(folder, sizeof folder, "%s/part", f->folder);
    f->settings.ledger = ledger;
    f->settings.data = f->data;
    f->settings.budget_eps = 1.2 * f->settings.eps;
    make_part(f, 1, folder);
    for (size_t parts = 1; parts <= 3; parts += 2) {
        f->settings.part = 1;
        f->settings.parts = parts;
        assert_status(tacet_curate_run(&m, &f->settings, &err), TACET_BUDGET);
    }
    make_part(f, 2, folder);
}

/* Each was charged as if no record were in two of them. */
static void parts_of_the_same_rows_are_not_joined(void **state) {
    fixture *f = *state;
    char ledger[PATH_BYTES], one[PATH_BYTES], two[PATH_BYTES], whole[PATH_BYTES];
    tacet_manifest m;
    (void)snprintf(ledger, sizeof ledger, "%s/ledger.db", f->folder);
    (void)snprintf(one, sizeof one, "%s/one", f->folder);
    (void)snprintf(two, sizeof two, "%s/two", f->folder);
    (void)snprintf(whole, sizeof whole, "%s/whole", f->folder);
    f->settings.ledger = ledger;
    f->settings.data = f->data;
    make_part(f, 1, one);
    make_part(f, 2, two);
    const char *const folders[] = {one, two};
    const tacet_join_settings s = {
        .folders = folders, .count = 2, .ledger = ledger, .ticket = f->settings.ticket, .folder = whole};
    assert_status(tacet_curate_join(&m, &s, NULL), TACET_BUDGET);
    assert_int_not_equal(access(whole, F_OK), 0);
}

static void joining_survives_every_allocation(void **state) {
    fixture *f = *state;
    char ledger[PATH_BYTES], one[PATH_BYTES], two[PATH_BYTES], whole[PATH_BYTES];
    (void)snprintf(ledger, sizeof ledger, "%s/ledger.db", f->folder);
    (void)snprintf(one, sizeof one, "%s/one", f->folder);
    (void)snprintf(two, sizeof two, "%s/two", f->folder);
    (void)snprintf(whole, sizeof whole, "%s/whole", f->folder);
    f->settings.ledger = ledger;
    f->settings.data = f->data;
    make_part(f, 1, one);
    test_write(f->data, "id,age,bmi,dose\n1,2,22,1\n2,3,23,1\n");
    make_part(f, 2, two);
    const char *const folders[] = {two, one};
    const tacet_join_settings s = {
        .folders = folders, .count = 2, .ledger = ledger, .ticket = f->settings.ticket, .folder = whole};
    tacet_manifest m;
    /* the ledger's own allocations are tried by its tests: here every one of the first, then fewer and fewer */
    for (long n = 1;; n += 1 + n / 40) {
        fail_alloc_after(n);
        const tacet_status status = tacet_curate_join(&m, &s, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (status == TACET_OK) {
            break;
        }
        assert_true(hit);
        assert_int_not_equal(access(whole, F_OK), 0); /* nothing, or all of it */
        assert_null(m.columns);
    }
    assert_int_equal(m.rows, f->n + 2);
    assert_int_equal(m.piece_count, 2);
    tacet_manifest_clear(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_list_of_files_is_one_file_where_that_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(npy_files_are_read_across_their_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(a_database_that_is_not_there_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(another_number_of_parts_is_charged_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_of_the_same_rows_are_not_joined, setup, teardown),
        cmocka_unit_test_setup_teardown(joining_survives_every_allocation, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
