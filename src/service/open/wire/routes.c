/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c - the service's request table: every path, who may ask, and what is made of the body.
 * Ring: open. Bodies are read strictly: a field that is not known, a wrong type, a number that is not finite is a
 * 400 that names the rule. What an answer says of a client's own request goes to that client alone.
 * Cost: O(bytes) a request; answers that need the study come from its worker. */
#include "service/open/wire/routes.h"

#include "core/json_numbers.h"
#include "core/json_text.h"
#include "core/memory.h"
#include "pages/assets.h"
#include "service/open/wire/board.h"
#include "service/open/wire/call.h"
#include "service/open/wire/pages.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MOST = 128, OWNER_BYTES = 8 };

/* --- answers ------------------------------------------------------------------------------------------------------ */

static void answer_job(tacet__response *response, tacet__job *job) {
    json_t *body = NULL;
    switch (job->kind) {
    case TACET__JOB_SUGGEST:
        body = job->many > 0 ? json_pack("{sO}", "suggestions", job->body) : tacet__job_suggestion(job);
        tacet__call_fill(response, job->repeated || job->last ? 200 : 201, body);
        return;
    case TACET__JOB_OBSERVE:
        body = json_pack("{ss ss}", "ticket", job->ticket, "state", "observed");
        if (body != NULL && job->clipped) {
            (void)json_object_set_new(body, "clipped", json_true());
        }
        tacet__call_fill(response, 200, body);
        return;
    case TACET__JOB_LOOK:
        body = json_pack("{ss ss sI}", "ticket", job->ticket, "state",
                         job->observed  ? "observed"
                         : job->expired ? "expired"
                                        : "open",
                         "index", (json_int_t)job->index);
        if (body != NULL && job->action_size > 0) {
            (void)json_object_set_new(body, "action", tacet__reals_json(job->action, job->action_size));
        }
        if (body != NULL && job->point != NULL) {
            (void)json_object_set(body, "point", job->point);
        }
        tacet__call_fill(response, 200, body);
        return;
    case TACET__JOB_RELEASE:
    case TACET__JOB_GET_RELEASE:
        tacet__call_fill(response, job->kind == TACET__JOB_RELEASE ? 201 : 200,
                         json_pack("{sI sO}", "number", (json_int_t)job->number, "release", job->body));
        return;
    case TACET__JOB_EXTEND:
        tacet__call_fill(response, 200, json_pack("{sI}", "rounds", (json_int_t)job->number));
        return;
    case TACET__JOB_EXPIRE:
        tacet__call_fill(response, 200, json_pack("{sI}", "expired", (json_int_t)job->number));
        return;
    case TACET__JOB_ARCHIVE:
        tacet__call_fill(response, 200, json_pack("{ss}", "state", "archived"));
        return;
    case TACET__JOB_DELETE:
        tacet__call_fill(response, 200, json_pack("{ss}", "state", "deleted"));
        return;
    case TACET__JOB_STATUS:
    case TACET__JOB_LEDGER:
    case TACET__JOB_RELEASES:
    case TACET__JOB_BEST:
    case TACET__JOB_MODEL:
    case TACET__JOB_EVENTS:
    case TACET__JOB_TICKETS:
    case TACET__JOB_WEIGHTS:
    case TACET__JOB_GRANTS:
    case TACET__JOB_REPORT:
        tacet__call_fill(response, 200, json_incref(job->body));
        return;
    case TACET__JOB_POSTERIOR:
    case TACET__JOB_TRIED:
        tacet__board_answer_view(response, job);
        return;
    }
}

/* The worker's thread, once what was asked is durable. */
static void done(tacet__job *job) {
    tacet__call *c = job->user;
    tacet__response response = {.file = -1};
    c->uncounted = job->uncounted;
    if (job->status == TACET_OK) {
        answer_job(&response, job);
    } else if (job->status == TACET_STATE && job->expired) {
        tacet__refuse(&response, 410, "expired", job->err.message);
    } else {
        tacet__refuse_failure(&response, job->status, job->err.message);
    }
    tacet__call_answer(c, &response);
    tacet__job_free(job);
}

/* A key is of the token it came with. Were it of the study, another client could try a key with guesses of the decision
 * set or context it was used for: the answer would say which is right, and hand out the ticket. */
