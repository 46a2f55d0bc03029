/* SPDX-License-Identifier: Apache-2.0 */
/* stopping.c - may I stop? A bet against "b is no better than a by more than d", on noisy sums of disjoint epochs.
 * Ring: open; sees released numbers and public counts. Proof: src/ab/README.md, "May I stop?".
 * Source: betting on bounded means (Waudby-Smith, Ramdas 2024), mixtures and Ville's inequality (Ville 1939; Robbins
 * 1970). Differs: a bet is log-linear in the reward, so that it can be settled on a sum and its noise be paid for by
 * its moment generating function; stakes have a fixed slope, so that the claim is about running means; the difference d
 * enters through the number of tickets alone, so that limits need no grid. Cost: arms^2 x BETS an epoch. */
#include "ab/open/stopping.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BETS = 20, FIRST_OF_ARM = 250 };
static const double GROWTH = 0.3;        /* an epoch has so much of all tickets before it */
static const double STEEPEST = 0.3;      /* slope of the boldest bet; below 1/2, so that no bet loses all */
static const double SHALLOWEST = 0.01;   /* of the boldest */
static const double NOISE_MARGIN = 0.95; /* scale times exponent: below 1, where the noise has a moment */

/* What is bet on "b beats a". */
typedef struct bet {
    double log_wealth[BETS]; /* against d = 0 */
    double lower;            /* the largest limit so far */
} bet;

struct tacet_ab_test {
    tacet_ab_test_settings settings;
    double slope[BETS];
    double sums[TACET_AB_ARMS_MOST], tickets[TACET_AB_ARMS_MOST];
    double epochs;
    double scale, grid; /* of the last release */
    bet *bets;          /* arms x arms: [a * arms + b] */
};

void tacet_ab_test_settings_defaults(tacet_ab_test_settings *settings) {
    *settings = (tacet_ab_test_settings){.alpha = 0.05, .typical = 0.5};
}

size_t tacet_ab_epoch_size(size_t arms, size_t tickets) {
    return tickets == 0 ? FIRST_OF_ARM * arms : (size_t)ceil(GROWTH * (double)tickets);
}

tacet_status tacet_ab_test_create(tacet_ab_test **out, const tacet_ab_test_settings *s, tacet_error *err) {
    *out = NULL;
    if (s->arms < 2 || s->arms > TACET_AB_ARMS_MOST || !(s->alpha > 0 && s->alpha < 1) ||
        !(s->scale >= 0 && isfinite(s->scale)) || !(s->typical >= 0 && s->typical <= 1)) {
        return tacet__fail(err, TACET_INVALID,
                           "a test has 2 to %d arms, an alpha between 0 and 1, a finite scale, a typical reward from 0 "
                           "to 1",
                           (int)TACET_AB_ARMS_MOST);
    }
    tacet_ab_test *t = TACET__ZALLOC(tacet_ab_test, 1);
    bet *bets = TACET__ZALLOC(bet, s->arms * s->arms);
    if (t == NULL || bets == NULL) {
        free(t);
        free(bets);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a test");
    }
    /* The largest exponent a bet of slope k can have is -ln(1 - 2 k), whatever the rates are: a bet that the noise
     * could ruin is left out from the beginning, because one that skipped epochs would have no fixed slope. */
    const double most = s->scale > 0 ? -expm1(-NOISE_MARGIN / s->scale) / 2 : STEEPEST;
    const double boldest = fmin(most, STEEPEST);
    for (size_t k = 0; k < BETS; k++) {
        t->slope[k] = boldest * pow(SHALLOWEST, (double)k / (BETS - 1));
    }
    t->settings = *s;
    t->bets = bets;
    for (size_t i = 0; i < s->arms * s->arms; i++) {
        bets[i].lower = -1;
    }
    *out = t;
    return TACET_OK;
}

void tacet_ab_test_free(tacet_ab_test *test) {
    if (test != NULL) {
        free(test->bets);
        free(test);
    }
}

