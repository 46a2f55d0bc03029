/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger_rare.c - failures that need help to happen: calls of the C library and libsodium that fail on demand
 * (this program defines them, so the library under test calls these), rules added to the tables of an open ledger,
 * pages that are no longer cached, more callers than fit one transaction. */
#include "dp/ledger_fault_fixture.h"

#include "dp/ledger/minted.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sodium.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int sodium_fails;
static int fsync_fails;
static int folder_fails;
static int link_errno;
static const char *link_first; /* somebody else is faster: this file is linked into the place just before */

int sodium_init(void) {
    return sodium_fails ? -1 : 1; /* the tests' main() has done the real one, under its other name */
}

int open(const char *name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    if (folder_fails && (flags & O_DIRECTORY) != 0) {
        errno = EMFILE;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

/* Another process goes on with the ledger and its anchor when this one is about to read the anchor. Not
 * static: the C library's headers have an inline pread(). */
void (*before_anchor)(void);
int before_anchor_at; /* which read of an anchor's size, from now on */

ssize_t pread(int fd, void *bytes, size_t count, off_t at) {
    if (before_anchor != NULL && count == 86 && --before_anchor_at == 0) {
        void (*const now)(void) = before_anchor;
        before_anchor = NULL;
        now();
    }
    return (ssize_t)syscall(SYS_pread64, fd, bytes, count, at);
}

int fsync(int fd) {
    if (fsync_fails) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

/* Only the last step of creating a ledger is meant, not the files made on the way. */
int link(const char *from, const char *to) {
    const bool last = strcmp(to + strlen(to) - 7, "/ledger") == 0;
    if (last && link_errno != 0) {
        errno = link_errno;
        return -1;
    }
    if (last && link_first != NULL) {
        (void)syscall(SYS_linkat, AT_FDCWD, link_first, AT_FDCWD, to, 0);
    }
    return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int put_right(void **state) {
    sodium_fails = 0;
    fsync_fails = 0;
    folder_fails = 0;
    link_errno = 0;
    link_first = NULL;
    before_anchor = NULL;
    return teardown(state);
}

TEST(test_no_entropy) {
    const tacet_ledger_settings s = settings();
    tacet_ledger *ledger = NULL;
    sodium_fails = 1;
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_IO);
    assert_null(ledger);
    assert_int_equal(access(path, F_OK), -1);
}

TEST(test_creating) {
    const tacet_ledger_settings s = settings();
    tacet_ledger *ledger = NULL;
    link_errno = EIO;
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_IO);
    assert_int_equal(access(path, F_OK), -1);
    link_errno = 0;
    fsync_fails = 1;
    tacet_error_clear(&err);
    assert_true(tacet_ledger_open(&ledger, path, &s, &err) == TACET_IO);
    fsync_fails = 0;
    tacet_ledger_close(open_ledger()); /* whatever is there is whole */
    assert_int_equal(unlink(path), 0);
    folder_fails = 1;
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_IO);
    folder_fails = 0;
    tacet_ledger_close(open_ledger());
    /* Somebody else creates it between our look and our link: theirs is used. */
    OWN_TEXT char *theirs = test_text("%s/theirs", folder);
    assert_ok(tacet_ledger_open(&ledger, theirs, &s, NULL));
    tacet_ledger_totals a;
    tacet_ledger_totals b;
    assert_ok(tacet_ledger_total(ledger, &a, NULL));
    tacet_ledger_close(ledger);
    assert_int_equal(unlink(path), 0);
    link_first = theirs;
    ledger = open_ledger();
    link_first = NULL;
    assert_ok(tacet_ledger_total(ledger, &b, NULL));
    assert_memory_equal(a.head, b.head, TACET_HASH_BYTES);
    tacet_ledger_close(ledger);
}

/* A rule of the tables that refuses what a writer does is damage, not an answer to one caller. */
TEST(test_rules_added) {
    static const char *const RULES[] = {
        "CREATE TRIGGER x BEFORE INSERT ON record BEGIN SELECT RAISE(ABORT, 'no'); END",
        "CREATE TRIGGER x BEFORE UPDATE ON head BEGIN SELECT RAISE(ABORT, 'no'); END",
        "CREATE TRIGGER x BEFORE INSERT ON answer BEGIN SELECT RAISE(ABORT, 'no'); END",
    };
    for (int i = 0; i < 3; i++) {
        tacet_ledger *ledger = open_ledger();
        tacet_ledger_totals before;
        tacet_ledger_totals after;
        assert_ok(reserve(ledger, "a"));
        const tacet_entry first = entry;
        assert_ok(tacet_ledger_total(ledger, &before, NULL));
        sql(RULES[i]);
        if (i < 2) {
            assert_status(reserve(ledger, "b"), TACET_CORRUPT);
        }
        assert_status(tacet_ledger_commit(ledger, &first, "x", 1, NULL, NULL), TACET_CORRUPT);
        assert_ok(tacet_ledger_total(ledger, &after, NULL));
        assert_memory_equal(&before, &after, sizeof before);
        sql("DROP TRIGGER x");
        assert_ok(tacet_ledger_commit(ledger, &first, "x", 1, NULL, NULL));
        assert_ok(reserve(ledger, "a"));
        assert_true(entry.answered);
        assert_memory_equal(memo.data, "x", 1);
        tacet_ledger_close(ledger);
        assert_int_equal(unlink(path), 0);
    }
}

/* Whether a take-over that failed was one is not known: the handle writes nothing until it has taken the ledger. */
TEST(test_take_over_fails) {
    OWN_LEDGER tacet_ledger *ledger = open_ledger();
    assert_ok(reserve(ledger, "a"));
    sql("CREATE TRIGGER x BEFORE UPDATE ON fence BEGIN SELECT RAISE(ABORT, 'no'); END");
    assert_status(tacet_ledger_take(ledger, NULL), TACET_CORRUPT);
    assert_status(reserve(ledger, "b"), TACET_BUSY);
    assert_non_null(strstr(err.message, "taken"));
    sql("DROP TRIGGER x");
    assert_status(reserve(ledger, "b"), TACET_BUSY);
    assert_ok(tacet_ledger_take(ledger, NULL));
    assert_ok(reserve(ledger, "b"));
}

/* Totals of a ledger that turned out to be damaged. */
TEST(test_total_fails) {
    OWN_LEDGER tacet_ledger *ledger = open_ledger();
    tacet_ledger_totals totals;
    sql("DROP TRIGGER head_delete; DELETE FROM head");
    assert_status(tacet_ledger_total(ledger, &totals, NULL), TACET_CORRUPT);
    assert_int_equal(totals.records, 0);
}

/* More records than SQLite keeps in memory, so that looking one up reads the file, and that read fails. */
TEST(test_uncached_reads) {
    enum { COUNT = 70 };
    static char parameters[TACET_CHARGE_PARAMS_MOST];
    OWN_LEDGER tacet_ledger *ledger = open_ledger();
    tacet_charge c = charge();
    memset(parameters, ' ', sizeof parameters - 1);
    c.parameters = parameters;
    for (int i = 0; i < COUNT; i++) {
        char ticket[16];
        static char answer[65536];
        (void)snprintf(ticket, sizeof ticket, "t%d", i);
        assert_ok(tacet_ledger_reserve(ledger, &entry, &memo, ticket, &c, NULL));
        assert_ok(tacet_ledger_commit(ledger, &entry, answer, sizeof answer, NULL, NULL));
    }
    int failures = 0;
    for (long n = 1;; n++) {
        fault_vfs_arm(n, FAULT_READ, FAULT_ERROR);
        const tacet_status status = tacet_ledger_reserve(ledger, &entry, &memo, "t1", &c, NULL);
        const int hit = fault_vfs_end();
        if (!hit) {
            assert_ok(status);
            break;
        }
        if (status != TACET_OK) {
            assert_int_equal(status, TACET_IO);
            assert_false(entry.answered);
            failures++;
        }
        /* Others in between, so that the pages of t1 are dropped again. */
        for (int i = COUNT / 2; i < COUNT; i++) {
            char ticket[16];
            (void)snprintf(ticket, sizeof ticket, "t%d", i);
            assert_ok(tacet_ledger_reserve(ledger, &entry, &memo, ticket, &c, NULL));
            assert_true(entry.answered);
        }
    }
    assert_true(failures > 3);
}

/* How many records an anchor has seen, and its line. */
static unsigned long anchored(char line[128], const char *anchor) {
    FILE *file = fopen(anchor, "r");
    assert_non_null(fgets(line, 128, file));
    (void)fclose(file);
    return strtoul(line, NULL, 10);
}

/* What a log rests on was answered before: a ledger that does not have it was put back. */
TEST(test_recalling) {
    OWN_LEDGER tacet_ledger *ledger = NULL;
    tacet_ledger_totals totals;
    const tacet_ledger_settings s = settings();
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    assert_ok(reserve(ledger, "a"));
    tacet__ledger_recall(ledger, true);
    assert_ok(reserve(ledger, "a"));
    assert_status(reserve(ledger, "b"), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "put back"));
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 1);
    tacet__ledger_recall(ledger, false);
    assert_ok(reserve(ledger, "b"));
}

