/* SPDX-License-Identifier: Apache-2.0 */
/* test_store.c - the store of studies: what it keeps, what it refuses, what the open side shows, and that a store which
 * was changed, cut or put back is noticed. Runs on SQLite, and on PostgreSQL when told where (store_fixture.h). */
#include "service/store_fixture.h"

#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static tacet_error err;

static tacet__study add(tacet__studies *s, const char *name, tacet__study_model model, bool index_public) {
    tacet__study study;
    tacet__study_init(&study);
    assert_ok(tacet__studies_add(s, &study, name, model, index_public, "{\"d\":1}", 7, NULL));
    return study;
}

static tacet_status count_event(const tacet__event *event, void *user, tacet_error *e) {
    uint64_t *count = user;
    (void)event;
    (void)e;
    (*count)++;
    return TACET_OK;
}

static tacet_status count_study(const tacet__study *study, void *user, tacet_error *e) {
    char *names = user;
    (void)e;
    assert_int_equal(study->definition.size, 7);
    (void)strcat(names, study->name);
    (void)strcat(names, " ");
    return TACET_OK;
}

/* A pair (suggestion, observation) in a transaction of its own. */
static uint64_t append_pair(tacet__studies *s, tacet__study *study, double value) {
    tacet__event suggest = suggest_event(NULL, "round", study->suggested + 1, 3);
    assert_ok(tacet__studies_begin(s, study, NULL));
    assert_ok(tacet__studies_append(s, study, &suggest, NULL));
    tacet__event observe = observe_event(suggest.seq, value);
    assert_ok(tacet__studies_append(s, study, &observe, NULL));
    assert_ok(tacet__studies_commit(s, NULL));
    return suggest.seq;
}

