/* routes.c - the service's request table: every path, who may ask, and what is made of the body.
 * Ring: open. Bodies are read strictly: a field that is not known, a wrong type, a number that is not finite is a
 * 400 that names the rule. What an answer says of a client's own request goes to that client alone.
 * Cost: O(bytes) a request; answers that need the study come from its worker. */
#include "service/open/routes.h"

#include "core/json_numbers.h"
#include "core/memory.h"
#include "service/open/engine_internal.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RETRY_SECONDS = 1, WORDS = 5, WAIT_MOST = 60, KEY_MOST = 128, OWNER_BYTES = 8 };

/* One request on its way. */
typedef struct call {
    tacet__service *service;
    unsigned route;
    double since;
    tacet__exchange *exchange;
    char study[TACET__STUDY_NAME_MOST + 1];
    tacet__token token;
} call;

/* --- answers ------------------------------------------------------------------------------------------------------ */

static void fill(tacet__response *response, unsigned status, json_t *body) {
    response->status = status;
    response->file = -1;
    response->body = body != NULL ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (response->body != NULL) {
        tacet__json_shorten(response->body);
    }
    response->body_size = response->body != NULL ? strlen(response->body) : 0;
    json_decref(body);
}

static void refuse(tacet__response *response, unsigned status, const char *error, const char *reason) {
    fill(response, status, json_pack("{ss ss}", "error", error, "reason", reason));
    if (status == 503) {
        response->retry_after = RETRY_SECONDS;
    }
}

/* A failure as seen from outside. What went wrong in the store stays in the log: it is no business of a client. */
static void refuse_failure(tacet__response *response, tacet_status status, const char *message) {
    switch (status) {
    case TACET_INVALID:
    case TACET_PARSE:
        refuse(response, 400, "invalid", message);
        break;
    case TACET_NOT_FOUND:
        refuse(response, 404, "not_found", message);
        break;
    case TACET_CONFLICT:
        refuse(response, 409, "conflict", message);
        break;
    case TACET_STATE:
        refuse(response, 409, "state", message);
        response->retry_after = RETRY_SECONDS; /* a batch may be over by then; the end of a study is not */
        break;
    case TACET_BUDGET:
        refuse(response, 409, "budget", "the privacy budget of the study is spent");
        break;
    case TACET_CORRUPT:
        refuse(response, 500, "damaged", "the study's stored history does not hold together; it is not served");
        break;
    default:
        refuse(response, 503, "unavailable", "nothing was lost and nothing was stored twice; send the request again");
        break;
    }
}

static void answered(const call *c, unsigned status) {
    tacet__metrics_answered(c->service->metrics, c->route, status, tacet__service_now() - c->since);
}

static json_t *action_json(const tacet__job *job) {
    json_t *action = json_array();
    for (size_t i = 0; i < job->action_size && action != NULL; i++) {
        if (json_array_append_new(action, json_real(job->action[i])) != 0) {
            json_decref(action);
            return NULL;
        }
    }
    return action;
}

static void answer_job(tacet__response *response, tacet__job *job) {
    json_t *body = NULL;
    switch (job->kind) {
    case TACET__JOB_SUGGEST:
        fill(response, job->repeated ? 200 : 201,
             json_pack("{ss sI so}", "ticket", job->ticket, "index", (json_int_t)job->index, "action",
                       action_json(job)));
        return;
    case TACET__JOB_OBSERVE:
        body = json_pack("{ss ss}", "ticket", job->ticket, "state", "observed");
        if (body != NULL && job->clipped) {
            (void)json_object_set_new(body, "clipped", json_true());
        }
        fill(response, 200, body);
        return;
    case TACET__JOB_LOOK:
        body = json_pack("{ss ss sI}", "ticket", job->ticket, "state",
                         job->observed  ? "observed"
                         : job->expired ? "expired"
                                        : "open",
                         "index", (json_int_t)job->index);
        if (body != NULL && job->action_size > 0) {
            (void)json_object_set_new(body, "action", action_json(job));
        }
        fill(response, 200, body);
        return;
    case TACET__JOB_RELEASE:
    case TACET__JOB_GET_RELEASE:
        fill(response, job->kind == TACET__JOB_RELEASE ? 201 : 200,
             json_pack("{sI sO}", "number", (json_int_t)job->number, "release", job->body));
        return;
    case TACET__JOB_ARCHIVE:
        fill(response, 200, json_pack("{ss}", "state", "archived"));
        return;
    case TACET__JOB_STATUS:
    case TACET__JOB_LEDGER:
        fill(response, 200, json_incref(job->body));
        return;
    }
}

