/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - asks the suggestion service, and asks again when it was away: every request may be repeated, because a
 * suggestion has a key and a report is the same bits each time. Ring: trusted; what is sent is a report, never a
 * reward.
 */
#include "local/trusted/device_internal.h"

#include "core/clock.h"
#include "core/fail.h"
#include "core/memory.h"
#include "io/http/client.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 48, PATH_BYTES = 256, KEY_BYTES = 16, TICKET_MOST = 128 };
static const double FIRST_PAUSE = 0.05;
static const double LONGEST_PAUSE = 2;

struct tacet_device_service {
    tacet__client *client;
    char study[NAME_MOST + 1];
    double patience;
};

tacet_status tacet_device_service_open(tacet_device_service **out, const tacet_device_address *a, tacet_error *err) {
    char token[TACET__TOKEN_BYTES] = "", authority[PATH_MAX], token_file[PATH_MAX];
    tacet__client_settings settings;
    *out = NULL;
    if (a->server == NULL || a->study == NULL || a->keys == NULL) {
        return tacet__fail(err, TACET_INVALID, "--server needs --study and --keys");
    }
    const size_t length = strlen(a->study);
    if (length == 0 || length > NAME_MOST || strspn(a->study, "abcdefghijklmnopqrstuvwxyz0123456789_-") != length) {
        return tacet__fail(err, TACET_INVALID, "--study: no study has such a name");
    }
    if (snprintf(authority, sizeof authority, "%s/ca.pem", a->keys) >= PATH_MAX ||
        snprintf(token_file, sizeof token_file, "%s/token", a->keys) >= PATH_MAX) {
        return tacet__fail(err, TACET_INVALID, "--keys: the name is too long");
    }
    if (!(a->patience >= 0)) {
        return tacet__fail(err, TACET_INVALID, "--patience must not be less than 0");
    }
    tacet_device_service *s = TACET__ZALLOC(tacet_device_service, 1);
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory");
    }
    memcpy(s->study, a->study, length + 1);
    s->patience = a->patience;
    tacet__client_defaults(&settings);
    settings.url = a->server;
    settings.authority = authority;
    settings.token = token;
    tacet_status status = tacet__client_token(token, token_file, err);
    TACET_THEN(status, tacet__client_open(&s->client, &settings, err));
    sodium_memzero(token, sizeof token);
    if (status != TACET_OK) {
        tacet_device_service_close(s);
        return status;
    }
    *out = s;
    return TACET_OK;
}

void tacet_device_service_close(tacet_device_service *s) {
    if (s != NULL) {
        tacet__client_close(s->client);
        free(s);
    }
}

static tacet_status refused(const tacet__answer *answer, tacet_error *err) {
    const tacet_status status = answer->status == 401 || answer->status == 403 ? TACET_DENIED
                                : answer->status == 404                        ? TACET_NOT_FOUND
                                : answer->status == 409                        ? TACET_CONFLICT
                                : answer->status >= 500                        ? TACET_IO
                                                                               : TACET_INVALID;
    return tacet__client_refused(answer, status, "the server", err);
}

/* Repeats while the server is away or busy, as long as patience lasts; *out is the answer's object. */
static tacet_status ask(tacet_device_service *s, json_t **out, const char *method, const char *path, const char *body,
                        tacet_error *err) {
    const double deadline = tacet__now() + s->patience;
    double pause = FIRST_PAUSE;
    for (;;) {
        tacet__answer answer = {0};
        tacet_error local = {0};
        tacet_status status = tacet__client_request(s->client, &answer, method, path, body, &local);
        const bool away = status == TACET_IO || status == TACET_TIMEOUT ||
                          (status == TACET_OK && (answer.status == 429 || answer.status == 503));
        if (status == TACET_OK && answer.status >= 200 && answer.status < 300) {
            *out = json_loadb(answer.body, answer.size, 0, NULL);
            return json_is_object(*out) ? TACET_OK : tacet__fail(err, TACET_PARSE, "the server's answer is not JSON");
        }
        if (!away || tacet__now() + pause > deadline) {
            return status == TACET_OK ? refused(&answer, err) : tacet__fail(err, status, "%s", local.message);
        }
        tacet__pause(pause);
        pause = fmin(2 * pause, LONGEST_PAUSE);
    }
}

static tacet_status ask_study(tacet_device_service *s, json_t **out, const char *method, const char *what, json_t *body,
                              tacet_error *err) {
    char path[PATH_BYTES];
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    (void)snprintf(path, sizeof path, "/v1/studies/%s%s", s->study, what);
    *out = NULL;
    tacet_status status = TACET_OK;
    if (body != NULL && text == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory");
    } else {
        status = ask(s, out, method, path, text, err);
    }
    if (status != TACET_OK) {
        json_decref(*out);
        *out = NULL;
    }
    free(text);
    json_decref(body);
    return status;
}

