/* SPDX-License-Identifier: Apache-2.0 */
/* targets_contextual.c - the learner of contextual choices, attacked by one replaced record.
 * Ring: audit. Two logs of 60 made-up rounds differ in one record: its reward is 1e9 in one world and -1e9 in the
 * other, its context the one (corners included) that moves the released sum most. Everything up to the noise is the
 * learner's own code: clipping, shares, bound, mechanism. The statistic is the likelihood ratio of the K-norm density,
 * or whether the action that gained most was chosen. One feature is Laplace noise, which an audit can see nearly all
 * of; in more dimensions the loss comes near eps only along one direction, and so does what any audit can see. */
#include "audit/targets.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "dp/bound_internal.h"
#include "dp/mint.h"
#include "contextual/trusted/internal.h"

#include <tacet/core/simrng.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, VICTIM = 17, SIDE = 9, FEATURES_MOST = 8, ACTIONS = 9 };
static const double HUGE_REWARD = 1e9;

typedef struct contextual_state {
    tacet_contextual_basis *basis;
    tacet_bound *bound, *outer;
    tacet_mechanism *mechanism;
    tacet_bounded *value[2];
    size_t count;
    double centre[2][FEATURES_MOST];
    size_t gains_most; /* choice: the action whose score rises most against the others */
} contextual_state;

static void release_state(void *state) {
    contextual_state *a = state;
    if (a != NULL) {
        tacet_bounded_free(a->value[0]);
        tacet_bounded_free(a->value[1]);
        tacet_mechanism_free(a->mechanism);
        tacet_bound_free(a->bound);
        tacet_bound_free(a->outer);
        tacet_contextual_basis_free(a->basis);
        free(a);
    }
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

/* The leverage of a point under a pass. */
static double leverage(const contextual_state *a, const tacet__contextual_pass *pass, double x, double c) {
    double phi[FEATURES_MOST];
    double sum = 0;
    const double w[2] = {x, c};
    tacet__contextual_view view;
    tacet__contextual_view_init(&view, a->basis, pass->m);
    tacet_features_eval(&view.features, phi, w, 2, 1);
    for (size_t j = 0; j < pass->m; j++) {
        sum += phi[j] * phi[j] * pass->inverse_root[j] * pass->inverse_root[j];
    }
    return sqrt(sum);
}

/* The grid point of largest leverage, corners included; and what a grid of cell centres, 2 x 2, would say. */
static void worst_point(const contextual_state *a, const tacet__contextual_pass *pass, double *x, double *c,
                        double *centres) {
    double most = -1;
    *centres = 0;
    for (size_t i = 0; i < 4; i++) {
        const size_t row = i / 2;
        *centres = fmax(*centres, leverage(a, pass, 0.25 + 0.5 * (double)(i % 2), 0.25 + 0.5 * (double)row));
    }
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        const size_t row = i / SIDE;
        const double w[2] = {(double)(i % SIDE) / (SIDE - 1), (double)row / (SIDE - 1)};
        const double value = leverage(a, pass, w[0], w[1]);
        if (value > most) {
            most = value;
            *x = w[0];
            *c = w[1];
        }
    }
}

static tacet_status begin(void **state, contextual_state **out, double lengthscale, tacet_error *err) {
    tacet_contextual_space space;
    tacet_contextual_space_defaults(&space);
    space.order = 10;
    space.lengthscales = &lengthscale;
    contextual_state *a = TACET__ZALLOC(contextual_state, 1);
    *state = *out = a;
    return a == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory creating an audit target")
                     : tacet_contextual_basis_create(&a->basis, &space, FEATURES_MOST, err);
}

/* The sums of both worlds under one pass. */
static tacet_status both_worlds(contextual_state *a, const tacet__contextual_pass *pass, double eps, double x, double c,
                                tacet_error *err) {
    tacet_status status = TACET_OK;
    for (int world = 0; world < 2 && status == TACET_OK; world++) {
        tacet_contextual_learner *learner = NULL;
        tacet_raw *raw = NULL;
        status = make_learner(&learner, a, eps, x, c, world, err);
        TACET_THEN(status, tacet_raw_create(&raw, pass->m, err));
        TACET_THEN(status, tacet__contextual_sum(learner, raw, pass, err));
        if (status == TACET_OK) {
            memcpy(a->centre[world], raw->values, pass->m * sizeof(double));
            status = tacet_bounded_create(&a->value[world], a->bound, err);
        }
        TACET_THEN(status, tacet_bounded_set(a->value[world], raw, err));
        tacet_raw_free(raw);
        tacet_contextual_learner_free(learner);
    }
    return status;
}

