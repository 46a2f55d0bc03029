/* SPDX-License-Identifier: Apache-2.0 */
/* sampler_gaussian.c - the exact rounded Gaussian.
 * Ring: gate. Proof: src/dp/noise/README.md. Source: Karney, "Sampling exactly from the normal distribution" (2016).
 * Differs: the half line is cut into strips of 1/64 instead of 1 and the strip comes from an alias table (Walker 1977)
 * of whole numbers, so that 98 of 100 draws are two words of key stream, a comparison and a multiplication. The table
 * holds the floors of irrational weights; the fractions that the floors drop are an item of their own, decided by
 * interval bounds that are refined until they decide (one draw in 2^55). The tail ends where a draw fails, at 64 sigma.
 * Cost: 2.03 words a draw on average; no heap. */
#include "dp/noise/big.h"
#include "core/fail.h"
#include "dp/noise/gaussian_table.h"
#include "dp/noise/lazy.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

enum {
    COLUMN_BITS = WORD_BITS - COLUMNS_LOG2,
    INVERSE_LOG2 = 2 * STRIPS_LOG2 + 1,
    INVERSE = 1 << INVERSE_LOG2, /* 8192: strip j weighs exp(-j^2 / 8192) */
    BLOCK = STRIPS_PER_UNIT
};

/* True with probability u. */
static bool place_coin(tacet_noise *noise, strip_place *u) {
    return u->digits != NULL ? tacet__lazy_coin(noise, u->digits) : tacet__bernoulli(noise, u->p, u->q);
}

/* True with probability exp(-u (2n + u) / 8192), the exponent being below 1 as n < 4096: von Neumann's chain, the i-th
 * coin of probability u (2n + u) / (8192 i) thrown as a product of three. When `first` the rational factor of the first
 * coin has succeeded already. */
static bool strip_coin(tacet_noise *noise, uint64_t n, strip_place *u, bool first) {
    const uint64_t wide = 2 * n + 1;
    uint64_t i = 1;
    for (;; i++) {
        if (!(first && i == 1) && !tacet__bernoulli(noise, wide, INVERSE * i)) {
            break;
        }
        if (!place_coin(noise, u)) {
            break;
        }
        if (tacet__noise_below(noise, wide) == wide - 1 && !place_coin(noise, u)) {
            break;
        }
    }
    return i % 2 == 1;
}

bool tacet__strip_accept(tacet_noise *noise, uint64_t n, strip_place *u) {
    return strip_coin(noise, n, u, false);
}

/* True with probability 2/e: the chain for exp(-1) from its third coin on. */
static bool two_over_e(tacet_noise *noise) {
    uint64_t k = 3;
    while (tacet__bernoulli(noise, 1, k)) {
        k++;
    }
    return k % 2 == 1;
}

/* A strip of the tail: 254 + m in the m-th place has weight exp(-(508 m + m^2) / 8192) of the tail's first. Blocks of
 * 64 places are proposed with probability 2^-(t+1). False: rejected (or beyond the largest value: latched). */
static bool tail_strip(tacet_noise *noise, uint64_t *n) {
    uint64_t t = 0;
    uint64_t word = tacet__noise_next(noise);
    const uint64_t place = word % BLOCK;
    for (unsigned bits = STRIPS_LOG2;; t++) {
        if (((word >> bits) & 1) != 0) {
            break;
        }
        if (!two_over_e(noise)) {
            return false;
        }
        if (++bits == WORD_BITS) {
            word = tacet__noise_next(noise);
            bits = 0;
        }
    }
    const uint64_t m = BLOCK * t + place;
    if (m >= (uint64_t)NORMAL_END * STRIPS_PER_UNIT - GAUSSIAN_TAIL) {
        noise->exhausted = true;
        return false;
    }
    *n = GAUSSIAN_TAIL + m;
    return tacet__bernoulli_exp(noise, m * (2 * GAUSSIAN_TAIL + m) - INVERSE * t, INVERSE);
}

/* One try: a strip n with probability proportional to exp(-n^2 / 8192), given that it returns true. */
static bool rare_strip(tacet_noise *noise, uint64_t *n) {
    const uint64_t unit = tacet__noise_below(noise, GAUSSIAN_RARE_WEIGHT);
    if (unit >= GAUSSIAN_STRIPS + GAUSSIAN_SPAN) {
        return false; /* what is left over of 2^64 */
    }
    const unsigned strip = unit < GAUSSIAN_STRIPS ? (unsigned)unit : GAUSSIAN_TAIL;
    if (!tacet__below_fraction(noise, GAUSSIAN_C, GAUSSIAN_FLOOR[strip], strip * strip, INVERSE)) {
        return false;
    }
    *n = strip;
    return strip < GAUSSIAN_TAIL || tail_strip(noise, n);
}

