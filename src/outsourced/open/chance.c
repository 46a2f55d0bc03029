/* SPDX-License-Identifier: Apache-2.0 */
/* chance.c - where as many random rows would have ended, told from a few rows that were asked at random.
 * Ring: open. The values of random rows are taken for draws from Tukey's g family, a + b (exp(g z) - 1) / g with z
 * standard normal: location, scale and skewness, so that the largest of q further draws can be extrapolated to with the
 * uncertainty that so few values leave. Prior flat in a and log b, g ~ N(0, 1/4); sampled by Metropolis with a fixed
 * seed. Differs from a bootstrap, which knows no value larger than the largest seen. Cost: a few ms. */
#include <tacet/outsourced/open/modeler.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "outsourced/open/ladder_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

enum { STEPS = 12000, BURN = 2000, EVERY = 4, KEPT = (STEPS - BURN) / EVERY, LEAST = 4 };
static const double SKEW_SD = 0.5;
static const uint64_t CHANCE_SEED = 7;

typedef struct shape {
    double a, log_b, g;
} shape;

static double quantile_of(const shape *s, double z) {
    return s->a + exp(s->log_b) * (fabs(s->g) < 1e-6 ? z : expm1(s->g * z) / s->g);
}

/* Log posterior density, up to a constant; -infinity outside the family's range. */
static double density(const shape *s, const double *v, size_t count) {
    double sum = -0.5 * (s->g / SKEW_SD) * (s->g / SKEW_SD) - (double)count * s->log_b;
    const double b = exp(s->log_b);
    for (size_t i = 0; i < count; i++) {
        const double u = (v[i] - s->a) / b;
        const double inside = 1 + s->g * u;
        if (!(inside > 0)) {
            return -INFINITY;
        }
        const double log_inside = log(inside);
        const double z = fabs(s->g) < 1e-6 ? u : log_inside / s->g;
        sum -= 0.5 * z * z + log_inside;
    }
    return sum;
}

/* v: mean 0, variance 1. best: KEPT draws of the largest of `queries`. */
static void sample(double *best, const double *v, size_t count, size_t queries) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, CHANCE_SEED, count);
    shape s = {0, 0, 0};
    double here = density(&s, v, count);
    const double width = 1.2 / sqrt((double)count);
    for (size_t step = 0; step < STEPS; step++) {
        shape next = s;
        next.a += width * exp(s.log_b) * tacet_simrng_normal(&rng);
        next.log_b += width * tacet_simrng_normal(&rng);
        next.g += 0.4 * tacet_simrng_normal(&rng);
        /* The step in a is in units of b: the ratio of the proposals is that of the two scales. */
        const double back = -0.5 * pow((next.a - s.a) / (width * exp(next.log_b)), 2) - next.log_b;
        const double forth = -0.5 * pow((next.a - s.a) / (width * exp(s.log_b)), 2) - s.log_b;
        const double there = density(&next, v, count);
        if (log(1 - tacet_simrng_uniform(&rng)) < there - here + back - forth) {
            s = next;
            here = there;
        }
        if (step >= BURN && (step - BURN) % EVERY == 0) {
            const double u = log(1 - tacet_simrng_uniform(&rng)) / (double)queries; /* of the largest's rank */
            const double tail = -expm1(u);
            const double z = tail > 0 ? -tacet__ladder_quantile(fmin(tail, 1 - 1e-12)) : 8;
            best[(step - BURN) / EVERY] = quantile_of(&s, z);
        }
    }
    tacet__sort(best, KEPT);
}

tacet_status tacet_chance_estimate(tacet_chance *out, const double *values, size_t count, size_t queries, bool minimize,
                                   tacet_error *err) {
    *out = (tacet_chance){.rows = count, .queries = queries};
    if (count < LEAST || queries == 0) {
        return tacet__fail(err, TACET_STATE, "%d values of random rows are needed, and a query", LEAST);
    }
    double *v = TACET__ZALLOC(double, count);
    double *best = TACET__ZALLOC(double, KEPT);
    if (v == NULL || best == NULL) {
        free(v);
        free(best);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the band of chance");
    }
    const double sign = minimize ? -1 : 1;
    double mean = 0;
    double square = 0;
    for (size_t i = 0; i < count; i++) {
        mean += sign * values[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        v[i] = sign * values[i] - mean;
        square += v[i] * v[i] / (double)count;
    }
    const double sd = sqrt(square);
    for (size_t i = 0; i < count; i++) {
        v[i] /= sd;
    }
    if (!(sd > 0 && isfinite(sd))) {
        free(v);
        free(best);
        return tacet__fail(err, TACET_STATE, "the values of the random rows are all equal");
    }
    sample(best, v, count, queries);
    out->low = sign * (mean + sd * best[KEPT / 20]);
    out->median = sign * (mean + sd * best[KEPT / 2]);
    out->high = sign * (mean + sd * best[KEPT - 1 - KEPT / 20]);
    free(v);
    free(best);
    return TACET_OK;
}

/* The k-th largest of n is the best of `queries` random rows with probability C(n-k, queries-1) / C(n, queries); the
 * ratio to what is left over the first k is queries / (n - k), k from 0. */
tacet_status tacet_chance_exact(tacet_chance *out, double *mean, const double *values, size_t n, size_t queries,
                                bool minimize, tacet_error *err) {
    *out = (tacet_chance){.rows = n, .queries = queries};
    *mean = 0;
    if (queries == 0 || queries > n) {
        return tacet__fail(err, TACET_INVALID, "%zu random rows of %zu", queries, n);
    }
    double *v = TACET__ZALLOC(double, n);
    if (v == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu values", n);
    }
    const double sign = minimize ? -1 : 1;
    for (size_t i = 0; i < n; i++) {
        v[i] = -sign * values[i]; /* best first */
    }
    tacet__sort(v, n);
    double left = 1;
    double sum = 0;
    size_t quantile[3] = {n - 1, n - 1, n - 1};
    static const double SHARES[3] = {0.05, 0.5, 0.95}; /* of the probability left below: worse, middle, better */
    for (size_t k = 0; k < n; k++) {
        const double here = fmin(left, left * (double)queries / (double)(n - k));
        sum -= here * v[k];
        left -= here;
        for (size_t q = 0; q < 3; q++) {
            quantile[q] = left <= SHARES[q] && quantile[q] == n - 1 ? k : quantile[q];
        }
        if (!(left > 1e-15)) {
            break;
        }
    }
    *mean = sign * sum;
    out->low = -sign * v[quantile[0]];
    out->median = -sign * v[quantile[1]];
    out->high = -sign * v[quantile[2]];
    free(v);
    return TACET_OK;
}
