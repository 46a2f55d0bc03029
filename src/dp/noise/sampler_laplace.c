/* SPDX-License-Identifier: Apache-2.0 */
/* sampler_laplace.c - the exact rounded Laplace, and the discrete one.
 * Ring: gate. Proof: src/dp/noise/README.md. Sources: von Neumann (1951) for the real exponential; Canonne, Kamath,
 * Steinke (2020), Algorithm 2, for the discrete one. Cost: about 12 words of key stream a draw; no heap. */
#include "core/fail.h"
#include "dp/noise/lazy.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

/* The number of successes of exp(-1) before the first failure, below EXPONENTIAL_END (beyond: latched). */
static uint64_t whole_part(tacet_noise *noise) {
    uint64_t n = 0;
    while (tacet__bernoulli_exp(noise, 1, 1)) {
        if (++n >= EXPONENTIAL_END) {
            noise->exhausted = true;
            return 0;
        }
    }
    return n;
}

/* True with probability exp(-u). */
static bool exp_coin(tacet_noise *noise, lazy *x) {
    uint64_t i = 1;
    while (tacet__lazy_coin(noise, x) && tacet__bernoulli(noise, 1, i)) {
        i++;
    }
    return i % 2 == 1;
}

static double rounded(tacet_noise *noise, const lazy_scale *scale) {
    lazy x;
    do {
        x.negative = (tacet__lazy_start(&x, 0, tacet__noise_next(noise)) & 1) != 0;
    } while (!exp_coin(noise, &x));
    x.n = whole_part(noise);
    return tacet__lazy_round(noise, &x, scale);
}

/* scale / grid = m / 2^r: |k| has the mass of U + m V over blocks of 2^r, U below m kept with exp(-U/m), V whole. */
static double discrete(tacet_noise *noise, const lazy_scale *scale) {
    const unsigned r = scale->shift - LAZY_HEAD_BITS;
    for (;;) {
        const uint64_t u = tacet__noise_below(noise, scale->m);
        if (!tacet__bernoulli_exp(noise, u, scale->m)) {
            continue;
        }
        const uint64_t k = (uint64_t)(((u128)scale->m * whole_part(noise) + u) >> r);
        const bool negative = (tacet__noise_next(noise) >> (WORD_BITS - 1)) != 0;
        if (!(negative && k == 0)) {
            const double magnitude = (double)k * scale->grid;
            return negative ? -magnitude : magnitude;
        }
    }
}

static tacet_status draw(tacet_noise *noise, double *out, size_t count, double b, int grid_exponent,
                         double (*one)(tacet_noise *, const lazy_scale *), tacet_error *err) {
    lazy_scale scale;
    TACET_OR_RETURN(tacet__lazy_scale(&scale, b, grid_exponent, 0, err));
    noise->exhausted = false;
    for (size_t i = 0; i < count; i++) {
        out[i] = one(noise, &scale);
    }
    return tacet__draw_done(noise, out, count, err);
}

tacet_status tacet__draw_laplace(tacet_noise *noise, double *out, size_t count, double b, int grid_exponent,
                                 tacet_error *err) {
    return draw(noise, out, count, b, grid_exponent, rounded, err);
}

tacet_status tacet__draw_discrete_laplace(tacet_noise *noise, double *out, size_t count, double b, int grid_exponent,
                                          tacet_error *err) {
    return draw(noise, out, count, b, grid_exponent, discrete, err);
}
