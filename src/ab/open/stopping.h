/* SPDX-License-Identifier: Apache-2.0 */
/* stopping.h - may I stop? A test of noisy sums that may be looked at after every release.
 *
 * Arms are given by a fair coin a ticket. An epoch's release has, for each arm, the sum of its tickets' rewards in
 * [0, 1] (a ticket that was not reported counts 0) with Laplace noise; how many tickets each arm had is public. After
 * each release there is a lower limit of "arm b earns more than arm a by" for every pair. All limits hold together, at
 * all looks, but for a probability of at most alpha. What they are limits of: the mean over all tickets so far of what
 * b would have earned less what a would have. Rewards may drift, depend on each other and on everything before. Proof
 * and conditions: src/ab/README.md, "May I stop?". Everything here is post-processing of what was released. */
#ifndef TACET_SRC_AB_OPEN_STOPPING_H
#define TACET_SRC_AB_OPEN_STOPPING_H

#include <stddef.h>
#include <tacet/core/status.h>

enum { TACET_AB_ARMS_MOST = 16 };

typedef struct tacet_ab_test tacet_ab_test;

typedef struct tacet_ab_test_settings {
    size_t arms;    /* 2 to TACET_AB_ARMS_MOST; no default */
    double alpha;   /* probability that any claim at any look is wrong. Default .05 */
    double scale;   /* of the noise of a sum, at the most; 0: none. No default */
    double typical; /* a guess at a mean reward, public, before anything was released. Default .5 */
} tacet_ab_test_settings;

/* What one epoch released: `arms` sums with noise, as they came (never clipped), and the tickets of each. */
typedef struct tacet_ab_epoch {
    const double *sums, *tickets;
    double scale, grid; /* of the noise, and the grid that the release is on */
} tacet_ab_epoch;

typedef struct tacet_ab_comparison {
    double difference; /* b less a, as far as the released means tell */
    double lower;      /* limits of it; -1 and 1: none yet */
    double upper;
} tacet_ab_comparison;

typedef struct tacet_ab_limits {
    double lower, upper; /* 0 and 1: none yet */
} tacet_ab_limits;

void tacet_ab_test_settings_defaults(tacet_ab_test_settings *settings);
/* INVALID names the rule. NO_MEMORY. */
tacet_status tacet_ab_test_create(tacet_ab_test **out, const tacet_ab_test_settings *settings, tacet_error *err);
void tacet_ab_test_free(tacet_ab_test *test); /* NULL is allowed */
/* Epochs in their order, each once. INVALID, and nothing has changed: numbers that are not finite, tickets below 0, a
 * scale above the settings'. */
tacet_status tacet_ab_test_add(tacet_ab_test *test, const tacet_ab_epoch *epoch, tacet_error *err);
tacet_ab_comparison tacet_ab_test_compare(const tacet_ab_test *test, size_t a, size_t b);
/* Released mean of an arm, within [0, 1]; NaN before the first release. */
double tacet_ab_test_mean(const tacet_ab_test *test, size_t arm);
/* Of the mean over all tickets so far of what the arm would have earned. If that is at most m at every look, no lower
 * limit is ever above m, and likewise upper ones: of all arms at all looks, but for a probability of alpha beside the
 * comparisons' own. While means drift, a limit is of the largest or least of them, not of the last. */
tacet_ab_limits tacet_ab_test_limits(const tacet_ab_test *test, size_t arm);
/* Tickets so far; and how many more it takes until some arm beats another, if rates are what they seem to be now. 0:
 * one does. INFINITY: not within `most`. An estimate: nothing is claimed with it. */
double tacet_ab_test_tickets(const tacet_ab_test *test);
double tacet_ab_test_more(const tacet_ab_test *test, double most);
/* The next epoch, after so many tickets: a public rule. */
size_t tacet_ab_epoch_size(size_t arms, size_t tickets);

#endif
