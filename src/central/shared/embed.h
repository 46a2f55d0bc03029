/* SPDX-License-Identifier: Apache-2.0 */
/* embed.h - the two vectors of a record, from its features: shared by the map and by devices, which have no map.
 * Ring: pure. */
#pragma once

#include <math.h>
#include <stddef.h>

/* out: (v phi, (1 - v) phi), 2r numbers, v = (y - lo)/(hi - lo) within [0, 1]. Total: NaN included, the norm is at most
 * 1. */
static inline void tacet__embed(double *out, const double *phi, size_t r, double y, double lo, double hi) {
    double v = (y - lo) / (hi - lo);
    v = isnan(v) ? 0.5 : fmin(fmax(v, 0), 1);
    double norm2 = 0;
    for (size_t i = 0; i < r; i++) {
        norm2 += phi[i] * phi[i];
    }
    /* Onto the unit ball, which only rounding leaves: a projection, so no two statistics come further apart. NaN
     * becomes the zero vector, within 1 of every other. */
    const double scale = norm2 >= 0 ? (norm2 > 1 ? 1 / sqrt(norm2) : 1) : 0;
    for (size_t i = 0; i < r; i++) {
        const double one = scale == 0 ? 0 : scale * phi[i];
        out[i] = v * one;
        out[r + i] = (1 - v) * one;
    }
}
