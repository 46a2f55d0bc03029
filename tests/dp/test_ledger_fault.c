/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger_fault.c - the n-th allocation, write, sync, read fails; the disk is full; the store is locked, changed or
 * replaced under an open handle. After each: a stated error, nothing half-done, and going on works. */
#include "dp/ledger_fault_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dp/open/entry.h"

/* Only the ledger and its log are in the folder. */
static bool is_tidy(void) {
    bool tidy = true;
    DIR *dir = opendir(folder);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        tidy = tidy && strstr(e->d_name, ".new-") == NULL;
    }
    (void)closedir(dir);
    return tidy;
}

TEST(test_allocation_open) {
    const tacet_ledger_settings s = settings();
    tacet_ledger *ledger = NULL;
    for (int existing = 0; existing < 2; existing++) {
        assert_each_alloc_fails(tacet_ledger_open(&ledger, path, &s, NULL),
                                ledger == NULL && is_tidy() && (existing || unlink(path) == 0 || errno == ENOENT));
        assert_true(is_tidy());
        tacet_ledger_close(ledger);
    }
}

/* Each call is repeated with the n-th allocation failing until it needs fewer; it then succeeds on the same handle. */
TEST(test_allocation_calls) {
    tacet_ledger_totals totals;
    const tacet_charge c = charge();
    tacet_charge open_charge;
    char ticket[32];
    int total_hits = 0;
    tacet_charge_init(&open_charge);
    open_charge.what = "y";
    open_charge.to_whom = "the modeler";
    for (int call = 0; call < 6; call++) {
        int round = 0;
        for (long n = 1;; n++, round++) {
            /* A new handle each time, so that its buffers and tables have to grow again. */
            tacet_ledger *ledger = open_ledger();
            (void)snprintf(ticket, sizeof ticket, "t%d-%d", call, round);
            if (call >= 1 && call <= 3) {
                assert_ok(reserve(ledger, ticket));
            }
            if (call == 2 || call == 3) {
                assert_ok(tacet_ledger_commit(ledger, &entry, "x", 1, NULL, NULL));
            }
            tacet_status status = TACET_OK;
            fail_alloc_after(n);
            switch (call) {
            case 0:
                status = tacet_ledger_reserve(ledger, &entry, &memo, ticket, &c, &err);
                break;
            case 1:
                status = tacet_ledger_commit(ledger, &entry, "x", 1, NULL, NULL);
                break;
            case 2:
                status = tacet_ledger_reserve(ledger, &entry, &memo, ticket, &c, NULL);
                break;
            case 3:
                status = tacet_ledger_commit(ledger, &entry, "x", 1, NULL, NULL);
                break;
            case 4:
                status = tacet_ledger_disclose(ledger, &entry, &memo, ticket, &open_charge, "x", 1, NULL);
                break;
            default:
                status = tacet_ledger_total(ledger, &totals, NULL);
            }
            const int hit = fail_alloc_end();
            total_hits += hit;
            if (hit) {
                assert_int_equal(status, TACET_NO_MEMORY);
                assert_ok(tacet_ledger_total(ledger, &totals, NULL)); /* the handle goes on */
                if (call == 0) {
                    assert_status(tacet_ledger_lookup(ledger, &entry, &memo, ticket, NULL), TACET_NOT_FOUND);
                }
                if (call == 1) {
                    assert_ok(tacet_ledger_commit(ledger, &entry, "x", 1, NULL, NULL));
                }
            } else {
                assert_ok(status);
            }
            tacet_ledger_close(ledger);
            if (!hit) {
                break;
            }
        }
    }
    assert_true(total_hits >= 8);
}

/* The n-th operation of (reserve, commit) fails in a given way; then it works again. */
static void each_operation(int operations, fault_action action) {
    static int calls;
    int failures = 0;
    calls++;
    for (long n = 1;; n++) {
        tacet_ledger *ledger = open_ledger();
        tacet_ledger_totals before;
        tacet_ledger_totals after;
        OWN_TEXT char *ticket = test_text("t%d-%ld", calls, n);
        assert_ok(tacet_ledger_total(ledger, &before, NULL));
        fault_vfs_arm(n, operations, action);
        tacet_status first = reserve(ledger, ticket);
        tacet_status second = TACET_OK;
        if (first == TACET_OK) {
            second = tacet_ledger_commit(ledger, &entry, "first", 5, NULL, NULL);
        } else {
            assert_int_equal(entry.seq, 0);
        }
        const int hit = fault_vfs_end();
        if (first != TACET_OK) {
            assert_true(first == TACET_IO || first == TACET_BUSY || first == TACET_NOT_FOUND);
            assert_true(hit);
            failures++;
            assert_ok(reserve(ledger, ticket));
            assert_false(entry.answered);
            assert_ok(tacet_ledger_commit(ledger, &entry, "first", 5, NULL, NULL));
        } else if (second != TACET_OK) {
            assert_true(second == TACET_IO || second == TACET_BUSY || second == TACET_NOT_FOUND);
            failures++;
            assert_ok(tacet_ledger_commit(ledger, &entry, "first", 5, NULL, NULL));
            assert_status(tacet_ledger_commit(ledger, &entry, "other", 5, NULL, NULL), TACET_CONFLICT);
        }
        assert_ok(reserve(ledger, ticket));
        assert_true(entry.answered);
        assert_int_equal(memo.size, 5);
        assert_memory_equal(memo.data, "first", 5);
        assert_ok(tacet_ledger_total(ledger, &after, NULL));
        assert_int_equal(after.entries, before.entries + 1);
        assert_int_equal(after.records, before.records + 2);
        tacet_ledger_close(ledger);
        if (!hit) {
            break;
        }
    }
    assert_true(failures > 0);
    tacet_ledger_close(open_ledger()); /* and the chain holds */
}

