/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - the tickets of a learner of the local model. Ring: open. */
#ifndef TACET_SRC_LOCAL_OPEN_HISTORY_H
#define TACET_SRC_LOCAL_OPEN_HISTORY_H

#include "core/state.h"
#include "local/open/internal.h"

/* By ticket, from 0. What estimates need of a report is the engine's; here is only what tickets need. */
typedef struct tacet__history {
    size_t suggested, reported, dropped;
    size_t last;    /* the arm of the newest ticket */
    uint32_t *open; /* horizon: arm + 1 of a ticket whose report is not in, else 0 */
} tacet__history;

bool tacet__history_init(tacet__history *h, const tacet__local *p);
void tacet__history_clear(tacet__history *h);
void tacet__history_suggest(tacet__history *h, size_t arm);
void tacet__history_report(tacet__history *h, size_t k);
void tacet__history_drop(tacet__history *h, size_t k);
void tacet__history_state(tacet__history *h, const tacet__local *p, tacet__state *s);

#endif