tacet_status tacet_device_service_agree(tacet_device_service *s, const tacet_ldp *ldp, tacet_error *err) {
    json_t *answer = NULL;
    tacet_status status = ask_study(s, &answer, "GET", "", NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    const char *trust = "";
    const char *randomizer = "";
    double eps = (double)NAN;
    double lo = (double)NAN;
    double hi = (double)NAN;
    (void)json_unpack(answer, "{s{ss s{sF} s{ss} s{s[FF]}}}", "definition", "trust", &trust, "budget", "eps", &eps,
                      "options", "randomizer", &randomizer, "prior", "reward", &lo, &hi);
    if (strcmp(trust, "local") != 0) {
        status = tacet__fail(err, TACET_CONFLICT, "study %s is not one of the local model: it would take bare rewards",
                             s->study);
    } else if (strcmp(randomizer, tacet_ldp_name(ldp->kind)) != 0 || !(eps == ldp->eps) || !(lo == ldp->lo) ||
               !(hi == ldp->hi)) {
        status =
            tacet__fail(err, TACET_CONFLICT,
                        "study %s asks for --mechanism %.16s --eps %.17g --range %.17g:%.17g; this device gives what "
                        "its own options say, and nothing was sent",
                        s->study, randomizer, eps, lo, hi);
    }
    json_decref(answer);
    return status;
}

/* What a device goes on with: a ticket, an index, and an action of numbers. */
static bool is_suggestion(const json_t *answer) {
    const json_t *index = json_object_get(answer, "index");
    const json_t *action = json_object_get(answer, "action");
    bool good = json_is_string(json_object_get(answer, "ticket")) && json_is_integer(index) &&
                json_integer_value(index) >= 0 && json_is_array(action);
    for (size_t i = 0; good && i < json_array_size(action); i++) {
        good = json_is_number(json_array_get(action, i));
    }
    return good;
}

tacet_status tacet_device_service_suggest(tacet_device_service *s, char **out, const char *key, tacet_error *err) {
    unsigned char random[KEY_BYTES];
    char fresh[2 * KEY_BYTES + 1];
    *out = NULL;
    if (key == NULL) {
        if (sodium_init() < 0) {
            return tacet__fail(err, TACET_IO, "no entropy");
        }
        randombytes_buf(random, sizeof random);
        key = sodium_bin2hex(fresh, sizeof fresh, random, sizeof random);
    }
    json_t *answer = NULL;
    tacet_status status = ask_study(s, &answer, "POST", "/suggestions", json_pack("{ss}", "key", key), err);
    if (status == TACET_OK && !is_suggestion(answer)) {
        status = tacet__fail(err, TACET_PARSE, "the server's answer is no suggestion");
    }
    *out = status == TACET_OK ? json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(answer);
    return status == TACET_OK && *out == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory") : status;
}

tacet_status tacet_device_service_card(tacet_device_service *s, tacet_statistics_card **out, tacet_error *err) {
    json_t *answer = NULL;
    *out = NULL;
    tacet_status status = ask_study(s, &answer, "GET", "/model", NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    const char *text = json_string_value(json_object_get(answer, "model"));
    const size_t length = text != NULL ? strlen(text) : 0;
    unsigned char *bytes = TACET__ZALLOC(unsigned char, length + 1);
    size_t size = 0;
    if (bytes == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory");
    } else if (text == NULL || sodium_base642bin(bytes, length, text, length, NULL, &size, NULL,
                                                 sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0) {
        status = tacet__fail(err, TACET_PARSE, "the server's answer has no model");
    } else {
        status = tacet_statistics_card_open(out, bytes, size, err);
    }
    free(bytes);
    json_decref(answer);
    return status;
}

tacet_status tacet_device_service_round(tacet_device_service *s, uint64_t *out, const char *ticket, tacet_error *err) {
    char what[PATH_BYTES];
    json_t *answer = NULL;
    if (strlen(ticket) > TICKET_MOST ||
        strspn(ticket, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != strlen(ticket)) {
        return tacet__fail(err, TACET_INVALID, "that is no ticket of a suggestion service");
    }
    (void)snprintf(what, sizeof what, "/suggestions/%s", ticket);
    const tacet_status status = ask_study(s, &answer, "GET", what, NULL, err);
    *out = (uint64_t)json_integer_value(json_object_get(answer, "index"));
    json_decref(answer);
    return status;
}

tacet_status tacet_device_service_observe(tacet_device_service *s, const char *ticket, double report,
                                          tacet_error *err) {
    json_t *answer = NULL;
    const tacet_status status = ask_study(s, &answer, "POST", "/observations",
                                          json_pack("{ss so}", "ticket", ticket, "value", json_real(report)), err);
    json_decref(answer);
    return status;
}
