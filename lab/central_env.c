/* SPDX-License-Identifier: Apache-2.0 */
/* central_env.c - contextual problems: that of section 6.1, and made-up ones. Ring: programs; made-up data. */
#include "central_env.h"

#include "central/shared/features.h"
#include "gp/domain.h"
#include "core/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double RADIUS = 2, GOOD = 0.8, LOW = 0.6, GOOD_SHARE = 0.005;
enum { WAVES = 1000, DRAWN_POOL = 4000, DRAWN_FEATURES_2 = 40, DRAWN_FEATURES_3 = 60 };
enum { PAPER_DIM = 2, PAPER_BUMPS = 4, PROBES = 4000, PAPER_FEATURES = 25, MOST_FEATURES = 100, QFF_ORDER = 10 };
static const double ZERO[CENTRAL_ENV_MOST_DIM] = {0, 0, 0};
static const double ONE[CENTRAL_ENV_MOST_DIM] = {1, 1, 1};

size_t central_world_dim(const central_world *world) {
    if (world->drawn) {
        return world->dim + world->binary + world->category;
    }
    return world->dim == 0 ? PAPER_DIM : world->dim;
}

static tacet_domain drawn_domain(central_world *world) {
    const size_t d = central_world_dim(world);
    for (size_t c = 0; c < d; c++) {
        const bool category = c >= world->dim + world->binary;
        world->lower[c] = 0;
        world->upper[c] = category ? sqrt(0.5) : 1;
        world->levels[c] = c < world->dim ? 0 : 2;
        world->choice[c] = category ? 1 : 0;
    }
    return (tacet_domain){.kind = TACET_DOMAIN_BOX,
                          .d = d,
                          .lower = world->lower,
                          .upper = world->upper,
                          .levels = world->levels,
                          .choice = world->choice};
}

tacet_domain central_world_domain(central_world *world) {
    if (world->drawn) {
        return drawn_domain(world);
    }
    if (world->dim == 0) {
        return (tacet_domain){.kind = TACET_DOMAIN_BALL, .d = PAPER_DIM, .radius = RADIUS};
    }
    return (tacet_domain){.kind = TACET_DOMAIN_BOX, .d = world->dim, .lower = ZERO, .upper = ONE};
}

static double world_lengthscale(const central_world *world) {
    return world->dim == 0 && !world->drawn ? 1 : world->lengthscale;
}

/* As many as there are cells of a lengthscale, with a border: 25 at a quarter of the side of a square. */
size_t central_world_features(const central_world *world) {
    if (world->dim == 0 && !world->drawn) {
        return PAPER_FEATURES;
    }
    if (world->drawn) {
        return central_world_dim(world) <= 2 ? DRAWN_FEATURES_2 : DRAWN_FEATURES_3;
    }
    const double cells = pow(1 + 1 / world->lengthscale, (double)world->dim);
    return (size_t)fmin(MOST_FEATURES, fmax(5, ceil(cells)));
}

static size_t order(const central_world *world) {
    return world->dim == 0 || world->dim == 2 ? 14 : world->dim == 1 ? 40 : 8;
}

static tacet_status world_kernel(tacet_kernel **out, const central_world *world, tacet_error *err) {
    const double lengthscale = world_lengthscale(world) * (world->believed > 0 ? world->believed : 1);
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    spec.d = central_world_dim(world);
    spec.lengthscales = &lengthscale;
    spec.lengthscale_count = 1;
    if (world->drawn) {
        spec.kind = TACET_KERNEL_MATERN;
        spec.matern_p = 2;
    }
    return tacet_kernel_create(out, &spec, err);
}

tacet_status central_world_qff(tacet_features **out, const central_world *world, size_t order, tacet_error *err) {
    tacet_kernel *kernel = NULL;
    *out = NULL;
    tacet_status status = world_kernel(&kernel, world, err);
    TACET_THEN(status, tacet_features_create_qff_product(out, kernel, order, err));
    tacet_kernel_free(kernel);
    return status;
}

tacet_status central_world_features_create(tacet_features **out, central_world *world, bool published, size_t count,
                                           tacet_error *err) {
    if (published && !(world->drawn && central_world_dim(world) > 2)) {
        return central_world_qff(out, world, QFF_ORDER, err);
    }
    const tacet_domain domain = central_world_domain(world);
    tacet_kernel *kernel = NULL;
    *out = NULL;
    tacet_status status = world_kernel(&kernel, world, err);
    if (status == TACET_OK && world->drawn && central_world_dim(world) > 2) {
        status = tacet__central_features(out, kernel, &domain, count, err);
    } else if (status == TACET_OK) {
        status = tacet_features_create_mercer(out, kernel, &domain, order(world), count, err);
    }
    tacet_kernel_free(kernel);
    return status;
}

static void uniform_in_ball(tacet_simrng *rng, double *x) {
    const double angle = 2 * acos(-1) * tacet_simrng_uniform(rng);
    const double radius = RADIUS * sqrt(tacet_simrng_uniform(rng));
    x[0] = radius * cos(angle);
    x[1] = radius * sin(angle);
}

