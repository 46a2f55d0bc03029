/* joint_env.h - the contextual problem of section 6.1 of Dubey (AISTATS 2021), as far as the paper defines it.
 *
 * The domain is the ball of radius 2 in R^2. The function is a sum of four squared-exponential bumps of lengthscale 1
 * with uniform centres and a coefficient vector uniform in the unit L1 ball, drawn again until at least 0.5 % of the
 * ball has f >= 0.8. Every round offers `arms` arms: one, in a random place, uniform among points with f >= 0.8, the
 * others uniform among points with f <= 0.6 (from a pool of 40,000 points). Rewards are Bernoulli with mean f clipped
 * to [0, 1]. Ring: programs; made-up data. */
#ifndef TACET_CLI_LAB_JOINT_ENV_H
#define TACET_CLI_LAB_JOINT_ENV_H

#include <stddef.h>
#include <stdint.h>
#include <tacet/base/features.h>
#include <tacet/base/simrng.h>
#include <tacet/base/status.h>

enum { JOINT_ENV_DIM = 2, JOINT_ENV_BUMPS = 4, JOINT_ENV_POOL = 40000 };

typedef struct joint_env {
    double coefficient[JOINT_ENV_BUMPS];
    double centre[JOINT_ENV_DIM * JOINT_ENV_BUMPS];
    double *pool; /* low points from the front, good points from the back */
    size_t low, good;
    tacet_simrng rng;
} joint_env;

/* The public domain. */
extern const tacet_domain JOINT_ENV_DOMAIN;
/* The `trial`-th function of a seed. NO_MEMORY. */
tacet_status joint_env_create(joint_env **out, uint64_t seed, uint64_t trial, tacet_error *err);
void joint_env_free(joint_env *env);
/* Mean reward at x. */
double joint_env_mean(const joint_env *env, const double *x);
/* Fills a decision set (2 x arms); returns the best mean in it. */
double joint_env_round(joint_env *env, double *arms, size_t count);
double joint_env_reward(joint_env *env, const double *x); /* 0 or 1 */

#endif
