/* SPDX-License-Identifier: Apache-2.0 */
/* remote.c - asks the curator, and asks again when it was away. Every request may be repeated: a ticket is answered
 * once. Ring: open. */
#include "outsourced/shared/release_text.h"
#include <tacet/outsourced/open/remote.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/memory.h"
#include "io/file/folder.h"
#include "io/http/client.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/io/file.h>
#include <unistd.h>

enum { EVALUATION_TRIES = 2, MANIFEST_BYTES = 1 << 24 };

struct tacet_remote {
    tacet__client *client;
    tacet_remote_settings settings; /* url and keys are not used any more */
    bool away;                      /* patience has run out once: one try from then on, until it answers */
};

void tacet_remote_defaults(tacet_remote_settings *settings) {
    *settings = (tacet_remote_settings){.patience = 60, .poll = 0.5};
}

static tacet_status connect_to(tacet__client **out, const tacet_remote_settings *s, tacet_error *err) {
    char authority[TACET__PATH];
    char certificate[TACET__PATH];
    char key[TACET__PATH];
    char token_file[TACET__PATH];
    char token[TACET__TOKEN_BYTES] = "";
    tacet__client_settings settings;
    tacet__client_defaults(&settings);
    tacet_status status = tacet__path(authority, s->keys, "ca.pem", err);
    TACET_THEN(status, tacet__path(certificate, s->keys, "client.pem", err));
    TACET_THEN(status, tacet__path(key, s->keys, "client.key", err));
    TACET_THEN(status, tacet__path(token_file, s->keys, "token", err));
    if (status == TACET_OK && access(authority, R_OK) != 0) {
        status = tacet__fail(err, TACET_NOT_FOUND, "%s cannot be read", authority);
    }
    if (!s->use_certificate) {
        TACET_THEN(status, tacet__client_token(token, token_file, err));
    }
    settings.url = s->url;
    settings.authority = authority;
    if (s->use_certificate) {
        settings.certificate = certificate;
        settings.key = key;
    } else {
        settings.token = token;
    }
    TACET_THEN(status, tacet__client_open(out, &settings, err));
    sodium_memzero(token, sizeof token);
    return status;
}

tacet_status tacet_remote_open(tacet_remote **out, const tacet_remote_settings *settings, tacet_error *err) {
    *out = NULL;
    if (settings->url == NULL || settings->keys == NULL || !(settings->patience >= 0) || !(settings->poll > 0)) {
        return tacet__fail(err, TACET_INVALID,
                           "an address, keys, patience of at least 0 and a poll above 0 are needed");
    }
    tacet_remote *r = TACET__ZALLOC(tacet_remote, 1);
    if (r == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the connection");
    }
    r->settings = *settings;
    const tacet_status status = connect_to(&r->client, settings, err);
    if (status != TACET_OK) {
        free(r);
        return status;
    }
    *out = r;
    return TACET_OK;
}

void tacet_remote_close(tacet_remote *r) {
    if (r != NULL) {
        tacet__client_close(r->client);
        free(r);
    }
}

static bool stopped(const tacet_remote *r) {
    return r->settings.stop != NULL && r->settings.stop(r->settings.user);
}

static void tell_state(tacet_remote *r, const char *why) {
    if (r->settings.waiting != NULL) {
        r->settings.waiting(why, r->settings.user);
    }
}

static tacet_status refused(const tacet__answer *answer, tacet_error *err) {
    const tacet_status status = answer->status == 403   ? TACET_BUDGET
                                : answer->status == 409 ? TACET_CONFLICT
                                : answer->status == 401 ? TACET_DENIED
                                : answer->status == 404 ? TACET_NOT_FOUND
                                : answer->status == 502 ? TACET_UNSUPPORTED
                                : answer->status >= 500 ? TACET_TIMEOUT
                                                        : TACET_INVALID;
    return tacet__client_refused(answer, status, "the curator", err);
}

/* One request, repeated while the curator is away or busy, for as long as patience lasts. Into a file when one is
 * given. */
