/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - studies over HTTPS, in this process: what `tacet collector` runs, and, with
 * tacet/service/trusted/server.h, `tacet server`.
 *
 * The service has threads of its own and answers (docs/API.md) until it is stopped. Signals are left to the caller. */
#ifndef TACET_SERVICE_OPEN_SERVER_H
#define TACET_SERVICE_OPEN_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/io/http/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where studies are. All zero but `store`: both halves of an existing store. */
typedef struct tacet_store_place {
    const char *store;      /* a folder (SQLite), or postgresql://… */
    const char *open_store; /* PostgreSQL: the address for the open role; NULL: the same as store */
    bool open_only;         /* the trusted half is not touched: local studies only */
    bool create;            /* what is missing is made */
    uint64_t busy_ms;       /* how long to wait for the store's lock; 0: 10000 */
    const char *anchors;    /* where it is noted, outside the store, how far each central study came, so that a store
                               which was put back is known; NULL: "studies" in the state folder */
} tacet_store_place;

typedef struct tacet_server tacet_server;

typedef struct tacet_server_settings {
    tacet_store_place store;
    const char *keys;               /* folder with server.pem and server.key (tacet/service/open/keys.h) */
    const char *listen;             /* "HOST:PORT"; port 0: any free one. Default 127.0.0.1:8443 */
    const char *metrics_token_file; /* whoever shows its first line, 20 characters at the least, is told the metrics,
                                       whatever the store does; NULL: tokens of the store alone */
    double rate;                    /* requests a second of a token: at least 1; default 20000 */
    double address_rate;     /* requests a second of an address without a known token: at least 1; default 200. For
                                pages, a hundredth as many grants */
    size_t most_connections; /* 4 to 1000000, a quarter of them of one address; default 4000 */
    double session_minutes;  /* a browser's login ends when nothing was asked for so long: above 0, at most a day;
                                default 30 */
    const char *pages;       /* "STUDY=ORIGIN,…": pages of these origins may report to these studies; NULL: none */
    tacet_log *log;          /* NULL: silent; must outlive the service */
} tacet_server_settings;

TACET_API void tacet_server_defaults(tacet_server_settings *settings);
/* Local studies alone, with nothing private in reach: store.store is the open half, and made when missing. A store that
 * cannot be reached yet is waited for: the service runs, and is not ready. INVALID: the settings. NOT_FOUND: a key
 * file; DENIED: a key that everybody can read. CONFLICT: another process listens there. The texts are borrowed. */
TACET_API tacet_status tacet_collector_start(tacet_server **out, const tacet_server_settings *settings,
                                             tacet_error *err);
TACET_API unsigned tacet_server_port(const tacet_server *server);
/* Reads certificate and key again, for the connections that come from now on. On failure the old ones stay. */
TACET_API tacet_status tacet_server_reload(tacet_server *server, tacet_error *err);
/* Answers what is in hand, saves, then ends. NULL is allowed. */
TACET_API void tacet_server_stop(tacet_server *server);

#ifdef __cplusplus
}
#endif
#endif