static void own_key(tacet__job *job, const tacet__token *token) {
    char owner[2 * OWNER_BYTES + 1];
    char owned[sizeof job->key];
    (void)sodium_bin2hex(owner, sizeof owner, token->hash, OWNER_BYTES);
    (void)snprintf(owned, sizeof owned, "%s/%.*s", owner, (int)KEY_MOST, job->key);
    memcpy(job->key, owned, sizeof owned);
}

/* Hands the job to the study; the client waits without a thread. */
void tacet__call_job(tacet__call *c, tacet__response *response, tacet__job *job) {
    tacet__call_submit(c, response, job, done);
}

static void submit(tacet__call *c, tacet__response *response, tacet__job *job) {
    if (job != NULL && job->key[0] != '\0') {
        own_key(job, &c->token);
    }
    tacet__call_submit(c, response, job, done);
}

/* What was asked in the body, which is dropped; `broken`: the rule that it breaks, NULL for none. */
static void submit_body(tacet__call *c, tacet__response *response, tacet__job *job, json_t *body, const char *broken) {
    json_decref(body);
    if (broken != NULL) {
        tacet__job_free(job);
        tacet__refuse(response, 400, "invalid", broken);
    } else {
        submit(c, response, job);
    }
}

/* --- bodies ------------------------------------------------------------------------------------------------------- */

/* Exactly count finite numbers. */
static bool read_numbers(double *out, const json_t *list, size_t count) {
    bool good = json_array_size(list) == count;
    for (size_t i = 0; good && i < count; i++) {
        out[i] = json_number_value(json_array_get(list, i));
        good = json_is_number(json_array_get(list, i)) && isfinite(out[i]);
    }
    return good;
}

/* A decision set into the job; NULL, or the rule that was broken. */
static const char *read_set(tacet__job *job, const json_t *set) {
    const size_t count = json_array_size(set);
    const size_t d = json_array_size(json_array_get(set, 0));
    if (!json_is_array(set) || count == 0 || count > TACET__DEFINITION_ARMS) {
        return "'decision_set' must be an array of 1 to 4096 arms";
    }
    if (d == 0 || d > TACET__DEFINITION_DIMS) {
        return "an arm must be an array of 1 to 64 numbers";
    }
    job->points = TACET__ZALLOC(double, d *count);
    if (job->points == NULL) {
        return "the decision set is too large";
    }
    job->d = d;
    job->count = count;
    for (size_t i = 0; i < count; i++) {
        if (!read_numbers(job->points + i * d, json_array_get(set, i), d)) {
            return "all arms must be arrays of equally many finite numbers";
        }
    }
    return NULL;
}

static const char *read_context(tacet__job *job, json_t *context) {
    static const char RULE[] = "'context' must be an array of 1 to 64 numbers";
    const size_t count = json_array_size(context);
    if (json_is_object(context)) {
        job->named = json_incref(context);
        return NULL;
    }
    if (!json_is_array(context) || count == 0 || count > TACET__DEFINITION_DIMS) {
        return RULE;
    }
    job->context = TACET__ZALLOC(double, count);
    if (job->context == NULL) {
        return "the context is too large";
    }
    job->context_dim = count;
    return read_numbers(job->context, context, count) ? NULL : RULE;
}

/* A word of letters that need no quoting; `rule` says so. */
static const char *read_word(char *out, const json_t *value, size_t most, const char *rule) {
    static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
    const char *text = json_string_value(value);
    const size_t length = text != NULL ? strlen(text) : 0;
    if (length == 0 || length > most || strspn(text, LETTERS) != length) {
        return rule;
    }
    memcpy(out, text, length + 1);
    return NULL;
}

static const char *read_key(tacet__job *job, const json_t *key) {
    return read_word(job->key, key, KEY_MOST, "'key' must be a text of 1 to 128 of A-Z a-z 0-9 . _ : -");
}

static const char *read_ticket(tacet__job *job, const char *text) {
    if (text == NULL) {
        return "'ticket' must be a text";
    }
    /* One of another length is no ticket of any study: it is looked for, and not found. */
    (void)snprintf(job->ticket, sizeof job->ticket, "%s", strlen(text) < sizeof job->ticket ? text : "");
    return NULL;
}

/* --- routes ------------------------------------------------------------------------------------------------------- */

