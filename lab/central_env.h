/* SPDX-License-Identifier: Apache-2.0 */
/* central_env.h - contextual problems for bandits: that of section 6.1 of Dubey (AISTATS 2021), as far as the paper
 * defines it, and made-up ones of any dimension.
 *
 * The paper's: the domain is the ball of radius 2 in R^2. The function is a sum of four squared-exponential bumps of
 * lengthscale 1 with uniform centres and a coefficient vector uniform in the unit L1 ball, drawn again until at least
 * 0.5 % of the ball has f >= 0.8. Every round offers `arms` arms: one, in a random place, uniform among points with f
 * >= 0.8, the others uniform among points with f <= 0.6 (from a pool of 40,000 points). Rewards are Bernoulli with mean
 * f clipped to [0, 1].
 *
 * Made-up: the unit box, 32 bumps of the given lengthscale with uniform centres and normal coefficients, brought to [0,
 * 1] by its least and largest value on 4,000 points; arms are uniform in the box; a reward is f plus normal noise,
 * clipped to [0, 1].
 *
 * Drawn: a Gaussian process with Matérn 5/2 covariance over `dim` coordinates in [0, 1], `binary` coordinates of 0 or 1
 * and one category of `category` values (as so many coordinates of which one is 2^-1/2, the others 0: two different
 * values are 1 apart), drawn as 1,000 random Fourier features, brought to [lo, hi] by its least and largest value on
 * 4,000 points (every point there is, where they are fewer). Arms are drawn from these points; rewards are Bernoulli,
 * or the mean plus normal noise clipped to [0, 1] where `noise` is above 0. `tacet-lab simulate central` draws
 * functions of binary columns alone with lengthscale 4, so that the columns' effects nearly add up, from 0.15 to 0.85,
 * while the learner believes a lengthscale of 1: arms at random then lose 0.27 a round, as in the problem the learners
 * were made for, of which no more is known. With a lengthscale of 0.5 or 2, given to the learner, corners are far
 * harder. Ring: programs; made-up data. */
#pragma once

#include "reward_law.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "gp/features.h"
#include <tacet/core/simrng.h>
#include <tacet/core/status.h>

enum { CENTRAL_ENV_POOL = 40000, CENTRAL_ENV_MOST_BUMPS = 32, CENTRAL_ENV_MOST_DIM = 3, CENTRAL_ENV_MOST_COLUMNS = 32 };

/* dim = 0: the paper's. */
typedef struct central_world {
    size_t dim;
    double lengthscale;    /* as a fraction of the box's side */
    double noise;          /* standard deviation of a reward */
    double believed;       /* the learner's lengthscale over the true one; 0: 1 */
    lab_reward_law reward; /* drawn: how rewards scatter, where noise is above 0 */
    bool drawn;            /* of a Gaussian process; then also: */
    size_t binary, category;
    double lo, hi;
    bool permuted; /* drawn: a reward is that of another arm, drawn anew: values tell nothing of inputs */
    double skew;   /* the scaled function is taken to this power: above 1 most arms are poor */
    /* Filled by central_world_domain. */
    double lower[CENTRAL_ENV_MOST_COLUMNS], upper[CENTRAL_ENV_MOST_COLUMNS];
    size_t levels[CENTRAL_ENV_MOST_COLUMNS], choice[CENTRAL_ENV_MOST_COLUMNS];
} central_world;

typedef struct central_env {
    central_world world;
    size_t dim, bumps;
    double lengthscale;
    double coefficient[CENTRAL_ENV_MOST_BUMPS];
    double centre[CENTRAL_ENV_MOST_DIM * CENTRAL_ENV_MOST_BUMPS];
    double *pool; /* paper: low points from the front, good points from the back; NULL: made-up */
    size_t low, good;
    double least, range; /* made-up, drawn: of the sum of bumps or waves */
    double *waves;       /* drawn: frequencies, phases, amplitudes; NULL: not drawn */
    double *means;       /* drawn: of the pool's points */
    size_t points;       /* drawn: of the pool */
    tacet_simrng rng;
} central_env;

/* What is public of a world: its dimension, domain and lengthscale in the domain's units. */
size_t central_world_dim(const central_world *world);
tacet_domain central_world_domain(central_world *world); /* drawn: its arrays live as long as the world */
/* Mercer features that a model of it takes: 25 for the paper's. */
size_t central_world_features(const central_world *world);
/* Features of its domain: `count` Mercer features, or (published) quadrature Fourier features as in the paper. */
tacet_status central_world_features_create(tacet_features **out, central_world *world, bool published, size_t count,
                                           tacet_error *err);
/* Quadrature Fourier features of `order` nodes a coordinate. */
tacet_status central_world_qff(tacet_features **out, const central_world *world, size_t order, tacet_error *err);

/* Whether there can be such a world; before anything else is asked of it. INVALID: a dimension above
 * CENTRAL_ENV_MOST_DIM, more than CENTRAL_ENV_MOST_COLUMNS columns, a lengthscale that is not positive, negative
 * noise. */
tacet_status central_world_check(const central_world *world, tacet_error *err);
/* The `trial`-th function of a seed. INVALID: as central_world_check. NO_MEMORY. */
tacet_status central_env_create(central_env **out, const central_world *world, uint64_t seed, uint64_t trial,
                                tacet_error *err);
void central_env_free(central_env *env);
/* Mean reward at x. */
double central_env_mean(const central_env *env, const double *x);
/* Fills a decision set (dim x arms); returns the best mean in it. */
double central_env_round(central_env *env, double *arms, size_t count);
double central_env_reward(central_env *env, const double *x); /* in [0, 1] */
double central_env_top(const central_env *env);               /* drawn: the best mean over the pool */
