/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - logins of browsers: a token is exchanged for a session, which ends.
 *
 * The browser gets a random cookie (HttpOnly, Secure, SameSite=Strict, __Host-), whose hash alone is kept; a script of
 * the page gets another random text, the guard, and sends it in a header with every request. A page of another site has
 * neither: its requests come without the cookie, and it can set no header. The token stays in this process, is wiped
 * when the session ends, and what a session may do is what its token may do at that moment. Sessions live in memory:
 * they end with the process. Any thread. Ring: pages; knows no data. */
#ifndef TACET_SRC_PAGES_SESSION_H
#define TACET_SRC_PAGES_SESSION_H

#include "io/http/server.h"

enum {
    TACET__SESSION_TEXT = 44,  /* 256 random bits as text, with the closing NUL */
    TACET__SESSION_TOKEN = 64, /* of a token, with the closing NUL */
    TACET__SESSIONS_MOST = 256 /* at a time; beyond, the one that was idle longest ends */
};
#define TACET__GUARD_HEADER "X-Tacet-Guard"
#define TACET__BACKGROUND_HEADER "X-Tacet-Background" /* asked by the page itself: the session is as idle as before */

typedef struct tacet__sessions tacet__sessions;

typedef struct tacet__sessions_settings {
    const char *cookie;    /* its name, without __Host-; borrowed until create returns */
    double idle_seconds;   /* a session ends when nothing was asked for so long */
    double whole_seconds;  /* and so long after the login at the latest */
    double (*clock)(void); /* seconds; NULL: the system's monotonic one. For tests */
} tacet__sessions_settings;

typedef struct tacet__session {
    char token[TACET__SESSION_TOKEN]; /* wipe it */
    char guard[TACET__SESSION_TEXT];
    double age;  /* seconds since the login */
    double left; /* seconds until it ends, if nothing more is asked */
} tacet__session;

typedef enum tacet__session_found {
    TACET__SESSION_NONE,      /* no cookie, or one of no session: it ended, or never was */
    TACET__SESSION_UNGUARDED, /* a session, but the header is missing or another: not asked by the page */
    TACET__SESSION_OK
} tacet__session_found;

/* Half an hour idle, eight hours in all. */
void tacet__sessions_defaults(tacet__sessions_settings *settings);
/* INVALID: no name, or times that are not above 0. */
tacet_status tacet__sessions_create(tacet__sessions **out, const tacet__sessions_settings *settings, tacet_error *err);
void tacet__sessions_free(tacet__sessions *sessions); /* wipes; NULL is allowed */

/* A new session for a token that was checked; the response gets its cookie. INVALID: the token is too long. */
tacet_status tacet__sessions_begin(tacet__sessions *sessions, tacet__session *out, const char *token,
                                   tacet__response *response, tacet_error *err);
/* The session of a request. `guarded`: the header must be there, too; only what tells a page its guard does without.
 * OK: *out is filled, and the session is not idle any more, unless the page asked by itself. */
tacet__session_found tacet__sessions_find(tacet__sessions *sessions, tacet__session *out, const tacet__request *request,
                                          bool guarded);
/* Ends the session that has this guard, and takes the cookie back. */
void tacet__sessions_end(tacet__sessions *sessions, const char *guard, tacet__response *response);
/* Whether a request may come from the page: a browser that says where it comes from says "same-origin". */
bool tacet__sessions_own_site(const tacet__request *request);

#endif