TEST(test_studies) {
    OWN_STUDIES tacet__studies *s = open_store();
    char names[200] = "";
    if (!on_postgres()) {
        struct stat st;
        OWN_TEXT char *path = test_text("%s/trusted.db", store_place);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
    OWN_STUDY_ROW tacet__study local = add(s, "beta", TACET__STUDY_LOCAL, true);
    OWN_STUDY_ROW tacet__study central = add(s, "alpha", TACET__STUDY_CENTRAL, false);
    OWN_STUDY_ROW tacet__study again;
    tacet__study_init(&again);
    assert_ok(tacet__studies_add(s, &again, "alpha", TACET__STUDY_CENTRAL, false, "{\"d\":1}", 7, NULL));
    assert_memory_equal(again.secret, central.secret, sizeof again.secret);
    assert_memory_not_equal(again.secret, local.secret, sizeof again.secret);
    assert_status(tacet__studies_add(s, &again, "alpha", TACET__STUDY_CENTRAL, false, "{\"d\":2}", 7, NULL),
                  TACET_CONFLICT);
    assert_status(tacet__studies_add(s, &again, "alpha", TACET__STUDY_LOCAL, true, "{\"d\":1}", 7, NULL),
                  TACET_CONFLICT);
    assert_status(tacet__studies_add(s, &again, "beta", TACET__STUDY_CENTRAL, false, "{\"d\":1}", 7, NULL),
                  TACET_CONFLICT);
    static const char *const BAD[] = {"",    "A",   "1a",    "a b",
                                      "a/b", "a.b", "x';--", "a23456789a123456789a123456789a123456789a123456789"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_status(tacet__studies_add(s, &again, BAD[i], TACET__STUDY_LOCAL, true, "x", 1, NULL), TACET_INVALID);
        assert_status(tacet__studies_get(s, &again, BAD[i], NULL), TACET_NOT_FOUND);
    }
    assert_status(tacet__studies_add(s, &again, "c", (tacet__study_model)3, true, "x", 1, NULL), TACET_INVALID);
    assert_status(tacet__studies_add(s, &again, "c", TACET__STUDY_LOCAL, true, "", 0, NULL), TACET_INVALID);
    assert_status(tacet__studies_get(s, &again, "gamma", NULL), TACET_NOT_FOUND);
    assert_ok(tacet__studies_get(s, &again, "alpha", NULL));
    assert_int_equal(again.model, TACET__STUDY_CENTRAL);
    assert_memory_equal(again.definition.data, "{\"d\":1}", 7);
    assert_ok(tacet__studies_list(s, count_study, names, NULL));
    assert_string_equal(names, "alpha beta ");

    /* The open side: sees both, has no secret of the central one, cannot write it. */
    tacet__studies *o = open_with(true, false, 1000);
    names[0] = '\0';
    assert_ok(tacet__studies_list(o, count_study, names, NULL));
    assert_string_equal(names, "beta alpha ");
    assert_ok(tacet__studies_get(o, &again, "alpha", NULL));
    assert_memory_equal(again.secret, (unsigned char[32]){0}, 32);
    assert_status(tacet__studies_begin(o, &again, NULL), TACET_DENIED);
    assert_status(tacet__studies_project(o, &again, NULL), TACET_DENIED);
    assert_status(tacet__studies_archive(o, "alpha", NULL), TACET_DENIED);
    assert_status(tacet__studies_add(o, &again, "c", TACET__STUDY_CENTRAL, true, "x", 1, NULL), TACET_DENIED);
    assert_ok(tacet__studies_get(o, &again, "beta", NULL));
    assert_memory_equal(again.secret, local.secret, 32);
    (void)append_pair(o, &again, 1.0);
    tacet__studies_close(o);

    tacet__event event = suggest_event(NULL, NULL, 1, 0);
    assert_ok(tacet__studies_archive(s, "alpha", NULL));
    assert_ok(tacet__studies_archive(s, "alpha", NULL));
    assert_status(tacet__studies_archive(s, "gamma", NULL), TACET_NOT_FOUND);
    assert_ok(tacet__studies_begin(s, &central, NULL));
    assert_int_equal(central.state, TACET__STUDY_ARCHIVED);
    assert_status(tacet__studies_append(s, &central, &event, NULL), TACET_STATE);
    tacet__studies_rollback(s);
}

typedef struct expected {
    uint64_t next;
    const tacet__event *events;
    size_t count;
} expected;

static tacet_status compare_event(const tacet__event *event, void *user, tacet_error *e) {
    expected *x = user;
    (void)e;
    assert_true(x->next <= x->count);
    const tacet__event *want = &x->events[x->next - 1];
    assert_int_equal(event->seq, x->next);
    assert_int_equal(event->kind, want->kind);
    assert_int_equal(event->of, want->of);
    assert_int_equal(event->number, want->number);
    assert_true(event->index == want->index);
    assert_memory_equal(&event->value, &want->value, sizeof event->value);
    assert_int_equal(event->key_size, want->key_size);
    assert_memory_equal(event->key_size == 0 ? "" : event->key, want->key_size == 0 ? "" : want->key, want->key_size);
    assert_int_equal(event->body_size, want->body_size);
    assert_memory_equal(event->body, want->body_size == 0 ? "" : want->body, want->body_size);
    assert_memory_equal(event->hash, want->hash, sizeof event->hash);
    x->next++;
    return TACET_OK;
}

TEST(test_log) {
    OWN_STUDIES tacet__studies *s = open_store();
    OWN_STUDY_ROW tacet__study study = add(s, "a", TACET__STUDY_CENTRAL, false);
    tacet__suggestion found;
    tacet__event events[6];
    events[0] = suggest_event("key one", "body\0x", 11, 5);
    events[1] = suggest_event(NULL, NULL, 12, TACET__NO_INDEX);
    events[2] = observe_event(1, -0.0);
    events[3] = observe_event(2, NAN);
    events[4] =
        (tacet__event){.kind = TACET__EVENT_RELEASE, .body = "released", .body_size = 8, .index = TACET__NO_INDEX};
    events[5] = suggest_event("key two", "b", 13, 0);
    assert_status(tacet__studies_append(s, &study, &events[0], NULL), TACET_STATE);
    assert_status(tacet__studies_commit(s, NULL), TACET_STATE);
    assert_ok(tacet__studies_begin(s, &study, NULL));
    assert_status(tacet__studies_begin(s, &study, NULL), TACET_STATE);
    assert_status(tacet__studies_project(s, &study, NULL), TACET_STATE);
    for (size_t i = 0; i < 6; i++) {
        assert_ok(tacet__studies_append(s, &study, &events[i], NULL));
        assert_int_equal(events[i].seq, i + 1);
    }
    assert_int_equal(events[4].number, 1);
    /* Refused by looking; what was appended in the same transaction counts. */
    tacet__event bad = observe_event(1, 2.0);
    assert_status(tacet__studies_append(s, &study, &bad, NULL), TACET_CONFLICT);
    bad = observe_event(3, 2.0);
    assert_status(tacet__studies_append(s, &study, &bad, NULL), TACET_NOT_FOUND);
    bad = observe_event(99, 2.0);
    assert_status(tacet__studies_append(s, &study, &bad, NULL), TACET_NOT_FOUND);
    bad = observe_event(UINT64_MAX, 2.0);
    assert_status(tacet__studies_append(s, &study, &bad, NULL), TACET_NOT_FOUND);
    bad = observe_event(0, 2.0);
    assert_status(tacet__studies_append(s, &study, &bad, NULL), TACET_INVALID);
    bad = suggest_event("key one", NULL, 1, 1);
    assert_status(tacet__studies_append(s, &study, &bad, NULL), TACET_CONFLICT);
    bad.key_size = TACET__EVENT_KEY_MOST + 1;
    assert_status(tacet__studies_append(s, &study, &bad, NULL), TACET_INVALID);
    bad = observe_event(6, 2.0);
    bad.kind = (tacet__event_kind)5;
    assert_status(tacet__studies_append(s, &study, &bad, NULL), TACET_INVALID);
    /* Looked for and missed, then used, then used again. */
    assert_status(tacet__studies_by_key(s, &study, &found, "key three", 9, NULL), TACET_NOT_FOUND);
    expected x = {1, events, 6};
    assert_ok(tacet__studies_read(s, &study, 1, compare_event, &x, NULL));
    assert_int_equal(x.next, 7);
    assert_ok(tacet__studies_commit(s, NULL));

    /* Another handle finds all of it. */
    OWN_STUDIES tacet__studies *t = open_with(false, false, 5000);
    OWN_STUDY_ROW tacet__study seen;
    tacet__study_init(&seen);
    assert_ok(tacet__studies_get(t, &seen, "a", NULL));
    assert_int_equal(seen.head, 6);
    assert_int_equal(seen.suggested, 3);
    assert_int_equal(seen.observed, 2);
    assert_int_equal(seen.released, 1);
    x.next = 1;
    assert_ok(tacet__studies_read(t, &seen, 1, compare_event, &x, NULL));
    assert_int_equal(x.next, 7);
    x.next = 5;
    assert_ok(tacet__studies_read(t, &seen, 5, compare_event, &x, NULL));
    assert_int_equal(x.next, 7);
    assert_ok(tacet__studies_read(t, &seen, 7, compare_event, &x, NULL));
    assert_status(tacet__studies_read(t, &seen, 8, compare_event, &x, NULL), TACET_CORRUPT);
    assert_status(tacet__studies_read(t, &seen, 0, compare_event, &x, NULL), TACET_INVALID);
    assert_ok(tacet__studies_suggestion(t, &seen, &found, 2, NULL));
    assert_true(found.observed && isnan(found.value));
    assert_int_equal(found.observed_seq, 4);
    assert_int_equal(found.event.number, 12);
    assert_status(tacet__studies_suggestion(t, &seen, &found, 3, NULL), TACET_NOT_FOUND);
    assert_status(tacet__studies_suggestion(t, &seen, &found, 0, NULL), TACET_NOT_FOUND);
    assert_status(tacet__studies_suggestion(t, &seen, &found, UINT64_MAX, NULL), TACET_NOT_FOUND);
    assert_ok(tacet__studies_by_key(t, &seen, &found, "key two", 7, NULL));
    assert_int_equal(found.event.seq, 6);
    assert_int_equal(found.event.index, 0);
    assert_false(found.observed);
    assert_status(tacet__studies_by_key(t, &seen, &found, "key", 3, NULL), TACET_NOT_FOUND);

    /* Looked for, observed, observed again: the second time it is known. */
    assert_ok(tacet__studies_begin(t, &seen, NULL));
    for (int i = 0; i < 2; i++) { /* asked twice, observed once */
        assert_ok(tacet__studies_suggestion(t, &seen, &found, 6, NULL));
        assert_false(found.observed);
    }
    bad = observe_event(6, 1.0);
    assert_ok(tacet__studies_append(t, &seen, &bad, NULL));
    assert_status(tacet__studies_append(t, &seen, &bad, NULL), TACET_CONFLICT);
    for (int i = 0; i < 2; i++) {
        assert_status(tacet__studies_by_key(t, &seen, &found, "key four", 8, NULL), TACET_NOT_FOUND);
    }
    bad = suggest_event("key four", NULL, 1, 1);
    assert_ok(tacet__studies_append(t, &seen, &bad, NULL));
    assert_status(tacet__studies_append(t, &seen, &bad, NULL), TACET_CONFLICT);
    uint64_t count = 0; /* the refusals wrote nothing */
    assert_ok(tacet__studies_read(t, &seen, 7, count_event, &count, NULL));
    assert_int_equal(count, 2);
    tacet__studies_rollback(t);

    /* Rolled back: nothing of it is there, and the next one takes its number. */
    assert_ok(tacet__studies_begin(t, &seen, NULL));
    bad = suggest_event("key three", NULL, 1, 1);
    assert_status(tacet__studies_by_key(t, &seen, &found, "key three", 9, NULL), TACET_NOT_FOUND);
    assert_ok(tacet__studies_append(t, &seen, &bad, NULL));
    assert_status(tacet__studies_append(t, &seen, &bad, NULL), TACET_CONFLICT);
    tacet__studies_rollback(t);
    assert_ok(tacet__studies_begin(s, &study, NULL));
    assert_int_equal(study.head, 6);
    assert_ok(tacet__studies_append(s, &study, &bad, NULL));
    assert_int_equal(bad.seq, 7);
    assert_ok(tacet__studies_commit(s, NULL));
}

TEST(test_two_studies) {
    OWN_STUDIES tacet__studies *s = open_store();
    OWN_STUDY_ROW tacet__study a = add(s, "a", TACET__STUDY_LOCAL, true);
    OWN_STUDY_ROW tacet__study b = add(s, "b", TACET__STUDY_LOCAL, true);
    tacet__suggestion found;
    uint64_t count = 0;
    assert_int_equal(append_pair(s, &a, 1.0), 1);
    assert_int_equal(append_pair(s, &b, 2.0), 1);
    assert_int_equal(append_pair(s, &a, 3.0), 3);
    assert_ok(tacet__studies_read(s, &a, 1, count_event, &count, NULL));
    assert_int_equal(count, 4);
    assert_ok(tacet__studies_suggestion(s, &b, &found, 1, NULL));
    assert_close(found.value, 2.0, 0);
    assert_status(tacet__studies_suggestion(s, &b, &found, 3, NULL), TACET_NOT_FOUND);
    /* The same key in both. */
    for (int i = 0; i < 2; i++) {
        tacet__study *study = i == 0 ? &a : &b;
        tacet__event event = suggest_event("same", NULL, 1, 1);
        assert_ok(tacet__studies_begin(s, study, NULL));
        assert_status(tacet__studies_append(s, i == 0 ? &b : &a, &event, NULL), TACET_STATE);
        assert_ok(tacet__studies_append(s, study, &event, NULL));
        assert_ok(tacet__studies_commit(s, NULL));
    }
}

TEST(test_lock) {
    OWN_STUDIES tacet__studies *s = open_store();
    OWN_STUDIES tacet__studies *t = open_with(false, false, 50);
    OWN_STUDY_ROW tacet__study study = add(s, "a", TACET__STUDY_CENTRAL, false);
    OWN_STUDY_ROW tacet__study other;
    tacet__study_init(&other);
    assert_ok(tacet__studies_get(t, &other, "a", NULL));
    assert_ok(tacet__studies_begin(s, &study, NULL));
    assert_status(tacet__studies_begin(t, &other, NULL), TACET_BUSY);
    tacet__event event = suggest_event(NULL, NULL, 1, 1);
    assert_ok(tacet__studies_append(s, &study, &event, NULL));
    /* Readers do not wait, and see nothing of what is not committed. */
    uint64_t count = 0;
    assert_ok(tacet__studies_read(t, &other, 1, count_event, &count, NULL));
    assert_int_equal(count, 0);
    assert_ok(tacet__studies_commit(s, NULL));
    assert_ok(tacet__studies_begin(t, &other, NULL));
    assert_int_equal(other.head, 1);
    assert_ok(tacet__studies_commit(t, NULL)); /* with nothing in it */
}

TEST(test_snapshots) {
    OWN_STUDIES tacet__studies *s = open_store();
    OWN_STUDY_ROW tacet__study study = add(s, "a", TACET__STUDY_CENTRAL, false);
    OWN_STUDY_ROW tacet__study next = add(s, "b", TACET__STUDY_CENTRAL, false);
    OWN_BLOB tacet_blob blob;
    uint64_t seq = 0;
    char text[32];
    tacet_blob_init(&blob);
    assert_status(tacet__studies_get_snapshot(s, &study, &blob, &seq, NULL), TACET_NOT_FOUND);
    assert_status(tacet__studies_put_snapshot(s, &study, "x", 1, NULL), TACET_STATE);
    for (int i = 1; i <= 5; i++) {
        (void)append_pair(s, &study, i);
        assert_ok(tacet__studies_begin(s, &study, NULL));
        (void)snprintf(text, sizeof text, "state %d", i);
        assert_ok(tacet__studies_put_snapshot(s, &study, "to be replaced", 14, NULL));
        assert_ok(tacet__studies_put_snapshot(s, &study, text, strlen(text), NULL));
        assert_ok(tacet__studies_commit(s, NULL));
    }
    assert_ok(tacet__studies_get_snapshot(s, &study, &blob, &seq, NULL));
    assert_int_equal(seq, 10);
    assert_int_equal(blob.size, 7);
    assert_memory_equal(blob.data, "state 5", 7);
    assert_status(tacet__studies_get_snapshot(s, &next, &blob, &seq, NULL), TACET_NOT_FOUND);
    assert_true(raw_number(true, "SELECT count(*) FROM snapshot") <= 2);
    assert_ok(tacet__studies_get(s, &study, "a", NULL));
    assert_int_equal(study.snapshot, 10);
}

/* Whether the open store's row of the study has this hash. */
static bool raw_hash_in_open(const char *name, const unsigned char hash[TACET__EVENT_HASH_BYTES]) {
    tacet__db *db = raw_db(false);
    tacet__query *query = NULL;
    bool row = false;
    size_t size = 0;
    assert_ok(tacet__db_prepare(db, &query, "SELECT hash FROM study WHERE name = ?1", NULL));
    tacet__query_bind_text(query, 1, name, strlen(name));
    assert_ok(tacet__query_step(query, &row, NULL));
    assert_true(row);
    const unsigned char *bytes = tacet__query_bytes(query, 0, &size);
    assert_int_equal(size, TACET__EVENT_HASH_BYTES);
    const bool same = memcmp(bytes, hash, TACET__EVENT_HASH_BYTES) == 0;
    tacet__query_free(query);
    tacet__db_close(db);
    return same;
}

/* What the open store shows of a suggestion. */
static int64_t raw_shown(const char *study, const char *what, uint64_t seq) {
    char sql[200];
    (void)snprintf(
        sql, sizeof sql,
        "SELECT %s FROM shown WHERE place = (SELECT number FROM study WHERE name = '%s') * 1099511627776 + %d", what,
        study, (int)seq);
    return raw_number(false, sql);
}

/* What stands in the open store after a central study was projected: nothing a client sent, and no value. */
TEST(test_projection) {
    OWN_STUDIES tacet__studies *s = open_store();
    OWN_STUDY_ROW tacet__study pad =
        add(s, "pad", TACET__STUDY_LOCAL, true); /* so that the numbers of the two sides differ */
    (void)pad;
    for (int shown = 0; shown < 2; shown++) {
        OWN_STUDY_ROW tacet__study study = add(s, shown ? "shown" : "hidden", TACET__STUDY_CENTRAL, shown);
        OWN_STUDIES tacet__studies *o = open_with(true, false, 1000);
        OWN_STUDY_ROW tacet__study seen;
        OWN_BLOB tacet_blob blob;
        tacet__study_init(&seen);
        tacet_blob_init(&blob);
        const uint64_t first = append_pair(s, &study, 0.25);
        tacet__event event = suggest_event("k", "secret", 2, 4);
        tacet__event release = {.kind = TACET__EVENT_RELEASE, .body = "r", .body_size = 1, .index = TACET__NO_INDEX};
        assert_ok(tacet__studies_begin(s, &study, NULL));
        assert_ok(tacet__studies_append(s, &study, &event, NULL));
        assert_ok(tacet__studies_append(s, &study, &release, NULL));
        assert_ok(tacet__studies_commit(s, NULL));
        assert_ok(tacet__studies_get(o, &seen, study.name, NULL));
        assert_int_equal(seen.head, 0);
        assert_int_equal(raw_shown(study.name, "count(*)", first), 0);
        assert_ok(tacet__studies_project(s, &study, NULL));
        assert_ok(tacet__studies_project(s, &study, NULL));
        assert_ok(tacet__studies_get(o, &seen, study.name, NULL));
        assert_int_equal(seen.head, 4);
        assert_int_equal(seen.suggested, 2);
        assert_int_equal(seen.observed, 1);
        assert_int_equal(seen.released, 1);
        assert_int_equal(raw_shown(study.name, "observed", first), 2);
        assert_int_equal(raw_shown(study.name, "idx", first), shown ? 3 : -1);
        assert_int_equal(raw_shown(study.name, "observed", event.seq), 0);
        assert_int_equal(raw_number(false, "SELECT count(*) FROM release"), shown + 1);
        assert_ok(tacet__studies_get_release(s, &study, &blob, 1, NULL));
        assert_memory_equal(blob.data, "r", 1);
        assert_status(tacet__studies_get_release(s, &study, &blob, 2, NULL), TACET_NOT_FOUND);
        assert_status(tacet__studies_get_release(s, &study, &blob, 0, NULL), TACET_NOT_FOUND);
        /* Nothing is found in it by whoever has it alone. */
        tacet__suggestion found;
        assert_status(tacet__studies_suggestion(o, &seen, &found, first, NULL), TACET_DENIED);
        assert_status(tacet__studies_by_key(o, &seen, &found, "k", 1, NULL), TACET_DENIED);
        assert_status(tacet__studies_get_release(o, &seen, &blob, 1, NULL), TACET_DENIED);
        /* Nor the log's hashes, from which rewards could be guessed. */
        assert_false(raw_hash_in_open(study.name, release.hash));
        assert_int_equal(raw_number(false, "SELECT count(*) FROM event"), 0);
        assert_int_equal(raw_number(false, "SELECT count(*) FROM client_key"), 0);
        assert_int_equal(raw_number(false, "SELECT count(*) FROM observed"), 0);
        assert_int_equal(raw_number(false, "SELECT count(*) FROM snapshot"), 0);
        /* Archiving shows, too. */
        assert_ok(tacet__studies_archive(s, study.name, NULL));
        assert_ok(tacet__studies_get(o, &seen, study.name, NULL));
        assert_int_equal(seen.state, TACET__STUDY_ARCHIVED);
    }
}

/* More events than one transaction of the projection takes, shown by two handles in turn. */
TEST(test_projection_lags) {
    enum { MANY = 5000 };
    OWN_STUDIES tacet__studies *s = open_store();
    OWN_STUDY_ROW tacet__study study = add(s, "a", TACET__STUDY_CENTRAL, true);
    assert_ok(tacet__studies_begin(s, &study, NULL));
    for (uint64_t i = 0; i < MANY; i++) {
        tacet__event event = suggest_event(NULL, NULL, i, i);
        assert_ok(tacet__studies_append(s, &study, &event, NULL));
    }
    assert_ok(tacet__studies_commit(s, NULL));
    OWN_STUDIES tacet__studies *t = open_store();
    OWN_STUDY_ROW tacet__study other;
    tacet__study_init(&other);
    assert_ok(tacet__studies_get(t, &other, "a", NULL));
    assert_ok(tacet__studies_project(t, &other, NULL));
    assert_ok(tacet__studies_project(s, &study, NULL));
    assert_int_equal(raw_number(false, "SELECT count(*) FROM shown"), MANY);
    assert_int_equal(raw_number(false, "SELECT head FROM study"), MANY);
}

/* A trusted store that was put back to event 4: refused by begin and by project, also when it has grown again since. */
TEST(test_put_back) {
    tacet__studies *s = open_store();
    tacet__study study = add(s, "a", TACET__STUDY_CENTRAL, false);
    (void)append_pair(s, &study, 1.0);
    (void)append_pair(s, &study, 2.0);
    tacet__db *db = raw_db(true);
    assert_ok(tacet__db_exec(db, "CREATE TABLE kept AS SELECT * FROM study", NULL));
    (void)append_pair(s, &study, 3.0);
    assert_ok(tacet__studies_project(s, &study, NULL));
    tacet__studies_close(s);
    assert_ok(tacet__db_exec(db,
                             "DELETE FROM event WHERE kind < 3 AND hash NOT IN (SELECT hash FROM event ORDER BY place "
                             "LIMIT 4); DELETE FROM observed WHERE seq > 4;"
                             "UPDATE study SET head = (SELECT head FROM kept), hash = (SELECT hash FROM kept)",
                             NULL));
    tacet__db_close(db);

    s = open_store();
    assert_ok(tacet__studies_get(s, &study, "a", NULL));
    assert_int_equal(study.head, 4);
    tacet_error_clear(&err);
    assert_status(tacet__studies_begin(s, &study, &err), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "older state"));
    assert_status(tacet__studies_project(s, &study, NULL), TACET_CORRUPT);
    assert_status(tacet__studies_begin(s, &study, NULL), TACET_CORRUPT);
    /* Grown again behind the check's back, by the number of events that had been lost: other events. */
    study.checked = true;
    assert_int_equal(append_pair(s, &study, 4.0), 5);
    assert_status(tacet__studies_project(s, &study, NULL), TACET_CORRUPT);
    assert_int_equal(append_pair(s, &study, 5.0), 7);
    study.checked = false;
    assert_status(tacet__studies_project(s, &study, NULL), TACET_CORRUPT);
    study.checked = false;
    assert_status(tacet__studies_begin(s, &study, NULL), TACET_CORRUPT);
    /* From before the study was added at all. */
    raw_sql(true, "DELETE FROM study");
    assert_status(tacet__studies_get(s, &study, "a", NULL), TACET_CORRUPT);
    tacet__study_clear(&study);
    tacet__studies_close(s);
}