static double wave_value(const central_env *env, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < WAVES; i++) {
        const double *w = env->waves + i * (env->dim + 2);
        double phase = w[env->dim];
        for (size_t c = 0; c < env->dim; c++) {
            phase += w[c] * x[c];
        }
        sum += w[env->dim + 1] * cos(phase);
    }
    return sum;
}

static double value(const central_env *env, const double *x) {
    if (env->waves != NULL) {
        return wave_value(env, x);
    }
    double sum = 0;
    for (size_t i = 0; i < env->bumps; i++) {
        double square = 0;
        for (size_t c = 0; c < env->dim; c++) {
            const double e = (x[c] - env->centre[env->dim * i + c]) / env->lengthscale;
            square += e * e;
        }
        sum += env->coefficient[i] * exp(-0.5 * square);
    }
    return sum;
}

/* Uniform in the unit L1 ball: exponential magnitudes on the simplex, scaled by u^(1/n), random signs. Returns the sum
 * of the positive ones, an upper bound of the function. */
static double draw_function(central_env *env) {
    double sum = 0, positive = 0;
    for (size_t i = 0; i < PAPER_BUMPS; i++) {
        uniform_in_ball(&env->rng, env->centre + 2 * i);
        env->coefficient[i] = -log1p(-tacet_simrng_uniform(&env->rng));
        sum += env->coefficient[i];
    }
    const double scale = pow(tacet_simrng_uniform(&env->rng), 1.0 / PAPER_BUMPS) / sum;
    for (size_t i = 0; i < PAPER_BUMPS; i++) {
        env->coefficient[i] *= tacet_simrng_uniform(&env->rng) < 0.5 ? -scale : scale;
        positive += fmax(0, env->coefficient[i]);
    }
    return positive;
}

/* The paper's function, and its pool of arms. */
static void draw_paper(central_env *env) {
    do {
        env->low = env->good = 0;
        if (draw_function(env) < GOOD) {
            continue;
        }
        for (size_t i = 0; i < CENTRAL_ENV_POOL; i++) {
            double x[PAPER_DIM];
            uniform_in_ball(&env->rng, x);
            const double f = value(env, x);
            if (f <= LOW) {
                memcpy(env->pool + PAPER_DIM * env->low++, x, sizeof x);
            } else if (f >= GOOD) {
                memcpy(env->pool + PAPER_DIM * (CENTRAL_ENV_POOL - ++env->good), x, sizeof x);
            }
        }
    } while ((double)env->good < GOOD_SHARE * CENTRAL_ENV_POOL || env->low == 0);
}

static void uniform_in_box(central_env *env, double *x) {
    for (size_t c = 0; c < env->dim; c++) {
        x[c] = tacet_simrng_uniform(&env->rng);
    }
}

static void draw_made_up(central_env *env) {
    for (size_t i = 0; i < env->bumps; i++) {
        uniform_in_box(env, env->centre + env->dim * i);
        env->coefficient[i] = tacet_simrng_normal(&env->rng);
    }
    double largest = -INFINITY;
    env->least = INFINITY;
    for (size_t i = 0; i < PROBES; i++) {
        double x[CENTRAL_ENV_MOST_DIM];
        uniform_in_box(env, x);
        const double f = value(env, x);
        env->least = fmin(env->least, f);
        largest = fmax(largest, f);
    }
    env->range = largest - env->least;
}

/* Frequencies of a Matérn 5/2 kernel are t-distributed with five degrees of freedom. */
static tacet_status draw_waves(central_env *env, tacet_error *err) {
    const size_t d = env->dim;
    const tacet_domain domain = central_world_domain(&env->world);
    const size_t all = tacet__domain_levels(&domain);
    env->points = all > 0 && all < DRAWN_POOL ? all : DRAWN_POOL;
    env->waves = malloc(sizeof(double) * WAVES * (d + 2));
    env->means = malloc(sizeof(double) * env->points);
    env->pool = malloc(sizeof(double) * d * env->points);
    if (env->waves == NULL || env->means == NULL || env->pool == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a problem");
    }
    for (size_t i = 0; i < WAVES; i++) {
        double *w = env->waves + i * (d + 2), chi = 0;
        for (int k = 0; k < 5; k++) {
            const double z = tacet_simrng_normal(&env->rng);
            chi += z * z;
        }
        for (size_t c = 0; c < d; c++) {
            w[c] = tacet_simrng_normal(&env->rng) * sqrt(5 / chi) / env->lengthscale;
        }
        w[d] = 2 * acos(-1) * tacet_simrng_uniform(&env->rng);
        w[d + 1] = tacet_simrng_normal(&env->rng);
    }
    tacet__domain_spread(&domain, env->pool, env->points);
    double largest = -INFINITY;
    env->least = INFINITY;
    for (size_t j = 0; j < env->points; j++) {
        for (size_t c = 0; c < env->world.dim; c++) {
            env->pool[j * d + c] = tacet_simrng_uniform(&env->rng);
        }
        env->means[j] = value(env, env->pool + j * d);
        env->least = fmin(env->least, env->means[j]);
        largest = fmax(largest, env->means[j]);
    }
    env->range = largest - env->least;
    for (size_t j = 0; j < env->points; j++) {
        env->means[j] = central_env_mean(env, env->pool + j * d);
    }
    return TACET_OK;
}