static void suggest(tacet__call *c, tacet__response *response) {
    static const char *const NAMES[] = {"key", "decision_set", "context", "person", "count", NULL};
    json_t *body = tacet__call_body(c, response, NAMES);
    if (body == NULL) {
        return;
    }
    tacet__job *job = tacet__job_create(TACET__JOB_SUGGEST);
    const json_t *key = json_object_get(body, "key");
    const json_t *set = json_object_get(body, "decision_set");
    json_t *context = json_object_get(body, "context");
    const json_t *person = json_object_get(body, "person");
    const char *broken = NULL;
    if (job != NULL && key != NULL) {
        broken = read_key(job, key);
    }
    if (job != NULL && set != NULL && broken == NULL) {
        broken = read_set(job, set);
    }
    if (job != NULL && context != NULL && broken == NULL) {
        broken = read_context(job, context);
    }
    if (job != NULL && person != NULL && broken == NULL) {
        broken = read_word(job->person, person, TACET__PERSON_MOST,
                           "'person' must be a text of 1 to 128 of A-Z a-z 0-9 . _ : -");
    }
    const json_t *count = json_object_get(body, "count");
    if (job != NULL && count != NULL && broken == NULL) {
        const json_int_t many = json_integer_value(count);
        broken = many >= 1 && many <= TACET__SUGGEST_MOST ? NULL : "'count' must be a whole number, 1 to 64";
        job->many = broken == NULL ? (size_t)many : 0;
    }
    if (job != NULL) {
        job->owned = true;
        memcpy(job->owner, c->token.hash, sizeof job->owner);
        job->open_most = c->token.open_most;
        job->rounds_most = c->token.rounds_most;
    }
    submit_body(c, response, job, body, broken);
}

static void observe(tacet__call *c, tacet__response *response) {
    static const char *const NAMES[] = {"ticket", "value", "failed", NULL};
    json_t *body = tacet__call_body(c, response, NAMES);
    if (body == NULL) {
        return;
    }
    tacet__job *job = tacet__job_create(TACET__JOB_OBSERVE);
    const json_t *value = json_object_get(body, "value");
    const char *broken = job != NULL ? read_ticket(job, json_string_value(json_object_get(body, "ticket"))) : NULL;
    const json_t *failed = json_object_get(body, "failed");
    if (broken == NULL && failed != NULL && (!json_is_true(failed) || value != NULL)) {
        broken = "'failed' is true, and then there is no 'value'";
    }
    if (broken == NULL && failed == NULL && !(json_is_number(value) && isfinite(json_number_value(value)))) {
        broken = "'value' must be a number";
    }
    if (job != NULL) {
        job->failed = failed != NULL;
        job->value = json_number_value(value);
    }
    submit_body(c, response, job, body, broken);
}

static void look(tacet__call *c, tacet__response *response) {
    double seconds = 0;
    if (!tacet__call_wait(c, response, &seconds)) {
        return;
    }
    tacet__job *job = tacet__job_create(TACET__JOB_LOOK);
    if (job != NULL) {
        (void)read_ticket(job, c->last);
        job->wait = seconds;
    }
    submit(c, response, job);
}

static void status(tacet__call *c, tacet__response *response) {
    submit(c, response, tacet__job_create(TACET__JOB_STATUS));
}

static void ledger(tacet__call *c, tacet__response *response) {
    submit(c, response, tacet__job_create(TACET__JOB_LEDGER));
}

static void best(tacet__call *c, tacet__response *response) {
    submit(c, response, tacet__job_create(TACET__JOB_BEST));
}

static void model(tacet__call *c, tacet__response *response) {
    submit(c, response, tacet__job_create(TACET__JOB_MODEL));
}

static void submit_plain(tacet__call *c, tacet__response *response, tacet__job_kind kind) {
    static const char *const NAMES[] = {NULL};
    json_t *body = c->request.body_size > 0 ? tacet__call_body(c, response, NAMES) : NULL;
    json_decref(body);
    if (response->status == 0) {
        submit(c, response, tacet__job_create(kind));
    }
}

static void archive(tacet__call *c, tacet__response *response) {
    submit_plain(c, response, TACET__JOB_ARCHIVE);
}

static void delete_study(tacet__call *c, tacet__response *response) {
    submit_plain(c, response, TACET__JOB_DELETE);
}

static void extend(tacet__call *c, tacet__response *response) {
    static const char *const NAMES[] = {"rounds", NULL};
    json_t *body = tacet__call_body(c, response, NAMES);
    if (body == NULL) {
        return;
    }
    const json_int_t rounds = json_integer_value(json_object_get(body, "rounds"));
    json_decref(body);
    if (rounds < 1) {
        tacet__refuse(response, 400, "invalid", "'rounds' must be a whole number: how many there are to be in all");
        return;
    }
    tacet__job *job = tacet__job_create(TACET__JOB_EXTEND);
    if (job != NULL) {
        job->number = (uint64_t)rounds;
    }
    submit(c, response, job);
}

