/* SPDX-License-Identifier: Apache-2.0 */
/* registry.h - which tables were released on this machine, and which ledger pays for them.
 * Ring: trusted. One budget belongs to one set of people, whatever their file is called: README.md has what is
 * recognised and what is not. */
#pragma once

#include "io/file/folder.h"
#include "registry/sketch.h"

#include <tacet/dp/ledger.h>

/* A release that is about to be made. */
typedef struct tacet__registry_release {
    tacet__rows rows;       /* its table */
    bool *few;              /* may be NULL; set where the table has too few distinct rows to be known again */
    tacet__order *order;    /* may be NULL; set, for tacet__registry_keep_order */
    const char *ledger;     /* the ledger it is going to be charged to; need not be there yet */
    const char *what;       /* "release into FOLDER", "model FILE", …: how it is named to whoever comes later */
    const char *ticket;     /* of it */
    const char *new_budget; /* the reason why rows that were released before get another budget; NULL: they do not */
} tacet__registry_release;

/* $TACET_STATE, else $XDG_STATE_HOME/tacet, else ~/.local/state/tacet; made, mode 0700, when missing. DENIED, IO:
 * there is no such place; nothing can be released without it. */
tacet_status tacet__registry_folder(char out[TACET__PATH], tacet_error *err);

/* Opens the ledger (settings->anchor is set here: a file of the registry that has its head), and enters the table as
 * released under it, durably, before it returns OK. BUDGET: half of its rows, or of an earlier table's, were released
 * before under another ledger, or under one that is gone; names that release. Nothing is made then.
 * Otherwise as tacet_ledger_open, and IO, DENIED, NO_MEMORY. */
tacet_status tacet__registry_open(tacet_ledger **out, const tacet__registry_release *release,
                                  const tacet_ledger_settings *settings, tacet_error *err);

/* Keeps, durably, in which order the rows of a release were that is in the ledger by now: its entry's hash, 64 hex
 * digits. IO, DENIED, NO_MEMORY. */
tacet_status tacet__registry_keep_order(const tacet__order *order, const char *entry_hash, tacet_error *err);
/* The same for whoever reads a file that ought to have it. NOT_FOUND: this machine did not make the release. CORRUPT,
 * IO, DENIED, NO_MEMORY. */
tacet_status tacet__registry_compare(tacet__comparison **out, const char *entry_hash, const tacet_csv *csv,
                                     tacet_error *err);

/* Opens a ledger, of a release that was made or of a device, as tacet_ledger_open with its anchor. CORRUPT: it was
 * rolled back since this machine last wrote to it. Otherwise as tacet_ledger_open, and IO, DENIED, NO_MEMORY. */
tacet_status tacet__registry_reopen(tacet_ledger **out, const char *ledger, const tacet_ledger_settings *settings,
                                    tacet_error *err);

/* Where the ledger of a table in memory lies unless somebody names one: ledgers/HASH.db in the registry's folder, which
 * is made. The same rows in any order have the same. DENIED, IO, NO_MEMORY. */
tacet_status tacet__registry_ledger(char out[TACET__PATH], const tacet__rows *rows, tacet_error *err);

/* Whether the ledger has an entry of this number and hash (64 hex digits). NOT_FOUND: it has not, or is not there. */
tacet_status tacet__registry_entry(const char *ledger, uint64_t seq, const char *hash, tacet_error *err);
