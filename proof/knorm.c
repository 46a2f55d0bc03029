/* SPDX-License-Identifier: Apache-2.0 */
/* knorm.c - Eva: no undefined behaviour in the exact arithmetic of sampler_knorm.c, from the first level of digits to
 * the last, for every scale, fineness, strips, digits and places where the search may begin. The loop over levels is
 * unrolled (an annotation in the source), so that the sizes of all whole numbers are known. */
#include "widths.h"
#include "noise.h"

#include "mathematics.h"

#include "dp/noise/big.c"
#include "dp/noise/lazy.c"
#include "dp/noise/sampler_knorm.c"

tacet_status tacet__fail(tacet_error *err, tacet_status status, const char *format, ...) {
    (void)err;
    (void)format;
    return status;
}

enum { NORMALS = 2 };                    /* in G: one, or two */
static const double GUESS_MOST = 0x1p24; /* what 2^53 is at the full width */

static lazy any_normal(tacet_noise *noise) {
    lazy x = {0};
    x.n = Frama_C_unsigned_long_interval(0, NORMAL_END * STRIPS_PER_UNIT - 1);
    x.head = Frama_C_unsigned_long_interval(0, LAZY_HEAD_MASK);
    /*@ loop unroll LAZY_MORE; */
    for (unsigned i = 0; i < LAZY_MORE; i++) {
        x.more[i] = tacet__noise_next(noise);
    }
    x.have = (unsigned)Frama_C_interval(0, LAZY_MORE);
    x.negative = Frama_C_interval(0, 1) != 0;
    return x;
}

static void with(size_t normals) {
    tacet_noise noise = {false};
    lazy g[NORMALS] = {any_normal(&noise), any_normal(&noise)};
    lazy z = any_normal(&noise);
    knorm k = {0};
    k.g.count = normals;
    k.g.full = g;
    k.level = 0;
    k.fineness = Frama_C_interval(LAZY_MIN_FINENESS, KNORM_MAX_FINENESS - 1);
    const uint64_t m = Frama_C_unsigned_long_interval(UINT64_C(1) << (SCALE_BITS - 1), (UINT64_C(1) << SCALE_BITS) - 1);
    tacet__big_multiply(k.scale, &m, 1, &m, 1);
    sum_squares(&noise, &k);
    (void)nearest(&noise, &k, &z, Frama_C_double_interval(0.0, GUESS_MOST));
}

void main(void) {
    with(1);
    with(NORMALS);
}
