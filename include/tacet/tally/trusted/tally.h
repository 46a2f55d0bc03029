/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - an exact partial sum for one stage of a release: any engine that can add may compute it.
 *
 * What goes to the gate from many records is a sum of whole numbers. A tally holds such a sum in 128 bits a number,
 * so that the result is the same bits in whatever order, on however many machines, the rows were added. Tallies of
 * one plan merge; a plan is named by a hash of everything public that decides what a row adds. Every tally is of
 * named parts of the data (a partition, a file), and no part enters a sum twice: a task that an engine ran twice does
 * no harm. A tally is as private as the rows it is of: wiped when freed, never shown, and its saved form is to be
 * kept like the rows. Proof and format: src/tally/README.md. One thread at a time per object. */
#ifndef TACET_TALLY_TRUSTED_SUBTOTAL_H
#define TACET_TALLY_TRUSTED_SUBTOTAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/blob.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_tally tacet_tally;

enum {
    TACET_TALLY_BITS = 22, /* a share is a whole number of steps of 2^-22 */
    TACET_TALLY_PLAN = 32, /* bytes of a plan's hash */
    TACET_TALLY_NUMBERS_MOST = 1 << 22,
    TACET_TALLY_PART_MOST = 200 /* bytes of a part's name */
};
#define TACET_TALLY_ONE ((int64_t)1 << TACET_TALLY_BITS)

/* What a sum is of; all of it public. */
typedef struct tacet_tally_plan {
    unsigned char hash[TACET_TALLY_PLAN]; /* of all that decides what a row adds: columns, levels, ranges, stage */
    size_t numbers;
} tacet_tally_plan;

TACET_API void tacet_tally_free(tacet_tally *tally); /* wipes; NULL is allowed */
/* Adds what `other` holds; `other` stays. CONFLICT, and nothing is added: another plan; a part that is in both. */
TACET_API tacet_status tacet_tally_merge(tacet_tally *tally, const tacet_tally *other, tacet_error *err);
TACET_API uint64_t tacet_tally_rows(const tacet_tally *tally);
TACET_API size_t tacet_tally_parts(const tacet_tally *tally);
/* A hash of plan, rows and numbers: the same however the rows were cut into parts. */
TACET_API void tacet_tally_digest(const tacet_tally *tally, unsigned char out[TACET_TALLY_PLAN]);
/* For another process. CORRUPT: damaged, cut off, of another version, or no tally. CONFLICT: of another plan. */
TACET_API tacet_status tacet_tally_save(const tacet_tally *tally, tacet_blob *out, tacet_error *err);
TACET_API tacet_status tacet_tally_load(tacet_tally **out, const tacet_tally_plan *plan, const void *bytes,
                                        size_t length, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
