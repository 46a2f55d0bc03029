/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger_postgres.c - what is different about a ledger in a shared store: how it comes into being, who may change
 * its tables, and a server that hangs up. What is the same is tested by the same programs
 * (tests/e2e/postgres_ledger.sh). support/pgcluster.sh gives the database. */
#include "support/gate.h"
#include "support/ledger_place.h"

#include <tacet/dp/ledger.h>

static char place[1100];
static tacet_error err;

static int setup(void **state) {
    ledger_place(place, sizeof place, "");
    tacet_error_clear(&err);
    return 0;
}

static tacet_ledger_settings settings(void) {
    tacet_ledger_settings s;
    tacet_ledger_settings_defaults(&s);
    s.accounting = TACET_ACCOUNTING_BASIC;
    s.eps = 1;
    s.delta = 0;
    s.busy_ms = 2000;
    return s;
}

static tacet_status open_ledger(tacet_ledger **out) {
    const tacet_ledger_settings s = settings();
    tacet_error_clear(&err);
    return tacet_ledger_open(out, place, &s, &err);
}

static tacet_status reserve(tacet_ledger *ledger, const char *ticket, double eps, tacet_entry *entry) {
    const tacet_charge charge = test_charge(eps);
    OWN_BLOB tacet_blob memo = {0};
    return tacet_ledger_reserve(ledger, entry, &memo, ticket, &charge, NULL);
}

/* A ledger with two entries, one of them answered. */
static void fill(void) {
    OWN_LEDGER tacet_ledger *ledger = NULL;
    tacet_entry entry;
    assert_ok(open_ledger(&ledger));
    assert_ok(reserve(ledger, "one", 0.25, &entry));
    assert_ok(tacet_ledger_commit(ledger, &entry, "yes", 3, NULL, NULL));
    assert_ok(reserve(ledger, "two", 0.25, &entry));
}

static tacet_status try_sql(const char *sql) {
    const tacet__db_settings s = {.busy_ms = 1000};
    tacet__db *db = NULL;
    assert_ok(tacet__db_open(&db, place, &s, NULL));
    const tacet_status status = tacet__db_exec(db, sql, NULL);
    tacet__db_close(db);
    return status;
}

TEST(test_append_only) {
    static const char *const SQL[] = {
        "UPDATE record SET body = hash",
        "DELETE FROM record",
        "TRUNCATE record CASCADE",
        "INSERT INTO record VALUES(9, '', '')",
        "INSERT INTO record VALUES(0, '', '')",
        "UPDATE answer SET bytes = ''",
        "DELETE FROM answer",
        "TRUNCATE answer",
        "INSERT INTO answer VALUES(1, '')",
        "INSERT INTO head VALUES(1, 9, '')",
        "UPDATE head SET records = records",
        "UPDATE head SET records = 1",
        "DELETE FROM head",
        "TRUNCATE head",
        "UPDATE format SET version = 7",
        "DELETE FROM format",
        "TRUNCATE format",
    };
    OWN_LEDGER tacet_ledger *ledger = NULL;
    tacet_ledger_totals totals;
    fill();
    for (size_t i = 0; i < sizeof SQL / sizeof SQL[0]; i++) {
        assert_status(try_sql(SQL[i]), TACET_CONFLICT);
    }
    assert_ok(open_ledger(&ledger));
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 2);
}

/* Whoever owns the tables can switch the triggers off; the chain shows it. */
TEST(test_tampered) {
    static const struct {
        const char *table; /* whose triggers sleep meanwhile; "": none */
        const char *sql;
    } CHANGES[] = {
        {"", "DROP TRIGGER record_update ON record"},
        {"", "ALTER TABLE record DISABLE TRIGGER record_update"},
        {"", "DROP TABLE format"},
        {"", "DROP TABLE answer"},
        {"format", "UPDATE format SET version = 7"},
        {"format", "UPDATE format SET application = 2"},
        {"format", "DELETE FROM format"},
        {"record", "UPDATE record SET body = body || '\\x00'::bytea WHERE seq = 1"},
        {"record", "DELETE FROM record WHERE seq = 3"},
        {"head", "UPDATE head SET records = 2"},
    };
    for (size_t i = 0; i < sizeof CHANGES / sizeof CHANGES[0]; i++) {
        tacet_ledger *ledger = NULL;
        const char *table = CHANGES[i].table;
        char sql[256];
        (void)setup(NULL);
        fill();
        if (table[0] == '\0') {
            assert_ok(try_sql(CHANGES[i].sql));
        } else {
            (void)snprintf(sql, sizeof sql, "ALTER TABLE %s DISABLE TRIGGER ALL; %s; ALTER TABLE %s ENABLE TRIGGER ALL",
                           table, CHANGES[i].sql, table);
            assert_ok(try_sql(sql));
        }
        assert_status(open_ledger(&ledger), TACET_CORRUPT);
        assert_null(ledger);
    }
    /* Emptied: not filled again, which would give the budget back. */
    tacet_ledger *ledger = NULL;
    shared_sql("DROP SCHEMA tacet_ledger_test CASCADE; CREATE SCHEMA tacet_ledger_test");
    assert_status(open_ledger(&ledger), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "emptied"));
}

