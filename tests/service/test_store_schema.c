/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_schema.c - versions of the tables: a store of another version, and a foreign one, are refused. */
#include "service/store_fixture.h"

#include <unistd.h>

static tacet_status try_open(tacet__studies **out, bool create, tacet_error *err) {
    const tacet__studies_settings settings = {
        .store = store_place, .open_only = true, .create = create, .busy_ms = 500};
    return tacet__studies_open(out, &settings, err);
}

TEST(test_other_versions_and_foreign) {
    tacet__studies *s = NULL;
    tacet_error err = {TACET_OK, ""};
    assert_status(try_open(&s, false, &err), TACET_NOT_FOUND);
    s = open_store();
    tacet__studies_close(s);
    const int64_t version = raw_number(false, "SELECT version FROM store_version");
    for (int64_t by = 1; by <= 9; by += 8) {
        char sql[64];
        (void)snprintf(sql, sizeof sql, "UPDATE store_version SET version = %lld", (long long)(version + by));
        raw_sql(false, sql);
        tacet_error_clear(&err);
        assert_status(try_open(&s, true, &err), TACET_UNSUPPORTED);
        assert_non_null(strstr(err.message, "use the program that made it"));
        (void)snprintf(sql, sizeof sql, "UPDATE store_version SET version = %lld", (long long)version);
        raw_sql(false, sql);
    }
    raw_sql(false, "UPDATE store_version SET side = 1");
    assert_status(try_open(&s, true, NULL), TACET_CORRUPT);
    raw_sql(false, "UPDATE store_version SET side = 2; ALTER TABLE shown RENAME TO gone");
    assert_status(try_open(&s, true, NULL), TACET_CORRUPT);
    raw_sql(false, "ALTER TABLE gone RENAME TO shown");
    assert_ok(try_open(&s, false, NULL));
    tacet__studies_close(s);
}

TEST(test_settings) {
    tacet__studies *s = NULL;
    tacet__studies_settings settings = {.create = true};
    assert_status(tacet__studies_open(&s, &settings, NULL), TACET_INVALID);
    settings.store = "";
    assert_status(tacet__studies_open(&s, &settings, NULL), TACET_INVALID);
    settings.open_store = store_place;
    assert_status(tacet__studies_open(&s, &settings, NULL), TACET_INVALID);
    settings.store = "postgresql:///x?host=/nowhere#schema";
    settings.open_store = NULL;
    assert_status(tacet__studies_open(&s, &settings, NULL), TACET_INVALID);
    settings.store = "postgresql:///x?host=/nowhere";
    assert_status(tacet__studies_open(&s, &settings, NULL), TACET_IO);
    settings.store = "/nowhere/at/all";
    assert_status(tacet__studies_open(&s, &settings, NULL), TACET_NOT_FOUND);
    assert_null(s);
    settings.store = store_place;
    assert_ok(tacet__studies_init(&settings, NULL));
    assert_ok(tacet__studies_init(&settings, NULL));
    tacet__studies_close(open_with(false, false, 0));
}

TEST_EACH(store_setup, store_teardown)
