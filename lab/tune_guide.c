/* SPDX-License-Identifier: Apache-2.0 */
/* tune_guide.c - GP-EI over a space of settings, for comparison. Ring: programs.
 * Source: Jones, Schonlau, Welch 1998. Matern 5/2 over all columns; a category that differs counts as a fixed distance;
 * lengthscale and amplitude by evidence, now and then. Cost: O(t^2) a candidate and step, O(t^3) a refit. */
#include "tune_guide.h"

#include "core/fail.h"
#include "core/memory.h"
#include "tune/trusted/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM = 200, NEAR = 200 };
static const double SCALES[] = {.15, .3, .6, 1.2}, LEVELS_APART = .5, NUGGET = 1e-6;

struct tune_guide {
    const tacet_space *space;
    size_t d, count, most, fitted; /* fitted: at how many points lengthscale and amplitude were chosen */
    double *cubes, *scores, *variance;
    double *factor, *alpha, *work; /* Cholesky factor, row-major; weights; a vector */
    double scale, mean, amplitude;
};

tacet_status tune_guide_create(tune_guide **out, const tacet_space *space, size_t most, tacet_error *err) {
    tune_guide *g = TACET__ZALLOC(tune_guide, 1);
    *out = g;
    if (g == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model");
    }
    g->space = space;
    g->d = space->count;
    g->most = most;
    g->scale = .3;
    g->amplitude = .01;
    g->cubes = TACET__ZALLOC(double, most * g->d);
    g->scores = TACET__ZALLOC(double, most);
    g->variance = TACET__ZALLOC(double, most);
    g->factor = TACET__ZALLOC(double, most *most);
    g->alpha = TACET__ZALLOC(double, most);
    g->work = TACET__ZALLOC(double, most);
    if (g->cubes == NULL || g->scores == NULL || g->variance == NULL || g->factor == NULL || g->alpha == NULL ||
        g->work == NULL) {
        tune_guide_free(g);
        *out = NULL;
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model");
    }
    return TACET_OK;
}

void tune_guide_free(tune_guide *g) {
    if (g != NULL) {
        free(g->cubes);
        free(g->scores);
        free(g->variance);
        free(g->factor);
        free(g->alpha);
        free(g->work);
        free(g);
    }
}

static double correlation(const tune_guide *g, const double *a, const double *b) {
    double square = 0;
    for (size_t j = 0; j < g->d; j++) {
        const tacet_space_column *c = &g->space->columns[j];
        double e = a[j] - b[j];
        if (tacet_space_traits_of(c)->levels) {
            const double levels = (double)c->level_count;
            e = floor(a[j] * levels) != floor(b[j] * levels) ? LEVELS_APART : 0;
        }
        square += e * e;
    }
    const double r = sqrt(5 * square) / g->scale;
    return (1 + r + r * r / 3) * exp(-r);
}

/* Row i of the factor. */
static void factor_row(tune_guide *g, size_t i) {
    double *row = g->factor + i * g->most;
    for (size_t j = 0; j <= i; j++) {
        double sum = g->amplitude * correlation(g, g->cubes + i * g->d, g->cubes + j * g->d);
        sum += i == j ? g->variance[i] + NUGGET * g->amplitude : 0;
        const double *other = g->factor + j * g->most;
        for (size_t k = 0; k < j; k++) {
            sum -= row[k] * other[k];
        }
        row[j] = i == j ? sqrt(fmax(sum, 1e-14)) : sum / other[j];
    }
}

/* Weights of the scores; returns the log evidence. */
static double solve_weights(tune_guide *g) {
    double evidence = 0;
    for (size_t i = 0; i < g->count; i++) {
        double sum = g->scores[i] - g->mean;
        for (size_t k = 0; k < i; k++) {
            sum -= g->factor[i * g->most + k] * g->work[k];
        }
        g->work[i] = sum / g->factor[i * g->most + i];
        evidence -= .5 * g->work[i] * g->work[i] + log(g->factor[i * g->most + i]);
    }
    for (size_t i = g->count; i-- > 0;) {
        double sum = g->work[i];
        for (size_t k = i + 1; k < g->count; k++) {
            sum -= g->factor[k * g->most + i] * g->alpha[k];
        }
        g->alpha[i] = sum / g->factor[i * g->most + i];
    }
    return evidence;
}

