/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_serve.c - tacet curator serve.
 * Ring: trusted. */
#include "commands.h"
#include "outsourced/trusted/desk_page.h"
#include "outsourced/trusted/serve.h"

#include "io/file/folder.h"
#include "io/http/keyfile.h"
#include "serving/serving.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PEM_BYTES = 1 << 16, MANIFEST_BYTES = 1 << 20 };

static tacet_status reload(void *user, tacet_error *err) {
    return tacet__curator_reload(user, err);
}

/* --- the desk's page ---------------------------------------------------------------------------------------------- */

/* A second server, on a local address, with a token of its own. */
typedef struct desk_side {
    const char *listen; /* NULL: no page */
    const char *range;
    tacet__desk_page_settings settings;
    char hash[TACET__TOKEN_HASH];
    char *receipt_key;
    tacet__pem pem;
    char *manifest;
    tacet__desk_page *page;
    tacet__server *server;
} desk_side;

static tacet_status get(char **out, size_t *length, const char *folder, const char *name, size_t most,
                        tacet_error *err) {
    char path[TACET__PATH];
    tacet_status status = tacet__path(path, folder, name, err);
    return status != TACET_OK ? status : tacet__file_read(out, length, path, most, err);
}

/* KEYS/desk.token, made where it is missing. */
static tacet_status desk_token(char hash[TACET__TOKEN_HASH], const char *keys, tacet_error *err) {
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
    status = status != TACET_OK ? status : tacet__file_read(&text, &length, path, PEM_BYTES, err);
    if (status == TACET_OK) {
        text[strcspn(text, "\r\n")] = '\0';
        tacet__token_hash(hash, text);
        sodium_memzero(text, length);
    }
    free(text);
    return status;
}

static tacet_status desk_start(desk_side *d, const tacet_curator_settings *s, tacet__log *log, tacet_error *err) {
    tacet__server_settings wire;
    tacet_error none = {0};
    size_t length = 0;
    tacet__server_defaults(&wire);
    tacet_status status = tacet__keyfile_read(&d->pem, NULL, s->keys, "server", log, err);
    status = status != TACET_OK
                 ? status
                 : get(&d->manifest, &d->settings.manifest_size, s->desk.folder, "manifest.json", MANIFEST_BYTES, err);
    status = status != TACET_OK ? status : desk_token(d->hash, s->keys, err);
    if (status == TACET_OK) {
        (void)get(&d->receipt_key, &length, s->keys, "receipt.key", PEM_BYTES, &none); /* older folders have none */
        d->settings.receipt_key = d->receipt_key;
        d->settings.token_hash = d->hash;
        d->settings.manifest = d->manifest;
        const char *colon = strrchr(d->listen, ':');
        d->settings.port = colon != NULL ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
        status = tacet__desk_page_open(&d->page, &d->settings, err);
    }
    wire.listen = d->listen;
    wire.certificate = d->pem.certificate;
    wire.key = d->pem.key;
    wire.handler = tacet__desk_page_handle;
    wire.user = d->page;
    return status != TACET_OK ? status : tacet__server_start(&d->server, &wire, err);
}

static void desk_stop(desk_side *d) {
    tacet__server_quiesce(d->server);
    tacet__desk_page_hush(d->page);
    tacet__server_stop(d->server);
    tacet__desk_page_close(d->page);
    tacet__pem_free(&d->pem);
    free(d->manifest);
    free(d->receipt_key);
}

/* The address as a person types it, and for scripts. */
static json_t *desk_announce(const desk_side *d, const char *keys, json_t *more) {
    if (d->server != NULL) {
        char url[300];
        const char *colon = strrchr(d->listen, ':');
        (void)snprintf(url, sizeof url, "https://%.*s:%u", (int)(colon - d->listen), d->listen,
                       tacet__server_port(d->server));
        if (!cli_json_wanted()) {
            printf("the desk is at %s/ for you alone; its token is in %s/desk.token\n", url, keys);
        }
        (void)json_object_set_new(more, "desk", json_string(url));
    }
    return more;
}

