/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c - the curator's request table: five paths, each a function. Nothing here sees a record; values come from the
 * desk, which entered them in the ledger first.
 * Ring: trusted. */
#include "outsourced/trusted/desk_internal.h"
#include "outsourced/trusted/routes.h"

#include "dp/open/entry.h"
#include "io/db/db.h"
#include "io/http/pki.h"
#include "io/http/problem.h"
#include "core/clock.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RETRY_SECONDS = 1, PROBE_BUSY_MS = 1000 };

static void say(tacet__response *response, unsigned status, json_t *body) {
    response->status = status;
    response->body = body != NULL ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    response->body_size = response->body != NULL ? strlen(response->body) : 0;
    json_decref(body);
}

static void refuse(tacet__response *response, unsigned status, const char *detail) {
    tacet__problem(response, status, status == 403 ? "budget" : NULL, detail);
}

static unsigned http_status(tacet_status status) {
    switch (status) {
    case TACET_OK:
        return 200;
    case TACET_INVALID:
    case TACET_PARSE:
        return 400;
    case TACET_NOT_FOUND:
        return 404;
    case TACET_CONFLICT:
        return 409;
    case TACET_BUDGET:
        return 403;
    case TACET_UNSUPPORTED:
        return 502;
    default:
        return 503;
    }
}

/* What went wrong inside stays inside: an evaluator's exit code, a path or a line number may depend on records, and
 * nothing has paid for it. The curator reads it in the log. */
static void refuse_failure(const tacet__curator_service *s, tacet__response *response, unsigned status,
                           const tacet_error *err) {
    tacet_log_say(s->log, TACET_LOG_WARNING, err->message);
    response->retry_after = RETRY_SECONDS;
    refuse(response, status,
           status == 502 ? "the evaluation failed; asking again tries again"
                         : "the ledger cannot be written; nothing was disclosed");
}

static void reply(const tacet__curator_service *s, tacet__response *response, tacet_status status,
                  const tacet_desk_reply *r, const char *ticket, const tacet_error *err) {
    if (status != TACET_OK && http_status(status) >= 500) {
        refuse_failure(s, response, http_status(status), err);
    } else if (status != TACET_OK) {
        refuse(response, http_status(status), err->message);
    } else if (r->failed) {
        say(response, 200, json_pack("{ss sI ss}", "ticket", ticket, "row", (json_int_t)r->row, "status", "failed"));
    } else if (r->answered) {
        say(response, 200,
            json_pack("{ss sI ss sf}", "ticket", ticket, "row", (json_int_t)r->row, "status", "answered", "value",
                      r->value));
    } else {
        response->retry_after = RETRY_SECONDS;
        say(response, 202, json_pack("{ss sI ss}", "ticket", ticket, "row", (json_int_t)r->row, "status", "pending"));
    }
}

static void send_manifest(tacet__curator_service *s, const tacet__request *request, tacet__response *response) {
    (void)request;
    response->status = 200;
    response->body = malloc(s->manifest_size);
    response->body_size = response->body != NULL ? s->manifest_size : 0;
    if (response->body != NULL) {
        memcpy(response->body, s->manifest, s->manifest_size);
    }
}

static void send_release(tacet__curator_service *s, const tacet__request *request, tacet__response *response) {
    (void)request;
    response->file = open(s->release_path, O_RDONLY | O_CLOEXEC);
    response->content_type = "text/csv";
    response->status = 200;
    if (response->file < 0) {
        refuse(response, 503, "the release cannot be read");
    }
}

/* A question from a body, which stays alive in *holder. NULL, or the rule that was broken. */
static const char *question_from(json_t **holder, const char **ticket, size_t *row, const char *body, size_t size) {
    json_int_t number = -1;
    *holder = json_loadb(body, size, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(*holder)) {
        return "the body must be a JSON object";
    }
    if (json_object_size(*holder) != 2 || json_unpack(*holder, "{ss sI}", "ticket", ticket, "row", &number) != 0) {
        return "the body must have exactly a text 'ticket' and a whole number 'row'";
    }
    if (number < 0) {
        return "'row' must not be negative";
    }
    *row = (size_t)number;
    return NULL;
}

/* A client whose value a command is producing: its connection is suspended, and no thread waits with it. */
typedef struct waiting {
    const tacet__curator_service *service;
    tacet__exchange *exchange;
    char ticket[TACET_DESK_TICKET];
} waiting;

static void take_reply(void *user, tacet_status status, const tacet_desk_reply *r, const tacet_error *err) {
    waiting *w = user;
    tacet__response response = {.file = -1};
    reply(w->service, &response, status, r, w->ticket, err);
    w->exchange->answer(w->exchange, &response);
    free(w);
}

/* False: it is answered now, as pending. Suspended before anybody can tell: the desk may do so at once. */
static bool wait_for(tacet__curator_service *s, const tacet__request *request, const tacet_desk_reply *r,
                     const char *ticket) {
    waiting *w = malloc(sizeof *w);
    if (w == NULL) {
        return false;
    }
    *w = (waiting){.service = s, .exchange = request->exchange};
    (void)snprintf(w->ticket, sizeof w->ticket, "%s", ticket);
    request->exchange->suspend(request->exchange);
    tacet_error none = {0};
    if (tacet_desk_wait(s->desk, ticket, take_reply, w, NULL) != TACET_OK) {
        take_reply(w, TACET_OK, r, &none);
    }
    return true;
}

