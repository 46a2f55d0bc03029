/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_expire.c - what ends by itself: suggestions that nobody reports, tokens. */
#include "store_fixture.h"

#include <time.h>

static const char DEFINITION[] = "{\"a\":1}";

static uint64_t add_suggestion(tacet__studies *s, tacet__study *study, uint64_t number) {
    tacet__event event = suggest_event(NULL, NULL, number, 3);
    assert_ok(tacet__studies_append(s, study, &event, NULL));
    return event.seq;
}

static tacet__event expire_event(uint64_t of, uint64_t number) {
    return (tacet__event){.kind = TACET__EVENT_EXPIRE, .of = of, .number = number, .index = TACET__NO_INDEX};
}

static tacet_status keep(const tacet__event *event, void *user, tacet_error *err) {
    (void)err;
    *(tacet__event *)user = *event;
    return TACET_OK;
}

/* The end of a ticket as the open store shows it; its place has the number in the lower 40 bits. */
#define SHOWN(seq) "SELECT observed FROM shown WHERE (place & 1099511627775) = " seq

static void expires(tacet__study_model model) {
    OWN_STUDY_ROW tacet__study study;
    tacet__suggestion found[3];
    tacet__event last = {0};
    size_t count = 3;
    tacet__studies *s = open_store();
    tacet__study_init(&study);
    assert_ok(tacet__studies_add(s, &study, "other", model, true, DEFINITION, strlen(DEFINITION), NULL));
    assert_ok(tacet__studies_begin(s, &study, NULL));
    (void)add_suggestion(s, &study, 1); /* of another study: never seen below */
    assert_ok(tacet__studies_commit(s, NULL));
    assert_ok(tacet__studies_add(s, &study, "x", model, true, DEFINITION, strlen(DEFINITION), NULL));
    assert_ok(tacet__studies_begin(s, &study, NULL));
    assert_ok(tacet__studies_waiting(s, &study, found, &count, 0, NULL));
    assert_int_equal(count, 0);
    for (uint64_t i = 1; i <= 5; i++) {
        assert_int_equal(add_suggestion(s, &study, 10 + i), i);
    }
    tacet__event seen = observe_event(2, 0.5);
    assert_ok(tacet__studies_append(s, &study, &seen, NULL));
    count = 3;
    assert_ok(tacet__studies_waiting(s, &study, found, &count, 0, NULL));
    assert_int_equal(count, 3);
    assert_true(found[0].event.seq == 1 && found[1].event.seq == 3 && found[2].event.seq == 4);
    assert_true(found[1].event.number == 13 && found[1].event.index == 3 && found[1].event.time > 0);
    assert_false(found[1].observed || found[1].expired);
    /* Once; and not what was observed, nor the other way round; and of a suggestion only. */
    tacet__event gone = expire_event(3, 13);
    assert_ok(tacet__studies_append(s, &study, &gone, NULL));
    gone = expire_event(3, 13);
    assert_status(tacet__studies_append(s, &study, &gone, NULL), TACET_CONFLICT);
    gone = expire_event(2, 12);
    assert_status(tacet__studies_append(s, &study, &gone, NULL), TACET_CONFLICT);
    gone = expire_event(6, 0);
    assert_status(tacet__studies_append(s, &study, &gone, NULL), TACET_NOT_FOUND);
    gone = expire_event(0, 0);
    assert_status(tacet__studies_append(s, &study, &gone, NULL), TACET_INVALID);
    gone = expire_event(4, 14);
    gone.value = 1;
    assert_status(tacet__studies_append(s, &study, &gone, NULL), TACET_INVALID);
    seen = observe_event(3, 0.5);
    assert_status(tacet__studies_append(s, &study, &seen, NULL), TACET_CONFLICT);
    count = 3;
    assert_ok(tacet__studies_waiting(s, &study, found, &count, 1, NULL));
    assert_int_equal(count, 2);
    assert_true(found[0].event.seq == 4 && found[1].event.seq == 5);
    assert_ok(tacet__studies_commit(s, NULL));
    assert_ok(tacet__studies_project(s, &study, NULL));
    assert_int_equal(study.observed, 1);
    tacet__studies_close(s);
    /* As another process finds it, and as the open store shows it. */
    for (int open_only = 0; open_only < 2; open_only++) {
        s = open_with(open_only == 1, false, 2000);
        assert_ok(tacet__studies_get(s, &study, "x", NULL));
        count = 3;
        if (model == TACET__STUDY_CENTRAL && open_only == 1) {
            assert_status(tacet__studies_waiting(s, &study, found, &count, 0, NULL), TACET_DENIED);
            assert_int_equal(raw_number(false, SHOWN("3")), -7);
            assert_true(raw_number(false, SHOWN("2")) > 0);
            assert_int_equal(raw_number(false, SHOWN("4")), 0);
        } else {
            assert_ok(tacet__studies_suggestion(s, &study, &found[0], 3, NULL));
            assert_true(found[0].expired && !found[0].observed && found[0].observed_seq == 7);
            assert_ok(tacet__studies_suggestion(s, &study, &found[0], 2, NULL));
            assert_true(found[0].observed && !found[0].expired);
            assert_ok(tacet__studies_suggestion(s, &study, &found[0], 4, NULL));
            assert_true(!found[0].observed && !found[0].expired);
            assert_ok(tacet__studies_read(s, &study, 7, keep, &last, NULL));
            assert_true(last.kind == TACET__EVENT_EXPIRE && last.of == 3 && last.number == 13);
        }
        tacet__studies_close(s);
    }
}

