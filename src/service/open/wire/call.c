/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - requests that wait, and what they are told. Ring: service. Cost: a copy of the texts of those that wait for
 * the store; nothing for those whose token is known and whose study is in memory. */
#include "service/open/wire/call.h"

#include "core/json_numbers.h"
#include "core/json_text.h"
#include "core/memory.h"
#include "io/http/problem.h"
#include "io/http/wipe.h"

#include <sodium.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RETRY_SECONDS = 1 };
static const double ANSWER_SECONDS = 1.6; /* and a tenth for the watchdog: within two, whatever the store does */
static const double STILL_SECONDS = 1;    /* a store that did nothing for so long hangs */
static const double AGAIN_SECONDS = 0.5;  /* until it is looked again whether it does */
static const double QUEUE_SECONDS = 15;   /* nobody waits longer for a store that moves */

/* --- refusals ----------------------------------------------------------------------------------------------------- */

void tacet__refuse(tacet__response *response, unsigned status, const char *word, const char *detail) {
    tacet__problem(response, status, word, detail);
    if (status == 503) {
        response->retry_after = RETRY_SECONDS;
    }
}

/* A failure as seen from outside. What went wrong in the store stays in the log: it is no business of a client. */
void tacet__refuse_failure(tacet__response *response, tacet_status status, const char *message) {
    switch (status) {
    case TACET_INVALID:
    case TACET_PARSE:
        tacet__refuse(response, 400, "invalid", message);
        break;
    case TACET_NOT_FOUND:
        tacet__refuse(response, 404, "not-found", message);
        break;
    case TACET_CONFLICT:
        tacet__refuse(response, 409, "conflict", message);
        break;
    case TACET_STATE:
        tacet__refuse(response, 409, "state", message);
        response->retry_after = RETRY_SECONDS; /* a batch may be over by then; the end of a study is not */
        break;
    case TACET_BUDGET:
        tacet__refuse(response, 409, "budget", "the privacy budget of the study is spent");
        break;
    case TACET_CORRUPT:
        tacet__refuse(response, 500, "damaged", "the study's stored history does not hold together; it is not served");
        break;
    default:
        tacet__refuse(response, 503, "unavailable",
                      "nothing was lost and nothing was stored twice; send the request again");
        break;
    }
}

/* --- bodies ------------------------------------------------------------------------------------------------------- */

void tacet__call_fill(tacet__response *response, unsigned status, json_t *body) {
    response->status = status;
    response->file = -1;
    response->body = body != NULL ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (response->body != NULL) {
        tacet__json_shorten(response->body);
    }
    response->body_size = response->body != NULL ? strlen(response->body) : 0;
    json_decref(body);
}

static bool is_field(const tacet__field *fields, const char *name) {
    while (fields->name != NULL && strcmp(fields->name, name) != 0) {
        fields++;
    }
    return fields->name != NULL;
}

json_t *tacet__call_body(const tacet__call *c, tacet__response *response) {
    json_error_t where;
    json_t *body = json_loadb(c->request.body, c->request.body_size, JSON_REJECT_DUPLICATES, &where);
    const char *key = NULL;
    json_t *value = NULL;
    char reason[160];
    if (body == NULL && tacet__json_no_memory(&where)) {
        tacet__refuse_failure(response, TACET_NO_MEMORY, "");
        return NULL;
    }
    if (body == NULL) { /* where it stopped, never what is there */
        (void)snprintf(reason, sizeof reason, "the body must be a JSON object: it cannot be read past byte %d",
                       where.position);
        tacet__refuse(response, 400, "invalid", reason);
        return NULL;
    }
    if (!json_is_object(body)) {
        tacet__refuse(response, 400, "invalid", "the body must be a JSON object");
        json_decref(body);
        return NULL;
    }
    json_object_foreach(body, key, value) {
        if (!is_field(c->takes, key)) {
            (void)snprintf(reason, sizeof reason, "field '%.40s' is not known here", key);
            tacet__refuse(response, 400, "invalid", reason);
            json_decref(body);
            return NULL;
        }
    }
    return body;
}

const char *tacet__call_argument(const tacet__call *c, const char *name) {
    return c->request.argument != NULL ? c->request.argument(c->request.peer, name) : NULL;
}

