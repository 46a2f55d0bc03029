/* cmd_serve.c - tacet curator serve.
 * Ring: trusted. */
#include "commands.h"
#include "routes.h"

#include "core/fail.h"
#include "io/file/folder.h"

#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PEM_BYTES = 1 << 16, MANIFEST_BYTES = 1 << 20 };

typedef struct material {
    char *certificate, *key, *authority, *token_hash, *manifest;
    size_t manifest_size;
    char release[TACET__PATH];
} material;

static tacet_status get(char **out, const char *folder, const char *name, size_t most, tacet_error *err) {
    char path[TACET__PATH];
    size_t length = 0;
    tacet_status status = tacet__path(path, folder, name, err);
    return status != TACET_OK ? status : tacet__file_read(out, &length, path, most, err);
}

static tacet_status load(material *m, const char *keys, const char *folder, tacet_error *err) {
    tacet_status status = get(&m->certificate, keys, "server.pem", PEM_BYTES, err);
    status = status != TACET_OK ? status : get(&m->key, keys, "server.key", PEM_BYTES, err);
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
    if (m->key != NULL) {
        sodium_memzero(m->key, strlen(m->key));
    }
    free(m->certificate);
    free(m->key);
    free(m->authority);
    free(m->token_hash);
    free(m->manifest);
}

/* Blocks until told to stop. The signals are blocked before any thread starts, so that they come here. */
static void wait_for_stop(const sigset_t *stop) {
    int which = 0;
    (void)sigwait(stop, &which);
}

static void announce(const tacet__server *server, const char *listen, const tacet_desk *desk, const char *ready) {
    const unsigned port = tacet__server_port(server);
    const char *colon = strrchr(listen, ':');
    if (cli_json_wanted()) {
        json_t *url = json_sprintf("https://%.*s:%u", (int)(colon - listen), listen, port);
        cli_json_print(json_pack("{so sI sI}", "url", url, "port", (json_int_t)port, "rows",
                                 (json_int_t)tacet_desk_manifest(desk)->rows));
    } else {
        printf("listening on https://%.*s:%u\n", (int)(colon - listen), listen, port);
    }
    (void)fflush(stdout);
    if (ready != NULL) {
        /* For scripts: the address, once the service answers. */
        FILE *file = fopen(ready, "we");
        if (file != NULL) {
            (void)fprintf(file, "https://%.*s:%u\n", (int)(colon - listen), listen, port);
            (void)fclose(file);
        }
    }
}

static void log_failure(const void *user, const char *what) {
    cli_say(user, "%s", what);
}

int cmd_serve(int argc, char **argv, const cli_command *self) {
    const char *keys = NULL;
    const char *auth = "either";
    const char *ready = NULL;
    bool person = false;
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
        {"values", CLI_STRING, &desk_settings.values, "COLUMN", "measured values are in this column", false},
        {"evaluate", CLI_STRING, &desk_settings.evaluate, "CMD", "measured values come from this shell command", false},
        {"evaluate-seconds", CLI_DOUBLE, &desk_settings.seconds, "S", "time-out of the command (default 60)", false},
        {"patience", CLI_DOUBLE, &desk_settings.patience, "S",
         "a question is answered 'pending' when the command takes longer (default 2)", false},
        {"person", CLI_FLAG, &person, NULL, "measured values come from a person: 'tacet curator pending', 'answer'",
         false},
        {"ready-file", CLI_STRING, &ready, "FILE", "write the address here once the service answers", false},
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    if ((desk_settings.values != NULL) + (desk_settings.evaluate != NULL) + person != 1) {
        return cli_usage(self, "exactly one of --values, --evaluate and --person says where values come from");
    }
    const bool by_token = strcmp(auth, "certificate") != 0;
    const bool by_certificate = strcmp(auth, "token") != 0;
    if (by_token && by_certificate && strcmp(auth, "either") != 0) {
        return cli_usage(self, "--auth: '%s' is none of token, certificate, either", auth);
    }
    sigset_t stop;
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGINT);
    (void)sigaddset(&stop, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &stop, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    material m = {0};
    curator_service service = {0};
    tacet__server *server = NULL;
    tacet_status status = load(&m, keys, desk_settings.folder, &err);
    status = status != TACET_OK ? status : tacet_desk_open(&service.desk, &desk_settings, &err);
    if (status == TACET_OK) {
        service.token_hash = by_token ? m.token_hash : NULL;
        service.certificates = by_certificate;
        service.release_path = m.release;
        service.manifest = m.manifest;
        service.manifest_size = m.manifest_size;
        service.log = log_failure;
        service.user = self;
        settings.certificate = m.certificate;
        settings.key = m.key;
        settings.client_ca = by_certificate ? m.authority : NULL;
        settings.threads = 4;
        settings.handler = curator_handle;
        settings.user = &service;
        status = tacet__server_start(&server, &settings, &err);
    }
    if (status == TACET_OK) {
        announce(server, settings.listen, service.desk, ready);
        wait_for_stop(&stop);
    }
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
