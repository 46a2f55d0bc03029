/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger.c - what the ledger promises, one promise after the other, without faults (those: test_ledger_fault.c,
 * test_ledger_crash.c). In a file, and in a shared store when told where (support/ledger_place.h). */
#include "dp/open/entry.h"
#include "support/gate.h"
#include "support/ledger_place.h"
#include "support/test.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/ledger.h>
#include <unistd.h>

typedef struct fixture {
    char folder[256];
    char path[512];
    tacet_ledger_settings settings;
    tacet_ledger *ledger;
    tacet_entry entry;
    tacet_blob memo;
    tacet_error err;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    (void)snprintf(f->folder, sizeof f->folder, "%s", test_mkdir());
    ledger_place(f->path, sizeof f->path, f->folder);
    tacet_ledger_settings_defaults(&f->settings);
    f->settings.accounting = TACET_ACCOUNTING_BASIC;
    f->settings.eps = 1;
    f->settings.delta = 0;
    tacet_blob_init(&f->memo);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    tacet_ledger_close(f->ledger);
    tacet_blob_clear(&f->memo);
    test_rmdir(f->folder);
    free(f);
    return 0;
}

static void reopen(fixture *f) {
    tacet_ledger_close(f->ledger);
    f->ledger = NULL;
    assert_ok(tacet_ledger_open(&f->ledger, f->path, &f->settings, NULL));
}

static tacet_charge pure(double eps) {
    tacet_charge charge = test_charge(eps);
    charge.parameters = "{\"scale\":2}";
    charge.covered_fields = "age";
    charge.covered_records = "each row";
    return charge;
}

static tacet_charge uncovered(const char *row) {
    tacet_charge charge;
    tacet_charge_init(&charge);
    charge.what = "measured output";
    charge.to_whom = "the modeler";
    charge.parameters = row;
    charge.uncovered_fields = "y";
    return charge;
}

static tacet_status reserve(fixture *f, const char *ticket, tacet_charge charge) {
    tacet_error_clear(&f->err);
    return tacet_ledger_reserve(f->ledger, &f->entry, &f->memo, ticket, &charge, &f->err);
}

static tacet_ledger_totals totals(fixture *f) {
    tacet_ledger_totals t;
    assert_ok(tacet_ledger_total(f->ledger, &t, NULL));
    return t;
}

TEST(test_reserve_commit_memo) {
    fixture *f = *state;
    reopen(f);
    assert_ok(reserve(f, "t1", pure(0.25)));
    assert_false(f->entry.answered);
    assert_int_equal(f->entry.seq, 1);
    assert_int_equal(f->memo.size, 0);
    const tacet_entry first = f->entry;
    assert_ok(tacet_ledger_commit(f->ledger, &first, "42", 2, NULL, NULL));
    /* Again, in this handle and in the next: the stored answer, nothing charged. */
    for (int i = 0; i < 2; i++) {
        assert_ok(reserve(f, "t1", pure(0.25)));
        assert_true(f->entry.answered);
        assert_int_equal(f->entry.seq, first.seq);
        assert_memory_equal(f->entry.hash, first.hash, TACET_HASH_BYTES);
        assert_int_equal(f->memo.size, 2);
        assert_memory_equal(f->memo.data, "42", 2);
        reopen(f);
    }
    const tacet_ledger_totals t = totals(f);
    assert_close(t.spent, 0.25, 0);
    assert_close(t.eps, 0.25, 0);
    assert_close(t.delta, 0, 0);
    assert_int_equal(t.entries, 1);
    assert_int_equal(t.answered, 1);
    assert_int_equal(t.records, 3);
    assert_int_equal(t.uncovered, 0);
}

TEST(test_reserved_but_never_answered) {
    fixture *f = *state;
    reopen(f);
    assert_ok(reserve(f, "t1", pure(0.75)));
    const tacet_entry first = f->entry;
    reopen(f); /* as after a crash */
    assert_ok(reserve(f, "t1", pure(0.75)));
    assert_false(f->entry.answered);
    assert_memory_equal(&f->entry, &first, sizeof first);
    assert_close(totals(f).spent, 0.75, 0);
    assert_ok(tacet_ledger_commit(f->ledger, &f->entry, NULL, 0, NULL, NULL)); /* an empty answer is one */
    assert_ok(reserve(f, "t1", pure(0.75)));
    assert_true(f->entry.answered);
    assert_int_equal(f->memo.size, 0);
}

