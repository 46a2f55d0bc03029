/* SPDX-License-Identifier: Apache-2.0 */
/* desk_page.c - the requests of the desk's page.
 * Ring: trusted. Records and measured values are in the answers: whoever logs in here is who holds them. A long poll
 * costs a connection, no thread (desk_wait.c). Cost: a pass over the table for each record that is shown. */
#include "outsourced/trusted/desk_page.h"

#include "core/fail.h"
#include "core/json_numbers.h"
#include "core/memory.h"
#include "dp/open/ledger_view.h"
#include "io/http/pki.h"
#include "io/http/problem.h"
#include "outsourced/trusted/desk_internal.h"
#include "outsourced/trusted/routes.h"
#include "pages/assets.h"
#include "report/disclosure_facts.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/receipt.h>
#include <tacet/report/report.h>

enum { WAIT_MOST = 60, LIST_MOST = 1000, MISSES_MOST = 50, COOKIE_NAME = 32, MINUTES_MOST = 1440 };

struct tacet__desk_page {
    tacet__desk_page_settings s;
    tacet__sessions *sessions;
};

/* --- answers ------------------------------------------------------------------------------------------------------ */

static void say(tacet__response *response, unsigned status, json_t *body) {
    response->status = status;
    response->file = -1;
    response->body = body != NULL ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (response->body != NULL) {
        tacet__json_shorten(response->body);
    }
    response->body_size = response->body != NULL ? strlen(response->body) : 0;
    json_decref(body);
}

static json_t *text_json(const char *text, size_t length) {
    json_t *value = json_stringn(text, length);
    return value != NULL ? value : json_string("(not UTF-8)");
}

static json_t *real_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *with_reason(json_t *one, const query *q) {
    if (one != NULL) {
        (void)json_object_set_new(one, "reason", text_json(q->reason, strlen(q->reason)));
    }
    return one;
}

/* Rows that could not be measured and were answered with noise about a stand-in, which the modeler does not see: the
 * newest, of what this process was asked. */
static json_t *misses(tacet_desk *desk) {
    json_t *list = json_array();
    (void)pthread_mutex_lock(&desk->lock);
    const size_t count = desk->manifest.outputs_private ? desk->count : 0;
    for (size_t i = count; i > 0 && json_array_size(list) < MISSES_MOST; i--) {
        const query *q = desk->queries[i - 1];
        if (q->state == DONE && q->reason[0] != '\0') {
            (void)json_array_append_new(
                list, with_reason(json_pack("{sI sI}", "row", (json_int_t)q->row, "since", (json_int_t)q->since), q));
        }
    }
    (void)pthread_mutex_unlock(&desk->lock);
    return list;
}

static json_t *open_questions(tacet_desk *desk) {
    json_t *list = json_array();
    (void)pthread_mutex_lock(&desk->lock);
    for (size_t i = 0; i < desk->count && json_array_size(list) < LIST_MOST; i++) {
        const query *q = desk->queries[i];
        if (q->state != DONE) {
            json_t *one = json_pack("{ss sI sI ss}", "ticket", q->ticket, "row", (json_int_t)q->row, "since",
                                    (json_int_t)q->since, "state",
                                    tacet__desk_busy(q)  ? "running"
                                    : q->state == FAILED ? "failed"
                                                         : "waiting");
            (void)json_array_append_new(list, q->state == FAILED ? with_reason(one, q) : one);
        }
    }
    (void)pthread_mutex_unlock(&desk->lock);
    return list;
}

