/* SPDX-License-Identifier: Apache-2.0 */
/* test_sqlite.c - the transport: what it opens, what it refuses, and which status each failure becomes. */
#include "support/fault_vfs.h"
#include "support/test.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/db/db.h"

static char folder[256];
static char path[300];
static tacet_error err;

static int setup(void **state) {
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    (void)snprintf(path, sizeof path, "%s/a %%41?store#1", folder); /* what a URI would stumble over */
    tacet_error_clear(&err);
    return 0;
}

static int teardown(void **state) {
    fault_vfs_arm(0, 0, FAULT_ERROR);
    (void)chmod(folder, 0700);
    test_rmdir(folder);
    return 0;
}

static tacet__db *open_db(void) {
    const tacet__db_settings s = {.create = true, .busy_ms = 20, .vfs = "fault"};
    tacet__db *db = NULL;
    assert_ok(tacet__db_open(&db, path, &s, NULL));
    return db;
}

static int64_t number(tacet__db *db, const char *sql) {
    tacet__query *q = NULL;
    bool row = false;
    assert_ok(tacet__db_prepare(db, &q, sql, NULL));
    assert_ok(tacet__query_step(q, &row, NULL));
    assert_true(row);
    const int64_t value = tacet__query_int(q, 0);
    tacet__query_free(q);
    return value;
}

TEST(test_values) {
    tacet__db *db = open_db();
    tacet__query *q = NULL;
    bool row = false;
    size_t size = 0;
    assert_int_equal(number(db, "PRAGMA synchronous"), 2); /* FULL */
    assert_ok(tacet__db_relax(db, true, NULL));
    assert_int_equal(number(db, "PRAGMA synchronous"), 1); /* NORMAL, until it is set back */
    assert_ok(tacet__db_relax(db, false, NULL));
    assert_int_equal(number(db, "PRAGMA synchronous"), 2);
    assert_ok(tacet__db_exec(db, "CREATE TABLE t(a, b)", NULL));
    assert_ok(tacet__db_prepare(db, &q, "INSERT INTO t VALUES(?1, ?2)", NULL));
    tacet__query_bind_int(q, 1, INT64_MIN);
    tacet__query_bind_bytes(q, 2, "a\0b", 3);
    assert_ok(tacet__query_run(q, NULL));
    tacet__query_bind_int(q, 1, 7);
    tacet__query_bind_bytes(q, 2, NULL, 0);
    assert_ok(tacet__query_run(q, NULL));
    tacet__query_bind_int(q, 3, 7); /* no such parameter: reported by the step, gone after a reset */
    tacet__query_bind_int(q, 1, 7);
    assert_status(tacet__query_run(q, NULL), TACET_STATE);
    assert_ok(tacet__query_run(q, NULL)); /* NULLs */
    tacet__query_free(q);
    assert_ok(tacet__db_prepare(db, &q, "SELECT a, b FROM t ORDER BY rowid", NULL));
    assert_ok(tacet__query_step(q, &row, NULL));
    assert_true(row);
    assert_true(tacet__query_int(q, 0) == INT64_MIN);
    assert_memory_equal(tacet__query_bytes(q, 1, &size), "a\0b", 3);
    assert_int_equal(size, 3);
    assert_int_equal(tacet__query_int(q, 1), 0); /* another type */
    (void)tacet__query_bytes(q, 0, &size);
    assert_int_equal(size, 0);
    assert_ok(tacet__query_step(q, &row, NULL));
    assert_non_null(tacet__query_bytes(q, 1, &size));
    assert_int_equal(size, 0);
    assert_ok(tacet__query_step(q, &row, NULL));
    assert_non_null(tacet__query_bytes(q, 1, &size));
    assert_ok(tacet__query_step(q, &row, NULL));
    assert_false(row);
    tacet__query_free(q);
    tacet__query_free(NULL);
    assert_status(tacet__db_prepare(db, &q, "SELECT nonsense FROM nowhere", &err), TACET_STATE);
    assert_null(q);
    assert_non_null(strstr(err.message, "nowhere"));
    assert_status(
        tacet__db_exec(db, "CREATE TABLE u(a UNIQUE); INSERT INTO u VALUES(1); INSERT INTO u VALUES(1)", NULL),
        TACET_CONFLICT);
    assert_status(tacet__db_exec(db, "SELECT zeroblob(2000000000)", NULL), TACET_OVERFLOW);
    tacet__db_close(db);
    tacet__db_close(NULL);
}

