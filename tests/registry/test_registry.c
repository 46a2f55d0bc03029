/* SPDX-License-Identifier: Apache-2.0 */
/* test_registry.c - a registry that cannot be read refuses: what is not read is not taken for what is not there. Links,
 * copies and renames are in tests/e2e/registry.sh. */
#include "registry/registry.h"
#include "support/test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256], place[300], first[300], second[300], key[320];
static bool unreadable, unopenable;

DIR *opendir(const char *name) {
    DIR *(*real)(const char *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "opendir");
    errno = EMFILE;
    return unopenable ? NULL : real(name);
}

struct dirent *readdir(DIR *from) {
    struct dirent *(*real)(DIR *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "readdir");
    struct dirent *item = unreadable ? NULL : real(from);
    errno = unreadable ? EIO : errno;
    return item;
}

static int setup(void **test) {
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    (void)snprintf(place, sizeof place, "%s/state", folder);
    (void)snprintf(first, sizeof first, "%s/first.db", folder);
    (void)snprintf(second, sizeof second, "%s/second.db", folder);
    (void)snprintf(key, sizeof key, "%s/key", place);
    return setenv("TACET_STATE", place, 1);
}

static int teardown(void **test) {
    unreadable = unopenable = false;
    test_rmdir(folder);
    return 0;
}

/* Releases `count` rows from row `from` on. */
static tacet_status enter_rows(const char *ledger, size_t from, size_t count, tacet_error *err) {
    static const double ROWS[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const char *const NAMES[] = {"a", "b"};
    const tacet__registry_release release = {
        .rows = {.numbers = ROWS + 2 * from, .width = 2, .count = count, .names = NAMES, .columns = 2},
        .ledger = ledger,
        .what = "rows",
        .ticket = "t"};
    tacet_ledger_settings settings;
    tacet_ledger *book = NULL;
    tacet_ledger_settings_defaults(&settings);
    settings.eps = 1;
    const tacet_status status = tacet__registry_open(&book, &release, &settings, err);
    assert_true((book != NULL) == (status == TACET_OK));
    tacet_ledger_close(book);
    return status;
}

static tacet_status enter(const char *ledger, tacet_error *err) {
    return enter_rows(ledger, 0, 4, err);
}

/* Two tables, each with a ledger of its own, glued together: neither ledger has what the other's rows have spent. */
TEST(a_table_of_two_is_charged_to_neither) {
    assert_ok(enter_rows(first, 0, 4, NULL));
    assert_ok(enter_rows(second, 4, 4, NULL));
    assert_status(enter_rows(first, 0, 8, NULL), TACET_BUDGET);
    assert_status(enter_rows(second, 0, 8, NULL), TACET_BUDGET);
    assert_ok(enter_rows(first, 0, 4, NULL));
}

TEST(one_table_has_one_budget) {
    assert_ok(enter(first, NULL));
    assert_ok(enter(first, NULL));
    assert_status(enter(second, NULL), TACET_BUDGET);
    assert_int_not_equal(access(second, F_OK), 0); /* nothing was made */
}

TEST(tables_that_cannot_be_read_are_not_forgotten) {
    assert_ok(enter(first, NULL));
    unreadable = true;
    assert_status(enter(second, NULL), TACET_IO);
    unreadable = false;
    unopenable = true;
    assert_status(enter(second, NULL), TACET_IO);
    unopenable = false;
    assert_status(enter(second, NULL), TACET_BUDGET);
}

TEST(no_key_is_made_beside_tables_that_cannot_be_read) {
    assert_ok(enter(first, NULL));
    assert_int_equal(unlink(key), 0);
    for (int i = 0; i < 3; i++) {
        unreadable = i == 1;
        unopenable = i == 2;
        assert_status(enter(second, NULL), TACET_CORRUPT);
        assert_int_not_equal(access(key, F_OK), 0);
    }
}

/* Whatever files may be made as, all that the registry keeps is its owner's alone. */
TEST(no_file_of_it_is_anybody_elses) {
    static const char *const WHERE[] = {"", "/tables", "/anchors", "/orders"};
    size_t files = 0;
    const mode_t before = umask(0);
    const tacet_status status = enter(first, NULL);
    const tacet_status kept = tacet__registry_keep_order(&(tacet__order){.columns = 1}, "0123", NULL);
    (void)umask(before);
    assert_ok(status);
    assert_ok(kept);
    for (size_t i = 0; i < sizeof WHERE / sizeof *WHERE; i++) {
        OWN_TEXT char *path = test_text("%s%s", place, WHERE[i]);
        DIR *open = opendir(path);
        assert_non_null(open);
        for (const struct dirent *item = readdir(open); item != NULL; item = readdir(open)) {
            struct stat st;
            if (strcmp(item->d_name, "..") != 0) {
                assert_int_equal(fstatat(dirfd(open), item->d_name, &st, 0), 0);
                assert_int_equal(st.st_mode & 077, 0);
                files += S_ISREG(st.st_mode) ? 1 : 0;
            }
        }
        assert_int_equal(closedir(open), 0);
    }
    assert_true(files >= 5); /* key, lock, table, anchor, order */
}

/* Out of memory anywhere: refused, for one reason or another. */
TEST(no_memory_opens_no_second_budget) {
    int hit = 1;
    assert_ok(enter(first, NULL));
    for (long n = 1; hit; n++) {
        tacet_error err = {0};
        fail_alloc_after(n);
        const tacet_status status = enter(second, &err);
        hit = fail_alloc_hit();
        fail_alloc_after(0);
        assert_true(status == TACET_BUDGET || (hit && status != TACET_OK));
        assert_int_not_equal(access(second, F_OK), 0);
    }
}

TEST_EACH(setup, teardown)
