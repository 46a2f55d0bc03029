/* SPDX-License-Identifier: Apache-2.0 */
/* store_fixture.h - a fresh, empty store for each test: a folder, or, when TACET_TEST_POSTGRES has a URL, the two
 * schemas of that database. tests/e2e/postgres_store.sh and its neighbours run the same programs against both. */
#pragma once

#include "support/test.h"

#include "io/db/db.h"
#include "service/open/store/store.h"

#define OWN_STUDIES __attribute__((cleanup(test_own_studies)))
#define OWN_STUDY_ROW __attribute__((cleanup(tacet__study_clear)))
TEST_OWNS(studies, tacet__studies *, tacet__studies_close)

static char store_folder[256]; /* "" with PostgreSQL */
static char store_place[1024];

static inline bool on_postgres(void) {
    return getenv("TACET_TEST_POSTGRES") != NULL;
}

static inline tacet__db *raw_db(bool trusted) {
    tacet__db *db = NULL;
    const tacet__db_settings settings = {.busy_ms = 2000};
    OWN_TEXT char *path =
        test_text(on_postgres() ? "%s#tacet_%s" : "%s/%s.db", store_place, trusted ? "trusted" : "open");
    assert_ok(tacet__db_open(&db, path, &settings, NULL));
    return db;
}

/* Behind the store's back. */
static inline void raw_sql(bool trusted, const char *sql) {
    tacet__db *db = raw_db(trusted);
    tacet_error err = {TACET_OK, ""};
    assert_done(tacet__db_exec(db, sql, &err));
    tacet__db_close(db);
}

static inline int64_t raw_number(bool trusted, const char *sql) {
    tacet__db *db = raw_db(trusted);
    tacet__query *query = NULL;
    bool row = false;
    assert_ok(tacet__db_prepare(db, &query, sql, NULL));
    assert_ok(tacet__query_step(query, &row, NULL));
    assert_true(row);
    const int64_t value = tacet__query_int(query, 0);
    tacet__query_free(query);
    tacet__db_close(db);
    return value;
}

static inline int store_setup(void **state) {
    if (on_postgres()) {
        const tacet__db_settings settings = {.busy_ms = 2000};
        tacet__db *db = NULL;
        (void)snprintf(store_place, sizeof store_place, "%s", getenv("TACET_TEST_POSTGRES"));
        assert_ok(tacet__db_open(&db, store_place, &settings, NULL));
        assert_ok(tacet__db_exec(db,
                                 "DO $$ DECLARE s text; BEGIN FOR s IN SELECT nspname FROM pg_namespace WHERE nspname "
                                 "LIKE 'tacet%' LOOP EXECUTE format('DROP SCHEMA %I CASCADE', s); END LOOP; END $$",
                                 NULL));
        tacet__db_close(db);
        return 0;
    }
    (void)snprintf(store_folder, sizeof store_folder, "%s", test_mkdir());
    (void)snprintf(store_place, sizeof store_place, "%s/store", store_folder);
    return 0;
}

static inline int store_teardown(void **state) {
    if (!on_postgres()) {
        test_rmdir(store_folder);
    }
    return 0;
}

static inline tacet__studies *open_with(bool open_only, bool create, uint64_t busy_ms) {
    const tacet__studies_settings settings = {
        .store = store_place, .open_only = open_only, .create = create, .busy_ms = busy_ms};
    tacet__studies *studies = NULL;
    tacet_error err = {TACET_OK, ""};
    assert_done(tacet__studies_open(&studies, &settings, &err));
    return studies;
}

static inline tacet__studies *open_store(void) {
    return open_with(false, true, 5000);
}

static inline tacet__event suggest_event(const char *key, const char *body, uint64_t number, uint64_t index) {
    return (tacet__event){.kind = TACET__EVENT_SUGGEST,
                          .number = number,
                          .index = index,
                          .key = key,
                          .key_size = key == NULL ? 0 : strlen(key),
                          .body = body,
                          .body_size = body == NULL ? 0 : strlen(body)};
}

static inline tacet__event observe_event(uint64_t of, double value) {
    return (tacet__event){.kind = TACET__EVENT_OBSERVE, .of = of, .value = value, .index = TACET__NO_INDEX};
}
