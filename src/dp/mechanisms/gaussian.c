/* SPDX-License-Identifier: Apache-2.0 */
/* gaussian.c - rounded Gaussian noise on each number, (eps, delta).
 * Ring: gate. Source: Balle, Wang 2018 (analytic calibration). Differs: the numbers lie on a public grid, rounding to
 * it is charged, and the noise is drawn exactly. Proof: gaussian.md. Cost: about two words of key stream a number. */
#include "dp/mechanisms/table.h"

#include "dp/noise/sampler.h"
#include "dp/open/laws.h"

#include <tacet/dp/open/calibrate.h>

static tacet_status scale(double *out, double eps, double delta, double sensitivity, size_t count, tacet_error *err) {
    (void)count;
    return tacet_calibrate_gaussian(out, eps, delta, sensitivity, err);
}

static tacet_status noise(const tacet_mechanism *m, tacet_noise *source, double *out, size_t rows, tacet_error *err) {
    return tacet__draw_gaussian(source, out, rows * m->count, m->scale, m->grid_exponent, err);
}

static void charge(const tacet_mechanism *m, tacet_charge *out) {
    tacet_charge_gaussian(out, m->mu, m->eps, m->delta);
}

const tacet__kind tacet__kind_gaussian = {.kind = TACET_MECHANISM_GAUSSIAN,
                                          .law = &tacet__law_gaussian,
                                          .proof = "dp/mechanisms/gaussian.md",
                                          .scale = scale,
                                          .noise = noise,
                                          .charge = charge};