TEST(test_conflicts) {
    fixture *f = *state;
    unsigned char receipt[TACET_HASH_BYTES] = {1};
    reopen(f);
    assert_ok(reserve(f, "t1", pure(0.25)));
    const tacet_entry first = f->entry;
    tacet_charge c = pure(0.25); /* every field belongs to the question: test_entry.c */
    c.parameters = "{}";
    assert_status(reserve(f, "t1", c), TACET_CONFLICT);
    c = pure(0.25);
    c.seeded = true;
    assert_status(reserve(f, "t1", c), TACET_CONFLICT);
    c = pure(0.25);
    c.group = "g";
    c.part = "p";
    assert_status(reserve(f, "t1", c), TACET_CONFLICT);
    c = pure(0.25);
    tacet_charge_approx(&c, 0.25, 0.1);
    assert_status(reserve(f, "t1", c), TACET_CONFLICT);
    assert_int_equal(f->entry.seq, 0); /* nothing half-given */
    c = pure(0.25);
    c.group = ""; /* the same as none */
    assert_ok(reserve(f, "t1", c));

    assert_ok(tacet_ledger_commit(f->ledger, &first, "42", 2, receipt, NULL));
    assert_ok(tacet_ledger_commit(f->ledger, &first, "42", 2, receipt, NULL));
    assert_status(tacet_ledger_commit(f->ledger, &first, "43", 2, receipt, &f->err), TACET_CONFLICT);
    assert_status(tacet_ledger_commit(f->ledger, &first, "421", 3, receipt, NULL), TACET_CONFLICT);
    assert_status(tacet_ledger_commit(f->ledger, &first, "42", 2, NULL, NULL), TACET_CONFLICT);
    assert_int_equal(totals(f).records, 3);

    tacet_entry bad = first;
    bad.seq = 2; /* the answer's record */
    assert_status(tacet_ledger_commit(f->ledger, &bad, "42", 2, NULL, NULL), TACET_NOT_FOUND);
    bad.seq = 3;
    assert_status(tacet_ledger_commit(f->ledger, &bad, "42", 2, NULL, NULL), TACET_NOT_FOUND);
    bad.seq = 0;
    assert_status(tacet_ledger_commit(f->ledger, &bad, "42", 2, NULL, NULL), TACET_NOT_FOUND);
    bad = first;
    bad.hash[5] ^= 1;
    assert_status(tacet_ledger_commit(f->ledger, &bad, "42", 2, NULL, NULL), TACET_NOT_FOUND);
}

TEST(test_budget_basic) {
    fixture *f = *state;
    f->settings.delta = 1e-5;
    reopen(f);
    char ticket[16];
    for (int i = 0; i < 10; i++) { /* ten tenths are one */
        (void)snprintf(ticket, sizeof ticket, "t%d", i);
        assert_ok(reserve(f, ticket, pure(0.1)));
    }
    const uint64_t records = totals(f).records;
    assert_status(reserve(f, "more", pure(1e-9)), TACET_BUDGET);
    assert_non_null(strstr(f->err.message, "eps"));
    assert_int_equal(totals(f).records, records); /* nothing was written */
    assert_ok(reserve(f, "t3", pure(0.1)));       /* what was bought stays bought */
    assert_status(tacet_ledger_lookup(f->ledger, &f->entry, &f->memo, "more", NULL), TACET_NOT_FOUND);
}

TEST(test_budget_delta) {
    fixture *f = *state;
    f->settings.delta = 1e-5;
    reopen(f);
    tacet_charge c = pure(0.1);
    tacet_charge_approx(&c, 0.1, 0.6e-5);
    assert_ok(reserve(f, "a", c));
    assert_status(reserve(f, "b", c), TACET_BUDGET);
    assert_non_null(strstr(f->err.message, "delta"));
    tacet_charge_approx(&c, 0.1, 0.4e-5);
    assert_ok(reserve(f, "b", c));
    assert_close(totals(f).delta, 1e-5, 1e-18);
    assert_close(totals(f).spent_delta, 1e-5, 1e-18);
}

