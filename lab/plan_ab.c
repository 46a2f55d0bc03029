/* SPDX-License-Identifier: Apache-2.0 */
/* plan_ab.c - `tacet plan ab`: how many visitors an A/B study needs, with and without privacy.
 * Ring: none; made-up visitors. Runs the test that ships (ab/open/stopping.h) on sums of 0/1 rewards with the
 * noise that a study adds, looked at after every epoch, and beside it a test of a size that is fixed beforehand. Sums
 * of many rewards are drawn as normal numbers. Cost: some microseconds an epoch. */
#include "plan.h"
#include "trials.h"

#include <math.h>
#include <stdlib.h>
#include "ab/open/stopping.h"
#include <tacet/core/simrng.h>

enum { RUNS = 400 };
static const double MOST = 1e9; /* tickets */

typedef struct question {
    double rate, lift, eps;
    size_t arms;
    uint64_t seed;
} question;

/* How many of n have a reward. */
static double successes(tacet_simrng *rng, double n, double p) {
    double sum = 0;
    if (n * p * (1 - p) > 100) {
        return fmin(fmax(rint(n * p + sqrt(n * p * (1 - p)) * tacet_simrng_normal(rng)), 0), n);
    }
    for (size_t i = 0; (double)i < n; i++) {
        sum += tacet_simrng_uniform(rng) < p ? 1 : 0;
    }
    return sum;
}

static double laplace(tacet_simrng *rng, double scale) {
    const double size = -scale * log1p(-tacet_simrng_uniform(rng));
    return tacet_simrng_uniform(rng) < 0.5 ? size : -size;
}

/* Tickets until an arm with the lift is claimed to be ahead of the first. scale 0: without privacy. */
static tacet_status run(double *tickets, const question *q, double scale, uint64_t seed, tacet_error *err) {
    tacet_ab_test_settings s;
    tacet_ab_test *test = NULL;
    tacet_simrng rng;
    bool claimed = false;
    tacet_ab_test_settings_defaults(&s);
    s.arms = q->arms;
    s.scale = scale;
    s.typical = q->rate;
    tacet_simrng_init(&rng, q->seed, seed);
    tacet_status status = tacet_ab_test_create(&test, &s, err);
    *tickets = 0;
    while (status == TACET_OK && !claimed && *tickets < MOST) {
        double sums[TACET_AB_ARMS_MOST] = {0}, shown[TACET_AB_ARMS_MOST] = {0};
        double left = (double)tacet_ab_epoch_size(q->arms, (size_t)*tickets);
        *tickets += left;
        for (size_t i = 0; i < q->arms; i++) {
            shown[i] = i + 1 == q->arms ? left : successes(&rng, left, 1 / (double)(q->arms - i));
            sums[i] = successes(&rng, shown[i], q->rate * (i == 0 ? 1 : q->lift)) + laplace(&rng, scale);
            left -= shown[i];
        }
        const tacet_ab_epoch epoch = {sums, shown, scale, 0};
        status = tacet_ab_test_add(test, &epoch, err);
        for (size_t i = 1; i < q->arms && status == TACET_OK; i++) {
            const tacet_ab_comparison c = tacet_ab_test_compare(test, 0, i);
            claimed = claimed || (q->lift > 1 ? c.lower > 0 : c.upper < 0);
        }
    }
    tacet_ab_test_free(test);
    return status;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mean, middle and what nine of ten runs need. */
static tacet_status summarise(json_t **out, const question *q, double scale, tacet_error *err) {
    double runs[RUNS], mean = 0, se = 0;
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < RUNS && status == TACET_OK; i++) {
        status = run(&runs[i], q, scale, i, err);
    }
    lab_mean_se(&mean, &se, runs, RUNS);
    qsort(runs, RUNS, sizeof *runs, ascending);
    *out = status == TACET_OK
               ? cli_object("mean se half nine_of_ten", J(mean), J(se), J(runs[RUNS / 2]), J(runs[RUNS * 9 / 10]))
               : NULL;
    return status;
}

/* A z-test of two arms at 5 %, two-sided, with a power of 90 %. */
static double fixed_size(const question *q) {
    const double a = q->rate, b = q->rate * q->lift, z = 1.959964 + 1.281552;
    return ceil((double)q->arms * z * z * (a * (1 - a) + b * (1 - b)) / ((b - a) * (b - a)));
}

int plan_ab(double rate, double lift, size_t arms, cli_reals eps, uint64_t seed, const cli_command *self) {
    question q = {.rate = rate, .lift = lift, .eps = eps.count > 0 ? eps.at[0] : 1, .arms = arms, .seed = seed};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    json_t *with = NULL, *without = NULL;
    if (eps.count > 1 || !(q.rate > 0 && q.rate < 1) || !(q.lift > 0 && q.lift != 1 && q.rate * q.lift < 1) ||
        !(q.eps > 0) || q.arms < 2 || q.arms > TACET_AB_ARMS_MOST) {
        return cli_usage(self,
                         "--rate lies between 0 and 1, and so does --rate times --lift, which is not 1; --eps is "
                         "above 0, and there are 2 to %d arms",
                         (int)TACET_AB_ARMS_MOST);
    }
    tacet_status status = summarise(&with, &q, 1 / q.eps, &err);
    TACET_THEN(status, summarise(&without, &q, 0, &err));
    if (status != TACET_OK) {
        json_decref(with);
        return cli_refuse(self, &err);
    }
    const double fixed = fixed_size(&q);
    (void)cli_tell(
        cli_object("rate lift arms eps with_privacy without fixed_size", J(q.rate), J(q.lift), J(q.arms), J(q.eps),
                   J(with), J(without), J(fixed)),
        "{arms} arms, rate {rate:.4g}, lift {lift:.4g}; tickets until the difference is claimed, looking as "
        "often as you like\n"
        "eps = {eps:.4g}: {with_privacy.mean:.0f} on average, half of studies by {with_privacy.half:.0f}, nine "
        "of ten by {with_privacy.nine_of_ten:.0f}\n"
        "without privacy: {without.mean:.0f} on average, half by {without.half:.0f}, nine of ten by "
        "{without.nine_of_ten:.0f}\n"
        "without privacy, one look at a size fixed beforehand, power 90 %: {fixed_size:.0f}\n");
    return code;
}