TEST(test_central) {
    expires(TACET__STUDY_CENTRAL);
}

TEST(test_local) {
    expires(TACET__STUDY_LOCAL);
}

/* --- tokens --------------------------------------------------------------------------------------------------------
 */

static tacet_status count_tokens(const tacet__token *token, void *user, tacet_error *err) {
    (void)token;
    (void)err;
    ++*(size_t *)user;
    return TACET_OK;
}

static size_t token_count(tacet__studies *s) {
    size_t count = 0;
    assert_ok(tacet__studies_list_tokens(s, count_tokens, &count, NULL));
    return count;
}

/* A token ends by itself; a renewed one has another text and all else of the old, which ends at once or a little later.
 */
TEST(test_tokens) {
    char first[TACET__STUDIES_TOKEN_TEXT];
    char text[TACET__STUDIES_TOKEN_TEXT];
    tacet__token token;
    const uint64_t now = (uint64_t)time(NULL);
    OWN_STUDIES tacet__studies *s = open_store();
    assert_ok(tacet__studies_add_token(s, text, TACET__TOKEN_DEVICE, "x", "old", 1, 0, 0, NULL));
    assert_status(tacet__studies_check_token(s, &token, text, NULL), TACET_NOT_FOUND);
    assert_int_equal(token.role, 0);
    assert_status(tacet__studies_renew_token(s, text, 1, 0, 0, NULL), TACET_NOT_FOUND); /* it has ended */
    assert_int_equal(text[0], 0);
    assert_int_equal(token_count(s), 1);
    assert_ok(tacet__studies_drop_token(s, 1, NULL));
    assert_ok(tacet__studies_add_token(s, first, TACET__TOKEN_ANALYST, "x", "phone", now + 1000, 0, 0, NULL));
    assert_ok(tacet__studies_check_token(s, &token, first, NULL));
    assert_int_equal(token.expires, now + 1000);
    const uint64_t id = token.id;
    /* At once. */
    assert_ok(tacet__studies_renew_token(s, text, id, 0, 0, NULL));
    assert_status(tacet__studies_check_token(s, &token, first, NULL), TACET_NOT_FOUND);
    assert_ok(tacet__studies_check_token(s, &token, text, NULL));
    assert_true(token.id == id && token.role == TACET__TOKEN_ANALYST && token.expires == 0);
    assert_string_equal(token.study, "x");
    assert_string_equal(token.label, "phone");
    assert_int_equal(token_count(s), 1);
    /* With some time for those who still use it; a second renewal cannot make that longer. */
    memcpy(first, text, sizeof first);
    assert_ok(tacet__studies_renew_token(s, text, id, now + 5000, now + 100, NULL));
    assert_ok(tacet__studies_check_token(s, &token, first, NULL));
    assert_true(token.id == id && token.expires == now + 100);
    assert_ok(tacet__studies_check_token(s, &token, text, NULL));
    assert_true(token.id != id && token.expires == now + 5000);
    assert_ok(tacet__studies_renew_token(s, text, id, 0, now + 9000, NULL));
    assert_ok(tacet__studies_check_token(s, &token, first, NULL));
    assert_int_equal(token.expires, now + 100);
    assert_int_equal(token_count(s), 3);
    assert_status(tacet__studies_renew_token(s, text, 99, 0, 0, NULL), TACET_NOT_FOUND);
    assert_status(tacet__studies_renew_token(s, text, 0, 0, 0, NULL), TACET_NOT_FOUND);
    assert_int_equal(token_count(s), 3);
}

TEST_EACH(store_setup, store_teardown)
