/* SPDX-License-Identifier: Apache-2.0 */
/* choice.h - a device chooses by itself: one arm by public weights and a coin of its own.
 *
 * A collector may publish, of a study over fixed arms, how often each of them should be played by what it has learnt
 * so far (local/open/weights.h). A device that draws its arm from these weights asks nothing before it plays; the
 * collector sees a report, and which arm it is of. Same weights and same word, same arm, in C, Python and a browser.
 * Why the guarantee is the same: src/local/README.md, "Devices that choose". */
#ifndef TACET_LOCAL_SHARED_CHOICE_H
#define TACET_LOCAL_SHARED_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Arm i with probability weights[i] over their sum, exactly, from a uniform word. False: this word is one of the few
 * (below 2^-32 of all) that would favour some arms, and another is needed; or all weights are 0. */
TACET_API bool tacet_choice(size_t *out, const uint32_t *weights, size_t count, uint64_t word);

#ifdef __cplusplus
}
#endif
#endif
