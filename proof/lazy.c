/* SPDX-License-Identifier: Apache-2.0 */
/* lazy.c - Eva: no undefined behaviour in lazy.c, for every scale, grid, strip and words. */
#include "widths.h"
#include "noise.h"

#include "mathematics.h"

#include "dp/noise/lazy.c"

tacet_status tacet__fail(tacet_error *err, tacet_status status, const char *format, ...) {
    (void)err;
    (void)format;
    return status;
}

void main(void) {
    tacet_noise noise = {false};
    lazy x = {0};
    lazy_scale scale;
    double out[3];
    const double size = Frama_C_double_interval(0x1p-1074, 0x1.fffffffffffffp1023);
    const int grid = Frama_C_interval(-1074, 970);
    const unsigned unit = Frama_C_interval(0, 1) != 0 ? STRIPS_LOG2 : 0;
    x.negative = Frama_C_interval(0, 1) != 0;
    (void)tacet__lazy_start(&x, Frama_C_unsigned_long_interval(0, 4095), tacet__noise_next(&noise));
    for (int i = Frama_C_interval(0, 100); i > 0; i--) {
        (void)tacet__lazy_coin(&noise, &x);
    }
    if (tacet__lazy_scale(&scale, size, grid, unit, NULL) == TACET_OK) {
        (void)tacet__lazy_round(&noise, &x, &scale);
    }
    (void)tacet__draw_done(&noise, out, 3, NULL);
    (void)tacet__grid_exponent(size, (unsigned)Frama_C_interval(0, 40));
}