TEST(test_write_errors) {
    each_operation(FAULT_WRITE, FAULT_ERROR);
    each_operation(FAULT_WRITE, FAULT_SHORT);
    each_operation(FAULT_SYNC, FAULT_ERROR);
}

TEST(test_disk_full) {
    each_operation(FAULT_WRITE, FAULT_FULL);
    OWN_LEDGER tacet_ledger *ledger = open_ledger();
    fault_vfs_arm(1, FAULT_WRITE, FAULT_FULL);
    assert_status(reserve(ledger, "full"), TACET_IO);
    assert_non_null(strstr(err.message, "disk full"));
    assert_status(reserve(ledger, "full"), TACET_IO); /* and again */
    fault_vfs_arm(0, 0, FAULT_ERROR);
    assert_status(tacet_ledger_lookup(ledger, &entry, &memo, "full", NULL), TACET_NOT_FOUND);
}

TEST(test_read_errors) {
    tacet_ledger_close(open_ledger());
    each_operation(FAULT_SHM, FAULT_ERROR);
    /* Reads come when a fresh handle looks up what it has not in its cache. */
    for (long n = 1;; n++) {
        const tacet_ledger_settings s = settings();
        tacet_ledger *ledger = NULL;
        fault_vfs_arm(n, FAULT_READ | FAULT_OPEN, FAULT_ERROR);
        tacet_status status = tacet_ledger_open(&ledger, path, &s, NULL);
        if (status == TACET_OK) {
            status = reserve(ledger, "t1");
        }
        const int hit = fault_vfs_end();
        tacet_ledger_close(ledger);
        if (!hit) {
            assert_ok(status);
            break;
        }
        assert_true(status != TACET_OK || n > 1);
    }
}

TEST(test_creation_errors) {
    const tacet_ledger_settings s = settings();
    for (long n = 1;; n++) {
        tacet_ledger *ledger = NULL;
        (void)unlink(path);
        fault_vfs_arm(n, FAULT_CHANGE | FAULT_OPEN | FAULT_SHM, FAULT_ERROR);
        const tacet_status status = tacet_ledger_open(&ledger, path, &s, NULL);
        const int hit = fault_vfs_end();
        assert_true((status == TACET_OK) == (ledger != NULL));
        tacet_ledger_close(ledger);
        assert_true(is_tidy());
        ledger = NULL;
        assert_ok(tacet_ledger_open(&ledger, path, &s, NULL)); /* what is there, if anything, is whole */
        tacet_ledger_close(ledger);
        if (!hit) {
            break;
        }
    }
    tacet_ledger *ledger = NULL;
    OWN_TEXT char *deep = test_text("%s/missing/ledger", folder);
    assert_status(tacet_ledger_open(&ledger, deep, &s, NULL), TACET_NOT_FOUND);
    assert_int_equal(chdir(folder), 0);
    assert_ok(tacet_ledger_open(&ledger, "relative", &s, NULL)); /* its folder is "." */
    tacet_ledger_close(ledger);
    assert_int_equal(chdir("/"), 0);
}

TEST(test_busy) {
    OWN_LEDGER tacet_ledger *ledger = open_ledger();
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_status(reserve(ledger, "t"), TACET_BUSY);
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(ledger, &totals, NULL)); /* readers do not wait */
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_ok(reserve(ledger, "t"));
    (void)sqlite3_close(db);
}

static const char NO_TRIGGERS[] =
    "DROP TRIGGER record_append; DROP TRIGGER record_update; DROP TRIGGER record_delete; DROP TRIGGER answer_append;"
    "DROP TRIGGER answer_update; DROP TRIGGER answer_delete; DROP TRIGGER head_insert; DROP TRIGGER head_update;"
    "DROP TRIGGER head_delete";

/* The file is changed by somebody else while a handle is open. */
TEST(test_changed_under_handle) {
    static const char *const CHANGES[] = {
        "UPDATE record SET body = x'00' WHERE seq = 1",
        "UPDATE record SET hash = x'00' WHERE seq = 1",
        "UPDATE record SET hash = zeroblob(32) WHERE seq = 0",
        "DELETE FROM record WHERE seq = 1",
    };
    for (size_t i = 0; i < sizeof CHANGES / sizeof CHANGES[0]; i++) {
        tacet_ledger *ledger = open_ledger();
        assert_ok(reserve(ledger, "t"));
        const tacet_entry first = entry;
        sql(NO_TRIGGERS);
        sql(CHANGES[i]);
        assert_status(reserve(ledger, "t"), TACET_CORRUPT);
        assert_status(tacet_ledger_commit(ledger, &first, "x", 1, NULL, NULL), TACET_CORRUPT);
        tacet_ledger_close(ledger);
        assert_int_equal(unlink(path), 0);
    }
}

