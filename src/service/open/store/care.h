/* SPDX-License-Identifier: Apache-2.0 */
/* care.h - what is done to a store by whoever looks after it: checking all of it, copying it while it is used.
 * Ring: open, internal. */
#pragma once

#include "service/open/store/store.h"

typedef struct tacet__study_report {
    uint64_t events;         /* read, their chain checked to the end */
    uint64_t shown;          /* of a central study: the newest that the open store has seen; otherwise = events */
    uint64_t ledger_records; /* of a central study's ledger, verified; 0: it has none */
    uint64_t ledger_entries;
} tacet__study_report;

/* Reads the whole log and the ledger of a study, and compares with what the open store has seen. CORRUPT names the
 * first thing that is wrong, a store that was put back to an older state among them. NOT_FOUND. The study's lock is
 * held for the comparison alone. */
tacet_status tacet__studies_check(tacet__studies *studies, tacet__study_report *out, const char *name,
                                  tacet_error *err);

/* Makes a study of a store that was put back to an older state safe to go on with. Its next tickets are none that were
 * given before (a new salt). What the open store had seen is forgotten, and shown again from the log. A central study
 * with events is archived, unless `whole` (the caller knows that nothing was answered after the copy was made): what it
 * answered since rests on noise that another history would not repeat. No server may run. *state: active, or archived.
 */
tacet_status tacet__studies_restore(tacet__studies *studies, const char *name, bool whole, tacet__study_state *state,
                                    tacet_error *err);

/* Copies a store in a folder (SQLite) into a folder that is made for it, while servers run. The open store is copied
 * first, so that the copy's open side is never ahead of its log; then the trusted one and the ledgers, under the
 * trusted store's lock, so that they are of one instant: central studies wait meanwhile. Durable when it returns OK; on
 * failure a part may be left in the folder. CONFLICT: the folder exists. UNSUPPORTED: a URL (pg_dump does it). */
tacet_status tacet__studies_backup(const char *store, const char *folder, tacet_error *err);
