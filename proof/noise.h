/* SPDX-License-Identifier: Apache-2.0 */
/* noise.h - in the place of dp/noise/noise_state.h: every word is any word. */
#ifndef PROOF_NOISE_H
#define PROOF_NOISE_H

#define TACET_SRC_DP_NOISE_NOISE_STATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/dp/noise.h>

struct tacet_noise {
    bool exhausted;
};
/*@ requires \valid(noise);
    assigns \result \from \nothing;
    ensures \result <= 0xffffffff; */
uint64_t tacet__noise_next(tacet_noise *noise);

#endif
