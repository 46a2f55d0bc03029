/* SPDX-License-Identifier: Apache-2.0 */
/* wide.h - how wide everything is that a sampler reckons with: the words of the key stream, the 128-bit integer that
 * holds a product of two, and what is cut from them. Ring: gate. The samplers are written in terms of these names, so
 * that the same text can be built with words of a few bits, whose law is then summed over all bit strings
 * (tests/dp/test_exhaustive*.c), and with halved ones, which Frama-C can reckon with (proof/). Whoever defines
 * TACET__WIDTHS has defined the names before; the library never does. */
#pragma once

#include <stdint.h>

#ifndef TACET__WIDTHS
__extension__ typedef unsigned __int128 u128; /* at least 2 WORD_BITS */

enum {
    WORD_BITS = 64,            /* a word of key stream */
    LAZY_HEAD_BITS = 50,       /* of it, the first digits of a lazy real; the others are a sign and a coin */
    LAZY_MORE = 7,             /* words of its further digits: 448 bits */
    SCALE_BITS = 53,           /* of a scale: a double's */
    LAZY_MAX_FINENESS = 40,    /* floor of log2 of scale / grid, at most … */
    LAZY_MIN_FINENESS = -10,   /* … and at least */
    KNORM_MAX_FINENESS = 30,   /* so that a multiple fits 2^SCALE_BITS with room for |G| */
    KNORM_MAX_COUNT = 1 << 20, /* coordinates */
    NORMAL_END = 64,           /* no normal reaches 64 (probability below 2^-2950) … */
    EXPONENTIAL_END = 192,     /* … and no exponential 192 (2^-276): that draw fails, and a multiple fits 2^53 */
    STRIPS_LOG2 = 6,           /* the half line of a normal is cut into strips of 2^-6 */
    COLUMNS_LOG2 = 8,          /* of the alias table that a strip is drawn from (gaussian_table.h) */
    FRACTION_LIMBS = 8,        /* how far a uniform real is drawn when it is compared with an exponential … */
    EXTRA_LIMBS = 2,           /* … whose error is multiplied by the whole part … */
    SLACK_BITS = 24            /* … and is below 2^24 units of its last limb */
};
#endif

#define WORD_MASK (UINT64_MAX >> (64 - WORD_BITS))

/* The last word of a product. */
/*@ assigns \nothing;
    ensures \result <= WORD_MASK; */
static inline uint64_t tacet__word_low(u128 x) {
    return (uint64_t)x & WORD_MASK;
}
