/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c - the service's request table: every path, who may ask, what it takes; and the way of a request to its
 * handler. Ring: open. Cost: a walk over the table. */
#include "service/open/wire/routes.h"

#include "pages/assets.h"
#include "service/open/wire/board.h"
#include "service/open/wire/call.h"
#include "service/open/wire/pages.h"
#include "service/open/wire/studies.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* The wire answers it by itself; here it is for the table. */
static void live(tacet__call *c, tacet__response *response) {
    (void)c;
    tacet__call_fill(response, 200, json_pack("{ss}", "status", "live"));
}

static void say_ready(const tacet__call *c, tacet__response *response, bool ready) {
    if (ready) {
        tacet__call_fill(response, 200, json_pack("{ss}", "status", "ready"));
    } else {
        tacet__refuse(response, 503, "unavailable", tacet__engine_unready(c->service->engine));
    }
}

/* On the probe's thread. */
static void try_store(tacet__call *c, tacet__response *response) {
    say_ready(c, response, tacet__engine_ready(c->service->engine));
}

static void ready(tacet__call *c, tacet__response *response) {
    bool known = false;
    if (tacet__engine_ready_known(c->service->engine, &known)) {
        say_ready(c, response, known);
    } else {
        (void)tacet__call_to(c, TACET__PROBE, try_store, response);
    }
}

static void metrics(tacet__call *c, tacet__response *response);
static void plain(tacet__call *c, tacet__response *response);

/* --- the table ---------------------------------------------------------------------------------------------------- */

enum {
    NOBODY = 0,
    DEVICE = 1 << TACET__TOKEN_DEVICE,
    ANALYST = 1 << TACET__TOKEN_ANALYST,
    OWNER = 1 << TACET__TOKEN_OWNER
};

enum { EVERYBODY = DEVICE | ANALYST | OWNER, READERS = ANALYST | OWNER, PLAYERS = DEVICE | OWNER };
typedef enum place { HERE, DESK, AUDITED } place;

typedef struct route {
    const char *name; /* in the metrics */
    const char *method;
    const char *path; /* {study} is a study's name, any other {word} one more word */
    unsigned roles;   /* who may ask; NOBODY: no token is needed */
    place where;      /* DESK: where the store may be asked. AUDITED: and in the audit trail before it is done */
    tacet__call_fn handle;
    const tacet__field *takes;
    tacet__job_kind job; /* of `plain`, which submits what was read */
} route;

#define STUDY "/v1/studies/{study}"
#define PLAIN(kind, takes) plain, takes, TACET__JOB_##kind
static const tacet__field NONE[] = {{0}};
/* What handlers read by themselves. */
#define NAMED(name)                                                                                                    \
    { name, NULL, false }
static const tacet__field CREATE[] = {NAMED("dry_run"), {0}}, LOG_IN[] = {NAMED("token"), {0}},
                          RENEWAL[] = {NAMED("days"), NAMED("grace"), {0}}, TOKEN[] = {NAMED("role"),
                                                                                       NAMED("study"),
                                                                                       NAMED("label"),
                                                                                       NAMED("days"),
                                                                                       NAMED("open_most"),
                                                                                       NAMED("rounds_most"),
                                                                                       {0}};