tacet__job *tacet__call_read(tacet__call *c, tacet__response *response, tacet__job_kind kind) {
    const bool get = strcmp(c->request.method, "GET") == 0;
    const bool has_body = !get && (c->takes->name != NULL || c->request.body_size > 0);
    json_t *body = has_body ? tacet__call_body(c, response) : NULL;
    if (has_body && body == NULL) {
        return NULL;
    }
    tacet__job *job = tacet__job_create(kind);
    const char *broken = job != NULL ? NULL : "";
    for (const tacet__field *f = c->takes; broken == NULL && f->name != NULL; f++) {
        const char *text = f->name[0] == '{' ? c->last : get ? tacet__call_argument(c, f->name) : NULL;
        json_t *value = text != NULL ? json_stringn_nocheck(text, strlen(text)) /* of any bytes */
                                     : json_incref(json_object_get(body, f->name));
        broken = value != NULL || f->required ? f->read(job, value) : NULL;
        json_decref(value);
    }
    json_decref(body);
    if (broken == NULL) {
        return job;
    }
    tacet__job_free(job);
    if (broken[0] == '\0') {
        tacet__refuse_failure(response, TACET_NO_MEMORY, "");
    } else {
        tacet__refuse(response, 400, "invalid", broken);
    }
    return NULL;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static const tacet__field NOTHING = {0};

tacet__call *tacet__call_create(tacet__service *service, const tacet__request *request) {
    tacet__call *c = TACET__ZALLOC(tacet__call, 1);
    if (c != NULL) {
        c->service = service;
        c->takes = &NOTHING;
        c->since = tacet__service_now();
        c->request = *request;
        c->token_status = TACET_NOT_FOUND;
    }
    return c;
}

static void free_call(tacet__call *c) {
    if (c->texts != NULL) {
        sodium_memzero(c->texts, c->texts_size); /* a token, and a body */
        free(c->texts);
    }
    sodium_memzero(c, sizeof *c);
    free(c);
}

static void note(const tacet__call *c, unsigned status) {
    if (c->uncounted) {
        return;
    }
    tacet__metrics_answered(c->service->metrics, c->route, status, tacet__service_now() - c->since);
    if (status >= 500) {
        char line[80];
        (void)snprintf(line, sizeof line, "request %s was answered %u", c->request.id, status);
        tacet__engine_say(c->service->engine, line, NULL);
    }
}

/* How an administrative act ended, for the audit trail. */
typedef struct outcome {
    tacet__errand errand; /* first */
    tacet__engine *engine;
    char what[TACET__AUDIT_WHAT];
} outcome;

static tacet_status write_outcome(tacet__studies *store, void *user, tacet_error *err) {
    const outcome *o = user;
    return tacet__studies_audit(store, NULL, "the server", o->what, err);
}

static void tell_outcome(tacet__errand *errand, bool stopping) {
    outcome *o = (outcome *)errand;
    tacet_error err = {0};
    (void)stopping; /* the last acts before the end are told, too */
    if (tacet__engine_with_store(o->engine, write_outcome, o, &err) != TACET_OK) {
        tacet__engine_say(o->engine, "the audit trail lacks how an act ended", &err);
    }
    free(o);
}

static void note_outcome(const tacet__call *c, unsigned status) {
    outcome *o = c->audited != 0 ? TACET__ZALLOC(outcome, 1) : NULL;
    if (o != NULL) {
        o->errand.run = tell_outcome;
        o->engine = c->service->engine;
        (void)snprintf(o->what, sizeof o->what, "line %llu: answered %u", (unsigned long long)c->audited, status);
        tacet__engine_errand(o->engine, &o->errand, TACET__DESK);
    }
}

void tacet__call_answer(tacet__call *c, const tacet__response *response) {
    note_outcome(c, response->status);
    if (tacet__watch_end(tacet__engine_watchdog(c->service->engine), &c->watch)) {
        tacet__exchange *exchange = c->request.exchange;
        note(c, response->status);
        exchange->known = c->token_status == TACET_OK;
        tacet__response told = *response;
        told.origin = c->origin;
        free_call(c);
        exchange->answer(exchange, &told);
    } else { /* the client was told to try again */
        tacet__wipe_free(response->body);
        free_call(c);
    }
}

void tacet__call_end(tacet__call *c, tacet__response *response) {
    if (c->suspended) {
        tacet__call_answer(c, response);
        *response = (tacet__response){.file = -1};
        return;
    }
    note(c, response->status);
    response->origin = c->origin;
    c->request.exchange->known = c->token_status == TACET_OK;
    free_call(c);
}

/* Under the watchdog's lock. The call stays with whoever has it. While the store does what others ask, this one has
 * only to wait for its turn, as after a start, when many studies are loaded at once. */
static double tell_late(tacet__watch *watch) {
    tacet__call *c = (tacet__call *)(void *)((char *)watch - offsetof(tacet__call, watch));
    tacet__response response = {.file = -1};
    const double most = QUEUE_SECONDS + (c->job != NULL ? c->job->wait : 0);
    if (tacet__metrics_still(c->service->metrics) < STILL_SECONDS && tacet__service_now() - c->since < most) {
        return AGAIN_SECONDS;
    }
    if (c->job != NULL) {
        atomic_store(&c->job->late, true);
    }
    tacet__refuse_failure(&response, TACET_BUSY, "");
    response.origin = c->origin;
    note(c, response.status);
    c->request.exchange->answer(c->request.exchange, &response);
    return 0;
}

static char *put(char **at, const char *text, size_t size) {
    char *begin = *at;
    memcpy(begin, text, size);
    begin[size] = '\0';
    *at += size + 1;
    return begin;
}

/* "NAME=VALUE", each ended by a NUL, and "" behind the last: the arguments that were given. */
static const char *copied_argument(const void *peer, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = peer; at[0] != '\0'; at += strlen(at) + 1) {
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            return at + length + 1;
        }
    }
    return NULL;
}

