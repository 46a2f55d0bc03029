/* SPDX-License-Identifier: Apache-2.0 */
/* history.c - which tickets are open.
 * Ring: open. Source: none. Cost: O(1) a round, 4 bytes a round; saved: 16 bytes an open ticket. */
#include "local/open/history.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* Zeroed memory is not touched before it is used: a long horizon costs what was played of it. */
bool tacet__history_init(tacet__history *h, const tacet__local *p) {
    *h = (tacet__history){0};
    h->open = TACET__ZALLOC(uint32_t, p->s.horizon);
    return h->open != NULL;
}

void tacet__history_clear(tacet__history *h) {
    free(h->open);
    *h = (tacet__history){0};
}

void tacet__history_suggest(tacet__history *h, size_t arm) {
    h->open[h->suggested++] = (uint32_t)arm + 1;
    h->last = arm;
}

void tacet__history_report(tacet__history *h, size_t k) {
    h->open[k] = 0;
    h->reported++;
}

void tacet__history_drop(tacet__history *h, size_t k) {
    h->open[k] = 0;
    h->dropped++;
}

/* With several lanes only tickets of the epoch that is being played are open, all of one arm. */
static void check_open(const tacet__history *h, const tacet__local *p, tacet__state *s) {
    const size_t lanes = p->s.lanes;
    /* Where tickets were dropped an epoch takes more of them than there are lanes. */
    const size_t least = lanes > 1 && h->suggested > 0 && h->dropped == 0 ? (h->suggested - 1) / lanes * lanes : 0;
    size_t open = 0;
    for (size_t k = 0; k < h->suggested; k++) {
        open += h->open[k] != 0 ? 1 : 0;
        tacet__state_require(s, "open", h->open[k] == 0 || (k >= least && (lanes == 1 || h->open[k] == h->last + 1)));
    }
    tacet__state_require(s, "open", open + h->reported + h->dropped == h->suggested);
    tacet__state_require(
        s, "last", h->suggested == 0 || h->open[h->suggested - 1] == 0 || h->open[h->suggested - 1] == h->last + 1);
}

void tacet__history_state(tacet__history *h, const tacet__local *p, tacet__state *s) {
    const size_t before = h->suggested;
    tacet__state_size(s, "suggested", &h->suggested, p->s.horizon);
    if (h->suggested < before) { /* as it was before it was used */
        memset(h->open + h->suggested, 0, (before - h->suggested) * sizeof *h->open);
    }
    tacet__state_size(s, "dropped", &h->dropped, h->suggested);
    tacet__state_size(s, "reported", &h->reported, h->suggested - h->dropped);
    tacet__state_size(s, "last", &h->last, h->suggested > 0 ? p->n - 1 : 0);
    tacet__state_few_u32s(s, "open", h->open, h->suggested, (uint32_t)p->n);
    if (tacet__state_taking(s)) {
        check_open(h, p, s);
    }
}