TEST(test_tampered) {
    static const char *const SQL[] = {
        "UPDATE event SET body = hash WHERE kind = 1",
        "UPDATE event SET value = value + 1 WHERE kind = 2",
        "UPDATE event SET client_key = hash WHERE kind = 1",
        "DELETE FROM event WHERE of_seq = 1",
        "DELETE FROM event WHERE of_seq = 3",
        "UPDATE study SET head = head - 1",
        "UPDATE definition SET bytes = (SELECT hash FROM study s WHERE s.number = definition.number)",
        "DELETE FROM definition",
    };
    for (size_t i = 0; i < sizeof SQL / sizeof SQL[0]; i++) {
        tacet__studies *s = open_store();
        OWN_TEXT char *name = test_text("a%zu", i);
        tacet__study study = add(s, name, TACET__STUDY_LOCAL, true);
        uint64_t count = 0;
        (void)append_pair(s, &study, 1.0);
        (void)append_pair(s, &study, 2.0);
        assert_ok(tacet__studies_read(s, &study, 1, count_event, &count, NULL));
        raw_sql(false, SQL[i]);
        assert_ok(tacet__studies_get(s, &study, name, NULL));
        assert_status(tacet__studies_read(s, &study, 1, count_event, &count, NULL), TACET_CORRUPT);
        tacet__study_clear(&study);
        tacet__studies_close(s);
        (void)store_teardown(NULL);
        (void)store_setup(NULL);
    }
}

