/* SPDX-License-Identifier: Apache-2.0 */
/* targets_contextual.c - the published choice of an action, attacked by one replaced record.
 * Ring: audit. Two logs of 60 made-up rounds differ in one record in a corner: its reward is 1e9 in one world and -1e9
 * in the other. Everything up to the noise is the chooser's own code: clipping, shares, bound, mechanism. The statistic
 * is whether the action that gained most was chosen. */
#include "audit/targets.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "dp/bound_internal.h"
#include "dp/mint.h"
#include "contextual/trusted/internal.h"

#include <tacet/core/simrng.h>

#include <stdlib.h>

enum { ROUNDS = 60, VICTIM = 17, FEATURES_MOST = 8, ACTIONS = 9 };
static const double HUGE_REWARD = 1e9;

typedef struct contextual_state {
    tacet_contextual_basis *basis;
    tacet_bound *bound, *outer;
    tacet_mechanism *mechanism;
    tacet_bounded *value[2];
    size_t gains_most; /* choice: the action whose score rises most against the others */
} contextual_state;

static void clear(void *state) {
    contextual_state *a = state;
    tacet_bounded_free(a->value[0]);
    tacet_bounded_free(a->value[1]);
    tacet_mechanism_free(a->mechanism);
    tacet_bound_free(a->bound);
    tacet_bound_free(a->outer);
    tacet_contextual_basis_free(a->basis);
}

static tacet_status make_learner(tacet_contextual_learner **out, const contextual_state *a, double eps, double action,
                                 double context, int world, tacet_error *err) {
    tacet_contextual_settings settings;
    tacet_simrng rng;
    tacet_contextual_settings_defaults(&settings);
    settings.eps = eps;
    tacet_simrng_init(&rng, 77, 0);
    tacet_status status = tacet_contextual_learner_create(out, a->basis, &settings, err);
    for (size_t i = 0; i < ROUNDS && status == TACET_OK; i++) {
        const double w[2] = {tacet_simrng_uniform(&rng), tacet_simrng_uniform(&rng)};
        const double y = tacet_simrng_normal(&rng);
        const double victim[2] = {action, context};
        status = i == VICTIM ? tacet_contextual_learner_add(*out, victim, world ? HUGE_REWARD : -HUGE_REWARD, err)
                             : tacet_contextual_learner_add(*out, w, y, err);
    }
    return status;
}

/* The published choice: scores of both worlds, through the chooser's own bound. */
static tacet_status make_choice(contextual_state *a, const tacet_audit_claim *claim, tacet_error *err) {
    const tacet_neighbours replace = {.relation = TACET_RELATION_REPLACE};
    const double context = 0;
    double actions[ACTIONS];
    double scores[2][ACTIONS];
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < ACTIONS; i++) {
        actions[i] = (double)i / (ACTIONS - 1);
    }
    for (int world = 0; world < 2 && status == TACET_OK; world++) {
        tacet_contextual_learner *learner = NULL;
        tacet_contextual_chooser *chooser = NULL;
        double U[ACTIONS * FEATURES_MOST];
        status = make_learner(&learner, a, claim->eps, 0, context, world, err);
        TACET_THEN(status, tacet_contextual_chooser_create(&chooser, learner, 10, err));
        TACET_THEN(status, tacet__contextual_levers(chooser, U, &context, actions, ACTIONS, err));
        if (status == TACET_OK) {
            tacet__gemv(true, chooser->m, ACTIONS, 1, U, chooser->m, chooser->v, 0, scores[world]);
        }
        if (status == TACET_OK && world == 0) {
            const double most = tacet__contextual_score_bound(chooser, U, ACTIONS), widest = 1e3 * most;
            status = tacet_bound_range(&a->outer, ACTIONS, -widest, widest, err);
            TACET_THEN(status,
                       tacet_bound_narrow_scores(&a->bound, a->outer, most, "src/contextual/README.md section 4", err));
            TACET_THEN(status, tacet_mechanism_create(&a->mechanism, TACET_MECHANISM_EXPONENTIAL, a->bound, &replace,
                                                      claim->eps, 0, err));
        }
        tacet_contextual_chooser_free(chooser);
        tacet_contextual_learner_free(learner);
    }
    for (int world = 0; world < 2 && status == TACET_OK; world++) {
        tacet_raw *raw = NULL;
        status = tacet_raw_create(&raw, ACTIONS, err);
        TACET_THEN(status, tacet_raw_set(raw, scores[world], ACTIONS, err));
        TACET_THEN(status, tacet_bounded_create(&a->value[world], a->bound, err));
        TACET_THEN(status, tacet_bounded_set(a->value[world], raw, err));
        tacet_raw_free(raw);
    }
    for (size_t i = 1; i < ACTIONS && status == TACET_OK; i++) {
        if (scores[1][i] - scores[0][i] > scores[1][a->gains_most] - scores[0][a->gains_most]) {
            a->gains_most = i;
        }
    }
    return status;
}

static tacet_status create(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                           tacet_error *err) {
    contextual_state *a = state;
    tacet_contextual_space space;
    (void)self;
    tacet_contextual_space_defaults(&space);
    space.order = 10;
    const tacet_status status = tacet_contextual_basis_create(&a->basis, &space, FEATURES_MOST, err);
    return status == TACET_OK ? make_choice(a, claim, err) : status;
}

static tacet_status run(void *state, const tacet_audit_target *self, tacet_noise *noise, int world, double *statistic,
                        tacet_error *err) {
    const contextual_state *a = state;
    double out[ACTIONS] = {0};
    (void)self;
    const tacet_status status = tacet__mechanism_draw(a->mechanism, noise, out, a->value[world], err);
    *statistic = (size_t)out[0] == a->gains_most;
    return status;
}

TARGET(contextual_choice, .name = "contextual-choice",
       .summary = "one action chosen as published; one record's reward is 1e9 or -1e9, in a corner", .pure = true,
       .size = sizeof(contextual_state), .create = create, .run = run, .clear = clear);
