/* SPDX-License-Identifier: Apache-2.0 */
/* routes.h - the request table of the service (docs/API.md). Ring: open. */
#pragma once

#include "io/http/server.h"
#include "pages/session.h"
#include "service/open/engine/engine.h"

typedef struct tacet__service {
    tacet__engine *engine;
    tacet__metrics *metrics;
    _Atomic(tacet__server *) wire;       /* whose counts are shown among the metrics; NULL: none */
    _Atomic bool serving;                /* other servers are answered */
    _Atomic int64_t certificate_expires; /* seconds since 1970; 0: not known */
    struct tacet__page_sites *sites;     /* whose pages may report (pages.h); NULL: none */
    bool has_metrics_token;              /* metrics are told to who has it, whatever the store does */
    unsigned char metrics_token[TACET__STUDIES_TOKEN_HASH];
    tacet__sessions *sessions; /* of the board's page; NULL: there is no board */
} tacet__service;

/* A tacet__handler; user is a tacet__service. */
void tacet__service_handle(void *user, const tacet__request *request, tacet__response *response);
/* "METHOD /path" of route i, as in docs/openapi.json; NULL beyond the last. For the test of that file. */
const char *tacet__service_route(size_t i);
