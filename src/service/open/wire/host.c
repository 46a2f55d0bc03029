/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - starts and stops a service. Ring: open.
 * The order of stopping: no new connections; the engine answers everything (a suspended connection must not outlive
 * it); the wire ends; the engine's memory goes. */
#include "service/open/wire/host.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/db/db.h"
#include "io/http/client.h"
#include "io/http/keyfile.h"
#include "io/http/server.h"
#include "service/open/engine/engine.h"
#include "service/open/wire/pages.h"
#include "service/open/wire/routes.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { METRICS_TOKEN_LEAST = 20, BODY_BYTES = 1 << 20 };
enum { THREADS_MOST = 64, CONNECTIONS_MOST = 1000000, MINUTES_MOST = 1440 };
enum { OF_ADDRESS = 4, GRANTS = 100 }; /* an address gets a quarter of connections; grants: a hundredth of requests */

struct tacet_server {
    tacet__metrics metrics;
    tacet__engine *engine;
    tacet__service service;
    tacet__server *server;
    tacet__sessions *sessions;
    const char *keys;
    tacet_log *log;
};

void tacet_server_defaults(tacet_server_settings *settings) {
    *settings = (tacet_server_settings){.listen = "127.0.0.1:8443",
                                        .rate = 20000,
                                        .address_rate = 200,
                                        .most_connections = 4000,
                                        .session_minutes = 30};
}

static void log_line(void *user, const char *message) {
    tacet_log_say(user, TACET_LOG_WARNING, message);
}

/* Half the processors, as each study in use has a thread of its own; at least two, so that one can wait. */
static unsigned wire_threads(void) {
    const long half = sysconf(_SC_NPROCESSORS_ONLN) / 2;
    return half < 2 ? 2 : half > THREADS_MOST ? THREADS_MOST : (unsigned)half;
}

static tacet_status start_wire(tacet_server *host, const tacet_server_settings *settings, const tacet__pem *pem,
                               tacet_error *err) {
    tacet__server_settings wire;
    tacet__server_defaults(&wire);
    wire.listen = settings->listen;
    wire.certificate = pem->certificate;
    wire.key = pem->key;
    wire.most_body = BODY_BYTES;
    wire.most_connections = (unsigned)settings->most_connections;
    wire.most_of_address = (unsigned)settings->most_connections / OF_ADDRESS;
    wire.rate = settings->rate;
    wire.burst = settings->rate;
    wire.address_rate = settings->address_rate;
    wire.address_burst = 2 * settings->address_rate;
    wire.threads = wire_threads();
    wire.handler = tacet__service_handle;
    wire.user = &host->service;
    const tacet_status status = tacet__server_start(&host->server, &wire, err);
    atomic_store(&host->service.wire, host->server);
    return status;
}

/* Of the board: cookies are kept by host, so the port is in the name. */
static tacet_status open_sessions(tacet_server *host, const tacet_server_settings *settings, tacet_error *err) {
    char cookie[32];
    tacet__sessions_settings sessions;
    const char *colon = strrchr(settings->listen, ':');
    tacet__sessions_defaults(&sessions);
    (void)snprintf(cookie, sizeof cookie, "tacet-board-%.8s", colon != NULL ? colon + 1 : "");
    sessions.cookie = cookie;
    sessions.idle_seconds = 60 * settings->session_minutes;
    return tacet__sessions_create(&host->sessions, &sessions, err);
}

static tacet_status check_settings(const tacet_server_settings *s, tacet_error *err) {
    const bool counts = s->most_connections >= OF_ADDRESS && s->most_connections <= CONNECTIONS_MOST;
    if (!counts || !(s->rate >= 1) || !(s->address_rate >= 1)) {
        return tacet__fail(err, TACET_INVALID, "a service has %d to %d connections and rates of at least 1 a second",
                           (int)OF_ADDRESS, (int)CONNECTIONS_MOST);
    }
    return s->session_minutes > 0 && s->session_minutes <= MINUTES_MOST
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID, "the minutes of a session are above 0, and at most a day");
}

