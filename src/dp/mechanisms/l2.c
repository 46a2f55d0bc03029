/* SPDX-License-Identifier: Apache-2.0 */
/* l2.c - one vector of noise with density exp(-|v|_2 / theta), calibrated to (eps, delta); L2 sensitivity.
 * Ring: gate. Source: the l2 mechanism of arXiv 2502.15929 (2025). Differs: delta is a certified bound, and the noise
 * is drawn exactly, on a public grid, the rounding charged. Proof: src/dp/open/l2.md. Cost: 0.1 to 0.4 s of
 * calibration; a draw is that of dp/noise/sampler_knorm.c. */
#include "dp/mechanisms/table.h"

#include "dp/noise/sampler.h"
#include "dp/open/laws.h"

#include <math.h>
#include <tacet/dp/open/calibrate.h>

static tacet_status scale(double *out, double eps, double delta, double sensitivity, size_t count, tacet_error *err) {
    tacet_l2 l2;
    const tacet_status status = tacet_calibrate_l2(&l2, eps, delta, sensitivity, count, err);
    if (status == TACET_OK) {
        *out = l2.scale;
    }
    return status;
}

static tacet_status noise(const tacet_mechanism *m, tacet_noise *source, double *out, size_t rows, tacet_error *err) {
    return tacet__draw_knorm_rows(source, out, rows, m->count, m->scale, m->grid_exponent, err);
}

/* (eps, delta) where those add up; where curves do, the Gaussian one that every mechanism of pure eps =
 * sensitivity/scale is above. */
static void charge(const tacet_mechanism *m, tacet_charge *out) {
    double mu = INFINITY;
    (void)tacet_gdp_from_pure(&mu, nextafter(m->sensitivity / m->scale, INFINITY), NULL);
    tacet_charge_gaussian(out, mu, m->eps, m->delta);
}

const tacet__kind tacet__kind_l2 = {.kind = TACET_MECHANISM_L2,
                                    .law = &tacet__law_l2,
                                    .proof = "dp/open/l2.md",
                                    .scale = scale,
                                    .noise = noise,
                                    .charge = charge};
