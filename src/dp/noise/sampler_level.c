/* SPDX-License-Identifier: Apache-2.0 */
/* sampler_level.c - one of k levels by exact k-ary randomised response.
 * Ring: gate. Proof: src/dp/mechanisms/levels.md. Source: Warner 1965; Kairouz, Bonawitz, Ramage 2016. Differs: no
 * probability is ever computed. A level is drawn uniformly and taken at once when it is the true one, else with
 * probability exp(-eps), else drawn again: outcomes have weights 1 and exp(-eps). exp(-eps) is an exact coin of a
 * rational exponent, eps rounded down to 62 bits after the point. Cost: at most e^eps and at most k draws on average.
 */
#include "core/fail.h"
#include "dp/noise/sampler.h"

#include <math.h>

tacet_status tacet__draw_level(tacet_noise *noise, size_t *out, size_t level, size_t k, double eps, tacet_error *err) {
    static const unsigned BITS = 62;
    *out = 0;
    if (!(k >= 2 && level < k && eps > 0 && eps <= TACET__LEVEL_EPS_MOST)) {
        return tacet__fail(err, TACET_INVALID,
                           "a level needs at least 2, one of them true, and eps above 0 and at most %d",
                           TACET__LEVEL_EPS_MOST);
    }
    const double whole = floor(eps);
    const uint64_t rest = (uint64_t)ldexp(eps - whole, (int)BITS); /* exact but for what lies below 2^-62 */
    for (;;) {
        const size_t drawn = (size_t)tacet__noise_below(noise, k);
        bool taken = drawn == level;
        if (!taken) {
            taken = tacet__bernoulli_exp(noise, rest, UINT64_C(1) << BITS);
            for (size_t i = 0; (double)i < whole && taken; i++) {
                taken = tacet__bernoulli_exp(noise, 1, 1);
            }
        }
        if (taken) {
            *out = drawn;
            return TACET_OK;
        }
    }
}
