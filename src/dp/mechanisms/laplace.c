/* SPDX-License-Identifier: Apache-2.0 */
/* laplace.c - rounded Laplace noise on each number, pure eps, L1 sensitivity.
 * Ring: gate. Source: Dwork, McSherry, Nissim, Smith 2006. Differs: on a public grid, the rounding charged, drawn
 * exactly. Proof: laplace.md. Cost: about 25 words of key stream a number. */
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
    return tacet__draw_laplace(source, out, rows * m->count, m->scale, m->grid_exponent, err);
}

static void charge(const tacet_mechanism *m, tacet_charge *out) {
    tacet_charge_pure(out, m->eps);
}

const tacet__kind tacet__kind_laplace = {.kind = TACET_MECHANISM_LAPLACE,
                                         .law = &tacet__law_laplace,
                                         .proof = "dp/mechanisms/laplace.md",
                                         .by_l1 = true,
                                         .scale = scale,
                                         .noise = noise,
                                         .charge = charge};
