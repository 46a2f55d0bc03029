/* SPDX-License-Identifier: Apache-2.0 */
/* levels.c - what a released level tells: randomised response and noise on a simplex compared.
 * Ring: open. Source: Kairouz, Bonawitz, Ramage 2016 (k-ary randomised response). The inner products of a point with
 * the sides of a regular simplex are differences of independent normals over sqrt 2, so no coordinates are needed.
 * Cost: 4,096 k draws. */
#include <tacet/dp/open/calibrate.h>

#include <math.h>
#include <tacet/core/simrng.h>

enum { DRAWS = 4096 };
static const double MARGIN = 0.02; /* of what there is to tell, 1 - 1/k: above the error of the draws */

const char *tacet_levels_name(tacet_levels_way way) {
    return way == TACET_LEVELS_RESPONSE ? "response" : way == TACET_LEVELS_SIMPLEX ? "simplex" : NULL;
}

double tacet_levels_keep(size_t k, double eps) {
    return 1 / (1 + (double)(k - 1) * exp(-eps));
}

double tacet_levels_other(size_t k, double eps) {
    return exp(-eps) / (1 + (double)(k - 1) * exp(-eps));
}

double tacet_levels_told(size_t k, double eps) {
    const double keep = tacet_levels_keep(k, eps);
    const double other = tacet_levels_other(k, eps);
    return keep * keep + (double)(k - 1) * other * other;
}

/* Level 0 is the truth. side[j] is the inner product of a standard normal vector of the simplex' space with the side
 * from level 0 to level j + 1; returns the vector's squared norm. */
static double draw_sides(tacet_simrng *rng, double *side, size_t k) {
    const double first = tacet_simrng_normal(rng);
    double sum = first;
    double squares = first * first;
    for (size_t j = 0; j + 1 < k; j++) {
        const double e = tacet_simrng_normal(rng);
        side[j] = (e - first) * M_SQRT1_2;
        sum += e;
        squares += e * e;
    }
    return squares - sum * sum / (double)k;
}

double tacet_levels_told_gaussian(size_t k, double sigma) {
    double side[TACET_LEVELS_MOST];
    double told = 0;
    tacet_simrng rng;
    tacet_simrng_init(&rng, 1, k);
    for (int t = 0; t < DRAWS; t++) {
        double others = 0;
        (void)draw_sides(&rng, side, k);
        for (size_t j = 0; j + 1 < k; j++) {
            others += exp(side[j] / sigma - 0.5 / (sigma * sigma));
        }
        told += 1 / (1 + others);
    }
    return told / DRAWS;
}

double tacet_levels_told_laplace(size_t k, double theta) {
    double side[TACET_LEVELS_MOST];
    double told = 0;
    tacet_simrng rng;
    tacet_simrng_init(&rng, 2, k);
    for (int t = 0; t < DRAWS; t++) {
        double others = 0;
        double radius = 0; /* Gamma(k - 1, theta) */
        const double norm = sqrt(draw_sides(&rng, side, k));
        for (size_t j = 0; j + 1 < k; j++) {
            radius += theta * tacet_simrng_exponential(&rng);
        }
        for (size_t j = 0; j + 1 < k; j++) {
            const double along = radius * side[j] / norm;
            others += exp((radius - sqrt(fmax(radius * radius - 2 * along + 1, 0))) / theta);
        }
        told += 1 / (1 + others);
    }
    return told / DRAWS;
}

tacet_levels_way tacet_levels_choose(size_t k, double eps, bool gaussian, double sigma) {
    if (!gaussian) {
        return TACET_LEVELS_RESPONSE;
    }
    const double margin = MARGIN * (1 - 1 / (double)k);
    return tacet_levels_told_gaussian(k, sigma) > tacet_levels_told(k, eps) + margin ? TACET_LEVELS_SIMPLEX
                                                                                     : TACET_LEVELS_RESPONSE;
}
