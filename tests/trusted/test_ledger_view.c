/* test_ledger_view.c - the reader against the writer: totals derived twice must agree, every kind of tampering must be
 * named and refused by both, and reading needs no permission to write. Here because it needs gate and open together. */
#include "support/test.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tacet/base/simrng.h>
#include <tacet/gate/calibrate.h>
#include <tacet/gate/ledger.h>
#include <unistd.h>

#include "open/ledger_view.h"

static char folder[256];
static char path[300];

static int setup(void **state) {
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    (void)snprintf(path, sizeof path, "%s/ledger", folder);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    (void)chmod(folder, 0700);
    test_rmdir(folder);
    return 0;
}

static tacet_ledger *open_ledger(tacet_accounting accounting, double eps) {
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings s;
    tacet_ledger_settings_defaults(&s);
    s.accounting = accounting;
    s.eps = eps;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    return ledger;
}

static void add(tacet_ledger *ledger, const char *ticket, const tacet_charge *charge, const char *answer) {
    tacet_entry entry;
    tacet_blob memo;
    tacet_blob_init(&memo);
    assert_ok(tacet_ledger_reserve(ledger, &entry, &memo, ticket, charge, NULL));
    if (answer != NULL) {
        assert_ok(tacet_ledger_commit(ledger, &entry, answer, strlen(answer), NULL, NULL));
    }
    tacet_blob_clear(&memo);
}

static tacet_charge charge(double eps) {
    tacet_charge c;
    tacet_charge_init(&c);
    c.what = "a mean";
    c.to_whom = "the modeler";
    c.mechanism = "laplace";
    tacet_charge_pure(&c, eps);
    return c;
}

static tacet_status verify(tacet__ledger_report *report, const unsigned char *noted, tacet_error *err) {
    tacet__ledger_view *view = NULL;
    tacet_error_clear(err);
    tacet_status status = tacet__ledger_view_open(&view, path, err);
    if (status == TACET_OK) {
        status = tacet__ledger_verify(view, report, noted, err);
    } else {
        assert_null(view);
    }
    tacet__ledger_view_close(view);
    return status;
}

static void test_totals_agree(void **state) {
    (void)state;
    tacet_simrng rng;
    tacet_simrng_init(&rng, 21, 0);
    for (int round = 0; round < 12; round++) {
        const tacet_accounting accounting = (tacet_accounting)(1 + round % 3);
        tacet_ledger *ledger = open_ledger(accounting, 20);
        tacet_ledger_totals totals;
        tacet__ledger_report report;
        tacet_error err = {TACET_OK, ""};
        int refused = 0;
        for (int i = 0; i < 60; i++) {
            static const char *const GROUPS[] = {"", "rows", "batches"};
            static const char *const PARTS[] = {"1", "2", "3", "4"};
            char ticket[16];
            tacet_entry entry;
            tacet_blob memo;
            tacet_charge c = charge(0.05 + tacet_simrng_uniform(&rng));
            const size_t group = tacet_simrng_below(&rng, 3);
            if (tacet_simrng_below(&rng, 8) == 0) {
                tacet_charge_init(&c);
                c.what = "measured output";
                c.to_whom = "the modeler";
            } else if (group > 0) {
                c.group = GROUPS[group];
                c.part = PARTS[tacet_simrng_below(&rng, 4)];
            }
            if (accounting == TACET_ACCOUNTING_BASIC && c.claim == TACET_CLAIM_PURE && i % 5 == 0) {
                tacet_charge_approx(&c, c.eps, 1e-7);
            }
            (void)snprintf(ticket, sizeof ticket, "t%d", i);
            tacet_blob_init(&memo);
            const tacet_status status = tacet_ledger_reserve(ledger, &entry, &memo, ticket, &c, &err);
            if (status == TACET_OK && i % 3 != 0) {
                assert_ok(tacet_ledger_commit(ledger, &entry, ticket, strlen(ticket), NULL, NULL));
            } else if (status != TACET_OK) {
                assert_int_equal(status, TACET_BUDGET);
                refused++;
            }
            tacet_blob_clear(&memo);
        }
        assert_ok(tacet_ledger_total(ledger, &totals, NULL));
        assert_ok(verify(&report, totals.head, &err)); /* while the writer is open */
        assert_close(report.spent, totals.spent, 1e-12 * totals.spent);
        assert_close(report.spent_delta, totals.spent_delta, 1e-18);
        assert_close(report.eps, totals.eps, 1e-6 * totals.eps);
        assert_close(report.delta, totals.delta, 1e-15);
        assert_true(report.eps <= report.budget_eps * (1 + 1e-6));
        assert_int_equal(report.records, totals.records);
        assert_int_equal(report.entries, totals.entries);
        assert_int_equal(report.entries + (uint64_t)refused, 60);
        assert_int_equal(report.answered, totals.answered);
        assert_int_equal(report.uncovered, totals.uncovered);
        assert_int_equal(report.head_at, totals.records - 1);
        assert_memory_equal(report.head, totals.head, TACET_HASH_BYTES);
        tacet_ledger_close(ledger);
        assert_int_equal(unlink(path), 0);
    }
}

