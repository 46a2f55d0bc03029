/* SPDX-License-Identifier: Apache-2.0 */
/* offer.c - answers whose commit failed, kept until they are stored.
 * Ring: gate. Source: none; src/dp/ledger/README.md, section 2. Cost: O(offers) a call; there are hardly ever any. */
#include "dp/ledger/offer.h"

#include "core/fail.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

static void free_offer(tacet__offer *o) {
    tacet_blob_clear(&o->bytes);
    free(o);
}

void tacet__offers_clear(tacet__offer **offers) {
    while (*offers != NULL) {
        tacet__offer *o = *offers;
        *offers = o->next;
        free_offer(o);
    }
}

static bool is_of(const tacet__offer *offer, const tacet_entry *entry) {
    return offer->entry.seq == entry->seq && memcmp(offer->entry.hash, entry->hash, TACET_HASH_BYTES) == 0;
}

const tacet__offer *tacet__offer_find(const tacet__offer *offers, const tacet_entry *entry) {
    while (offers != NULL && !is_of(offers, entry)) {
        offers = offers->next;
    }
    return offers;
}

void tacet__offer_forget(tacet__offer **offers, const tacet_entry *entry) {
    while (*offers != NULL && !is_of(*offers, entry)) {
        offers = &(*offers)->next;
    }
    if (*offers != NULL) {
        tacet__offer *o = *offers;
        *offers = o->next;
        free_offer(o);
    }
}

const unsigned char *tacet__receipt_or_zero(const unsigned char *receipt) {
    static const unsigned char ZERO[TACET_HASH_BYTES];
    return receipt != NULL ? receipt : ZERO;
}

tacet_status tacet__offer_make(tacet__offer **offers, const tacet_entry *entry, const void *answer, size_t size,
                               const unsigned char *receipt, tacet_error *err) {
    const tacet__offer *before = tacet__offer_find(*offers, entry);
    receipt = tacet__receipt_or_zero(receipt);
    if (before != NULL) {
        const bool same = before->bytes.size == size && (size == 0 || memcmp(before->bytes.data, answer, size) == 0) &&
                          memcmp(before->receipt, receipt, TACET_HASH_BYTES) == 0;
        return same ? TACET_OK
                    : tacet__fail(err, TACET_CONFLICT, "another answer to ledger entry %llu was offered before",
                                  (unsigned long long)entry->seq);
    }
    tacet__offer *o = TACET__ZALLOC(tacet__offer, 1);
    if (o == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory storing an answer");
    }
    tacet_blob_init(&o->bytes);
    const tacet_status status = tacet_blob_append(&o->bytes, answer, size, err);
    if (status != TACET_OK) {
        free_offer(o);
        return status;
    }
    o->entry = *entry;
    memcpy(o->receipt, receipt, TACET_HASH_BYTES);
    o->next = *offers;
    *offers = o;
    return TACET_OK;
}