static void tell_overview(tacet__desk_page *page, tacet__response *response) {
    tacet_ledger_totals t;
    const tacet_manifest *m = tacet_desk_manifest(page->s.desk);
    const uint64_t version = tacet_desk_version(page->s.desk);
    if (tacet_desk_total(page->s.desk, &t, NULL) != TACET_OK) {
        tacet__problem(response, 503, NULL, "the ledger cannot be read now");
        return;
    }
    const size_t made = tacet_desk_made(page->s.desk);
    char *claim = tacet_manifest_claim(m); /* both numbers: eps of one unit alone would be taken for that of anything */
    say(response, 200,
        json_pack("{sI sI ss sI so so s{ss sb ss sb} s{sf sf so sf sI sI} s{sI sI sI} so so}", "version",
                  (json_int_t)version, "now", (json_int_t)time(NULL), "source", page->s.source, "rows",
                  (json_int_t)m->rows, "id", page->s.id != NULL ? json_string(page->s.id) : json_null(), "range",
                  page->s.ranged ? json_pack("[f,f]", page->s.lo, page->s.hi) : json_null(), "release", "mechanism",
                  m->mechanism, "private", (int)m->is_private, "claim", claim != NULL ? claim : "", "outputs_private",
                  (int)m->outputs_private, "budget", "eps", t.budget_eps, "delta", t.budget_delta, "spent_eps",
                  real_or_null(t.eps), "spent_delta", t.delta, "entries", (json_int_t)t.entries, "uncovered",
                  (json_int_t)t.uncovered, "queries", "allowed", (json_int_t)m->queries, "made", (json_int_t)made,
                  "left", (json_int_t)(m->queries > made ? m->queries - made : 0), "questions",
                  open_questions(page->s.desk), "misses", misses(page->s.desk)));
    free(claim);
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

static double number_argument(const tacet__request *request, const char *name) {
    const char *text = request->argument != NULL ? request->argument(request->peer, name) : NULL;
    char *end = NULL;
    const double value = text != NULL ? strtod(text, &end) : -1;
    return text != NULL && end != text && *end == '\0' && value >= 0 && value < 1e15 ? value : -1;
}

/* A page that waits for news: its connection is suspended, and no thread waits with it. */
typedef struct waiting {
    tacet__desk_page *page;
    tacet__exchange *exchange;
} waiting;

static void take_reply(void *user, tacet_status status, const tacet_desk_reply *reply, const tacet_error *err) {
    waiting *w = user;
    tacet__response response = {.file = -1};
    (void)status, (void)reply, (void)err;
    tell_overview(w->page, &response);
    w->exchange->answer(w->exchange, &response);
    free(w);
}

static void overview(tacet__desk_page *page, const tacet__request *request, tacet__response *response) {
    const double after = number_argument(request, "after");
    const double wait = number_argument(request, "wait");
    const bool news = after < 0 || wait <= 0 || tacet_desk_version(page->s.desk) != (uint64_t)after;
    waiting *w = news ? NULL : malloc(sizeof *w);
    if (w == NULL) {
        tell_overview(page, response);
        return;
    }
    *w = (waiting){page, request->exchange};
    request->exchange->suspend(request->exchange); /* before it can be told: that may be at once */
    if (tacet_desk_watch(page->s.desk, (uint64_t)after, fmin(wait, WAIT_MOST), take_reply, w, NULL) != TACET_OK) {
        take_reply(w, TACET_OK, NULL, NULL);
    }
}

static void add_cell(void *user, const char *name, const char *text, size_t length) {
    (void)json_array_append_new(user, json_pack("[oo]", text_json(name, strlen(name)), text_json(text, length)));
}

static void question(tacet__desk_page *page, const tacet__request *request, tacet__response *response) {
    tacet_desk_reply reply;
    const char *ticket = strrchr(request->path, '/') + 1;
    if (tacet_desk_look(page->s.desk, &reply, ticket, NULL) == TACET_NOT_FOUND) {
        tacet__problem(response, 404, NULL, "no question has this ticket");
        return;
    }
    json_t *record = json_array();
    tacet_error err = {0};
    if (page->s.data != NULL && tacet_desk_record(tacet_desk_manifest(page->s.desk), page->s.data, page->s.id,
                                                  reply.row, add_cell, record, &err) != TACET_OK) {
        json_decref(record);
        tacet__problem(response, 503, NULL, err.message);
        return;
    }
    say(response, 200,
        json_pack("{ss sI sb so}", "ticket", ticket, "row", (json_int_t)reply.row, "answered", (int)reply.answered,
                  "record", record));
}

/* The answer's fields; NULL, or the rule that is broken. */
static const char *read_answer(json_t **holder, const char **ticket, double *value, bool *failed, bool *confirmed,
                               const tacet__request *request) {
    *holder = json_loadb(request->body, request->body_size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *number = json_object_get(*holder, "value");
    *ticket = json_string_value(json_object_get(*holder, "ticket"));
    *failed = json_is_true(json_object_get(*holder, "failed"));
    *confirmed = json_is_true(json_object_get(*holder, "confirmed"));
    *value = json_number_value(number);
    if (*ticket == NULL) {
        return "the body must be a JSON object with a text 'ticket'";
    }
    if (*failed == json_is_number(number)) {
        return "either 'value' is a number, or 'failed' is true";
    }
    return *failed || isfinite(*value) ? NULL : "'value' must be finite";
}

static void answer(tacet__desk_page *page, const tacet__request *request, tacet__response *response) {
    json_t *body = NULL;
    const char *ticket = NULL;
    double value = 0;
    bool failed = false, confirmed = false;
    tacet_error err = {0};
    const char *broken = read_answer(&body, &ticket, &value, &failed, &confirmed, request);
    if (broken != NULL) {
        tacet__problem(response, 400, NULL, broken);
    } else if (!failed && page->s.ranged && !(value >= page->s.lo && value <= page->s.hi) && !confirmed) {
        char words[160];
        (void)snprintf(words, sizeof words, "%.6g lies outside %.6g to %.6g: confirm it if you mean it", value,
                       page->s.lo, page->s.hi);
        tacet__problem(response, 409, "outside", words);
    } else {
        const tacet_status status = failed ? tacet_desk_decline(page->s.desk, ticket, &err)
                                           : tacet_desk_answer(page->s.desk, ticket, value, &err);
        if (status == TACET_OK) {
            say(response, 200, json_pack("{ss ss}", "ticket", ticket, "state", failed ? "unmeasured" : "answered"));
        } else {
            tacet__problem(response,
                           status == TACET_NOT_FOUND  ? 404
                           : status == TACET_CONFLICT ? 409
                           : status == TACET_INVALID  ? 400
                                                      : 503,
                           status == TACET_CONFLICT ? "answered" : NULL, err.message);
        }
    }
    json_decref(body);
}

static tacet_status list_entry(void *user, const tacet__ledger_row *row, tacet_error *err) {
    json_t **list = user;
    (void)err;
    if (row->record->kind == TACET__RECORD_RESERVE) {
        const tacet_charge *c = &row->record->reserve.charge;
        (void)json_array_append_new(
            *list, json_pack("{sI sI ss ss ss ss so so sb sb}", "seq", (json_int_t)row->record->seq, "time",
                             (json_int_t)row->record->time, "ticket", row->record->reserve.ticket, "what", c->what,
                             "to_whom", c->to_whom, "mechanism", c->mechanism, "eps", real_or_null(c->eps), "delta",
                             c->delta < 1 ? json_real(c->delta) : json_null(), "answered", (int)(row->answer != 0),
                             "uncovered", (int)(c->claim == TACET_CLAIM_UNCOVERED)));
        if (json_array_size(*list) > 2 * LIST_MOST) { /* the newest are kept */
            json_t *newest = json_array();
            for (size_t i = LIST_MOST; i < json_array_size(*list); i++) {
                (void)json_array_append(newest, json_array_get(*list, i));
            }
            json_decref(*list);
            *list = newest;
        }
    }
    return TACET_OK;
}

/* Verified anew each time: what is shown is what the chain proves. */
static void ledger(tacet__desk_page *page, const tacet__request *request, tacet__response *response) {
    tacet__ledger_view *view = NULL;
    tacet__ledger_report r;
    tacet_error err = {0};
    json_t *list = json_array();
    char head[2 * TACET_HASH_BYTES + 1];
    (void)request;
    tacet_status status = tacet__ledger_view_open(&view, page->s.ledger, &err);
    TACET_THEN(status, tacet__ledger_verify(view, &r, NULL, &err));
    TACET_THEN(status, tacet__ledger_each(view, list_entry, &list, &err));
    tacet__ledger_view_close(view);
    if (status != TACET_OK) {
        json_decref(list);
        tacet__problem(response, status == TACET_CORRUPT ? 500 : 503, NULL, err.message);
        return;
    }
    tacet__hash_hex(head, r.head);
    say(response, 200,
        json_pack("{ss sI sI sI sf sf so sf ss so}", "accounting", tacet_accounting_name(r.accounting), "entries",
                  (json_int_t)r.entries, "answered", (json_int_t)r.answered, "uncovered", (json_int_t)r.uncovered,
                  "budget_eps", r.budget_eps, "budget_delta", r.budget_delta, "eps", real_or_null(r.eps), "delta",
                  r.delta, "head", head, "list", list));
}

static void label(tacet__desk_page *page, const tacet__request *request, tacet__response *response) {
    tacet_ledger_totals t;
    tacet_error err = {0};
    char date[16] = "";
    char *text = NULL;
    struct tm day;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &day) != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%d", &day);
    }
    tacet_disclosure d = {.manifest = tacet_desk_manifest(page->s.desk), .date = date};
    tacet__ledger_view *view = NULL;
    tacet__ledger_report r;
    tacet_status status = tacet_desk_total(page->s.desk, &t, &err);
    TACET_THEN(status, tacet__ledger_view_open(&view, page->s.ledger, &err));
    TACET_THEN(status, tacet__ledger_verify(view, &r, NULL, &err));
    tacet__ledger_view_close(view);
    if (status == TACET_OK) {
        d.has_ledger = true;
        d.accounting = tacet_accounting_name(r.accounting);
        d.spent_eps = r.eps;
        d.spent_delta = r.delta;
        d.budget_eps = r.budget_eps;
        d.budget_delta = r.budget_delta;
        d.entries = r.entries;
        d.uncovered = r.uncovered;
        status = tacet_disclose_label(&text, &d, true, &err);
    }
    if (status == TACET_OK) {
        *response = (tacet__response){.status = 200, .body = text, .file = -1};
        response->content_type =
            tacet__label_type(text, request->argument != NULL && request->argument(request->peer, "part") != NULL);
        response->body_size = strlen(text);
    } else {
        tacet__problem(response, 503, NULL, err.message);
    }
}