/* The reader's conversions against the gate's, which are derived and rounded otherwise. */
static void test_conversions_agree(void **state) {
    (void)state;
    const double deltas[] = {1e-3, 1e-5, 1e-9, 1e-12};
    const double parameters[] = {0.001, 0.03, 0.2, 1, 4};
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 5; k++) {
            double eps = 0;
            assert_ok(tacet_gdp_eps(&eps, parameters[k], deltas[i], NULL));
            assert_close(tacet__ledger_gaussian_eps(parameters[k], deltas[i]), eps, 1e-6 * eps + 1e-9);
            assert_ok(tacet_zcdp_eps(&eps, parameters[k], deltas[i], NULL));
            assert_close(tacet__ledger_zcdp_eps(parameters[k], deltas[i]), eps, 1e-6 * eps + 1e-9);
        }
    }
    assert_true(isinf(tacet__ledger_gaussian_eps(1, 0)) || tacet__ledger_gaussian_eps(1, 0) > 30);
    assert_true(isinf(tacet__ledger_zcdp_eps(1e7, 1e-5)));
}

/* A ledger of some size, closed, so that all of it is in the one file. */
static void make_ledger(unsigned char head[TACET_HASH_BYTES]) {
    tacet_ledger *ledger = open_ledger(TACET_ACCOUNTING_BASIC, 3);
    tacet_ledger_totals totals;
    for (int i = 0; i < 5; i++) {
        char ticket[16];
        const tacet_charge c = charge(0.5);
        (void)snprintf(ticket, sizeof ticket, "t%d", i);
        add(ledger, ticket, &c, i == 2 ? NULL : "an answer");
    }
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    memcpy(head, totals.head, TACET_HASH_BYTES);
    tacet_ledger_close(ledger);
}

static int sql(const char *statements) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    const int code = sqlite3_exec(db, statements, NULL, NULL, NULL);
    (void)sqlite3_close(db);
    return code;
}

/* Writer and reader both refuse, both say CORRUPT, and the file is left as it was. */
static void assert_refused(const char *what) {
    tacet__ledger_report report;
    tacet_error err = {TACET_OK, ""};
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings s;
    const tacet_status seen = verify(&report, NULL, &err);
    if (seen != TACET_CORRUPT || err.message[0] == '\0') {
        fail_msg("reader: %s: %s", what, tacet_status_name(seen));
    }
    tacet_error_clear(&err);
    tacet_ledger_settings_defaults(&s);
    s.accounting = TACET_ACCOUNTING_BASIC;
    s.eps = 3;
    const tacet_status opened = tacet_ledger_open(&ledger, path, &s, &err);
    if (opened != TACET_CORRUPT || ledger != NULL || err.message[0] == '\0') {
        fail_msg("writer: %s: %s", what, tacet_status_name(opened));
    }
}

