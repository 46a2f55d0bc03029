/* SPDX-License-Identifier: Apache-2.0 */
/* desk_side.c - the curator's page on an address and with a token of its own.
 * Ring: trusted. The order of stopping: no new connections; nobody waits any more; the wire ends; the page closes. */
#include "outsourced/trusted/desk_side.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/file/folder.h"
#include "io/http/keyfile.h"
#include "outsourced/trusted/desk_page.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_BYTES = 1 << 16, MINUTES_MOST = 1440 };

struct tacet__desk_side {
    tacet__desk_page *page;
    tacet__server *server;
    tacet__pem pem;
    char hash[TACET__TOKEN_HASH];
    char *receipt_key, *data, *id;
};

tacet_status tacet__desk_side_check(const tacet_curator_page *page, tacet_error *err) {
    if (page->listen != NULL && !tacet__desk_page_local(page->listen)) {
        return tacet__fail(err, TACET_INVALID,
                           "the desk's page: '%.60s' is not an address of this machine alone, such as 127.0.0.1:8444: "
                           "whoever sits elsewhere comes through a tunnel (ssh -L)",
                           page->listen);
    }
    return page->session_minutes > 0 && page->session_minutes <= MINUTES_MOST
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID, "the minutes of a session are above 0, and at most a day");
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
    TACET_THEN(status, tacet__file_read(&text, &length, path, KEY_BYTES, err));
    if (status == TACET_OK) {
        text[strcspn(text, "\r\n")] = '\0';
        tacet__token_hash(hash, text);
        sodium_memzero(text, length);
    }
    free(text);
    return status;
}

static tacet_status open_page(tacet__desk_side *side, const tacet_curator_settings *s, tacet_desk *desk,
                              const char *ledger, const char *manifest, const char *release, tacet_error *err) {
    const tacet_manifest *m = tacet_desk_manifest(desk);
    const char *colon = strrchr(s->page.listen, ':');
    const bool stated = !s->page.ranged && m->outputs_private;
    const tacet__desk_page_settings page = {
        .desk = desk,
        .source = s->desk.values != NULL     ? "column"
                  : s->desk.evaluate != NULL ? "command"
                                             : "person",
        .data = side->data,
        .id = side->id,
        .ranged = s->page.ranged || stated,
        .lo = stated ? m->outputs.lo : s->page.lo,
        .hi = stated ? m->outputs.hi : s->page.hi,
        .ledger = ledger,
        .manifest = manifest,
        .manifest_size = strlen(manifest),
        .release = release,
        .receipt_key = side->receipt_key,
        .token_hash = side->hash,
        .session_minutes = s->page.session_minutes,
        .port = colon != NULL ? (unsigned)strtoul(colon + 1, NULL, 10) : 0,
    };
    return tacet__desk_page_open(&side->page, &page, err);
}

static tacet_status start(tacet__desk_side *side, const tacet_curator_settings *s, tacet_desk *desk, const char *ledger,
                          const char *manifest, const char *release, tacet_error *err) {
    char path[TACET__PATH];
    size_t length = 0;
    tacet__server_settings wire;
    if ((s->desk.data != NULL && (side->data = strdup(s->desk.data)) == NULL) ||
        (s->page.id != NULL && (side->id = strdup(s->page.id)) == NULL)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the desk's page");
    }
    tacet_status status = tacet__keyfile_read(&side->pem, NULL, s->keys, "server", s->log, err);
    TACET_THEN(status, token_of(side->hash, s->keys, err));
    TACET_THEN(status, tacet__path(path, s->keys, "receipt.key", err));
    if (status == TACET_OK) {
        (void)tacet__file_read(&side->receipt_key, &length, path, KEY_BYTES, NULL); /* older folders have none */
    }
    TACET_THEN(status, open_page(side, s, desk, ledger, manifest, release, err));
    tacet__server_defaults(&wire);
    wire.listen = s->page.listen;
    wire.certificate = side->pem.certificate;
    wire.key = side->pem.key;
    wire.handler = tacet__desk_page_handle;
    wire.user = side->page;
    return status != TACET_OK ? status : tacet__server_start(&side->server, &wire, err);
}

tacet_status tacet__desk_side_start(tacet__desk_side **out, const tacet_curator_settings *settings, tacet_desk *desk,
                                    const char *ledger, const char *manifest, const char *release, tacet_error *err) {
    *out = NULL;
    tacet__desk_side *side = TACET__ZALLOC(tacet__desk_side, 1);
    const tacet_status status = side != NULL ? start(side, settings, desk, ledger, manifest, release, err)
                                             : tacet__fail(err, TACET_NO_MEMORY, "out of memory for the desk's page");
    if (status != TACET_OK) {
        tacet__desk_side_stop(side);
        return status;
    }
    *out = side;
    return TACET_OK;
}

unsigned tacet__desk_side_port(const tacet__desk_side *side) {
    return tacet__server_port(side->server);
}

void tacet__desk_side_stop(tacet__desk_side *side) {
    if (side != NULL) {
        tacet__server_quiesce(side->server);
        tacet__desk_page_hush(side->page);
        tacet__server_stop(side->server);
        tacet__desk_page_close(side->page);
        tacet__pem_free(&side->pem);
        if (side->receipt_key != NULL) {
            sodium_memzero(side->receipt_key, strlen(side->receipt_key));
        }
        free(side->receipt_key);
        free(side->data);
        free(side->id);
        free(side);
    }
}