/* The worker's thread, once what was asked is durable. */
static void done(tacet__job *job) {
    call *c = job->user;
    tacet__response response = {.file = -1};
    if (job->status == TACET_OK) {
        answer_job(&response, job);
    } else if (job->status == TACET_STATE && job->expired) {
        refuse(&response, 410, "expired", job->err.message);
    } else {
        refuse_failure(&response, job->status, job->err.message);
    }
    answered(c, response.status);
    tacet__exchange *exchange = c->exchange;
    tacet__job_free(job);
    free(c);
    exchange->answer(exchange, &response);
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
static void submit(const call *c, const tacet__request *request, tacet__response *response, tacet__job *job) {
    call *kept = malloc(sizeof *kept);
    if (job == NULL || kept == NULL) {
        free(kept);
        tacet__job_free(job);
        refuse_failure(response, TACET_NO_MEMORY, "");
        return;
    }
    if (job->key[0] != '\0') {
        own_key(job, &c->token);
    }
    *kept = *c;
    kept->exchange = request->exchange;
    job->user = kept;
    job->done = done;
    request->exchange->suspend(request->exchange);
    tacet__engine_submit(c->service->engine, c->study, job);
}

/* --- bodies ------------------------------------------------------------------------------------------------------- */

/* NULL: the body is not an object, or has a field that is not in the list; then the answer is made. */
static json_t *body_of(const tacet__request *request, tacet__response *response, const char *const *names) {
    json_error_t where;
    json_t *body = json_loadb(request->body, request->body_size, JSON_REJECT_DUPLICATES, &where);
    const char *key = NULL;
    json_t *value = NULL;
    char reason[160];
    if (!json_is_object(body)) {
        refuse(response, 400, "invalid", "the body must be a JSON object");
        json_decref(body);
        return NULL;
    }
    json_object_foreach(body, key, value) {
        size_t i = 0;
        while (names[i] != NULL && strcmp(names[i], key) != 0) {
            i++;
        }
        if (names[i] == NULL) {
            (void)snprintf(reason, sizeof reason, "field '%.40s' is not known here", key);
            refuse(response, 400, "invalid", reason);
            json_decref(body);
            return NULL;
        }
    }
    return body;
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
        const json_t *arm = json_array_get(set, i);
        if (json_array_size(arm) != d) {
            return "all arms must be arrays of equally many numbers";
        }
        for (size_t k = 0; k < d; k++) {
            const json_t *number = json_array_get(arm, k);
            if (!json_is_number(number)) {
                return "an arm must be an array of 1 to 64 numbers";
            }
            job->points[i * d + k] = json_number_value(number);
            if (!isfinite(job->points[i * d + k])) {
                return "an arm's numbers must be finite";
            }
        }
    }
    return NULL;
}

static const char *read_context(tacet__job *job, const json_t *context) {
    const size_t count = json_array_size(context);
    if (!json_is_array(context) || count == 0 || count > TACET__DEFINITION_DIMS) {
        return "'context' must be an array of 1 to 64 numbers";
    }
    job->context = TACET__ZALLOC(double, count);
    if (job->context == NULL) {
        return "the context is too large";
    }
    job->context_dim = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(context, i);
        job->context[i] = json_number_value(number);
        if (!json_is_number(number) || !isfinite(job->context[i])) {
            return "'context' must be an array of 1 to 64 numbers";
        }
    }
    return NULL;
}

