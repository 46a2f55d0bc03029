/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger_tamper.c - every kind of tampering with a ledger is named and refused by writer and reader alike. Here
 * because it needs gate and open together. */
#include "dp/ledger_view_fixture.h"

#include <fcntl.h>
#include <tacet/dp/open/calibrate.h>

TEST(test_append_only) {
    unsigned char head[TACET_HASH_BYTES];
    make_ledger(head);
    static const char *const FORBIDDEN[] = {
        "UPDATE record SET hash = x'00' WHERE seq = 3",
        "DELETE FROM record WHERE seq = 9",
        "DELETE FROM record",
        "INSERT INTO record VALUES(12, x'00', x'00')",
        "INSERT OR REPLACE INTO record VALUES(3, x'00', x'00')",
        "UPDATE answer SET bytes = x'00'",
        "DELETE FROM answer",
        "INSERT OR REPLACE INTO answer VALUES(2, x'00')",
        "INSERT INTO answer VALUES(3, x'00')",
        "UPDATE head SET records = 3",
        "DELETE FROM head",
        "INSERT OR REPLACE INTO head VALUES(0, 3, x'00')",
    };
    for (size_t i = 0; i < sizeof FORBIDDEN / sizeof FORBIDDEN[0]; i++) {
        if (sql(FORBIDDEN[i]) == SQLITE_OK) {
            fail_msg("was allowed: %s", FORBIDDEN[i]);
        }
    }
    tacet__ledger_report report;
    tacet_error err = {TACET_OK, ""};
    assert_ok(verify(&report, head, &err));
}

