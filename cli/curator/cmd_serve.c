/* cmd_serve.c - tacet curator serve.
 * Ring: trusted. */
#include "commands.h"
#include "outsourced/trusted/desk_page.h"
#include "outsourced/trusted/routes.h"

#include "core/fail.h"
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

typedef struct material {
    tacet__pem pem;
    char *authority, *token_hash, *manifest;
    size_t manifest_size;
    char release[TACET__PATH];
} material;

static tacet_status get(char **out, const char *folder, const char *name, size_t most, tacet_error *err) {
    char path[TACET__PATH];
    size_t length = 0;
    tacet_status status = tacet__path(path, folder, name, err);
    return status != TACET_OK ? status : tacet__file_read(out, &length, path, most, err);
}

static tacet_status load(material *m, const char *keys, const char *folder, tacet__log *log, tacet_error *err) {
    tacet_status status = tacet__keyfile_read(&m->pem, NULL, keys, "server", log, err);
    status = status != TACET_OK ? status : get(&m->authority, keys, "ca.pem", PEM_BYTES, err);
    status = status != TACET_OK ? status : get(&m->token_hash, keys, "token.hash", PEM_BYTES, err);
    status = status != TACET_OK ? status : get(&m->manifest, folder, "manifest.json", MANIFEST_BYTES, err);
    status = status != TACET_OK ? status : tacet__path(m->release, folder, "release.csv", err);
    if (status == TACET_OK && access(m->release, R_OK) != 0) {
        status = tacet__fail(err, TACET_NOT_FOUND, "%s cannot be read; 'tacet curate' makes it", m->release);
    }
    m->manifest_size = m->manifest != NULL ? strlen(m->manifest) : 0;
    return status;
}

static void drop(material *m) {
    tacet__pem_free(&m->pem);
    free(m->authority);
    free(m->token_hash);
    free(m->manifest);
}

/* What a renewed certificate is for. */
typedef struct running {
    tacet__server *server;
    const char *keys;
    tacet__log *log;
} running;

static tacet_status reload(void *user, tacet_error *err) {
    const running *r = user;
    tacet__pem pem = {0};
    tacet_status status = tacet__keyfile_read(&pem, NULL, r->keys, "server", r->log, err);
    status = status != TACET_OK ? status : tacet__server_renew(r->server, pem.certificate, pem.key, err);
    tacet__pem_free(&pem);
    return status;
}

/* --- the desk's page ---------------------------------------------------------------------------------------------- */

/* A second server, on a local address, with a token of its own. */
typedef struct desk_side {
    const char *listen; /* NULL: no page */
    const char *range;
    tacet__desk_page_settings settings;
    char hash[TACET__TOKEN_HASH];
    char *receipt_key;
    tacet__desk_page *page;
    tacet__server *server;
} desk_side;

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

static tacet_status desk_start(desk_side *d, const material *m, const char *keys, tacet_error *err) {
    tacet__server_settings wire;
    tacet_error none = {0};
    tacet__server_defaults(&wire);
    wire.listen = d->listen;
    wire.certificate = m->pem.certificate;
    wire.key = m->pem.key;
    wire.handler = tacet__desk_page_handle;
    tacet_status status = desk_token(d->hash, keys, err);
    if (status == TACET_OK) {
        (void)get(&d->receipt_key, keys, "receipt.key", PEM_BYTES, &none); /* older folders have none */
        d->settings.receipt_key = d->receipt_key;
        d->settings.token_hash = d->hash;
        d->settings.manifest = m->manifest;
        d->settings.manifest_size = m->manifest_size;
        const char *colon = strrchr(d->listen, ':');
        d->settings.port = colon != NULL ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
        status = tacet__desk_page_open(&d->page, &d->settings, err);
    }
    wire.user = d->page;
    return status != TACET_OK ? status : tacet__server_start(&d->server, &wire, err);
}

