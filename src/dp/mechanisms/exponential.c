/* SPDX-License-Identifier: Apache-2.0 */
/* exponential.c - the number of a candidate with a high score, by the exponential mechanism: pure eps, of bounded
 * range. Ring: gate. Source: McSherry, Talwar 2007; Cesar, Rogers 2021 (rho of bounded range). Differs: scores are
 * whole steps of a public grid, the rounding charged; coins are exact. Proof: exponential.md. Cost: candidates are
 * drawn until one is kept; how many depends on the scores (docs/threat-model.md). */
#include "dp/mechanisms/table.h"

#include "dp/noise/sampler.h"
#include "dp/open/laws.h"

#include <math.h>
#include <tacet/dp/open/calibrate.h>

static tacet_status choose(const tacet_mechanism *m, tacet_noise *noise, size_t *out, size_t *scratch,
                           const int64_t *scores, tacet_error *err) {
    (void)scratch;
    return tacet__exponential_mechanism(noise, out, scores, m->count, m->eps, m->score_steps, err);
}

static void charge(const tacet_mechanism *m, tacet_charge *out) {
    tacet_charge_pure(out, m->eps);
    double rho = out->rho;
    (void)tacet_zcdp_from_range(&rho, m->eps, NULL); /* eps was checked when the mechanism was made */
    out->rho = fmin(out->rho, rho);
}

const tacet__kind tacet__kind_exponential = {.kind = TACET_MECHANISM_EXPONENTIAL,
                                             .law = &tacet__law_exponential,
                                             .proof = "dp/mechanisms/exponential.md",
                                             .choose = choose,
                                             .charge = charge};