static unsigned table_item(uint64_t word) {
    const unsigned column = (unsigned)(word >> COLUMN_BITS);
    const gaussian_column *entry = &GAUSSIAN_COLUMNS[column];
    return (word & ((UINT64_C(1) << COLUMN_BITS) - 1)) < entry->keep ? column : entry->other;
}

bool tacet__normal_strip(tacet_noise *noise, uint64_t *n) {
    while (!noise->exhausted) {
        const unsigned item = table_item(tacet__noise_next(noise));
        *n = item;
        if (item < GAUSSIAN_STRIPS || (item == GAUSSIAN_TAIL ? tail_strip(noise, n) : rare_strip(noise, n))) {
            return true;
        }
    }
    return false;
}

/* The upper 14 bits of the word that begins u are a sign and, for the strips of the table, the rational factor of the
 * first coin: 13 bits below 2n + 1 have probability (2n + 1) / 8192. */
static bool accept(tacet_noise *noise, lazy *x, unsigned upper) {
    strip_place u = {.digits = x};
    x->negative = (upper >> INVERSE_LOG2) != 0;
    if (x->n < GAUSSIAN_STRIPS) {
        return (upper & (INVERSE - 1)) > 2 * x->n || strip_coin(noise, x->n, &u, true);
    }
    return strip_coin(noise, x->n, &u, false);
}

/* One try from two words of key stream; the tail and the fractions take more. */
static bool try_normal(tacet_noise *noise, lazy *x, unsigned item, uint64_t second) {
    uint64_t n = item;
    if (item >= GAUSSIAN_STRIPS && !(item == GAUSSIAN_TAIL ? tail_strip(noise, &n) : rare_strip(noise, &n))) {
        return false;
    }
    return accept(noise, x, tacet__lazy_start(x, n, second));
}

bool tacet__lazy_normal(tacet_noise *noise, lazy *x) {
    bool found = false;
    while (!found && !noise->exhausted) {
        const unsigned item = table_item(tacet__noise_next(noise));
        found = try_normal(noise, x, item, tacet__noise_next(noise));
    }
    return !noise->exhausted;
}

bool tacet__lazy_normal_from(tacet_noise *noise, lazy *x, uint64_t first, uint64_t second) {
    return (try_normal(noise, x, table_item(first), second) && !noise->exhausted) || tacet__lazy_normal(noise, x);
}

/* What the first two words did not decide: `item` and `second` are theirs. */
static double undecided(tacet_noise *noise, const lazy_scale *scale, unsigned item, uint64_t second) {
    lazy x;
    const bool found = try_normal(noise, &x, item, second) || tacet__lazy_normal(noise, &x);
    return found && !noise->exhausted ? tacet__lazy_round(noise, &x, scale) : 0;
}

tacet_status tacet__draw_gaussian(tacet_noise *noise, double *out, size_t count, double sigma, int grid_exponent,
                                  tacet_error *err) {
    lazy_scale scale;
    TACET_OR_RETURN(tacet__lazy_scale(&scale, sigma, grid_exponent, STRIPS_LOG2, err));
    const u128 half = (u128)1 << (scale.shift - 1);
    noise->exhausted = false;
    for (size_t i = 0; i < count; i++) {
        const unsigned item = table_item(tacet__noise_next(noise));
        const uint64_t second = tacet__noise_next(noise);
        const unsigned coin = (unsigned)(second >> LAZY_HEAD_BITS) & (INVERSE - 1);
        /* The same as try_normal() and tacet__lazy_round() where both are decided at once. */
        const uint64_t known = ((uint64_t)item << LAZY_HEAD_BITS) + (second & LAZY_HEAD_MASK);
        const u128 low = (u128)scale.m * known + half;
        const uint64_t q = (uint64_t)(low >> scale.shift);
        if (coin > 2 * item && item < GAUSSIAN_STRIPS && (uint64_t)((low + scale.m - 1) >> scale.shift) == q) {
            const double magnitude = (double)q * scale.grid;
            out[i] = ((second >> (WORD_BITS - 1)) != 0 ? -magnitude : magnitude) + 0.0;
        } else {
            out[i] = undecided(noise, &scale, item, second);
        }
    }
    return tacet__draw_done(noise, out, count, err);
}
