/* SPDX-License-Identifier: Apache-2.0 */
/* mathematics.h - what Eva is told of frexp, ldexp and tacet__fail, in the place of its own looser contracts. Assumed.
 */
#ifndef PROOF_MATHEMATICS_H
#define PROOF_MATHEMATICS_H

#include <math.h>

#include "__fc_builtin.h"

static double proof_frexp(double x, int *exponent) {
    (void)x;
    *exponent = Frama_C_interval(-1073, 1024);
    return Frama_C_double_interval(0.5, 0x1.fffffffffffffp-1);
}

static double proof_ldexp(double x, int exponent) {
    if (x >= 0.5 && x < 1 && exponent == SCALE_BITS) {
        return Frama_C_double_interval(8388608.0, 16777215.0);
    }
    if (x == 1.0 && exponent >= -1074 && exponent <= 970) {
        return Frama_C_double_interval(0x1p-1074, 0x1p970);
    }
    return Frama_C_double_interval(0.0, 0x1.fffffffffffffp1023);
}
#define frexp proof_frexp
#define ldexp proof_ldexp

#endif