/* The credential for metrics: the first line of a file. */
static tacet_status read_metrics_token(tacet_server *host, const char *path, tacet_error *err) {
    char token[TACET__TOKEN_BYTES] = "";
    if (path == NULL) {
        return TACET_OK;
    }
    const tacet_status status = tacet__client_token(token, path, err);
    if (status == TACET_OK && strlen(token) < METRICS_TOKEN_LEAST) {
        return tacet__fail(err, TACET_INVALID, "%s: a token for metrics has at least %d characters", path,
                           (int)METRICS_TOKEN_LEAST);
    }
    tacet__studies_token_hash(host->service.metrics_token, token, strlen(token));
    host->service.has_metrics_token = status == TACET_OK;
    sodium_memzero(token, sizeof token);
    return status;
}

static void warn_of_password(tacet_log *log, const char *store) {
    if (store != NULL && tacet__db_url_has_password(store)) {
        tacet_log_say(
            log, TACET_LOG_WARNING,
            "the store's URL has a password in it, which everybody here can read in the list of processes: use "
            "passfile= or service= (docs/deployment.md)");
    }
}

tacet_status tacet__host_start(tacet_server **out, const tacet_server_settings *settings,
                               const tacet__policy_kind *const *kinds, tacet_error *err) {
    tacet__pem pem = {0};
    int64_t expires = 0;
    *out = NULL;
    if (check_settings(settings, err) != TACET_OK) {
        return TACET_INVALID;
    }
    warn_of_password(settings->log, settings->store.store);
    warn_of_password(settings->log, settings->store.open_store);
    tacet_server *host = TACET__ZALLOC(tacet_server, 1);
    if (host == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory starting the service");
    }
    host->keys = settings->keys;
    host->log = settings->log;
    tacet_status status = tacet__keyfile_read(&pem, &expires, settings->keys, "server", settings->log, err);
    const tacet__engine_settings engine = {.store = {.store = settings->store.store,
                                                     .open_store = settings->store.open_store,
                                                     .open_only = settings->store.open_only,
                                                     .create = settings->store.create,
                                                     .busy_ms = settings->store.busy_ms,
                                                     .anchored = !settings->store.open_only,
                                                     .anchors = settings->store.anchors},
                                           .kinds = kinds,
                                           .metrics = &host->metrics,
                                           .patient = true,
                                           .ahead = true,
                                           .log = log_line,
                                           .log_user = settings->log};
    TACET_THEN(status, open_sessions(host, settings, err));
    TACET_THEN(status, read_metrics_token(host, settings->metrics_token_file, err));
    TACET_THEN(status,
               tacet__page_sites_open(&host->service.sites, settings->pages, settings->address_rate / GRANTS, err));
    TACET_THEN(status, tacet__engine_open(&host->engine, &engine, err));
    if (status == TACET_OK) {
        host->service.sessions = host->sessions;
        host->service.engine = host->engine;
        host->service.metrics = &host->metrics;
        atomic_store(&host->service.certificate_expires, expires);
        atomic_store(&host->service.serving, true);
        status = start_wire(host, settings, &pem, err);
    }
    tacet__pem_free(&pem);
    if (status != TACET_OK) {
        tacet_server_stop(host);
        return status;
    }
    *out = host;
    return TACET_OK;
}

tacet_status tacet_collector_start(tacet_server **out, const tacet_server_settings *settings, tacet_error *err) {
    tacet_server_settings local = *settings;
    local.store.open_store = local.store.store;
    local.store.open_only = true;
    local.store.create = true;
    return tacet__host_start(out, &local, tacet__policy_kinds_local, err);
}

unsigned tacet_server_port(const tacet_server *host) {
    return tacet__server_port(host->server);
}

tacet_status tacet_server_reload(tacet_server *host, tacet_error *err) {
    tacet__pem pem = {0};
    int64_t expires = 0;
    tacet_status status = tacet__keyfile_read(&pem, &expires, host->keys, "server", host->log, err);
    TACET_THEN(status, tacet__server_renew(host->server, pem.certificate, pem.key, err));
    if (status == TACET_OK) {
        atomic_store(&host->service.certificate_expires, expires);
    }
    tacet__pem_free(&pem);
    return status;
}

void tacet_server_stop(tacet_server *host) {
    if (host != NULL) {
        atomic_store(&host->service.serving, false);
        tacet__server_quiesce(host->server);
        if (host->engine != NULL) {
            tacet__engine_stop(host->engine);
            tacet__engine_drain(host->engine);
        }
        tacet__server_stop(host->server);
        tacet__engine_close(host->engine);
        tacet__sessions_free(host->sessions);
        tacet__page_sites_free(host->service.sites);
        free(host);
    }
}