/* One epoch of a pair. `rate` is a function of earlier releases: the bet is placed before the epoch is seen. */
static void settle(bet *w, const double slope[BETS], double rate, const double sums[2], const double tickets[2],
                   double scale, double grid) {
    for (size_t k = 0; k < BETS; k++) {
        const double up = 2 * slope[k] * (1 - rate); /* won on a reward of 1 by b, lost by a */
        const double down = 2 * slope[k] * rate;     /* lost on a reward of 0 by b, won by a */
        const double base[2] = {log1p(down), log1p(-down)};
        const double t[2] = {log1p(-up) - base[0], log1p(up) - base[1]};
        for (size_t j = 0; j < 2; j++) {
            const double bt = scale * t[j];
            /* What the noise adds on average, and what rounding to the grid adds at the most, is taken off. */
            w->log_wealth[k] += base[j] * tickets[j] + t[j] * sums[j] + log1p(-bt * bt) - grid * fabs(t[j]);
        }
    }
}

/* The log of the mean wealth against "b is no better than a by more than d". */
static double log_wealth(const double wealth[BETS], const double slope[BETS], double tickets, double d) {
    double at[BETS];
    double most = -INFINITY, sum = 0;
    for (size_t k = 0; k < BETS; k++) {
        at[k] = wealth[k] - tickets * log1p(d * slope[k]);
        most = fmax(most, at[k]);
    }
    for (size_t k = 0; k < BETS; k++) {
        sum += exp(at[k] - most);
    }
    return most + log(sum / BETS);
}

/* Every ordered pair has its share of alpha. */
static double enough(const tacet_ab_test *t) {
    return log((double)(t->settings.arms * (t->settings.arms - 1)) / t->settings.alpha);
}

/* The largest d that is refuted: wealth falls as d grows. */
static double limit_of(const tacet_ab_test *t, const bet *w, double tickets) {
    double lower = -1, upper = 1;
    if (!(log_wealth(w->log_wealth, t->slope, tickets, lower) >= enough(t))) {
        return -1;
    }
    while (upper - lower > 1e-9) {
        const double middle = (lower + upper) / 2;
        if (log_wealth(w->log_wealth, t->slope, tickets, middle) >= enough(t)) {
            lower = middle;
        } else {
            upper = middle;
        }
    }
    return lower;
}

static double rate_of(const tacet_ab_test *t, size_t a, size_t b) {
    const double tickets = t->tickets[a] + t->tickets[b];
    return tickets > 0 ? fmin(fmax((t->sums[a] + t->sums[b]) / tickets, 0), 1) : t->settings.typical;
}

tacet_status tacet_ab_test_add(tacet_ab_test *t, const tacet_ab_epoch *e, tacet_error *err) {
    const size_t arms = t->settings.arms;
    bool good = e->scale >= 0 && e->scale <= t->settings.scale && e->grid >= 0 && isfinite(e->grid);
    for (size_t i = 0; i < arms; i++) {
        good = good && isfinite(e->sums[i]) && e->tickets[i] >= 0 && isfinite(e->tickets[i]);
    }
    if (!good) {
        return tacet__fail(err, TACET_INVALID,
                           "an epoch has finite sums, tickets of at least 0, and no more noise than the test expects");
    }
    for (size_t a = 0; a < arms; a++) {
        for (size_t b = 0; b < arms; b++) {
            if (a != b) {
                const double sums[2] = {e->sums[a], e->sums[b]}, tickets[2] = {e->tickets[a], e->tickets[b]};
                bet *w = &t->bets[a * arms + b];
                settle(w, t->slope, rate_of(t, a, b), sums, tickets, e->scale, e->grid);
                w->lower =
                    fmax(w->lower, limit_of(t, w, t->tickets[a] + t->tickets[b] + e->tickets[a] + e->tickets[b]));
            }
        }
    }
    for (size_t i = 0; i < arms; i++) {
        t->sums[i] += e->sums[i];
        t->tickets[i] += e->tickets[i];
    }
    t->epochs++;
    t->scale = e->scale;
    t->grid = fmax(t->grid, e->grid);
    return TACET_OK;
}

