/* SPDX-License-Identifier: Apache-2.0 */
/* relay_link.h - the way from one server to the one that keeps a study. Ring: open. One thread at a time. */
#ifndef TACET_SRC_SERVICE_OPEN_ENGINE_RELAY_LINK_H
#define TACET_SRC_SERVICE_OPEN_ENGINE_RELAY_LINK_H

#include "io/http/client.h"
#include "service/open/engine/engine.h"

typedef struct tacet__relay_link {
    tacet__client *wire; /* NULL: none */
    char keeper[TACET__KEEPER_MOST + 1];
} tacet__relay_link;

/* Hands the first jobs of a list to the server at `keeper`, and waits for their answers, which are then in the jobs:
 * *count of them. IO, DENIED: it cannot be reached, and nothing was done. TIMEOUT, PARSE: it may have been. BUSY: it
 * answers, and cannot do it now. NO_MEMORY. */
tacet_status tacet__relay_send(tacet__relay_link *link, size_t *count, const tacet__engine_settings *settings,
                               const char *keeper, const char *study, tacet__job *jobs, tacet_error *err);
void tacet__relay_hang_up(tacet__relay_link *link);

#endif