static tacet_status ask(tacet_remote *r, tacet__answer *answer, const char *method, const char *path, const char *body,
                        FILE *file, tacet_error *err) {
    const double deadline = tacet__now() + (r->away ? 0 : r->settings.patience);
    double pause = 0.05;
    for (;;) {
        tacet_error local = {0};
        if (file != NULL) {
            rewind(file);
            if (ftruncate(fileno(file), 0) != 0) {
                return tacet__fail(err, TACET_IO, "the release cannot be stored");
            }
        }
        const tacet_status status = file != NULL ? tacet__client_download(r->client, answer, path, file, &local)
                                                 : tacet__client_request(r->client, answer, method, path, body, &local);
        const bool again =
            status == TACET_IO || status == TACET_TIMEOUT ||
            (status == TACET_OK && (answer->status == 429 || (answer->status >= 500 && answer->status != 502)));
        if (!again) {
            r->away = false;
            return status == TACET_OK ? TACET_OK : tacet__fail(err, status, "%s", local.message);
        }
        if (stopped(r)) {
            return tacet__fail(err, TACET_STATE, "interrupted");
        }
        if (tacet__now() + pause > deadline) {
            r->away = true;
            return status != TACET_OK ? tacet__fail(err, status, "%s", local.message) : refused(answer, err);
        }
        tell_state(r, status != TACET_OK ? "cannot reach the curator; trying again"
                                         : "the curator cannot answer yet; trying again");
        tacet__pause(pause);
        pause = pause < 2 ? pause * 1.6 : pause;
    }
}

static tacet_status fetch_manifest(tacet_remote *r, tacet_manifest *out, char **text, tacet_error *err) {
    tacet__answer answer;
    *text = NULL;
    tacet_status status = ask(r, &answer, "GET", "/v1/manifest", NULL, NULL, err);
    if (status == TACET_OK && answer.status != 200) {
        status = refused(&answer, err);
    }
    TACET_THEN(status, tacet_manifest_decode(out, answer.body, answer.size, err));
    if (status == TACET_OK && (*text = strdup(answer.body)) == NULL) {
        tacet_manifest_clear(out);
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for the manifest");
    }
    return status;
}

static tacet_status fetch_release(tacet_remote *r, double **rows, const tacet_manifest *manifest, const char *path,
                                  tacet_error *err) {
    tacet__answer answer;
    *rows = NULL;
    FILE *file = fopen(path, "w+e");
    if (file == NULL) {
        return tacet__fail(err, TACET_IO, "%s cannot be written", path);
    }
    tacet_status status = ask(r, &answer, "GET", "/v1/release", NULL, file, err);
    if (status == TACET_OK && answer.status != 200) {
        status = refused(&answer, err);
    }
    if (fclose(file) != 0 && status == TACET_OK) {
        status = tacet__fail(err, TACET_IO, "%s cannot be written", path);
    }
    return status != TACET_OK ? status : tacet_manifest_rows(manifest, rows, path, err);
}

