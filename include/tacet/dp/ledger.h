/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.h - what was spent: durable before anything is drawn, chained by hashes, and never twice for one question.
 *
 * The order is fixed, and tacet_mechanism_* keep it:
 *     tacet_ledger_reserve   checks the budget and writes the entry durably     (refused: BUDGET, nothing is written)
 *     draw the noise         only when the entry is not answered yet
 *     tacet_ledger_commit    stores the answer's bytes durably
 *     let the answer leave   only now, and only the bytes that commit accepted
 * A crash after reserve wastes budget, never data. There is no abort: what was reserved stays spent.
 *
 * A ticket names a question. Reserving it again gives
 *   - when it was answered: the stored answer, nothing charged; nothing must be drawn;
 *   - when it was reserved but never answered (a crash, a failed commit): the same entry, nothing charged, and the same
 *     noise: its key was stored, sealed, with the reservation, and is bound to the data it was first drawn for
 *     (src/dp/ledger/README.md, section 2); other data, or a key that is gone, is a CONFLICT;
 *   - with another charge: CONFLICT.
 *
 * Several threads may use one tacet_ledger, several processes one file: reservations check the budget under SQLite's
 * write lock, so two of them can't both take the last of it. Concurrent calls of one process share a transaction and
 * its sync. Do not use a handle in a child after fork: the child opens its own.
 *
 * The file is SQLite, in WAL mode with synchronous=FULL, created with mode 0600. Instead of a path a URL
 * "postgresql://…#schema" is taken, for a ledger that several machines share: a schema of its own, made with its
 * tables; the lock is then an advisory one, and a lost connection is IO. A ledger that is damaged is refused (CORRUPT),
 * never repaired. */
#ifndef TACET_DP_LEDGER_H
#define TACET_DP_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/blob.h>
#include <tacet/dp/open/charge.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_ledger tacet_ledger;

/* The budget, fixed when a ledger is created. `eps` and `delta` are what all entries together may cost, composed as
 * `accounting` says: the sum of rho (of mu^2) stays below what converts to (eps, delta). */
typedef struct tacet_ledger_settings {
    tacet_accounting accounting; /* default GAUSSIAN */
    double eps;                  /* > 0, finite; no default */
    double delta;                /* in [0, 1): 0 only with BASIC; default 1e-5 */
    uint64_t uncovered_most;     /* how many uncovered disclosures are allowed; default UINT64_MAX: any number */
    bool create;                 /* default true: a missing file is created; false: NOT_FOUND */
    bool use_stored;             /* default false. true: eps, delta, accounting and uncovered_most are taken from the
                                    file, which must exist; false: a file with other ones is a CONFLICT */
    uint64_t busy_ms;            /* how long to wait for other processes; default 10000 */
    const char *anchor;          /* default NULL; a side file that gets "records head\n" after each transaction, and is
                                    compared when opening: a second place from which a cut-off tail is noticed */
    const char *key_file; /* default NULL: $TACET_KEY_FILE, else LEDGER.key beside the file (links followed), else,
                             for a URL, ledger.key in the state folder ($TACET_STATE, $XDG_STATE_HOME/tacet,
                             ~/.local/state/tacet). What the keys of open reservations are sealed under; made, mode
                             0600, when first needed. All who draw for one ledger need the same */
    const char *vfs;      /* default NULL; a SQLite VFS by name, for fault injection in tests */
} tacet_ledger_settings;

/* Which entry an answer belongs to; copied into receipts. */
typedef struct tacet_entry {
    uint64_t seq;                         /* number of its record in the chain; the first record, 0, is the budget */
    unsigned char hash[TACET_HASH_BYTES]; /* of that record: covers all records before it */
    bool answered;                        /* reserve found a stored answer: do not draw */
} tacet_entry;

typedef struct tacet_ledger_totals {
    tacet_accounting accounting;
    double budget_eps, budget_delta; /* as set */
    double cap;                      /* the budget in the ledger's own unit: eps, rho or mu */
    double spent;                    /* reserved so far in that unit, answered or not */
    double spent_delta;              /* BASIC: sum of delta; otherwise 0 */
    double eps, delta; /* what `spent` amounts to: BASIC the sums; otherwise eps at budget_delta (0 when nothing was) */
    uint64_t entries;  /* reservations, uncovered ones included */
    uint64_t answered; /* of these, with a stored answer */
    uint64_t uncovered;                   /* of these, uncovered */
    uint64_t seeded;                      /* of these, drawn from a seeded source: not private */
    uint64_t records;                     /* length of the chain, budget record and answers included */
    unsigned char head[TACET_HASH_BYTES]; /* hash of the last record: note it elsewhere */
} tacet_ledger_totals;

TACET_API void tacet_ledger_settings_defaults(tacet_ledger_settings *settings);
/* Verifies the whole chain (O(records)) before giving a handle. INVALID: settings, NaN included. NOT_FOUND. CONFLICT:
 * the file has another budget. CORRUPT: not a ledger, or damaged, cut off, reordered; the message says where. DENIED:
 * no permission, or a read-only file or file system. IO: disk full and the like. BUSY: locked for longer than busy_ms.
 * NO_MEMORY. */
