/* SPDX-License-Identifier: Apache-2.0 */
/* sim_local_statistics.c - `tacet-lab simulate central --world local-statistics`: regret when every device adds its
 * own noise. Ring: programs; made-up data, seeded noise: nothing printed here is private. */
#include "commands.h"
#include "central_env.h"
#include "runs.h"
#include "trials.h"

#include "core/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "local/open/statistics.h"
#include "central/open/published_ucb.h"
#include "central/shared/embed.h"
#include "gp/domain.h"
#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/randomizer.h>
#include "local/shared/ldp.h"

enum { FEATURES = 25, RELEASED = 15, DIRECTIONS_MOST = 1024 };
static const double ZETA = 0.1;

typedef struct simulation {
    bool published;
    bool printed; /* published: the noise of Lemma 5 as it stands there, which is too little */
    central_world world;
    size_t rounds, arms, first;
    double growth, eps, delta;
    uint64_t seed;
    tacet_features *features;
    tacet_central_map *map;
    tacet_central_learner_settings learner;
    double *regret;
} simulation;

/* Lemma 5, its delta read as beta, rewards at most 1: standard deviations of an entry of the matrix and of the vector.
 */
static void lemma_5(double *matrix, double *vector, const simulation *s, size_t m) {
    *matrix = sqrt(8 * log(2.5 / s->delta)) / s->eps;
    *vector = sqrt(8 * (1 + 2 * log(8 * (double)m / s->delta)) * log(5 / s->delta)) / s->eps;
}

/* What that noise really gives: phi phi' moves by sqrt 2 along the diagonal, y phi by 2. The lemma claims half of eps
 * and delta of each; `half` becomes the matrix's delta at eps/2. Returns that of both at eps. */
static double lemma_5_delta(const simulation *s, double *half) {
    double matrix = 0, vector = 0, delta = NAN;
    lemma_5(&matrix, &vector, s, tacet_features_dim(s->features));
    const bool told = tacet_gdp_delta(half, sqrt(2) / matrix, s->eps / 2, NULL) == TACET_OK &&
                      tacet_gdp_delta(&delta, hypot(sqrt(2) / matrix, 2 / vector), s->eps, NULL) == TACET_OK;
    return told ? delta : NAN;
}

/* One trial's two sides: the server's model, and what stands for the devices. */
typedef struct sides {
    tacet_sphere directions;
    double *work;                   /* of a record, its order, and an estimate */
    tacet_local_statistics *server; /* shipped */
    tacet_published_ucb *ucb;       /* published */
    double *sums;                   /* published: in the layout of published_ucb */
    double matrix, vector;          /* published: standard deviations of a report's numbers */
    size_t m;
} sides;

static void free_sides(sides *b) {
    tacet_local_statistics_free(b->server);
    tacet_published_ucb_free(b->ucb);
    free(b->sums);
    free(b->work);
}

static tacet_status make_shipped(sides *b, const simulation *s, tacet_error *err) {
    tacet_ldp ldp;
    const size_t dim = tacet_central_map_dim(s->map);
    tacet_status status = tacet_ldp_init(&ldp, TACET_LDP_SPHERE, s->eps, 0, 1, err);
    TACET_THEN(status, tacet_sphere_init(&b->directions, &ldp, dim, tacet_central_map_print(s->map), err));
    if (status != TACET_OK) {
        return status;
    }
    b->work = calloc(4 * (dim + 1) + b->m + tacet_central_map_domain(s->map)->d + ldp.cells, sizeof(double));
    return b->work == NULL ? TACET_NO_MEMORY
                           : tacet_local_statistics_create(&b->server, s->map, &s->learner, b->directions.noise_var,
                                                           s->first, s->growth, err);
}

/* Algorithm 3, with the noise of Lemma 5 or with what (eps, delta) needs: (phi phi', y phi) and (psi psi', z psi) with
 * the off-diagonals times sqrt 2 are sqrt(2 - 2 c^2 + y^2 + z^2 - 2 y z c) apart, c = <phi, psi>, and so at most
 * sqrt(4.5) for rewards of at most 1 (c = 1/2, y = -z = 1). */
