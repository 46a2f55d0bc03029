/* SPDX-License-Identifier: Apache-2.0 */
/* test_postgres_roles.c - the two roles: what each may do is enough to serve, and the open one cannot read what is
 * trusted. support/pgcluster.sh gives the database. */
#include "service/store_fixture.h"

static char trusted_url[1024];
static char open_url[1024];
static char other_url[1024];

static void url_as(char *out, size_t size, const char *role) {
    const char *url = getenv("TACET_TEST_POSTGRES");
    const char *user = strstr(url, "user=postgres");
    assert_non_null(user);
    (void)snprintf(out, size, "%.*suser=%s%s", (int)(user - url), url, role, user + strlen("user=postgres"));
}

static tacet_status try_sql(const char *url, const char *schema, const char *sql) {
    const tacet__db_settings settings = {.busy_ms = 1000};
    tacet__db *db = NULL;
    OWN_TEXT char *place = test_text("%s#%s", url, schema);
    assert_ok(tacet__db_open(&db, place, &settings, NULL));
    const tacet_status status = tacet__db_exec(db, sql, NULL);
    tacet__db_close(db);
    return status;
}

static int setup(void **state) {
    (void)store_setup(state);
    url_as(trusted_url, sizeof trusted_url, "tacet_trusted");
    url_as(open_url, sizeof open_url, "tacet_open");
    url_as(other_url, sizeof other_url, "tacet_other");
    const tacet__studies_settings settings = {.store = store_place};
    assert_ok(tacet__studies_init(&settings, NULL));
    assert_ok(tacet__studies_init(&settings, NULL)); /* harmless */
    assert_ok(try_sql(store_place, "public",
                      "ALTER ROLE tacet_trusted LOGIN; ALTER ROLE tacet_open LOGIN; DROP ROLE IF EXISTS tacet_other;"
                      "CREATE ROLE tacet_other LOGIN"));
    return 0;
}

static tacet__studies *serve(tacet__study *study) {
    const tacet__studies_settings settings = {
        .store = trusted_url, .open_store = open_url, .create = true, .busy_ms = 1000};
    tacet__studies *s = NULL;
    tacet_error err = {TACET_OK, ""};
    assert_done(tacet__studies_open(&s, &settings, &err));
    tacet__study_init(study);
    assert_ok(tacet__studies_add(s, study, "a", TACET__STUDY_CENTRAL, false, "{}", 2, NULL));
    return s;
}

TEST(test_enough) {
    OWN_STUDY_ROW tacet__study study;
    OWN_STUDY_ROW tacet__study seen;
    OWN_STUDIES tacet__studies *s = serve(&study);
    OWN_BLOB tacet_blob blob;
    uint64_t seq = 0;
    char text[TACET__STUDIES_TOKEN_TEXT];
    tacet__token token;
    tacet_blob_init(&blob);
    for (int i = 0; i < 3; i++) {
        tacet__event event = suggest_event(i == 0 ? "key" : NULL, "secret", 1, 1);
        tacet__event release = {.kind = TACET__EVENT_RELEASE, .body = "r", .body_size = 1, .index = TACET__NO_INDEX};
        assert_ok(tacet__studies_begin(s, &study, NULL));
        assert_ok(tacet__studies_append(s, &study, &event, NULL));
        tacet__event observe = observe_event(event.seq, 0.5);
        assert_ok(tacet__studies_append(s, &study, &observe, NULL));
        assert_ok(tacet__studies_append(s, &study, &release, NULL));
        assert_ok(tacet__studies_put_snapshot(s, &study, "state", 5, NULL));
        assert_ok(tacet__studies_commit(s, NULL));
        assert_ok(tacet__studies_project(s, &study, NULL));
    }
    assert_ok(tacet__studies_get_snapshot(s, &study, &blob, &seq, NULL));
    assert_int_equal(seq, 9);
    assert_ok(tacet__studies_add_token(s, text, TACET__TOKEN_OWNER, NULL, NULL, 0, 0, 0, NULL));
    assert_ok(tacet__studies_check_token(s, &token, text, NULL));
    assert_ok(tacet__studies_drop_token(s, token.id, NULL));
    assert_ok(tacet__studies_archive(s, "a", NULL));

    /* The collector's half: a local study under the open role alone. */
    const tacet__studies_settings settings = {.open_store = open_url, .open_only = true, .create = true};
    tacet__studies *o = NULL;
    tacet__study_init(&seen);
    assert_ok(tacet__studies_open(&o, &settings, NULL));
    assert_ok(tacet__studies_add(o, &seen, "b", TACET__STUDY_LOCAL, true, "{}", 2, NULL));
    assert_ok(tacet__studies_begin(o, &seen, NULL));
    tacet__event event = suggest_event("key", "public", 1, 1);
    assert_ok(tacet__studies_append(o, &seen, &event, NULL));
    assert_ok(tacet__studies_put_snapshot(o, &seen, "state", 5, NULL));
    assert_ok(tacet__studies_commit(o, NULL));
    assert_ok(tacet__studies_get(o, &seen, "a", NULL));
    assert_int_equal(seen.head, 9);
    tacet__studies_close(o);

    /* One URL for both is allowed, too: that of the trusted role. */
    const tacet__studies_settings both = {.store = trusted_url};
    assert_ok(tacet__studies_open(&o, &both, NULL));
    tacet__studies_close(o);
}

