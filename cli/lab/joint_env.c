/* joint_env.c - the contextual problem of section 6.1. Ring: programs; made-up data. */
#include "joint_env.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double RADIUS = 2, GOOD = 0.8, LOW = 0.6, GOOD_SHARE = 0.005;
const tacet_domain JOINT_ENV_DOMAIN = {.kind = TACET_DOMAIN_BALL, .d = JOINT_ENV_DIM, .radius = 2};

static void uniform_in_ball(tacet_simrng *rng, double *x) {
    const double angle = 2 * acos(-1) * tacet_simrng_uniform(rng);
    const double radius = RADIUS * sqrt(tacet_simrng_uniform(rng));
    x[0] = radius * cos(angle);
    x[1] = radius * sin(angle);
}

static double value(const joint_env *env, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < JOINT_ENV_BUMPS; i++) {
        const double dx = x[0] - env->centre[2 * i], dy = x[1] - env->centre[2 * i + 1];
        sum += env->coefficient[i] * exp(-0.5 * (dx * dx + dy * dy));
    }
    return sum;
}

/* Uniform in the unit L1 ball: exponential magnitudes on the simplex, scaled by u^(1/n), random signs. Returns the sum
 * of the positive ones, an upper bound of the function. */
static double draw_function(joint_env *env) {
    double sum = 0, positive = 0;
    for (size_t i = 0; i < JOINT_ENV_BUMPS; i++) {
        uniform_in_ball(&env->rng, env->centre + 2 * i);
        env->coefficient[i] = tacet_simrng_exponential(&env->rng);
        sum += env->coefficient[i];
    }
    const double scale = pow(tacet_simrng_uniform(&env->rng), 1.0 / JOINT_ENV_BUMPS) / sum;
    for (size_t i = 0; i < JOINT_ENV_BUMPS; i++) {
        env->coefficient[i] *= tacet_simrng_uniform(&env->rng) < 0.5 ? -scale : scale;
        positive += fmax(0, env->coefficient[i]);
    }
    return positive;
}

tacet_status joint_env_create(joint_env **out, uint64_t seed, uint64_t trial, tacet_error *err) {
    *out = NULL;
    joint_env *env = calloc(1, sizeof *env);
    double *pool = malloc(sizeof(double) * JOINT_ENV_DIM * JOINT_ENV_POOL);
    if (env == NULL || pool == NULL) {
        free(env);
        free(pool);
        if (err != NULL) {
            err->status = TACET_NO_MEMORY;
        }
        return TACET_NO_MEMORY;
    }
    env->pool = pool;
    tacet_simrng_init(&env->rng, seed, trial);
    do {
        env->low = env->good = 0;
        if (draw_function(env) < GOOD) {
            continue;
        }
        for (size_t i = 0; i < JOINT_ENV_POOL; i++) {
            double x[JOINT_ENV_DIM];
            uniform_in_ball(&env->rng, x);
            const double f = value(env, x);
            if (f <= LOW) {
                memcpy(pool + JOINT_ENV_DIM * env->low++, x, sizeof x);
            } else if (f >= GOOD) {
                memcpy(pool + JOINT_ENV_DIM * (JOINT_ENV_POOL - ++env->good), x, sizeof x);
            }
        }
    } while ((double)env->good < GOOD_SHARE * JOINT_ENV_POOL || env->low == 0);
    *out = env;
    return TACET_OK;
}

void joint_env_free(joint_env *env) {
    if (env != NULL) {
        free(env->pool);
        free(env);
    }
}

double joint_env_mean(const joint_env *env, const double *x) {
    return fmin(fmax(value(env, x), 0), 1);
}

double joint_env_round(joint_env *env, double *arms, size_t count) {
    const size_t place = tacet_simrng_below(&env->rng, count);
    double best = 0;
    for (size_t a = 0; a < count; a++) {
        const size_t k = a == place ? JOINT_ENV_POOL - 1 - tacet_simrng_below(&env->rng, env->good)
                                    : tacet_simrng_below(&env->rng, env->low);
        memcpy(arms + JOINT_ENV_DIM * a, env->pool + JOINT_ENV_DIM * k, JOINT_ENV_DIM * sizeof(double));
        best = fmax(best, joint_env_mean(env, arms + JOINT_ENV_DIM * a));
    }
    return best;
}

double joint_env_reward(joint_env *env, const double *x) {
    return tacet_simrng_uniform(&env->rng) < joint_env_mean(env, x) ? 1 : 0;
}