/* clang-format off */
static const route ROUTES[] = {
    {"live", "GET", "/v1/live", NOBODY, HERE, live, NONE, 0},
    {"ready", "GET", "/v1/ready", NOBODY, HERE, ready, NONE, 0},
    {"metrics", "GET", "/v1/metrics", READERS, HERE, metrics, NONE, 0},
    {"list", "GET", "/v1/studies", EVERYBODY, DESK, tacet__study_list, NONE, 0},
    {"create", "POST", "/v1/studies", OWNER, AUDITED, tacet__study_create, CREATE, 0},
    {"status", "GET", STUDY, EVERYBODY, HERE, PLAIN(STATUS, NONE)},
    {"suggest", "POST", STUDY "/suggestions", PLAYERS, HERE, tacet__study_suggest, tacet__suggest_takes, 0},
    {"look", "GET", STUDY "/suggestions/{ticket}", PLAYERS, HERE, PLAIN(LOOK, tacet__look_takes)},
    {"observe", "POST", STUDY "/observations", PLAYERS, HERE, PLAIN(OBSERVE, tacet__observe_takes)},
    {"weights", "GET", STUDY "/weights", EVERYBODY, HERE, PLAIN(WEIGHTS, NONE)},
    {"grants", "POST", STUDY "/grants", PLAYERS, HERE, PLAIN(GRANTS, tacet__login_takes)},
    {"reports", "POST", STUDY "/reports", PLAYERS, HERE, tacet__device_reports, tacet__device_reports_takes, 0},
    {"page", "GET", "/v1/pages/{study}", NOBODY, HERE, PLAIN(WEIGHTS, NONE)},
    {"page_grants", "POST", "/v1/pages/{study}/grants", NOBODY, HERE, tacet__page_grants, tacet__page_grants_takes, 0},
    {"page_reports", "POST", "/v1/pages/{study}/reports", NOBODY, HERE, PLAIN(REPORT, tacet__page_reports_takes)},
    {"release", "POST", STUDY "/releases", READERS, AUDITED, PLAIN(RELEASE, NONE)},
    {"releases", "GET", STUDY "/releases", READERS, HERE, PLAIN(RELEASES, NONE)},
    {"get_release", "GET", STUDY "/releases/{number}", READERS, HERE, PLAIN(GET_RELEASE, tacet__release_takes)},
    {"ledger", "GET", STUDY "/ledger", READERS, HERE, PLAIN(LEDGER, NONE)},
    {"best", "GET", STUDY "/best", READERS, HERE, PLAIN(BEST, NONE)},
    {"model", "GET", STUDY "/model", EVERYBODY, HERE, PLAIN(MODEL, NONE)},
    {"extend", "POST", STUDY "/rounds", OWNER, AUDITED, PLAIN(EXTEND, tacet__extend_takes)},
    {"archive", "POST", STUDY "/archive", OWNER, AUDITED, PLAIN(ARCHIVE, NONE)},
    {"delete", "DELETE", STUDY, OWNER, AUDITED, PLAIN(DELETE, NONE)},
    {"events", "GET", STUDY "/events", READERS, HERE, PLAIN(EVENTS, tacet__events_takes)},
    {"tickets", "GET", STUDY "/tickets", OWNER, HERE, PLAIN(TICKETS, NONE)},
    {"expire", "POST", STUDY "/expiry", OWNER, AUDITED, PLAIN(EXPIRE, tacet__expire_takes)},
    {"posterior", "GET", STUDY "/posterior", READERS, HERE, PLAIN(POSTERIOR, tacet__view_takes)},
    {"figure", "GET", STUDY "/figures/{figure}", READERS, HERE, tacet__board_figure, tacet__view_takes, 0},
    {"label", "GET", STUDY "/label", EVERYBODY, HERE, tacet__board_label, tacet__label_takes, 0},
    {"tokens", "GET", "/v1/tokens", OWNER, DESK, tacet__board_tokens, NONE, 0},
    {"make_token", "POST", "/v1/tokens", OWNER, AUDITED, tacet__board_make_token, TOKEN, 0},
    {"renew_token", "POST", "/v1/tokens/{number}/renewal", OWNER, AUDITED, tacet__board_renew_token, RENEWAL, 0},
    {"drop_token", "DELETE", "/v1/tokens/{number}", OWNER, AUDITED, tacet__board_drop_token, NONE, 0},
    {"log_in", "POST", "/v1/session", NOBODY, HERE, tacet__board_log_in, LOG_IN, 0},
    {"session", "GET", "/v1/session", EVERYBODY, HERE, tacet__board_session, NONE, 0},
    {"log_out", "DELETE", "/v1/session", EVERYBODY, HERE, tacet__board_log_out, NONE, 0},
};
/* clang-format on */
enum { ROUTE_COUNT = sizeof ROUTES / sizeof ROUTES[0], OTHER = ROUTE_COUNT };

/* A job of what was asked, and no more. */
static void plain(tacet__call *c, tacet__response *response) {
    tacet__job *job = tacet__call_read(c, response, ROUTES[c->route].job);
    if (job != NULL) {
        memcpy(job->owner, c->token.hash, sizeof job->owner);
        tacet__call_job(c, response, job);
    }
}