TEST(test_transactions) {
    tacet__db *db = open_db();
    assert_ok(tacet__db_exec(db, "CREATE TABLE t(a)", NULL));
    assert_ok(tacet__db_begin(db, true, NULL));
    assert_ok(tacet__db_exec(db, "INSERT INTO t VALUES(1)", NULL));
    tacet__db_rollback(db);
    tacet__db_rollback(db); /* nothing to roll back */
    assert_int_equal(number(db, "SELECT count(*) FROM t"), 0);
    assert_status(tacet__db_commit(db, NULL), TACET_STATE); /* no transaction */
    assert_ok(tacet__db_begin(db, true, NULL));
    assert_status(tacet__db_begin(db, true, NULL), TACET_STATE);
    assert_ok(tacet__db_exec(db, "INSERT INTO t VALUES(1)", NULL));
    /* A second writer waits, then is told; a reader sees the state before. */
    tacet__db *other = open_db();
    assert_status(tacet__db_begin(other, true, NULL), TACET_BUSY);
    assert_ok(tacet__db_begin(other, false, NULL));
    assert_int_equal(number(other, "SELECT count(*) FROM t"), 0);
    assert_ok(tacet__db_commit(db, NULL));
    assert_int_equal(number(other, "SELECT count(*) FROM t"), 0); /* its snapshot */
    assert_ok(tacet__db_commit(other, NULL));
    assert_int_equal(number(other, "SELECT count(*) FROM t"), 1);
    /* A commit whose sync fails did not happen. */
    assert_ok(tacet__db_begin(db, true, NULL));
    assert_ok(tacet__db_exec(db, "INSERT INTO t VALUES(2)", NULL));
    fault_vfs_arm(1, FAULT_SYNC, FAULT_ERROR);
    assert_status(tacet__db_commit(db, &err), TACET_IO);
    fault_vfs_arm(0, 0, FAULT_ERROR);
    assert_int_equal(number(db, "SELECT count(*) FROM t"), 1);
    assert_ok(tacet__db_begin(db, true, NULL));
    assert_ok(tacet__db_exec(db, "INSERT INTO t VALUES(2)", NULL));
    fault_vfs_arm(1, FAULT_WRITE, FAULT_FULL);
    tacet_error_clear(&err);
    assert_status(tacet__db_commit(db, &err), TACET_IO);
    assert_non_null(strstr(err.message, "disk full"));
    fault_vfs_arm(0, 0, FAULT_ERROR);
    tacet__db_close(other);
    tacet__db_close(db);
}

TEST(test_opening) {
    tacet__db_settings s = {.busy_ms = 20};
    tacet__db *db = NULL;
    struct stat st;
    assert_status(tacet__db_open(&db, path, &s, NULL), TACET_NOT_FOUND);
    s.read_only = true;
    assert_status(tacet__db_open(&db, path, &s, NULL), TACET_NOT_FOUND);
    s.read_only = false;
    s.create = true;
    assert_ok(tacet__db_open(&db, path, &s, NULL));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_ok(tacet__db_exec(db, "CREATE TABLE t(a); INSERT INTO t VALUES(5)", NULL));
    tacet__db_close(db);
    assert_ok(tacet__db_open(&db, path, &s, NULL)); /* it is there already */
    tacet__db_close(db);
    s.create = false;
    s.read_only = true;
    assert_ok(tacet__db_open(&db, path, &s, NULL));
    assert_int_equal(number(db, "SELECT a FROM t"), 5);
    assert_status(tacet__db_exec(db, "INSERT INTO t VALUES(6)", NULL), TACET_DENIED);
    tacet__db_close(db);
    s.vfs = "no such";
    assert_true(tacet__db_open(&db, path, &s, NULL) != TACET_OK);
    assert_null(db);
    s.vfs = NULL;
    s.read_only = false;
    assert_true(tacet__db_open(&db, folder, &s, NULL) != TACET_OK); /* a folder */
    s.create = true;
    OWN_TEXT char *deep = test_text("%s/missing/x", folder);
    assert_status(tacet__db_open(&db, deep, &s, NULL), TACET_NOT_FOUND);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 200; i++) {
        (void)fputs("not a database ", file);
    }
    (void)fclose(file);
    assert_status(tacet__db_open(&db, path, &s, NULL), TACET_CORRUPT);
    s.create = false;
    s.read_only = true;
    assert_status(tacet__db_open(&db, path, &s, NULL), TACET_CORRUPT);
    assert_null(db);
}

