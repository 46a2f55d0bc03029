/* SPDX-License-Identifier: Apache-2.0 */
/* permute_and_flip.c - the number of a candidate with a high score, pure eps.
 * Ring: gate. Source: McKenna, Sheldon 2020. Differs: scores are whole steps of a public grid, the rounding charged;
 * coins are exact. Proof: permute_and_flip.md. Cost: a coin or more for each candidate looked at; how many depends on
 * the scores (docs/threat-model.md). */
#include "dp/mechanisms/table.h"

#include "dp/noise/sampler.h"
#include "dp/open/laws.h"

static tacet_status choose(const tacet_mechanism *m, tacet_noise *noise, size_t *out, size_t *scratch,
                           const int64_t *scores, tacet_error *err) {
    return tacet__permute_and_flip(noise, out, scratch, scores, m->count, m->eps, m->score_steps, err);
}

static void charge(const tacet_mechanism *m, tacet_charge *out) {
    tacet_charge_pure(out, m->eps);
}

const tacet__kind tacet__kind_permute_and_flip = {.kind = TACET_MECHANISM_PERMUTE_AND_FLIP,
                                                  .law = &tacet__law_permute_and_flip,
                                                  .proof = "dp/mechanisms/permute_and_flip.md",
                                                  .choose = choose,
                                                  .charge = charge};