TEST(test_budget_gaussian) {
    fixture *f = *state;
    double mu = 0;
    f->settings.accounting = TACET_ACCOUNTING_GAUSSIAN;
    f->settings.delta = 1e-5;
    reopen(f);
    assert_ok(tacet_gdp_mu(&mu, 1, 1e-5, NULL));
    assert_close(totals(f).cap, mu, 0);
    assert_close(totals(f).eps, 0, 0);
    assert_close(totals(f).delta, 0, 0);
    tacet_charge c = pure(1);
    tacet_charge_gaussian(&c, mu / 2, INFINITY, 1);
    char ticket[16];
    for (int i = 0; i < 4; i++) { /* four of half the size, since squares add */
        (void)snprintf(ticket, sizeof ticket, "t%d", i);
        assert_ok(reserve(f, ticket, c));
    }
    tacet_charge_gaussian(&c, mu / 100, INFINITY, 1);
    assert_status(reserve(f, "more", c), TACET_BUDGET);
    assert_non_null(strstr(f->err.message, "mu"));
    assert_close(totals(f).spent, mu, 1e-15);
    assert_close(totals(f).eps, 1, 1e-6);
    assert_close(totals(f).delta, 1e-5, 0);
    tacet_charge_approx(&c, 0.1, 1e-6); /* has no mu */
    assert_status(reserve(f, "more", c), TACET_INVALID);
}

TEST(test_budget_zcdp) {
    fixture *f = *state;
    double rho = 0;
    f->settings.accounting = TACET_ACCOUNTING_ZCDP;
    f->settings.delta = 1e-5;
    reopen(f);
    assert_ok(tacet_zcdp_rho(&rho, 1, 1e-5, NULL));
    tacet_charge c = pure(1);
    tacet_charge_zcdp(&c, rho * 0.75, INFINITY, 1);
    assert_ok(reserve(f, "a", c));
    assert_status(reserve(f, "b", c), TACET_BUDGET);
    assert_non_null(strstr(f->err.message, "rho"));
    assert_ok(reserve(f, "b", pure(sqrt(rho / 4)))); /* eps^2/2 */
    assert_close(totals(f).spent, rho * 0.875, 1e-15);
    assert_true(totals(f).eps < 1 && totals(f).eps > 0.8);
}

TEST(test_groups) {
    fixture *f = *state;
    reopen(f);
    tacet_charge c = pure(0.5);
    char part[16];
    char ticket[32];
    c.group = "rows";
    for (int i = 0; i < 200; i++) { /* disjoint rows: the price of one */
        (void)snprintf(part, sizeof part, "%d", i);
        (void)snprintf(ticket, sizeof ticket, "row %d", i);
        c.part = part;
        assert_ok(reserve(f, ticket, c));
    }
    assert_close(totals(f).spent, 0.5, 1e-15);
    c = pure(0.25);
    c.group = "rows";
    c.part = "7"; /* the same row again: now it is the dearest */
    assert_ok(reserve(f, "again 7", c));
    assert_close(totals(f).spent, 0.75, 1e-15);
    c.part = "8";
    assert_ok(reserve(f, "again 8", c));
    assert_close(totals(f).spent, 0.75, 1e-15);
    c.group = "columns"; /* another partition concerns everybody again */
    assert_ok(reserve(f, "column", c));
    assert_close(totals(f).spent, 1, 1e-15);
    c.group = "rows";
    assert_status(reserve(f, "again 8 again", c), TACET_BUDGET);
    c.part = "9";
    assert_ok(reserve(f, "again 9", c));
    reopen(f); /* groups are rebuilt from the records */
    assert_close(totals(f).spent, 1, 1e-15);
    c.part = "7";
    assert_status(reserve(f, "again 7 again", c), TACET_BUDGET);
}

