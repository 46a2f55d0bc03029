/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - sessions in memory, found by the hash of their cookie.
 * Ring: pages. Source: the OWASP cheat sheets on sessions and on cross-site request forgery. Cost: O(sessions) a
 * request, 256 at the most. */
#include "pages/session.h"

#include "core/clock.h"
#include "core/fail.h"
#include "core/memory.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_BYTES = 32, NAME_BYTES = 64 };

typedef struct entry {
    bool used;
    unsigned char hash[HASH_BYTES]; /* of the cookie */
    char token[TACET__SESSION_TOKEN];
    char guard[TACET__SESSION_TEXT];
    double begun, seen;
} entry;

struct tacet__sessions {
    char name[NAME_BYTES];
    double idle, whole;
    double (*clock)(void);
    pthread_mutex_t lock;
    entry entries[TACET__SESSIONS_MOST];
};

void tacet__sessions_defaults(tacet__sessions_settings *settings) {
    *settings = (tacet__sessions_settings){.cookie = "tacet", .idle_seconds = 1800, .whole_seconds = 28800};
}

tacet_status tacet__sessions_create(tacet__sessions **out, const tacet__sessions_settings *settings, tacet_error *err) {
    *out = NULL;
    if (settings->cookie == NULL || settings->cookie[0] == '\0' || !(settings->idle_seconds > 0) ||
        !(settings->whole_seconds > 0)) {
        return tacet__fail(err, TACET_INVALID, "a session needs a cookie's name, and ends after more than 0 seconds");
    }
    tacet__sessions *s = TACET__ZALLOC(tacet__sessions, 1);
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for sessions");
    }
    (void)snprintf(s->name, sizeof s->name, "__Host-%.50s", settings->cookie);
    s->idle = settings->idle_seconds;
    s->whole = settings->whole_seconds;
    s->clock = settings->clock != NULL ? settings->clock : tacet__now;
    (void)pthread_mutex_init(&s->lock, NULL);
    *out = s;
    return TACET_OK;
}

void tacet__sessions_free(tacet__sessions *s) {
    if (s != NULL) {
        (void)pthread_mutex_destroy(&s->lock);
        sodium_memzero(s, sizeof *s);
        free(s);
    }
}

static void draw_text(char out[TACET__SESSION_TEXT]) {
    unsigned char random[32];
    randombytes_buf(random, sizeof random);
    (void)sodium_bin2base64(out, TACET__SESSION_TEXT, random, sizeof random, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(random, sizeof random);
}

static void hash_text(unsigned char out[HASH_BYTES], const char *text) {
    (void)crypto_generichash(out, HASH_BYTES, (const unsigned char *)text, strlen(text), NULL, 0);
}

static void wipe_entry(entry *e) {
    sodium_memzero(e, sizeof *e);
}

/* Under the lock: sessions whose time is over are gone. */
static void sweep(tacet__sessions *s, double now) {
    for (size_t i = 0; i < TACET__SESSIONS_MOST; i++) {
        entry *e = &s->entries[i];
        if (e->used && (now - e->seen >= s->idle || now - e->begun >= s->whole)) {
            wipe_entry(e);
        }
    }
}

/* Under the lock: a free place, or that of the session which was idle longest. */
static entry *place_for(tacet__sessions *s) {
    entry *oldest = &s->entries[0];
    for (size_t i = 0; i < TACET__SESSIONS_MOST; i++) {
        entry *e = &s->entries[i];
        if (!e->used) {
            return e;
        }
        oldest = e->seen < oldest->seen ? e : oldest;
    }
    wipe_entry(oldest);
    return oldest;
}

/* Under the lock: the session of the request's cookie, or NULL. */
static entry *entry_of(tacet__sessions *s, const tacet__request *request) {
    const char *text = request->cookie != NULL ? request->cookie(request->peer, s->name) : NULL;
    unsigned char hash[HASH_BYTES];
    if (text == NULL || strlen(text) != TACET__SESSION_TEXT - 1) {
        return NULL;
    }
    hash_text(hash, text);
    sweep(s, s->clock());
    for (size_t i = 0; i < TACET__SESSIONS_MOST; i++) {
        if (s->entries[i].used && sodium_memcmp(s->entries[i].hash, hash, sizeof hash) == 0) {
            return &s->entries[i];
        }
    }
    return NULL;
}

static void fill_session(const tacet__sessions *s, tacet__session *out, const entry *e, double now) {
    memcpy(out->token, e->token, sizeof out->token);
    memcpy(out->guard, e->guard, sizeof out->guard);
    out->age = now - e->begun;
    const double idle_left = s->idle - (now - e->seen);
    out->left = idle_left < s->whole - out->age ? idle_left : s->whole - out->age;
}

tacet_status tacet__sessions_begin(tacet__sessions *s, tacet__session *out, const char *token,
                                   tacet__response *response, tacet_error *err) {
    char text[TACET__SESSION_TEXT];
    if (strlen(token) >= TACET__SESSION_TOKEN) {
        return tacet__fail(err, TACET_INVALID, "no token is that long");
    }
    draw_text(text);
    (void)pthread_mutex_lock(&s->lock);
    const double now = s->clock();
    sweep(s, now);
    entry *e = place_for(s);
    *e = (entry){.used = true, .begun = now, .seen = now};
    (void)snprintf(e->token, sizeof e->token, "%s", token);
    hash_text(e->hash, text);
    draw_text(e->guard);
    fill_session(s, out, e, now);
    (void)pthread_mutex_unlock(&s->lock);
    (void)snprintf(response->cookie, sizeof response->cookie, "%s=%s; Path=/; Secure; HttpOnly; SameSite=Strict",
                   s->name, text);
    sodium_memzero(text, sizeof text);
    return TACET_OK;
}

tacet__session_found tacet__sessions_find(tacet__sessions *s, tacet__session *out, const tacet__request *request,
                                          bool guarded) {
    const char *guard = request->header != NULL ? request->header(request->peer, TACET__GUARD_HEADER) : NULL;
    tacet__session_found found = TACET__SESSION_NONE;
    (void)pthread_mutex_lock(&s->lock);
    entry *e = entry_of(s, request);
    if (e != NULL && guarded &&
        (guard == NULL || strlen(guard) != TACET__SESSION_TEXT - 1 ||
         sodium_memcmp(guard, e->guard, TACET__SESSION_TEXT - 1) != 0)) {
        found = TACET__SESSION_UNGUARDED;
    } else if (e != NULL) {
        const double now = s->clock();
        const bool background =
            request->header != NULL && request->header(request->peer, TACET__BACKGROUND_HEADER) != NULL;
        e->seen = background ? e->seen : now;
        fill_session(s, out, e, now);
        found = TACET__SESSION_OK;
    }
    (void)pthread_mutex_unlock(&s->lock);
    return found;
}

void tacet__sessions_end(tacet__sessions *s, const char *guard, tacet__response *response) {
    (void)pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < TACET__SESSIONS_MOST && strlen(guard) == TACET__SESSION_TEXT - 1; i++) {
        entry *e = &s->entries[i];
        if (e->used && sodium_memcmp(e->guard, guard, TACET__SESSION_TEXT - 1) == 0) {
            wipe_entry(e);
        }
    }
    (void)pthread_mutex_unlock(&s->lock);
    (void)snprintf(response->cookie, sizeof response->cookie,
                   "%s=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0", s->name);
}

bool tacet__sessions_own_site(const tacet__request *request) {
    const char *site = request->header != NULL ? request->header(request->peer, "Sec-Fetch-Site") : NULL;
    return site == NULL || strcmp(site, "same-origin") == 0;
}