TEST(test_errno) {
    assert_int_equal(tacet__db_errno(ENOENT), TACET_NOT_FOUND);
    assert_int_equal(tacet__db_errno(ENOTDIR), TACET_NOT_FOUND);
    assert_int_equal(tacet__db_errno(EACCES), TACET_DENIED);
    assert_int_equal(tacet__db_errno(EPERM), TACET_DENIED);
    assert_int_equal(tacet__db_errno(EROFS), TACET_DENIED);
    assert_int_equal(tacet__db_errno(ENOSPC), TACET_IO);
}

TEST(test_no_write_ahead_log) {
    tacet__db *db = NULL;
    const tacet__db_settings s = {.create = true};
    assert_status(tacet__db_open(&db, ":memory:", &s, NULL), TACET_UNSUPPORTED); /* has no log */
    assert_null(db);
    (void)unlink(":memory:"); /* the empty file that was made for it */
}

/* As another user who may not write: reading works while there is no log to read, and is refused when there is. */
TEST(test_read_only_folder) {
    tacet__db *db = open_db();
    int status = 0;
    assert_ok(tacet__db_exec(db, "CREATE TABLE t(a); INSERT INTO t VALUES(5)", NULL));
    tacet__db_close(db);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    const pid_t child = fork();
    if (child == 0) {
        tacet__db_settings s = {.read_only = true, .busy_ms = 20};
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(10);
        }
        if (tacet__db_open(&db, path, &s, &err) != TACET_OK || number(db, "SELECT a FROM t") != 5) {
            _exit(11);
        }
        tacet__db_close(db);
        for (long n = 1;; n++) { /* the second way in allocates too */
            fail_alloc_after(n);
            const tacet_status opened = tacet__db_open(&db, path, &s, NULL);
            const int hit = fail_alloc_hit();
            fail_alloc_after(0);
            if (!hit) {
                break;
            }
            if (opened != TACET_NO_MEMORY || db != NULL) {
                _exit(12);
            }
        }
        tacet__db_close(db);
        s.read_only = false;
        if (tacet__db_open(&db, path, &s, NULL) != TACET_DENIED) {
            _exit(13);
        }
        s.create = true;
        (void)strcat(path, "-other");
        if (tacet__db_open(&db, path, &s, NULL) != TACET_DENIED) {
            _exit(14);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(chmod(path, 0000), 0);
    const pid_t second = fork();
    if (second == 0) {
        const tacet__db_settings s = {.read_only = true, .busy_ms = 20};
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(10);
        }
        _exit(tacet__db_open(&db, path, &s, NULL) == TACET_DENIED ? 0 : 15);
    }
    assert_int_equal(waitpid(second, &status, 0), second);
    assert_int_equal(status, 0);
}

TEST(test_no_memory) {
    for (long n = 1;; n++) {
        const tacet__db_settings s = {.create = true};
        tacet__db *db = NULL;
        tacet__query *q = NULL;
        (void)unlink(path);
        fail_alloc_after(n);
        tacet_status status = tacet__db_open(&db, path, &s, NULL);
        TACET_THEN(status, tacet__db_prepare(db, &q, "SELECT 1", NULL));
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        assert_int_equal(status, hit ? TACET_NO_MEMORY : TACET_OK);
        tacet__query_free(q);
        tacet__db_close(db);
        if (!hit) {
            break;
        }
    }
    /* Inside SQLite. */
    tacet__db *db = open_db();
    (void)sqlite3_hard_heap_limit64(1 << 20);
    assert_status(tacet__db_exec(db, "SELECT length(hex(zeroblob(4000000)))", NULL), TACET_NO_MEMORY);
    (void)sqlite3_hard_heap_limit64(0);
    tacet__db_close(db);
}

TEST(test_open_faults) {
    tacet__db_close(open_db());
    for (long n = 1;; n++) {
        const tacet__db_settings s = {.busy_ms = 20, .vfs = "fault"};
        tacet__db *db = NULL;
        fault_vfs_arm(n, FAULT_READ | FAULT_OPEN | FAULT_CHANGE | FAULT_SHM, FAULT_ERROR);
        const tacet_status status = tacet__db_open(&db, path, &s, NULL);
        const int hit = fault_vfs_hit();
        fault_vfs_arm(0, 0, FAULT_ERROR);
        assert_true((status == TACET_OK) == (db != NULL));
        tacet__db_close(db);
        if (!hit) {
            assert_ok(status);
            break;
        }
    }
}

TEST_EACH(setup, teardown)

int main(void) {
    fault_vfs_register();
    return test_main();
}
