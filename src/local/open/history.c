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

void tacet__history_write(const tacet__history *h, tacet__writer *w) {
    tacet__write_size(w, h->suggested);
    tacet__write_size(w, h->reported);
    tacet__write_size(w, h->last);
    for (size_t k = 0; k < h->suggested; k++) {
        if (h->open[k] != 0) {
            tacet__write_size(w, k);
            tacet__write_size(w, h->open[k] - 1);
        }
    }
    if (h->reports != NULL) {
        tacet__write_f64s(w, h->reports, h->suggested);
    }
}

/* In ascending order, and with several lanes only in the epoch that is being played, all of one arm. */
static void read_open(tacet__history *h, const tacet__local *p, tacet__reader *r) {
    const size_t lanes = p->s.lanes;
    /* Where tickets were dropped an epoch takes more of them than there are lanes. */
    size_t least = lanes > 1 && h->suggested > 0 && h->dropped == 0 ? (h->suggested - 1) / lanes * lanes : 0;
    for (size_t i = h->reported + h->dropped; i < h->suggested && !r->failed; i++) {
        const size_t k = tacet__read_size(r, h->suggested - 1);
        const size_t arm = tacet__read_size(r, p->n - 1);
        if (k < least || (lanes > 1 && arm != h->last)) {
            r->failed = true;
            return;
        }
        h->open[k] = (uint32_t)arm + 1;
        least = k + 1;
    }
    if (!r->failed && h->suggested > 0 && h->open[h->suggested - 1] != 0 && h->open[h->suggested - 1] != h->last + 1) {
        r->failed = true;
    }
}

void tacet__history_read(tacet__history *h, const tacet__local *p, tacet__reader *r) {
    h->suggested = tacet__read_size(r, p->s.horizon);
    if (h->dropped > h->suggested) {
        r->failed = true;
        return;
    }
    h->reported = tacet__read_size(r, h->suggested - h->dropped);
    h->last = tacet__read_size(r, h->suggested > 0 ? p->n - 1 : 0);
    read_open(h, p, r);
    size_t missing = 0;
    for (size_t k = 0; h->reports != NULL && k < h->suggested && !r->failed; k++) {
        h->reports[k] = tacet__read_f64(r);
        const bool empty = h->open[k] != 0;
        missing += isnan(h->reports[k]) ? 1 : 0;
        if (empty ? h->reports[k] != 0 : !isnan(h->reports[k]) && !tacet__local_possible(p, h->reports[k])) {
            r->failed = true;
        }
    }
    r->failed = r->failed || (h->reports != NULL && missing != h->dropped);
}