/* Signs what the ledger holds now. */
static void receipt(tacet__desk_page *page, const tacet__request *request, tacet__response *response) {
    tacet_error err = {0};
    char *text = NULL;
    const tacet_receipt_request wanted = {.ledger = page->s.ledger,
                                          .manifest = page->s.manifest,
                                          .manifest_length = page->s.manifest_size,
                                          .release = page->s.release,
                                          .program_name = "tacet-curator",
                                          .program_file = "/proc/self/exe",
                                          .time = (uint64_t)time(NULL)};
    (void)request;
    if (page->s.receipt_key == NULL) {
        tacet__problem(response, 404, NULL, "there is no receipt.key among the keys: 'tacet ledger keys' makes one");
    } else if (tacet_receipt_sign(&text, &wanted, page->s.receipt_key, &err) != TACET_OK) {
        tacet__problem(response, 503, NULL, err.message);
    } else {
        response->status = 200;
        response->body = text;
        response->body_size = strlen(text);
    }
}

/* --- the login ---------------------------------------------------------------------------------------------------- */

static json_t *session_json(const tacet__session *s) {
    return json_pack("{ss ss sI}", "role", "curator", "guard", s->guard, "left", (json_int_t)s->left);
}

static void log_in(tacet__desk_page *page, const tacet__request *request, tacet__response *response) {
    json_t *body = json_loadb(request->body, request->body_size, JSON_REJECT_DUPLICATES, NULL);
    const char *token = json_string_value(json_object_get(body, "token"));
    tacet__session session = {{0}, {0}, 0, 0};
    if (token == NULL || !tacet__token_matches(page->s.token_hash, token)) {
        tacet__problem(response, 401, NULL, "this is not the desk's token");
    } else if (tacet__sessions_begin(page->sessions, &session, "", response, NULL) != TACET_OK) {
        tacet__problem(response, 503, NULL, "no session could be made");
    } else {
        say(response, 201, session_json(&session));
    }
    sodium_memzero(&session, sizeof session);
    json_decref(body);
}

