/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - engine, routes and wire together: what `tacet server` and `tacet collector` both run. Ring: open. */
#ifndef TACET_SRC_SERVICE_OPEN_HOST_H
#define TACET_SRC_SERVICE_OPEN_HOST_H

#include <tacet/io/http/log.h>
#include "service/open/engine.h"

typedef struct tacet__host_settings {
    tacet__studies_settings store;
    const tacet__policy_kind *const *kinds;
    const char *keys;        /* folder with server.pem and server.key */
    const char *listen;      /* HOST:PORT */
    const char *peers;       /* HOST:PORT at which the other servers of the store reach this one; NULL: it is alone, or
                                takes turns with them. keys then also has ca.pem, peer.pem and peer.key */
    size_t threads;          /* of the wire; default 2 */
    double rate;             /* requests a second of a token; default 20000 */
    double address_rate;     /* requests a second of an address without a known token; default 200 */
    size_t most_connections; /* default 4000 */
    size_t most_of_address;  /* connections; default 1000 */
    size_t batch_most;       /* 0: the engine's default */
    double session_minutes;  /* a browser's login ends when nothing was asked for so long; default 30 */
    tacet_log *log;          /* NULL: silent */
} tacet__host_settings;

typedef struct tacet__host tacet__host;

void tacet__host_defaults(tacet__host_settings *settings);
/* Errors of tacet__engine_open and tacet__server_start; NOT_FOUND: a key file; DENIED: a key that everybody can read. A
 * store that cannot be reached yet is waited for: the service runs, and is not ready. The texts are borrowed. */
tacet_status tacet__host_start(tacet__host **out, const tacet__host_settings *settings, tacet_error *err);
unsigned tacet__host_port(const tacet__host *host);
/* The address for other servers; NULL: none. */
const char *tacet__host_peers(const tacet__host *host);
/* Reads certificate and key again, for the connections that come from now on. On failure the old ones stay. */
tacet_status tacet__host_reload(tacet__host *host, tacet_error *err);
/* Answers what is in hand, then ends. NULL is allowed. */
void tacet__host_stop(tacet__host *host);

#endif
