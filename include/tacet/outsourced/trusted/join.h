/* SPDX-License-Identifier: Apache-2.0 */
/* join.h - the parts of one release, made by several machines under one ticket, put together when all are there.
 *
 * Each part was charged, drawn and committed by tacet_curate_run with settings.part; here nothing is drawn or charged.
 * src/outsourced/README.md, "Parts". */
#ifndef TACET_OUTSOURCED_TRUSTED_JOIN_H
#define TACET_OUTSOURCED_TRUSTED_JOIN_H

#include <stddef.h>
#include <tacet/core/status.h>
#include <tacet/outsourced/shared/manifest.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_join_settings {
    const char *const *folders; /* of the parts, in any order */
    size_t count;
    const char *ledger; /* file or "postgresql://…" that all of them were charged to */
    const char *ticket; /* of the release */
    const char *folder; /* receives release.csv and manifest.json; made when missing */
    const char *shared; /* why parts that have rows in common concern different people; NULL: such are refused */
} tacet_join_settings;

/* Writes release.csv and manifest.json, whole or not at all, and fills *manifest (the caller clears it). NOT_FOUND: a
 * part is missing, here or in the ledger. CONFLICT: a part is there twice, or is of another release: other settings,
 * another number of parts. CORRUPT: a part's text is not what the ledger committed. BUDGET: two parts have more than a
 * tenth of their rows in common, so that they are not charged as parts. DENIED: sketched under different key files.
 * INVALID, IO, NO_MEMORY; errors of the ledger as in ledger.h. */
TACET_API tacet_status tacet_curate_join(tacet_manifest *manifest, const tacet_join_settings *settings,
                                         tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
