/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - a desk, its request table, its page and their wires, started and stopped together.
 * Ring: trusted. The order of stopping: no new connections; nobody waits for a measurement any more; the wire ends; the
 * desk closes. */
#include "outsourced/trusted/desk_internal.h"
#include <tacet/outsourced/trusted/serve.h>

#include "core/fail.h"
#include "core/memory.h"
#include "io/file/folder.h"
#include "io/http/keyfile.h"
#include "outsourced/trusted/desk_page.h"
#include "outsourced/trusted/routes.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PEM_BYTES = 1 << 16, MANIFEST_BYTES = 1 << 20, THREADS = 4, SESSION_MINUTES = 60 };

struct tacet_curator {
    tacet__curator_service service;
    tacet__server *server;
    tacet__pem pem;
    char *authority, *token_hash, *manifest;
    char release[TACET__PATH], ledger[TACET__PATH], keys[TACET__PATH];
    tacet_log *log;
    /* The desk's page, on an address and with a token of its own; NULL: there is none. */
    tacet__desk_page *page;
    tacet__server *page_server;
    char desk_token[TACET__TOKEN_HASH];
    char *receipt_key, *id;
};

void tacet_curator_defaults(tacet_curator_settings *settings) {
    *settings = (tacet_curator_settings){
        .listen = "127.0.0.1:8443", .tokens = true, .certificates = true, .page.session_minutes = SESSION_MINUTES};
    tacet_desk_defaults(&settings->desk);
}

static tacet_status get(char **out, const char *folder, const char *name, size_t most, tacet_error *err) {
    char path[TACET__PATH];
    size_t length = 0;
    tacet_status status = tacet__path(path, folder, name, err);
    return status != TACET_OK ? status : tacet__file_read(out, &length, path, most, err);
}

static tacet_status copy_path(char out[TACET__PATH], const char *path, tacet_error *err) {
    const size_t length = strlen(path);
    if (length >= TACET__PATH) {
        return tacet__fail(err, TACET_INVALID, "the name of a file is too long");
    }
    memcpy(out, path, length + 1);
    return TACET_OK;
}

static tacet_status load(tacet_curator *c, const tacet_curator_settings *s, tacet_error *err) {
    const char *folder = s->desk.folder;
    tacet_status status = copy_path(c->keys, s->keys, err);
    TACET_THEN(status, tacet__keyfile_read(&c->pem, NULL, s->keys, "server", c->log, err));
    TACET_THEN(status, get(&c->authority, s->keys, "ca.pem", PEM_BYTES, err));
    TACET_THEN(status, get(&c->token_hash, s->keys, "token.hash", PEM_BYTES, err));
    TACET_THEN(status, get(&c->manifest, folder, "manifest.json", MANIFEST_BYTES, err));
    TACET_THEN(status, tacet__path(c->release, folder, "release.csv", err));
    if (status == TACET_OK && access(c->release, R_OK) != 0) {
        status = tacet__fail(err, TACET_NOT_FOUND, "%s cannot be read; 'tacet curate' makes it", c->release);
    }
    TACET_THEN(status, s->desk.ledger != NULL ? copy_path(c->ledger, s->desk.ledger, err)
                                              : tacet__path(c->ledger, folder, "ledger.db", err));
    return status;
}

static tacet_status start_wire(tacet_curator *c, const tacet_curator_settings *s, tacet_error *err) {
    tacet__server_settings wire;
    c->service.token_hash = s->tokens ? c->token_hash : NULL;
    c->service.certificates = s->certificates;
    c->service.release_path = c->release;
    c->service.manifest = c->manifest;
    c->service.manifest_size = strlen(c->manifest);
    c->service.ledger = c->ledger;
    c->service.log = c->log;
    tacet__server_defaults(&wire);
    wire.listen = s->listen;
    wire.certificate = c->pem.certificate;
    wire.key = c->pem.key;
    wire.client_ca = s->certificates ? c->authority : NULL;
    wire.threads = THREADS;
    wire.handler = tacet__curator_handle;
    wire.user = &c->service;
    return tacet__server_start(&c->server, &wire, err);
}

/* KEYS/desk.token, made where it is missing. */
static tacet_status token_of(char hash[TACET__TOKEN_HASH], const char *keys, tacet_error *err) {
    char path[TACET__PATH];
    char made[TACET__TOKEN_TEXT];
    char *text = NULL;
    size_t length = 0;
    tacet_status status = tacet__path(path, keys, "desk.token", err);
    if (status == TACET_OK && access(path, F_OK) != 0) {
        tacet__token_make(made);
        status = tacet__file_write(path, keys, made, S_IRUSR | S_IWUSR, err);
        sodium_memzero(made, sizeof made);
    }
    TACET_THEN(status, tacet__file_read(&text, &length, path, PEM_BYTES, err));
    if (status == TACET_OK) {
        text[strcspn(text, "\r\n")] = '\0';
        tacet__token_hash(hash, text);
        sodium_memzero(text, length);
    }
    free(text);
    return status;
}

