/* host.c - starts and stops a service. Ring: open.
 * The order of stopping: no new connections; the engine answers everything (a suspended connection must not outlive
 * it); the wire ends; the engine's memory goes. */
#include "service/open/host.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/http/keyfile.h"
#include "io/http/server.h"
#include "service/open/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_BYTES = 1 << 20 };

struct tacet__host {
    tacet__metrics metrics;
    tacet__engine *engine;
    tacet__service service;
    tacet__server *server;
    tacet__sessions *sessions;
    const char *keys;
    tacet__log *log;
};

void tacet__host_defaults(tacet__host_settings *settings) {
    *settings = (tacet__host_settings){.listen = "127.0.0.1:8443",
                                       .threads = 2,
                                       .rate = 20000,
                                       .address_rate = 200,
                                       .most_connections = 4000,
                                       .most_of_address = 1000,
                                       .session_minutes = 30};
}

static void log_line(void *user, const char *message) {
    tacet__log_say(user, TACET__LOG_WARNING, message);
}

static tacet_status start_wire(tacet__host *host, const tacet__host_settings *settings, const tacet__pem *pem,
                               tacet_error *err) {
    tacet__server_settings wire;
    tacet__server_defaults(&wire);
    wire.listen = settings->listen;
    wire.certificate = pem->certificate;
    wire.key = pem->key;
    wire.most_body = BODY_BYTES;
    wire.most_connections = (unsigned)settings->most_connections;
    wire.most_of_address = (unsigned)settings->most_of_address;
    wire.rate = settings->rate;
    wire.burst = settings->rate;
    wire.address_rate = settings->address_rate;
    wire.address_burst = 2 * settings->address_rate;
    wire.threads = (unsigned)settings->threads;
    wire.handler = tacet__service_handle;
    wire.user = &host->service;
    const tacet_status status = tacet__server_start(&host->server, &wire, err);
    atomic_store(&host->service.wire, host->server);
    return status;
}

/* Of the board: cookies are kept by host, so the port is in the name. */
static tacet_status open_sessions(tacet__host *host, const tacet__host_settings *settings, tacet_error *err) {
    char cookie[32];
    tacet__sessions_settings sessions;
    const char *colon = strrchr(settings->listen, ':');
    tacet__sessions_defaults(&sessions);
    (void)snprintf(cookie, sizeof cookie, "tacet-board-%.8s", colon != NULL ? colon + 1 : "");
    sessions.cookie = cookie;
    sessions.idle_seconds = 60 * settings->session_minutes;
    return tacet__sessions_create(&host->sessions, &sessions, err);
}

tacet_status tacet__host_start(tacet__host **out, const tacet__host_settings *settings, tacet_error *err) {
    tacet__pem pem = {0};
    int64_t expires = 0;
    *out = NULL;
    tacet__host *host = TACET__ZALLOC(tacet__host, 1);
    if (host == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory starting the service");
    }
    host->keys = settings->keys;
    host->log = settings->log;
    const tacet__engine_settings engine = {.store = settings->store,
                                           .kinds = settings->kinds,
                                           .batch_most = settings->batch_most,
                                           .metrics = &host->metrics,
                                           .patient = true,
                                           .log = log_line,
                                           .log_user = settings->log};
    tacet_status status = tacet__keyfile_read(&pem, &expires, settings->keys, settings->log, err);
    status = status != TACET_OK ? status : open_sessions(host, settings, err);
    status = status != TACET_OK ? status : tacet__engine_open(&host->engine, &engine, err);
    if (status == TACET_OK) {
        host->service.sessions = host->sessions;
        host->service.engine = host->engine;
        host->service.metrics = &host->metrics;
        atomic_store(&host->service.certificate_expires, expires);
        status = start_wire(host, settings, &pem, err);
    }
    tacet__pem_free(&pem);
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

tacet_status tacet__host_reload(tacet__host *host, tacet_error *err) {
    tacet__pem pem = {0};
    int64_t expires = 0;
    tacet_status status = tacet__keyfile_read(&pem, &expires, host->keys, host->log, err);
    status = status != TACET_OK ? status : tacet__server_renew(host->server, pem.certificate, pem.key, err);
    if (status == TACET_OK) {
        atomic_store(&host->service.certificate_expires, expires);
    }
    tacet__pem_free(&pem);
    return status;
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
        tacet__sessions_free(host->sessions);
        free(host);
    }
}
