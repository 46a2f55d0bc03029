/* SPDX-License-Identifier: Apache-2.0 */
/* test_exhaustive_digits.c - the law of reals whose digits are drawn as they are needed, over all bit strings, in words
 * and first digits of one bit: whether a place in a strip is kept, and which cell of the grid it is then rounded to.
 * The digits that decided the one are the first digits of the other, and none of them may be drawn twice. */
#define TACET__WIDTHS
#include <stdint.h>
__extension__ typedef unsigned __int128 u128;
enum {
    WORD_BITS = 1,
    LAZY_HEAD_BITS = 1,
    LAZY_MORE = 30,
    SCALE_BITS = 3,
    LAZY_MAX_FINENESS = 4,
    LAZY_MIN_FINENESS = -4,
    NORMAL_END = 8,
    EXPONENTIAL_END = 16,
    STRIPS_LOG2 = 1,
    COLUMNS_LOG2 = 0,
    FRACTION_LIMBS = 8,
    EXTRA_LIMBS = 12,
    SLACK_BITS = 7
};
#include "dp/noise/wide.h"

#include "dp/exhaustive.h"

static const gaussian_column GAUSSIAN_COLUMNS[1]; /* not drawn from here */

/* Shown to be exact in test_exhaustive.c. */
#define tacet__noise_below exact_below
#define tacet__bernoulli exact_bernoulli
/* NOLINTBEGIN(bugprone-suspicious-include): the samplers themselves, in the widths above */
#include "dp/noise/big.c"
#include "dp/noise/lazy.c"
#include "dp/noise/sampler_exp.c"
#include "dp/noise/sampler_gaussian.c"
#include "dp/noise/sampler_laplace.c"
/* NOLINTEND(bugprone-suspicious-include) */

enum { REJECTED = OUTCOMES - 1, UPPERS = 2 * INVERSE /* the bits above the first digits: a coin and a sign */ };

typedef struct cell {
    uint64_t n;
    lazy_scale scale;
    unsigned upper;
} cell;

/* A place of strip n, or not; then the multiple of the grid. */
static unsigned run_normal(tacet_noise *noise, void *user) {
    const cell *c = user;
    lazy x;
    (void)tacet__lazy_start(&x, c->n, tacet__noise_next(noise));
    if (!accept(noise, &x, c->upper)) {
        return REJECTED;
    }
    x.negative = false;
    return (unsigned)tacet__lazy_round(noise, &x, &c->scale);
}

static unsigned run_exponential(tacet_noise *noise, void *user) {
    const cell *c = user;
    lazy x = {.negative = false};
    (void)tacet__lazy_start(&x, 0, tacet__noise_next(noise));
    if (!exp_coin(noise, &x)) {
        return REJECTED;
    }
    x.n = c->n;
    return (unsigned)tacet__lazy_round(noise, &x, &c->scale);
}

enum { MIDDLE = 100 }; /* the outcome that stands for 0 */

static unsigned run_discrete_laplace(tacet_noise *noise, void *user) {
    return (unsigned)(MIDDLE + discrete(noise, user));
}

static double normal_density(double n, double u) {
    return exp(-u * (2 * n + u) / INVERSE);
}

static double exponential_density(double n, double u) {
    (void)n;
    return exp(-u);
}

/* Simpson's rule; the integrands are smooth, the error below 1e-12. */
static double integral(double (*density)(double, double), double n, double from, double to) {
    enum { PARTS = 200 };
    double sum = 0;
    for (int i = 0; i <= PARTS; i++) {
        const double weight = i == 0 || i == PARTS ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * density(n, from + (to - from) * i / PARTS);
    }
    return to > from ? sum * (to - from) / PARTS / 3 : 0;
}

/* The multiple k of the grid is what (n + u) step is nearest to. */
static void assert_cells(const law *l, double (*density)(double, double), const cell *c, double most_open) {
    const double n = (double)c->n;
    const double step = ldexp((double)c->scale.m, LAZY_HEAD_BITS - (int)c->scale.shift);
    for (unsigned k = 0; k < 12; k++) {
        const double from = fmax((k - 0.5) / step - n, 0);
        const double to = fmin((k + 0.5) / step - n, 1);
        assert_law(l, k, integral(density, n, from, to), most_open);
    }
    assert_law(l, REJECTED, 1 - integral(density, n, 0, 1), most_open);
}

TEST(places_of_a_normal_have_their_density_and_cell) {
    for (uint64_t n = 0; n < 4; n++) {
        for (uint64_t m = 4; m < 8; m += 3) {
            law sum = {.open = 0};
            cell c = {.n = n, .scale = {m, 3, 1}};
            for (c.upper = 0; c.upper < UPPERS; c.upper++) {
                const law l = search(run_normal, &c, n < 2 ? 1e-8 : 1e-7);
                sum.open += l.open / UPPERS;
                sum.failed += l.failed / UPPERS;
                for (unsigned k = 0; k < OUTCOMES; k++) {
                    sum.found[k] += l.found[k] / UPPERS;
                }
            }
            assert_cells(&sum, normal_density, &c, n < 2 ? 1e-3 : 2e-2);
        }
    }
}

TEST(places_of_an_exponential_have_their_density_and_cell) {
    for (uint64_t n = 0; n < 3; n++) {
        for (uint64_t m = 4; m < 8; m++) {
            cell c = {.n = n, .scale = {m, 3, 1}};
            const law l = search(run_exponential, &c, 1e-8);
            assert_cells(&l, exponential_density, &c, 1e-2);
        }
    }
}

TEST(the_discrete_laplace_has_its_masses) {
    for (uint64_t m = 4; m < 8; m++) {
        lazy_scale scale = {m, LAZY_HEAD_BITS + 1, 1}; /* scale / grid = m / 2 */
        const double ratio = exp(-2 / (double)m);
        const law l = search(run_discrete_laplace, &scale, 1e-7);
        for (int k = -8; k <= 8; k++) {
            assert_law(&l, (unsigned)(MIDDLE + k), (1 - ratio) / (1 + ratio) * pow(ratio, abs(k)), 0.06);
        }
    }
}