static tacet_status open_page(tacet_curator *c, const tacet_curator_settings *s, tacet_error *err) {
    tacet_desk *desk = c->service.desk;
    const tacet_manifest *m = tacet_desk_manifest(desk);
    const char *colon = strrchr(s->page.listen, ':');
    const bool stated = !s->page.ranged && m->outputs_private;
    const tacet__desk_page_settings page = {
        .desk = desk,
        .source = s->desk.values != NULL     ? "column"
                  : s->desk.evaluate != NULL ? "command"
                                             : "person",
        .data = desk->data,
        .id = c->id,
        .ranged = s->page.ranged || stated,
        .lo = stated ? m->outputs.lo : s->page.lo,
        .hi = stated ? m->outputs.hi : s->page.hi,
        .ledger = c->ledger,
        .manifest = c->manifest,
        .manifest_size = strlen(c->manifest),
        .release = c->release,
        .receipt_key = c->receipt_key,
        .token_hash = c->desk_token,
        .session_minutes = s->page.session_minutes,
        .port = colon != NULL ? (unsigned)strtoul(colon + 1, NULL, 10) : 0,
    };
    return tacet__desk_page_open(&c->page, &page, err);
}

static tacet_status start_page(tacet_curator *c, const tacet_curator_settings *s, tacet_error *err) {
    tacet__server_settings wire;
    if (s->page.id != NULL && (c->id = strdup(s->page.id)) == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the desk's page");
    }
    tacet_status status = token_of(c->desk_token, s->keys, err);
    if (status == TACET_OK) {
        (void)get(&c->receipt_key, s->keys, "receipt.key", PEM_BYTES, NULL); /* older folders have none */
    }
    TACET_THEN(status, open_page(c, s, err));
    tacet__server_defaults(&wire);
    wire.listen = s->page.listen;
    wire.certificate = c->pem.certificate;
    wire.key = c->pem.key;
    wire.handler = tacet__desk_page_handle;
    wire.user = c->page;
    return status != TACET_OK ? status : tacet__server_start(&c->page_server, &wire, err);
}

/* The modeler sees nothing of it; the curator must. */
static void say_missed(void *user, size_t row, const char *why) {
    const tacet_curator *c = user;
    char line[300];
    (void)snprintf(line, sizeof line, "row %zu: %.160s; answered with noise about a stand-in, so that it does not show",
                   row, why);
    tacet_log_say(c->log, TACET_LOG_WARNING, line);
}

tacet_status tacet_curator_start(tacet_curator **out, const tacet_curator_settings *settings, tacet_error *err) {
    *out = NULL;
    if (settings->keys == NULL || settings->listen == NULL || settings->desk.folder == NULL) {
        return tacet__fail(err, TACET_INVALID, "a curator needs a release, keys and an address to listen at");
    }
    TACET_OR_RETURN(tacet__desk_page_check(&settings->page, err));
    tacet_curator *c = TACET__ZALLOC(tacet_curator, 1);
    if (c == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a curator");
    }
    c->log = settings->log;
    (void)pthread_mutex_init(&c->service.lock, NULL);
    tacet_status status = load(c, settings, err);
    tacet_desk_settings desk = settings->desk;
    if (desk.missed == NULL) {
        desk.missed = say_missed;
        desk.missed_user = c;
    }
    TACET_THEN(status, tacet_desk_open(&c->service.desk, &desk, err));
    if (status == TACET_OK && tacet_desk_doubt(c->service.desk) != NULL) {
        tacet_log_say(c->log, TACET_LOG_WARNING, tacet_desk_doubt(c->service.desk));
    }
    TACET_THEN(status, start_wire(c, settings, err));
    if (status == TACET_OK && settings->page.listen != NULL) {
        status = start_page(c, settings, err);
    }
    if (status != TACET_OK) {
        tacet_curator_stop(c);
        return status;
    }
    *out = c;
    return TACET_OK;
}

tacet_status tacet_curator_reload(tacet_curator *curator, tacet_error *err) {
    tacet__pem pem = {0};
    tacet_status status = tacet__keyfile_read(&pem, NULL, curator->keys, "server", curator->log, err);
    TACET_THEN(status, tacet__server_renew(curator->server, pem.certificate, pem.key, err));
    tacet__pem_free(&pem);
    return status;
}

unsigned tacet_curator_page_port(const tacet_curator *curator) {
    return curator->page_server != NULL ? tacet__server_port(curator->page_server) : 0;
}

unsigned tacet_curator_port(const tacet_curator *curator) {
    return tacet__server_port(curator->server);
}

tacet_desk *tacet_curator_desk(tacet_curator *curator) {
    return curator->service.desk;
}

void tacet_curator_stop(tacet_curator *c) {
    if (c == NULL) {
        return;
    }
    tacet__server_quiesce(c->page_server);
    tacet__server_quiesce(c->server);
    if (c->service.desk != NULL) {
        tacet_desk_hush(c->service.desk); /* no connection is suspended any more, nor will be */
    }
    tacet__server_stop(c->page_server);
    tacet__server_stop(c->server);
    tacet__desk_page_close(c->page);
    tacet_desk_close(c->service.desk);
    tacet__pem_free(&c->pem);
    free(c->authority);
    free(c->token_hash);
    free(c->manifest);
    free(c->id);
    if (c->receipt_key != NULL) {
        sodium_memzero(c->receipt_key, strlen(c->receipt_key));
    }
    free(c->receipt_key);
    (void)pthread_mutex_destroy(&c->service.lock);
    free(c);
}
