/* SPDX-License-Identifier: Apache-2.0 */
/* choice.c - an arm by public weights. Ring: shared; part of libtacet-device. Cost: O(arms). */
#include <tacet/local/shared/choice.h>

bool tacet_choice(size_t *out, const uint32_t *weights, size_t count, uint64_t word) {
    uint64_t total = 0; /* of fewer than 2^32 weights: it fits */
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        total += weights[i];
    }
    if (total == 0 || word >= UINT64_MAX - UINT64_MAX % total) { /* the last, incomplete block of words */
        return false;
    }
    uint64_t left = word % total;
    size_t arm = 0;
    while (left >= weights[arm]) {
        left -= weights[arm++];
    }
    *out = arm;
    return true;
}