static void release(tacet__call *c, tacet__response *response) {
    submit(c, response, tacet__job_create(TACET__JOB_RELEASE));
}

static void releases(tacet__call *c, tacet__response *response) {
    submit(c, response, tacet__job_create(TACET__JOB_RELEASES));
}

static void get_release(tacet__call *c, tacet__response *response) {
    tacet__job *job = tacet__job_create(TACET__JOB_GET_RELEASE);
    const bool number = strspn(c->last, "0123456789") == strlen(c->last) && strlen(c->last) <= 9;
    if (job != NULL) {
        job->number = number ? strtoull(c->last, NULL, 10) : 0;
    }
    submit(c, response, job);
}

typedef struct listing {
    json_t *array;
    const char *only; /* "": all */
} listing;

static tacet_status list_one(const tacet__study *study, void *user, tacet_error *err) {
    listing *l = user;
    (void)err;
    if (l->only[0] == '\0' || strcmp(l->only, study->name) == 0) {
        json_t *one = json_pack("{ss ss ss sI}", "name", study->name, "trust",
                                study->model == TACET__STUDY_CENTRAL ? "central" : "local", "state",
                                study->state == TACET__STUDY_ARCHIVED ? "archived" : "active", "suggested",
                                (json_int_t)study->suggested);
        if (one != NULL && !study->reports_private) {
            (void)json_object_set_new(one, "observed", json_integer((json_int_t)study->observed));
        }
        if (json_array_append_new(l->array, one) != 0) {
            return TACET_NO_MEMORY;
        }
    }
    return TACET_OK;
}

/* On the desk. */
static void list(tacet__call *c, tacet__response *response) {
    tacet_error err = {0};
    listing l = {json_array(), c->token.study};
    const tacet_status found = tacet__engine_list(c->service->engine, list_one, &l, &err);
    if (found != TACET_OK) {
        json_decref(l.array);
        tacet__refuse_failure(response, TACET_IO, "");
    } else {
        tacet__call_fill(response, 200, json_pack("{so}", "studies", l.array));
    }
}

/* On the thread that makes studies: an outlook and a first state take longer than the desk's clients should wait. A
 * repeated request finds the study that the first one made. */
static void make_study(tacet__call *c, tacet__response *response) {
    const char *dry = c->request.argument != NULL ? c->request.argument(c->request.peer, "dry_run") : NULL;
    tacet_error err = {0};
    json_t *body = NULL;
    if (c->token.study[0] != '\0') {
        tacet__refuse(response, 403, "forbidden", "the token is of one study: a token for all of them is needed");
        return;
    }
    if (dry != NULL && strcmp(dry, "true") != 0 && strcmp(dry, "false") != 0) {
        tacet__refuse(response, 400, "invalid", "'dry_run' must be true or false");
        return;
    }
    const bool only_try = dry != NULL && dry[0] == 't';
    const tacet_status status =
        tacet__engine_create(c->service->engine, &body, only_try, c->request.body, c->request.body_size, &err);
    if (status == TACET_OK) {
        tacet__call_fill(response, only_try ? 200 : 201, body);
    } else {
        tacet__refuse_failure(response, status == TACET_UNSUPPORTED ? TACET_INVALID : status, err.message);
    }
}

static void create(tacet__call *c, tacet__response *response) {
    (void)tacet__call_to(c, TACET__MAKER, make_study, response);
}

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

/* --- the table ---------------------------------------------------------------------------------------------------- */

enum {
    NOBODY = 0,
    DEVICE = 1 << TACET__TOKEN_DEVICE,
    ANALYST = 1 << TACET__TOKEN_ANALYST,
    OWNER = 1 << TACET__TOKEN_OWNER
};

typedef struct route {
    const char *name; /* in the metrics */
    const char *method;
    const char *path; /* {study} is a study's name, any other {word} one more word */
    unsigned roles;   /* who may ask; NOBODY: no token is needed */
    tacet__call_fn handle;
    bool asks_store; /* it runs on the desk, where the store may be asked */
    bool audited;    /* and is in the audit trail before it is done */
} route;