static const char *read_key(tacet__job *job, const json_t *key) {
    static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
    const char *text = json_string_value(key);
    const size_t length = text != NULL ? strlen(text) : 0;
    if (length == 0 || length > KEY_MOST || strspn(text, LETTERS) != length) {
        return "'key' must be a text of 1 to 128 of A-Z a-z 0-9 . _ : -";
    }
    memcpy(job->key, text, length + 1);
    return NULL;
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

static void suggest(call *c, const tacet__request *request, tacet__response *response, const char *last) {
    static const char *const NAMES[] = {"key", "decision_set", "context", NULL};
    (void)last;
    json_t *body = body_of(request, response, NAMES);
    if (body == NULL) {
        return;
    }
    tacet__job *job = tacet__job_create(TACET__JOB_SUGGEST);
    const json_t *key = json_object_get(body, "key");
    const json_t *set = json_object_get(body, "decision_set");
    const json_t *context = json_object_get(body, "context");
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
    json_decref(body);
    if (broken != NULL) {
        tacet__job_free(job);
        refuse(response, 400, "invalid", broken);
    } else {
        submit(c, request, response, job);
    }
}

static void observe(call *c, const tacet__request *request, tacet__response *response, const char *last) {
    static const char *const NAMES[] = {"ticket", "value", NULL};
    (void)last;
    json_t *body = body_of(request, response, NAMES);
    if (body == NULL) {
        return;
    }
    tacet__job *job = tacet__job_create(TACET__JOB_OBSERVE);
    const json_t *value = json_object_get(body, "value");
    const char *broken = job != NULL ? read_ticket(job, json_string_value(json_object_get(body, "ticket"))) : NULL;
    if (broken == NULL && !json_is_number(value)) {
        broken = "'value' must be a number";
    }
    if (job != NULL && broken == NULL) {
        job->value = json_number_value(value);
        broken = isfinite(job->value) ? NULL : "'value' must be finite";
    }
    json_decref(body);
    if (broken != NULL) {
        tacet__job_free(job);
        refuse(response, 400, "invalid", broken);
    } else {
        submit(c, request, response, job);
    }
}

static void look(call *c, const tacet__request *request, tacet__response *response, const char *last) {
    const char *wait = request->argument != NULL ? request->argument(request->peer, "wait") : NULL;
    char *end = NULL;
    const double seconds = wait != NULL ? strtod(wait, &end) : 0;
    if (wait != NULL && (end == wait || *end != '\0' || !(seconds >= 0 && seconds <= WAIT_MOST))) {
        refuse(response, 400, "invalid", "'wait' must be a number of seconds, 0 to 60");
        return;
    }
    tacet__job *job = tacet__job_create(TACET__JOB_LOOK);
    if (job != NULL) {
        (void)read_ticket(job, last);
        job->wait = seconds;
    }
    submit(c, request, response, job);
}

static void status(call *c, const tacet__request *request, tacet__response *response, const char *last) {
    (void)last;
    submit(c, request, response, tacet__job_create(TACET__JOB_STATUS));
}

static void ledger(call *c, const tacet__request *request, tacet__response *response, const char *last) {
    (void)last;
    submit(c, request, response, tacet__job_create(TACET__JOB_LEDGER));
}

static void archive(call *c, const tacet__request *request, tacet__response *response, const char *last) {
    (void)last;
    submit(c, request, response, tacet__job_create(TACET__JOB_ARCHIVE));
}

static void release(call *c, const tacet__request *request, tacet__response *response, const char *last) {
    (void)last;
    submit(c, request, response, tacet__job_create(TACET__JOB_RELEASE));
}

static void get_release(call *c, const tacet__request *request, tacet__response *response, const char *last) {
    tacet__job *job = tacet__job_create(TACET__JOB_GET_RELEASE);
    const bool number = strspn(last, "0123456789") == strlen(last) && strlen(last) <= 9;
    if (job != NULL) {
        job->number = number ? strtoull(last, NULL, 10) : 0;
    }
    submit(c, request, response, job);
}

typedef struct listing {
    json_t *array;
    const char *only; /* "": all */
} listing;

static tacet_status list_one(const tacet__study *study, void *user, tacet_error *err) {
    listing *l = user;
    (void)err;
    if (l->only[0] == '\0' || strcmp(l->only, study->name) == 0) {
        json_t *one = json_pack("{ss ss ss sI sI}", "name", study->name, "trust",
                                study->model == TACET__STUDY_CENTRAL ? "central" : "local", "state",
                                study->state == TACET__STUDY_ARCHIVED ? "archived" : "active", "suggested",
                                (json_int_t)study->suggested, "observed", (json_int_t)study->observed);
        if (json_array_append_new(l->array, one) != 0) {
            return TACET_NO_MEMORY;
        }
    }
    return TACET_OK;
}

static void list(call *c, const tacet__request *request, tacet__response *response, const char *last) {
    tacet_error err = {0};
    listing l = {json_array(), c->token.study};
    (void)request;
    (void)last;
    const tacet_status found = tacet__engine_list(c->service->engine, list_one, &l, &err);
    if (found != TACET_OK) {
        json_decref(l.array);
        refuse_failure(response, TACET_IO, "");
    } else {
        fill(response, 200, json_pack("{so}", "studies", l.array));
    }
}

static void health(call *c, const tacet__request *request, tacet__response *response, const char *last) {
    tacet_error err = {0};
    (void)request;
    (void)last;
    if (tacet__engine_health(c->service->engine, &err) == TACET_OK) {
        fill(response, 200, json_pack("{ss}", "status", "ok"));
    } else {
        refuse(response, 503, "unavailable", "the store cannot be read");
    }
}

static void metrics(call *c, const tacet__request *request, tacet__response *response, const char *last);

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
    void (*handle)(call *c, const tacet__request *request, tacet__response *response, const char *last);
} route;

