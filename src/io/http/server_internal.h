/* SPDX-License-Identifier: Apache-2.0 */
/* server_internal.h - between server.c (requests), request_check.c (what they may look like) and acceptor.c
 * (connections). Ring: io, internal.
 */
#pragma once

#include "io/http/buckets.h"
#include "io/http/peers.h"
#include "io/http/server.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

/* What is collected for one request between MHD's calls. */
typedef struct tacet__upload tacet__upload;
struct tacet__upload {
    tacet__exchange exchange; /* first: the pointer handed out is that of the upload */
    tacet__server *server;
    struct MHD_Connection *connection;
    tacet__peer *peer;
    char id[TACET__REQUEST_ID]; /* by which logs name it */
    tacet__response late;       /* what was answered while suspended */
    const char *target;         /* of the request's line as it came; only until it is looked at */
    size_t target_size;
    bool seen; /* it was looked at */
    bool suspended, answered;
    char *body;
    size_t size, capacity;
    size_t dropped;
    unsigned refused;   /* the status it will be answered with; 0: not refused */
    const char *why;    /* of a 400 */
    const char *bearer; /* NULL: none */
    bool certified;     /* by a certificate of this name */
    char name[TACET__NAME_BYTES];
    bool familiar;       /* certified, or its token was known before */
    bool small;          /* so it said of its body */
    uint64_t token;      /* key of the bearer token or certificate; 0: none */
    bool slowed;         /* over the rate of its address: it waited, and is answered now */
    double due;          /* when that is */
    tacet__upload *next; /* of those that wait */
};

/* One polling thread. After a certificate was renewed there are old ones until their connections are gone. */
enum { TACET__LOOPS_MOST = 64, TACET__GENERATIONS_MOST = 8 };
typedef struct tacet__loops {
    struct MHD_Daemon *daemons[TACET__LOOPS_MOST];
    unsigned count;
} tacet__loops;

struct tacet__server {
    tacet__server_settings settings;
    bool client_certificates;
    unsigned port;
    int listening; /* -1: no more */
    int wake;      /* eventfd */
    pthread_t acceptor;
    bool accepting;
    atomic_bool quiet, end;
    tacet__peers *peers;
    atomic_size_t held; /* bytes of bodies, over all connections */

    pthread_mutex_t lock; /* of all that follow */
    tacet__loops generations[TACET__GENERATIONS_MOST];
    unsigned generation_count, turn;
    tacet__buckets addresses, tokens, arrivals;
    tacet__upload *slowed; /* oldest first */
    tacet__upload *slowed_last;
    size_t slowed_count;
    size_t late; /* answered after they were suspended, and not sent yet */
    pthread_cond_t sent;
    tacet__server_counts counts;
};

/* server.c: the callbacks of MHD. The first one makes the context of the others. */
void *tacet__http_begin(void *user, const char *target, struct MHD_Connection *connection);
enum MHD_Result tacet__http_answer(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                                   const char *version, const char *data, size_t *size, void **context);
void tacet__http_completed(void *user, struct MHD_Connection *connection, void **context,
                           enum MHD_RequestTerminationCode code);
/* Requests that waited for their time, or all of them, go on. */
void tacet__http_release(tacet__server *server, double now, bool all);

/* request_check.c */
size_t tacet__http_unescape(void *user, struct MHD_Connection *connection, char *text);
/* NULL, or the rule that is broken. */
const char *tacet__http_check_request(tacet__upload *up, const char *url, const char *method, const char *version);

/* acceptor.c */
tacet_status tacet__acceptor_listen(tacet__server *server, tacet_error *err);
tacet_status tacet__acceptor_start(tacet__server *server, tacet_error *err);
void tacet__loops_stop(tacet__loops *loops);
tacet_status tacet__loops_start(tacet__server *server, const char *certificate, const char *key, tacet_error *err);

/* patience.c: from now on GMP waits for memory instead of ending the process. Any number of times. */
void tacet__gmp_waits(void);
