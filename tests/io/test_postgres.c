/* SPDX-License-Identifier: Apache-2.0 */
/* test_postgres.c - PostgreSQL behind the door: values, statuses, locks, the queue, and a server that goes away.
 * Runs where TACET_TEST_POSTGRES names a database; support/pgcluster.sh starts one. */
#include "support/test.h"

#include <unistd.h>

#include "io/db/db.h"

static char url[1024];
static char place[1100];

static tacet__db *connect_to(const char *where, bool create, uint64_t busy_ms) {
    const tacet__db_settings settings = {.create = create, .busy_ms = busy_ms};
    tacet__db *db = NULL;
    tacet_error err = {TACET_OK, ""};
    test_assert_status(tacet__db_open(&db, where, &settings, &err), TACET_OK, &err, __FILE__, __LINE__);
    return db;
}

static int setup(void **state) {
    (void)snprintf(url, sizeof url, "%s", getenv("TACET_TEST_POSTGRES"));
    (void)snprintf(place, sizeof place, "%s#door", url);
    tacet__db *db = connect_to(url, false, 1000);
    assert_ok(tacet__db_exec(db, "DROP SCHEMA IF EXISTS door CASCADE; CREATE SCHEMA door", NULL));
    tacet__db_close(db);
    return 0;
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
    tacet__db *db = connect_to(place, false, 1000);
    tacet__query *q = NULL;
    bool row = false;
    size_t size = 0;
    assert_true(tacet__db_shared(db));
    assert_ok(tacet__db_exec(db, "CREATE TABLE t(id BIGINT PRIMARY KEY, a BIGINT, b BYTEA, c TEXT)", NULL));
    assert_int_equal(number(db, "SELECT count(*) FROM pg_tables WHERE schemaname = 'door' AND tablename = 't'"), 1);
    assert_ok(tacet__db_prepare(db, &q, "INSERT INTO t VALUES(?1, ?2, ?3, ?4)", NULL));
    tacet__query_bind_int(q, 1, 1);
    tacet__query_bind_int(q, 2, INT64_MIN);
    tacet__query_bind_bytes(q, 3, "a\0b", 3);
    tacet__query_bind_text(q, 4, "text", 4);
    assert_ok(tacet__query_run(q, NULL));
    tacet__query_bind_int(q, 1, 2);
    tacet__query_bind_bytes(q, 3, NULL, 0);
    assert_ok(tacet__query_run(q, NULL)); /* NULLs where nothing is bound */
    tacet__query_bind_int(q, 5, 7);       /* no such parameter: reported by the step, gone after a reset */
    assert_status(tacet__query_run(q, NULL), TACET_STATE);
    tacet__query_bind_int(q, 0, 7);
    assert_status(tacet__query_run(q, NULL), TACET_STATE);
    tacet__query_bind_int(q, 1, 2);
    assert_status(tacet__query_run(q, NULL), TACET_CONFLICT);
    tacet__query_free(q);
    assert_ok(tacet__db_prepare(db, &q, "SELECT a, b, c, 7::int, -7::int, true, 1.5::float8 FROM t ORDER BY id", NULL));
    assert_int_equal(tacet__query_int(q, 0), 0); /* before the first step */
    assert_ok(tacet__query_step(q, &row, NULL));
    assert_true(row);
    assert_true(tacet__query_int(q, 0) == INT64_MIN);
    assert_memory_equal(tacet__query_bytes(q, 1, &size), "a\0b", 3);
    assert_int_equal(size, 3);
    assert_memory_equal(tacet__query_bytes(q, 2, &size), "text", 4);
    assert_int_equal(tacet__query_int(q, 3), 7);
    assert_int_equal(tacet__query_int(q, 4), -7);
    assert_int_equal(tacet__query_int(q, 5), 1);
    assert_int_equal(tacet__query_int(q, 6), 0); /* another type */
    assert_int_equal(tacet__query_int(q, 1), 0);
    (void)tacet__query_bytes(q, 0, &size);
    assert_int_equal(size, 0);
    assert_int_equal(tacet__query_int(q, 99), 0);
    (void)tacet__query_bytes(q, -1, &size);
    assert_int_equal(size, 0);
    assert_ok(tacet__query_step(q, &row, NULL));
    assert_true(row);
    assert_int_equal(tacet__query_int(q, 0), 0); /* NULL */
    assert_ok(tacet__query_step(q, &row, NULL));
    assert_false(row);
    tacet__query_free(q);
    tacet__db_close(db);
}