/* Where a name ends is part of it: "ab" and "c" are not "a" and "bc". */
TEST(test_names_of_groups) {
    fixture *f = *state;
    reopen(f);
    tacet_charge c = pure(0.25);
    c.group = "ab";
    c.part = "c";
    assert_ok(reserve(f, "one", c));
    c.group = "a";
    c.part = "bc";
    assert_ok(reserve(f, "other", c));
    assert_close(totals(f).spent, 0.5, 1e-15);
}

TEST(test_disclose) {
    fixture *f = *state;
    f->settings.uncovered_most = 2;
    reopen(f);
    tacet_charge c = uncovered("{\"row\":3}");
    assert_ok(tacet_ledger_disclose(f->ledger, &f->entry, &f->memo, "q1", &c, "1.5", 3, NULL));
    assert_false(f->entry.answered);
    assert_ok(tacet_ledger_disclose(f->ledger, &f->entry, &f->memo, "q1", &c, "9.9", 3, NULL));
    assert_true(f->entry.answered);
    assert_memory_equal(f->memo.data, "1.5", 3);
    const tacet_charge other = uncovered("{\"row\":4}");
    assert_status(tacet_ledger_disclose(f->ledger, &f->entry, &f->memo, "q1", &other, "1", 1, NULL), TACET_CONFLICT);
    /* Reserved first (a person must measure), disclosed later. */
    assert_ok(reserve(f, "q2", other));
    assert_ok(tacet_ledger_disclose(f->ledger, &f->entry, &f->memo, "q2", &other, "2", 1, NULL));
    assert_false(f->entry.answered);
    assert_status(tacet_ledger_disclose(f->ledger, &f->entry, &f->memo, "q3", &c, "3", 1, &f->err), TACET_BUDGET);
    assert_non_null(strstr(f->err.message, "uncovered"));
    const tacet_charge covered = pure(0.1);
    assert_status(tacet_ledger_disclose(f->ledger, &f->entry, &f->memo, "q4", &covered, "3", 1, NULL), TACET_INVALID);
    assert_status(tacet_ledger_disclose(f->ledger, &f->entry, &f->memo, "", &c, "3", 1, NULL), TACET_INVALID);
    assert_status(tacet_ledger_disclose(f->ledger, &f->entry, &f->memo, "q4", &c, NULL, 1, NULL), TACET_INVALID);
    const tacet_ledger_totals t = totals(f);
    assert_int_equal(t.uncovered, 2);
    assert_int_equal(t.answered, 2);
    assert_close(t.spent, 0, 0);
}

TEST(test_lookup) {
    fixture *f = *state;
    reopen(f);
    assert_status(tacet_ledger_lookup(f->ledger, &f->entry, &f->memo, "t", NULL), TACET_NOT_FOUND);
    assert_status(tacet_ledger_lookup(f->ledger, &f->entry, &f->memo, "", NULL), TACET_INVALID);
    assert_ok(reserve(f, "t", pure(0.5)));
    assert_ok(tacet_ledger_lookup(f->ledger, &f->entry, &f->memo, "t", NULL));
    assert_false(f->entry.answered);
    assert_ok(tacet_ledger_commit(f->ledger, &f->entry, "yes", 3, NULL, NULL));
    assert_ok(tacet_ledger_lookup(f->ledger, &f->entry, &f->memo, "t", NULL));
    assert_true(f->entry.answered);
    assert_memory_equal(f->memo.data, "yes", 3);
}

/* What an entry was asked, answered or not. */
TEST(test_what_was_asked) {
    fixture *f = *state;
    tacet_charge asked;
    OWN_BLOB tacet_blob texts = {0};
    reopen(f);
    assert_ok(tacet_blob_append(&texts, "old", 4, NULL));
    assert_status(tacet_ledger_charge(f->ledger, &asked, &texts, "t", &f->err), TACET_NOT_FOUND);
    assert_int_equal(texts.size, 0);
    assert_true(asked.what == NULL && asked.claim == TACET_CLAIM_UNCOVERED);
    assert_status(tacet_ledger_charge(f->ledger, &asked, &texts, "", NULL), TACET_INVALID);
    tacet_charge charge = pure(0.5);
    charge.what = "model of 12 rows";
    charge.parameters = "{\"records\":12}";
    charge.group = "g";
    charge.part = "p";
    assert_ok(reserve(f, "t", charge));
    for (int i = 0; i < 2; i++) {
        assert_ok(tacet_ledger_charge(f->ledger, &asked, &texts, "t", NULL));
        assert_true(tacet__charge_equal(&asked, &charge));
        assert_string_equal(asked.what, charge.what);
        assert_string_equal(asked.parameters, charge.parameters);
        assert_ok(tacet_ledger_lookup(f->ledger, &f->entry, &f->memo, "t", NULL));
        assert_ok(tacet_ledger_commit(f->ledger, &f->entry, "yes", 3, NULL, NULL));
        reopen(f);
    }
    assert_close(totals(f).spent, 0.5, 0);
}

