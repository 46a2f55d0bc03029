/* SPDX-License-Identifier: Apache-2.0 */
/* test_exhaustive.c - the law of each coin and of each part of the samplers over all bit strings, in words of three
 * bits and strips of 1/2. A factor that is lost in one part in 30,000 at full width is one in a few here, and cannot
 * hide. */
#define TACET__WIDTHS
#include <stdint.h>
__extension__ typedef unsigned __int128 u128;
enum {
    WORD_BITS = 3,
    LAZY_HEAD_BITS = 1,
    LAZY_MORE = 7,
    SCALE_BITS = 3,
    LAZY_MAX_FINENESS = 4,
    LAZY_MIN_FINENESS = -4,
    NORMAL_END = 8,
    EXPONENTIAL_END = 16,
    STRIPS_LOG2 = 1,
    COLUMNS_LOG2 = 2,
    FRACTION_LIMBS = 8,
    EXTRA_LIMBS = 6,
    SLACK_BITS = 7
};
#include "dp/noise/wide.h"

#include "dp/exhaustive.h"

static const gaussian_column GAUSSIAN_COLUMNS[4] = {{1, 3}, {0, 3}, {0, 3}, {2, 3}};

typedef struct question {
    uint64_t a, b;
} question;

/* NOLINTBEGIN(bugprone-suspicious-include): the samplers themselves, in the widths above */
#include "dp/noise/sampler_coin.c"

static unsigned run_below(tacet_noise *noise, void *user) {
    return (unsigned)tacet__noise_below(noise, ((const question *)user)->a);
}

static unsigned run_bernoulli(tacet_noise *noise, void *user) {
    const question *q = user;
    return tacet__bernoulli(noise, q->a, q->b);
}

/* From here on each of the two coins above has its outcomes instead of its words. */
#define tacet__noise_below exact_below
#define tacet__bernoulli exact_bernoulli
#include "dp/noise/big.c"
#include "dp/noise/lazy.c"
#include "dp/noise/sampler_choice.c"
#include "dp/noise/sampler_exp.c"
#include "dp/noise/sampler_gaussian.c"
#define draw draw_laplace
#include "dp/noise/sampler_laplace.c"
/* NOLINTEND(bugprone-suspicious-include) */
#undef draw

static unsigned run_exp(tacet_noise *noise, void *user) {
    const question *q = user;
    return tacet__bernoulli_exp(noise, q->a, q->b);
}

static unsigned run_two_over_e(tacet_noise *noise, void *user) {
    (void)user;
    return two_over_e(noise);
}

typedef struct place {
    uint64_t n;
    strip_place u;
} place;

static unsigned run_strip(tacet_noise *noise, void *user) {
    const place *p = user;
    strip_place u = p->u;
    return tacet__strip_accept(noise, p->n, &u);
}

/* 0: rejected; else the strip + 1. */
static unsigned run_tail(tacet_noise *noise, void *user) {
    uint64_t n = 0;
    (void)user;
    return tail_strip(noise, &n) ? (unsigned)n + 1 : 0;
}

static unsigned run_rare(tacet_noise *noise, void *user) {
    uint64_t n = 0;
    (void)user;
    return rare_strip(noise, &n) ? (unsigned)n + 1 : 0;
}

static unsigned run_fraction(tacet_noise *noise, void *user) {
    const question *q = user;
    return tacet__below_fraction(noise, GAUSSIAN_C, q->b, q->a, INVERSE);
}

static unsigned run_whole(tacet_noise *noise, void *user) {
    (void)user;
    return (unsigned)whole_part(noise);
}

enum { MIDDLE = 30 }; /* the outcome that stands for 0 where values may be negative */

static unsigned run_round(tacet_noise *noise, void *user) {
    lazy x;
    x.negative = (tacet__lazy_start(&x, 0, tacet__noise_next(noise)) & 1) != 0;
    return (unsigned)(MIDDLE + tacet__lazy_round(noise, &x, user));
}

typedef struct choice {
    const int64_t *scores;
    double eps;
    bool flips;
} choice;

static unsigned run_choice(tacet_noise *noise, void *user) {
    const choice *c = user;
    size_t out = 0;
    size_t scratch[3];
    assert_ok(c->flips ? tacet__permute_and_flip(noise, &out, scratch, c->scores, 3, c->eps, 1, NULL)
                       : tacet__exponential_mechanism(noise, &out, c->scores, 3, c->eps, 1, NULL));
    return (unsigned)out;
}

TEST(whole_numbers_below_n_are_uniform) {
    for (uint64_t n = 1; n <= WORD_MASK + 1; n++) {
        question q = {n, 0};
        const law l = search(run_below, &q, 1e-9);
        for (unsigned i = 0; i < n; i++) {
            assert_law(&l, i, 1 / (double)n, 1e-4);
        }
    }
}

TEST(a_rational_coin_has_its_probability) {
    for (uint64_t b = 1; b <= 60; b++) {
        for (uint64_t a = 0; a <= b; a++) {
            question q = {a, b};
            const law l = search(run_bernoulli, &q, 1e-12);
            assert_law(&l, 1, (double)a / (double)b, 1e-10);
        }
    }
}

