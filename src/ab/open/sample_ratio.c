/* SPDX-License-Identifier: Apache-2.0 */
/* sample_ratio.c - were actions shown as often as planned? A sample-ratio check on released counts.
 * Ring: open; post-processing. Source: src/ab/README.md, "Sample ratio". The statistic is the distance of the released
 * counts from the planned ones under the covariance that sampling and noise give them, its law drawn from a public
 * seed: noise has longer tails than a table of chi-square knows of. Cost: DRAWS passes over the actions. */
#include <tacet/ab/open/model.h>

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <tacet/core/simrng.h>

enum { DRAWS = 9999, SUMMED = 32 }; /* more numbers than this make a Gaussian sum */
static const uint64_t SEED = 21;    /* public */

typedef struct plan_of {
    size_t actions, summed; /* noisy numbers that a count is the sum of */
    double rows, b, *share, *off;
} plan_of;

/* d'S^-1 d, S = diag(rows share + noise) - rows share share' (Sherman, Morrison). */
static double distance(const plan_of *p) {
    const double noise = fmax(2 * p->b * p->b * (double)p->summed, 1e-6);
    double square = 0, along = 0, left = 1;
    for (size_t a = 0; a < p->actions; a++) {
        const double s = p->share[a], D = p->rows * s + noise;
        square += p->off[a] * p->off[a] / D;
        along += s * p->off[a] / D;
        left -= p->rows * s * s / D;
    }
    return square + p->rows * along * along / left;
}

static double draw_noise(const plan_of *p, tacet_simrng *rng) {
    double sum = 0;
    if (p->summed > SUMMED) {
        return p->b * sqrt(2 * (double)p->summed) * tacet_simrng_normal(rng);
    }
    for (size_t i = 0; i < p->summed; i++) {
        sum += log((tacet_simrng_uniform(rng) + 1e-300) / (tacet_simrng_uniform(rng) + 1e-300));
    }
    return p->b * sum;
}

/* How far counts are off, where actions were shown as planned. */
static void draw_off(plan_of *p, tacet_simrng *rng) {
    double along = 0;
    for (size_t a = 0; a < p->actions; a++) {
        p->off[a] = sqrt(p->share[a]) * tacet_simrng_normal(rng);
        along += p->off[a];
    }
    for (size_t a = 0; a < p->actions; a++) {
        p->off[a] = sqrt(p->rows) * (p->off[a] - p->share[a] * along) + draw_noise(p, rng);
    }
}

static double count_of(const tacet_ab_facts *f, size_t a) {
    const size_t A = f->plan.actions, K = f->plan.cells;
    double sum = 0;
    if (f->plan.totals) {
        return f->released[2 * K + a] + f->released[2 * K + A + a];
    }
    for (size_t i = a; i < K; i += A) {
        sum += f->released[i] + f->released[K + i];
    }
    return sum;
}

tacet_status tacet_ab_model_split(const tacet_ab_model *model, double *shown, double *p_value, const double *weights,
                                  tacet_error *err) {
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    plan_of p = {.actions = f->plan.actions,
                 .summed = 2 * (f->plan.totals ? 1 : f->plan.contexts),
                 .rows = (double)f->table_rows,
                 .b = f->scale};
    tacet_simrng rng;
    double sum = 0;
    size_t above = 0;
    if (f->plan.study) {
        return tacet__fail(err, TACET_INVALID, "a study that earns chooses its actions itself: no split was planned");
    }
    for (size_t a = 0; a < p.actions; a++) {
        if (!(weights[a] > 0 && isfinite(weights[a]))) {
            return tacet__fail(err, TACET_INVALID, "a planned share is above 0");
        }
        sum += weights[a];
    }
    const tacet__array arrays[] = {{&p.share, p.actions, 1}, {&p.off, p.actions, 1}};
    if (!tacet__zalloc_arrays(arrays, 2)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu actions", p.actions);
    }
    for (size_t a = 0; a < p.actions; a++) {
        p.share[a] = weights[a] / sum;
        shown[a] = count_of(f, a) / p.rows;
        p.off[a] = p.rows * (shown[a] - p.share[a]);
    }
    const double seen = distance(&p);
    tacet_simrng_init(&rng, SEED, 0);
    for (size_t i = 0; i < DRAWS; i++) {
        draw_off(&p, &rng);
        above += distance(&p) >= seen ? 1 : 0;
    }
    *p_value = (1 + (double)above) / (1 + (double)DRAWS);
    free(p.share);
    free(p.off);
    return TACET_OK;
}
