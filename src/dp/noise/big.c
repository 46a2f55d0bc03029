/* SPDX-License-Identifier: Apache-2.0 */
/* big.c - multiple-precision whole numbers, and the one comparison with an exponential that no coin can replace.
 * Ring: gate. Proof of the bounds: src/dp/noise/README.md, "The fractions". Cost: microseconds, in one draw of 2^55. */
#include "dp/noise/big.h"

#include <string.h>

#include "dp/noise/noise_state.h"
#include "dp/noise/wide.h"

uint64_t tacet__big_scale(uint64_t *x, size_t limbs, uint64_t factor, uint64_t add) {
    uint64_t carry = add;
    for (size_t i = 0; i < limbs; i++) {
        const u128 t = (u128)x[i] * factor + carry;
        x[i] = tacet__word_low(t);
        carry = (uint64_t)(t >> WORD_BITS);
    }
    return carry;
}

void tacet__big_divide(uint64_t *x, size_t limbs, uint64_t divisor) {
    uint64_t rest = 0;
    for (size_t i = limbs; i-- > 0;) {
        const u128 t = ((u128)rest << WORD_BITS) | x[i];
        x[i] = (uint64_t)(t / divisor);
        rest = (uint64_t)(t % divisor);
    }
}

uint64_t tacet__big_add(uint64_t *x, size_t limbs, const uint64_t *y, size_t y_limbs) {
    uint64_t carry = 0;
    for (size_t i = 0; i < limbs; i++) {
        const u128 t = (u128)x[i] + (i < y_limbs ? y[i] : 0) + carry;
        x[i] = tacet__word_low(t);
        carry = (uint64_t)(t >> WORD_BITS);
    }
    return carry;
}

void tacet__big_multiply(uint64_t *out, const uint64_t *x, size_t x_limbs, const uint64_t *y, size_t y_limbs) {
    memset(out, 0, (x_limbs + y_limbs) * sizeof *out);
    for (size_t i = 0; i < x_limbs; i++) {
        uint64_t carry = 0;
        for (size_t j = 0; j < y_limbs; j++) {
            const u128 t = (u128)x[i] * y[j] + out[i + j] + carry;
            out[i + j] = tacet__word_low(t);
            carry = (uint64_t)(t >> WORD_BITS);
        }
        out[i + y_limbs] = carry;
    }
}

int tacet__big_compare(const uint64_t *x, const uint64_t *y, size_t limbs) {
    for (size_t i = limbs; i-- > 0;) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

/* low <= exp(a/b) 2^(WORD_BITS f) <= high, in f + 1 limbs, by the Taylor series with every term rounded down. */
static void exp_bounds(uint64_t *low, uint64_t *high, size_t f, uint64_t a, uint64_t b) {
    uint64_t term[FRACTION_LIMBS + EXTRA_LIMBS + 1] = {0};
    static const uint64_t zero[FRACTION_LIMBS + EXTRA_LIMBS + 1];
    uint64_t slack[SLACK_BITS / WORD_BITS + 1] = {0};
    /* Every term is rounded down; 2^SLACK_BITS units of the last place cover what all of them lack (README.md). */
    slack[SLACK_BITS / WORD_BITS] = UINT64_C(1) << (SLACK_BITS % WORD_BITS);
    term[f] = 1;
    memset(low, 0, (f + 1) * sizeof *low);
    for (uint64_t i = 1; tacet__big_compare(term, zero, f + 1) != 0; i++) {
        //@ admit i < 0x100000;
        (void)tacet__big_add(low, f + 1, term, f + 1);
        (void)tacet__big_scale(term, f + 1, a, 0);
        tacet__big_divide(term, f + 1, b * i);
    }
    memcpy(high, low, (f + 1) * sizeof *high);
    (void)tacet__big_add(high, f + 1, slack, SLACK_BITS / WORD_BITS + 1);
}

bool tacet__below_fraction(tacet_noise *noise, uint64_t c, uint64_t whole, uint64_t a, uint64_t b) {
    /* The uniform real U has f digits, the first one last; is (whole + U) exp(a/b) < c? */
    uint64_t digits[FRACTION_LIMBS + 1];
    uint64_t above[FRACTION_LIMBS + 1];
    uint64_t low[FRACTION_LIMBS + EXTRA_LIMBS + 1];
    uint64_t high[FRACTION_LIMBS + EXTRA_LIMBS + 1];
    uint64_t product[2 * FRACTION_LIMBS + EXTRA_LIMBS + 2];
    uint64_t bound[2 * FRACTION_LIMBS + EXTRA_LIMBS + 2];
    const uint64_t one = 1;
    digits[0] = whole;
    for (size_t f = 1; f <= FRACTION_LIMBS; f++) {
        const size_t limbs = 2 * f + EXTRA_LIMBS + 2;
        memmove(digits + 1, digits, f * sizeof *digits);
        digits[0] = tacet__noise_next(noise);
        exp_bounds(low, high, f + EXTRA_LIMBS, a, b);
        memset(bound, 0, sizeof bound);
        bound[limbs - 2] = c;
        tacet__big_multiply(product, digits, f + 1, low, f + EXTRA_LIMBS + 1);
        if (tacet__big_compare(product, bound, limbs) >= 0) {
            return false;
        }
        memcpy(above, digits, (f + 1) * sizeof *above);
        (void)tacet__big_add(above, f + 1, &one, 1);
        tacet__big_multiply(product, above, f + 1, high, f + EXTRA_LIMBS + 1);
        if (tacet__big_compare(product, bound, limbs) <= 0) {
            return true;
        }
    }
    noise->exhausted = true;
    return false;
}
