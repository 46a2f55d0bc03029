/* SPDX-License-Identifier: Apache-2.0 */
/* draft.h - many normals of which one word of key stream each is known, until somebody asks for more.
 * Ring: gate. Proof: src/dp/noise/README.md, "K-norm".
 *
 * A word is cut into 8 bits of column and 8 of threshold (the strip, by the alias table), a sign, 13 bits of coin and
 * the first 34 bits of the place u in the strip. In 98 of 100 words that decides the strip and that the place is kept;
 * the others are completed at once into lazy reals. Either way |x| lies within DRAFT_ERROR of its rough value. */
#pragma once

#include "dp/noise/lazy.h"

enum {
    DRAFT_COIN_BITS = 2 * STRIPS_LOG2 + 1,
    DRAFT_THRESHOLD_BITS = WORD_BITS / 8,
    DRAFT_HEAD_BITS = WORD_BITS - COLUMNS_LOG2 - DRAFT_THRESHOLD_BITS - 1 - DRAFT_COIN_BITS,
    DRAFT_LATER_BITS = LAZY_HEAD_BITS - DRAFT_HEAD_BITS /* of the place, with the other bits of the threshold */
};
#define DRAFT_HEAD_MASK ((UINT64_C(1) << DRAFT_HEAD_BITS) - 1)
/* Half of 2^-34 of a strip of 1/64. */
#define DRAFT_ERROR (1.0 / (double)(UINT64_C(1) << (DRAFT_HEAD_BITS + STRIPS_LOG2 + 1)))

typedef struct draft {
    size_t count; /* normals drawn: as many of each of the following */
    uint64_t *words;
    double *rough; /* with its sign */
    lazy *full;    /* all of them when expanded, else those listed in `slow`, in that order */
    size_t *slow;  /* ascending */
    size_t slow_count;
    size_t made; /* places of `full` ever used, to be wiped */
    bool expanded;
} draft;

/* NO_MEMORY, or room for `capacity` normals. clear() wipes. */
tacet_status tacet__draft_init(draft *d, size_t capacity, tacet_error *err);
void tacet__draft_clear(draft *d, size_t capacity);
/* `count` fresh normals, at most the capacity. May latch noise->exhausted: then they are to be thrown away. */
void tacet__draft_draw(tacet_noise *noise, draft *d, size_t count);
/* Makes all of them lazy reals, in order: the digits that come are uniform and independent of what was decided. */
void tacet__draft_expand(tacet_noise *noise, draft *d);