/* Whether "this arm's mean is at most m" is refuted by a bet that it is above: its wealth is that of one epoch with all
 * sums, less what the noise and the rounding of each can add. */
static bool above(const tacet_ab_test *t, double sum, double tickets, double m) {
    double wealth[BETS];
    for (size_t k = 0; k < BETS; k++) {
        const double base = log1p(-2 * t->slope[k] * m);
        const double slope = log1p(2 * t->slope[k] * (1 - m)) - base, noise = t->settings.scale * slope;
        wealth[k] = base * tickets + slope * sum + t->epochs * (log1p(-noise * noise) - t->grid * slope);
    }
    return log_wealth(wealth, t->slope, 0, 0) >= log(2 * (double)t->settings.arms / t->settings.alpha);
}

/* The largest mean that is refuted: wealth falls as m grows, with a sum that is at most the tickets. */
static double least_mean(const tacet_ab_test *t, double sum, double tickets) {
    double lower = 0, upper = 1;
    while (upper - lower > 1e-9) {
        const double middle = (lower + upper) / 2;
        if (above(t, fmin(sum, tickets), tickets, middle)) {
            lower = middle;
        } else {
            upper = middle;
        }
    }
    return lower;
}

tacet_ab_limits tacet_ab_test_limits(const tacet_ab_test *t, size_t arm) {
    const double sum = t->sums[arm], tickets = t->tickets[arm];
    return (tacet_ab_limits){.lower = least_mean(t, sum, tickets), .upper = 1 - least_mean(t, tickets - sum, tickets)};
}

double tacet_ab_test_mean(const tacet_ab_test *t, size_t arm) {
    return t->tickets[arm] > 0 ? fmin(fmax(t->sums[arm] / t->tickets[arm], 0), 1) : NAN;
}

tacet_ab_comparison tacet_ab_test_compare(const tacet_ab_test *t, size_t a, size_t b) {
    const size_t arms = t->settings.arms;
    return (tacet_ab_comparison){.difference = tacet_ab_test_mean(t, b) - tacet_ab_test_mean(t, a),
                                 .lower = t->bets[a * arms + b].lower,
                                 .upper = -t->bets[b * arms + a].lower};
}

double tacet_ab_test_tickets(const tacet_ab_test *t) {
    double sum = 0;
    for (size_t i = 0; i < t->settings.arms; i++) {
        sum += t->tickets[i];
    }
    return sum;
}

/* Epochs to come in which every arm has its share of tickets and returns what it seems to: when b beats a. */
static double wait_for(const tacet_ab_test *t, size_t a, size_t b, double most) {
    const double arms = (double)t->settings.arms, begin = tacet_ab_test_tickets(t);
    const double means[2] = {tacet_ab_test_mean(t, a), tacet_ab_test_mean(t, b)};
    bet w = t->bets[a * t->settings.arms + b];
    double of_pair = t->tickets[a] + t->tickets[b];
    double all = begin;
    while (all - begin < most) {
        const double size = (double)tacet_ab_epoch_size(t->settings.arms, (size_t)all);
        const double tickets[2] = {size / arms, size / arms};
        const double sums[2] = {means[0] * tickets[0], means[1] * tickets[1]};
        settle(&w, t->slope, rate_of(t, a, b), sums, tickets, t->scale, t->grid);
        of_pair += 2 * size / arms;
        all += size;
        if (log_wealth(w.log_wealth, t->slope, of_pair, 0) >= enough(t)) {
            return all - begin;
        }
    }
    return INFINITY;
}

double tacet_ab_test_more(const tacet_ab_test *t, double most) {
    double least = INFINITY;
    for (size_t a = 0; a < t->settings.arms && tacet_ab_test_tickets(t) > 0; a++) {
        for (size_t b = 0; b < t->settings.arms; b++) {
            const tacet_ab_comparison c = tacet_ab_test_compare(t, a, b);
            if (a != b && c.lower > 0) {
                return 0;
            }
            if (a != b && c.difference > 0) {
                least = fmin(least, wait_for(t, a, b, most));
            }
        }
    }
    return least;
}