static void test_append_only(void **state) {
    unsigned char head[TACET_HASH_BYTES];
    (void)state;
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

static void test_tampering(void **state) {
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
    char dump[4096];
    (void)state;
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
            (void)snprintf(dump, sizeof dump, "DROP TRIGGER %s;", (const char *)sqlite3_column_text(row, 0));
            strncat(drop, dump, sizeof drop - strlen(drop) - 1);
            (void)snprintf(dump, sizeof dump, "%s;", (const char *)sqlite3_column_text(row, 1));
            strncat(restore, dump, sizeof restore - strlen(restore) - 1);
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
        tacet_blob body;
        tacet_blob_init(&body);
        records[i].seq = i;
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
        tacet_blob_clear(&body);
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
    r.reserve.charge = charge(eps > 0 ? eps : 1);
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

static tacet__record a_step(uint64_t entry, uint64_t step) {
    tacet__record r;
    memset(&r, 0, sizeof r);
    r.kind = TACET__RECORD_STEP;
    r.step.entry = entry;
    r.step.step = step;
    return r;
}

/* Whoever can compute a hash can write a chain; what it says must still be possible. */
static void test_forged_chains(void **state) {
    tacet__record c[8];
    tacet_error err = {TACET_OK, ""};
    tacet__ledger_report report;
    double mu = 0;
    double rho = 0;
    (void)state;
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
    c[3] = a_step(1, 2);
    c[4] = a_step(1, 5);
    c[5] = an_entry("b", 1);
    forge(c, 6);
    assert_ok(verify(&report, NULL, &err));
    assert_int_equal(report.steps, 2);
    assert_int_equal(report.records, 6);
    assert_int_equal(unlink(path), 0);
    c[6] = a_step(5, 1);
    REFUSED("a step of what was not answered", 7);
    c[6] = a_step(2, 1);
    REFUSED("a step of an answer", 7);
    c[6] = a_step(1, 5);
    REFUSED("a step again", 7);
    c[6] = a_step(1, 4);
    REFUSED("a step back", 7);
    c[1] = an_entry("a", 1);
    tacet_charge_approx(&c[1].reserve.charge, 1, 0.9e-5);
    c[3] = an_entry("b", 1);
    tacet_charge_approx(&c[3].reserve.charge, 1, 0.9e-5);
    REFUSED("more delta than the budget", 4);
    c[0] = a_budget(TACET_ACCOUNTING_BASIC, 4);
    REFUSED("a cap above eps", 1);
    c[0] = a_budget(TACET_ACCOUNTING_ZCDP, rho * 1.001);
    REFUSED("a rho above what eps allows", 1);
    c[0] = a_budget(TACET_ACCOUNTING_GAUSSIAN, mu * 1.001);
    REFUSED("a mu above what eps allows", 1);
    c[0] = a_budget(TACET_ACCOUNTING_GAUSSIAN, mu);
    REFUSED("an entry without a mu", 2); /* approx */
    tacet_charge_gaussian(&c[1].reserve.charge, mu * 1.001, INFINITY, 1);
    REFUSED("an entry above the cap", 2);
    c[0] = a_budget(TACET_ACCOUNTING_ZCDP, rho);
    tacet_charge_zcdp(&c[1].reserve.charge, rho * 1.001, INFINITY, 1);
    REFUSED("an entry above the cap", 2);
}

/* What only the reader looks at when opening; the writer notices when it is asked for that answer. */
static void test_changed_answers(void **state) {
    static const char *const TAMPERED[] = {
        "UPDATE answer SET bytes = x'00' WHERE seq = 4",
        "DELETE FROM answer WHERE seq = 4",
        "UPDATE answer SET bytes = CAST(bytes || x'00' AS BLOB) WHERE seq = 4",
    };
    (void)state;
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
        tacet_ledger *ledger = open_ledger(TACET_ACCOUNTING_BASIC, 3);
        tacet_entry entry;
        tacet_blob memo;
        tacet_blob_init(&memo);
        const tacet_charge c = charge(0.5);
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

/* Every byte of the file, one at a time (a stride apart): the reader never gives other content than was written. */
static void test_every_region(void **state) {
    unsigned char head[TACET_HASH_BYTES];
    struct stat st;
    (void)state;
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

static void test_truncated(void **state) {
    unsigned char head[TACET_HASH_BYTES];
    struct stat st;
    (void)state;
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
    FILE *file = fopen(path, "w");
    (void)fputs("this is not a database, but it is long enough to look like a file of some kind", file);
    (void)fclose(file);
    assert_refused("another file");
}

static void copy_file(const char *from, const char *to) {
    char buffer[65536];
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    size_t size = 0;
    while ((size = fread(buffer, 1, sizeof buffer, in)) > 0) {
        assert_int_equal(fwrite(buffer, 1, size, out), size);
    }
    (void)fclose(in);
    (void)fclose(out);
}

/* A whole-file rollback looks intact; a noted head or an anchor shows it. */
static void test_rollback(void **state) {
    unsigned char early[TACET_HASH_BYTES];
    unsigned char late[TACET_HASH_BYTES];
    char copy[320];
    char anchor[320];
    tacet__ledger_report report;
    tacet_error err = {TACET_OK, ""};
    tacet_ledger *ledger = NULL;
    tacet_ledger_totals totals;
    tacet_ledger_settings s;
    (void)state;
    (void)snprintf(copy, sizeof copy, "%s/copy", folder);
    (void)snprintf(anchor, sizeof anchor, "%s/anchor", folder);
    make_ledger(early);
    copy_file(path, copy);
    tacet_ledger_settings_defaults(&s);
    s.use_stored = true;
    s.anchor = anchor;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    const tacet_charge c = charge(0.5);
    add(ledger, "late", &c, "x");
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    memcpy(late, totals.head, TACET_HASH_BYTES);
    tacet_ledger_close(ledger);
    assert_ok(verify(&report, early, &err)); /* a head noted earlier stays valid */
    assert_int_equal(report.head_at, 9);
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    tacet_ledger_close(ledger);

    copy_file(copy, path);
    assert_ok(verify(&report, NULL, &err)); /* nothing inside the file can tell */
    assert_status(verify(&report, late, &err), TACET_CORRUPT);
    assert_status(tacet_ledger_open(&ledger, path, &s, &err), TACET_CORRUPT);
    assert_null(ledger);
    /* Grown again past the anchor, along another way. */
    s.anchor = NULL;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    add(ledger, "other", &c, "y");
    tacet_ledger_close(ledger);
    s.anchor = anchor;
    tacet_error_clear(&err);
    assert_status(tacet_ledger_open(&ledger, path, &s, &err), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "anchor"));
    FILE *file = fopen(anchor, "r+");
    (void)fputs("7", file);
    (void)fclose(file);
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_CORRUPT);
    assert_int_equal(truncate(anchor, 10), 0);
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_CORRUPT);
    s.anchor = folder; /* not a file */
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_IO);
    s.anchor = "/dev/full";
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_CORRUPT); /* reads as zeros */
}