static const route ROUTES[] = {
    {"health", "GET", "/v1/health", NOBODY, health},
    {"metrics", "GET", "/v1/metrics", ANALYST | OWNER, metrics},
    {"list", "GET", "/v1/studies", DEVICE | ANALYST | OWNER, list},
    {"status", "GET", "/v1/studies/{study}", DEVICE | ANALYST | OWNER, status},
    {"suggest", "POST", "/v1/studies/{study}/suggestions", DEVICE | OWNER, suggest},
    {"look", "GET", "/v1/studies/{study}/suggestions/{ticket}", DEVICE | OWNER, look},
    {"observe", "POST", "/v1/studies/{study}/observations", DEVICE | OWNER, observe},
    {"release", "POST", "/v1/studies/{study}/releases", ANALYST | OWNER, release},
    {"get_release", "GET", "/v1/studies/{study}/releases/{number}", ANALYST | OWNER, get_release},
    {"ledger", "GET", "/v1/studies/{study}/ledger", ANALYST | OWNER, ledger},
    {"archive", "POST", "/v1/studies/{study}/archive", OWNER, archive},
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

static void metrics(call *c, const tacet__request *request, tacet__response *response, const char *last) {
    const char *names[ROUTE_COUNT + 1];
    (void)request;
    (void)last;
    if (c->token.study[0] != '\0') {
        refuse(response, 403, "forbidden", "metrics are of all studies: a token for all of them is needed");
        return;
    }
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        names[i] = ROUTES[i].name;
    }
    names[OTHER] = "other";
    response->status = 200;
    response->content_type = "text/plain; version=0.0.4";
    response->body = tacet__metrics_text(c->service->metrics, names, ROUTE_COUNT + 1);
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
static bool allowed(call *c, const route *r, const tacet__request *request, tacet__response *response) {
    tacet_error err = {0};
    if (r->roles == NOBODY) {
        return true;
    }
    const tacet_status known = request->bearer == NULL
                                   ? TACET_NOT_FOUND
                                   : tacet__engine_token(c->service->engine, &c->token, request->bearer, &err);
    if (known != TACET_OK && known != TACET_NOT_FOUND) {
        refuse_failure(response, TACET_IO, "");
        return false;
    }
    if (known == TACET_NOT_FOUND) {
        refuse(response, 401, "unauthorized", "a valid token is needed: Authorization: Bearer TOKEN");
        return false;
    }
    if ((r->roles & 1U << c->token.role) == 0) {
        refuse(response, 403, "forbidden", "the token's role may not do this");
        return false;
    }
    if (c->token.study[0] != '\0' && c->study[0] != '\0' && strcmp(c->token.study, c->study) != 0) {
        /* Whether the other study exists is not said. */
        refuse(response, 403, "forbidden", "the token is of another study");
        return false;
    }
    return true;
}

void tacet__service_handle(void *user, const tacet__request *request, tacet__response *response) {
    call c = {.service = user, .route = OTHER, .since = tacet__service_now()};
    const char *last = NULL;
    bool path_exists = false;
    const route *found = NULL;
    for (size_t i = 0; i < ROUTE_COUNT && found == NULL; i++) {
        if (matches(ROUTES[i].path, request->path, c.study, &last)) {
            path_exists = true;
            if (strcmp(ROUTES[i].method, request->method) == 0) {
                found = &ROUTES[i];
                c.route = (unsigned)i;
            }
        }
    }
    response->file = -1;
    if (found == NULL) {
        refuse(response, path_exists ? 405 : 404, path_exists ? "method" : "not_found",
               path_exists ? "this path has no such method" : "no such path");
    } else if (allowed(&c, found, request, response)) {
        found->handle(&c, request, response, last);
    }
    if (response->status != 0) {
        answered(&c, response->status);
    }
}
