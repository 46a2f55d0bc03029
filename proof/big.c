/* SPDX-License-Identifier: Apache-2.0 */
/* big.c - Eva: no undefined behaviour in big.c, as the rare strips of a Gaussian call it: c, whole and a are any in
 * their ranges. Assumed, not proven: the series ends before i reaches 2^20 (src/dp/noise/README.md, "The fractions":
 * 250 terms). */
#include "widths.h"
#include "noise.h"

#include "mathematics.h"

#include "dp/noise/big.c"

void main(void) {
    tacet_noise noise = {false};
    (void)tacet__below_fraction(&noise, Frama_C_unsigned_long_interval(0, 0x3fffffff),
                                Frama_C_unsigned_long_interval(0, 0x3fffffff), Frama_C_unsigned_long_interval(0, 65536),
                                8192);
}
