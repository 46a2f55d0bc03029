/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - a desk over HTTPS: the curator's side of docs/PROTOCOL.md, as `tacet curator serve` runs it.
 *
 * The service has threads of its own and answers until it is stopped. Signals are left to the caller. */
#ifndef TACET_OUTSOURCED_TRUSTED_SERVE_H
#define TACET_OUTSOURCED_TRUSTED_SERVE_H

#include <tacet/io/http/log.h>
#include <tacet/outsourced/trusted/desk.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_curator tacet_curator;

/* The desk as a page, for the curator alone: a second address with a login of its own, KEYS/desk.token, which is made
 * where it is missing. Nothing of it is reachable over the address that the modeler is given. */
typedef struct tacet_curator_page {
    const char *listen; /* "HOST:PORT" of this machine alone, such as 127.0.0.1:8444; NULL: no page */
    const char *id;     /* the column by which the curator knows a record; NULL: none */
    bool ranged; /* values are expected in lo to hi, one outside must be confirmed; otherwise as the manifest says */
    double lo, hi;
    double session_minutes; /* a login ends when nothing was asked for so long: above 0, at most a day */
} tacet_curator_page;

typedef struct tacet_curator_settings {
    tacet_desk_settings desk;
    const char *keys;          /* the folder that 'tacet curator init' wrote */
    const char *listen;        /* "HOST:PORT"; port 0: any free one */
    bool tokens, certificates; /* what a modeler may show */
    tacet_log *log;            /* NULL: silent; must outlive the service */
    tacet_curator_page page;
} tacet_curator_settings;

/* 127.0.0.1:8443, tokens and certificates, no log, no page (logins of an hour); the desk's defaults. */
TACET_API void tacet_curator_defaults(tacet_curator_settings *settings);
/* The settings' texts are copied. NOT_FOUND, PARSE, INVALID: keys, release or address. CONFLICT: another process
 * listens there. Otherwise as tacet_desk_open. */
TACET_API tacet_status tacet_curator_start(tacet_curator **out, const tacet_curator_settings *settings,
                                           tacet_error *err);
TACET_API unsigned tacet_curator_port(const tacet_curator *curator);
TACET_API unsigned tacet_curator_page_port(const tacet_curator *curator); /* 0: there is no page */
/* Reads the certificate of the keys' folder again, for connections that come from now on. On failure the old one
 * stays. */
TACET_API tacet_status tacet_curator_reload(tacet_curator *curator, tacet_error *err);
/* Its desk: lives as long as the service. */
TACET_API tacet_desk *tacet_curator_desk(tacet_curator *curator);
/* Answers what is in hand, waits for a running measurement, and ends. NULL is allowed. */
TACET_API void tacet_curator_stop(tacet_curator *curator);

#ifdef __cplusplus
}
#endif
#endif