static void show_session(tacet__desk_page *page, const tacet__request *request, tacet__response *response) {
    tacet__session session;
    if (tacet__sessions_find(page->sessions, &session, request, false) != TACET__SESSION_OK) {
        tacet__problem(response, 401, NULL, "nobody is logged in");
    } else {
        say(response, 200, session_json(&session));
        sodium_memzero(&session, sizeof session);
    }
}

static void log_out(tacet__desk_page *page, const tacet__request *request, tacet__response *response) {
    tacet__session session;
    if (tacet__sessions_find(page->sessions, &session, request, true) == TACET__SESSION_OK) {
        tacet__sessions_end(page->sessions, session.guard, response);
    }
    say(response, 200, json_pack("{ss}", "state", "ended"));
}

typedef struct route {
    const char *method, *path; /* a closing slash takes one more word */
    bool guarded;              /* a session is needed, and the page's own header */
    void (*handle)(tacet__desk_page *, const tacet__request *, tacet__response *);
} route;

static const route ROUTES[] = {
    {"POST", "/v1/session", false, log_in},         {"GET", "/v1/session", false, show_session},
    {"DELETE", "/v1/session", true, log_out},       {"GET", "/v1/desk", true, overview},
    {"GET", "/v1/desk/questions/", true, question}, {"POST", "/v1/desk/answers", true, answer},
    {"GET", "/v1/desk/ledger", true, ledger},       {"GET", "/v1/desk/label", true, label},
    {"GET", "/v1/desk/receipt", true, receipt},
};

