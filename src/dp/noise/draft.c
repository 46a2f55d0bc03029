/* SPDX-License-Identifier: Apache-2.0 */
/* draft.c - a word a normal, and the rest of its digits later or never.
 * Ring: gate. Proof: src/dp/noise/README.md, "K-norm". Cost: 1.03 words a normal; 120 bytes each, of which those of the
 * lazy reals are touched only where they are made. */
#include "dp/noise/draft.h"

#include <sodium.h>
#include <stdlib.h>

#include "core/fail.h"
#include "core/memory.h"
#include "dp/noise/gaussian_table.h"
#include "dp/noise/noise_state.h"

tacet_status tacet__draft_init(draft *d, size_t capacity, tacet_error *err) {
    *d = (draft){
        .words = TACET__ALIGNED(uint64_t, capacity),
        .rough = TACET__ALIGNED(double, capacity),
        .full = TACET__ALIGNED(lazy, capacity),
        .slow = TACET__ALIGNED(size_t, capacity),
    };
    if (d->words == NULL || d->rough == NULL || d->full == NULL || d->slow == NULL) {
        tacet__draft_clear(d, 0);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for %zu normals", capacity);
    }
    return TACET_OK;
}

void tacet__draft_clear(draft *d, size_t capacity) {
    if (capacity > 0) {
        sodium_memzero(d->words, capacity * sizeof *d->words);
        sodium_memzero(d->rough, capacity * sizeof *d->rough);
        sodium_memzero(d->full, d->made * sizeof *d->full);
    }
    free(d->words);
    free(d->rough);
    free(d->full);
    free(d->slow);
    *d = (draft){0};
}

/* A normal that begins with `word`: the other bits of the threshold and of the place's head come with a second word, so
 * that the bits of both are those of tacet__lazy_normal in another order. False: latched noise->exhausted. */
static bool complete(tacet_noise *noise, lazy *x, uint64_t word) {
    enum { REST = WORD_BITS - COLUMNS_LOG2 - DRAFT_THRESHOLD_BITS };
    const uint64_t more = tacet__noise_next(noise);
    const uint64_t rest = (more >> DRAFT_LATER_BITS) & ((UINT64_C(1) << REST) - 1);
    const uint64_t upper = (word >> DRAFT_HEAD_BITS) & ((1U << (DRAFT_COIN_BITS + 1)) - 1);
    const uint64_t head = ((word & DRAFT_HEAD_MASK) << DRAFT_LATER_BITS) | (more & ((1U << DRAFT_LATER_BITS) - 1));
    return tacet__lazy_normal_from(noise, x, ((word >> REST) << REST) | rest, (upper << LAZY_HEAD_BITS) | head);
}

static double middle(uint64_t n, uint64_t head, bool negative) {
    const double x = (double)(int64_t)((n << (DRAFT_HEAD_BITS + 1)) | (head << 1) | 1) * DRAFT_ERROR;
    return negative ? -x : x;
}

void tacet__draft_draw(tacet_noise *noise, draft *d, size_t count) {
    d->count = count;
    d->slow_count = 0;
    d->expanded = false;
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = tacet__noise_next(noise);
        const uint64_t column = word >> (WORD_BITS - COLUMNS_LOG2);
        const gaussian_column *entry = &GAUSSIAN_COLUMNS[column];
        const uint64_t keep = entry->keep >> (WORD_BITS - COLUMNS_LOG2 - DRAFT_THRESHOLD_BITS);
        const uint64_t threshold =
            (word >> (WORD_BITS - COLUMNS_LOG2 - DRAFT_THRESHOLD_BITS)) & ((1U << DRAFT_THRESHOLD_BITS) - 1);
        const uint64_t item = threshold < keep ? column : entry->other;
        const uint64_t coin = (word >> DRAFT_HEAD_BITS) & ((1U << DRAFT_COIN_BITS) - 1);
        d->words[i] = word;
        d->rough[i] = middle(item, word & DRAFT_HEAD_MASK, ((word >> (DRAFT_HEAD_BITS + DRAFT_COIN_BITS)) & 1) != 0);
        if (__builtin_expect(threshold == keep || item >= GAUSSIAN_STRIPS || coin <= 2 * item, 0)) {
            lazy *x = &d->full[d->slow_count];
            d->slow[d->slow_count++] = i;
            d->made = d->made > d->slow_count ? d->made : d->slow_count;
            if (!complete(noise, x, word)) {
                return;
            }
            d->rough[i] = middle(x->n, x->head >> (DRAFT_LATER_BITS), x->negative);
        }
    }
}

void tacet__draft_expand(tacet_noise *noise, draft *d) {
    if (d->expanded) {
        return;
    }
    for (size_t j = d->slow_count; j-- > 0;) {
        d->full[d->slow[j]] = d->full[j]; /* to its place, which is not before this one */
    }
    const size_t *slow = d->slow;
    const size_t *end = d->slow + d->slow_count;
    for (size_t i = 0; i < d->count; i++) {
        if (slow < end && *slow == i) {
            slow++;
        } else {
            (void)complete(noise, &d->full[i], d->words[i]); /* decided by the word: adds digits only */
        }
    }
    d->made = d->made > d->count ? d->made : d->count;
    d->expanded = true;
}
