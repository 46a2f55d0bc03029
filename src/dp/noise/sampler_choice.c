/* SPDX-License-Identifier: Apache-2.0 */
/* sampler_choice.c - one of a finite set of candidates, by score: permute-and-flip and the exponential mechanism.
 * Ring: gate. Proof: src/dp/noise/README.md. Source: McKenna and Sheldon, "Permute-and-flip" (2020), Algorithm 1.
 * Differs: scores are whole numbers of units, the exponent per unit is a rational rounded down, coins are exact.
 * Cost: O(count) coins at the most for permute-and-flip; for the exponential mechanism count / sum of exp on average.
 */
#include <math.h>

#include "core/fail.h"
#include "dp/noise/sampler.h"
#include "dp/noise/wide.h"

/* What a coin's exponent gains per unit: num / 2^bits, at most eps / (2 sensitivity). */
typedef struct rate {
    uint64_t num; /* 1 … 2^63 - 1 */
    unsigned bits;
} rate;

static tacet_status rate_of(rate *out, size_t count, double eps, uint64_t sensitivity, tacet_error *err) {
    if (count == 0) {
        return tacet__fail(err, TACET_INVALID, "there is no candidate to choose");
    }
    if (!(eps > 0 && eps <= 0x1p60)) {
        return tacet__fail(err, TACET_INVALID, "eps must be > 0 and at most 2^60");
    }
    if (sensitivity == 0) {
        return tacet__fail(err, TACET_INVALID, "the sensitivity of the scores must be > 0");
    }
    int exponent = 0;
    const u128 m = (u128)ldexp(frexp(eps, &exponent), 53);
    out->bits = 62;
    const int shift = exponent - 53 + 61; /* 2^62 eps / 2 = m 2^shift, of at most 122 bits */
    const u128 scaled = shift >= 0 ? m << shift : shift > -64 ? m >> -shift : 0;
    u128 quotient = scaled / sensitivity;
    for (; quotient >> 63 != 0; quotient >>= 1) {
        out->bits--;
    }
    if (quotient == 0) {
        return tacet__fail(err, TACET_INVALID, "eps / (2 sensitivity) must be at least 2^-62");
    }
    out->num = (uint64_t)quotient;
    return TACET_OK;
}

static int64_t best_of(const int64_t *scores, size_t count) {
    int64_t best = scores[0];
    for (size_t i = 1; i < count; i++) {
        best = scores[i] > best ? scores[i] : best;
    }
    return best;
}

/* True with probability exp(-(best - score) num / 2^bits). */
static bool flip(tacet_noise *noise, int64_t best, int64_t score, const rate *per_unit) {
    const uint64_t one = UINT64_C(1) << per_unit->bits;
    const u128 exponent = (u128)((uint64_t)best - (uint64_t)score) * per_unit->num;
    for (u128 whole = exponent >> per_unit->bits; whole > 0; whole--) {
        if (!tacet__bernoulli_exp(noise, 1, 1)) {
            return false;
        }
    }
    return tacet__bernoulli_exp(noise, (uint64_t)exponent & (one - 1), one);
}

tacet_status tacet__permute_and_flip(tacet_noise *noise, size_t *out, size_t *scratch, const int64_t *scores,
                                     size_t count, double eps, uint64_t sensitivity, tacet_error *err) {
    rate per_unit;
    TACET_OR_RETURN(rate_of(&per_unit, count, eps, sensitivity, err));
    const int64_t best = best_of(scores, count);
    for (size_t i = 0; i < count; i++) {
        scratch[i] = i;
    }
    /* The best candidate's coin always succeeds, so that the loop ends before the candidates do. */
    for (size_t left = count;; left--) {
        const size_t at = (size_t)tacet__noise_below(noise, left);
        if (flip(noise, best, scores[scratch[at]], &per_unit)) {
            *out = scratch[at];
            return TACET_OK;
        }
        scratch[at] = scratch[left - 1];
    }
}

tacet_status tacet__exponential_mechanism(tacet_noise *noise, size_t *out, const int64_t *scores, size_t count,
                                          double eps, uint64_t sensitivity, tacet_error *err) {
    rate per_unit;
    TACET_OR_RETURN(rate_of(&per_unit, count, eps, sensitivity, err));
    const int64_t best = best_of(scores, count);
    size_t at = 0;
    do {
        at = (size_t)tacet__noise_below(noise, count);
    } while (!flip(noise, best, scores[at], &per_unit));
    *out = at;
    return TACET_OK;
}