int cmd_serve(int argc, char **argv, const cli_command *self) {
    const char *auth = "either";
    const char *ready = NULL;
    const char *log_format = "text";
    bool person = false;
    desk_side page = {.settings = {.session_minutes = 60}};
    tacet_curator_settings settings;
    tacet_error err = {0};
    tacet_curator_defaults(&settings);
    const cli_option options[] = {
        {"release", CLI_STRING, &settings.desk.folder, "DIR", "the folder 'tacet curate' wrote", true},
        {"keys", CLI_STRING, &settings.keys, "DIR", "the folder 'tacet curator init' wrote", true},
        {"data", CLI_STRING, &settings.desk.data, "FILE", "the table of records", false},
        {"ledger", CLI_STRING, &settings.desk.ledger, "FILE", "default ledger.db in the release folder", false},
        {"listen", CLI_STRING, &settings.listen, "HOST:PORT", "default 127.0.0.1:8443; port 0: any free one", false},
        {"auth", CLI_STRING, &auth, "HOW", "token, certificate or either (default)", false},
        {"target", CLI_STRING, &settings.desk.values, "COLUMN",
         "measured values are in this column; a row whose cell is empty cannot be measured", false},
        {"values", CLI_STRING, &settings.desk.values, "COLUMN", "the same as --target", false},
        {"evaluate", CLI_STRING, &settings.desk.evaluate, "CMD", "measured values come from this shell command", false},
        {"evaluate-seconds", CLI_DOUBLE, &settings.desk.seconds, "S", "time-out of the command (default 60)", false},
        {"queries", CLI_SIZE, &settings.desk.queries, "N",
         "allow so many measured values in all, more than 'tacet curate --queries' did: they are disclosed uncovered, "
         "or, "
         "with private outputs, charged to the ledger's budget",
         false},
        {"patience", CLI_DOUBLE, &settings.desk.patience, "S",
         "a question is answered 'pending' when the command takes longer (default 2)", false},
        {"person", CLI_FLAG, &person, NULL, "measured values come from a person: 'tacet curator desk'", false},
        {"desk", CLI_STRING, &page.listen, "HOST:PORT",
         "a page for you, on an address of this machine: questions, budget, ledger; with --person on any free port "
         "unless "
         "this says another, or 'none'",
         false},
        {"id", CLI_STRING, &page.settings.id, "COLUMN", "--desk: the column by which you know a record", false},
        {"range", CLI_STRING, &page.range, "LO:HI", "--desk: where values are expected; one outside must be confirmed",
         false},
        {"session-minutes", CLI_DOUBLE, &page.settings.session_minutes, "M",
         "--desk: a login ends when nothing was asked for so long (default 60)", false},
        {"log", CLI_STRING, &log_format, "FORMAT", "lines on stderr: text (default) or json", false},
        {"ready-file", CLI_STRING, &ready, "FILE", "write the address here once the service answers", false},
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    if ((settings.desk.values != NULL) + (settings.desk.evaluate != NULL) + person != 1) {
        return cli_usage(self, "exactly one of --target, --evaluate and --person says where values come from");
    }
    settings.tokens = strcmp(auth, "certificate") != 0;
    settings.certificates = strcmp(auth, "token") != 0;
    if (settings.tokens && settings.certificates && strcmp(auth, "either") != 0) {
        return cli_usage(self, "--auth: '%s' is none of token, certificate, either", auth);
    }
    page.listen = page.listen == NULL && person ? "127.0.0.1:0" : page.listen;
    page.listen = page.listen != NULL && strcmp(page.listen, "none") == 0 ? NULL : page.listen;
    if (page.listen != NULL && !tacet__desk_page_local(page.listen)) {
        return cli_usage(self,
                         "--desk: '%s' is not an address of this machine alone, such as 127.0.0.1:8444: whoever "
                         "sits elsewhere comes through a tunnel (ssh -L)",
                         page.listen);
    }
    if (page.range != NULL && !cli_interval(&page.settings.lo, &page.settings.hi, page.range)) {
        return cli_usage(self, "--range is LO:HI with LO below HI");
    }
    if (!(page.settings.session_minutes > 0 && page.settings.session_minutes <= 1440)) {
        return cli_usage(self, "--session-minutes is above 0, and at most a day");
    }
    static tacet__log log; /* outlives this function: what ends a process that hangs may write to it */
    if (tacet__log_init(&log, STDERR_FILENO, log_format, &err) != TACET_OK) {
        return cli_usage(self, "--log: %s", err.message);
    }
    sigset_t signals;
    serving_begin(&signals);
    tacet_curator *curator = NULL;
    tacet_status status = tacet__curator_start(&curator, &settings, &log, &err);
    const tacet_manifest *manifest = status == TACET_OK ? tacet_desk_manifest(tacet_curator_desk(curator)) : NULL;
    if (status == TACET_OK && page.listen != NULL) {
        page.settings.desk = tacet_curator_desk(curator);
        page.settings.source = person ? "person" : settings.desk.values != NULL ? "column" : "command";
        page.settings.data = settings.desk.data;
        page.settings.ledger = tacet__curator_ledger(curator);
        page.settings.ranged = page.range != NULL || manifest->outputs_private;
        if (page.range == NULL && manifest->outputs_private) {
            page.settings.lo = manifest->outputs.lo;
            page.settings.hi = manifest->outputs.hi;
        }
        status = desk_start(&page, &settings, &log, &err);
    }
    if (status == TACET_OK) {
        json_t *more = json_pack("{sI}", "rows", (json_int_t)manifest->rows);
        serving_announce(settings.listen, tacet_curator_port(curator), desk_announce(&page, settings.keys, more),
                         ready);
        serving_wait(&signals, &log, reload, curator);
    }
    desk_stop(&page);
    tacet_curator_stop(curator);
    return status == TACET_OK        ? CLI_EXIT_OK
           : status == TACET_INVALID ? cli_usage(self, "%s", err.message)
                                     : cli_fail(self, &err);
}