TACET_API tacet_status tacet_ledger_open(tacet_ledger **out, const char *path, const tacet_ledger_settings *settings,
                                         tacet_error *err);
/* Waits for nobody: no other thread may be inside a call. NULL is allowed. */
TACET_API void tacet_ledger_close(tacet_ledger *ledger);

/* Durable when it returns OK. `memo` (initialised by the caller, emptied first) receives the stored answer when
 * entry->answered. Refused or failed: nothing was written, nothing was charged, *entry is zero; except that after IO or
 * BUSY the reservation may have become durable (as after a crash): reserve the same ticket again to find out.
 * BUDGET: the charge does not fit what is left. CONFLICT: the ticket belongs to another charge. INVALID: the charge or
 * the ticket (1 … TACET_TICKET_MOST bytes of UTF-8 without control characters), or the charge claims no bound in the
 * unit of this ledger. CORRUPT: the file changed in a way no writer changes it. IO, BUSY, DENIED, NO_MEMORY. */
TACET_API TACET_MUST_CHECK tacet_status tacet_ledger_reserve(tacet_ledger *ledger, tacet_entry *entry, tacet_blob *memo,
                                                             const char *ticket, const tacet_charge *charge,
                                                             tacet_error *err);
/* Durable when it returns OK; only then may the answer leave. `receipt` is the hash of the receipt, or NULL. Answering
 * again with the same bytes and receipt is OK and writes nothing. CONFLICT: another answer is stored: throw this
 * one away and ask for the stored one by reserving again. NOT_FOUND: no such entry. IO, BUSY: it may or may not be
 * stored; retry with the same bytes, and until that succeeds nothing leaves. CORRUPT, DENIED, NO_MEMORY as above.
 * INVALID: more than 2^28 bytes. */
TACET_API TACET_MUST_CHECK tacet_status tacet_ledger_commit(tacet_ledger *ledger, const tacet_entry *entry,
                                                            const void *answer, size_t size,
                                                            const unsigned char *receipt, tacet_error *err);
/* The named door for what a scheme discloses without protection: an uncovered charge (claim UNCOVERED) and its answer
 * in one durable step. When the ticket was answered before, entry->answered is set and memo has the stored bytes: send
 * those. Errors as reserve and commit; BUDGET: uncovered_most is reached. */
TACET_API TACET_MUST_CHECK tacet_status tacet_ledger_disclose(tacet_ledger *ledger, tacet_entry *entry,
                                                              tacet_blob *memo, const char *ticket,
                                                              const tacet_charge *charge, const void *answer,
                                                              size_t size, tacet_error *err);
/* The entry of a ticket, and its stored answer when there is one (entry->answered). NOT_FOUND: never reserved. */
TACET_API TACET_MUST_CHECK tacet_status tacet_ledger_lookup(tacet_ledger *ledger, tacet_entry *entry, tacet_blob *memo,
                                                            const char *ticket, tacet_error *err);
/* The charge of a ticket's entry: who goes on with a question that was begun before reads there which one it was. Its
 * texts, none of them NULL, point into *texts, which is initialised by the caller and emptied first. On failure
 * *charge is that of tacet_charge_init. NOT_FOUND, INVALID as lookup. */
TACET_API TACET_MUST_CHECK tacet_status tacet_ledger_charge(tacet_ledger *ledger, tacet_charge *charge,
                                                            tacet_blob *texts, const char *ticket, tacet_error *err);
/* Takes the ledger over, durably: from now on this handle writes, and every other that took it before is refused (BUSY)
 * whatever it wants to write, by a number that is compared in the transaction of each write. For a process that goes on
 * where another one stands still and may wake up. A handle that never took a ledger is not refused. IO, BUSY: it may or
 * may not be taken, and this handle writes nothing before it takes it. CORRUPT, DENIED, NO_MEMORY. */
TACET_API TACET_MUST_CHECK tacet_status tacet_ledger_take(tacet_ledger *ledger, tacet_error *err);
/* Enters the choice of the best of a random number of private runs, at the price of `law` (tacet_select_pure or _zcdp):
 * to be done before the first run, and the runs are then not charged themselves. Asking again under the same ticket
 * with the same law costs nothing. BUDGET: the choice does not fit. INVALID: a law without a price, or an (eps, delta)
 * in a ledger that adds up rho or mu. Other errors as reserve and commit. src/dp/open/select.md. */
TACET_API TACET_MUST_CHECK tacet_status tacet_ledger_select(tacet_ledger *ledger, tacet_entry *entry,
                                                            const char *ticket, const char *what, const char *to_whom,
                                                            const tacet_select *law, tacet_error *err);
/* As of now, other processes' entries included. CORRUPT, IO, BUSY, NO_MEMORY. */
TACET_API tacet_status tacet_ledger_total(tacet_ledger *ledger, tacet_ledger_totals *out, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
