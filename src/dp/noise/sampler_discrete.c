/* SPDX-License-Identifier: Apache-2.0 */
/* sampler_discrete.c - the exact discrete Gaussian.
 * Ring: gate. Proof: src/dp/noise/README.md. Source: Karney, "Sampling exactly from the normal distribution" (2016),
 * Algorithm D. Differs: strips of sigma/64 from the alias table instead of sigma from coins. Canonne, Kamath, Steinke
 * (2020) get the same distribution by rejection from a discrete Laplace, with numbers of 170 bits where these have 72.
 * Cost: as the rounded Gaussian when sigma is many grid steps; 64 grid/sigma tries when it is not; no heap. */
#include "dp/noise/lazy.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

/* sigma / grid = m / 2^r. Strip n holds the whole numbers k with n m <= 64 k 2^r < (n + 1) m. */
static double one(tacet_noise *noise, const lazy_scale *scale) {
    const uint64_t m = scale->m;
    const unsigned r =
        scale->shift - LAZY_HEAD_BITS; /* of m 2^-(SCALE_BITS - 1 - fineness), with the strips' 64 in it */
    const u128 step = (u128)1 << r;
    const uint64_t most = (uint64_t)((m + step - 1) >> r);
    uint64_t n = 0;
    while (tacet__normal_strip(noise, &n)) {
        const u128 start = (u128)n * m;
        const u128 k = ((start + step - 1) >> r) + tacet__noise_below(noise, most);
        const u128 place = (k << r) - start;
        if (place >= m) {
            continue;
        }
        const bool negative = (tacet__noise_next(noise) >> (WORD_BITS - 1)) != 0;
        strip_place u = {.digits = NULL, .p = (uint64_t)place, .q = m};
        if ((k == 0 && negative) || !tacet__strip_accept(noise, n, &u)) {
            continue;
        }
        const double magnitude = (double)(uint64_t)k * scale->grid;
        return negative ? -magnitude : magnitude;
    }
    return 0;
}

tacet_status tacet__draw_discrete_gaussian(tacet_noise *noise, double *out, size_t count, double sigma,
                                           int grid_exponent, tacet_error *err) {
    lazy_scale scale;
    const tacet_status status = tacet__lazy_scale(&scale, sigma, grid_exponent, STRIPS_LOG2, err);
    if (status != TACET_OK) {
        return status;
    }
    noise->exhausted = false;
    for (size_t i = 0; i < count; i++) {
        out[i] = one(noise, &scale);
    }
    return tacet__draw_done(noise, out, count, err);
}