TEST(test_statuses) {
    tacet__db *db = connect_to(place, false, 1000);
    tacet__db *none = NULL;
    tacet__query *q = NULL;
    tacet_error err = {TACET_OK, ""};
    char where[1200];
    const tacet__db_settings settings = {.busy_ms = 10};
    const tacet__db_settings reader = {.read_only = true, .busy_ms = 10};
    assert_status(tacet__db_exec(db, "SELEKT 1", NULL), TACET_STATE);
    assert_status(tacet__db_prepare(db, &q, "SELECT 1 FROM nothing", NULL), TACET_STATE);
    assert_null(q);
    assert_status(tacet__db_prepare(db, &q, "SELECT ?17", NULL), TACET_STATE);
    assert_status(tacet__db_commit(db, NULL), TACET_STATE);
    tacet__db_rollback(db);
    assert_ok(tacet__db_begin(db, true, NULL));
    assert_status(tacet__db_begin(db, true, NULL), TACET_STATE);
    assert_status(tacet__db_exec(db, "SELECT 1 / 0", NULL), TACET_STATE);
    /* PostgreSQL would answer this COMMIT with a success. */
    assert_status(tacet__db_commit(db, NULL), TACET_STATE);
    assert_ok(tacet__db_exec(db, "SELECT 1", NULL));

    (void)snprintf(where, sizeof where, "%s#absent", url);
    assert_status(tacet__db_open(&none, where, &settings, &err), TACET_NOT_FOUND);
    assert_non_null(strstr(err.message, "absent"));
    assert_null(none);
    static const char *const BAD[] = {"#", "#a b", "#a\"b", "#A"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        (void)snprintf(where, sizeof where, "%s%s", url, BAD[i]);
        assert_status(tacet__db_open(&none, where, &settings, NULL), TACET_INVALID);
    }
    /* What a malformed URL, a wrong one and a refused one say never has the password in it. */
    tacet_error_clear(&err);
    assert_status(tacet__db_open(&none, "postgresql://u:hunter2@[::1/x", &settings, &err), TACET_INVALID);
    assert_null(strstr(err.message, "hunter2"));
    tacet_error_clear(&err);
    assert_status(tacet__db_open(&none, "postgresql://u:hunter2@127.0.0.1:1/x", &settings, &err), TACET_IO);
    assert_null(strstr(err.message, "hunter2"));

    assert_ok(tacet__db_exec(db, "CREATE TABLE t(id BIGINT PRIMARY KEY)", NULL));
    assert_ok(tacet__db_open(&none, place, &reader, NULL));
    assert_status(tacet__db_exec(none, "INSERT INTO t VALUES(1)", NULL), TACET_DENIED);
    tacet__db_close(none);
    tacet__db_close(db);
}

/* A missing schema comes with the first transaction that writes, or not at all. */
TEST(test_create) {
    tacet__db *db = connect_to(url, false, 1000);
    assert_ok(tacet__db_exec(db, "DROP SCHEMA door CASCADE", NULL));
    tacet__db *first = connect_to(place, true, 1000);
    tacet__db *second = connect_to(place, true, 50);
    const char *const there = "SELECT count(*) FROM pg_namespace WHERE nspname = 'door'";
    assert_int_equal(number(db, there), 0);
    assert_ok(tacet__db_begin(first, true, NULL));
    assert_true(tacet__db_creating(first));
    assert_status(tacet__db_begin(second, true, NULL), TACET_BUSY);
    tacet__db_rollback(first);
    assert_int_equal(number(db, there), 0);
    assert_ok(tacet__db_begin(first, true, NULL));
    assert_true(tacet__db_creating(first));
    assert_ok(tacet__db_exec(first, "CREATE TABLE t(id BIGINT PRIMARY KEY)", NULL));
    assert_ok(tacet__db_commit(first, NULL));
    assert_int_equal(number(db, there), 1);
    assert_ok(tacet__db_begin(second, true, NULL));
    assert_false(tacet__db_creating(second));
    assert_ok(tacet__db_exec(second, "INSERT INTO t VALUES(1)", NULL));
    assert_ok(tacet__db_commit(second, NULL));
    tacet__db_close(first);
    tacet__db_close(second);
    tacet__db_close(db);
}

