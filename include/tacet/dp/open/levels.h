/* SPDX-License-Identifier: Apache-2.0 */
/* levels.h - one of k levels released under "eps for a change of level": the two ways, as public arithmetic.
 *
 *   response  exact k-ary randomised response: the level is kept with probability e^eps/(e^eps + k - 1), every other
 * one comes out with probability 1/(e^eps + k - 1). Pure eps. simplex   the level is a vertex of a regular simplex with
 * sides of length 1, and gets the noise of the numbers.
 *
 * They are compared by what they tell: the mean probability that the truth has, given what was released, when every
 * level is as likely as another. 1/k says nothing, 1 everything. src/dp/mechanisms/levels.md has proofs and a table. */
#ifndef TACET_DP_OPEN_LEVELS_H
#define TACET_DP_OPEN_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/export.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACET_LEVELS_MOST = 1024 };

typedef enum tacet_levels_way { TACET_LEVELS_RESPONSE, TACET_LEVELS_SIMPLEX } tacet_levels_way;

/* "response", "simplex"; NULL beyond. */
TACET_API const char *tacet_levels_name(tacet_levels_way way);
/* Response: the probability to keep a level, and that of each other one. k >= 2, eps >= 0. */
TACET_API double tacet_levels_keep(size_t k, double eps);
TACET_API double tacet_levels_other(size_t k, double eps);
/* The mean probability of the truth under response: keep^2 + (k - 1) other^2. */
TACET_API double tacet_levels_told(size_t k, double eps);
/* The same on the simplex under Gaussian noise of standard deviation sigma a coordinate, and under Euclidean Laplace
 * noise of its own of scale theta. By 4,096 draws from a fixed seed: the same on every machine to 0.01. */
TACET_API double tacet_levels_told_gaussian(size_t k, double sigma);
TACET_API double tacet_levels_told_laplace(size_t k, double theta);
/* The public rule for a release whose numbers get Gaussian noise: the simplex when it tells more than response by more
 * than one part in fifty of what there is to tell, response otherwise. With Laplace noise it is always response. */
TACET_API tacet_levels_way tacet_levels_choose(size_t k, double eps, bool gaussian, double sigma);

#ifdef __cplusplus
}
#endif
#endif
