/* SPDX-License-Identifier: Apache-2.0 */
/* outlook.c - what a study without contexts may expect, and how often it plays a point, before it begins.
 * Ring: open; arithmetic on public numbers. Source: ours; README.md, (f). Cost: O(T). */
#include "central/open/outlook.h"

#include <math.h>

#include "central/open/direct_learner.h"
#include "core/fail.h"

/* Variance of a function from point to point, where it is decided how often one is played: chosen on made-up functions.
 */
static const double EACH_SPREAD = 0.02;
static const double FEW_EACH = 7;   /* over eps: rounds of a visit where there are few points; on made-up categories */
enum { STEPS = 40, LONG_EACH = 8 }; /* of a bisection; rounds of a visit that is halved, README.md, (f) */

/* The largest of m normal numbers, on average (Blom 1958, by bisection of its quantile). */
static double largest_of(double m) {
    const double p = (m - 0.375) / (m + 0.25);
    double lo = 0, hi = 8;
    for (int i = 0; i < 50; i++) {
        const double z = (lo + hi) / 2;
        *(0.5 * erfc(-z / sqrt(2)) < p ? &lo : &hi) = z;
    }
    return m > 1 ? lo : 0;
}

/* How often a point is best played before the sum of its rewards is released: as often as makes the best of
 * rounds/each noisy means best. How much better than a point at random that one is: *gain. */
static uint64_t best_each(double *gain, uint64_t rounds, double eps) {
    const uint64_t least = (rounds + TACET_CENTRAL_DIRECT_VISITS - 1) / TACET_CENTRAL_DIRECT_VISITS;
    uint64_t best = least;
    *gain = 0;
    for (uint64_t each = least; each == least || each <= rounds / 2; each++) {
        /* The noise of rewards counts for nothing here: it is averaged over other points as well as over visits. */
        const double scale = 1 / (eps * (double)each), var = EACH_SPREAD + 2 * scale * scale;
        const uint64_t points = rounds / each;
        const double now = largest_of((double)points) * EACH_SPREAD / sqrt(var);
        if (now > *gain) {
            *gain = now;
            best = each;
        }
    }
    return best;
}

static bool is_even(uint64_t rounds, double eps) {
    double gain = 0;
    return rounds / best_each(&gain, rounds, eps) <= TACET__DIRECT_FEW;
}

/* From how many rounds, or from which eps on points are searched for; 0 rounds: not with this eps. */
static void find_needed(tacet_central_outlook *out, uint64_t rounds, double eps) {
    uint64_t few = rounds, enough = rounds;
    double lo = eps, hi = eps;
    while (enough < TACET_CENTRAL_DIRECT_ROUNDS && is_even(enough, eps)) {
        enough = 2 * enough < TACET_CENTRAL_DIRECT_ROUNDS ? 2 * enough : TACET_CENTRAL_DIRECT_ROUNDS;
    }
    while (enough - few > 1) {
        const uint64_t middle = few + (enough - few) / 2;
        *(is_even(middle, eps) ? &few : &enough) = middle;
    }
    out->rounds_needed = is_even(enough, eps) ? 0 : enough;
    while (hi < 1e6 && is_even(rounds, hi)) {
        hi *= 2;
    }
    for (int i = 0; i < STEPS && hi - lo > 0.01 * lo; i++) {
        const double middle = (lo + hi) / 2;
        *(is_even(rounds, middle) ? &lo : &hi) = middle;
    }
    out->eps_needed = is_even(rounds, hi) ? INFINITY : hi;
}

/* So few points that each is met more than once: short visits, whose noise is averaged over later ones. */
static void shorten(tacet_central_outlook *out, uint64_t rounds, double eps, uint64_t different) {
    const double mean = (double)rounds / (double)different, scale = 1 / (eps * mean);
    const double each = fmax(rint(FEW_EACH / eps), 1);
    out->each = each < (double)out->each ? (uint64_t)each : out->each;
    const uint64_t least = (rounds + TACET_CENTRAL_DIRECT_VISITS - 1) / TACET_CENTRAL_DIRECT_VISITS;
    out->each = out->each > least ? out->each : least;
    out->points = rounds / out->each;
    out->even = false;
    out->gain = largest_of((double)different) * EACH_SPREAD / sqrt(EACH_SPREAD + 2 * scale * scale);
}

/* How many points there are, where they are few enough to be met again; 0: not. *good: something to choose from. */
static uint64_t points_of(const tacet_central_arms *arms, bool *good) {
    tacet__lattice lattice;
    if (arms->space == NULL) {
        *good = arms->count > 0;
        return arms->count;
    }
    *good = tacet__lattice_init(&lattice, arms->space);
    return *good && tacet__lattice_listed(&lattice) ? lattice.points : 0;
}

tacet_status tacet_central_direct_outlook(tacet_central_outlook *out, const tacet_central_arms *arms, uint64_t rounds,
                                          double eps, tacet_error *err) {
    bool good = false;
    const uint64_t points = out != NULL && arms != NULL ? points_of(arms, &good) : 0;
    if (!good) {
        return tacet__fail(err, TACET_INVALID, "an outlook needs a list, or a space that can be searched directly");
    }
    if (rounds == 0 || rounds > TACET_CENTRAL_DIRECT_ROUNDS || !(eps > 0 && isfinite(eps))) {
        return tacet__fail(err, TACET_INVALID, "an outlook needs 1 to %d rounds, and an eps above 0",
                           TACET_CENTRAL_DIRECT_ROUNDS);
    }
    *out = (tacet_central_outlook){.rounds_needed = rounds, .eps_needed = eps};
    out->each = best_each(&out->gain, rounds, eps);
    out->points = rounds / out->each;
    out->even = out->points <= TACET__DIRECT_FEW;
    if (points > 0 && points < out->points) {
        shorten(out, rounds, eps, points);
    } else if (out->even) {
        find_needed(out, rounds, eps);
    } else if (out->each >= LONG_EACH && rounds / (out->each / 2) <= TACET_CENTRAL_DIRECT_VISITS) {
        out->each /= 2; /* what one visit leaves open its neighbours tell */
        out->points = rounds / out->each;
    }
    return TACET_OK;
}
