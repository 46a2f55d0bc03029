/* SPDX-License-Identifier: Apache-2.0 */
/* sobol.c - low-discrepancy points for designs that must not look at data.
 * Ring: pure. Source: Sobol 1967; direction numbers of Joe, Kuo 2008; Gray code order of Antonov, Saleev 1979. Cost:
 * some hundred operations a coordinate, no state. */
#include "gp/sobol.h"

#include <string.h>

enum { BITS = 32 };

/* Van der Corput, then the primitive polynomials x + 1, x^2 + x + 1, x^3 + x + 1. */
static void directions(uint32_t *v, size_t coordinate) {
    static const unsigned DEGREE[TACET__SOBOL_DIM_MOST] = {0, 1, 2, 3};
    static const uint32_t COEFFICIENTS[TACET__SOBOL_DIM_MOST] = {0, 0, 1, 1};
    static const uint32_t INITIAL[TACET__SOBOL_DIM_MOST][3] = {{0, 0, 0}, {1, 0, 0}, {1, 3, 0}, {1, 3, 1}};
    const unsigned s = DEGREE[coordinate];
    for (unsigned i = 0; i < BITS; i++) {
        if (coordinate == 0) {
            v[i] = UINT32_C(1) << (BITS - 1 - i);
        } else if (i < s) {
            v[i] = INITIAL[coordinate][i] << (BITS - 1 - i);
        } else {
            v[i] = v[i - s] ^ (v[i - s] >> s);
            for (unsigned k = 1; k < s; k++) {
                v[i] ^= (COEFFICIENTS[coordinate] >> (s - 1 - k) & 1U) != 0 ? v[i - k] : 0;
            }
        }
    }
}

uint32_t tacet__sobol(size_t coordinate, uint64_t index) {
    const uint64_t gray = index ^ (index >> 1);
    uint32_t v[BITS];
    uint32_t x = 0;
    directions(v, coordinate);
    for (unsigned bit = 0; bit < BITS; bit++) {
        x ^= (gray >> bit & 1U) != 0 ? v[bit] : 0;
    }
    return x;
}