TEST(test_settings) {
    fixture *f = *state;
    OWN_LEDGER tacet_ledger *l = NULL;
    tacet_ledger_settings s = f->settings;
    assert_status(tacet_ledger_open(&l, NULL, &s, NULL), TACET_INVALID);
    assert_status(tacet_ledger_open(&l, "", &s, NULL), TACET_INVALID);
    assert_status(tacet_ledger_open(&l, f->path, NULL, NULL), TACET_INVALID);
    const double bad_eps[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        s.eps = bad_eps[i];
        assert_status(tacet_ledger_open(&l, f->path, &s, NULL), TACET_INVALID);
    }
    const double bad_delta[] = {1, -1e-9, NAN, INFINITY};
    s = f->settings;
    for (size_t i = 0; i < 4; i++) {
        s.delta = bad_delta[i];
        assert_status(tacet_ledger_open(&l, f->path, &s, NULL), TACET_INVALID);
    }
    s = f->settings;
    s.accounting = (tacet_accounting)9;
    assert_status(tacet_ledger_open(&l, f->path, &s, NULL), TACET_INVALID);
    s.accounting = TACET_ACCOUNTING_GAUSSIAN; /* with delta 0 there is no mu */
    assert_status(tacet_ledger_open(&l, f->path, &s, NULL), TACET_INVALID);
    s = f->settings;
    s.create = false;
    assert_status(tacet_ledger_open(&l, f->path, &s, NULL), TACET_NOT_FOUND);
    s.create = true;
    s.use_stored = true;
    assert_status(tacet_ledger_open(&l, f->path, &s, NULL), TACET_NOT_FOUND);
    assert_int_equal(access(f->path, F_OK), -1);
    assert_null(l);

    reopen(f);
    if (!ledger_is_shared()) {
        struct stat st;
        assert_int_equal(stat(f->path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
#define OTHER(field, value)                                                                                            \
    s = f->settings;                                                                                                   \
    s.field = (value);                                                                                                 \
    assert_status(tacet_ledger_open(&l, f->path, &s, NULL), TACET_CONFLICT);                                           \
    assert_null(l)
    OTHER(eps, 2);
    OTHER(delta, 1e-5);
    OTHER(uncovered_most, 5);
    s = f->settings;
    s.accounting = TACET_ACCOUNTING_GAUSSIAN;
    s.delta = 1e-5;
    assert_status(tacet_ledger_open(&l, f->path, &s, NULL), TACET_CONFLICT);
    tacet_ledger_settings_defaults(&s);
    s.use_stored = true;
    assert_ok(tacet_ledger_open(&l, f->path, &s, NULL));
}

TEST(test_bad_charges) {
    fixture *f = *state;
    char longer[TACET_TICKET_MOST + 2];
    reopen(f);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_status(reserve(f, NULL, pure(0.1)), TACET_INVALID);
    assert_status(reserve(f, "", pure(0.1)), TACET_INVALID);
    assert_status(reserve(f, longer, pure(0.1)), TACET_INVALID);
    assert_status(reserve(f, "a\nb", pure(0.1)), TACET_INVALID);
    assert_status(reserve(f, "a\xff", pure(0.1)), TACET_INVALID);
    longer[TACET_TICKET_MOST] = '\0';
    assert_ok(reserve(f, longer, pure(0.1)));
    assert_status(tacet_ledger_reserve(f->ledger, &f->entry, &f->memo, "t", NULL, NULL), TACET_INVALID);
    assert_status(reserve(f, "t", pure(0)), TACET_INVALID);
    assert_status(reserve(f, "t", pure(-1)), TACET_INVALID);
    assert_status(reserve(f, "t", pure(NAN)), TACET_INVALID);
    assert_status(reserve(f, "t", pure(INFINITY)), TACET_INVALID);
    assert_status(tacet_ledger_commit(f->ledger, &f->entry, "x", (size_t)1 << 29, NULL, NULL), TACET_INVALID);
    assert_status(tacet_ledger_commit(f->ledger, &f->entry, NULL, 1, NULL, NULL), TACET_INVALID);
    assert_int_equal(totals(f).entries, 1);
}

TEST(test_two_handles) {
    fixture *f = *state;
    OWN_LEDGER tacet_ledger *other = NULL;
    tacet_entry entry;
    reopen(f);
    assert_ok(tacet_ledger_open(&other, f->path, &f->settings, NULL));
    const tacet_charge c = pure(0.75);
    assert_ok(tacet_ledger_reserve(other, &entry, &f->memo, "theirs", &c, NULL));
    /* The first handle knows of it without being told: budget, ticket, answer. */
    assert_status(reserve(f, "mine", pure(0.75)), TACET_BUDGET);
    assert_ok(reserve(f, "theirs", c));
    assert_memory_equal(&f->entry, &entry, sizeof entry);
    assert_ok(tacet_ledger_commit(other, &entry, "one", 3, NULL, NULL));
    assert_status(tacet_ledger_commit(f->ledger, &entry, "two", 3, NULL, NULL), TACET_CONFLICT);
    assert_ok(reserve(f, "theirs", c));
    assert_true(f->entry.answered);
    assert_memory_equal(f->memo.data, "one", 3);
    assert_int_equal(totals(f).records, 3);
}

/* Who went on where another one stood still is not disturbed when that one wakes up. */
TEST(test_taken_over) {
    fixture *f = *state;
    tacet_ledger *other = NULL;
    tacet_entry entry;
    const tacet_charge c = pure(0.25);
    reopen(f);
    assert_ok(tacet_ledger_open(&other, f->path, &f->settings, NULL));
    assert_ok(tacet_ledger_take(f->ledger, NULL));
    assert_ok(reserve(f, "t1", c));
    assert_ok(tacet_ledger_commit(f->ledger, &f->entry, "one", 3, NULL, NULL));
    entry = f->entry;
    assert_ok(tacet_ledger_take(other, NULL));
    const uint64_t records = totals(f).records; /* may still read */
    assert_status(reserve(f, "t2", c), TACET_BUSY);
    assert_non_null(strstr(f->err.message, "taken"));
    assert_status(tacet_ledger_commit(f->ledger, &entry, "two", 3, NULL, NULL), TACET_BUSY);
    assert_int_equal(totals(f).records, records);
    /* It may take it back, and a handle that never took it writes as ever. */
    assert_ok(tacet_ledger_take(f->ledger, NULL));
    assert_ok(reserve(f, "t2", c));
    assert_status(tacet_ledger_reserve(other, &entry, &f->memo, "t3", &c, NULL), TACET_BUSY);
    tacet_ledger_close(other);
    assert_ok(tacet_ledger_open(&other, f->path, &f->settings, NULL));
    assert_ok(tacet_ledger_reserve(other, &entry, &f->memo, "t3", &c, NULL));
    tacet_ledger_close(other);
}

TEST(test_fork) {
    fixture *f = *state;
    reopen(f);
    const pid_t child = fork();
    if (child == 0) {
        const tacet_charge c = pure(0.5);
        tacet_ledger_totals t;
        const bool refused = tacet_ledger_reserve(f->ledger, &f->entry, &f->memo, "t", &c, NULL) == TACET_STATE &&
                             tacet_ledger_total(f->ledger, &t, NULL) == TACET_STATE;
        _exit(refused ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(test_seeded_is_counted) {
    fixture *f = *state;
    reopen(f);
    tacet_charge c = pure(0.5);
    c.seeded = true;
    assert_ok(reserve(f, "t", c));
    assert_int_equal(totals(f).seeded, 1);
}

TEST_EACH(setup, teardown)
