/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_schema.c - versions of the tables: an old store is brought up and keeps what it had, a newer one and a
 * foreign one are refused. */
#include "service/store_fixture.h"

#include <unistd.h>

/* The open store as its first version made it, with a study, an event and a token. The text stays as it was: a
 * published step that changes makes this test fail or lets two stores of one version differ. */
static const char *const FIRST_VERSION[] = {
    "CREATE TABLE store_version(version INTEGER NOT NULL, side INTEGER NOT NULL) STRICT",
    "INSERT INTO store_version VALUES(1, 2)",
    ("CREATE TABLE study(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, model INTEGER NOT NULL, state INTEGER "
     "NOT NULL, index_public INTEGER NOT NULL, created INTEGER NOT NULL, head INTEGER NOT NULL, hash BLOB NOT NULL, "
     "snapshot INTEGER NOT NULL, suggested INTEGER NOT NULL, observed INTEGER NOT NULL, released INTEGER NOT NULL, "
     "secret BLOB NOT NULL, definition BLOB NOT NULL) STRICT"),
    ("CREATE TABLE event(place INTEGER PRIMARY KEY, kind INTEGER NOT NULL, time INTEGER NOT NULL, of_seq INTEGER NOT "
     "NULL, number INTEGER NOT NULL, idx INTEGER NOT NULL, value INTEGER NOT NULL, client_key BLOB, body BLOB NOT "
     "NULL, "
     "hash BLOB NOT NULL) STRICT"),
    "CREATE TABLE observed(place INTEGER PRIMARY KEY, seq INTEGER NOT NULL, value INTEGER NOT NULL) STRICT",
    "CREATE TABLE client_key(hash BLOB PRIMARY KEY, place INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE snapshot(place INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
    "CREATE TABLE release(place INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
    "CREATE TABLE shown(place INTEGER PRIMARY KEY, idx INTEGER NOT NULL, observed INTEGER NOT NULL) STRICT",
    ("CREATE TABLE token(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, role INTEGER NOT NULL, study TEXT NOT "
     "NULL, "
     "created INTEGER NOT NULL) STRICT"),
};

/* The same statement as PostgreSQL spells it. */
static void spell(char *out, size_t size, const char *sql) {
    static const char *const PAIRS[][2] = {
        {"INTEGER", "BIGINT"}, {"BLOB", "BYTEA"}, {" STRICT, WITHOUT ROWID", ""}, {" STRICT", ""}};
    size_t used = 0;
    while (*sql != '\0' && used + 16 < size) {
        bool replaced = false;
        for (size_t i = 0; on_postgres() && !replaced && i < 4; i++) {
            const size_t length = strlen(PAIRS[i][0]);
            if (strncmp(sql, PAIRS[i][0], length) == 0) {
                used += (size_t)snprintf(out + used, size - used, "%s", PAIRS[i][1]);
                sql += length;
                replaced = true;
            }
        }
        if (!replaced) {
            out[used++] = *sql++;
        }
    }
    out[used] = '\0';
}

static tacet_status try_open(tacet__studies **out, bool create, tacet_error *err) {
    const tacet__studies_settings settings = {
        .store = store_place, .open_only = true, .create = create, .busy_ms = 500};
    return tacet__studies_open(out, &settings, err);
}