TEST(test_not_more) {
    static const char *const TABLES[] = {"study",    "event",   "observed",     "client_key",
                                         "snapshot", "release", "store_version"};
    OWN_STUDY_ROW tacet__study study;
    OWN_STUDIES tacet__studies *s = serve(&study);
    char sql[128];
    assert_non_null(s);
    /* A ledger, as the trusted role makes it. */
    const tacet__db_settings making = {.create = true, .busy_ms = 1000};
    tacet__db *db = NULL;
    OWN_TEXT char *place = test_text("%s#tacet_ledger_a", trusted_url);
    assert_ok(tacet__db_open(&db, place, &making, NULL));
    assert_ok(tacet__db_begin(db, true, NULL));
    assert_ok(tacet__db_exec(db, "CREATE TABLE record(seq BIGINT)", NULL));
    assert_ok(tacet__db_commit(db, NULL));
    tacet__db_close(db);

    for (size_t i = 0; i < sizeof TABLES / sizeof TABLES[0]; i++) {
        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM tacet_trusted.%s", TABLES[i]);
        assert_ok(try_sql(trusted_url, "tacet_trusted", sql));
        assert_status(try_sql(open_url, "tacet_open", sql), TACET_DENIED);
        assert_status(try_sql(other_url, "public", sql), TACET_DENIED);
        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM tacet_open.%s", TABLES[i]);
        assert_ok(try_sql(open_url, "tacet_open", sql));
        assert_status(try_sql(other_url, "public", sql), TACET_DENIED);
    }
    assert_status(try_sql(open_url, "tacet_open", "SELECT count(*) FROM tacet_ledger_a.record"), TACET_DENIED);
    assert_status(try_sql(open_url, "tacet_open", "SET ROLE tacet_trusted"), TACET_DENIED);
    assert_status(try_sql(open_url, "tacet_open", "CREATE TABLE tacet_open.x(a BIGINT)"), TACET_DENIED);
    /* The log can be appended to and read, by nobody changed. */
    assert_status(try_sql(trusted_url, "tacet_trusted", "UPDATE event SET value = 1"), TACET_DENIED);
    assert_status(try_sql(trusted_url, "tacet_trusted", "DELETE FROM event"), TACET_DENIED);
    assert_status(try_sql(trusted_url, "tacet_trusted", "DELETE FROM observed"), TACET_DENIED);
    assert_status(try_sql(trusted_url, "tacet_trusted", "TRUNCATE client_key"), TACET_DENIED);
    assert_status(try_sql(trusted_url, "tacet_trusted", "DROP TABLE event"), TACET_DENIED);
    assert_status(try_sql(open_url, "tacet_open", "UPDATE event SET value = 1"), TACET_DENIED);
    assert_status(try_sql(open_url, "tacet_open", "DELETE FROM release"), TACET_DENIED);

    /* The open role cannot stand in for the trusted one, nor make the roles. */
    tacet__studies *o = NULL;
    const tacet__studies_settings wrong = {.store = open_url, .create = true, .busy_ms = 1000};
    tacet_error e = {TACET_OK, ""};
    test_assert_status(tacet__studies_open(&o, &wrong, &e), TACET_DENIED, &e, __FILE__, __LINE__);
    assert_null(o);
    assert_status(tacet__studies_init(&wrong, NULL), TACET_DENIED);
}

TEST_EACH(setup, store_teardown)

int main(void) {
    if (!on_postgres()) {
        (void)printf("skipped: TACET_TEST_POSTGRES names no database: tests/support/pgcluster.sh run PROGRAM\n");
        return 77;
    }
    return test_main();
}
