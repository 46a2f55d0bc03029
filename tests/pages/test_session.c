/* SPDX-License-Identifier: Apache-2.0 */
/* test_session.c - sessions of browsers: found by their cookie, guarded by their header, ended by time and by hand. */
#include "support/test.h"

#include "pages/assets.h"
#include "pages/session.h"

#include <stdio.h>
#include <string.h>

static double time_now;
static double fake_clock(void) {
    return time_now;
}

/* What a browser sends. */
typedef struct browser {
    char cookie[64], guard[64];
    const char *site, *encoding;
    bool background;
} browser;

static const char *header_of(const void *peer, const char *name) {
    const browser *b = peer;
    if (strcmp(name, "Sec-Fetch-Site") == 0) {
        return b->site;
    }
    if (strcmp(name, "Accept-Encoding") == 0) {
        return b->encoding;
    }
    if (strcmp(name, TACET__BACKGROUND_HEADER) == 0) {
        return b->background ? "1" : NULL;
    }
    return strcmp(name, TACET__GUARD_HEADER) == 0 && b->guard[0] != '\0' ? b->guard : NULL;
}

static const char *cookie_of(const void *peer, const char *name) {
    const browser *b = peer;
    return strcmp(name, "__Host-board") == 0 && b->cookie[0] != '\0' ? b->cookie : NULL;
}

static tacet__request request_of(const browser *b) {
    return (tacet__request){.method = "GET", .path = "/", .header = header_of, .cookie = cookie_of, .peer = b};
}

static tacet__sessions *open_sessions(void) {
    tacet__sessions *s = NULL;
    time_now = 1000;
    const tacet__sessions_settings settings = {
        .cookie = "board", .idle_seconds = 60, .whole_seconds = 600, .clock = fake_clock};
    assert_ok(tacet__sessions_create(&s, &settings, NULL));
    return s;
}

static void log_in(tacet__sessions *s, browser *b, const char *token) {
    tacet__response response = {.file = -1};
    tacet__session made;
    *b = (browser){.site = "same-origin"};
    assert_ok(tacet__sessions_begin(s, &made, token, &response, NULL));
    assert_string_equal(made.token, token);
    memcpy(b->guard, made.guard, sizeof made.guard);
    const char *value = strchr(response.cookie, '=') + 1;
    memcpy(b->cookie, value, strcspn(value, ";"));
    assert_non_null(strstr(response.cookie, "__Host-board="));
    assert_non_null(strstr(response.cookie, "; Path=/; Secure; HttpOnly; SameSite=Strict"));
}

static tacet__session_found look(tacet__sessions *s, const browser *b, bool guarded, tacet__session *out) {
    const tacet__request request = request_of(b);
    return tacet__sessions_find(s, out, &request, guarded);
}

TEST(a_session_is_found_by_cookie_and_guard_together) {
    tacet__sessions *s = open_sessions();
    browser one, two;
    tacet__session found;
    log_in(s, &one, "tacet_one");
    log_in(s, &two, "tacet_two");
    assert_int_equal(look(s, &one, true, &found), TACET__SESSION_OK);
    assert_string_equal(found.token, "tacet_one");
    browser mixed = one;
    memcpy(mixed.guard, two.guard, sizeof mixed.guard); /* another session's guard is no guard */
    assert_int_equal(look(s, &mixed, true, &found), TACET__SESSION_UNGUARDED);
    mixed.guard[0] = '\0';
    assert_int_equal(look(s, &mixed, true, &found), TACET__SESSION_UNGUARDED);
    assert_int_equal(look(s, &mixed, false, &found), TACET__SESSION_OK); /* a page that asks for its guard */
    assert_string_equal(found.guard, one.guard);
    mixed = one;
    mixed.cookie[3] ^= 1;
    assert_int_equal(look(s, &mixed, true, &found), TACET__SESSION_NONE);
    mixed.cookie[0] = '\0';
    assert_int_equal(look(s, &mixed, true, &found), TACET__SESSION_NONE);
    tacet__sessions_free(s);
}

TEST(a_session_ends_when_idle_whatever_the_page_asks_by_itself) {
    tacet__sessions *s = open_sessions();
    browser b;
    tacet__session found;
    log_in(s, &b, "t");
    time_now += 59;
    assert_int_equal(look(s, &b, true, &found), TACET__SESSION_OK);
    assert_float_equal(found.age, 59, 1e-9);
    b.background = true;
    time_now += 40;
    assert_int_equal(look(s, &b, true, &found), TACET__SESSION_OK);
    assert_float_equal(found.left, 20, 1e-9);
    time_now += 20;
    assert_int_equal(look(s, &b, true, &found), TACET__SESSION_NONE);
    tacet__sessions_free(s);
}

