/* SPDX-License-Identifier: Apache-2.0 */
/* contextual_levels.c - a trial of `tacet-lab simulate contextual --law levels`: an A/B log of four variants and three
 * device types, rewards of two values.
 * Ring: programs; made-up data, seeded noise. Each cell has a rate; in a gap world the best variant of each type is
 * ahead of all others by the gap. The log goes through the same release as `tacet learn` makes of a file. */
#include "contextual_trial.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

enum { VARIANTS = 4, TYPES = 3, DIMS = VARIANTS - 1 + TYPES - 1 };

typedef struct levels {
    double rate[VARIANTS][TYPES];
    double type[TYPES], propensity[VARIANTS];
} levels;

static void draw_levels(const contextual_simulation *s, levels *w, tacet_simrng *rng) {
    static const double EVEN[TYPES] = {0.62, 0.33, 0.05};
    static const double LOGGED[TYPES] = {0.6, 0.3, 0.1};
    static const double PROPENSITY[VARIANTS] = {0.4, 0.3, 0.2, 0.1};
    for (size_t k = 0; k < TYPES; k++) {
        const double base = 0.2 + 0.3 * tacet_simrng_uniform(rng);
        const size_t best = (size_t)(VARIANTS * tacet_simrng_uniform(rng)) % VARIANTS;
        w->type[k] = s->logged ? LOGGED[k] : EVEN[k];
        for (size_t v = 0; v < VARIANTS; v++) {
            const double even = 0.1 + 0.8 * tacet_simrng_uniform(rng);
            const double lower = base - 0.1 * tacet_simrng_uniform(rng);
            w->rate[v][k] = s->gap > 0 ? (v == best ? base + s->gap : lower) : even;
        }
    }
    for (size_t v = 0; v < VARIANTS; v++) {
        w->propensity[v] = s->logged ? PROPENSITY[v] : 1.0 / VARIANTS;
    }
}

static size_t pick(const double *shares, size_t n, double u) {
    size_t k = 0;
    for (; k + 1 < n && u >= shares[k]; k++) {
        u -= shares[k];
    }
    return k;
}

/* Vertices of the simplices: the nodes, and the bounds they lie in. */
typedef struct corners {
    double actions[VARIANTS * (VARIANTS - 1)], contexts[TYPES * (TYPES - 1)];
    double lower[DIMS], upper[DIMS], lengthscale;
} corners;

static void make_corners(corners *c) {
    c->lengthscale = 1;
    for (size_t v = 0; v < VARIANTS; v++) {
        tacet_space_vertex(c->actions + v * (VARIANTS - 1), v, VARIANTS);
    }
    for (size_t k = 0; k < TYPES; k++) {
        tacet_space_vertex(c->contexts + k * (TYPES - 1), k, TYPES);
    }
    for (size_t i = 0; i < DIMS; i++) {
        c->lower[i] = -1;
        c->upper[i] = 1;
    }
}

static tacet_status make_learner(const contextual_simulation *s, tacet_contextual_basis **basis,
                                 tacet_contextual_learner **learner, const corners *c, tacet_error *err) {
    const tacet_contextual_space space = {.action_dim = VARIANTS - 1,
                                          .context_dim = TYPES - 1,
                                          .lower = c->lower,
                                          .upper = c->upper,
                                          .kind = TACET_KERNEL_SE,
                                          .lengthscales = &c->lengthscale,
                                          .lengthscale_count = 1,
                                          .actions = c->actions,
                                          .action_count = VARIANTS,
                                          .contexts = c->contexts,
                                          .context_count = TYPES};
    tacet_contextual_settings settings = s->settings;
    settings.reward_lower = 0;
    settings.reward_upper = 1;
    settings.discrete = true;
    settings.levels = true;
    settings.propensities = s->logged;
    const tacet_status status = tacet_contextual_basis_create(basis, &space, 0, err);
    return status == TACET_OK ? tacet_contextual_learner_create(learner, *basis, &settings, err) : status;
}