/* True when the page may ask; otherwise the answer is made. */
static bool let_in(tacet__desk_page *page, const tacet__request *request, tacet__response *response) {
    tacet__session session;
    const tacet__session_found found = tacet__sessions_find(page->sessions, &session, request, true);
    if (found == TACET__SESSION_NONE) {
        tacet__problem(response, 401, NULL, "the session has ended: log in again");
    } else if (found == TACET__SESSION_UNGUARDED) {
        tacet__problem(response, 403, NULL, "this request does not come from the page");
    }
    return found == TACET__SESSION_OK;
}

void tacet__desk_page_handle(void *user, const tacet__request *request, tacet__response *response) {
    tacet__desk_page *page = user;
    bool exists = false;
    if (tacet__assets_serve(request, response, "desk", "Answer questions with: tacet curator desk.")) {
        return;
    }
    for (size_t i = 0; i < sizeof ROUTES / sizeof ROUTES[0]; i++) {
        if (tacet__path_matches(ROUTES[i].path, request->path)) {
            exists = true;
            if (strcmp(ROUTES[i].method, request->method) == 0) {
                if (!tacet__sessions_own_site(request)) {
                    tacet__problem(response, 403, NULL, "this request comes from another site");
                } else if (!ROUTES[i].guarded || let_in(page, request, response)) {
                    ROUTES[i].handle(page, request, response);
                }
                return;
            }
        }
    }
    tacet__problem(response, exists ? 405 : 404, NULL, exists ? "this path has no such method" : "no such path");
}

/* --- open and close ----------------------------------------------------------------------------------------------- */

tacet_status tacet__desk_page_check(const tacet_curator_page *page, tacet_error *err) {
    const char *listen = page->listen;
    if (listen != NULL && strncmp(listen, "127.", 4) != 0 && strncmp(listen, "localhost:", 10) != 0 &&
        strncmp(listen, "[::1]:", 6) != 0) {
        return tacet__fail(err, TACET_INVALID,
                           "the desk's page: '%.60s' is not an address of this machine alone, such as 127.0.0.1:8444: "
                           "whoever sits elsewhere comes through a tunnel (ssh -L)",
                           listen);
    }
    return page->session_minutes > 0 && page->session_minutes <= MINUTES_MOST
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID, "the minutes of a session are above 0, and at most a day");
}

tacet_status tacet__desk_page_open(tacet__desk_page **out, const tacet__desk_page_settings *settings,
                                   tacet_error *err) {
    char cookie[COOKIE_NAME];
    tacet__sessions_settings sessions;
    tacet__sessions_defaults(&sessions);
    (void)snprintf(cookie, sizeof cookie, "tacet-desk-%u", settings->port);
    sessions.cookie = cookie;
    sessions.idle_seconds = 60 * settings->session_minutes;
    *out = NULL;
    tacet__desk_page *page = TACET__ZALLOC(tacet__desk_page, 1);
    if (page == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the desk's page");
    }
    page->s = *settings;
    const tacet_status status = tacet__sessions_create(&page->sessions, &sessions, err);
    if (status != TACET_OK) {
        tacet__desk_page_close(page);
        return status;
    }
    *out = page;
    return TACET_OK;
}

void tacet__desk_page_close(tacet__desk_page *page) {
    if (page != NULL) {
        tacet__sessions_free(page->sessions);
        free(page);
    }
}
