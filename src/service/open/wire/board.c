/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - tokens and sessions over HTTPS, and what the board asks of a study.
 * Ring: open. An owner of one study makes, sees and ends the tokens of that study alone. A browser's session may do so
 * for five minutes after its login: a session that is stolen later cannot outlive itself. Cost: one lookup; a list of
 * tokens is read whole. */
#include "service/open/wire/board.h"

#include "report/figure.h"
#include "report/disclosure_facts.h"
#include "service/open/wire/studies.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/report/report.h>
#include <time.h>

enum { FRESH_SECONDS = 300, DAYS_MOST = 36500 };

/* --- studies ------------------------------------------------------------------------------------------------------ */

/* Of an argument. */
static const char *whole_argument(const json_t *value, uint64_t most, uint64_t *out) {
    const char *text = json_string_value(value);
    const size_t length = strlen(text);
    *out = strtoull(text, NULL, 10);
    return length > 0 && length <= 18 && strspn(text, "0123456789") == length && *out <= most
               ? NULL
               : "'after', 'x', 'y' and 'width' must be whole numbers that are not too large";
}

/* Of a body; false: another thing, or above `most`. */
static bool read_whole(const json_t *value, uint64_t most, uint64_t *out) {
    *out = json_is_integer(value) && json_integer_value(value) >= 0 ? (uint64_t)json_integer_value(value) : UINT64_MAX;
    return *out <= most;
}

/* Where it is left out it stays as it was. */
static bool take_whole(const json_t *body, const char *name, uint64_t most, uint64_t *out) {
    const json_t *value = json_object_get(body, name);
    return value == NULL || read_whole(value, most, out);
}

static const char *read_after(tacet__job *job, json_t *value) {
    return whole_argument(value, INT64_MAX, &job->number);
}

const tacet__field tacet__events_takes[] = {{"after", read_after, false}, {"wait", tacet__read_wait, false}, {0}};

/* One round by its number, or every open ticket that is so old: one of the two must be said, so that nothing is ended
 * by leaving a word out. */
static const char EITHER[] = "either 'number' is that of a round, or 'older' how many seconds old tickets are at least";

static const char *read_round(tacet__job *job, json_t *value) {
    return read_whole(value, INT64_MAX, &job->number) && job->number > 0 ? NULL : EITHER;
}

static const char *read_older(tacet__job *job, json_t *value) {
    return job->number > 0 ? (value == NULL ? NULL : EITHER) : read_whole(value, INT64_MAX, &job->x) ? NULL : EITHER;
}

const tacet__field tacet__expire_takes[] = {{"number", read_round, false}, {"older", read_older, true}, {0}};

static const char *read_x(tacet__job *job, json_t *value) {
    return whole_argument(value, 2 * TACET__DEFINITION_DIMS, &job->x);
}

static const char *read_y(tacet__job *job, json_t *value) {
    return whole_argument(value, 2 * TACET__DEFINITION_DIMS, &job->y);
}

/* "0.2,3". */
static const char *read_at(tacet__job *job, json_t *value) {
    static const char RULE[] = "'at' must be numbers between commas, one for each coordinate";
    const char *text = json_string_value(value);
    double *at = calloc(2 * TACET__DEFINITION_DIMS, sizeof *at);
    if (at == NULL) {
        return "";
    }
    job->context = at;
    for (job->context_dim = 0; job->context_dim < 2 * TACET__DEFINITION_DIMS;) {
        char *end = NULL;
        at[job->context_dim] = strtod(text, &end);
        if (end == text || !isfinite(at[job->context_dim]) || (*end != ',' && *end != '\0')) {
            return RULE;
        }
        job->context_dim++;
        if (*end == '\0') {
            return NULL;
        }
        text = end + 1;
    }
    return RULE;
}

static const char *read_width(tacet__job *job, json_t *value) {
    enum { NARROWEST = 200, WIDEST = 2000 };
    uint64_t width = 0;
    const char *broken = whole_argument(value, WIDEST, &width);
    job->width = (unsigned)(width > 0 && width < NARROWEST ? NARROWEST : width);
    return broken;
}

