/* SPDX-License-Identifier: Apache-2.0 */
/* sampler_knorm.c - the exact rounding of a real vector with density proportional to exp(-|v|_2 / theta).
 * Ring: gate. Proof: src/dp/noise/README.md, "K-norm". Source of the mechanism: Hardt and Talwar, "On the geometry of
 * differential privacy" (2010). Differs: instead of a Gamma radius and a direction, the same law as a scale mixture of
 * normals, v = theta |G| Z with G in R^(count+1) and Z in R^count standard normal: normals can be drawn digit by digit,
 * and which cell of the grid a coordinate lies in is then a comparison of whole numbers, squared so that the root
 * disappears. A floating-point filter with a proven error bound takes the grid point where one word of each normal
 * decides it (draft.h), as geometric predicates do; where it does not, digits are added until a comparison of whole
 * numbers is decided.
 * Cost: 2 count + 1 words and 35 to 50 ns a coordinate; allocates count + 1 normals and a block, once for all rows. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "core/fail.h"
#include "dp/noise/big.h"
#include "dp/noise/draft.h"
#include "dp/noise/lazy.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

enum {
    REAL_LIMBS = LAZY_MORE + 2,                   /* 69 bits and LAZY_MORE words */
    SQUARE_LIMBS = 2 * REAL_LIMBS,                /* one square */
    SUM_LIMBS = SQUARE_LIMBS + 1,                 /* a sum of 2^20 of them */
    SCALED_LIMBS = SUM_LIMBS + 2,                 /* times m^2 */
    SIDE_LIMBS = SCALED_LIMBS + SQUARE_LIMBS + 3, /* m^2 |G|^2 z^2, or the boundary shifted into place */
    VALUE_BITS = LAZY_HEAD_BITS + STRIPS_LOG2,    /* a real is X / 2^(VALUE_BITS + WORD_BITS level), X whole */
    ROW_BLOCK = 256                               /* coordinates drawn at a time */
};
static const double SLACK = 1.001;    /* covers the rounding of the error bound itself */
static const double DECIDED = 0.4999; /* from the nearest whole number, error included: below 1/2 after rounding */

