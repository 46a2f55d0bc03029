/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - an HTTPS server that hands complete requests to one function. Ring: io; knows no data.
 *
 * TLS is not optional. What one party can take is limited: connections in all and of an address, seconds for a
 * handshake, a header and a body, bytes of a body and of all bodies, requests a second of a token and of an address.
 * What breaks a limit is answered with a problem (problem.h) or closed, and never reaches the handler. Requests that
 * two readers might read differently (two lengths, a length beside a transfer encoding, no host, a NUL) are refused.
 * GET /v1/live is answered here, from nothing but the process. The handler runs on several threads at once and must not
 * block: what takes time is done elsewhere, while the exchange is suspended. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

typedef struct tacet__response tacet__response;

/* The way back to a client whose answer is not ready yet. The handler calls suspend, hands the pointer to whoever will
 * have the answer, leaves its response alone and returns: the connection then waits without a thread. Later, from any
 * thread and exactly once: answer, which takes over the body. The request's texts stay valid until then. */
typedef struct tacet__exchange {
    void (*suspend)(struct tacet__exchange *self);
    void (*answer)(struct tacet__exchange *self, const tacet__response *response);
    bool known; /* set before the answer: the request's token or certificate is one that the handler knows */
} tacet__exchange;

enum { TACET__REQUEST_ID = 18 }; /* 16 digits */

typedef struct tacet__request {
    const char *method;
    const char *path;        /* without the query string */
    const char *bearer;      /* the token of an Authorization: Bearer header, or NULL */
    const char *certificate; /* common name of a verified client certificate, or NULL */
    const char *body;        /* NUL-terminated for convenience; may hold NULs */
    size_t body_size;
    /* The value of an argument behind the '?', or NULL. The first argument is `peer`. */
    const char *(*argument)(const void *peer, const char *name);
    /* The value of a header, or of a cookie, or NULL. NULL themselves where a request came by another way. */
    const char *(*header)(const void *peer, const char *name);
    const char *(*cookie)(const void *peer, const char *name);
    const void *peer;
    uint64_t address;           /* a number that stands for the address it came from */
    char id[TACET__REQUEST_ID]; /* at random; the answer has it, too, in X-Request-Id */
    char from[48];              /* that address as text, IPv6 as its /64; "": not known */
    tacet__exchange *exchange;
} tacet__request;

enum { TACET__COOKIE_BYTES = 192 };

struct tacet__response {
    unsigned status;          /* 0 counts as 500 */
    const char *content_type; /* static; NULL: application/json */
    char *body;               /* from malloc; taken over */
    size_t body_size;
    int file;             /* instead of a body: a descriptor that is read from its start and closed; -1: none */
    unsigned retry_after; /* seconds; 0: no such header */
    const char *encoding; /* static; NULL: as it is */
    const char *origin;   /* static: a page of this origin may read the answer; NULL: of this server's alone */
    bool page;            /* part of a page: the browser is told to run and to load nothing from elsewhere */
    char cookie[TACET__COOKIE_BYTES]; /* of a Set-Cookie header; "": none */
};

typedef void (*tacet__handler)(void *user, const tacet__request *request, tacet__response *response);

typedef struct tacet__server_settings {
    const char *listen;      /* "127.0.0.1:8443", "[::1]:0"; port 0: any free one */
    const char *certificate; /* PEM text */
    const char *key;         /* PEM text */
    const char *client_ca;   /* PEM text: certificates signed by it are accepted as identities; NULL: none */
    size_t most_body;        /* bytes; above: 413 */
    size_t most_held;        /* bytes of all bodies held at a time, read or half read; above: 503. Half of it for those
                                above 4 KiB whose token was not known before */
    unsigned most_connections;
    unsigned most_of_address;   /* connections of one address (IPv6: of one /64) */
    unsigned handshake_seconds; /* from the connection to the end of its first header */
    unsigned body_seconds; /* from the end of a header to that of its body; for reading an answer, besides 8 KiB/s */
    unsigned idle_seconds; /* from an answer to the end of the next header */
    double rate;           /* requests a second of a token that the handler knows (exchange); above: 429 */
    double burst;
    double address_rate; /* requests a second of an address without such a token; above: 429, a second late */
    double address_burst;
    unsigned threads;
    tacet__handler handler;
    void *user;
} tacet__server_settings;

typedef struct tacet__server tacet__server;

/* 127.0.0.1:0; 64 KiB bodies, 64 MiB of them; 4000 connections, 1000 of an address; 10 s for a handshake and header,
 * 30 s for a body, 60 s idle; 500 requests a second of a token, bursts of 1000; 200 of an address, bursts of 400; 2
 * threads. */
void tacet__server_defaults(tacet__server_settings *settings);
/* INVALID: listen address or TLS material unusable. CONFLICT: another process listens on the address. IO. */
tacet_status tacet__server_start(tacet__server **out, const tacet__server_settings *settings, tacet_error *err);
unsigned tacet__server_port(const tacet__server *server);
/* Another certificate for the connections that come from now on; those there are go on with the old one. INVALID: it is
 * unusable, and the old one stays. One caller at a time. */
tacet_status tacet__server_renew(tacet__server *server, const char *certificate, const char *key, tacet_error *err);
/* No new connections from now on; requests in hand go on. Call it before what answers suspended requests is stopped.
 * NULL is allowed. */
void tacet__server_quiesce(tacet__server *server);
/* Waits for requests in hand, and until late answers are sent, which a client that does not read delays by a second at
 * the most; none may be suspended. NULL is allowed. */
void tacet__server_stop(tacet__server *server);

/* What the server refused by itself, and how full it is. */
typedef struct tacet__server_counts {
    uint64_t connections; /* now */
    uint64_t evicted;     /* connections closed for want of a place */
    uint64_t late;        /* connections closed at a deadline */
    uint64_t turned_away; /* connections that found no place, or came too fast */
    uint64_t too_many;    /* 429 */
    uint64_t too_large;   /* 413 */
    uint64_t malformed;   /* 400 */
    uint64_t overloaded;  /* 503, bodies */
} tacet__server_counts;
void tacet__server_count(tacet__server *server, tacet__server_counts *out);