static tacet_status add_rounds(const contextual_simulation *s, tacet_contextual_learner *learner, const levels *w,
                               const corners *c, tacet_simrng *rng, tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t t = 0; t < s->rounds && status == TACET_OK; t++) {
        double point[DIMS];
        const size_t v = pick(w->propensity, VARIANTS, tacet_simrng_uniform(rng));
        const size_t k = pick(w->type, TYPES, tacet_simrng_uniform(rng));
        memcpy(point, c->actions + v * (VARIANTS - 1), (VARIANTS - 1) * sizeof *point);
        memcpy(point + VARIANTS - 1, c->contexts + k * (TYPES - 1), (TYPES - 1) * sizeof *point);
        status = tacet_contextual_learner_add_logged(learner, point, tacet_simrng_uniform(rng) < w->rate[v][k] ? 1 : 0,
                                                     w->propensity[v], err);
    }
    return status;
}

static tacet_status judge(contextual_simulation *s, size_t trial, const tacet_contextual_model *model, const levels *w,
                          const corners *c, tacet_error *err) {
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    double means[VARIANTS];
    double loss = 0;
    double square = 0;
    double noise = 0;
    double worth = 0;
    double logged = 0;
    for (size_t k = 0; k < TYPES; k++) {
        size_t best = 0;
        size_t top = 0;
        const tacet_status status =
            tacet_contextual_predict(model, &best, means, c->actions, VARIANTS, c->contexts + k * (TYPES - 1), err);
        if (status != TACET_OK) {
            return status;
        }
        for (size_t v = 0; v < VARIANTS; v++) {
            const double rate = w->rate[v][k];
            top = rate > w->rate[top][k] ? v : top;
            square += w->type[k] / VARIANTS * (means[v] - rate) * (means[v] - rate);
            noise += w->type[k] * w->propensity[v] * ((means[v] - rate) * (means[v] - rate) + rate * (1 - rate));
            logged += w->type[k] * w->propensity[v] * rate;
        }
        worth += w->type[k] * w->rate[best][k];
        loss += w->type[k] * (w->rate[top][k] - w->rate[best][k]);
        s->right[trial] += best == top ? 1 : 0;
    }
    s->error[trial] = loss;
    s->rms[trial] = sqrt(square);
    s->stated[trial] = p->predicted_error;
    s->outcome[trial] = sqrt(noise); /* the true one, to compare the bound with */
    s->bound[trial] = p->outcome_bound;
    s->covered[trial] = (worth >= p->recommended.lower && worth <= p->recommended.upper ? 0.5 : 0) +
                        (logged >= p->logged.lower && logged <= p->logged.upper ? 0.5 : 0);
    return TACET_OK;
}

tacet_status contextual_levels_trial(contextual_simulation *s, size_t trial, tacet_error *err) {
    levels w;
    corners c;
    tacet_simrng rng;
    tacet_contextual_basis *basis = NULL;
    tacet_contextual_learner *learner = NULL;
    tacet_contextual_model *model = NULL;
    tacet_noise *noise = NULL;
    tacet_simrng_init(&rng, s->seed, (uint64_t)trial * 4);
    draw_levels(s, &w, &rng);
    make_corners(&c);
    tacet_status status = make_learner(s, &basis, &learner, &c, err);
    if (status == TACET_OK) {
        status = add_rounds(s, learner, &w, &c, &rng, err);
    }
    if (status == TACET_OK) {
        status = tacet_noise_open_seeded(&noise, s->seed, (uint64_t)trial * 4 + 2, err);
    }
    if (status == TACET_OK) {
        const tacet_ask ask = {.noise = noise, .ticket = "simulation", .what = "model", .to_whom = "simulation"};
        status = tacet_contextual_release(learner, &model, &ask, err);
    }
    if (status == TACET_OK) {
        status = judge(s, trial, model, &w, &c, err);
    }
    tacet_contextual_model_free(model);
    tacet_contextual_learner_free(learner);
    tacet_contextual_basis_free(basis);
    tacet_noise_close(noise);
    return status;
}