TEST(test_locks) {
    tacet__db *a = connect_to(place, false, 5000);
    tacet__db *b = connect_to(place, false, 50);
    assert_ok(
        tacet__db_exec(a, "CREATE TABLE t(id BIGINT PRIMARY KEY, n BIGINT); INSERT INTO t VALUES(1, 1), (2, 1)", NULL));
    assert_ok(tacet__db_begin(a, true, NULL));
    assert_status(tacet__db_begin(b, true, NULL), TACET_BUSY);
    assert_ok(tacet__db_begin(b, false, NULL)); /* a reader waits for nobody */
    assert_int_equal(number(b, "SELECT n FROM t WHERE id = 1"), 1);
    assert_ok(tacet__db_exec(a, "UPDATE t SET n = 2 WHERE id = 1", NULL));
    assert_ok(tacet__db_commit(a, NULL));
    assert_int_equal(number(b, "SELECT n FROM t WHERE id = 1"), 1); /* its snapshot */
    tacet__db_rollback(b);
    assert_int_equal(number(b, "SELECT n FROM t WHERE id = 1"), 2);
    /* Rows: another one is free, the same one is not. */
    assert_ok(tacet__db_begin_rows(a, NULL));
    assert_int_equal(number(a, "SELECT n FROM t WHERE id = 1 FOR UPDATE"), 2);
    assert_ok(tacet__db_begin_rows(b, NULL));
    assert_int_equal(number(b, "SELECT n FROM t WHERE id = 2 FOR UPDATE"), 1);
    tacet__query *q = NULL;
    bool row = false;
    assert_ok(tacet__db_prepare(b, &q, "SELECT n FROM t WHERE id = 1 FOR UPDATE", NULL));
    assert_status(tacet__query_step(q, &row, NULL), TACET_BUSY);
    tacet__query_free(q);
    tacet__db_rollback(b);
    tacet__db_rollback(a);
    tacet__db_close(a);
    tacet__db_close(b);
}

/* More statements than the queue holds, with answers in between, and failures that show late. */
TEST(test_queue) {
    enum { MANY = 1000, BODY = 3000 };
    static char body[BODY];
    tacet__db *db = connect_to(place, false, 1000);
    tacet__query *add = NULL;
    tacet__query *count = NULL;
    bool row = false;
    assert_ok(tacet__db_exec(db, "CREATE TABLE t(id BIGINT PRIMARY KEY, b BYTEA)", NULL));
    assert_ok(tacet__db_prepare(db, &add, "INSERT INTO t VALUES(?1, ?2)", NULL));
    assert_ok(tacet__db_prepare(db, &count, "SELECT count(*) FROM t", NULL));
    assert_ok(tacet__db_begin_rows(db, NULL));
    for (int i = 0; i < MANY; i++) {
        memset(body, i & 0x7f, sizeof body);
        tacet__query_bind_int(add, 1, i);
        tacet__query_bind_bytes(add, 2, body, sizeof body);
        assert_ok(tacet__query_send(add, NULL));
        memset(body, 0, sizeof body); /* no longer needed */
        if (i % 300 == 0) {
            assert_ok(tacet__query_step(count, &row, NULL));
            assert_int_equal(tacet__query_int(count, 0), i + 1);
            tacet__query_reset(count);
        }
    }
    assert_ok(tacet__db_commit(db, NULL));
    assert_int_equal(number(db, "SELECT count(*) FROM t WHERE length(b) = 3000"), MANY);
    assert_int_equal(number(db, "SELECT count(*) FROM t WHERE get_byte(b, 2999) = (id & 127)"), MANY);

    /* Refused at the commit: all of it is gone. */
    assert_ok(tacet__db_begin_rows(db, NULL));
    for (int i = 0; i < 3; i++) {
        tacet__query_bind_int(add, 1, i == 1 ? 5 : MANY + i);
        assert_ok(tacet__query_send(add, NULL));
    }
    assert_status(tacet__db_commit(db, NULL), TACET_CONFLICT);
    assert_int_equal(number(db, "SELECT count(*) FROM t"), MANY);
    /* Refused at the next question. */
    assert_ok(tacet__db_begin_rows(db, NULL));
    tacet__query_bind_int(add, 1, 5);
    assert_ok(tacet__query_send(add, NULL));
    assert_status(tacet__query_step(count, &row, NULL), TACET_CONFLICT);
    tacet__query_reset(count);
    assert_status(tacet__db_commit(db, NULL), TACET_STATE);
    /* Thrown away. */
    assert_ok(tacet__db_begin_rows(db, NULL));
    tacet__query_bind_int(add, 1, MANY);
    assert_ok(tacet__query_send(add, NULL));
    tacet__db_rollback(db);
    assert_int_equal(number(db, "SELECT count(*) FROM t"), MANY);
    /* Outside a transaction there is no queue. */
    tacet__query_bind_int(add, 1, 5);
    assert_status(tacet__query_send(add, NULL), TACET_CONFLICT);
    tacet__query_free(add);
    tacet__query_free(count);
    tacet__db_close(db);
}