static const char *read_file(tacet__job *job, json_t *value) {
    (void)value;
    job->as_file = true;
    return NULL;
}

/* The columns of a view and where the others are; then how it is drawn. */
const tacet__field tacet__view_takes[] = {{"x", read_x, false},       {"y", read_y, false},
                                          {"at", read_at, false},     {"width", read_width, false},
                                          {"file", read_file, false}, {0}};

/* --- figures ------------------------------------------------------------------------------------------------------ */

void tacet__board_figure(tacet__call *c, tacet__response *response) {
    static const struct {
        const char *name;
        tacet__job_kind kind;
    } FIGURES[] = {{"posterior", TACET__JOB_POSTERIOR}, {"uncertainty", TACET__JOB_POSTERIOR},
                   {"tried", TACET__JOB_TRIED},         {"variants", TACET__JOB_POSTERIOR},
                   {"arms", TACET__JOB_STATUS},         {"comparison", TACET__JOB_STATUS}};
    enum { COUNT = sizeof FIGURES / sizeof *FIGURES };
    size_t k = 0;
    while (k < COUNT && (c->last == NULL || strcmp(c->last, FIGURES[k].name) != 0)) {
        k++;
    }
    if (k == COUNT) {
        tacet__refuse(response, 404, "not-found",
                      "there is no such figure: posterior, uncertainty, variants, tried, arms, comparison");
        return;
    }
    tacet__job *job = tacet__call_read(c, response, FIGURES[k].kind);
    if (job != NULL) {
        job->figure = FIGURES[k].name;
        tacet__call_job(c, response, job);
    }
}

static const char LABEL[] = "label";

const tacet__field tacet__label_takes[] = {{"part", read_file, false}, {0}};

void tacet__board_label(tacet__call *c, tacet__response *response) {
    tacet__job *job = tacet__call_read(c, response, TACET__JOB_STATUS);
    if (job != NULL) {
        job->figure = LABEL;
        job->as_file = !job->as_file; /* a part of a page, or a file of its own */
        tacet__call_job(c, response, job);
    }
}

