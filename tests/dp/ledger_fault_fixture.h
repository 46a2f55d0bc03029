/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_fault_fixture.h - a ledger in a temporary folder, over a file system that fails on demand. */
#pragma once

#include "support/fault_vfs.h"
#include "support/gate.h"
#include "support/test.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <tacet/dp/ledger.h>

static char folder[256];
static char path[300];
static tacet_error err;
static tacet_entry entry;
static tacet_blob memo;
static uint64_t busy_ms = 50;

static inline int setup(void **state) {
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    (void)snprintf(path, sizeof path, "%s/ledger", folder);
    tacet_error_clear(&err);
    tacet_blob_init(&memo);
    return 0;
}

static inline int teardown(void **state) {
    fault_vfs_arm(0, 0, FAULT_ERROR);
    (void)chmod(folder, 0700);
    test_rmdir(folder);
    tacet_blob_clear(&memo);
    return 0;
}

static inline tacet_ledger_settings settings(void) {
    tacet_ledger_settings s;
    tacet_ledger_settings_defaults(&s);
    s.accounting = TACET_ACCOUNTING_BASIC;
    s.eps = 10;
    s.vfs = "fault";
    s.busy_ms = busy_ms;
    return s;
}

static inline tacet_ledger *open_ledger(void) {
    const tacet_ledger_settings s = settings();
    tacet_ledger *ledger = NULL;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    return ledger;
}

static inline tacet_charge charge(void) {
    tacet_charge c = test_charge(0.001);
    c.group = "rows";
    c.part = "1";
    return c;
}

/* Into `entry` and `memo`. */
static inline tacet_status reserve(tacet_ledger *ledger, const char *ticket) {
    const tacet_charge c = charge();
    tacet_error_clear(&err);
    return tacet_ledger_reserve(ledger, &entry, &memo, ticket, &c, &err);
}

static inline void sql(const char *statements) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}
