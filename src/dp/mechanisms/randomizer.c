/* SPDX-License-Identifier: Apache-2.0 */
/* randomizer.c - a bounded scalar reported with pure eps.
 * Ring: gate. In: a raw value, clipped here. Out: a double of a public, finite or lattice support.
 * Proof: src/dp/mechanisms/randomizers.md; sources and design: src/local/shared/ldp.c.
 * Cost: 2 to 4 words of key stream (Laplace 25); no heap. */
#include "local/shared/ldp.h"
#include <tacet/dp/randomizer.h>

#include <math.h>
#include <sodium.h>

#include "core/fail.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

enum { FRACTION_BITS = 53, CELLS_MOST = 1024 };

/* A whole number in 0 … n whose mean is fraction * n, fraction in [0, 1]. What is decided here is part of the input:
 * the likelihood ratio below holds for any two whole numbers, so doubles may decide it. */
static uint64_t input_of(tacet_noise *noise, double fraction, uint64_t n) {
    const double at = fraction * (double)n;
    const double below = floor(at);
    const uint64_t whole = (uint64_t)below;
    const uint64_t one = UINT64_C(1) << FRACTION_BITS;
    const bool up = tacet__bernoulli(noise, (uint64_t)ldexp(at - below, FRACTION_BITS), one);
    return whole + (up ? 1 : 0); /* a fraction is left only below n */
}

/* Randomised response on the bit: kept with probability num / (num + den). */
static double duchi(tacet_noise *noise, const tacet_ldp *ldp, double fraction) {
    const bool up = input_of(noise, fraction, 1) == 1;
    const bool kept = tacet__bernoulli(noise, ldp->ratio_num, ldp->ratio_num + ldp->ratio_den);
    return tacet_ldp_bit(ldp, up == kept);
}

/* Cells start … start + window - 1 have likelihood num each, all others den each. */
static double piecewise(tacet_noise *noise, const tacet_ldp *ldp, double fraction) {
    const uint64_t outside = ldp->cells - ldp->window;
    const uint64_t start = input_of(noise, fraction, outside);
    const uint64_t likely = ldp->window * ldp->ratio_num;
    uint64_t k = 0;
    if (tacet__bernoulli(noise, likely, likely + outside * ldp->ratio_den)) {
        k = start + tacet__noise_below(noise, ldp->window);
    } else {
        k = tacet__noise_below(noise, outside);
        k += k >= start ? ldp->window : 0;
    }
    return tacet_ldp_cell(ldp, (uint32_t)k);
}

/* A window of any cells, not of neighbouring ones: where in the window, or where outside. */
static uint64_t among(tacet_noise *noise, const tacet_ldp *ldp) {
    const uint64_t outside = ldp->cells - ldp->window;
    const uint64_t likely = ldp->window * ldp->ratio_num;
    return tacet__bernoulli(noise, likely, likely + outside * ldp->ratio_den)
               ? tacet__noise_below(noise, ldp->window)
               : ldp->window + tacet__noise_below(noise, outside);
}

tacet_status tacet_randomize(tacet_noise *noise, double *out, const tacet_ldp *ldp, double value, tacet_error *err) {
    *out = NAN;
    return noise->source == TACET__NOISE_SAMPLE
               ? tacet__fail(err, TACET_INVALID, "a report needs the noise of a reservation, or seeded noise")
               : tacet__randomize(noise, out, ldp, value, err);
}

tacet_status tacet__randomize(tacet_noise *noise, double *out, const tacet_ldp *ldp, double value, tacet_error *err) {
    *out = NAN;
    if (isnan(value)) {
        return tacet__fail(err, TACET_INVALID, "the value to report is not a number");
    }
    const double clipped = fmin(fmax(value, ldp->lo), ldp->hi);
    const double fraction = (clipped - ldp->lo) / (ldp->hi - ldp->lo); /* at most 1: rounding is monotone */
    switch (ldp->kind) { /* no default: a kind that is not named here draws nothing */
    case TACET_LDP_PIECEWISE:
        *out = piecewise(noise, ldp, fraction);
        return TACET_OK;
    case TACET_LDP_DUCHI: /* its share of the other is 0, and the coin takes its word all the same */
    case TACET_LDP_HYBRID:
        *out = tacet__bernoulli(noise, ldp->piecewise_share, UINT64_C(1) << 32) ? piecewise(noise, ldp, fraction)
                                                                                : duchi(noise, ldp, fraction);
        return TACET_OK;
    case TACET_LDP_SPHERE:
        return tacet__fail(err, TACET_INVALID, "this randomiser takes a vector, not a number");
    case TACET_LDP_LAPLACE: { /* may fail */
        double k = 0;
        const int64_t at = (int64_t)input_of(noise, fraction, ldp->steps);
        const tacet_status status = tacet__draw_discrete_laplace(noise, &k, 1, ldp->laplace_scale, 0, err);
        if (status == TACET_OK) {
            *out = tacet_ldp_place(ldp, at + (int64_t)k);
        }
        return status;
    }
    }
    return tacet__fail(err, TACET_INVALID, "no such randomiser");
}

/* Every cell once: a bit each. */
static bool has_every_cell(const uint32_t *order, uint32_t cells) {
    uint64_t seen[CELLS_MOST / 64] = {0};
    uint32_t i = 0;
    while (i < cells && order[i] < cells && (seen[order[i] / 64] >> order[i] % 64 & 1) == 0) {
        seen[order[i] / 64] |= UINT64_C(1) << order[i] % 64;
        i++;
    }
    sodium_memzero(seen, sizeof seen);
    return i == cells;
}

tacet_status tacet_randomize_among(tacet_noise *noise, double *out, const tacet_ldp *ldp, const uint32_t *order,
                                   tacet_error *err) {
    *out = NAN;
    if (ldp->kind != TACET_LDP_SPHERE || ldp->cells > CELLS_MOST || !has_every_cell(order, ldp->cells)) {
        return tacet__fail(err, TACET_INVALID, "a choice among cells needs each of them once");
    }
    if (noise->source == TACET__NOISE_SAMPLE) {
        return tacet__fail(err, TACET_INVALID, "a report needs the noise of a reservation, or seeded noise");
    }
    *out = order[among(noise, ldp)];
    return TACET_OK;
}