TEST(a_session_ends_in_the_end_and_by_hand) {
    tacet__sessions *s = open_sessions();
    browser b;
    tacet__session found;
    tacet__response response = {.file = -1};
    log_in(s, &b, "t");
    for (int i = 0; i < 11; i++) {
        time_now += 50;
        assert_int_equal(look(s, &b, true, &found), TACET__SESSION_OK);
    }
    time_now += 50; /* 600 in all */
    assert_int_equal(look(s, &b, true, &found), TACET__SESSION_NONE);
    log_in(s, &b, "t");
    tacet__sessions_end(s, "not-a-guard", &response);
    assert_int_equal(look(s, &b, true, &found), TACET__SESSION_OK);
    tacet__sessions_end(s, b.guard, &response);
    assert_int_equal(look(s, &b, true, &found), TACET__SESSION_NONE);
    assert_non_null(strstr(response.cookie, "Max-Age=0"));
    tacet__sessions_free(s);
}

TEST(too_many_sessions_end_the_one_idle_longest) {
    tacet__sessions *s = open_sessions();
    browser first, second, b;
    tacet__session found;
    log_in(s, &first, "first");
    time_now += 1;
    log_in(s, &second, "second");
    for (int i = 0; i < TACET__SESSIONS_MOST - 1; i++) {
        time_now += 0.01;
        log_in(s, &b, "more");
    }
    assert_int_equal(look(s, &first, true, &found), TACET__SESSION_NONE);
    assert_int_equal(look(s, &second, true, &found), TACET__SESSION_OK);
    tacet__sessions_free(s);
}

TEST(requests_of_other_sites_and_long_tokens_are_refused) {
    tacet__sessions *s = open_sessions();
    browser b = {.site = "cross-site"};
    tacet__session made;
    tacet__response response = {.file = -1};
    tacet__request request = request_of(&b);
    assert_false(tacet__sessions_own_site(&request));
    b.site = "same-site"; /* another port of this host */
    assert_false(tacet__sessions_own_site(&request));
    b.site = NULL; /* no browser */
    assert_true(tacet__sessions_own_site(&request));
    char token[TACET__SESSION_TOKEN + 1];
    memset(token, 'x', sizeof token);
    token[TACET__SESSION_TOKEN] = '\0';
    assert_int_equal(tacet__sessions_begin(s, &made, token, &response, NULL), TACET_INVALID);
    tacet__sessions_free(s);
    const tacet__sessions_settings none = {.cookie = "", .idle_seconds = 1, .whole_seconds = 1};
    assert_int_equal(tacet__sessions_create(&s, &none, NULL), TACET_INVALID);
}

TEST(a_page_is_served_packed_or_plain_and_nothing_else_is) {
    browser b = {.encoding = "gzip, br"};
    tacet__request request = request_of(&b);
    tacet__response packed = {.file = -1}, plain = {.file = -1}, other = {.file = -1};
    assert_true(tacet__assets_serve(&request, &packed, "board", "api"));
    b.encoding = NULL;
    assert_true(tacet__assets_serve(&request, &plain, "board", "api"));
    assert_int_equal(plain.status, 200);
    assert_true(plain.page);
    plain.body[plain.body_size] = '\0';
    assert_non_null(strstr(plain.body, "<html"));
    if (tacet__assets[0].name != NULL) {
        assert_string_equal(packed.encoding, "gzip");
        assert_memory_equal(packed.body, "\x1f\x8b", 2);
    }
    size_t weight = 0;
    for (const tacet__asset *a = tacet__assets; a->name != NULL; a++) {
        weight += a->packed_size;
    }
    assert_true(weight < 200000);
    request.path = "/v1/studies";
    assert_false(tacet__assets_serve(&request, &other, "board", "api"));
    request.path = "/../app.js";
    assert_false(tacet__assets_serve(&request, &other, "board", "api"));
    request.path = "/";
    request.method = "POST";
    assert_true(tacet__assets_serve(&request, &other, "board", "api"));
    assert_int_equal(other.status, 405);
    free(packed.body);
    free(plain.body);
    free(other.body);
}