/* Questions that go with the first step: answered in their order, and seen after what was sent before them. */
TEST(answers_come_in_the_order_of_their_questions) {
    tacet__db *db = connect_to(place, false, 1000);
    tacet__query *ask = NULL;
    tacet__query *add = NULL;
    bool row = false;
    assert_ok(tacet__db_exec(db, "CREATE TABLE t(id BIGINT PRIMARY KEY); INSERT INTO t VALUES(1), (2)", NULL));
    assert_ok(tacet__db_prepare(db, &ask, "SELECT id FROM t WHERE id = ?1", NULL));
    assert_ok(tacet__db_prepare(db, &add, "INSERT INTO t VALUES(?1)", NULL));
    assert_ok(tacet__db_begin_rows(db, NULL));
    tacet__query_bind_int(add, 1, 3);
    assert_ok(tacet__query_send(add, NULL));
    for (int i = 3; i >= 0; i--) {
        tacet__query_bind_int(ask, 1, i);
        assert_ok(tacet__query_ahead(ask, NULL));
    }
    for (int i = 3; i >= 0; i--) {
        tacet__query_bind_int(ask, 1, 1); /* what is bound here does not count */
        assert_ok(tacet__query_step(ask, &row, NULL));
        assert_int_equal(row, i > 0);
        assert_int_equal(tacet__query_int(ask, 0), i);
        tacet__query_reset(ask);
    }
    tacet__query_bind_int(ask, 1, 2); /* and here it does */
    assert_ok(tacet__query_step(ask, &row, NULL));
    assert_int_equal(tacet__query_int(ask, 0), 2);
    tacet__query_reset(ask);
    tacet__query_bind_int(ask, 1, 1);
    assert_ok(tacet__query_ahead(ask, NULL)); /* never taken: gone with the transaction */
    assert_ok(tacet__db_commit(db, NULL));
    tacet__query_bind_int(ask, 1, 3);
    assert_ok(tacet__query_step(ask, &row, NULL));
    assert_int_equal(tacet__query_int(ask, 0), 3);
    tacet__query_free(ask);
    tacet__query_free(add);
    tacet__db_close(db);
}

/* A part of what it sent is at the server, without an end: the server waits for the rest, with the row. */
static void stand_still(int rows, int64_t body) {
    char *bytes = calloc(1, (size_t)body);
    tacet__db *writer = connect_to(place, false, 1000);
    tacet__db *other = connect_to(place, false, 9000);
    tacet__query *lock = NULL;
    tacet__query *add = NULL;
    assert_non_null(bytes);
    assert_ok(tacet__db_exec(writer, "CREATE TABLE t(id BIGINT PRIMARY KEY, b BYTEA); INSERT INTO t VALUES(-1)", NULL));
    assert_ok(tacet__db_prepare(writer, &lock, "UPDATE t SET b = '' WHERE id = -1", NULL));
    assert_ok(tacet__db_prepare(writer, &add, "INSERT INTO t VALUES(?1, ?2)", NULL));
    assert_ok(tacet__db_begin_rows(writer, NULL));
    assert_ok(tacet__query_send(lock, NULL));
    for (int i = 0; i < rows; i++) {
        tacet__query_bind_int(add, 1, i);
        tacet__query_bind_bytes(add, 2, bytes, (size_t)body);
        assert_ok(tacet__query_send(add, NULL));
    }
    while (number(other, "SELECT count(*) FROM (SELECT 1 FROM t WHERE id = -1 FOR UPDATE SKIP LOCKED) free") > 0) {
        (void)usleep(2000); /* the server did not come to it yet */
    }
    assert_ok(tacet__db_begin_rows(other, NULL));
    assert_int_equal(number(other, "SELECT id FROM t WHERE id = -1 FOR UPDATE"), -1);
    tacet__db_rollback(other);
    assert_status(tacet__db_commit(writer, NULL), TACET_IO);
    assert_int_equal(number(other, "SELECT count(*) FROM t"), 1);
    tacet__query_free(lock);
    tacet__query_free(add);
    tacet__db_close(writer);
    tacet__db_close(other);
    free(bytes);
}

TEST(a_writer_that_stands_still_in_a_long_batch_loses_its_row) {
    stand_still(40, 300);
}

TEST(a_writer_that_stands_still_in_a_large_statement_loses_its_row) {
    stand_still(1, 16 << 20); /* more than any socket takes at once */
}

