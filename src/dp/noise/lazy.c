/* SPDX-License-Identifier: Apache-2.0 */
/* lazy.c - digits on demand, and the exact rounding to a grid.
 * Ring: gate. Proof: src/dp/noise/README.md, "Rounding". Cost: O(1), no heap. */
#include "dp/noise/lazy.h"

#include <math.h>
#include <string.h>

#include "core/fail.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

int tacet__grid_exponent(double scale, unsigned bits) {
    int exponent = 0;
    (void)frexp(scale, &exponent); /* scale = f 2^exponent, 1/2 <= f < 1 */
    exponent -= 1 + (int)bits;
    return exponent < -1074 ? -1074 : exponent > 970 ? 970 : exponent;
}

tacet_status tacet__lazy_scale(lazy_scale *out, double scale, int grid_exponent, unsigned unit_log2, tacet_error *err) {
    if (!(scale > 0 && scale <= 0x1.fffffffffffffp1023)) {
        return tacet__fail(err, TACET_INVALID, "a noise scale must be finite and > 0");
    }
    if (grid_exponent < -1074 || grid_exponent > 970) {
        return tacet__fail(err, TACET_INVALID, "the grid 2^%d is outside 2^-1074 to 2^970", grid_exponent);
    }
    int exponent = 0;
    const double fraction = frexp(scale, &exponent);
    const int fineness = exponent - 1 - grid_exponent; /* floor(log2(scale / grid)) */
    if (fineness > LAZY_MAX_FINENESS) {
        return tacet__fail(err, TACET_INVALID, "the grid 2^%d is too fine: at most 2^-%d of the noise scale",
                           grid_exponent, LAZY_MAX_FINENESS + 1);
    }
    if (fineness < LAZY_MIN_FINENESS) {
        return tacet__fail(err, TACET_INVALID, "the grid 2^%d is too coarse: more than 2^%d times the noise scale",
                           grid_exponent, -LAZY_MIN_FINENESS);
    }
    out->m = (uint64_t)ldexp(fraction, SCALE_BITS);
    /* value / grid = m 2^(fineness - 52) (n 2^50 + head + …) 2^-50 / unit; 62 <= shift <= 118. */
    out->shift = (unsigned)(LAZY_HEAD_BITS + (int)unit_log2 + SCALE_BITS - 1 - fineness);
    out->grid = ldexp(1, grid_exponent);
    return TACET_OK;
}

unsigned tacet__lazy_start(lazy *x, uint64_t n, uint64_t word) {
    x->n = n;
    x->head = word & LAZY_HEAD_MASK;
    x->have = 0;
    return (unsigned)(word >> LAZY_HEAD_BITS);
}

uint64_t tacet__lazy_more(tacet_noise *noise, lazy *x, unsigned i) {
    /*@ loop unroll LAZY_MORE + 1; */
    while (x->have <= i) {
        x->more[x->have++] = tacet__noise_next(noise);
    }
    return x->more[i];
}

bool tacet__lazy_coin(tacet_noise *noise, lazy *x) {
    const uint64_t head = tacet__noise_next(noise) & LAZY_HEAD_MASK;
    if (head != x->head) {
        return head < x->head;
    }
    for (unsigned i = 0; i < LAZY_MORE; i++) {
        const uint64_t digit = tacet__lazy_more(noise, x, i);
        const uint64_t word = tacet__noise_next(noise);
        if (word != digit) {
            return word < digit;
        }
    }
    noise->exhausted = true;
    return false;
}

double tacet__lazy_round(tacet_noise *noise, lazy *x, const lazy_scale *scale) {
    const u128 half = (u128)1 << (scale->shift - 1);
    const u128 low = (u128)scale->m * (((u128)x->n << LAZY_HEAD_BITS) + x->head) + half;
    uint64_t q = (uint64_t)(low >> scale->shift);
    const u128 room = (((u128)q + 1) << scale->shift) - low; /* to the next multiple's half-open cell */
    if (room < scale->m) {
        /* The cell ends inside the known interval, at the fraction room/m of it; are the digits to come below that? */
        /* As in tacet__bernoulli: p/m of the interval is left, compared digit by digit until one tells. */
        uint64_t p = (uint64_t)room;
        for (unsigned i = 0;; i++) {
            const uint64_t digit = i < x->have ? x->more[i] : tacet__noise_next(noise);
            const u128 at = (u128)digit * scale->m;
            const u128 bound = (u128)p << WORD_BITS;
            if (at >= bound) {
                q++;
                break;
            }
            if (bound - at >= scale->m) {
                break;
            }
            p = (uint64_t)(bound - at);
        }
    }
    const double magnitude = (double)q * scale->grid;
    return (x->negative ? -magnitude : magnitude) + 0.0; /* a zero has no sign to tell */
}

tacet_status tacet__draw_done(const tacet_noise *noise, double *out, size_t count, tacet_error *err) {
    if (noise->exhausted) {
        memset(out, 0, count * sizeof *out);
        return tacet__fail(err, TACET_NUMERIC, "a draw needed more digits than there is room for");
    }
    return TACET_OK;
}
