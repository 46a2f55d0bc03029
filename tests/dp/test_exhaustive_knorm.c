/* SPDX-License-Identifier: Apache-2.0 */
/* test_exhaustive_knorm.c - K-norm noise: every decision about a coordinate's cell against other arithmetic, for all
 * first digits of the three normals that one coordinate is made of, in words of eight bits. Whatever the digits not
 * drawn are, theta |G| |z| must round to the multiple that was returned; so that multiple has the exact probability. */
#define TACET__WIDTHS
#include <stdint.h>
__extension__ typedef unsigned __int128 u128;
enum {
    WORD_BITS = 8,
    LAZY_HEAD_BITS = 2,
    LAZY_MORE = 7,
    SCALE_BITS = 4,
    LAZY_MAX_FINENESS = 4,
    LAZY_MIN_FINENESS = -4,
    KNORM_MAX_FINENESS = 3,
    KNORM_MAX_COUNT = 4,
    NORMAL_END = 2,
    EXPONENTIAL_END = 16,
    STRIPS_LOG2 = 1,
    COLUMNS_LOG2 = 2,
    FRACTION_LIMBS = 8,
    EXTRA_LIMBS = 6,
    SLACK_BITS = 7
};
#include "dp/noise/wide.h"

#include <math.h>

#include "support/test.h"

/* In the place of dp/noise/noise_state.h: further digits from a counter, which reaches every word soon. */
#define TACET_SRC_DP_NOISE_NOISE_STATE_H
#include <tacet/dp/noise.h>
struct tacet_noise {
    uint64_t drawn;
    bool exhausted;
};
static inline uint64_t tacet__noise_next(tacet_noise *noise) {
    return (noise->drawn++ * UINT64_C(0x9e3779b97f4a7c15) >> 56) & WORD_MASK;
}

/* NOLINTBEGIN(bugprone-suspicious-include): the samplers themselves, in the widths above */
#include "dp/noise/big.c"
#include "dp/noise/lazy.c"
#include "dp/noise/sampler_knorm.c"
/* NOLINTEND(bugprone-suspicious-include) */

/* The digits are this test's. */
tacet_status tacet__draft_init(draft *d, size_t capacity, tacet_error *err) {
    (void)d;
    (void)capacity;
    (void)err;
    return TACET_INVALID;
}
void tacet__draft_clear(draft *d, size_t capacity) {
    (void)d;
    (void)capacity;
}
void tacet__draft_draw(tacet_noise *noise, draft *d, size_t count) {
    (void)noise;
    (void)d;
    (void)count;
}
void tacet__draft_expand(tacet_noise *noise, draft *d) {
    (void)noise;
    (void)d;
}

/* floor(|x| 2^(VALUE_BITS + WORD_BITS level)). */
static u128 known(const lazy *x, unsigned level) {
    u128 value = ((u128)x->n << LAZY_HEAD_BITS) + x->head;
    for (unsigned i = 0; i < level; i++) {
        value = (value << WORD_BITS) + x->more[i];
    }
    return value;
}

/* m^2 |G|^2 z^2 from the known digits, each with `more` added to it. */
static u128 squared(const knorm *k, uint64_t m, const lazy *z, u128 more) {
    u128 sum = 0;
    for (size_t i = 0; i < k->g.count; i++) {
        const u128 x = known(&k->g.full[i], k->level) + more;
        sum += x * x;
    }
    const u128 x = known(z, k->level) + more;
    return m * m * sum * x * x;
}

static void digits(lazy *x, unsigned number) {
    *x = (lazy){.n = number / 4, .head = number % 4};
}

/* The known digits leave the value in the cell of q: at or above q - 1/2, and not above q + 1/2. */
static void assert_in_cell(const knorm *k, uint64_t m, const lazy *z, uint64_t q) {
    const int shift = 4 * (VALUE_BITS + WORD_BITS * (int)k->level) + 2 * (SCALE_BITS - 1) - 2 * k->fineness - 2;
    const u128 upper = (u128)((2 * q + 1) * (2 * q + 1)) << shift;
    assert_true(squared(k, m, z, 1) <= upper);
    if (q > 0) {
        assert_true(squared(k, m, z, 0) >= (u128)((2 * q - 1) * (2 * q - 1)) << shift);
    }
}

TEST(a_coordinate_is_in_the_cell_that_was_decided) {
    size_t by_level[LAZY_MORE + 1] = {0};
    tacet_noise noise = {0};
    for (uint64_t m = 8; m < 16; m += 3) {
        for (int fineness = -3; fineness < 3; fineness++) {
            for (unsigned all = 0; all < 16 * 16 * 16; all++) {
                lazy g[2];
                lazy z;
                digits(&g[0], all % 16);
                digits(&g[1], all / 16 % 16);
                digits(&z, all / 256);
                knorm k = {.g = {.full = g, .count = 2}, .count = 1, .fineness = fineness};
                tacet__big_multiply(k.scale, &m, 1, &m, 1);
                sum_squares(&noise, &k);
                const double guess =
                    ldexp((double)m, fineness + 1 - SCALE_BITS) * hypot(roughly(&g[0]), roughly(&g[1])) * roughly(&z);
                const double q = nearest(&noise, &k, &z, all % 7 == 0 ? 0 : guess);
                assert_false(noise.exhausted);
                by_level[k.level]++;
                if (k.level <= 2) { /* beyond, the products have more than 128 bits; three in a million get there */
                    assert_in_cell(&k, m, &z, (uint64_t)q);
                }
            }
        }
    }
    assert_true(by_level[0] > 1000 && by_level[1] > 10000); /* 73,728 in all */
    assert_true(by_level[3] + by_level[4] + by_level[5] + by_level[6] + by_level[7] < 100);
}
