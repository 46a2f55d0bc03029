/* SPDX-License-Identifier: Apache-2.0 */
/* curate_place.h - where a release is written and which ledger pays for it. Ring: trusted. */
#pragma once

#include "io/file/folder.h"
#include "outsourced/trusted/curate_source.h"
#include "registry/sketch.h"

#include <stdio.h>
#include <tacet/dp/ledger.h>

typedef struct tacet__curate_place {
    char release[TACET__PATH], unfinished[TACET__PATH], manifest[TACET__PATH], ledger[TACET__PATH];
    char link[TACET__PATH];             /* ledger.db in the folder */
    char ticket[TACET_TICKET_MOST + 1]; /* of the release */
    bool made;                          /* the folder, by this run */
    int held;                           /* unfinished, locked; -1: not */
    tacet__order order;                 /* of its rows; no columns: not known */
} tacet__curate_place;

/* Sets ledger and link. CONFLICT: the folder's link leads to the ledger of another table. */
tacet_status tacet__curate_ledger_path(tacet__curate_place *place, const tacet_curate_settings *settings,
                                       tacet_error *err);
/* Whether this release protects anything, and so counts for its table. */
bool tacet__curate_counts(const tacet_curate_settings *settings);
/* Opens it. A release that protects is entered in the registry of tables, and refused (BUDGET) when its rows were
 * released before under another ledger, or when the folder's manifest names an entry that this one does not have. Sets
 * the order. */
tacet_status tacet__curate_ledger_open(tacet_ledger **out, tacet__curate_place *place,
                                       const tacet_curate_settings *settings, const tacet__source *source,
                                       const tacet_ledger_settings *ledger, tacet_error *err);
/* Makes the folder's link to the ledger, unless the ledger lies there itself. */
tacet_status tacet__curate_ledger_link(const tacet__curate_place *place, const tacet_curate_settings *settings,
                                       tacet_error *err);
/* What the ledger refused, in terms of what to do about it. */
tacet_status tacet__curate_refused(const tacet_curate_settings *settings, tacet_ledger *book, tacet_status status,
                                   const tacet_error *why, tacet_error *err);
/* After a failure: takes away the folder that this run made, with that link, unless there is more in it. */
void tacet__curate_leave(const tacet__curate_place *place, const char *folder);

/* Sets unfinished, the one place beside the ledger, which is there already, where rows of this ticket lie before they
 * are committed; and locks it, with whatever is in it. BUSY: another process has it. IO. */
tacet_status tacet__curate_hold(tacet__curate_place *place, tacet_error *err);
/* Empties it, to be written. NULL: it cannot be. */
FILE *tacet__curate_draft(const tacet__curate_place *place);
/* Syncs and closes it, whatever happens; its name, too, survives a crash of the machine. */
tacet_status tacet__curate_whole(const tacet__curate_place *place, FILE *file, tacet_error *err);
/* Unlocks it; an empty one is removed. */
void tacet__curate_let_go(tacet__curate_place *place);
