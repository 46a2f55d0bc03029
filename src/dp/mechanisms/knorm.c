/* SPDX-License-Identifier: Apache-2.0 */
/* knorm.c - one vector of noise with density exp(-|v|_2 / theta), pure eps, L2 sensitivity.
 * Ring: gate. Source: Hardt, Talwar 2010 with the Euclidean ball; Andres et al. 2013. Differs: on a public grid, the
 * rounding charged, drawn exactly. Proof: knorm.md. Cost: that of its sampler, dp/noise/sampler_knorm.c. */
#include "dp/mechanisms/table.h"

#include "dp/noise/sampler.h"
#include "dp/open/laws.h"

#include <tacet/dp/open/calibrate.h>

static tacet_status scale(double *out, double eps, double delta, double sensitivity, size_t count, tacet_error *err) {
    (void)delta;
    (void)count;
    return tacet_calibrate_laplace(out, eps, sensitivity, err);
}

static tacet_status noise(const tacet_mechanism *m, tacet_noise *source, double *out, size_t rows, tacet_error *err) {
    return tacet__draw_knorm_rows(source, out, rows, m->count, m->scale, m->grid_exponent, err);
}

static void charge(const tacet_mechanism *m, tacet_charge *out) {
    tacet_charge_pure(out, m->eps);
}

const tacet__kind tacet__kind_knorm = {.kind = TACET_MECHANISM_KNORM,
                                       .law = &tacet__law_knorm,
                                       .proof = "dp/mechanisms/knorm.md",
                                       .scale = scale,
                                       .noise = noise,
                                       .charge = charge};