static void desk_stop(desk_side *d) {
    tacet__server_quiesce(d->server);
    tacet__desk_page_hush(d->page);
    tacet__server_stop(d->server);
    tacet__desk_page_close(d->page);
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
    const char *keys = NULL;
    const char *auth = "either";
    const char *ready = NULL;
    const char *log_format = "text";
    char ledger[TACET__PATH];
    bool person = false;
    desk_side page = {.settings = {.session_minutes = 60}};
    tacet_desk_settings desk_settings;
    tacet__server_settings settings;
    tacet_error err = {0};
    tacet_desk_defaults(&desk_settings);
    tacet__server_defaults(&settings);
    settings.listen = "127.0.0.1:8443";
    const cli_option options[] = {
        {"release", CLI_STRING, &desk_settings.folder, "DIR", "the folder 'tacet curate' wrote", true},
        {"keys", CLI_STRING, &keys, "DIR", "the folder 'tacet curator init' wrote", true},
        {"data", CLI_STRING, &desk_settings.data, "FILE", "the table of records", false},
        {"ledger", CLI_STRING, &desk_settings.ledger, "FILE", "default ledger.db in the release folder", false},
        {"listen", CLI_STRING, &settings.listen, "HOST:PORT", "default 127.0.0.1:8443; port 0: any free one", false},
        {"auth", CLI_STRING, &auth, "HOW", "token, certificate or either (default)", false},
        {"target", CLI_STRING, &desk_settings.values, "COLUMN",
         "measured values are in this column; a row whose cell is empty cannot be measured", false},
        {"values", CLI_STRING, &desk_settings.values, "COLUMN", "the same as --target", false},
        {"evaluate", CLI_STRING, &desk_settings.evaluate, "CMD", "measured values come from this shell command", false},
        {"evaluate-seconds", CLI_DOUBLE, &desk_settings.seconds, "S", "time-out of the command (default 60)", false},
        {"queries", CLI_SIZE, &desk_settings.queries, "N",
         "allow so many measured values in all, more than 'tacet curate --queries' did: they are disclosed uncovered, or, "
         "with private outputs, charged to the ledger's budget",
         false},
        {"patience", CLI_DOUBLE, &desk_settings.patience, "S",
         "a question is answered 'pending' when the command takes longer (default 2)", false},
        {"person", CLI_FLAG, &person, NULL, "measured values come from a person: 'tacet curator desk'",
         false},
        {"desk", CLI_STRING, &page.listen, "HOST:PORT",
         "a page for you, on an address of this machine: questions, budget, ledger; with --person on any free port unless "
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
    if ((desk_settings.values != NULL) + (desk_settings.evaluate != NULL) + person != 1) {
        return cli_usage(self, "exactly one of --target, --evaluate and --person says where values come from");
    }
    const bool by_token = strcmp(auth, "certificate") != 0;
    const bool by_certificate = strcmp(auth, "token") != 0;
    if (by_token && by_certificate && strcmp(auth, "either") != 0) {
        return cli_usage(self, "--auth: '%s' is none of token, certificate, either", auth);
    }
    page.listen = page.listen == NULL && person ? "127.0.0.1:0" : page.listen;
    page.listen = page.listen != NULL && strcmp(page.listen, "none") == 0 ? NULL : page.listen;
    if (page.listen != NULL && !tacet__desk_page_local(page.listen)) {
        return cli_usage(self, "--desk: '%s' is not an address of this machine alone, such as 127.0.0.1:8444: whoever "
                               "sits elsewhere comes through a tunnel (ssh -L)", page.listen);
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
    material m = {0};
    tacet__curator_service service = {.lock = PTHREAD_MUTEX_INITIALIZER};
    tacet__server *server = NULL;
    tacet_status status = load(&m, keys, desk_settings.folder, &log, &err);
    status = status != TACET_OK ? status : tacet__path(ledger, desk_settings.folder, "ledger.db", &err);
    status = status != TACET_OK ? status : tacet_desk_open(&service.desk, &desk_settings, &err);
    if (status == TACET_OK) {
        service.token_hash = by_token ? m.token_hash : NULL;
        service.certificates = by_certificate;
        service.release_path = m.release;
        service.manifest = m.manifest;
        service.manifest_size = m.manifest_size;
        service.ledger = desk_settings.ledger != NULL ? desk_settings.ledger : ledger;
        service.log = &log;
        settings.certificate = m.pem.certificate;
        settings.key = m.pem.key;
        settings.client_ca = by_certificate ? m.authority : NULL;
        settings.threads = 4;
        settings.handler = tacet__curator_handle;
        settings.user = &service;
        status = tacet__server_start(&server, &settings, &err);
    }
    if (status == TACET_OK && page.listen != NULL) {
        const tacet_manifest *manifest = tacet_desk_manifest(service.desk);
        page.settings.desk = service.desk;
        page.settings.source = person ? "person" : desk_settings.values != NULL ? "column" : "command";
        page.settings.data = desk_settings.data;
        page.settings.ledger = service.ledger;
        page.settings.ranged = page.range != NULL || manifest->outputs_private;
        if (page.range == NULL && manifest->outputs_private) {
            page.settings.lo = manifest->outputs.lo;
            page.settings.hi = manifest->outputs.hi;
        }
        status = desk_start(&page, &m, keys, &err);
    }
    if (status == TACET_OK) {
        running r = {server, keys, &log};
        json_t *more = json_pack("{sI}", "rows", (json_int_t)tacet_desk_manifest(service.desk)->rows);
        serving_announce(settings.listen, tacet__server_port(server), desk_announce(&page, keys, more), ready);
        serving_wait(&signals, &log, reload, &r);
    }
    desk_stop(&page);
    tacet__server_quiesce(server);
    if (service.desk != NULL) {
        tacet_desk_hush(service.desk); /* no connection is suspended any more, nor will be */
    }
    tacet__server_stop(server);
    tacet_desk_close(service.desk);
    drop(&m);
    return status == TACET_OK        ? CLI_EXIT_OK
           : status == TACET_INVALID ? cli_usage(self, "%s", err.message)
                                     : cli_fail(self, &err);
}