/* A release that was fetched before: its manifest is written when all of it is there. */
static tacet_status load_kept(tacet_manifest *out, char **text, double **rows, const char *manifest_path,
                              const char *release_path) {
    size_t length = 0;
    tacet_status status = tacet_file_read(text, &length, manifest_path, MANIFEST_BYTES, NULL);
    TACET_THEN(status, tacet_manifest_decode(out, *text, length, NULL));
    if (status == TACET_OK) {
        status = tacet_manifest_rows(out, rows, release_path, NULL);
        if (status != TACET_OK) {
            tacet_manifest_clear(out);
        }
    }
    if (status != TACET_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

static tacet_status fetch_anew(tacet_remote *r, tacet_manifest *out, char **text, double **rows,
                               const char *manifest_path, const char *release_path, tacet_error *err) {
    TACET_OR_RETURN(fetch_manifest(r, out, text, err));
    tacet_status status = fetch_release(r, rows, out, release_path, err);
    TACET_THEN(status, tacet_file_write(manifest_path, *text, false, err));
    if (status != TACET_OK) {
        tacet_manifest_clear(out);
        free(*text);
        free(*rows);
        *text = NULL;
        *rows = NULL;
    }
    return status;
}

tacet_status tacet_remote_fetch(tacet_remote *r, tacet_manifest *out, char **text, double **rows, const char *folder,
                                tacet_error *err) {
    char manifest_path[TACET__PATH];
    char release_path[TACET__PATH];
    tacet_error why = {0};
    *text = NULL;
    *rows = NULL;
    if (mkdir(folder, 0700) != 0 && access(folder, W_OK) != 0) {
        return tacet__fail(err, TACET_IO, "%s cannot be made", folder);
    }
    tacet_status status = tacet__path(manifest_path, folder, "manifest.json", err);
    TACET_THEN(status, tacet__path(release_path, folder, "release.csv", err));
    if (status != TACET_OK) {
        return status;
    }
    status = fetch_anew(r, out, text, rows, manifest_path, release_path, &why);
    if ((status == TACET_IO || status == TACET_TIMEOUT) &&
        load_kept(out, text, rows, manifest_path, release_path) == TACET_OK) {
        return TACET_OK;
    }
    return status == TACET_OK ? TACET_OK : tacet__fail(err, status, "%s", why.message);
}

/* The value of an answer, or that there is none to be had. */
static tacet_status value_of(double *value, const tacet__answer *answer, tacet_error *err) {
    tacet_status status = TACET_OK;
    const char *word = NULL;
    json_t *reply = json_loadb(answer->body, answer->size, 0, NULL);
    if (json_unpack(reply, "{ss}", "status", &word) == 0 && strcmp(word, "failed") == 0) {
        status = tacet__fail(err, TACET_UNSUPPORTED, "the curator says that the row cannot be measured");
    } else if (json_unpack(reply, "{sF}", "value", value) != 0 || !isfinite(*value)) {
        status = tacet__fail(err, TACET_PARSE, "the curator's answer holds no value");
    }
    json_decref(reply);
    return status;
}

tacet_status tacet_remote_query(tacet_remote *r, double *value, const char *ticket, size_t row, tacet_error *err) {
    char *body = NULL;
    tacet__answer answer;
    json_t *question = json_pack("{ss sI}", "ticket", ticket, "row", (json_int_t)row);
    body = question != NULL ? json_dumps(question, JSON_COMPACT) : NULL;
    json_decref(question);
    if (body == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory asking");
    }
    tacet_status status = ask(r, &answer, "POST", "/v1/queries", body, NULL, err);
    unsigned tries = 1;
    while (status == TACET_OK && (answer.status == 202 || (answer.status == 502 && tries < EVALUATION_TRIES))) {
        tries += answer.status == 502 ? 1 : 0;
        tell_state(r, answer.status == 502 ? "the evaluation failed; asking once more"
                                           : "the value is pending at the curator");
        tacet__pause(r->settings.poll);
        /* Asked again rather than looked at: a failed evaluation is then tried again. */
        status = stopped(r) ? tacet__fail(err, TACET_STATE, "interrupted")
                            : ask(r, &answer, "POST", "/v1/queries", body, NULL, err);
    }
    free(body);
    if (status == TACET_OK && answer.status != 200) {
        status = refused(&answer, err);
    }
    return status != TACET_OK ? status : value_of(value, &answer, err);
}

tacet_status tacet_remote_ask(void *remotes, double *value, const char *ticket, size_t holder, size_t row,
                              tacet_error *err) {
    return tacet_remote_query(((tacet_remote *const *)remotes)[holder], value, ticket, row, err);
}

char *tacet_remote_ledger(tacet_remote *r) {
    tacet__answer answer;
    if (ask(r, &answer, "GET", "/v1/ledger", NULL, NULL, NULL) != TACET_OK || answer.status != 200) {
        return NULL;
    }
    return strndup(answer.body, answer.size);
}
