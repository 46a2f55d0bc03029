/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_view.h - reads a ledger without permission to write it, and recomputes everything it claims. Shares with the
 * writer the encoding of a record (dp/open/entry.h) and nothing else: order, tickets, answers, totals and the budget's
 * cap are derived here a second time. Ring: shared. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/dp/open/charge.h>
#include <tacet/core/status.h>

#include "dp/open/entry.h"

typedef struct tacet__ledger_view tacet__ledger_view;

/* One record as the file has it. All pointers live until the callback returns. */
typedef struct tacet__ledger_row {
    const tacet__record *record;
    const unsigned char *body;
    size_t body_size;
    const unsigned char *previous; /* hash of the record before */
    const unsigned char *hash;
    uint64_t answer; /* of a reservation: seq of its answer, 0 when there is none (known after verifying) */
} tacet__ledger_row;

typedef struct tacet__ledger_report {
    unsigned char id[TACET__LEDGER_ID_BYTES];
    tacet_accounting accounting;
    double budget_eps, budget_delta;
    double cap;
    uint64_t uncovered_most;
    double spent;       /* in the unit of the accounting: eps, rho or mu */
    double spent_delta; /* basic accounting only */
    double eps, delta;  /* what that amounts to; eps is infinite when it cannot be said at this delta */
    uint64_t records, entries, answered, uncovered, seeded;
    unsigned char head[TACET_HASH_BYTES];
    bool head_was_given; /* and then: */
    uint64_t head_at;    /* which record has the hash that was noted */
} tacet__ledger_report;

/* Takes a snapshot: what writers append later is not seen. NOT_FOUND, DENIED, CORRUPT (no ledger), IO, BUSY, NO_MEMORY.
 */
tacet_status tacet__ledger_view_open(tacet__ledger_view **out, const char *path, tacet_error *err);
void tacet__ledger_view_close(tacet__ledger_view *view); /* NULL is allowed */

/* CORRUPT names the first thing that is wrong. `noted` is a head hash kept elsewhere, or NULL: it must be the hash of a
 * record of the chain, otherwise the chain was cut off before it or replaced. */
tacet_status tacet__ledger_verify(tacet__ledger_view *view, tacet__ledger_report *report, const unsigned char *noted,
                                  tacet_error *err);
/* All records in order, their hashes checked. A callback that returns another status than OK ends it. */
tacet_status tacet__ledger_each(tacet__ledger_view *view,
                                tacet_status (*visit)(void *user, const tacet__ledger_row *row, tacet_error *err),
                                void *user, tacet_error *err);

/* eps at delta, recomputed from the definitions (src/dp/ledger/README.md); infinity when there is none below 1e6. */
double tacet__ledger_gaussian_eps(double mu, double delta);
double tacet__ledger_zcdp_eps(double rho, double delta);
