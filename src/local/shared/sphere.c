/* SPDX-License-Identifier: Apache-2.0 */
/* sphere.c - public directions on a sphere, and what a report among them says of a vector.
 * Ring: shared. Sources: Duchi, Jordan, Wainwright 2018 (two opposite directions); Bhowmick, Duchi, Freudiger, Kapoor,
 * Rogers 2018 (PrivUnit: a cap of the sphere more likely than the rest); Ye, Barg 2018 (subset selection). Differs: the
 * sphere is replaced by K directions of public coins, so that the report is a small whole number, drawn exactly, and no
 * floating-point operation of the device matters to eps. Proof: src/dp/mechanisms/sphere.md.
 * Part of libtacet-device. Cost: a direction O(dim); an order O(K dim). */
#include "local/shared/ldp.h"

#include "core/fail.h"

#include <math.h>
#include <sodium.h>
#include <string.h>
#include <tacet/core/simrng.h>

/* Direction k of a round: dim + 1 numbers of norm 1. */
static void direction_of(const tacet_sphere *sphere, double *out, uint64_t round, uint32_t k) {
    tacet_simrng coins;
    double norm = 0;
    tacet_simrng_init(&coins, sphere->seed, round * sphere->ldp.cells + k);
    for (size_t i = 0; i <= sphere->dim; i++) {
        out[i] = tacet_simrng_normal(&coins);
        norm += out[i] * out[i];
    }
    for (size_t i = 0; i <= sphere->dim; i++) {
        out[i] /= sqrt(norm);
    }
}

tacet_status tacet_sphere_estimate(const tacet_sphere *sphere, double *out, double *work, uint64_t round, double report,
                                   tacet_error *err) {
    if (!tacet_ldp_possible(&sphere->ldp, report)) {
        return tacet__fail(err, TACET_INVALID, "a report is a whole number from 0 to %u", sphere->ldp.cells - 1);
    }
    direction_of(sphere, work, round, (uint32_t)report);
    for (size_t i = 0; i < sphere->dim; i++) {
        out[i] = work[i] / sphere->gain;
    }
    return TACET_OK;
}

void tacet_sphere_order(const tacet_sphere *sphere, uint32_t *order, double *work, uint64_t round,
                        const double *record) {
    const size_t dim = sphere->dim;
    double *lifted = work, *direction = work + dim + 1, *along = work + 2 * (dim + 1);
    double norm2 = 0;
    for (size_t i = 0; i < dim; i++) {
        lifted[i] = record[i];
        norm2 += record[i] * record[i];
    }
    lifted[dim] = sqrt(fmax(0, 1 - norm2)); /* below 0 by rounding alone */
    for (uint32_t k = 0; k < sphere->ldp.cells; k++) {
        direction_of(sphere, direction, round, k);
        along[k] = 0;
        for (size_t i = 0; i <= dim; i++) {
            along[k] += lifted[i] * direction[i];
        }
        order[k] = k;
    }
    /* Shell's sort by the distances beside it: 256 numbers, and nothing to allocate. */
    static const uint32_t GAPS[] = {109, 41, 19, 5, 1};
    for (size_t g = 0; g < sizeof GAPS / sizeof GAPS[0]; g++) {
        for (uint32_t i = GAPS[g]; i < sphere->ldp.cells; i++) {
            const uint32_t k = order[i];
            uint32_t j = i;
            for (; j >= GAPS[g] && along[order[j - GAPS[g]]] < along[k]; j -= GAPS[g]) {
                order[j] = order[j - GAPS[g]];
            }
            order[j] = k;
        }
    }
    sodium_memzero(work, (2 * (dim + 1) + sphere->ldp.cells) * sizeof(double));
}