double central_env_top(const central_env *env) {
    double top = 0;
    for (size_t j = 0; j < env->points; j++) {
        top = fmax(top, env->means[j]);
    }
    return top;
}

tacet_status central_world_check(const central_world *world, tacet_error *err) {
    const size_t columns = world->dim + world->binary + world->category;
    const size_t widest = world->dim > world->binary ? world->dim : world->binary; /* the sum may have wrapped */
    if (world->drawn && (columns == 0 || columns > CENTRAL_ENV_MOST_COLUMNS || widest > CENTRAL_ENV_MOST_COLUMNS ||
                         world->category > CENTRAL_ENV_MOST_COLUMNS || world->category == 1 ||
                         !(world->lo >= 0 && world->lo < world->hi && world->hi <= 1))) {
        return tacet__fail(err, TACET_INVALID, "1 to %d columns, a category of 2 or more, means between 0 and 1",
                           CENTRAL_ENV_MOST_COLUMNS);
    }
    if ((!world->drawn && world->dim > CENTRAL_ENV_MOST_DIM) ||
        ((world->dim > 0 || world->drawn) && !(world->lengthscale > 0 && world->noise >= 0))) {
        return tacet__fail(err, TACET_INVALID, "at most %d coordinates, a positive lengthscale, no negative noise",
                           CENTRAL_ENV_MOST_DIM);
    }
    return TACET_OK;
}

tacet_status central_env_create(central_env **out, const central_world *world, uint64_t seed, uint64_t trial,
                                tacet_error *err) {
    *out = NULL;
    const tacet_status possible = central_world_check(world, err);
    if (possible != TACET_OK) {
        return possible;
    }
    central_env *env = calloc(1, sizeof *env);
    const bool paper = world->dim == 0 && !world->drawn;
    double *pool = paper ? malloc(sizeof(double) * PAPER_DIM * CENTRAL_ENV_POOL) : NULL;
    if (env == NULL || (paper && pool == NULL)) {
        free(env);
        free(pool);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a problem");
    }
    *env = (central_env){.world = *world,
                         .dim = central_world_dim(world),
                         .bumps = paper ? PAPER_BUMPS : CENTRAL_ENV_MOST_BUMPS,
                         .lengthscale = world_lengthscale(world),
                         .pool = pool};
    tacet_simrng_init(&env->rng, seed, trial);
    if (world->drawn) {
        const tacet_status status = draw_waves(env, err);
        if (status != TACET_OK) {
            central_env_free(env);
            return status;
        }
    } else if (paper) {
        draw_paper(env);
    } else {
        draw_made_up(env);
    }
    *out = env;
    return TACET_OK;
}

void central_env_free(central_env *env) {
    if (env != NULL) {
        free(env->pool);
        free(env->waves);
        free(env->means);
        free(env);
    }
}

double central_env_mean(const central_env *env, const double *x) {
    const double f = value(env, x);
    if (env->world.drawn) {
        const double share = pow(fmax(0, (f - env->least) / env->range), env->world.skew);
        return fmin(fmax(env->world.lo + (env->world.hi - env->world.lo) * share, 0), 1);
    }
    return fmin(fmax(env->pool != NULL ? f : (f - env->least) / env->range, 0), 1);
}

double central_env_round(central_env *env, double *arms, size_t count) {
    const size_t place = tacet_simrng_below(&env->rng, count);
    double best = 0;
    for (size_t a = 0; a < count; a++) {
        double *x = arms + env->dim * a;
        if (env->world.drawn) {
            const size_t k = tacet_simrng_below(&env->rng, env->points);
            memcpy(x, env->pool + k * env->dim, env->dim * sizeof(double));
            best = fmax(best, env->means[k]);
            continue;
        }
        if (env->pool == NULL) {
            uniform_in_box(env, x);
        } else {
            const size_t k = a == place ? CENTRAL_ENV_POOL - 1 - tacet_simrng_below(&env->rng, env->good)
                                        : tacet_simrng_below(&env->rng, env->low);
            memcpy(x, env->pool + PAPER_DIM * k, PAPER_DIM * sizeof(double));
        }
        best = fmax(best, central_env_mean(env, x));
    }
    return best;
}

double central_env_reward(central_env *env, const double *x) {
    const double mean = env->world.drawn && env->world.permuted ? env->means[tacet_simrng_below(&env->rng, env->points)]
                                                                : central_env_mean(env, x);
    if (env->world.drawn ? env->world.noise == 0 : env->pool != NULL) {
        return tacet_simrng_uniform(&env->rng) < mean ? 1 : 0;
    }
    return fmin(fmax(lab_reward_draw(env->world.reward, mean, env->world.noise, 0, 1, &env->rng), 0), 1);
}