static double factor_all(tune_guide *g) {
    for (size_t i = 0; i < g->count; i++) {
        factor_row(g, i);
    }
    return solve_weights(g);
}

static void refit(tune_guide *g) {
    double best = -INFINITY, scale = g->scale, amplitude = g->amplitude, square = 0, noise = 0;
    g->mean = 0;
    for (size_t i = 0; i < g->count; i++) {
        g->mean += g->scores[i] / (double)g->count;
        noise += g->variance[i] / (double)g->count;
    }
    for (size_t i = 0; i < g->count; i++) {
        square += (g->scores[i] - g->mean) * (g->scores[i] - g->mean) / (double)g->count;
    }
    const double base = fmax(square - noise, 1e-5);
    for (size_t i = 0; i < sizeof SCALES / sizeof *SCALES; i++) {
        for (int k = 0; k < 3; k++) {
            g->scale = SCALES[i];
            g->amplitude = base * pow(3, k - 0.5);
            const double evidence = factor_all(g);
            if (evidence > best) {
                best = evidence;
                scale = g->scale;
                amplitude = g->amplitude;
            }
        }
    }
    g->scale = scale;
    g->amplitude = amplitude;
    g->fitted = g->count;
    (void)factor_all(g);
}

void tune_guide_add(tune_guide *g, const double *cube, double score, double variance) {
    memcpy(g->cubes + g->count * g->d, cube, g->d * sizeof *cube);
    g->scores[g->count] = score;
    g->variance[g->count] = variance;
    factor_row(g, g->count++);
}

static void predict(tune_guide *g, const double *cube, double *mean, double *sd) {
    double square = 0;
    *mean = g->mean;
    for (size_t i = 0; i < g->count; i++) {
        const double k = g->amplitude * correlation(g, cube, g->cubes + i * g->d);
        double sum = k;
        *mean += k * g->alpha[i];
        const double *row = g->factor + i * g->most;
        for (size_t j = 0; j < i; j++) {
            sum -= row[j] * g->work[j];
        }
        g->work[i] = sum / row[i];
        square += g->work[i] * g->work[i];
    }
    *sd = sqrt(fmax(g->amplitude - square, 1e-12));
}

static double improvement(double mean, double sd, double best) {
    const double z = (mean - best) / sd;
    return (mean - best) * .5 * erfc(-z / sqrt(2)) + sd * exp(-.5 * z * z) / sqrt(2 * M_PI);
}

static void step_from(const tune_guide *g, double *cube, const double *centre, tacet_simrng *rng) {
    const double step = .2 * pow(.1, tacet_simrng_uniform(rng));
    const size_t surely = tacet_simrng_below(rng, g->d);
    for (size_t j = 0; j < g->d; j++) {
        cube[j] = centre[j];
        if (j == surely || tacet_simrng_uniform(rng) < .4) {
            const bool category = tacet_space_traits_of(&g->space->columns[j])->levels;
            const double moved = category ? tacet_simrng_uniform(rng) : centre[j] + step * tacet_simrng_normal(rng);
            cube[j] = fmin(fmax(moved, 0), 1);
        }
    }
}

void tune_guide_propose(tune_guide *g, double *cube, tacet_simrng *rng) {
    double best = -INFINITY, most = -INFINITY;
    size_t at = 0;
    if (g->fitted == 0 || g->count >= g->fitted + g->fitted / 3) {
        refit(g);
    } else {
        (void)solve_weights(g);
    }
    for (size_t i = 0; i < g->count; i++) {
        /* Posterior mean at a point of the data: score less what the noise took. */
        const double mean = g->scores[i] - (g->variance[i] + NUGGET * g->amplitude) * g->alpha[i];
        at = mean > best ? i : at;
        best = fmax(best, mean);
    }
    for (int c = 0; c < RANDOM + NEAR; c++) {
        double point[TACET_SPACE_COLUMNS], mean = 0, sd = 0;
        for (size_t j = 0; j < g->d; j++) {
            point[j] = tacet_simrng_uniform(rng);
        }
        if (c >= RANDOM) {
            step_from(g, point, g->cubes + at * g->d, rng);
        }
        predict(g, point, &mean, &sd);
        const double gain = improvement(mean, sd, best);
        if (gain > most) {
            most = gain;
            memcpy(cube, point, g->d * sizeof *cube);
        }
    }
}