/* As another user, without any permission to write: reading works, writing is DENIED. */
static void test_read_only(void **state) {
    unsigned char head[TACET_HASH_BYTES];
    int status = 0;
    (void)state;
    make_ledger(head);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    const pid_t child = fork();
    if (child == 0) {
        tacet__ledger_report report;
        tacet_ledger *ledger = NULL;
        tacet_ledger_settings s;
        tacet_error err = {TACET_OK, ""};
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(10);
        }
        tacet_status seen = verify(&report, head, &err);
        if (seen != TACET_OK) {
            print_error("reader: %s\n", err.message);
            _exit(11);
        }
        tacet_ledger_settings_defaults(&s);
        s.use_stored = true;
        if (tacet_ledger_open(&ledger, path, &s, &err) != TACET_DENIED || ledger != NULL) {
            _exit(12);
        }
        (void)strcat(path, "-new");
        tacet_ledger_settings_defaults(&s);
        s.eps = 1;
        if (tacet_ledger_open(&ledger, path, &s, &err) != TACET_DENIED || ledger != NULL) {
            _exit(13);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A writer that died leaves its last transactions in the log; where the log cannot be used that is said, not
 * overlooked.
 */
static void test_read_only_with_log(void **state) {
    int status = 0;
    (void)state;
    const pid_t writer = fork();
    if (writer == 0) {
        unsigned char head[TACET_HASH_BYTES];
        tacet_ledger *ledger = open_ledger(TACET_ACCOUNTING_BASIC, 3);
        const tacet_charge c = charge(0.5);
        (void)head;
        add(ledger, "t", &c, "x");
        _exit(0); /* no close: the log stays */
    }
    assert_int_equal(waitpid(writer, &status, 0), writer);
    char name[320];
    (void)snprintf(name, sizeof name, "%s-shm", path);
    assert_int_equal(unlink(name), 0);
    (void)snprintf(name, sizeof name, "%s-wal", path);
    assert_int_equal(chmod(name, 0444), 0);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    const pid_t child = fork();
    if (child == 0) {
        tacet__ledger_report report;
        tacet_error err = {TACET_OK, ""};
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(10);
        }
        const tacet_status seen = verify(&report, NULL, &err);
        _exit(seen == TACET_DENIED && strstr(err.message, "-wal") != NULL ? 0 : 11);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_no_memory(void **state) {
    unsigned char head[TACET_HASH_BYTES];
    (void)state;
    make_ledger(head);
    for (long n = 1;; n++) {
        tacet__ledger_report report;
        tacet_error err = {TACET_OK, ""};
        fail_alloc_after(n);
        const tacet_status status = verify(&report, head, &err);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (!hit) {
            assert_ok(status);
            break;
        }
        assert_int_equal(status, TACET_NO_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(test_totals_agree),  T(test_conversions_agree), T(test_append_only),        T(test_tampering),
        T(test_forged_chains), T(test_changed_answers),   T(test_every_region),       T(test_truncated),
        T(test_rollback),      T(test_read_only),         T(test_read_only_with_log), T(test_no_memory),
    };
    if (access("/dev/shm", W_OK) == 0) {
        (void)setenv("TMPDIR", "/dev/shm", 0); /* nothing here is about the disk but its latency */
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