const char *tacet__service_route(size_t i) {
    static char text[ROUTE_COUNT][80];
    if (i >= ROUTE_COUNT) {
        return NULL;
    }
    (void)snprintf(text[i], sizeof text[i], "%s %s", ROUTES[i].method, ROUTES[i].path);
    return text[i];
}

static void metrics(tacet__call *c, tacet__response *response) {
    const char *names[ROUTE_COUNT + 1];
    if (c->token.study[0] != '\0') {
        tacet__refuse(response, 403, "forbidden", "metrics are of all studies: a token for all of them is needed");
        return;
    }
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        names[i] = ROUTES[i].name;
    }
    names[OTHER] = "other";
    response->status = 200;
    response->content_type = "text/plain; version=0.0.4";
    tacet__server_counts counts = {0};
    tacet__server *wire = atomic_load(&c->service->wire);
    if (wire != NULL) {
        tacet__server_count(wire, &counts);
    }
    response->body =
        tacet__metrics_text(c->service->metrics, names, ROUTE_COUNT + 1, &counts,
                            atomic_load(&c->service->certificate_expires), tacet__engine_tell, c->service->engine);
    response->body_size = response->body != NULL ? strlen(response->body) : 0;
}

/* One word of a path, up to the next slash. */
static size_t word(const char *path) {
    return strcspn(path, "/");
}

/* Whether the path has the pattern; *last is what stands for the last word in braces, study gets {study}. */
static bool matches(const char *pattern, const char *path, char study[TACET__STUDY_NAME_MOST + 1], const char **last) {
    while (*pattern == '/' && *path == '/') {
        pattern++;
        path++;
        const size_t a = word(pattern);
        const size_t b = word(path);
        if (pattern[0] != '{') {
            if (a != b || strncmp(pattern, path, a) != 0) {
                return false;
            }
        } else if (b == 0) {
            return false;
        } else if (strncmp(pattern, "{study}", a) == 0) {
            if (b > TACET__STUDY_NAME_MOST) {
                return false;
            }
            memcpy(study, path, b);
            study[b] = '\0';
        } else {
            *last = path;
        }
        pattern += a;
        path += b;
    }
    return *pattern == '\0' && *path == '\0';
}

/* True when the token may ask; otherwise the answer is made. A store that could not be asked for the token comes first:
 * that is no reason to call a token none. */
static bool allowed(const tacet__call *c, const route *r, tacet__response *response) {
    if (r->roles == NOBODY) {
        return true;
    }
    if (c->token_status != TACET_OK && c->token_status != TACET_NOT_FOUND) {
        tacet__refuse_failure(response, TACET_IO, "");
        return false;
    }
    if (c->token_status == TACET_NOT_FOUND) {
        if (c->request.bearer != NULL) {
            tacet__engine_say(c->service->engine,
                              "a request was refused: its token is unknown, withdrawn or past its end", NULL);
        }
        tacet__refuse(response, 401, "unauthorized",
                      c->request.bearer != NULL
                          ? "the token is unknown, withdrawn or past its end: ask an owner of the study for another"
                          : "a token is needed: Authorization: Bearer TOKEN");
        return false;
    }
    if ((r->roles & 1U << c->token.role) == 0) {
        tacet__refuse(response, 403, "forbidden", "the token's role may not do this");
        return false;
    }
    if (c->token.study[0] != '\0' && c->study[0] != '\0' && strcmp(c->token.study, c->study) != 0) {
        /* Whether the other study exists is not said. */
        tacet__refuse(response, 403, "forbidden", "the token is of another study");
        return false;
    }
    return true;
}

typedef struct act {
    uint64_t line;
    char who[TACET__AUDIT_WHO], what[TACET__AUDIT_WHAT];
} act;

static tacet_status write_down(tacet__studies *store, void *user, tacet_error *err) {
    act *a = user;
    return tacet__studies_audit(store, &a->line, a->who, a->what, err);
}

