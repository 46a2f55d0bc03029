/* sampler_knorm.c - the exact rounding of a real vector with density proportional to exp(-|v|_2 / theta).
 * Ring: gate. Proof: src/dp/noise/README.md, "K-norm". Source of the mechanism: Hardt and Talwar, "On the geometry of
 * differential privacy" (2010). Differs: instead of a Gamma radius and a direction, the same law as a scale mixture of
 * normals, v = theta |G| Z with G in R^(count+1) and Z in R^count standard normal: normals can be drawn digit by digit,
 * and which cell of the grid a coordinate lies in is then a comparison of whole numbers, squared so that the root
 * disappears. Digits are added until every comparison is decided.
 * Cost: 2 count + 1 normals and some 500 ns a coordinate; allocates (count + 1) lazy reals, once for all rows. */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "dp/noise/big.h"
#include "dp/noise/lazy.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

enum {
    REAL_LIMBS = LAZY_MORE + 2,                   /* 69 bits and LAZY_MORE words */
    SQUARE_LIMBS = 2 * REAL_LIMBS,                /* one square */
    SUM_LIMBS = SQUARE_LIMBS + 1,                 /* a sum of 2^20 of them */
    SCALED_LIMBS = SUM_LIMBS + 2,                 /* times m^2 */
    SIDE_LIMBS = SCALED_LIMBS + SQUARE_LIMBS + 3, /* m^2 |G|^2 z^2, or the boundary shifted into place */
    VALUE_BITS = LAZY_HEAD_BITS + STRIPS_LOG2     /* a real is X / 2^(VALUE_BITS + WORD_BITS level), X whole */
};

typedef struct knorm {
    lazy *g;
    size_t count; /* of g */
    unsigned level;
    uint64_t low[SCALED_LIMBS], high[SCALED_LIMBS]; /* bounds of m^2 |G|^2 at this level: scaled_limbs() of them */
    uint64_t scale[2];                              /* m^2 */
    int fineness;                                   /* theta / grid = m 2^(fineness + 1 - SCALE_BITS) */
} knorm;

static size_t scaled_limbs(const knorm *k) {
    return 2 * (size_t)k->level + 7;
}

static double roughly(const lazy *x) {
    return ((double)x->n + ldexp((double)x->head, -LAZY_HEAD_BITS)) / STRIPS_PER_UNIT;
}

/* X = floor(|x| 2^(VALUE_BITS + WORD_BITS level)), in level + 2 limbs. */
static void whole_digits(tacet_noise *noise, uint64_t *out, lazy *x, unsigned level) {
    out[level + 1] = x->n >> (WORD_BITS - LAZY_HEAD_BITS);
    out[level] = tacet__word_low((u128)x->n << LAZY_HEAD_BITS) | x->head;
    for (unsigned i = 0; i < level; i++) {
        out[level - 1 - i] = tacet__lazy_more(noise, x, i);
    }
}

/* low = X^2 and high = (X + 1)^2. */
static void squares(uint64_t *low, uint64_t *high, uint64_t *x, size_t limbs) {
    const uint64_t one = 1;
    tacet__big_multiply(low, x, limbs, x, limbs);
    (void)tacet__big_add(x, limbs, &one, 1);
    tacet__big_multiply(high, x, limbs, x, limbs);
}

static void sum_squares(tacet_noise *noise, knorm *k) {
    const size_t limbs = k->level + 2;
    uint64_t x[REAL_LIMBS];
    uint64_t low[SQUARE_LIMBS];
    uint64_t high[SQUARE_LIMBS];
    uint64_t low_sum[SUM_LIMBS] = {0};
    uint64_t high_sum[SUM_LIMBS] = {0};
    for (size_t i = 0; i < k->count; i++) {
        whole_digits(noise, x, &k->g[i], k->level);
        squares(low, high, x, limbs);
        (void)tacet__big_add(low_sum, 2 * limbs + 1, low, 2 * limbs);
        (void)tacet__big_add(high_sum, 2 * limbs + 1, high, 2 * limbs);
    }
    tacet__big_multiply(k->low, low_sum, 2 * limbs + 1, k->scale, 2);
    tacet__big_multiply(k->high, high_sum, 2 * limbs + 1, k->scale, 2);
    sodium_memzero(x, sizeof x);
    sodium_memzero(low, sizeof low);
    sodium_memzero(high, sizeof high);
    sodium_memzero(low_sum, sizeof low_sum);
    sodium_memzero(high_sum, sizeof high_sum);
}

/* out = odd^2 2^shift. */
static void boundary(uint64_t *out, uint64_t odd, unsigned shift) {
    uint64_t square[2];
    uint64_t moved[3] = {0};
    tacet__big_multiply(square, &odd, 1, &odd, 1);
    memcpy(moved, square, sizeof square);
    moved[2] = tacet__big_scale(moved, 2, UINT64_C(1) << (shift % WORD_BITS), 0);
    memset(out, 0, SIDE_LIMBS * sizeof *out);
    memcpy(out + shift / WORD_BITS, moved, sizeof moved);
}

