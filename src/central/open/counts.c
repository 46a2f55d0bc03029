/* SPDX-License-Identifier: Apache-2.0 */
/* counts.c - arms that tell nothing of each other: noisy counts of each, and Thompson draws.
 * Ring: open; post-processing of what was released. Source: Thompson (1933) on normal beliefs; ours: a batch's noisy
 * S = sum v and F = sum (1 - v) of an arm played n times obey (1 - q) S - q F = n (m - q) + noise for any q, which is
 * linear in the mean m. n is not released: S + F and what the draws would have played tell it. README.md, (g).
 * Cost: a draw O(arms); a release SIMULATED draws. */
#include "central/open/counts.h"

#include <math.h>
#include <stdlib.h>

#include "core/fail.h"
#include "core/memory.h"

/* Chosen on other functions than those of docs/research/central.md. */
static const double FIRST_VAR = 0.06; /* of an arm's mean */
static const double DRAWN = 0.7;      /* standard deviations of a draw */
static const double EDGE = 0.05;      /* the linearisation keeps off 0 and 1 */
enum { SIMULATED = 1024, PASSES = 2 };

struct tacet__counts {
    size_t arms, set_size;
    uint64_t batches;
    double *mean, *precision; /* arms: the belief */
    double *draw, *share;     /* arms: scratch */
};

tacet_status tacet__counts_create(tacet__counts **out, size_t arms, size_t set_size, double typical, tacet_error *err) {
    *out = NULL;
    tacet__counts *c = TACET__ZALLOC(tacet__counts, 1);
    if (c == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner");
    }
    c->arms = arms;
    c->set_size = set_size;
    const tacet__array arrays[] = {
        {&c->mean, arms, 1}, {&c->precision, arms, 1}, {&c->draw, arms, 1}, {&c->share, arms, 1}};
    if (!tacet__zalloc_arrays(arrays, sizeof arrays / sizeof arrays[0])) {
        tacet__counts_free(c);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner of %zu arms", arms);
    }
    for (size_t a = 0; a < arms; a++) {
        c->mean[a] = typical;
        c->precision[a] = 1 / FIRST_VAR;
    }
    *out = c;
    return TACET_OK;
}

void tacet__counts_free(tacet__counts *c) {
    if (c != NULL) {
        free(c->mean);
        free(c->precision);
        free(c->draw);
        free(c->share);
        free(c);
    }
}

void tacet__counts_record(const tacet__counts *c, double *out, size_t arm, double v) {
    for (size_t i = 0; i < 2 * c->arms; i++) {
        out[i] = 0;
    }
    out[arm] = v;
    out[c->arms + arm] = 1 - v;
}

void tacet__counts_draw(const tacet__counts *c, double *out, tacet_simrng *coin) {
    for (size_t a = 0; a < c->arms; a++) {
        out[a] = c->mean[a] + DRAWN * tacet_simrng_normal(coin) / sqrt(c->precision[a]);
    }
}

/* How the rounds of a batch were shared, had every set been set_size arms at random: even before the first release. */
static void guess_shares(tacet__counts *c) {
    tacet_simrng coin;
    tacet_simrng_init(&coin, c->batches, 0);
    for (size_t a = 0; a < c->arms; a++) {
        c->share[a] = c->batches == 0 ? 1 / (double)c->arms : 0;
    }
    for (size_t i = 0; c->batches > 0 && i < SIMULATED; i++) {
        tacet__counts_draw(c, c->draw, &coin);
        size_t best = tacet_simrng_below(&coin, c->arms);
        for (size_t k = 1; k < c->set_size; k++) {
            const size_t other = tacet_simrng_below(&coin, c->arms);
            best = c->draw[other] > c->draw[best] ? other : best;
        }
        c->share[best] += 1.0 / SIMULATED;
    }
}

/* How often an arm was played: the guess, which may be wrong by its own size, and the count, whose noise is known. */
static double plays(double guess, double count, double count_var) {
    const double guess_var = (guess + 1) * (guess + 1);
    return fmax((guess / guess_var + count / count_var) / (1 / guess_var + 1 / count_var), 0);
}

void tacet__counts_take(tacet__counts *c, const double *sums, double noise_var, uint64_t rounds) {
    guess_shares(c);
    for (size_t a = 0; a < c->arms; a++) {
        const double S = sums[a], F = sums[c->arms + a], before = c->mean[a], sure = c->precision[a];
        const double n = plays(c->share[a] * (double)rounds, S + F, 2 * noise_var);
        for (int i = 0; i < PASSES; i++) { /* around the prior's mean, then around the posterior's */
            const double q = fmin(fmax(c->mean[a], EDGE), 1 - EDGE);
            const double var = noise_var * ((1 - q) * (1 - q) + q * q) + n * q * (1 - q);
            const double told = n * ((1 - q) * S - q * F + n * q) / var;
            c->precision[a] = sure + n * n / var;
            c->mean[a] = fmin(fmax((sure * before + told) / c->precision[a], 0), 1);
        }
    }
    c->batches++;
}

double tacet__counts_mean(const tacet__counts *c, size_t arm, double *sd) {
    *sd = 1 / sqrt(c->precision[arm]);
    return c->mean[arm];
}

void tacet__counts_state(tacet__counts *c, tacet__state *s) {
    tacet__state_u64(s, "batches taken", &c->batches, UINT64_MAX);
    tacet__state_f64s(s, "means", c->mean, c->arms);
    tacet__state_f64s(s, "precisions", c->precision, c->arms);
    for (size_t a = 0; a < c->arms && tacet__state_taking(s); a++) {
        tacet__state_require(s, "precisions", c->precision[a] > 0);
        tacet__state_require(s, "means", c->mean[a] >= 0 && c->mean[a] <= 1);
    }
}