static void test_old_version(void **state) {
    const unsigned char hash[32] = {7};
    tacet__studies *s = NULL;
    tacet_error err = {TACET_OK, ""};
    tacet__token token;
    tacet__study study;
    char sql[1200];
    /* Made by the store and emptied, so that file, mode and schema are there. */
    s = open_store();
    tacet__studies_close(s);
    raw_sql(false, "DROP TABLE holder; DROP TABLE definition; DROP TABLE IF EXISTS recent"); /* of later ones */
    for (size_t i = 0; i < sizeof FIRST_VERSION / sizeof FIRST_VERSION[0]; i++) {
        char name[64];
        if (sscanf(FIRST_VERSION[i], "CREATE TABLE %63[a-z_]", name) == 1) {
            (void)snprintf(sql, sizeof sql, "DROP TABLE %s", name);
            raw_sql(false, sql);
        }
        spell(sql, sizeof sql, FIRST_VERSION[i]);
        raw_sql(false, sql);
    }
    tacet__db *db = raw_db(false);
    tacet__query *query = NULL;
    assert_ok(tacet__db_prepare(db, &query,
                                "INSERT INTO token(id, hash, role, study, created) VALUES(4, ?1, 2, ?2, 99)", NULL));
    tacet__query_bind_bytes(query, 1, hash, sizeof hash);
    tacet__query_bind_text(query, 2, "old", 3);
    assert_ok(tacet__query_run(query, NULL));
    tacet__query_free(query);
    assert_ok(
        tacet__db_prepare(db, &query,
                          "INSERT INTO study(number, name, model, state, index_public, created, head, hash, "
                          "snapshot, suggested, observed, released, secret, definition) VALUES(1, ?2, 1, 1, 1, 5, "
                          "0, ?1, 0, 0, 0, 0, ?1, ?1)",
                          NULL));
    tacet__query_bind_bytes(query, 1, hash, 16);
    tacet__query_bind_text(query, 2, "old", 3);
    assert_ok(tacet__query_run(query, NULL));
    tacet__query_free(query);
    tacet__db_close(db);

    assert_status(try_open(&s, false, &err), TACET_STATE);
    assert_non_null(strstr(err.message, "version 1, not 9"));
    assert_null(s);
    tacet_error_clear(&err);
    const tacet_status migrated = try_open(&s, true, &err);
    test_assert_status(migrated, TACET_OK, &err, __FILE__, __LINE__);
    assert_int_equal(raw_number(false, "SELECT version FROM store_version"), 9);
    assert_int_equal(raw_number(false, "SELECT count(*) FROM token WHERE label = '' AND created = 99 AND expires = 0"),
                     1);
    assert_status(tacet__studies_check_token(s, &token, "x", NULL), TACET_NOT_FOUND);
    tacet__study_init(&study);
    assert_ok(tacet__studies_get(s, &study, "old", NULL));
    assert_int_equal(study.created, 5);
    tacet__study_clear(&study);
    tacet__studies_close(s);
    assert_ok(try_open(&s, false, NULL)); /* and stays so */
    tacet__studies_close(s);
}

static void test_newer_and_foreign(void **state) {
    tacet__studies *s = NULL;
    tacet_error err = {TACET_OK, ""};
    assert_status(try_open(&s, false, &err), TACET_NOT_FOUND);
    s = open_store();
    tacet__studies_close(s);
    raw_sql(false, "UPDATE store_version SET version = 1000");
    tacet_error_clear(&err);
    assert_status(try_open(&s, true, &err), TACET_UNSUPPORTED);
    assert_non_null(strstr(err.message, "newer"));
    raw_sql(false, "UPDATE store_version SET version = 9, side = 1");
    assert_status(try_open(&s, true, NULL), TACET_CORRUPT);
    raw_sql(false, "UPDATE store_version SET side = 2; ALTER TABLE shown RENAME TO gone");
    assert_status(try_open(&s, true, NULL), TACET_CORRUPT);
    raw_sql(false, "ALTER TABLE gone RENAME TO shown");
    assert_ok(try_open(&s, false, NULL));
    tacet__studies_close(s);
}

/* A migration that cannot finish leaves the old version as it was. */
static void test_half_a_migration(void **state) {
    tacet__studies *s = open_store();
    tacet__studies_close(s);
    raw_sql(false, "UPDATE store_version SET version = 1"); /* but the label is there: the step fails */
    assert_status(try_open(&s, true, NULL), TACET_STATE);
    assert_null(s);
    assert_int_equal(raw_number(false, "SELECT version FROM store_version"), 1);
    raw_sql(false, "UPDATE store_version SET version = 9");
    assert_ok(try_open(&s, false, NULL));
    tacet__studies_close(s);
}

static void test_settings(void **state) {
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_old_version, store_setup, store_teardown),
        cmocka_unit_test_setup_teardown(test_newer_and_foreign, store_setup, store_teardown),
        cmocka_unit_test_setup_teardown(test_half_a_migration, store_setup, store_teardown),
        cmocka_unit_test_setup_teardown(test_settings, store_setup, store_teardown),
    };
    return cmocka_run_group_tests_name("store schema", tests, NULL, NULL);
}
