/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_desk_page.c - any bytes as a request to the curator's desk: first line "METHOD PATH?QUERY", then the body; the
 * first byte of the line, where it is a digit, says what of a session comes with it. Whatever is asked, the answer is
 * JSON with a status of web/README.md, nothing is told without a session, and the desk goes on. No network. */
#include "outsourced/desk_fixture.h"

#include "fuzz.h"
#include "io/http/pki.h"
#include "outsourced/trusted/desk_page.h"

#include <jansson.h>
#include <pthread.h>

static fixture *f;
static tacet__desk_page *page;
static char hash[TACET__TOKEN_HASH], token[TACET__TOKEN_TEXT], cookie[64], guard[64], ledger[PATH_BYTES + 16];
static const char MANIFEST[] = "{}";
static unsigned tickets;

/* A request as the wire would hand it over. */
typedef struct asked {
    const char *query;
    bool has_cookie, has_guard;
    char value[128];
    tacet__exchange exchange;
    tacet__response response;
    bool suspended, answered;
    pthread_mutex_t lock;
    pthread_cond_t wake;
} asked;

static const char *argument(const void *peer, const char *name) {
    asked *a = (asked *)(size_t)peer;
    const size_t length = strlen(name);
    for (const char *at = a->query; at != NULL; at = strchr(at, '&') != NULL ? strchr(at, '&') + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            (void)snprintf(a->value, sizeof a->value, "%.*s", (int)strcspn(at + length + 1, "&"), at + length + 1);
            return a->value;
        }
    }
    return NULL;
}

static const char *header(const void *peer, const char *name) {
    return ((const asked *)peer)->has_guard && strcmp(name, TACET__GUARD_HEADER) == 0 ? guard : NULL;
}

static const char *cookie_of(const void *peer, const char *name) {
    (void)name;
    return ((const asked *)peer)->has_cookie ? cookie : NULL;
}

static asked *of(tacet__exchange *self) {
    return (asked *)(void *)((char *)self - offsetof(asked, exchange));
}

static void suspend(tacet__exchange *self) {
    of(self)->suspended = true;
}

static void take_answer(tacet__exchange *self, const tacet__response *response) {
    asked *a = of(self);
    (void)pthread_mutex_lock(&a->lock);
    a->response = *response;
    a->answered = true;
    (void)pthread_cond_signal(&a->wake);
    (void)pthread_mutex_unlock(&a->lock);
}

static void ask_desk(asked *a, const char *method, const char *path, const char *body, size_t size) {
    a->exchange = (tacet__exchange){suspend, take_answer, false};
    a->response = (tacet__response){.file = -1};
    (void)pthread_mutex_init(&a->lock, NULL);
    (void)pthread_cond_init(&a->wake, NULL);
    const tacet__request request = {.method = method,
                                    .path = path,
                                    .body = body,
                                    .body_size = size,
                                    .argument = argument,
                                    .header = header,
                                    .cookie = cookie_of,
                                    .peer = a,
                                    .exchange = &a->exchange};
    tacet__response now = {.file = -1};
    tacet__desk_page_handle(page, &request, &now);
    (void)pthread_mutex_lock(&a->lock);
    while (a->suspended && !a->answered) {
        (void)pthread_cond_wait(&a->wake, &a->lock);
    }
    (void)pthread_mutex_unlock(&a->lock);
    a->response = a->suspended ? a->response : now;
}

static void log_in(void) {
    char body[200];
    asked a = {0};
    const int size = snprintf(body, sizeof body, "{\"token\":\"%s\"}", token);
    ask_desk(&a, "POST", "/v1/session", body, (size_t)size);
    assert_int_equal(a.response.status, 201);
    json_t *made = json_loads(a.response.body, 0, NULL);
    (void)snprintf(guard, sizeof guard, "%s", json_string_value(json_object_get(made, "guard")));
    const char *value = strchr(a.response.cookie, '=') + 1;
    (void)snprintf(cookie, sizeof cookie, "%.*s", (int)strcspn(value, ";"), value);
    json_decref(made);
    free(a.response.body);
}

static void finish(void) {
    void *state = f;
    tacet__desk_page_close(page);
    (void)teardown(&state);
}

static void start(void) {
    void *state = NULL;
    (void)setup(&state);
    f = state;
    release(f, 1000000, NULL);
    open_desk(f, &f->desk); /* a person answers */
    tacet__token_make(token);
    tacet__token_hash(hash, token);
    (void)snprintf(ledger, sizeof ledger, "%s/ledger.db", f->out);
    const tacet__desk_page_settings settings = {.desk = f->desk,
                                                .source = "person",
                                                .data = f->data,
                                                .id = "x",
                                                .ranged = true,
                                                .lo = 0,
                                                .hi = 1,
                                                .ledger = ledger,
                                                .manifest = MANIFEST,
                                                .manifest_size = sizeof MANIFEST - 1,
                                                .token_hash = hash,
                                                .session_minutes = 60};
    assert_ok(tacet__desk_page_open(&page, &settings, NULL));
    log_in();
    (void)atexit(finish);
}

/* There is always a question to answer, by a name that a mutation finds. */
static void keep_question(void) {
    tacet_desk_reply reply;
    char ticket[16];
    (void)snprintf(ticket, sizeof ticket, "q%u", tickets);
    if (tickets == 0 || tacet_desk_look(f->desk, &reply, ticket, NULL) != TACET_OK || reply.answered) {
        tickets = tickets % 9 + 1; /* later ones are answered, and are refused then: that is asked for, too */
        (void)snprintf(ticket, sizeof ticket, "q%u", tickets);
        (void)tacet_desk_ask(f->desk, &reply, ticket, tickets % ROWS, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const unsigned KNOWN[] = {200, 201, 400, 401, 403, 404, 405, 409, 0};
    asked a = {.has_cookie = true, .has_guard = true};
    fuzz_request r;
    if (page == NULL) {
        start();
    }
    if (size > 0 && data[0] >= '0' && data[0] <= '3') {
        a.has_cookie = (data[0] & 1) != 0;
        a.has_guard = (data[0] & 2) != 0;
        data++;
        size--;
    }
    if (!fuzz_read_request(&r, data, size)) {
        return 0;
    }
    a.query = r.query;
    keep_question();
    ask_desk(&a, r.line, r.path, r.body, r.size);
    const unsigned status = a.response.status;
    const char *type = a.response.content_type;
    json_t *json = a.response.body != NULL ? json_loadb(a.response.body, a.response.body_size, 0, NULL) : NULL;
    const bool open = strcmp(r.path, "/v1/session") == 0; /* all else is for whoever has logged in */
    must(fuzz_known(status, KNOWN));
    must(json != NULL || (status == 200 && type != NULL && strncmp(type, "text/html", 9) == 0));
    must(status < 400 || json_object_get(json, "detail") != NULL);
    must((a.has_cookie && a.has_guard) || open || status >= 400);
    json_decref(json);
    free(a.response.body);
    free(r.body);
    if (open && strcmp(r.line, "DELETE") == 0) {
        log_in();
    }
    return 0;
}