TEST(test_tampering) {
    /* Records: 0 budget; 1,2 t0; 3,4 t1; 5 t2 (open); 6,7 t3; 8,9 t4. The triggers are put back afterwards, so that it
     * is the chain that notices. */
    static const char *const TAMPERED[] = {
        "UPDATE record SET body = x'00' WHERE seq = 3",
        "UPDATE record SET body = CAST(substr(body, 1, 40) || x'7f' || substr(body, 42) AS BLOB) WHERE seq = 3",
        "UPDATE record SET hash = zeroblob(32) WHERE seq = 3",
        "UPDATE record SET hash = x'00' WHERE seq = 9",
        "UPDATE record SET hash = x'' WHERE seq = 0",
        "DELETE FROM record WHERE seq = 3",
        "DELETE FROM record WHERE seq = 9",
        "DELETE FROM record WHERE seq >= 8; DELETE FROM answer WHERE seq >= 8",
        "DELETE FROM record WHERE seq = 0",
        "DELETE FROM record",
        ("UPDATE record SET seq = -1 WHERE seq = 1; UPDATE record SET seq = 1 WHERE seq = 3; UPDATE record SET seq = 3 "
         "WHERE seq = -1"),
        "UPDATE record SET seq = 10 WHERE seq = 9",
        "UPDATE head SET records = 9",
        "UPDATE head SET hash = zeroblob(32)",
        "UPDATE head SET hash = x''",
        "DELETE FROM head",
        "INSERT INTO record SELECT 10, body, hash FROM record WHERE seq = 9",
        "INSERT INTO record SELECT 10, body, hash FROM record WHERE seq = 9; UPDATE head SET records = 11",
        "PRAGMA user_version = 7",
        "PRAGMA application_id = 7",
        "DROP TABLE answer",
        "DROP TABLE head",
        "DROP TABLE record",
        "ALTER TABLE record RENAME COLUMN body TO content",
    };
    for (size_t i = 0; i < sizeof TAMPERED / sizeof TAMPERED[0]; i++) {
        unsigned char head[TACET_HASH_BYTES];
        make_ledger(head);
        sqlite3 *db = NULL;
        sqlite3_stmt *row = NULL;
        char drop[4096] = "";
        char restore[8192] = "";
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(
            sqlite3_prepare_v2(db, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'", -1, &row, NULL),
            SQLITE_OK);
        while (sqlite3_step(row) == SQLITE_ROW) {
            const size_t dropped = strlen(drop), restored = strlen(restore);
            (void)snprintf(drop + dropped, sizeof drop - dropped, "DROP TRIGGER %s;",
                           (const char *)sqlite3_column_text(row, 0));
            (void)snprintf(restore + restored, sizeof restore - restored, "%s;",
                           (const char *)sqlite3_column_text(row, 1));
        }
        (void)sqlite3_finalize(row);
        assert_int_equal(sqlite3_exec(db, drop, NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, TAMPERED[i], NULL, NULL, NULL), SQLITE_OK);
        (void)sqlite3_exec(db, restore, NULL, NULL, NULL);
        (void)sqlite3_close(db);
        assert_refused(TAMPERED[i]);
        assert_int_equal(unlink(path), 0);
    }
    unsigned char head[TACET_HASH_BYTES];
    make_ledger(head);
    assert_int_equal(sql("DROP TRIGGER record_update"), SQLITE_OK);
    assert_refused("a trigger is gone");
}

static size_t misnumbered; /* a record that carries another number than its place; 0: none does */

/* Puts a chain of records with right hashes and a right head in place of the ledger's own. */
static void forge(tacet__record *records, size_t count) {
    sqlite3 *db = NULL;
    sqlite3_stmt *insert = NULL;
    unsigned char hash[TACET_HASH_BYTES] = {0};
    char triggers[4096] = "";
    unsigned char head[TACET_HASH_BYTES];
    make_ledger(head);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "DROP TRIGGER record_append; DROP TRIGGER record_delete; DROP TRIGGER answer_append;"
                                  "DROP TRIGGER answer_delete; DROP TRIGGER head_update;"
                                  "DELETE FROM answer; DELETE FROM record",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    for (size_t i = 0; i < count; i++) {
        OWN_BLOB tacet_blob body = {0};
        records[i].seq = i + (i > 0 && i == misnumbered);
        if (records[i].kind == TACET__RECORD_COMMIT) {
            tacet__answer_hash(records[i].commit.answer_hash, "", 0);
        }
        assert_ok(tacet__record_encode(&body, &records[i], NULL));
        tacet__record_hash(hash, hash, body.data, body.size);
        assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO record VALUES(?1, ?2, ?3)", -1, &insert, NULL), SQLITE_OK);
        (void)sqlite3_bind_int64(insert, 1, (sqlite3_int64)i);
        (void)sqlite3_bind_blob(insert, 2, body.data, (int)body.size, SQLITE_STATIC);
        (void)sqlite3_bind_blob(insert, 3, hash, sizeof hash, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
        (void)sqlite3_finalize(insert);
        if (records[i].kind == TACET__RECORD_COMMIT) {
            (void)snprintf(triggers, sizeof triggers, "INSERT INTO answer VALUES(%zu, x'')", i);
            assert_int_equal(sqlite3_exec(db, triggers, NULL, NULL, NULL), SQLITE_OK);
        }
    }
    assert_int_equal(
        sqlite3_prepare_v2(db, "UPDATE head SET records = (SELECT count(*) FROM record), hash = ?1", -1, &insert, NULL),
        SQLITE_OK);
    (void)sqlite3_bind_blob(insert, 1, hash, sizeof hash, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
    (void)sqlite3_finalize(insert);
    for (int i = 0; i < 5; i++) {
        (void)snprintf(triggers, sizeof triggers, "CREATE TRIGGER t%d BEFORE DELETE ON head BEGIN SELECT 1; END", i);
        assert_int_equal(sqlite3_exec(db, triggers, NULL, NULL, NULL), SQLITE_OK);
    }
    (void)sqlite3_close(db);
}

static tacet__record a_budget(tacet_accounting accounting, double cap) {
    tacet__record r;
    memset(&r, 0, sizeof r);
    r.kind = TACET__RECORD_BUDGET;
    r.budget.accounting = accounting;
    r.budget.eps = 3;
    r.budget.delta = 1e-5;
    r.budget.cap = cap;
    r.budget.uncovered_most = 1;
    return r;
}

static tacet__record an_entry(const char *ticket, double eps) {
    tacet__record r;
    memset(&r, 0, sizeof r);
    r.kind = TACET__RECORD_RESERVE;
    r.reserve.ticket = ticket;
    r.reserve.charge = test_charge(eps > 0 ? eps : 1);
    if (!(eps > 0)) {
        tacet_charge_init(&r.reserve.charge);
        r.reserve.charge.what = "y";
        r.reserve.charge.to_whom = "z";
        r.reserve.charge.seeded = true;
    }
    return r;
}

static tacet__record an_answer(uint64_t entry) {
    tacet__record r;
    memset(&r, 0, sizeof r);
    r.kind = TACET__RECORD_COMMIT;
    r.commit.entry = entry;
    return r;
}

/* Whoever can compute a hash can write a chain; what it says must still be possible. */
TEST(test_forged_chains) {
    tacet__record c[8];
    tacet_error err = {TACET_OK, ""};
    tacet__ledger_report report;
    double mu = 0;
    double rho = 0;
    assert_ok(tacet_gdp_mu(&mu, 3, 1e-5, NULL));
    assert_ok(tacet_zcdp_rho(&rho, 3, 1e-5, NULL));
#define REFUSED(what, count)                                                                                           \
    forge(c, count);                                                                                                   \
    assert_refused(what);                                                                                              \
    assert_status(verify(&report, NULL, &err), TACET_CORRUPT);                                                         \
    assert_int_equal(unlink(path), 0)
    c[0] = a_budget(TACET_ACCOUNTING_BASIC, 3);
    c[1] = an_entry("a", 1);
    c[2] = an_answer(1);
    c[3] = an_entry("b", 2);
    c[4] = an_entry("c", 0);
    forge(c, 5); /* the forger itself makes no mistake */
    assert_ok(verify(&report, NULL, &err));
    assert_close(report.spent, 3, 0);
    assert_int_equal(report.seeded, 1);
    assert_int_equal(report.uncovered, 1);
    assert_int_equal(report.answered, 1);
    assert_int_equal(unlink(path), 0);
    forge(c, 1); /* a budget alone */
    assert_ok(verify(&report, NULL, &err));
    assert_close(report.eps, 0, 0);
    assert_int_equal(unlink(path), 0);
    c[5] = an_entry("d", 0.001);
    REFUSED("more than the budget", 6);
    c[5] = an_entry("d", 0);
    REFUSED("more uncovered than allowed", 6);
    c[5] = an_entry("a", 0.001);
    c[3] = an_entry("b", 1);
    REFUSED("a ticket twice", 6);
    c[5] = an_answer(1);
    REFUSED("two answers", 6);
    c[5] = an_answer(2);
    REFUSED("an answer to an answer", 6);
    c[1] = an_entry("a", 1);
    tacet_charge_approx(&c[1].reserve.charge, 1, 0.9e-5);
    c[3] = an_entry("b", 1);
    tacet_charge_approx(&c[3].reserve.charge, 1, 0.9e-5);
    REFUSED("more delta than the budget", 4);
    tacet_charge_gaussian(&c[1].reserve.charge, 0.1, 1, 1);
    REFUSED("an entry whose delta bounds nothing", 2);
    c[1] = an_entry("a", 1);
    misnumbered = 1;
    REFUSED("a record that carries another number", 2);
    misnumbered = 0;
    c[0] = an_entry("b", 1);
    REFUSED("an entry where the budget stands", 2);
    c[0] = a_budget(TACET_ACCOUNTING_BASIC, 4);
    REFUSED("a cap above eps", 1);
    c[1] = a_budget(TACET_ACCOUNTING_BASIC, 3);
    c[0] = a_budget(TACET_ACCOUNTING_BASIC, 3);
    REFUSED("a second budget", 2);
    c[1] = an_entry("a", 1);
    c[0] = a_budget(TACET_ACCOUNTING_GAUSSIAN, 3);
    c[0].budget.delta = 0;
    REFUSED("a mu without a delta", 1);
    c[0] = a_budget(TACET_ACCOUNTING_ZCDP, rho * 1.001);
    REFUSED("a rho above what eps allows", 1);
    c[0] = a_budget(TACET_ACCOUNTING_GAUSSIAN, mu * 1.001);
    REFUSED("a mu above what eps allows", 1);
    c[0] = a_budget(TACET_ACCOUNTING_GAUSSIAN, mu);
    tacet_charge_approx(&c[1].reserve.charge, 1, 0.9e-5);
    REFUSED("an entry without a mu", 2);
    tacet_charge_gaussian(&c[1].reserve.charge, mu * 1.001, INFINITY, 1);
    REFUSED("an entry above the cap", 2);
    c[0] = a_budget(TACET_ACCOUNTING_ZCDP, rho);
    tacet_charge_zcdp(&c[1].reserve.charge, rho * 1.001, INFINITY, 1);
    REFUSED("an entry above the cap", 2);
}

/* What only the reader looks at when opening; the writer notices when it is asked for that answer. */
TEST(test_changed_answers) {
    static const char *const TAMPERED[] = {
        "UPDATE answer SET bytes = x'00' WHERE seq = 4",
        "DELETE FROM answer WHERE seq = 4",
        "UPDATE answer SET bytes = CAST(bytes || x'00' AS BLOB) WHERE seq = 4",
        "UPDATE answer SET bytes = CAST(x'00' || substr(bytes, 2) AS BLOB) WHERE seq = 4",
    };
    for (size_t i = 0; i < sizeof TAMPERED / sizeof TAMPERED[0]; i++) {
        unsigned char head[TACET_HASH_BYTES];
        tacet__ledger_report report;
        tacet_error err = {TACET_OK, ""};
        make_ledger(head);
        assert_int_equal(sql("DROP TRIGGER answer_update; DROP TRIGGER answer_delete"), SQLITE_OK);
        assert_int_equal(sql(TAMPERED[i]), SQLITE_OK);
        assert_int_equal(sql("CREATE TRIGGER a BEFORE UPDATE ON answer BEGIN SELECT 1; END;"
                             "CREATE TRIGGER b BEFORE UPDATE ON answer BEGIN SELECT 1; END"),
                         SQLITE_OK);
        assert_status(verify(&report, NULL, &err), TACET_CORRUPT);
        assert_non_null(strstr(err.message, "record 4"));
        tacet_ledger *ledger = test_ledger(path, TACET_ACCOUNTING_BASIC, 3);
        tacet_entry entry;
        tacet_blob memo = {0};
        const tacet_charge c = test_charge(0.5);
        assert_status(tacet_ledger_reserve(ledger, &entry, &memo, "t1", &c, NULL), TACET_CORRUPT);
        assert_false(entry.answered);
        assert_status(tacet_ledger_lookup(ledger, &entry, &memo, "t1", NULL), TACET_CORRUPT);
        assert_int_equal(memo.size, 0);
        assert_ok(tacet_ledger_lookup(ledger, &entry, &memo, "t0", NULL)); /* the others are what they were */
        tacet_blob_clear(&memo);
        tacet_ledger_close(ledger);
        assert_int_equal(unlink(path), 0);
    }
}

/* An answer that cannot be read is not taken for one that is right. */
TEST(test_unreadable_answers) {
    unsigned char head[TACET_HASH_BYTES];
    tacet__ledger_report report;
    tacet_error err = {TACET_OK, ""};
    make_ledger(head);
    assert_int_equal(sql("ALTER TABLE answer RENAME TO kept;"
                         "CREATE VIEW answer AS SELECT seq, abs(-9223372036854775807 - (seq > 0)) AS bytes FROM kept"),
                     SQLITE_OK);
    assert_int_not_equal(verify(&report, NULL, &err), TACET_OK);
    assert_true(err.message[0] != '\0');
}

/* Every byte of the file, one at a time (a stride apart): the reader never gives other content than was written. */
TEST(test_every_region) {
    unsigned char head[TACET_HASH_BYTES];
    struct stat st;
    make_ledger(head);
    assert_int_equal(stat(path, &st), 0);
    int refused = 0;
    int unnoticed = 0;
    for (off_t at = 0; at < st.st_size; at += 61) {
        unsigned char old = 0;
        tacet__ledger_report report;
        tacet_error err = {TACET_OK, ""};
        const int fd = open(path, O_RDWR);
        assert_int_equal(pread(fd, &old, 1, at), 1);
        const unsigned char other = (unsigned char)(old ^ 0x55);
        assert_int_equal(pwrite(fd, &other, 1, at), 1);
        const tacet_status status = verify(&report, head, &err);
        if (status == TACET_OK) {
            assert_memory_equal(report.head, head, TACET_HASH_BYTES); /* free space, or a counter nobody needs */
            unnoticed++;
        } else {
            refused++;
        }
        assert_int_equal(pwrite(fd, &old, 1, at), 1);
        (void)close(fd);
    }
    assert_true(refused > 50);
    print_message("%d changed bytes refused, %d in unused space\n", refused, unnoticed);
    tacet__ledger_report report;
    tacet_error err = {TACET_OK, ""};
    assert_ok(verify(&report, head, &err));
}

TEST(test_truncated) {
    unsigned char head[TACET_HASH_BYTES];
    struct stat st;
    make_ledger(head);
    assert_int_equal(stat(path, &st), 0);
    for (off_t size = st.st_size - 1; size > 0; size -= size > 9000 ? 4097 : 1500) {
        assert_int_equal(truncate(path, size), 0);
        assert_refused("truncated");
    }
    assert_int_equal(truncate(path, 0), 0);
    assert_refused("emptied"); /* and not filled again with a fresh budget */
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size == 0 || st.st_size == 4096);
    test_write(path, "this is not a database, but it is long enough to look like a file of some kind");
    assert_refused("another file");
}

TEST_EACH(setup, teardown)

int main(void) {
    test_in_memory();
    return test_main();
}
