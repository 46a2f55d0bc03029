/* SPDX-License-Identifier: Apache-2.0 */
/* sobol.c - low-discrepancy points for designs that must not look at data.
 * Ring: pure. Source: Sobol 1967; direction numbers of Joe, Kuo 2008; Gray code order of Antonov, Saleev 1979. Cost:
 * some hundred operations a coordinate, no state. */
#include "gp/sobol.h"

#include <string.h>

enum { BITS = 32 };

enum { DEGREE_MOST = 6 };

/* Van der Corput, then one primitive polynomial a coordinate: degree, inner coefficients as bits, first numbers. */
typedef struct polynomial {
    unsigned degree;
    uint32_t coefficients;
    uint32_t initial[DEGREE_MOST];
} polynomial;
static const polynomial TABLE[TACET__SOBOL_DIM_MOST] = {
    {0, 0, {0}},
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
};

static void directions(uint32_t *v, size_t coordinate) {
    const polynomial *p = &TABLE[coordinate];
    const unsigned s = p->degree;
    for (unsigned i = 0; i < BITS; i++) {
        if (coordinate == 0) {
            v[i] = UINT32_C(1) << (BITS - 1 - i);
        } else if (i < s) {
            v[i] = p->initial[i] << (BITS - 1 - i);
        } else {
            v[i] = v[i - s] ^ (v[i - s] >> s);
            for (unsigned k = 1; k < s; k++) {
                v[i] ^= (p->coefficients >> (s - 1 - k) & 1U) != 0 ? v[i - k] : 0;
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