typedef struct knorm {
    draft g, z;                   /* count + 1 of them, and a block of the count coordinates */
    size_t count;                 /* of coordinates */
    double grid, ratio, radius;   /* ratio = theta / grid, radius = |G| from rough values */
    int bits;                     /* digits of a place that the filter knows: DRAFT_HEAD_BITS but in tests */
    double error, root, rounding; /* of a rough value; sqrt(count + 1); of the arithmetic, relative */
    double flat, slope;           /* |a - theta |G| z / grid| <= flat + slope |z| */
    double guess;                 /* ratio |G| from 56 digits, where exact arithmetic begins to look */
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
    for (size_t i = 0; i < k->g.count; i++) {
        whole_digits(noise, x, &k->g.full[i], k->level);
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
    boundary(bound, odd,
             (unsigned)(4 * (VALUE_BITS + WORD_BITS * (int)k->level) + 2 * (SCALE_BITS - 1) - 2 * k->fineness - 2));
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
    /*@ loop unroll LAZY_MORE + 1; */
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

/* Exact arithmetic for one coordinate of the block; the first of a row makes all digits of G known to 56 bits. */
static double exactly(tacet_noise *noise, knorm *k, size_t i) {
    const bool first = !k->g.expanded;
    tacet__draft_expand(noise, &k->g);
    tacet__draft_expand(noise, &k->z);
    if (first) {
        double square = 0;
        for (size_t j = 0; j < k->g.count; j++) {
            square += roughly(&k->g.full[j]) * roughly(&k->g.full[j]);
        }
        k->guess = k->ratio * sqrt(square);
        k->level = 0;
        sum_squares(noise, k);
    }
    lazy *z = &k->z.full[i];
    /* Below 2^30 x 64 sqrt(2^20 + 1) x 64 < 2^53: a whole number that a double holds. */
    const double magnitude = nearest(noise, k, z, k->guess * roughly(z)) * k->grid;
    return z->negative ? -magnitude : magnitude;
}

/* For tests: only the first `bits` digits of a place stay known to the filter. */
static void coarsen(double *rough, size_t count, int bits) {
    for (size_t i = 0; i < count; i++) {
        const double whole = floor(ldexp(fabs(rough[i]), STRIPS_LOG2 + bits));
        rough[i] = copysign(ldexp(whole + 0.5, -STRIPS_LOG2 - bits), rough[i]);
    }
}

static void draw_radius(tacet_noise *noise, knorm *k) {
    tacet__draft_draw(noise, &k->g, k->count + 1);
    if (k->bits < DRAFT_HEAD_BITS) {
        coarsen(k->g.rough, k->g.count, k->bits);
    }
    double square = 0;
    for (size_t i = 0; i < k->g.count; i++) {
        square += k->g.rough[i] * k->g.rough[i];
    }
    k->radius = sqrt(square);
    k->flat = SLACK * k->ratio * k->error * (k->radius + k->root);
    k->slope = SLACK * k->ratio * (k->radius * k->rounding + k->error * k->root);
}

/* out[i] = the grid point that the rough values and their error bound decide, NAN where they do not; how many those
 * are. Adding and subtracting 1.5 x 2^52 rounds to a whole number; beyond 2^51 the bound decides nothing. */
static size_t filter(double *restrict out, const double *restrict z, size_t count, const knorm *k) {
    const double factor = k->ratio * k->radius;
    const double flat = k->flat, slope = k->slope, grid = k->grid;
    size_t undecided = 0;
    for (size_t i = 0; i < count; i++) {
        const double a = factor * z[i];
        const double q = (a + 0x1.8p52) - 0x1.8p52;
        const bool decided = fabs(a - q) + (flat + slope * fabs(z[i])) < DECIDED;
        out[i] = decided ? q * grid + 0.0 : NAN; /* a zero has no sign to tell */
        undecided += !decided;
    }
    return undecided;
}

static void draw(tacet_noise *noise, knorm *k, double *out) {
    draw_radius(noise, k);
    for (size_t at = 0; at < k->count && !noise->exhausted; at += ROW_BLOCK) {
        const size_t size = k->count - at < ROW_BLOCK ? k->count - at : ROW_BLOCK;
        tacet__draft_draw(noise, &k->z, size);
        if (k->bits < DRAFT_HEAD_BITS) {
            coarsen(k->z.rough, size, k->bits);
        }
        size_t undecided = filter(out + at, k->z.rough, size, k);
        for (size_t i = 0; undecided > 0 && !noise->exhausted; i++) {
            if (isnan(out[at + i])) {
                out[at + i] = exactly(noise, k, i) + 0.0;
                undecided--;
            }
        }
    }
}

tacet_status tacet__draw_knorm_filtered(tacet_noise *noise, double *out, size_t rows, size_t count, double theta,
                                        int grid_exponent, int bits, tacet_error *err) {
    lazy_scale scale = {0};
    TACET_OR_RETURN(tacet__lazy_scale(&scale, theta, grid_exponent, 0, err));
    if (count == 0 || count > KNORM_MAX_COUNT) {
        return tacet__fail(err, TACET_INVALID, "K-norm noise has 1 to 2^20 coordinates, not %zu", count);
    }
    const int fineness = LAZY_HEAD_BITS + SCALE_BITS - 1 - (int)scale.shift;
    if (fineness >= KNORM_MAX_FINENESS) {
        return tacet__fail(err, TACET_INVALID, "the grid 2^%d is too fine: at most 2^-%d of the noise scale",
                           grid_exponent, KNORM_MAX_FINENESS);
    }
    const size_t block = count < ROW_BLOCK ? count : ROW_BLOCK;
    knorm k = {.count = count,
               .fineness = fineness,
               .grid = scale.grid,
               .ratio = ldexp((double)scale.m, fineness + 1 - SCALE_BITS),
               .bits = bits,
               .error = bits > 0 ? ldexp(DRAFT_ERROR, DRAFT_HEAD_BITS - bits) : INFINITY,
               .rounding = ((double)count + 6) * 0x1p-53,
               .root = sqrt((double)count + 1)};
    tacet__big_multiply(k.scale, &scale.m, 1, &scale.m, 1);
    tacet_status status = tacet__draft_init(&k.g, count + 1, err);
    TACET_THEN(status, tacet__draft_init(&k.z, block, err));
    noise->exhausted = false;
    for (size_t r = 0; status == TACET_OK && r < rows && !noise->exhausted; r++) {
        draw(noise, &k, out + r * count);
    }
    tacet__draft_clear(&k.g, k.g.words != NULL ? count + 1 : 0);
    tacet__draft_clear(&k.z, k.z.words != NULL ? block : 0);
    sodium_memzero(&k, sizeof k);
    return status == TACET_OK ? tacet__draw_done(noise, out, rows * count, err) : status;
}

tacet_status tacet__draw_knorm_rows(tacet_noise *noise, double *out, size_t rows, size_t count, double theta,
                                    int grid_exponent, tacet_error *err) {
    return tacet__draw_knorm_filtered(noise, out, rows, count, theta, grid_exponent, DRAFT_HEAD_BITS, err);
}

tacet_status tacet__draw_knorm(tacet_noise *noise, double *out, size_t count, double theta, int grid_exponent,
                               tacet_error *err) {
    return tacet__draw_knorm_rows(noise, out, 1, count, theta, grid_exponent, err);
}