TEST(test_answer_record_changed) {
    OWN_LEDGER tacet_ledger *ledger = open_ledger();
    assert_ok(reserve(ledger, "t"));
    assert_ok(tacet_ledger_commit(ledger, &entry, "x", 1, NULL, NULL));
    sql(NO_TRIGGERS);
    sql("UPDATE record SET body = x'00' WHERE seq = 2");
    assert_status(tacet_ledger_commit(ledger, &entry, "x", 1, NULL, NULL), TACET_CORRUPT);
    assert_status(reserve(ledger, "t"), TACET_CORRUPT);
}

TEST(test_rolled_back_under_handle) {
    tacet_ledger *ledger = open_ledger();
    assert_ok(reserve(ledger, "a"));
    sql("CREATE TABLE keep AS SELECT * FROM head");
    assert_ok(reserve(ledger, "b"));
    sql(NO_TRIGGERS);
    sql("DELETE FROM record WHERE seq = 2; DELETE FROM head; INSERT INTO head SELECT * FROM keep");
    assert_status(reserve(ledger, "c"), TACET_CORRUPT);
    /* The same after the handle had to forget what it knew: the next transaction fails after appending, and reading
     * again finds less than there was. */
    tacet_ledger_close(ledger);
    assert_int_equal(unlink(path), 0);
    ledger = open_ledger();
    assert_ok(reserve(ledger, "a"));
    sql("CREATE TABLE keep AS SELECT * FROM head");
    assert_ok(reserve(ledger, "b"));
    fault_vfs_arm(1, FAULT_SYNC, FAULT_ERROR);
    assert_status(reserve(ledger, "c"), TACET_IO);
    fault_vfs_arm(0, 0, FAULT_ERROR);
    sql(NO_TRIGGERS);
    sql("DELETE FROM record WHERE seq = 2; DELETE FROM head; INSERT INTO head SELECT * FROM keep");
    assert_status(reserve(ledger, "c"), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "while in use"));
    tacet_ledger_close(ledger);
}

/* A whole other ledger of the same length is put in its place. */
TEST(test_replaced_under_handle) {
    OWN_TEXT char *other = test_text("%s/other", folder);
    OWN_LEDGER tacet_ledger *ledger = open_ledger();
    assert_ok(reserve(ledger, "a"));
    const tacet_ledger_settings s = settings();
    tacet_ledger *second = NULL;
    assert_ok(tacet_ledger_open(&second, other, &s, NULL));
    const tacet_charge c = charge();
    assert_ok(tacet_ledger_reserve(second, &entry, &memo, "a", &c, NULL));
    tacet_ledger_close(second);
    fault_vfs_arm(1, FAULT_SYNC, FAULT_ERROR); /* makes the handle read again from the start */
    assert_status(reserve(ledger, "c"), TACET_IO);
    fault_vfs_arm(0, 0, FAULT_ERROR);
    char statement[1024];
    sql(NO_TRIGGERS);
    (void)snprintf(statement, sizeof statement,
                   "ATTACH '%s' AS o; DELETE FROM record; DELETE FROM head; INSERT INTO record SELECT * FROM o.record;"
                   "INSERT INTO head SELECT * FROM o.head",
                   other);
    sql(statement);
    assert_status(reserve(ledger, "c"), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "replaced"));
}

TEST(test_anchor_write_fails) {
    char link_name[64];
    char target[512];
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings s = settings();
    OWN_TEXT char *anchor = test_text("%s/anchor", folder);
    s.anchor = anchor;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    assert_ok(reserve(ledger, "a"));
    int found = -1;
    for (int fd = 3; fd < 256 && found < 0; fd++) {
        (void)snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", fd);
        const ssize_t length = readlink(link_name, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        found = strcmp(target, anchor) == 0 ? fd : -1;
    }
    assert_true(found > 0);
    const int writable = dup(found);
    const int read_only = open(anchor, O_RDONLY);
    assert_int_equal(dup2(read_only, found), found);
    assert_status(reserve(ledger, "b"), TACET_IO);
    assert_int_equal(dup2(writable, found), found);
    assert_ok(reserve(ledger, "b")); /* it had become durable: not charged twice */
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 2);
    (void)close(writable);
    (void)close(read_only);
    tacet_ledger_close(ledger);
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL)); /* lagging is fine */
    tacet_ledger_close(ledger);
    s.anchor = "/proc/nowhere/anchor";
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_NOT_FOUND);
}

TEST_EACH(setup, teardown)

int main(void) {
    test_in_memory();
    fault_vfs_register();
    return test_main();
}
