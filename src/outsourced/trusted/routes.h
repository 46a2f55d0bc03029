/* SPDX-License-Identifier: Apache-2.0 */
/* routes.h - the request table of the curator's wire (docs/PROTOCOL.md). Ring: trusted. */
#pragma once

#include <tacet/io/http/log.h>
#include "io/http/server.h"

#include <pthread.h>

#include <tacet/outsourced/trusted/desk.h>

typedef struct tacet__curator_service {
    tacet_desk *desk;
    const char *token_hash;   /* of the bearer token; NULL: tokens are not accepted */
    bool certificates;        /* a client certificate of the study's authority is accepted */
    const char *release_path; /* release.csv */
    char *manifest;           /* manifest.json as stored */
    size_t manifest_size;
    const char *ledger;   /* its place, for the probe */
    tacet_log *log;       /* the curator's own log of failures; may be NULL */
    pthread_mutex_t lock; /* of the next two */
    double ready_at;      /* when the ledger was tried; 0: never */
    bool ready;
} tacet__curator_service;

/* Whether a path is that of a route; one whose closing slash takes one more word. */
bool tacet__path_matches(const char *pattern, const char *path);
/* A tacet__handler; user is a tacet__curator_service. */
void tacet__curator_handle(void *user, const tacet__request *request, tacet__response *response);