/* Where theta |G| |z| / grid lies against odd/2: -1 below, 1 at or above, 0 not decided by the digits of this level. */
static int side(const knorm *k, const uint64_t *z_low, const uint64_t *z_high, uint64_t odd) {
    const size_t z_limbs = 2 * (size_t)k->level + 4;
    const size_t limbs = scaled_limbs(k) + z_limbs + 3; /* three to spare: the boundary may be the longer one */
    uint64_t bound[SIDE_LIMBS];
    uint64_t product[SIDE_LIMBS] = {0};
    /* m^2 2^(2 fineness + 2 - 2 SCALE_BITS) S X^2 2^-4(VALUE_BITS + WORD_BITS level) against odd^2 / 4. */
    boundary(bound, odd, (unsigned)(4 * (VALUE_BITS + WORD_BITS * (int)k->level) + 2 * (SCALE_BITS - 1) - 2 * k->fineness - 2));
    tacet__big_multiply(product, k->low, scaled_limbs(k), z_low, z_limbs);
    if (tacet__big_compare(product, bound, limbs) >= 0) {
        return 1;
    }
    tacet__big_multiply(product, k->high, scaled_limbs(k), z_high, z_limbs);
    return tacet__big_compare(product, bound, limbs) <= 0 ? -1 : 0;
}

/* The nearest whole number to theta |G| |z| / grid, starting the search at `guess`. */
static double nearest(tacet_noise *noise, knorm *k, lazy *z, double guess) {
    uint64_t x[REAL_LIMBS];
    uint64_t low[SQUARE_LIMBS];
    uint64_t high[SQUARE_LIMBS];
    uint64_t q = (uint64_t)(guess + 0.5);
    for (;;) {
        whole_digits(noise, x, z, k->level);
        squares(low, high, x, k->level + 2);
        int above = 0;
        int below = 0;
        while ((above = side(k, low, high, 2 * q + 1)) > 0) {
            q++;
        }
        while (q > 0 && (below = side(k, low, high, 2 * q - 1)) < 0) {
            q--;
            above = -1; /* what is below a smaller boundary is below this one */
        }
        if (above < 0 && (q == 0 || below > 0)) {
            return (double)q;
        }
        if (k->level == LAZY_MORE) {
            noise->exhausted = true;
            return 0;
        }
        k->level++;
        sum_squares(noise, k);
    }
}

static void draw(tacet_noise *noise, knorm *k, double *out, size_t count, double ratio, double grid) {
    double rough = 0;
    for (size_t i = 0; i < k->count && tacet__lazy_normal(noise, &k->g[i]); i++) {
        rough += roughly(&k->g[i]) * roughly(&k->g[i]);
    }
    sum_squares(noise, k);
    for (size_t i = 0; i < count && !noise->exhausted; i++) {
        lazy z;
        if (tacet__lazy_normal(noise, &z)) {
            /* Below 2^30 x 64 sqrt(2^20 + 1) x 64 < 2^53: a whole number that a double holds. */
            const double magnitude = nearest(noise, k, &z, ratio * sqrt(rough) * roughly(&z)) * grid;
            out[i] = (z.negative ? -magnitude : magnitude) + 0.0;
        }
        sodium_memzero(&z, sizeof z);
    }
}

tacet_status tacet__draw_knorm_rows(tacet_noise *noise, double *out, size_t rows, size_t count, double theta,
                                    int grid_exponent, tacet_error *err) {
    lazy_scale scale;
    const tacet_status status = tacet__lazy_scale(&scale, theta, grid_exponent, 0, err);
    if (status != TACET_OK) {
        return status;
    }
    knorm k = {.count = count + 1, .fineness = LAZY_HEAD_BITS + SCALE_BITS - 1 - (int)scale.shift};
    if (count == 0 || count > KNORM_MAX_COUNT) {
        return tacet__fail(err, TACET_INVALID, "K-norm noise has 1 to 2^20 coordinates, not %zu", count);
    }
    if (k.fineness >= KNORM_MAX_FINENESS) {
        return tacet__fail(err, TACET_INVALID, "the grid 2^%d is too fine: at most 2^-%d of the noise scale",
                           grid_exponent, KNORM_MAX_FINENESS);
    }
    k.g = TACET__ZALLOC(lazy, k.count);
    if (k.g == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for K-norm noise in %zu coordinates", count);
    }
    tacet__big_multiply(k.scale, &scale.m, 1, &scale.m, 1);
    noise->exhausted = false;
    for (size_t r = 0; r < rows && !noise->exhausted; r++) {
        k.level = 0;
        draw(noise, &k, out + r * count, count, theta / scale.grid, scale.grid);
    }
    sodium_memzero(k.g, k.count * sizeof *k.g);
    free(k.g);
    sodium_memzero(&k, sizeof k);
    return tacet__draw_done(noise, out, rows * count, err);
}

tacet_status tacet__draw_knorm(tacet_noise *noise, double *out, size_t count, double theta, int grid_exponent,
                               tacet_error *err) {
    return tacet__draw_knorm_rows(noise, out, 1, count, theta, grid_exponent, err);
}
