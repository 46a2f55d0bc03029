/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_place.h - where a test's ledger is: a file in its folder, or, when TACET_TEST_POSTGRES has a URL, a schema of
 * that database, empty at first. tests/e2e/postgres_*.sh run the same programs against both. */
#pragma once

#include "support/test.h"

#include "io/db/db.h"

static inline bool ledger_is_shared(void) {
    return getenv("TACET_TEST_POSTGRES") != NULL;
}

/* One or more statements, as whoever owns the database. */
static inline void shared_sql(const char *sql) {
    const tacet__db_settings settings = {.busy_ms = 5000};
    tacet__db *db = NULL;
    tacet_error err = {TACET_OK, ""};
    assert_ok(tacet__db_open(&db, getenv("TACET_TEST_POSTGRES"), &settings, NULL));
    test_assert_status(tacet__db_exec(db, sql, &err), TACET_OK, &err, __FILE__, __LINE__);
    tacet__db_close(db);
}

static inline void ledger_place(char *out, size_t size, const char *folder) {
    if (ledger_is_shared()) {
        (void)snprintf(out, size, "%s#tacet_ledger_test", getenv("TACET_TEST_POSTGRES"));
        shared_sql("DROP SCHEMA IF EXISTS tacet_ledger_test CASCADE");
    } else {
        (void)snprintf(out, size, "%s/ledger", folder);
    }
}
