/* SPDX-License-Identifier: Apache-2.0 */
/* offer.h - answers whose commit failed. Each is the only answer its entry can get from this handle: a second
 * draw, made because the first could not be stored, would be a choice among draws. Ring: gate, internal. */
#ifndef TACET_SRC_DP_LEDGER_OFFER_H
#define TACET_SRC_DP_LEDGER_OFFER_H

#include <tacet/dp/ledger.h>

typedef struct tacet__offer {
    tacet_entry entry;
    tacet_blob bytes;
    unsigned char receipt[TACET_HASH_BYTES];
    struct tacet__offer *next;
} tacet__offer;

void tacet__offers_clear(tacet__offer **offers);
/* NULL: none was made for the entry. */
const tacet__offer *tacet__offer_find(const tacet__offer *offers, const tacet_entry *entry);
void tacet__offer_forget(tacet__offer **offers, const tacet_entry *entry);
/* Keeps the answer until its transaction is durable. CONFLICT: another one was offered before. NO_MEMORY. */
tacet_status tacet__offer_make(tacet__offer **offers, const tacet_entry *entry, const void *answer, size_t size,
                               const unsigned char *receipt, tacet_error *err);
/* The hash of the receipt; zeros where there is none. */
const unsigned char *tacet__receipt_or_zero(const unsigned char *receipt);

#endif