static void ask(tacet__curator_service *s, const tacet__request *request, tacet__response *response) {
    tacet_desk_reply r;
    tacet_error err = {0};
    json_t *body = NULL;
    const char *ticket = NULL;
    size_t row = 0;
    const char *broken = question_from(&body, &ticket, &row, request->body, request->body_size);
    if (broken != NULL) {
        refuse(response, 400, broken);
    } else {
        const tacet_status status = tacet_desk_ask_now(s->desk, &r, ticket, row, &err);
        if (status != TACET_OK || !r.running || !wait_for(s, request, &r, ticket)) {
            reply(s, response, status, &r, ticket, &err);
        }
    }
    json_decref(body);
}

static void look_up_answer(tacet__curator_service *s, const tacet__request *request, tacet__response *response) {
    tacet_desk_reply r;
    tacet_error err = {0};
    const char *ticket = strrchr(request->path, '/') + 1;
    reply(s, response, tacet_desk_look(s->desk, &r, ticket, &err), &r, ticket, &err);
}

static void ledger(tacet__curator_service *s, const tacet__request *request, tacet__response *response) {
    tacet_ledger_totals t;
    tacet_error err = {0};
    char head[2 * TACET_HASH_BYTES + 1];
    (void)request;
    if (tacet_desk_total(s->desk, &t, &err) != TACET_OK) {
        refuse(response, 503, "the ledger cannot be read");
        return;
    }
    tacet__hash_hex(head, t.head);
    const size_t made = tacet_desk_made(s->desk);
    const size_t allowed = tacet_desk_manifest(s->desk)->queries;
    say(response, 200,
        json_pack("{sf sf sf sf sI sI sI sI ss}", "budget_eps", t.budget_eps, "budget_delta", t.budget_delta,
                  "spent_eps", t.eps, "spent_delta", t.delta, "entries", (json_int_t)t.entries, "uncovered",
                  (json_int_t)t.uncovered, "queries_made", (json_int_t)made, "queries_left",
                  (json_int_t)(allowed > made ? allowed - made : 0), "head", head));
}

/* Whether something could be written to the ledger, as of a second ago at the most. */
static void ready(tacet__curator_service *s, tacet__response *response) {
    const tacet__db_settings settings = {.busy_ms = PROBE_BUSY_MS};
    (void)pthread_mutex_lock(&s->lock);
    if (s->ready_at == 0 || tacet__now() - s->ready_at >= 1) {
        tacet__db *db = NULL;
        tacet_error err = {0};
        tacet_status status = tacet__db_open(&db, s->ledger, &settings, &err);
        TACET_THEN(status, tacet__db_probe(db, &err));
        tacet__db_close(db);
        s->ready = status == TACET_OK;
        s->ready_at = tacet__now();
        if (!s->ready) {
            tacet_log_say(s->log, TACET_LOG_WARNING, err.message);
        }
    }
    const bool yes = s->ready;
    (void)pthread_mutex_unlock(&s->lock);
    if (yes) {
        say(response, 200, json_pack("{ss}", "status", "ready"));
    } else {
        response->retry_after = RETRY_SECONDS;
        refuse(response, 503, "the ledger cannot be written now");
    }
}

typedef struct route {
    const char *method;
    const char *path; /* as tacet__path_matches takes it */
    void (*handle)(tacet__curator_service *, const tacet__request *, tacet__response *);
} route;

static const route ROUTES[] = {
    {"GET", "/v1/manifest", send_manifest},  {"GET", "/v1/release", send_release}, {"POST", "/v1/queries", ask},
    {"GET", "/v1/queries/", look_up_answer}, {"GET", "/v1/ledger", ledger},
};

bool tacet__path_matches(const char *pattern, const char *path) {
    const size_t length = strlen(pattern);
    if (pattern[length - 1] != '/') {
        return strcmp(pattern, path) == 0;
    }
    return strncmp(pattern, path, length) == 0 && path[length] != '\0' && strchr(path + length, '/') == NULL;
}

void tacet__curator_handle(void *user, const tacet__request *request, tacet__response *response) {
    tacet__curator_service *s = user;
    if (strcmp(request->path, "/v1/ready") == 0 && strcmp(request->method, "GET") == 0) {
        ready(s, response);
        return;
    }
    const bool by_token = s->token_hash != NULL && tacet__token_matches(s->token_hash, request->bearer);
    const bool by_certificate = s->certificates && request->certificate != NULL;
    if (!by_token && !by_certificate) {
        refuse(response, 401, "a valid token or client certificate is needed");
        return;
    }
    if (request->exchange != NULL) {
        request->exchange->known = true;
    }
    bool path_exists = false;
    for (size_t i = 0; i < sizeof ROUTES / sizeof ROUTES[0]; i++) {
        if (tacet__path_matches(ROUTES[i].path, request->path)) {
            path_exists = true;
            if (strcmp(ROUTES[i].method, request->method) == 0) {
                ROUTES[i].handle(s, request, response);
                return;
            }
        }
    }
    refuse(response, path_exists ? 405 : 404, path_exists ? "this path has no such method" : "no such path");
}