static tacet_ledger *other; /* as another process has it */

static void other_goes_on(void) {
    assert_ok(reserve(other, "meanwhile"));
}

/* The anchor has what the newest of several writers has seen: neither is who opens the ledger meanwhile told that it
 * was cut off, nor does who commits first and writes last take the anchor back. */
TEST(test_anchor_of_two_processes) {
    char line[128];
    OWN_LEDGER tacet_ledger *ledger = NULL;
    tacet_ledger_settings s = settings();
    OWN_TEXT char *anchor = test_text("%s/anchor", folder);
    s.anchor = anchor;
    assert_ok(tacet_ledger_open(&other, path, &s, NULL));
    before_anchor = other_goes_on;
    before_anchor_at = 1;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    assert_null(before_anchor);
    /* The first commits a record and is held up; the second commits the next one; the first goes on. */
    assert_int_equal(anchored(line, anchor), 2);
    line[19] = '9';
    test_write(anchor, line);
    assert_ok(reserve(ledger, "late"));
    assert_int_equal(anchored(line, anchor), 9);
    tacet_ledger_close(other);
}

TEST(test_anchor_forms) {
    char line[128];
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings s = settings();
    OWN_TEXT char *anchor = test_text("%s/anchor", folder);
    s.anchor = anchor;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    tacet_ledger_close(ledger);
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL)); /* at the first record */
    tacet_ledger_close(ledger);
    assert_int_equal(anchored(line, anchor), 1);
    assert_int_equal(strlen(line), 86);
    const struct {
        size_t at;
        char c;
    } changes[] = {{19, '0'}, {19, 'x'}, {3, 'x'}, {20, '-'}, {30, 'x'}, {85, 'x'}};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char changed[128];
        memcpy(changed, line, sizeof line);
        changed[changes[i].at] = changes[i].c;
        test_write(anchor, changed);
        const tacet_status status = tacet_ledger_open(&ledger, path, &s, NULL);
        if (i == 5) { /* its newline says nothing */
            assert_ok(status);
            tacet_ledger_close(ledger);
        } else {
            assert_int_equal(status, TACET_CORRUPT);
        }
    }
    char shifted[128];
    memcpy(shifted, line, sizeof line);
    shifted[0] = '1';
    shifted[1] = ' ';
    test_write(anchor, shifted);
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_CORRUPT);
    line[30] = line[30] == '0' ? '1' : '0'; /* another hash */
    test_write(anchor, line);
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_CORRUPT);
    /* A new anchor that cannot be written. */
    assert_int_equal(unlink(anchor), 0);
    s.anchor = "/dev/null";
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL)); /* reads as empty, swallows what is written */
    tacet_ledger_close(ledger);
    /* The record an anchor points at is read from the file. */
    s.anchor = anchor;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    tacet_ledger_close(ledger);
    for (long n = 1, hit = 1; hit != 0; n++) {
        fault_vfs_arm(n, FAULT_READ | FAULT_SHM, FAULT_ERROR);
        const tacet_status status = tacet_ledger_open(&ledger, path, &s, NULL);
        hit = fault_vfs_end();
        tacet_ledger_close(ledger);
        assert_true(hit != 0 || status == TACET_OK);
    }
}

