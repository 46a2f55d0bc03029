/* SPDX-License-Identifier: Apache-2.0 */
/* contextual_regret.c - a trial of `tacet-lab simulate contextual --policy NAME`: cumulative regret of a study.
 * Ring: programs; made-up data, seeded noise. The product's own policy is asked round by round: 33 equispaced actions
 * on [0, 1] (or four variants and three device types), contexts from the law, rewards noisy. Regret is the sum over
 * rounds of the best mean reward in the round's context less that of the action taken. */
#include "space/internal.h"
#include "contextual_trial.h"
#include "trials.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ab/trusted/earning.h"
#include <tacet/core/simrng.h>

enum { ACTIONS = 33, VARIANTS = 4, TYPES = 3, CENTRES = 20 };

/* What is optimised: a function of norm 1, waves, or rates of cells. */
typedef struct world {
    const contextual_simulation *s;
    bool levels;
    size_t n; /* actions */
    double actions[ACTIONS];
    double rate[VARIANTS][TYPES];
    double centre[CENTRES][2], weight[CENTRES], wave[3];
} world;

static double kernel(const world *w, const double *x, const double *y) {
    const double u = (x[0] - y[0]) / w->s->lengthscale;
    const double v = (x[1] - y[1]) / w->s->lengthscale;
    return exp(-0.5 * (u * u + v * v));
}

static double mean_at(const world *w, size_t action, double context, size_t type) {
    if (w->levels) {
        return w->rate[action][type];
    }
    const double at[2] = {w->actions[action], context};
    double sum = 0;
    if (w->s->waves) {
        return 0.7 * cos(4 * (at[0] - w->wave[0] - w->wave[1] * at[1])) + 0.25 * sin(3 * at[0] * at[1] + w->wave[2]);
    }
    for (size_t j = 0; j < CENTRES; j++) {
        sum += w->weight[j] * kernel(w, at, w->centre[j]);
    }
    return sum;
}

static void draw_function(world *w, tacet_simrng *rng) {
    double norm2 = 0;
    w->wave[0] = 0.2 + 0.6 * tacet_simrng_uniform(rng);
    w->wave[1] = tacet_simrng_uniform(rng) - 0.5;
    w->wave[2] = 6.283185307179586 * tacet_simrng_uniform(rng);
    for (size_t j = 0; j < CENTRES; j++) {
        w->centre[j][0] = tacet_simrng_uniform(rng);
        w->centre[j][1] = tacet_simrng_uniform(rng);
        w->weight[j] = tacet_simrng_normal(rng);
    }
    for (size_t i = 0; i < CENTRES; i++) {
        for (size_t j = 0; j < CENTRES; j++) {
            norm2 += w->weight[i] * w->weight[j] * kernel(w, w->centre[i], w->centre[j]);
        }
    }
    for (size_t j = 0; j < CENTRES; j++) {
        w->weight[j] /= sqrt(norm2);
    }
    for (size_t v = 0; v < VARIANTS; v++) {
        for (size_t k = 0; k < TYPES; k++) {
            w->rate[v][k] = 0.1 + 0.8 * tacet_simrng_uniform(rng);
        }
    }
}

static void make_world(world *w, const contextual_simulation *s, tacet_simrng *rng) {
    *w = (world){.s = s, .levels = s->law == CONTEXTUAL_LAW_LEVELS};
    w->n = w->levels ? VARIANTS : ACTIONS;
    for (size_t i = 0; i < w->n; i++) {
        w->actions[i] = w->levels ? (double)i : (double)i / (ACTIONS - 1);
    }
    draw_function(w, rng);
}

/* Variants and types, or two numbers from 0 to 1. */
static tacet_status make_space(const world *w, tacet_space *space, tacet_error *err) {
    const tacet_space_options options = {.levels = "variant=A|B|C|D,type=phone|tablet|desktop"};
    return w->levels ? tacet_space_short(space, &options, err) : lab_unit_space(space, 2, err);
}

