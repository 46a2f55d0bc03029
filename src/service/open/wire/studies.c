/* SPDX-License-Identifier: Apache-2.0 */
/* studies.c - what is asked of studies: bodies into jobs, jobs into answers.
 * Ring: open. Bodies are read strictly: a field that is not known, a wrong type, a number that is not finite is a
 * 400 that names the rule. What an answer says of a client's own request goes to that client alone.
 * Cost: O(bytes) a request; answers that need the study come from its worker. */
#include "service/open/wire/studies.h"

#include "core/json_numbers.h"
#include "core/memory.h"
#include "service/open/wire/board.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MOST = 128, OWNER_BYTES = 8, WAIT_MOST = 60 };

/* --- answers ------------------------------------------------------------------------------------------------------ */

static json_t *body_of(const tacet__job *job) {
    switch (job->kind) {
    case TACET__JOB_SUGGEST:
        return job->many > 0 ? json_pack("{sO}", "suggestions", job->body) : tacet__job_suggestion(job);
    case TACET__JOB_OBSERVE:
        return json_pack("{ss ss so*}", "ticket", job->ticket, "state", "observed", "clipped",
                         job->clipped ? json_true() : NULL);
    case TACET__JOB_LOOK:
        return json_pack("{ss ss sI so* sO*}", "ticket", job->ticket, "state",
                         job->observed  ? "observed"
                         : job->expired ? "expired"
                                        : "open",
                         "index", (json_int_t)job->index, "action",
                         job->action_size > 0 ? tacet__reals_json(job->action, job->action_size) : NULL, "point",
                         job->point);
    case TACET__JOB_RELEASE:
    case TACET__JOB_GET_RELEASE:
        return json_pack("{sI sO}", "number", (json_int_t)job->number, "release", job->body);
    case TACET__JOB_EXTEND:
        return json_pack("{sI}", "rounds", (json_int_t)job->number);
    case TACET__JOB_EXPIRE:
        return json_pack("{sI}", "expired", (json_int_t)job->number);
    case TACET__JOB_ARCHIVE:
        return json_pack("{ss}", "state", "archived");
    case TACET__JOB_DELETE:
        return json_pack("{ss}", "state", "deleted");
    default: /* what is only read: the study has made the answer */
        return json_incref(job->body);
    }
}

static void answer_job(tacet__response *response, const tacet__job *job) {
    const bool made =
        job->kind == TACET__JOB_RELEASE || (job->kind == TACET__JOB_SUGGEST && !job->repeated && !job->last);
    if (job->figure != NULL) {
        tacet__board_answer_view(response, job);
    } else {
        tacet__call_fill(response, made ? 201 : 200, body_of(job));
    }
}

/* The worker's thread, once what was asked is durable. */
static void answer_when_durable(tacet__job *job) {
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
    tacet__call_submit(c, response, job, answer_when_durable);
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
static const char *read_set(tacet__job *job, json_t *set) {
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
        return "";
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
        return "";
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

static const char *read_key(tacet__job *job, json_t *key) {
    return read_word(job->key, key, KEY_MOST, "'key' must be a text of 1 to 128 of A-Z a-z 0-9 . _ : -");
}

static const char *read_person(tacet__job *job, json_t *person) {
    return read_word(job->person, person, TACET__PERSON_MOST,
                     "'person' must be a text of 1 to 128 of A-Z a-z 0-9 . _ : -");
}

static const char *read_count(tacet__job *job, json_t *count) {
    const json_int_t many = json_integer_value(count);
    job->many = many >= 1 && many <= TACET__SUGGEST_MOST ? (size_t)many : 0;
    return job->many > 0 ? NULL : "'count' must be a whole number, 1 to 64";
}

const tacet__field tacet__suggest_takes[] = {{"key", read_key, false},         {"decision_set", read_set, false},
                                             {"context", read_context, false}, {"person", read_person, false},
                                             {"count", read_count, false},     {0}};

static const char *read_ticket(tacet__job *job, json_t *value) {
    const char *text = json_string_value(value);
    if (text == NULL) {
        return "'ticket' must be a text";
    }
    /* One of another length is no ticket of any study: it is looked for, and not found. */
    (void)snprintf(job->ticket, sizeof job->ticket, "%s", strlen(text) < sizeof job->ticket ? text : "");
    return NULL;
}

static const char FAILED[] = "'failed' is true, and then there is no 'value'";

static const char *read_failed(tacet__job *job, json_t *value) {
    job->failed = json_is_true(value);
    return job->failed ? NULL : FAILED;
}

static const char *read_value(tacet__job *job, json_t *value) {
    if (job->failed) {
        return value == NULL ? NULL : FAILED;
    }
    job->value = json_number_value(value);
    return json_is_number(value) && isfinite(job->value) ? NULL : "'value' must be a number";
}

const tacet__field tacet__observe_takes[] = {
    {"ticket", read_ticket, true}, {"failed", read_failed, false}, {"value", read_value, true}, {0}};

const char *tacet__read_wait(tacet__job *job, json_t *value) {
    const char *text = json_string_value(value);
    char *end = NULL;
    job->wait = strtod(text, &end);
    return end != text && *end == '\0' && job->wait >= 0 && job->wait <= WAIT_MOST
               ? NULL
               : "'wait' must be a number of seconds, 0 to 60";
}

const tacet__field tacet__look_takes[] = {{"{ticket}", read_ticket, true}, {"wait", tacet__read_wait, false}, {0}};

static const char *read_rounds(tacet__job *job, json_t *value) {
    const json_int_t rounds = json_integer_value(value);
    job->number = rounds >= 1 ? (uint64_t)rounds : 0;
    return rounds >= 1 ? NULL : "'rounds' must be a whole number: how many there are to be in all";
}

const tacet__field tacet__extend_takes[] = {{"rounds", read_rounds, true}, {0}};

/* Another text is the number of no release. */
static const char *read_number(tacet__job *job, json_t *value) {
    const char *text = json_string_value(value);
    const size_t length = strlen(text);
    job->number = length <= 9 && strspn(text, "0123456789") == length ? strtoull(text, NULL, 10) : 0;
    return NULL;
}

const tacet__field tacet__release_takes[] = {{"{number}", read_number, true}, {0}};

/* --- handlers ----------------------------------------------------------------------------------------------------- */

void tacet__study_suggest(tacet__call *c, tacet__response *response) {
    tacet__job *job = tacet__call_read(c, response, TACET__JOB_SUGGEST);
    if (job != NULL) {
        job->owned = true;
        memcpy(job->owner, c->token.hash, sizeof job->owner);
        job->open_most = c->token.open_most;
        job->rounds_most = c->token.rounds_most;
        if (job->key[0] != '\0') {
            own_key(job, &c->token);
        }
        tacet__call_job(c, response, job);
    }
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
void tacet__study_list(tacet__call *c, tacet__response *response) {
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
    const char *dry = tacet__call_argument(c, "dry_run");
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

void tacet__study_create(tacet__call *c, tacet__response *response) {
    (void)tacet__call_to(c, TACET__MAKER, make_study, response);
}
