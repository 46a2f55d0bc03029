/* server.h - an HTTPS server that hands complete requests to one function. Ring: io; knows no data.
 *
 * TLS is not optional. Bodies, connections and the request rate are limited; what breaks a limit is answered with a 4xx
 * (a 503 when the bodies of all requests together are too much) and never reaches the handler. The handler runs on
 * several threads at once. */
#ifndef TACET_SRC_IO_HTTP_SERVER_H
#define TACET_SRC_IO_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

typedef struct tacet__response tacet__response;

/* The way back to a client whose answer is not ready yet. The handler calls suspend, hands the pointer to whoever will
 * have the answer, leaves its response alone and returns: the connection then waits without a thread. Later, from any
 * thread and exactly once: answer, which takes over the body. The request's texts stay valid until then. */
typedef struct tacet__exchange {
    void (*suspend)(struct tacet__exchange *self);
    void (*answer)(struct tacet__exchange *self, const tacet__response *response);
} tacet__exchange;

typedef struct tacet__request {
    const char *method;
    const char *path;        /* without the query string */
    const char *bearer;      /* the token of an Authorization: Bearer header, or NULL */
    const char *certificate; /* common name of a verified client certificate, or NULL */
    const char *body;        /* NUL-terminated for convenience; may hold NULs */
    size_t body_size;
    /* The value of an argument behind the '?', or NULL. The first argument is `peer`. */
    const char *(*argument)(const void *peer, const char *name);
    const void *peer;
    tacet__exchange *exchange;
} tacet__request;

struct tacet__response {
    unsigned status;          /* 0 counts as 500 */
    const char *content_type; /* static; NULL: application/json */
    char *body;               /* from malloc; taken over */
    size_t body_size;
    int file;             /* instead of a body: a descriptor that is read from its start and closed; -1: none */
    unsigned retry_after; /* seconds; 0: no such header */
};

typedef void (*tacet__handler)(void *user, const tacet__request *request, tacet__response *response);

typedef struct tacet__server_settings {
    const char *listen;      /* "127.0.0.1:8443", "[::1]:0"; port 0: any free one */
    const char *certificate; /* PEM text */
    const char *key;         /* PEM text */
    const char *client_ca;   /* PEM text: certificates signed by it are accepted as identities; NULL: none */
    size_t most_body;        /* bytes; above: 413 */
    size_t most_held;        /* bytes of all bodies held at a time, read or half read; above: 503 */
    unsigned most_connections;
    unsigned idle_seconds; /* a connection silent for longer is closed */
    double rate;           /* requests a second, over all clients; above: 429 */
    double burst;
    unsigned threads;
    tacet__handler handler;
    void *user;
} tacet__server_settings;

typedef struct tacet__server tacet__server;

/* 127.0.0.1:0, 64 KiB bodies, 64 MiB of them, 4000 connections, 10 s idle, 500 requests a second, bursts of 1000, 2
 * threads. */
void tacet__server_defaults(tacet__server_settings *settings);
/* INVALID: listen address or TLS material unusable. IO: the port is taken. */
tacet_status tacet__server_start(tacet__server **out, const tacet__server_settings *settings, tacet_error *err);
unsigned tacet__server_port(const tacet__server *server);
/* No new connections from now on; requests in hand go on, and so do those on connections there are. Call it before what
 * answers suspended requests is stopped. NULL is allowed. */
void tacet__server_quiesce(tacet__server *server);
/* Waits for requests in hand, and until late answers are sent, which a client that does not read delays by two seconds
 * at the most; none may be suspended. NULL is allowed. */
void tacet__server_stop(tacet__server *server);

#endif