/* An administrative act is in the audit trail before it is done, or it is not done. On the desk. */
static bool audited(tacet__call *c, const route *r, tacet__response *response) {
    act a = {0};
    tacet_error err = {0};
    if (r->where != AUDITED) {
        return true;
    }
    (void)snprintf(a.who, sizeof a.who, "token %llu%s from %s", (unsigned long long)c->token.id,
                   c->session.guard[0] != '\0' ? " on the board" : "", c->request.from);
    (void)snprintf(a.what, sizeof a.what, "%s %s", r->method, c->request.path);
    if (tacet__engine_with_store(c->service->engine, write_down, &a, &err) == TACET_OK) {
        c->audited = a.line;
        return true;
    }
    tacet__metrics_add(&c->service->metrics->failures, 1);
    tacet__engine_say(c->service->engine, "an act was refused, because the audit trail cannot be written", &err);
    tacet__refuse_failure(response, TACET_IO, "");
    return false;
}

/* The token is known, or known not to be one. */
static void serve(tacet__call *c, tacet__response *response) {
    const route *r = &ROUTES[c->route];
    if (allowed(c, r, response) && audited(c, r, response)) {
        r->handle(c, response);
    }
}

static const route *find_route(tacet__call *c, bool *path_exists) {
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (matches(ROUTES[i].path, c->request.path, c->study, &c->last)) {
            *path_exists = true;
            if (strcmp(ROUTES[i].method, c->request.method) == 0) {
                c->route = (unsigned)i;
                c->takes = ROUTES[i].takes;
                return &ROUTES[i];
            }
        }
    }
    return NULL;
}

/* Gives a browser's request the token of its session. False: the request is not the page's, and the answer is made. */
static bool take_session(tacet__call *c, tacet__response *response) {
    if (c->request.bearer != NULL || c->service->sessions == NULL || strcmp(c->request.path, "/v1/live") == 0) {
        return true;
    }
    const bool asks_who = strcmp(c->request.path, "/v1/session") == 0 && strcmp(c->request.method, "DELETE") != 0;
    switch (tacet__sessions_find(c->service->sessions, &c->session, &c->request, !asks_who)) {
    case TACET__SESSION_OK:
        if (tacet__sessions_own_site(&c->request)) {
            c->request.bearer = c->session.token;
            return true;
        }
        break;
    case TACET__SESSION_NONE:
        return true;
    case TACET__SESSION_UNGUARDED:
        break;
    }
    tacet__refuse(response, 403, "forbidden", "this request does not come from the page");
    return false;
}

/* Whoever has the credential for metrics alone: nothing is asked of the store, so that it works when that is away. */
static bool is_watcher(const tacet__call *c) {
    unsigned char hash[TACET__STUDIES_TOKEN_HASH];
    if (!c->service->has_metrics_token || c->request.bearer == NULL) {
        return false;
    }
    tacet__studies_token_hash(hash, c->request.bearer, strlen(c->request.bearer));
    return sodium_memcmp(hash, c->service->metrics_token, sizeof hash) == 0;
}

void tacet__service_handle(void *user, const tacet__request *request, tacet__response *response) {
    bool path_exists = false;
    const tacet__service *service = user;
    response->file = -1;
    if (service->sessions != NULL &&
        tacet__assets_serve(request, response, "board", "Its requests are below /v1/ (docs/API.md).")) {
        return;
    }
    tacet__call *c = tacet__call_create(user, request);
    if (c == NULL) {
        tacet__refuse_failure(response, TACET_NO_MEMORY, "");
        return;
    }
    c->route = OTHER;
    const route *found = find_route(c, &path_exists);
    if (path_exists && tacet__page_path(request->path)) {
        if (tacet__page_enter(c, response) && found != NULL) {
            serve(c, response);
        } else if (response->status == 0) {
            tacet__refuse(response, 405, NULL, "this path has no such method");
        }
    } else if (!take_session(c, response)) {
        found = NULL;
    } else if (found == NULL) {
        tacet__refuse(response, path_exists ? 405 : 404, NULL,
                      path_exists ? "this path has no such method" : "no such path");
    } else if (found->handle == metrics && is_watcher(c)) {
        metrics(c, response);
    } else if (found->roles == NOBODY || c->request.bearer == NULL) {
        serve(c, response);
    } else {
        const bool known = tacet__engine_token_known(c->service->engine, &c->token, c->request.bearer);
        c->token_status = known ? TACET_OK : TACET_NOT_FOUND;
        if (known && found->where == HERE) {
            serve(c, response);
        } else {
            (void)tacet__call_to(c, TACET__DESK, serve, response);
        }
    }
    if (response->status != 0) {
        tacet__call_end(c, response);
    }
}