enum { CROWD = 150 };
static tacet_ledger *crowd_ledger;
static void *one_of_many(void *argument) {
    tacet_entry mine;
    tacet_blob answer = {0};
    const tacet_charge c = charge();
    const tacet_status status = tacet_ledger_reserve(crowd_ledger, &mine, &answer, argument, &c, NULL);
    tacet_blob_clear(&answer);
    return status == TACET_OK ? argument : NULL;
}

/* More callers than one transaction takes: while the store is locked they queue, then several transactions follow. */
TEST(test_crowd) {
    static char tickets[CROWD][16];
    pthread_t threads[CROWD];
    sqlite3 *db = NULL;
    crowd_ledger = open_ledger();
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < CROWD; i++) {
        (void)snprintf(tickets[i], sizeof tickets[i], "t%d", i);
        assert_int_equal(pthread_create(&threads[i], NULL, one_of_many, tickets[i]), 0);
    }
    (void)usleep(100000);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
    for (int i = 0; i < CROWD; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_non_null(result);
    }
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(crowd_ledger, &totals, NULL));
    assert_int_equal(totals.entries, CROWD);
    tacet_ledger_close(crowd_ledger);
}

/* An answer too large for the cache is written before the commit, and that write fails. */
TEST(test_large_answer) {
    enum { SIZE = 8 << 20 };
    OWN_TEXT char *answer = calloc(1, SIZE);
    OWN_LEDGER tacet_ledger *ledger = open_ledger();
    assert_ok(reserve(ledger, "a"));
    fault_vfs_arm(1, FAULT_WRITE, FAULT_FULL);
    assert_status(tacet_ledger_commit(ledger, &entry, answer, SIZE, NULL, NULL), TACET_IO);
    fault_vfs_arm(0, 0, FAULT_ERROR);
    assert_ok(tacet_ledger_commit(ledger, &entry, answer, SIZE, NULL, NULL));
    assert_ok(reserve(ledger, "a"));
    assert_int_equal(memo.size, SIZE);
}

TEST_EACH(setup, put_right)

int main(void) {
    test_in_memory();
    (void)randombytes_random(); /* sets libsodium up */
    busy_ms = 500;              /* a crowd of threads is among these tests */
    fault_vfs_register();
    return test_main();
}