/* The server looks for a client whose network is gone: over TCP, which no cluster of the tests listens on. */
TEST(the_server_looks_for_a_client_that_is_gone) {
    tacet__db *db = connect_to(place, false, 1000);
    assert_int_equal(number(db, "SELECT count(*) FROM pg_settings WHERE source = 'session' AND name IN "
                                "('tcp_user_timeout', 'tcp_keepalives_idle', 'tcp_keepalives_interval')"),
                     3);
    tacet__db_close(db);
}

/* Ends all other connections, as a server that is restarted does. */
static void hang_up(void) {
    tacet__db *db = connect_to(url, false, 1000);
    assert_ok(tacet__db_exec(db, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
                             NULL));
    while (number(db, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tacet'") > 1) {
        (void)usleep(2000);
    }
    tacet__db_close(db);
}

/* A connection that fails while it is made again fails as one, and is made once more: what was not prepared on it is no
 * table that has changed. */
TEST(test_connection_lost_twice) {
    tacet__db *db = connect_to(place, false, 200);
    tacet__db *other = NULL;
    tacet__query *count = NULL;
    bool row = false;
    assert_ok(tacet__db_exec(db, "CREATE TABLE t(id BIGINT PRIMARY KEY)", NULL));
    assert_ok(tacet__db_prepare(db, &count, "SELECT count(*) FROM t", NULL));
    hang_up();
    other = connect_to(place, false, 1000);
    assert_ok(tacet__db_begin(other, true, NULL));
    assert_ok(tacet__db_exec(other, "LOCK TABLE t IN ACCESS EXCLUSIVE MODE", NULL));
    assert_status(tacet__db_begin_rows(db, NULL), TACET_BUSY);
    tacet__db_rollback(other);
    tacet__db_close(other);
    assert_ok(tacet__db_begin_rows(db, NULL));
    assert_ok(tacet__query_step(count, &row, NULL));
    assert_true(row);
    tacet__query_reset(count);
    tacet__db_rollback(db);
    tacet__query_free(count);
    tacet__db_close(db);
}

TEST(test_connection_lost) {
    tacet__db *db = connect_to(place, false, 1000);
    tacet__query *add = NULL;
    tacet__query *count = NULL;
    bool row = false;
    tacet_error err = {TACET_OK, ""};
    assert_ok(tacet__db_exec(db, "CREATE TABLE t(id BIGINT PRIMARY KEY)", NULL));
    assert_ok(tacet__db_prepare(db, &add, "INSERT INTO t VALUES(?1)", NULL));
    assert_ok(tacet__db_prepare(db, &count, "SELECT count(*) FROM t", NULL));
    assert_ok(tacet__db_relax(db, true, NULL));
    for (int when = 0; when < 6; when++) {
        if (when == 0) { /* between transactions: nobody notices */
            hang_up();
        }
        assert_ok(when % 2 == 0 ? tacet__db_begin(db, true, NULL) : tacet__db_begin_rows(db, NULL));
        tacet__query_bind_int(add, 1, when);
        assert_ok(tacet__query_send(add, NULL));
        if (when == 1 || when == 2) { /* before a question */
            hang_up();
            tacet_error_clear(&err);
            assert_status(tacet__query_step(count, &row, &err), TACET_IO);
            assert_non_null(strstr(err.message, "connection"));
            tacet__query_reset(count);
            tacet__db_rollback(db);
            continue;
        }
        if (when == 3 || when == 4) { /* before the commit */
            hang_up();
            assert_status(tacet__db_commit(db, NULL), TACET_IO);
            continue;
        }
        assert_ok(tacet__db_commit(db, NULL));
    }
    assert_int_equal(number(db, "SELECT count(*) FROM t"), 2); /* 0 and 5 */
    assert_int_equal(number(db, "SELECT (setting = 'off')::int FROM pg_settings WHERE name = 'synchronous_commit'"), 1);
    /* A step outside a transaction connects anew, too. */
    hang_up();
    assert_ok(tacet__query_step(count, &row, NULL));
    assert_int_equal(tacet__query_int(count, 0), 2);
    tacet__query_free(add);
    tacet__query_free(count);
    tacet__db_close(db);
}

TEST_EACH(setup, NULL)

int main(void) {
    if (getenv("TACET_TEST_POSTGRES") == NULL) {
        (void)printf("skipped: TACET_TEST_POSTGRES names no database: tests/support/pgcluster.sh run PROGRAM\n");
        return 77;
    }
    return test_main();
}