static tacet_status make_published(sides *b, const simulation *s, tacet_error *err) {
    const double T = (double)s->rounds, m = (double)b->m;
    tacet_published_ucb_settings set;
    tacet_published_ucb_settings_defaults(&set);
    set.zeta = ZETA;
    tacet_status status = TACET_OK;
    if (s->printed) {
        lemma_5(&b->matrix, &b->vector, s, b->m);
    } else {
        status = tacet_calibrate_gaussian(&b->matrix, s->eps, s->delta, sqrt(4.5), err);
        b->vector = b->matrix;
    }
    if (status != TACET_OK) {
        return status;
    }
    /* Lemma 6: noise of the sum of T reports */
    tacet_published_ucb_spectrum(&set.shift, &set.kappa, b->matrix * sqrt(T), b->m, T, ZETA);
    if (s->printed) { /* with the two scales of Lemma 5 */
        set.kappa = b->vector * sqrt(m * T * b->matrix / set.shift);
    }
    status = tacet_published_ucb_create(&b->ucb, s->features, &set, err);
    b->sums = calloc((b->m + 1) * (b->m + 2) / 2, sizeof(double));
    b->work = calloc(b->m, sizeof(double));
    return b->sums == NULL || b->work == NULL ? TACET_NO_MEMORY : status;
}

static tacet_status make_sides(sides *b, const simulation *s, tacet_error *err) {
    *b = (sides){.m = tacet_features_dim(s->features)};
    return s->published ? make_published(b, s, err) : make_shipped(b, s, err);
}

/* Algorithm 3's client: the matrix and the vector, with noise, into the columns of the bordered matrix. Lemma 5's noise
 * is of an element of the matrix, ours of an off-diagonal element times sqrt 2. */
static tacet_status report_published(sides *b, const simulation *s, tacet_simrng *rng, const double *x, double y,
                                     tacet_error *err) {
    const double off = (s->printed ? sqrt(2) : 1) * b->matrix;
    double *at = b->sums, *phi = b->work;
    tacet_features_eval(s->features, phi, x, tacet_features_inputs(s->features), 1);
    for (size_t j = 0; j < b->m; j++) {
        *at++ += phi[j] * phi[j] + b->matrix * tacet_simrng_normal(rng);
        for (size_t i = j + 1; i < b->m; i++) {
            *at++ += sqrt(2) * phi[i] * phi[j] + off * tacet_simrng_normal(rng);
        }
        *at++ += sqrt(2) * (y * phi[j] + b->vector * tacet_simrng_normal(rng));
    }
    return tacet_published_ucb_update(b->ucb, b->sums, err);
}

static size_t choose(sides *b, tacet_simrng *coin, const double *arms, size_t dim, size_t count) {
    if (b->ucb != NULL) {
        return tacet_published_ucb_choose(b->ucb, NULL, arms, dim, count);
    }
    tacet_central_learner *model = tacet_local_statistics_model(b->server);
    return tacet_central_learner_informed(model) ? tacet_central_learner_choose(model, NULL, arms, dim, count, NULL)
                                                 : tacet_simrng_below(coin, count);
}

/* What a device makes of its round (src/local/shared/card.c), from the collector's own features. */
static void map_record(const tacet_central_map *map, double *out, double *work, const double *x, double y) {
    const size_t d = tacet_central_map_domain(map)->d, m = tacet_features_dim(tacet_central_map_features(map));
    double *clipped = work + m;
    memcpy(clipped, x, d * sizeof *x);
    tacet__domain_clip(tacet_central_map_domain(map), clipped);
    tacet_features_eval(tacet_central_map_features(map), work, clipped, d, 1);
    tacet__embed(out, work, tacet_central_map_released(map), y, tacet_central_map_lo(map), tacet_central_map_hi(map));
}

/* What a device sends, and what the collector makes of it. */
static tacet_status report_direction(sides *b, const simulation *s, tacet_noise *noise, size_t t, const double *x,
                                     double y, tacet_error *err) {
    const size_t dim = b->directions.dim;
    uint32_t order[DIRECTIONS_MOST];
    double *record = b->work, *estimate = b->work + dim, *work = estimate + dim;
    double report = 0;
    map_record(s->map, record, work, x, y);
    tacet_sphere_order(&b->directions, order, work, t, record);
    tacet_status status = tacet_randomize_among(noise, &report, &b->directions.ldp, order, err);
    TACET_THEN(status, tacet_sphere_estimate(&b->directions, estimate, work, t, report, err));
    return status != TACET_OK ? status : tacet_local_statistics_take(b->server, estimate, dim, err);
}

