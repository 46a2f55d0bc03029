/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_view_fixture.h - a ledger in a temporary folder, written by the gate, read by the open ring. */
#pragma once

#include "dp/open/ledger_view.h"
#include "support/gate.h"
#include "support/test.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <tacet/dp/ledger.h>
#include <unistd.h>

static char folder[256];
static char path[300];

static inline int setup(void **state) {
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    (void)snprintf(path, sizeof path, "%s/ledger", folder);
    return 0;
}

static inline int teardown(void **state) {
    (void)chmod(folder, 0700);
    test_rmdir(folder);
    return 0;
}

static inline void add(tacet_ledger *ledger, const char *ticket, const tacet_charge *charge, const char *answer) {
    tacet_entry entry;
    OWN_BLOB tacet_blob memo = {0};
    assert_ok(tacet_ledger_reserve(ledger, &entry, &memo, ticket, charge, NULL));
    if (answer != NULL) {
        assert_ok(tacet_ledger_commit(ledger, &entry, answer, strlen(answer), NULL, NULL));
    }
}

static inline tacet_status verify(tacet__ledger_report *report, const unsigned char *noted, tacet_error *err) {
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

/* A ledger of some size, closed, so that all of it is in the one file. */
static inline void make_ledger(unsigned char head[TACET_HASH_BYTES]) {
    OWN_LEDGER tacet_ledger *ledger = test_ledger(path, TACET_ACCOUNTING_BASIC, 3);
    tacet_ledger_totals totals;
    for (int i = 0; i < 5; i++) {
        const tacet_charge c = test_charge(0.5);
        OWN_TEXT char *ticket = test_text("t%d", i);
        add(ledger, ticket, &c, i == 2 ? NULL : "an answer");
    }
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    memcpy(head, totals.head, TACET_HASH_BYTES);
}

static inline int sql(const char *statements) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    const int code = sqlite3_exec(db, statements, NULL, NULL, NULL);
    (void)sqlite3_close(db);
    return code;
}

/* Writer and reader both refuse, both say CORRUPT, and the file is left as it was. */
static inline void assert_refused(const char *what) {
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
