/* host.c - starts and stops a service. Ring: open.
 * The order of stopping: no new connections; the engine answers everything (a suspended connection must not outlive
 * it); the wire ends; the engine's memory goes. */
#include "service/open/host.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/http/server.h"
#include "service/open/routes.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEM_BYTES = 1 << 16, BODY_BYTES = 1 << 20, IDLE_SECONDS = 60, PATH_BYTES = 4096 };

struct tacet__host {
    tacet__metrics metrics;
    tacet__engine *engine;
    tacet__service service;
    tacet__server *server;
};

void tacet__host_defaults(tacet__host_settings *settings) {
    *settings = (tacet__host_settings){.listen = "127.0.0.1:8443", .threads = 2, .rate = 20000};
}

static void forget(char *text) {
    if (text != NULL) {
        sodium_memzero(text, PEM_BYTES);
        free(text);
    }
}

/* A PEM file as text, PEM_BYTES long at the most. */
static tacet_status read_pem(char **out, const char *folder, const char *name, tacet_error *err) {
    char path[PATH_BYTES];
    *out = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) {
        return tacet__fail(err, TACET_INVALID, "the path of the keys is too long");
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return tacet__fail(err, errno == ENOENT ? TACET_NOT_FOUND : TACET_DENIED,
                           "%s cannot be read; 'tacet server init' makes it", path);
    }
    (void)setvbuf(file, NULL, _IONBF, 0); /* no second copy of a key */
    char *text = TACET__ZALLOC(char, PEM_BYTES);
    const size_t size = text != NULL ? fread(text, 1, PEM_BYTES, file) : 0;
    const bool good = text != NULL && !ferror(file) && size > 0 && size < PEM_BYTES;
    (void)fclose(file);
    if (!good) {
        forget(text);
        return tacet__fail(err, TACET_IO, "%s cannot be read", path);
    }
    *out = text;
    return TACET_OK;
}

tacet_status tacet__host_start(tacet__host **out, const tacet__host_settings *settings, tacet_error *err) {
    char *certificate = NULL;
    char *key = NULL;
    tacet__server_settings wire;
    *out = NULL;
    tacet__host *host = TACET__ZALLOC(tacet__host, 1);
    if (host == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory starting the service");
    }
    const tacet__engine_settings engine = {.store = settings->store,
                                           .kinds = settings->kinds,
                                           .batch_most = settings->batch_most,
                                           .metrics = &host->metrics,
                                           .log = settings->log,
                                           .log_user = settings->log_user};
    tacet_status status = read_pem(&certificate, settings->keys, "server.pem", err);
    status = status != TACET_OK ? status : read_pem(&key, settings->keys, "server.key", err);
    status = status != TACET_OK ? status : tacet__engine_open(&host->engine, &engine, err);
    if (status == TACET_OK) {
        host->service = (tacet__service){.engine = host->engine, .metrics = &host->metrics};
        tacet__server_defaults(&wire);
        wire.listen = settings->listen;
        wire.certificate = certificate;
        wire.key = key;
        wire.most_body = BODY_BYTES;
        wire.idle_seconds = IDLE_SECONDS;
        wire.rate = settings->rate;
        wire.burst = settings->rate;
        wire.threads = (unsigned)settings->threads;
        wire.handler = tacet__service_handle;
        wire.user = &host->service;
        status = tacet__server_start(&host->server, &wire, err);
    }
    free(certificate);
    forget(key);
    if (status != TACET_OK) {
        tacet__host_stop(host);
        return status;
    }
    *out = host;
    return TACET_OK;
}

unsigned tacet__host_port(const tacet__host *host) {
    return tacet__server_port(host->server);
}

void tacet__host_stop(tacet__host *host) {
    if (host != NULL) {
        tacet__server_quiesce(host->server);
        if (host->engine != NULL) {
            tacet__engine_stop(host->engine);
            tacet__engine_drain(host->engine);
        }
        tacet__server_stop(host->server);
        tacet__engine_close(host->engine);
        free(host);
    }
}
