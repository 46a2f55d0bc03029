/* SPDX-License-Identifier: Apache-2.0 */
/* widths.h - the widths of src/dp/noise/wide.h at half their size: Frama-C has no 128-bit integer, so words have 32
 * bits and a product of two has 64. All relations between the widths that the code relies on are kept. */
#ifndef PROOF_WIDTHS_H
#define PROOF_WIDTHS_H

#include <stdint.h>

#define TACET__WIDTHS
typedef uint64_t u128;
enum {
    WORD_BITS = 32,
    LAZY_HEAD_BITS = 20,
    LAZY_MORE = 7,
    SCALE_BITS = 24,
    LAZY_MAX_FINENESS = 15,
    LAZY_MIN_FINENESS = -5,
    KNORM_MAX_FINENESS = 10,
    KNORM_MAX_COUNT = 1 << 6,
    NORMAL_END = 64,
    EXPONENTIAL_END = 192,
    STRIPS_LOG2 = 6,
    COLUMNS_LOG2 = 8,
    FRACTION_LIMBS = 8,
    EXTRA_LIMBS = 3,
    SLACK_BITS = 24
};

#endif