static tacet_status count_token(const tacet__token *token, void *user, tacet_error *e) {
    uint64_t *sum = user;
    (void)e;
    *sum += token->id;
    return TACET_OK;
}

TEST(test_tokens) {
    OWN_STUDIES tacet__studies *s = open_store();
    char text[TACET__STUDIES_TOKEN_TEXT];
    char other[TACET__STUDIES_TOKEN_TEXT];
    tacet__token token;
    uint64_t sum = 0;
    assert_ok(tacet__studies_add_token(s, text, TACET__TOKEN_DEVICE, "study-1", "phone", 0, 0, 0, NULL));
    assert_ok(tacet__studies_add_token(s, other, TACET__TOKEN_OWNER, NULL, NULL, 0, 0, 0, NULL));
    assert_int_equal(strlen(text), TACET__STUDIES_TOKEN_TEXT - 1);
    assert_string_not_equal(text, other);
    assert_ok(tacet__studies_check_token(s, &token, text, NULL));
    assert_int_equal(token.role, TACET__TOKEN_DEVICE);
    assert_string_equal(token.study, "study-1");
    assert_string_equal(token.label, "phone");
    assert_ok(tacet__studies_check_token(s, &token, other, NULL));
    assert_int_equal(token.role, TACET__TOKEN_OWNER);
    assert_string_equal(token.study, "");
    assert_ok(tacet__studies_list_tokens(s, count_token, &sum, NULL));
    assert_int_equal(sum, 3);
    other[10] = other[10] == 'a' ? 'b' : 'a';
    assert_status(tacet__studies_check_token(s, &token, other, NULL), TACET_NOT_FOUND);
    assert_int_equal(token.role, 0);
    assert_status(tacet__studies_check_token(s, &token, "", NULL), TACET_NOT_FOUND);
    assert_ok(tacet__studies_check_token(s, &token, text, NULL));
    assert_ok(tacet__studies_drop_token(s, token.id, NULL));
    assert_status(tacet__studies_drop_token(s, token.id, NULL), TACET_NOT_FOUND);
    assert_status(tacet__studies_check_token(s, &token, text, NULL), TACET_NOT_FOUND);
    /* A token ends when it was said to: a grace never puts that off, and what has ended is not renewed. */
    const uint64_t now = (uint64_t)time(NULL);
    assert_ok(tacet__studies_add_token(s, text, TACET__TOKEN_DEVICE, NULL, "ended", now, 0, 0, NULL));
    assert_status(tacet__studies_check_token(s, &token, text, NULL), TACET_NOT_FOUND);
    assert_status(tacet__studies_renew_token(s, other, 3, 0, 0, NULL), TACET_NOT_FOUND);
    assert_ok(tacet__studies_add_token(s, text, TACET__TOKEN_DEVICE, NULL, "ends", now + 500, 0, 0, NULL));
    assert_ok(tacet__studies_check_token(s, &token, text, NULL));
    assert_ok(tacet__studies_renew_token(s, other, token.id, now + 900, now + 700, NULL));
    assert_ok(tacet__studies_check_token(s, &token, text, NULL));
    assert_true(token.expires == now + 500);
    assert_ok(tacet__studies_check_token(s, &token, other, NULL));
    assert_true(token.expires == now + 900);
    assert_status(tacet__studies_add_token(s, text, (tacet__token_role)4, NULL, NULL, 0, 0, 0, NULL), TACET_INVALID);
    assert_status(tacet__studies_add_token(s, text, TACET__TOKEN_OWNER, NULL,
                                           "a label that is longer than the sixty-four bytes that are given to labels",
                                           0, 0, 0, NULL),
                  TACET_INVALID);
}

TEST(test_ledger_path) {
    OWN_STUDIES tacet__studies *s = open_store();
    OWN_STUDIES tacet__studies *o = open_with(true, false, 1000);
    OWN_BLOB tacet_blob path;
    tacet_blob_init(&path);
    assert_ok(tacet__studies_ledger(s, &path, "abc", NULL));
    assert_int_equal(path.size, strlen((const char *)path.data) + 1);
    assert_non_null(strstr((const char *)path.data, on_postgres() ? "#tacet_ledger_abc" : "/ledger-abc.db"));
    assert_status(tacet__studies_ledger(s, &path, "../x", NULL), TACET_INVALID);
    assert_status(tacet__studies_ledger(o, &path, "abc", NULL), TACET_DENIED);
}

TEST_EACH(store_setup, store_teardown)