/* The same page that 'tacet disclose' writes of the same status. */
static void answer_label(tacet__response *response, const json_t *status, bool part) {
    tacet_error err = {0};
    char date[16] = "";
    struct tm day;
    const time_t now = time(NULL);
    char *text = json_dumps(status, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (gmtime_r(&now, &day) != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%d", &day);
    }
    const tacet_disclosure d = {.study = text, .date = date};
    const tacet_status made = text == NULL ? TACET_NO_MEMORY : tacet_disclose_label(&response->body, &d, true, &err);
    free(text);
    if (made == TACET_OK) {
        response->status = 200;
        response->content_type = tacet__label_type(response->body, part);
        response->body_size = strlen(response->body);
    } else {
        tacet__refuse_failure(response, made == TACET_INVALID ? TACET_STATE : made, err.message);
    }
}

void tacet__board_answer_view(tacet__response *response, const tacet__job *job) {
    if (job->figure == LABEL) {
        answer_label(response, job->body, !job->as_file);
        return;
    }
    tacet_error err = {0};
    const bool columns = job->kind != TACET__JOB_STATUS && strcmp(job->figure, "variants") != 0;
    json_t *data = json_copy(job->body);
    if (columns) {
        (void)json_object_set_new(data, "x", json_integer((json_int_t)job->x));
    }
    if (columns && job->y != UINT64_MAX) {
        (void)json_object_set_new(data, "by", json_integer((json_int_t)job->y));
    }
    json_t *figure = tacet__figure(job->figure, data);
    json_decref(data);
    if (figure == NULL) {
        tacet__refuse(response, columns ? 400 : 409, columns ? "invalid" : "state",
                      columns ? "there is no such column, or not two of numbers"
                              : "there is nothing to draw yet, or too much to be seen at once");
    } else if (job->width == 0) {
        tacet__call_fill(response, 200, json_incref(figure));
    } else if (tacet__figure_svg(&response->body, &response->body_size, figure, (int)job->width,
                                 job->as_file ? TACET__CHART_FILE : TACET__CHART_FETCHED, &err) == TACET_OK) {
        response->status = 200;
        response->content_type = "image/svg+xml";
    } else {
        tacet__refuse_failure(response, err.status, err.message);
    }
    json_decref(figure);
}

/* --- tokens ------------------------------------------------------------------------------------------------------- */

/* Whether whoever asks may have to do with the token. */
static bool within_reach(const tacet__call *c, const tacet__token *t) {
    return c->token.study[0] == '\0' || strcmp(c->token.study, t->study) == 0;
}

typedef struct token_list {
    const tacet__call *call;
    json_t *array;
} token_list;

static tacet_status list_token(const tacet__token *t, void *user, tacet_error *err) {
    const token_list *l = user;
    (void)err;
    if (within_reach(l->call, t)) {
        (void)json_array_append_new(l->array, json_pack("{sI ss ss ss sI sI sI sI}", "number", (json_int_t)t->id,
                                                        "role", tacet__token_role_text(t->role), "study", t->study,
                                                        "label", t->label, "created", (json_int_t)t->created, "expires",
                                                        (json_int_t)t->expires, "open_most", (json_int_t)t->open_most,
                                                        "rounds_most", (json_int_t)t->rounds_most));
    }
    return TACET_OK;
}

static tacet_status list_all(tacet__studies *store, void *user, tacet_error *err) {
    return tacet__studies_list_tokens(store, list_token, user, err);
}

void tacet__board_tokens(tacet__call *c, tacet__response *response) {
    token_list l = {c, json_array()};
    tacet_error err = {0};
    const tacet_status status = tacet__engine_with_store(c->service->engine, list_all, &l, &err);
    if (status == TACET_OK) {
        tacet__call_fill(response, 200, json_pack("{so}", "tokens", l.array));
    } else {
        json_decref(l.array);
        tacet__refuse_failure(response, TACET_IO, "");
    }
}

/* What is to be done to the tokens, and what came of it. */
typedef struct token_errand {
    const tacet__call *call;
    uint64_t number; /* of the token to renew or to end; 0: a new one */
    bool renew;
    tacet__token_role role;
    char study[TACET__STUDY_NAME_MOST + 1];
    char label[TACET__TOKEN_LABEL_MOST + 1];
    uint64_t expires, grace, open_most, rounds_most;
    char text[TACET__STUDIES_TOKEN_TEXT];
} token_errand;

static tacet_status change_tokens(tacet__studies *store, void *user, tacet_error *err) {
    token_errand *e = user;
    tacet_status status = TACET_OK;
    if (e->number == 0) {
        tacet__study study;
        tacet__study_init(&study);
        status = e->study[0] != '\0' ? tacet__studies_get(store, &study, e->study, err) : TACET_OK;
        tacet__study_clear(&study);
        return status != TACET_OK ? status
                                  : tacet__studies_add_token(store, e->text, e->role, e->study, e->label, e->expires,
                                                             e->open_most, e->rounds_most, err);
    }
    tacet__token there;
    status = tacet__studies_token(store, &there, e->number, err);
    if (status == TACET_OK && !within_reach(e->call, &there)) { /* in the same words as where there is none */
        return tacet_error_set(err, TACET_NOT_FOUND, "there is no token of this number");
    }
    if (status == TACET_OK && e->renew) {
        return tacet__studies_renew_token(store, e->text, e->number, e->expires,
                                          e->grace > 0 ? (uint64_t)time(NULL) + e->grace : 0, err);
    }
    return status != TACET_OK ? status : tacet__studies_drop_token(store, e->number, err);
}

static void run_errand(tacet__call *c, tacet__response *response, token_errand *e) {
    tacet_error err = {0};
    const tacet_status status = tacet__engine_with_store(c->service->engine, change_tokens, e, &err);
    if (status == TACET_NOT_FOUND) {
        tacet__refuse(response, 404, "not-found", err.message);
    } else if (status != TACET_OK) {
        tacet__refuse_failure(response, status == TACET_INVALID ? TACET_INVALID : TACET_IO, err.message);
    } else if (e->text[0] != '\0') {
        tacet__call_fill(response, 201, json_pack("{ss}", "token", e->text));
    } else {
        tacet__call_fill(response, 200, json_pack("{ss}", "state", "ended"));
    }
    sodium_memzero(e->text, sizeof e->text);
}

/* Tokens are changed with a token, or in a session that was begun a moment ago. False: the answer is made. */
static bool is_fresh(const tacet__call *c, tacet__response *response) {
    if (c->session.guard[0] == '\0' || c->session.age < FRESH_SECONDS) {
        return true;
    }
    tacet__refuse(response, 403, "stale", "log in again: tokens are changed within five minutes of a login");
    return false;
}

static bool take_text(const json_t *body, const char *name, char *out, size_t most) {
    const json_t *value = json_object_get(body, name);
    const char *text = json_string_value(value);
    if (value == NULL || (text != NULL && strlen(text) <= most)) {
        memcpy(out, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1);
        return true;
    }
    return false;
}

static uint64_t end_after(uint64_t days) {
    return days > 0 ? (uint64_t)time(NULL) + days * 86400 : 0;
}

void tacet__board_make_token(tacet__call *c, tacet__response *response) {
    token_errand e = {.call = c};
    uint64_t days = TACET__TOKEN_DAYS;
    if (!is_fresh(c, response)) {
        return;
    }
    json_t *body = tacet__call_body(c, response);
    if (body == NULL) {
        return;
    }
    const char *broken = NULL;
    if (!tacet__token_role_read(&e.role, json_string_value(json_object_get(body, "role")))) {
        broken = "'role' must be device, analyst or owner";
    } else if (!take_text(body, "study", e.study, TACET__STUDY_NAME_MOST) ||
               !take_text(body, "label", e.label, TACET__TOKEN_LABEL_MOST)) {
        broken = "'study' and 'label' must be texts of 48 and 64 bytes at the most";
    } else if (!take_whole(body, "days", DAYS_MOST, &days) || !take_whole(body, "open_most", INT32_MAX, &e.open_most) ||
               !take_whole(body, "rounds_most", INT32_MAX, &e.rounds_most)) {
        broken = "'days' is 0 to 36500; 'open_most' and 'rounds_most' are whole numbers";
    }
    json_decref(body);
    e.expires = end_after(days);
    if (broken != NULL) {
        tacet__refuse(response, 400, "invalid", broken);
    } else if (c->token.study[0] != '\0' && strcmp(c->token.study, e.study) != 0) {
        tacet__refuse(response, 403, "forbidden", "the token is of one study: it makes tokens of that study alone");
    } else {
        run_errand(c, response, &e);
    }
}

/* The number in the path; 0: none, which no token has. */
static uint64_t number_of(const char *path) {
    static const char TOKENS[] = "/v1/tokens/";
    const char *text = path + sizeof TOKENS - 1;
    const size_t length = strspn(text, "0123456789");
    return length > 0 && length < 18 && (text[length] == '\0' || text[length] == '/') ? strtoull(text, NULL, 10) : 0;
}

static void change_one(tacet__call *c, tacet__response *response, token_errand *e) {
    e->call = c;
    e->number = number_of(c->request.path);
    if (e->number == 0) {
        tacet__refuse(response, 404, "not-found", "there is no token of this number");
    } else {
        run_errand(c, response, e);
    }
}

void tacet__board_renew_token(tacet__call *c, tacet__response *response) {
    token_errand e = {.renew = true};
    uint64_t days = TACET__TOKEN_DAYS;
    if (!is_fresh(c, response)) {
        return;
    }
    json_t *body = tacet__call_body(c, response);
    if (body == NULL) {
        return;
    }
    const bool good = take_whole(body, "days", DAYS_MOST, &days) && take_whole(body, "grace", 31536000, &e.grace);
    json_decref(body);
    e.expires = end_after(days);
    if (good) {
        change_one(c, response, &e);
    } else {
        tacet__refuse(response, 400, "invalid", "'days' is 0 to 36500, 'grace' at most a year of seconds");
    }
}

void tacet__board_drop_token(tacet__call *c, tacet__response *response) {
    token_errand e = {0};
    change_one(c, response, &e);
}

/* --- sessions ----------------------------------------------------------------------------------------------------- */

static json_t *session_json(const tacet__call *c, const tacet__session *s) {
    return json_pack("{ss ss ss sI ss sI}", "role", tacet__token_role_text(c->token.role), "study", c->token.study,
                     "label", c->token.label, "expires", (json_int_t)c->token.expires, "guard", s->guard, "left",
                     (json_int_t)s->left);
}

/* The token is known, or known not to be one. */
static void begin_session(tacet__call *c, tacet__response *response) {
    tacet__session session = {{0}, {0}, 0, 0};
    tacet_error err = {0};
    if (c->token_status != TACET_OK && c->token_status != TACET_NOT_FOUND) {
        tacet__refuse_failure(response, TACET_IO, "");
    } else if (c->token_status == TACET_NOT_FOUND) {
        tacet__engine_say(c->service->engine, "a login on the board was refused", NULL);
        tacet__refuse(response, 401, "unauthorized", "there is no such token, or it has ended");
    } else if (c->token.role == TACET__TOKEN_DEVICE) {
        tacet__refuse(response, 403, "forbidden", "the board is for owners and analysts: this is a device's token");
    } else if (tacet__sessions_begin(c->service->sessions, &session, c->request.bearer, response, &err) != TACET_OK) {
        tacet__refuse_failure(response, TACET_NO_MEMORY, "");
    } else {
        char line[64];
        (void)snprintf(line, sizeof line, "token %llu logged in on the board", (unsigned long long)c->token.id);
        tacet__engine_say(c->service->engine, line, NULL);
        tacet__call_fill(response, 201, session_json(c, &session));
    }
    sodium_memzero(&session, sizeof session);
}

void tacet__board_log_in(tacet__call *c, tacet__response *response) {
    if (c->service->sessions == NULL || !tacet__sessions_own_site(&c->request)) {
        tacet__refuse(response, 403, "forbidden",
                      c->service->sessions == NULL ? "this server has no board" : "this comes from another site");
        return;
    }
    json_t *body = tacet__call_body(c, response);
    if (body == NULL) {
        return;
    }
    const char *token = json_string_value(json_object_get(body, "token"));
    if (token == NULL || strlen(token) >= sizeof c->session.token) {
        json_decref(body);
        tacet__refuse(response, token == NULL ? 400 : 401, token == NULL ? "invalid" : "unauthorized",
                      token == NULL ? "'token' must be a text" : "there is no such token, or it has ended");
        return;
    }
    c->session = (tacet__session){{0}, {0}, 0, 0};
    memcpy(c->session.token, token, strlen(token) + 1);
    json_decref(body);
    c->request.bearer = c->session.token;
    if (tacet__engine_token_known(c->service->engine, &c->token, c->request.bearer)) {
        c->token_status = TACET_OK;
        begin_session(c, response);
    } else {
        c->token_status = TACET_NOT_FOUND;
        (void)tacet__call_to(c, TACET__DESK, begin_session, response);
    }
}

void tacet__board_session(tacet__call *c, tacet__response *response) {
    tacet__call_fill(response, 200, session_json(c, &c->session));
}

void tacet__board_log_out(tacet__call *c, tacet__response *response) {
    if (c->service->sessions != NULL && c->session.guard[0] != '\0') {
        tacet__sessions_end(c->service->sessions, c->session.guard, response);
    }
    tacet__call_fill(response, 200, json_pack("{ss}", "state", "ended"));
}