TEST(an_exponential_coin_has_its_probability) {
    for (uint64_t b = 1; b <= 8; b++) {
        for (uint64_t a = 0; a <= 3 * b; a++) {
            question q = {a, b};
            const law l = search(run_exp, &q, 1e-9);
            assert_law(&l, 1, exp(-(double)a / (double)b), 1e-6);
        }
    }
    const law l = search(run_two_over_e, NULL, 1e-12);
    assert_law(&l, 1, 2 / exp(1), 1e-9);
}

/* exp(-u (2n + u) / 8): the factor (2n + u) / (2n + 1) is a coin of its own. */
TEST(a_place_in_a_strip_is_kept_with_its_probability) {
    for (uint64_t n = 0; n < INVERSE / 2; n++) {
        for (uint64_t q = 1; q <= 7; q++) {
            for (uint64_t p = 0; p < q; p++) {
                place a = {.n = n, .u = {.p = p, .q = q}};
                const double u = (double)p / (double)q;
                const law l = search(run_strip, &a, 1e-9);
                assert_law(&l, 1, exp(-u * (2 * (double)n + u) / INVERSE), 1e-4);
            }
        }
    }
}

TEST(a_tail_strip_has_its_probability) {
    const law l = search(run_tail, NULL, 1e-9);
    for (unsigned m = 0; m < NORMAL_END * STRIPS_PER_UNIT - GAUSSIAN_TAIL; m++) {
        const double weight = exp(-(double)m * (2 * GAUSSIAN_TAIL + m) / INVERSE);
        assert_law(&l, GAUSSIAN_TAIL + m + 1, weight / GAUSSIAN_SPAN, 1e-3);
    }
}

TEST(fractions_that_floors_drop_have_their_probability) {
    for (uint64_t j = 0; j <= GAUSSIAN_TAIL; j++) {
        question q = {j * j, GAUSSIAN_FLOOR[j]};
        const law l = search(run_fraction, &q, 1e-12);
        assert_law(&l, 1, exp(-(double)(j * j) / INVERSE) - (double)GAUSSIAN_FLOOR[j], 1e-6);
    }
}

/* Floors and fractions together: the table's words and the rare item's strings. */
TEST(every_strip_has_its_probability) {
    double words[GAUSSIAN_RARE + 1] = {0};
    for (uint64_t word = 0; word <= WORD_MASK; word++) {
        words[table_item(word)] += ldexp(1, -WORD_BITS);
    }
    assert_true(words[GAUSSIAN_RARE] == ldexp(GAUSSIAN_RARE_WEIGHT, -WORD_BITS));
    const law rare = search(run_rare, NULL, 1e-9);
    for (unsigned n = 0; n < NORMAL_END * STRIPS_PER_UNIT; n++) {
        const double certain = n < GAUSSIAN_STRIPS ? words[n] : 0;
        const double exact = ldexp((double)GAUSSIAN_C * exp(-(double)(n * n) / INVERSE), -WORD_BITS) - certain;
        assert_law(&rare, n + 1, exact / words[GAUSSIAN_RARE], 1e-3);
    }
}

TEST(a_uniform_real_is_rounded_to_the_nearest) {
    for (uint64_t m = 4; m < 8; m++) {
        for (unsigned shift = SCALE_BITS; shift < 7; shift++) { /* known digits meet one boundary at most */
            lazy_scale scale = {m, shift, 1};
            const double top = ldexp((double)m, LAZY_HEAD_BITS - (int)shift);
            const law l = search(run_round, &scale, 1e-9);
            for (int k = -8; k <= 8; k++) {
                const double length = fmin(k + 0.5, top) - fmax(k - 0.5, -top);
                assert_law(&l, (unsigned)(MIDDLE + k), fmax(length, 0) / (2 * top), 1e-6);
            }
        }
    }
}

TEST(the_whole_part_of_an_exponential_has_its_mass) {
    const law l = search(run_whole, NULL, 1e-10);
    for (unsigned k = 0; k < EXPONENTIAL_END; k++) {
        assert_law(&l, k, exp(-(double)k) * (1 - exp(-1)), 1e-6);
    }
}

/* Permute-and-flip: the sum over all orders in which the first successful coin is that of i. */
static double flip_mass(const double *p, unsigned i) {
    double sum = 0;
    for (unsigned j = 0; j < 3; j++) {
        for (unsigned k = 0; k < 3; k++) {
            if (j != k) {
                const unsigned third = 3 - j - k;
                sum += (i == j ? p[j] : i == k ? (1 - p[j]) * p[k] : (1 - p[j]) * (1 - p[k]) * p[third]) / 6;
            }
        }
    }
    return sum;
}

TEST(choices_have_their_probability) {
    static const int64_t scores[3] = {2, -1, 1};
    double p[3];
    for (unsigned i = 0; i < 3; i++) {
        p[i] = exp((double)(scores[i] - 2) / 2);
    }
    choice c = {.scores = scores, .eps = 1};
    law l = search(run_choice, &c, 1e-8);
    for (unsigned i = 0; i < 3; i++) {
        assert_law(&l, i, p[i] / (p[0] + p[1] + p[2]), 1e-2);
    }
    c.flips = true;
    l = search(run_choice, &c, 1e-9);
    for (unsigned i = 0; i < 3; i++) {
        assert_law(&l, i, flip_mass(p, i), 1e-3);
    }
}