static tacet_status make_policy(const world *w, tacet_policy **out, tacet_noise *noise, size_t trial,
                                tacet_error *err) {
    const contextual_simulation *s = w->s;
    tacet_space space;
    const tacet_ask ask = {.noise = noise, .ticket = "simulation", .what = "model", .to_whom = "simulation"};
    tacet_status status = make_space(w, &space, err);
    const tacet_ab_earning_settings settings = {.space = &space,
                                                .action_columns = 1,
                                                .actions = w->actions,
                                                .count = w->n,
                                                .lower = w->levels ? 0 : -1,
                                                .upper = 1,
                                                .eps = s->settings.eps,
                                                .rounds = s->rounds,
                                                .coin_seed = s->seed + trial};
    TACET_THEN(status, tacet_ab_earning_create(out, &settings, &ask, err));
    tacet_space_clear(&space);
    return status;
}

typedef struct waiting {
    uint64_t ticket;
    double reward;
} waiting;

static size_t type_of(double u) {
    static const double SHARE[TYPES] = {0.62, 0.33, 0.05};
    return u < SHARE[0] ? 0 : u < SHARE[0] + SHARE[1] ? 1 : 2;
}

/* The mean of a reward: that of the action in the round's context, or of any action in any. */
static double mean_of_reward(const world *w, size_t action, double u, tacet_simrng *rng) {
    if (w->s->permute) {
        action = (size_t)tacet_simrng_below(rng, w->n);
        u = tacet_simrng_uniform(rng);
    }
    return mean_at(w, action, contextual_law_quantile(w->s->law, u), type_of(u));
}

/* Round t: its regret is added. policy NULL: an even draw, in expectation. queue: outstanding + 1. */
static tacet_status play(const world *w, tacet_policy *policy, waiting *queue, size_t t, double *regret,
                         tacet_simrng *rng, tacet_error *err) {
    const double u = tacet_simrng_uniform(rng);
    const size_t type = type_of(u);
    const double context = w->levels ? (double)type : contextual_law_quantile(w->s->law, u);
    const tacet_round round = {.context = &context, .context_dim = 1};
    double top = -INFINITY;
    double average = 0;
    tacet_suggestion suggestion;
    for (size_t i = 0; i < w->n; i++) {
        const double f = mean_at(w, i, context, type);
        top = fmax(top, f);
        average += f / (double)w->n;
    }
    if (policy == NULL) {
        *regret += top - average;
        return TACET_OK;
    }
    tacet_status status = tacet_policy_suggest(policy, &suggestion, &round, err);
    if (status == TACET_OK) {
        const double f = mean_at(w, suggestion.index, context, type);
        const double mean = mean_of_reward(w, suggestion.index, u, rng);
        const double reward = lab_reward_draw(w->levels ? LAB_REWARD_BINARY : w->s->reward, mean, w->s->noise,
                                              w->levels ? 0 : -1, 1, rng);
        const size_t late = w->s->outstanding;
        queue[t % (late + 1)] = (waiting){suggestion.ticket, reward};
        *regret += top - f;
        if (t >= late && (w->s->missing == 0 || tacet_simrng_uniform(rng) >= w->s->missing)) {
            const waiting *oldest = &queue[(t - late) % (late + 1)];
            status = tacet_policy_observe(policy, oldest->ticket, oldest->reward, err);
        }
    }
    return status;
}

tacet_status contextual_regret_trial(contextual_simulation *s, size_t trial, tacet_error *err) {
    world *w = TACET__ZALLOC(world, 1);
    waiting *queue = TACET__ZALLOC(waiting, s->outstanding + 1);
    tacet_simrng rng;
    tacet_noise *noise = NULL;
    tacet_policy *policy = NULL;
    if (w == NULL || queue == NULL) {
        free(w);
        free(queue);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a trial");
    }
    tacet_simrng_init(&rng, s->seed, (uint64_t)trial * 4);
    make_world(w, s, &rng);
    tacet_status status = tacet_noise_open_seeded(&noise, s->seed, (uint64_t)trial * 4 + 2, err);
    if (status == TACET_OK && s->policy != CONTEXTUAL_POLICY_RANDOM) {
        status = make_policy(w, &policy, noise, trial, err);
    }
    s->error[trial] = 0;
    for (size_t t = 0; t < s->rounds && status == TACET_OK; t++) {
        status = play(w, policy, queue, t, &s->error[trial], &rng, err);
    }
    tacet_policy_free(policy);
    tacet_noise_close(noise);
    free(queue);
    free(w);
    return status;
}