/* Copies the arguments that the route knows to `to`, unless that is NULL; how many bytes they take. */
static size_t copy_arguments(const tacet__call *c, char *to) {
    size_t size = 1;
    for (const tacet__field *f = c->takes; f->name != NULL; f++) {
        const char *value = tacet__call_argument(c, f->name);
        if (value != NULL && to != NULL) {
            (void)sprintf(to + size - 1, "%s=%s", f->name, value);
        }
        size += value != NULL ? strlen(f->name) + strlen(value) + 2 : 0;
    }
    if (to != NULL) {
        to[size - 1] = '\0';
    }
    return size;
}

/* A copy of what the wire lends: once the watchdog has answered, it is gone. */
static bool own_texts(tacet__call *c) {
    tacet__request *r = &c->request;
    const size_t arguments = copy_arguments(c, NULL);
    const size_t path = strlen(r->path);
    const size_t bearer = r->bearer != NULL ? strlen(r->bearer) : 0;
    c->texts_size = path + bearer + arguments + r->body_size + 3;
    c->texts = malloc(c->texts_size);
    if (c->texts == NULL) {
        return false;
    }
    char *at = c->texts;
    const char *old_path = r->path;
    r->path = put(&at, r->path, path);
    c->last = c->last != NULL ? r->path + (c->last - old_path) : NULL;
    r->bearer = r->bearer != NULL ? put(&at, r->bearer, bearer) : NULL;
    (void)copy_arguments(c, at);
    r->peer = at;
    at += arguments;
    r->argument = copied_argument;
    r->header = r->cookie = NULL; /* read before */
    r->body = put(&at, r->body, r->body_size);
    return true;
}

static void begin_waiting(tacet__call *c, double seconds) {
    c->suspended = true;
    c->request.exchange->suspend(c->request.exchange);
    tacet__watch_begin(tacet__engine_watchdog(c->service->engine), &c->watch, seconds, tell_late);
}

static void go_on(tacet__errand *errand, bool stopping) {
    tacet__call *c = (tacet__call *)errand;
    tacet__response response = {.file = -1};
    tacet_error err = {0};
    if (!tacet__watch_on(tacet__engine_watchdog(c->service->engine), &c->watch)) {
        free_call(c); /* its client was told to try again: the store is not asked for it */
        return;
    }
    if (stopping) {
        tacet__refuse_failure(&response, TACET_BUSY, "");
    } else {
        if (c->request.bearer != NULL && c->token_status == TACET_NOT_FOUND) {
            c->token_status = tacet__engine_token(c->service->engine, &c->token, c->request.bearer, &err);
        }
        c->handle(c, &response);
    }
    if (response.status != 0) {
        tacet__call_end(c, &response);
    }
}

bool tacet__call_to(tacet__call *c, tacet__desk desk, tacet__call_fn handle, tacet__response *response) {
    if (c->texts == NULL && !own_texts(c)) {
        tacet__refuse_failure(response, TACET_NO_MEMORY, "");
        return false;
    }
    c->handle = handle;
    c->errand.run = go_on;
    c->errand.bytes = c->texts_size;
    if (!c->suspended) {
        begin_waiting(c, ANSWER_SECONDS);
    }
    tacet__engine_errand(c->service->engine, &c->errand, desk);
    return true;
}

void tacet__call_submit(tacet__call *c, tacet__response *response, tacet__job *job, void (*done)(tacet__job *job)) {
    if (job == NULL) {
        tacet__refuse_failure(response, TACET_NO_MEMORY, "");
        return;
    }
    const double seconds = ANSWER_SECONDS + job->wait - (tacet__service_now() - c->since);
    /* Once the job is handed over its answer may free the call on another thread before this returns. */
    char study[sizeof c->study];
    memcpy(study, c->study, sizeof study);
    tacet__engine *engine = c->service->engine;
    job->user = c;
    job->done = done;
    if (c->suspended) {
        /* From the store's thread to the study's: the watch ends here and begins anew, because only from now on does
         * the client wait for its own `wait` as well. */
        if (!tacet__watch_end(tacet__engine_watchdog(engine), &c->watch)) {
            tacet__job_free(job); /* its client has been told; nothing was done */
            free_call(c);
            return;
        }
        c->job = job;
        tacet__watch_begin(tacet__engine_watchdog(engine), &c->watch, seconds, tell_late);
    } else {
        c->job = job;
        begin_waiting(c, seconds);
    }
    tacet__engine_submit(engine, study, job);
}