/* A release of m features. broken: clipped nowhere, and calibrated by the supremum over a coarse grid. */
static tacet_status create_release(void **state, const tacet_audit_claim *claim, size_t m, bool broken,
                                   tacet_error *err) {
    const tacet_neighbours replace = {.relation = TACET_RELATION_REPLACE};
    double inverse_root[FEATURES_MOST];
    double x = 0;
    double c = 0;
    double centres = 0;
    contextual_state *a = NULL;
    tacet_status status =
        begin(state, &a, broken ? 2 : 0.3, err); /* with few features, long ones stand out in corners */
    if (status != TACET_OK) {
        return status;
    }
    const double *lam = tacet_contextual_basis_eigenvalues(a->basis);
    const double ratio = broken ? 1e-4 : 0.01; /* tau/n: the smaller, the more the corners stand out */
    double d_eff = 0;
    for (size_t j = 0; j < m; j++) {
        inverse_root[j] = 1 / sqrt(ROUNDS * (lam[j] + ratio));
        d_eff += lam[j] / (lam[j] + ratio);
    }
    tacet__contextual_pass pass = {
        .m = m, .inverse_root = inverse_root, .clip = 0.7 * sqrt(d_eff / ROUNDS), .bound = 1, .n = ROUNDS};
    worst_point(a, &pass, &x, &c, &centres);
    if (broken) {
        pass.clip = centres;
    }
    a->count = m;
    status = tacet__contextual_pass_bound(&a->bound, &pass, err);
    TACET_THEN(status,
               tacet_mechanism_create(&a->mechanism, TACET_MECHANISM_KNORM, a->bound, &replace, claim->eps, 0, err));
    if (broken) {
        pass.clip = 1e6;
    }
    return status == TACET_OK ? both_worlds(a, &pass, claim->eps, x, c, err) : status;
}

static tacet_status guarded(void **state, const tacet_audit_claim *claim, size_t m, bool broken, tacet_error *err) {
    *state = NULL;
    const tacet_status status = create_release(state, claim, m, broken, err);
    if (status != TACET_OK) {
        release_state(*state);
        *state = NULL;
    }
    return status;
}

static tacet_status create_one(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return guarded(state, claim, 1, false, err);
}
static tacet_status create_many(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return guarded(state, claim, 4, false, err);
}
static tacet_status create_broken(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return guarded(state, claim, 4, true, err);
}

static double distance(const double *x, const double *y, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    }
    return sqrt(sum);
}

static tacet_status run_release(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    const contextual_state *a = state;
    double out[FEATURES_MOST] = {0};
    const tacet_status status = tacet__mechanism_draw(a->mechanism, noise, out, a->value[world], err);
    *statistic = distance(out, a->centre[0], a->count) - distance(out, a->centre[1], a->count);
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

static tacet_status create_choice(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    contextual_state *a = NULL;
    *state = NULL;
    tacet_status status = begin(state, &a, 0.3, err);
    TACET_THEN(status, make_choice(a, claim, err));
    if (status != TACET_OK) {
        release_state(*state);
        *state = NULL;
    }
    return status;
}

static tacet_status run_choice(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    const contextual_state *a = state;
    double out[ACTIONS] = {0};
    const tacet_status status = tacet__mechanism_draw(a->mechanism, noise, out, a->value[world], err);
    *statistic = (size_t)out[0] == a->gains_most;
    return status;
}

const tacet_audit_target tacet__audit_contextual = {
    .name = "contextual",
    .summary = "release of a contextual model, one feature; one record's reward is 1e9 or -1e9, in its worst context",
    .pure = true,
    .create = create_one,
    .run = run_release,
    .free = release_state,
};
const tacet_audit_target tacet__audit_contextual_features = {
    .name = "contextual-features",
    .summary = "the same with four features: K-norm noise, likelihood ratio",
    .pure = true,
    .create = create_many,
    .run = run_release,
    .free = release_state,
};
const tacet_audit_target tacet__audit_contextual_choice = {
    .name = "contextual-choice",
    .summary = "one action chosen as published; one record's reward is 1e9 or -1e9, in a corner",
    .pure = true,
    .create = create_choice,
    .run = run_choice,
    .free = release_state,
};
const tacet_audit_target tacet__audit_contextual_grid = {
    .name = "control:contextual-grid-sup",
    .summary = "a release calibrated by the largest leverage on a grid of cell centres, without clipping",
    .control = true,
    .pure = true,
    .create = create_broken,
    .run = run_release,
    .free = release_state,
};
