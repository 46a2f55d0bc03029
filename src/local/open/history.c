/* SPDX-License-Identifier: Apache-2.0 */
/* history.c - which tickets are open, and what was reported for the others.
 * Ring: open. Source: none. Cost: O(1) a round, 4 bytes a round and 8 where reports are remembered; saved: 16 bytes an
 * open ticket, and 8 a round where reports are remembered. */
#include "local/open/history.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Zeroed memory is not touched before it is used: a long horizon costs what was played of it. */
bool tacet__history_init(tacet__history *h, const tacet__local *p) {
    *h = (tacet__history){0};
    h->open = TACET__ZALLOC(uint32_t, p->s.horizon);
    h->reports = p->s.forget ? NULL : TACET__ZALLOC(double, p->s.horizon);
    return h->open != NULL && (p->s.forget || h->reports != NULL);
}

void tacet__history_clear(tacet__history *h) {
    free(h->open);
    free(h->reports);
    *h = (tacet__history){0};
}

void tacet__history_suggest(tacet__history *h, size_t arm) {
    h->open[h->suggested++] = (uint32_t)arm + 1;
    h->last = arm;
}

void tacet__history_report(tacet__history *h, size_t k, double value) {
    h->open[k] = 0;
    h->reported++;
    if (h->reports != NULL) {
        h->reports[k] = value;
    }
}

void tacet__history_drop(tacet__history *h, size_t k) {
    h->open[k] = 0;
    h->dropped++;
    if (h->reports != NULL) {
        h->reports[k] = (double)NAN;
    }
}

bool tacet__history_repeats(const tacet__history *h, size_t k, double value) {
    return h->reports != NULL && k < h->suggested && h->open[k] == 0 &&
           memcmp(&h->reports[k], &value, sizeof value) == 0;
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

static void check_reports(const tacet__history *h, const tacet__local *p, tacet__state *s) {
    size_t missing = 0;
    for (size_t k = 0; k < h->suggested; k++) {
        const bool none = isnan(h->reports[k]);
        missing += none ? 1 : 0;
        tacet__state_require(s, "reports",
                             h->open[k] != 0 ? h->reports[k] == 0 : none || tacet__local_possible(p, h->reports[k]));
    }
    tacet__state_require(s, "reports", missing == h->dropped);
}

void tacet__history_state(tacet__history *h, const tacet__local *p, tacet__state *s) {
    const size_t before = h->suggested;
    tacet__state_size(s, "suggested", &h->suggested, p->s.horizon);
    if (h->suggested < before) { /* as it was before it was used */
        memset(h->open + h->suggested, 0, (before - h->suggested) * sizeof *h->open);
    }
    if (h->suggested < before && h->reports != NULL) {
        memset(h->reports + h->suggested, 0, (before - h->suggested) * sizeof *h->reports);
    }
    tacet__state_size(s, "dropped", &h->dropped, h->suggested);
    tacet__state_size(s, "reported", &h->reported, h->suggested - h->dropped);
    tacet__state_size(s, "last", &h->last, h->suggested > 0 ? p->n - 1 : 0);
    tacet__state_few_u32s(s, "open", h->open, h->suggested, (uint32_t)p->n);
    if (tacet__state_taking(s)) {
        check_open(h, p, s);
    }
    if (h->reports != NULL) {
        tacet__state_any_f64s(s, "reports", h->reports, h->suggested);
    }
    if (h->reports != NULL && tacet__state_taking(s)) {
        check_reports(h, p, s);
    }
}