TEST(test_not_created) {
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings s = settings();
    assert_status(tacet_ledger_open(&ledger, "postgresql:///x?host=/nowhere#tacet_ledger_test", &s, NULL), TACET_IO);
    assert_status(tacet_ledger_open(&ledger, "postgresql:///x?host=/nowhere#", &s, NULL), TACET_INVALID);
    /* Somebody else has the lock. */
    const tacet__db_settings db_settings = {.create = true, .busy_ms = 1000};
    tacet__db *db = NULL;
    assert_ok(tacet__db_open(&db, place, &db_settings, NULL));
    assert_ok(tacet__db_begin(db, true, NULL));
    s.busy_ms = 20;
    assert_status(tacet_ledger_open(&ledger, place, &s, NULL), TACET_BUSY);
    tacet__db_rollback(db);
    tacet__db_close(db);
    /* A role that may make a schema and not what is in it: nothing is left behind. */
    const char *user = strstr(place, "user=postgres");
    shared_sql("DROP ROLE IF EXISTS tacet_half; CREATE ROLE tacet_half LOGIN; REVOKE USAGE ON LANGUAGE plpgsql FROM "
               "PUBLIC; GRANT CREATE ON DATABASE postgres TO tacet_half");
    OWN_TEXT char *url = test_text("%.*suser=tacet_half%s", (int)(user - place), place, user + strlen("user=postgres"));
    assert_status(tacet_ledger_open(&ledger, url, &s, NULL), TACET_DENIED);
    assert_null(ledger);
    shared_sql("GRANT USAGE ON LANGUAGE plpgsql TO PUBLIC");
    s.create = false;
    assert_status(tacet_ledger_open(&ledger, place, &s, NULL), TACET_NOT_FOUND);
    /* A password is in no message. */
    tacet_error_clear(&err);
    assert_status(tacet_ledger_open(&ledger, "postgresql://u:hunter2@127.0.0.1:1/x#tacet_ledger_test", &s, &err),
                  TACET_IO);
    assert_null(strstr(err.message, "hunter2"));
}

TEST(test_allocations) {
    for (long n = 1;; n++) {
        tacet_ledger *ledger = NULL;
        fail_alloc_after(n);
        const tacet_status status = open_ledger(&ledger);
        const int hit = fail_alloc_end();
        if (hit == 0) {
            assert_ok(status);
            tacet_ledger_close(ledger);
            assert_true(n > 10);
            break;
        }
        assert_int_equal(status, TACET_NO_MEMORY);
        assert_null(ledger);
    }
}

static void hang_up(void) {
    shared_sql("SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
               "application_name = 'tacet'");
}

/* A connection that is lost between any two steps: nothing is charged twice, the handle goes on. */
TEST(test_hang_up) {
    OWN_LEDGER tacet_ledger *ledger = NULL;
    tacet_entry entry;
    tacet_ledger_totals totals;
    assert_ok(open_ledger(&ledger));
    hang_up();
    assert_ok(reserve(ledger, "one", 0.25, &entry));
    hang_up();
    assert_ok(reserve(ledger, "one", 0.25, &entry)); /* the same */
    hang_up();
    assert_ok(tacet_ledger_commit(ledger, &entry, "yes", 3, NULL, NULL));
    hang_up();
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 1);
    assert_int_equal(totals.answered, 1);
    assert_close(totals.spent, 0.25, 0);
}

/* A schema each: a budget of its own. */
TEST(test_two_ledgers) {
    OWN_LEDGER tacet_ledger *one = NULL;
    OWN_LEDGER tacet_ledger *two = NULL;
    tacet_entry entry;
    const tacet_ledger_settings s = settings();
    shared_sql("DROP SCHEMA IF EXISTS tacet_ledger_other CASCADE");
    OWN_TEXT char *other = test_text("%s#tacet_ledger_other", getenv("TACET_TEST_POSTGRES"));
    assert_ok(open_ledger(&one));
    assert_ok(tacet_ledger_open(&two, other, &s, NULL));
    assert_ok(reserve(one, "all", 1.0, &entry));
    assert_ok(reserve(two, "all", 1.0, &entry));
    assert_status(reserve(two, "more", 0.1, &entry), TACET_BUDGET);
}

TEST_EACH(setup, NULL)

int main(void) {
    if (!ledger_is_shared()) {
        (void)printf("skipped: TACET_TEST_POSTGRES names no database: tests/support/pgcluster.sh run PROGRAM\n");
        return 77;
    }
    return test_main();
}