static tacet_status play(simulation *s, size_t k, sides *b, central_env *env, tacet_noise *noise, double *arms,
                         tacet_error *err) {
    tacet_simrng coin;
    tacet_simrng_init(&coin, s->seed, (uint64_t)1 << 32 | k);
    double regret = 0;
    for (size_t t = 0; t < s->rounds; t++) {
        const double best = central_env_round(env, arms, s->arms);
        const double *x = arms + env->dim * choose(b, &coin, arms, env->dim, s->arms);
        regret += best - central_env_mean(env, x);
        const double y = central_env_reward(env, x);
        const tacet_status status =
            s->published ? report_published(b, s, &coin, x, y, err) : report_direction(b, s, noise, t, x, y, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    s->regret[k] = regret;
    return TACET_OK;
}

static tacet_status trial(void *user, size_t k, tacet_error *err) {
    simulation *s = user;
    central_env *env = NULL;
    tacet_noise *noise = NULL;
    sides b = {0};
    double *arms = malloc(sizeof(double) * central_world_dim(&s->world) * s->arms);
    tacet_status status = arms == NULL ? TACET_NO_MEMORY : central_env_create(&env, &s->world, s->seed, k, err);
    TACET_THEN(status, tacet_noise_open_seeded(&noise, s->seed, k, err));
    TACET_THEN(status, make_sides(&b, s, err));
    TACET_THEN(status, play(s, k, &b, env, noise, arms, err));
    free_sides(&b);
    tacet_noise_close(noise);
    central_env_free(env);
    free(arms);
    return status;
}

static tacet_status prepare(simulation *s, tacet_error *err) {
    const tacet_status possible = central_world_check(&s->world, err);
    if (possible != TACET_OK) {
        return possible;
    }
    const tacet_domain domain = central_world_domain(&s->world);
    const size_t features = central_world_features(&s->world);
    tacet_status status = central_world_features_create(&s->features, &s->world, s->published, features, err);
    if (status == TACET_OK && !s->published) {
        status = tacet_central_map_create(&s->map, s->features, &domain,
                                          (features * RELEASED + FEATURES - 1) / FEATURES, 0, 1, err);
    }
    return status;
}

static int print(const simulation *s, const char *name, size_t trials, double seconds) {
    double half = NAN;
    const double both = s->printed ? lemma_5_delta(s, &half) : NAN;
    return cli_tell(
        cli_object("lemma_5_matrix_delta lemma_5_delta simulation algorithm eps delta regret rounds arms trials seed "
                   "private seconds _claimed _half_eps",
                   J(half), J(both), J("local-statistics"), J(name), J(s->eps), J(s->published ? s->delta : 0),
                   J(lab_summary(s->regret, trials, "median")), J(s->rounds), J(s->arms), J(trials), J(s->seed),
                   JB(false), J(seconds), J(s->delta / 2), J(s->eps / 2)),
        "{algorithm}: cumulative regret {regret.mean:.2f} +- {regret.se:.2f} over {rounds} rounds ({trials} trials, "
        "median {regret.median:.2f})\n"
        "{?lemma_5_delta|Lemma 5 claims delta = {_claimed:.6g} at eps = {_half_eps:.6g} for the matrix, which really "
        "has {lemma_5_matrix_delta:.3g}; matrix and vector together have {lemma_5_delta:.3g} at eps = {eps:.6g}\n}");
}

/* The trials; s->regret is theirs. */
static tacet_status simulate(simulation *s, size_t trials, tacet_error *err) {
    if (s->rounds == 0 || s->arms == 0 || trials == 0) {
        return tacet__fail(err, TACET_INVALID, "no rounds, arms or trials");
    }
    tacet_central_learner_settings_defaults(&s->learner);
    s->learner.set_size = s->arms;
    s->regret = calloc(trials, sizeof(double));
    tacet_status status = s->regret == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory") : prepare(s, err);
    TACET_THEN(status, lab_trials_run(trials, trial, s, err));
    return status;
}

static void clear(simulation *s) {
    tacet_central_map_free(s->map);
    tacet_features_free(s->features);
    free(s->regret);
}

tacet_status lab_local_statistics_run(lab_outcome *out, const lab_request *request, tacet_error *err) {
    const lab_central_request *r = &request->of.central;
    simulation s = {.published = strcmp(r->algorithm, "published") == 0,
                    .world = r->world,
                    .rounds = r->rounds,
                    .arms = r->arms,
                    .seed = request->seed,
                    .eps = r->eps,
                    .delta = r->delta,
                    .first = 20,
                    .growth = 1.05};
    tacet_status status = simulate(&s, request->trials, err);
    TACET_THEN(status, lab_outcome_set(out, s.regret, request->trials, err));
    clear(&s);
    return status;
}

int lab_sim_local_statistics(const lab_statistics *wanted, const cli_command *self) {
    simulation s = {.rounds = wanted->rounds,
                    .arms = wanted->arms,
                    .seed = wanted->seed,
                    .eps = wanted->eps,
                    .delta = wanted->delta,
                    .published = wanted->published,
                    .printed = wanted->printed,
                    .first = 20,
                    .growth = 1.05};
    tacet_error err = {0};
    const double start = cli_seconds();
    const int code = simulate(&s, wanted->trials, &err) == TACET_OK
                         ? print(&s, wanted->published ? "published" : "shipped", wanted->trials, cli_seconds() - start)
                         : cli_refuse(self, &err);
    clear(&s);
    return code;
}