static const route ROUTES[] = {
    {"live", "GET", "/v1/live", NOBODY, live, false, false},
    {"ready", "GET", "/v1/ready", NOBODY, ready, false, false},
    {"metrics", "GET", "/v1/metrics", ANALYST | OWNER, metrics, false, false},
    {"list", "GET", "/v1/studies", DEVICE | ANALYST | OWNER, list, true, false},
    {"create", "POST", "/v1/studies", OWNER, create, true, true},
    {"status", "GET", "/v1/studies/{study}", DEVICE | ANALYST | OWNER, status, false, false},
    {"suggest", "POST", "/v1/studies/{study}/suggestions", DEVICE | OWNER, suggest, false, false},
    {"look", "GET", "/v1/studies/{study}/suggestions/{ticket}", DEVICE | OWNER, look, false, false},
    {"observe", "POST", "/v1/studies/{study}/observations", DEVICE | OWNER, observe, false, false},
    {"weights", "GET", "/v1/studies/{study}/weights", DEVICE | ANALYST | OWNER, tacet__device_weights, false, false},
    {"grants", "POST", "/v1/studies/{study}/grants", DEVICE | OWNER, tacet__device_grants, false, false},
    {"reports", "POST", "/v1/studies/{study}/reports", DEVICE | OWNER, tacet__device_reports, false, false},
    {"page", "GET", "/v1/pages/{study}", NOBODY, tacet__device_weights, false, false},
    {"page_grants", "POST", "/v1/pages/{study}/grants", NOBODY, tacet__page_grants, false, false},
    {"page_reports", "POST", "/v1/pages/{study}/reports", NOBODY, tacet__page_reports, false, false},
    {"release", "POST", "/v1/studies/{study}/releases", ANALYST | OWNER, release, true, true},
    {"releases", "GET", "/v1/studies/{study}/releases", ANALYST | OWNER, releases, false, false},
    {"get_release", "GET", "/v1/studies/{study}/releases/{number}", ANALYST | OWNER, get_release, false, false},
    {"ledger", "GET", "/v1/studies/{study}/ledger", ANALYST | OWNER, ledger, false, false},
    {"best", "GET", "/v1/studies/{study}/best", ANALYST | OWNER, best, false, false},
    {"model", "GET", "/v1/studies/{study}/model", DEVICE | ANALYST | OWNER, model, false, false},
    {"extend", "POST", "/v1/studies/{study}/rounds", OWNER, extend, true, true},
    {"archive", "POST", "/v1/studies/{study}/archive", OWNER, archive, true, true},
    {"delete", "DELETE", "/v1/studies/{study}", OWNER, delete_study, true, true},
    {"events", "GET", "/v1/studies/{study}/events", ANALYST | OWNER, tacet__board_events, false, false},
    {"tickets", "GET", "/v1/studies/{study}/tickets", OWNER, tacet__board_tickets, false, false},
    {"expire", "POST", "/v1/studies/{study}/expiry", OWNER, tacet__board_expire, true, true},
    {"posterior", "GET", "/v1/studies/{study}/posterior", ANALYST | OWNER, tacet__board_posterior, false, false},
    {"figure", "GET", "/v1/studies/{study}/figures/{figure}", ANALYST | OWNER, tacet__board_figure, false, false},
    {"tokens", "GET", "/v1/tokens", OWNER, tacet__board_tokens, true, false},
    {"make_token", "POST", "/v1/tokens", OWNER, tacet__board_make_token, true, true},
    {"renew_token", "POST", "/v1/tokens/{number}/renewal", OWNER, tacet__board_renew_token, true, true},
    {"drop_token", "DELETE", "/v1/tokens/{number}", OWNER, tacet__board_drop_token, true, true},
    {"log_in", "POST", "/v1/session", NOBODY, tacet__board_log_in, false, false},
    {"session", "GET", "/v1/session", DEVICE | ANALYST | OWNER, tacet__board_session, false, false},
    {"log_out", "DELETE", "/v1/session", DEVICE | ANALYST | OWNER, tacet__board_log_out, false, false},
};
enum { ROUTE_COUNT = sizeof ROUTES / sizeof ROUTES[0], OTHER = ROUTE_COUNT };

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

/* True when the token may ask; otherwise the answer is made. */
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
            tacet__engine_say(c->service->engine, "a request with a token that is none was refused", NULL);
        }
        tacet__refuse(response, 401, "unauthorized", "a valid token is needed: Authorization: Bearer TOKEN");
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
    if (!r->audited) {
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
        if (known && !found->asks_store) {
            serve(c, response);
        } else {
            (void)tacet__call_to(c, TACET__DESK, serve, response);
        }
    }
    if (response->status != 0) {
        tacet__call_end(c, response);
    }
}
