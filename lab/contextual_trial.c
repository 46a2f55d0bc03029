/* SPDX-License-Identifier: Apache-2.0 */
/* contextual_trial.c - a trial of `tacet-lab simulate contextual`, from the draw of its function to its error.
 * Ring: programs. Source: Pavlovic, Salgia, Zhao 2025 (USCA), eq. (1) for the error; `faithful` draws their random
 * approximating set anew in each trial. Differs: what does not depend on data (features, plan, certificates) is taken
 * from the simulation, not made again. */
#include "gp/kernel_internal.h"
#include "contextual_trial.h"

#include "contextual/open/internal.h"
#include "trials.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <tacet/ab/trusted/log.h>
#include <tacet/core/simrng.h>

enum { CENTRES = 20, STREAMS = 4 };
static const double PRIOR_VAR = 0.05; /* ridge: believed mean square of the function, of half the range */

typedef struct problem {
    double wave[3]; /* a, b, p */
    double centre[CENTRES * TACET_CONTEXTUAL_COORDINATES_MOST];
    double weight[CENTRES];
} problem;

static uint64_t stream(size_t trial, unsigned purpose) {
    return (uint64_t)trial * STREAMS + purpose;
}

static const tacet_kernel *kernel_of(const contextual_simulation *s) {
    return s->truth;
}

double contextual_law_quantile(contextual_law law, double u) {
    static const double CENTRE[3] = {0.15, 0.5, 0.85};
    const size_t k = u < 1.0 / 3 ? 0 : u < 2.0 / 3 ? 1 : 2;
    switch (law) {
    case CONTEXTUAL_LAW_SKEW:
        return u * u * u * u;
    case CONTEXTUAL_LAW_TWO:
        return u < 0.9 ? 0.2 : 0.8;
    case CONTEXTUAL_LAW_ONE:
        return 0.4;
    case CONTEXTUAL_LAW_CLUSTERS:
        return CENTRE[k] + 0.1 * (3 * u - (double)k - 0.5);
    case CONTEXTUAL_LAW_UNIFORM:
    case CONTEXTUAL_LAW_LEVELS:
        break;
    }
    return u;
}

static void draw_problem(const contextual_simulation *s, problem *p, size_t trial) {
    tacet_simrng rng;
    double norm2 = 0;
    tacet_simrng_init(&rng, s->seed, stream(trial, 0));
    if (s->waves) {
        p->wave[0] = 0.2 + 0.6 * tacet_simrng_uniform(&rng);
        p->wave[1] = tacet_simrng_uniform(&rng) - 0.5;
        p->wave[2] = 6.283185307179586 * tacet_simrng_uniform(&rng);
    }
    for (size_t j = 0; j < CENTRES; j++) {
        for (size_t c = 0; c < s->d; c++) {
            p->centre[j * s->d + c] = tacet_simrng_uniform(&rng);
        }
        p->weight[j] = tacet_simrng_normal(&rng);
    }
    for (size_t i = 0; i < CENTRES; i++) {
        for (size_t j = 0; j < CENTRES; j++) {
            norm2 += p->weight[i] * p->weight[j] *
                     tacet_kernel_eval(kernel_of(s), p->centre + i * s->d, p->centre + j * s->d);
        }
    }
    for (size_t j = 0; j < CENTRES; j++) {
        p->weight[j] /= sqrt(norm2);
    }
}

static double f_at(const contextual_simulation *s, const problem *p, const double *w) {
    double row[CENTRES];
    if (s->waves) {
        const double x = w[0];
        const double c = s->dim_context > 0 ? w[s->dim_action] : 0.5;
        return 0.7 * cos(4 * (x - p->wave[0] - p->wave[1] * c)) + 0.25 * sin(3 * x * c + p->wave[2]);
    }
    tacet_kernel_row(kernel_of(s), row, p->centre, s->d, CENTRES, w);
    return tacet__dot(row, p->weight, CENTRES);
}

static tacet_status log_rounds(const contextual_simulation *s, tacet_contextual_learner *l, const problem *p,
                               size_t trial, tacet_error *err) {
    tacet_simrng rng;
    tacet_status status = TACET_OK;
    tacet_simrng_init(&rng, s->seed, stream(trial, 1));
    for (size_t t = 0; t < s->rounds && status == TACET_OK; t++) {
        double w[TACET_CONTEXTUAL_COORDINATES_MOST];
        for (size_t c = 0; c < s->d; c++) {
            w[c] = tacet_simrng_uniform(&rng);
            w[c] = c >= s->dim_action ? contextual_law_quantile(s->law, w[c]) : w[c];
        }
        double at[TACET_CONTEXTUAL_DIM_MOST];
        memcpy(at, w, sizeof at);
        for (size_t c = 0; c < s->d && s->permute; c++) {
            at[c] = tacet_simrng_uniform(&rng);
            at[c] = c >= s->dim_action ? contextual_law_quantile(s->law, at[c]) : at[c];
        }
        const double y = lab_reward_draw(s->reward, f_at(s, p, at), s->noise, -1, 1, &rng);
        status = tacet_contextual_learner_add(l, w, y, err);
    }
    return status;
}

/* f of all actions in one context, and the largest. */
static double values_in(const contextual_simulation *s, const problem *p, double *f, size_t context) {
    double top = -INFINITY;
    double w[TACET_CONTEXTUAL_COORDINATES_MOST];
    memcpy(w + s->dim_action, s->context + context * s->dim_context, s->dim_context * sizeof *w);
    for (size_t i = 0; i < s->actions; i++) {
        memcpy(w, s->action + i * s->dim_action, s->dim_action * sizeof *w);
        f[i] = f_at(s, p, w);
        top = fmax(top, f[i]);
    }
    return top;
}

/* A model from weights of features: kernel functions at the nodes. A point of it is an action and a context. */
static tacet_status model_from(const contextual_simulation *s, tacet_contextual_model **out, const double *theta,
                               tacet_error *err) {
    const tacet_contextual_basis *b = s->basis;
    const tacet__feature_block *block = &b->features->blocks[0];
    const tacet_kernel_spec *spec = tacet_kernel_describe(b->features->kernel);
    double lengthscales[TACET_CONTEXTUAL_COORDINATES_MOST];
    double *weights = TACET__ZALLOC(double, block->count);
    if (weights == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model");
    }
    tacet__gemv(false, block->count, b->features->m, 1, block->A, block->count, theta, 0, weights);
    for (size_t i = 0; i < b->d; i++) {
        lengthscales[i] = b->unit_lengthscale[i] * (b->upper[i] - b->lower[i]);
    }
    const tacet_contextual_parts parts = {.action_dim = b->d,
                                          .lower = b->lower,
                                          .upper = b->upper,
                                          .kind = spec->kind,
                                          .matern_p = spec->matern_p,
                                          .lengthscales = lengthscales,
                                          .nodes = block->Z,
                                          .weights = weights,
                                          .count = block->count,
                                          .eps = 1e308,
                                          .rounds = s->rounds,
                                          .range = {s->settings.reward_lower, s->settings.reward_upper}};
    const tacet_status status = tacet_contextual_model_create(out, &parts, err);
    free(weights);
    return status;
}

/* The non-private reference: ridge regression with the feature space's own Gram matrix, eq. (2). */
static tacet_status ridge(const contextual_simulation *s, const tacet_contextual_learner *l,
                          tacet_contextual_model **out, tacet_error *err) {
    enum { TILE = 256 };
    const size_t m = tacet_contextual_basis_dim(s->basis);
    double *G = TACET__ZALLOC(double, m *m);
    double *b = TACET__ZALLOC(double, m);
    double *phi = TACET__ALIGNED(double, m *TILE);
    tacet_status status =
        G == NULL || b == NULL || phi == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for ridge") : TACET_OK;
    for (size_t at = 0; at < l->count && status == TACET_OK; at += TILE) {
        const size_t n = l->count - at < TILE ? l->count - at : TILE;
        const double *first = l->records + at * l->stride;
        tacet_features_eval(s->basis->features, phi, first, l->stride, n);
        tacet__syrk(false, m, n, 1, phi, m, 1, G, m);
        for (size_t j = 0; j < n; j++) {
            tacet__axpy(b, first[j * l->stride + s->d], phi + j * m, m);
        }
    }
    for (size_t j = 0; j < m && status == TACET_OK; j++) {
        G[j * m + j] += fmax(s->noise * s->noise, 1e-6) / PRIOR_VAR; /* the Bayesian tau */
    }
    TACET_THEN(status, tacet__cholesky(G, m, m, NULL, NULL, err));
    if (status == TACET_OK) {
        tacet__chol_solve(m, G, m, b);
        status = model_from(s, out, b, err);
    }
    free(G);
    free(b);
    free(phi);
    return status;
}

/* All actions (d x actions) in one context. */
static void points_in(const contextual_simulation *s, double *points, size_t context) {
    for (size_t i = 0; i < s->actions; i++) {
        memcpy(points + i * s->d, s->action + i * s->dim_action, s->dim_action * sizeof *points);
        memcpy(points + i * s->d + s->dim_action, s->context + context * s->dim_context,
               s->dim_context * sizeof *points);
    }
}

/* Mean loss of a model's best actions, and the root mean square error of its means. */
static tacet_status model_error(const contextual_simulation *s, const problem *p, const tacet_contextual_model *model,
                                double *loss, double *rms, double *f, double *means, tacet_error *err) {
    double sum = 0;
    double *points = TACET__ZALLOC(double, s->actions * s->d);
    tacet_status status =
        points == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for predictions") : TACET_OK;
    for (size_t k = 0; k < s->contexts && status == TACET_OK; k++) {
        size_t best = 0;
        const double top = values_in(s, p, f, k);
        points_in(s, points, k);
        status = tacet_contextual_predict(model, &best, means, points, s->actions, err);
        *loss += (top - f[best]) / (double)s->contexts;
        for (size_t i = 0; i < s->actions; i++) {
            sum += (means[i] - f[i]) * (means[i] - f[i]) / (double)(s->actions * s->contexts);
        }
    }
    *rms = sqrt(sum);
    free(points);
    return status;
}

static tacet_status choice_error(const contextual_simulation *s, const problem *p, const tacet_contextual_learner *l,
                                 const tacet_ask *ask, double *loss, double *sup, double *f, tacet_error *err) {
    tacet_contextual_chooser *chooser = NULL;
    tacet_status status = tacet__contextual_chooser_begin(&chooser, l, s->used_tau, s->sup, err);
    for (size_t k = 0; k < s->contexts && status == TACET_OK; k++) {
        const double top = values_in(s, p, f, k);
        for (size_t i = 0; i < s->actions; i++) {
            *sup = fmax(*sup, fabs(tacet__dot(s->U + (k * s->actions + i) * s->m, chooser->v, s->m) - f[i]));
        }
        for (size_t draw = 0; draw < s->draws && status == TACET_OK; draw++) {
            tacet_release *chosen = NULL;
            status = tacet__contextual_choose_with(chooser, &chosen, ask, s->U + k * s->m * s->actions, s->actions,
                                                   s->bounds[k], err);
            if (status == TACET_OK) {
                *loss += (top - f[(size_t)tacet_release_values(chosen)[0]]) / (double)(s->contexts * s->draws);
            }
            tacet_release_free(chosen);
        }
    }
    tacet_contextual_chooser_free(chooser);
    return status;
}

/* u of n points (unit box, stride `stride`) into out (m x n). */
static void levers(const tacet__lever *lever, double *out, const double *X, size_t stride, size_t n) {
    tacet_features_eval(lever->features, out, X, stride, n);
    tacet__lever_apply(lever, out, n);
}

/* Z~ = 1/K sum over T K random points of phi phi' + tau I, as its Cholesky factor. Eqs (4) and (5) on this set are u'v
 * and |u|^2 with u = L^-1 phi (test_basis has the comparison). */
static tacet_status random_operator(const contextual_simulation *s, double *L, double tau, size_t trial,
                                    tacet_error *err) {
    enum { TILE = 128 };
    const size_t m = s->basis->features->m;
    double points[TILE * TACET_CONTEXTUAL_DIM_MOST];
    tacet_simrng rng;
    double *phi = TACET__ALIGNED(double, m *TILE);
    if (phi == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the approximating set");
    }
    tacet_simrng_init(&rng, s->seed, stream(trial, 3));
    for (size_t left = s->points; left > 0;) {
        const size_t n = left < TILE ? left : TILE;
        for (size_t i = 0; i < n * s->d; i++) {
            points[i] = tacet_simrng_uniform(&rng);
        }
        tacet_features_eval(s->basis->features, phi, points, s->d, n);
        tacet__syrk(false, m, n, (double)s->rounds / (double)s->points, phi, m, 1, L, m);
        left -= n;
    }
    free(phi);
    for (size_t j = 0; j < m; j++) {
        L[j * m + j] += tau;
    }
    return tacet__cholesky(L, m, m, NULL, NULL, err);
}

/* The paper's algorithm with its random approximating set: a certificate for each trial's own operator. */
static tacet_status faithful_error(const contextual_simulation *s, const problem *p, const tacet_contextual_learner *l,
                                   const tacet_ask *ask, double *loss, double *f, size_t trial, tacet_error *err) {
    const size_t m = s->basis->features->m;
    const double tau = s->tau > 0 ? s->tau : 1;
    double *L = TACET__ZALLOC(double, m *m);
    double *U = TACET__ALIGNED(double, m * s->actions);
    double *v = TACET__ZALLOC(double, m);
    double *points = TACET__ZALLOC(double, s->actions * s->d);
    const tacet__lever lever = {
        .features = s->basis->features, .L = L, .tau = tau, .d = s->d, .lengthscale = s->basis->unit_lengthscale};
    tacet_contextual_certificate sup = {0};
    tacet_status status = L == NULL || U == NULL || v == NULL || points == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a trial")
                              : random_operator(s, L, tau, trial, err);
    TACET_THEN(status, tacet__lever_certify(&sup, &lever, 0.005, 200000, err));
    for (size_t i = 0; i < l->count && status == TACET_OK; i++) {
        levers(&lever, U, l->records + i * l->stride, l->stride, 1);
        tacet__axpy(v, l->records[i * l->stride + s->d], U, m);
    }
    const tacet_contextual_chooser chooser = {.basis = s->basis,
                                              .m = m,
                                              .n = l->count,
                                              .tau = tau,
                                              .eps = s->settings.eps,
                                              .bound = 1,
                                              .sup = sup.upper,
                                              .share = sup.upper,
                                              .v = v};
    for (size_t k = 0; k < s->contexts && status == TACET_OK; k++) {
        const double top = values_in(s, p, f, k);
        points_in(s, points, k);
        levers(&lever, U, points, s->d, s->actions);
        for (size_t draw = 0; draw < s->draws && status == TACET_OK; draw++) {
            tacet_release *chosen = NULL;
            status =
                tacet__contextual_choose_with(&chooser, &chosen, ask, U, s->actions, 2 * sup.upper * sup.upper, err);
            if (status == TACET_OK) {
                *loss += (top - f[(size_t)tacet_release_values(chosen)[0]]) / (double)(s->contexts * s->draws);
            }
            tacet_release_free(chosen);
        }
    }
    free(L);
    free(U);
    free(v);
    free(points);
    return status;
}

static tacet_status uniform_error(const contextual_simulation *s, const problem *p, double *loss, double *f) {
    for (size_t k = 0; k < s->contexts; k++) {
        const double top = values_in(s, p, f, k);
        for (size_t i = 0; i < s->actions; i++) {
            *loss += (top - f[i]) / (double)(s->actions * s->contexts);
        }
    }
    return TACET_OK;
}

/* As tacet learn does it, with seeded noise. */
static tacet_status table_model(const contextual_simulation *s, const tacet_contextual_learner *l, size_t trial,
                                tacet_ab_model **out, tacet_error *err) {
    tacet_space space;
    tacet_ab_log *log = NULL;
    double *rows = TACET__ZALLOC(double, l->count *(s->d + 1));
    tacet_status status = rows == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a log") : TACET_OK;
    for (size_t i = 0; i < l->count && status == TACET_OK; i++) {
        memcpy(rows + i * (s->d + 1), l->records + i * l->stride, (s->d + 1) * sizeof *rows);
    }
    const tacet_status made = lab_unit_space(&space, s->d, err);
    TACET_THEN(status, made);
    const tacet_ab_question question = {.space = &space,
                                        .action_columns = s->dim_action,
                                        .reward = "reward",
                                        .lo = -1,
                                        .hi = 1,
                                        .eps = s->settings.eps};
    const tacet_contextual_entry entry = {
        .ticket = "t", .to_whom = "nobody", .seeded = true, .seed = s->seed * 1000003 + trial};
    TACET_THEN(status, tacet_ab_log_open_rows(&log, rows, l->count, &question, err));
    TACET_THEN(status, tacet_ab_log_release(log, out, &entry, err));
    tacet_ab_log_free(log);
    tacet_space_clear(&space);
    free(rows);
    return status;
}

/* As model_error, of the release of one table. */
static tacet_status table_error(const contextual_simulation *s, const problem *p, const tacet_ab_model *model,
                                double *loss, double *rms, double *stated, double *f, tacet_error *err) {
    double best[TACET_AB_ACTION_COLUMNS_MOST], w[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    double mean = 0, sd = 0, sum = 0, spread = 0;
    tacet_status status = TACET_OK;
    for (size_t k = 0; k < s->contexts && status == TACET_OK; k++) {
        const double top = values_in(s, p, f, k);
        memcpy(w + s->dim_action, s->context + k * s->dim_context, s->dim_context * sizeof *w);
        status = tacet_ab_model_predict(model, &mean, &sd, best, w, 1, err);
        memcpy(w, best, s->dim_action * sizeof *w);
        *loss += (fmax(top, f_at(s, p, w)) - f_at(s, p, w)) / (double)s->contexts;
        for (size_t i = 0; i < s->actions && status == TACET_OK; i++) {
            memcpy(w, s->action + i * s->dim_action, s->dim_action * sizeof *w);
            status = tacet_ab_model_predict(model, &mean, &sd, NULL, w, 1, err);
            sum += (mean - f[i]) * (mean - f[i]) / (double)(s->actions * s->contexts);
            spread += sd * sd / (double)(s->actions * s->contexts);
        }
    }
    *rms = sqrt(sum);
    *stated = sqrt(spread);
    return status;
}

tacet_status contextual_trial(void *user, size_t trial, tacet_error *err) {
    contextual_simulation *s = user;
    if (s->policy != CONTEXTUAL_POLICY_NONE) {
        return contextual_regret_trial(s, trial, err);
    }
    problem p;
    tacet_contextual_learner *l = NULL;
    tacet_contextual_model *model = NULL;
    tacet_noise *noise = NULL;
    double loss = 0;
    double *f = TACET__ZALLOC(double, 2 * s->actions);
    tacet_status status = f == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a trial") : TACET_OK;
    draw_problem(s, &p, trial);
    if (status == TACET_OK && s->algorithm == CONTEXTUAL_UNIFORM) {
        status = uniform_error(s, &p, &loss, f);
        goto done;
    }
    TACET_THEN(status, tacet_contextual_learner_create(&l, s->basis, &s->settings, err));
    TACET_THEN(status, log_rounds(s, l, &p, trial, err));
    TACET_THEN(status, tacet_noise_open_seeded(&noise, s->seed, stream(trial, 2), err));
    if (status != TACET_OK) {
        goto done;
    }
    const tacet_ask ask = {.noise = noise, .ticket = "simulation", .what = "model", .to_whom = "simulation"};
    if (s->algorithm == CONTEXTUAL_PUBLISHED) {
        status = choice_error(s, &p, l, &ask, &loss, &s->rms[trial], f, err);
        goto done;
    }
    if (s->algorithm == CONTEXTUAL_FAITHFUL) {
        status = faithful_error(s, &p, l, &ask, &loss, f, trial, err);
        goto done;
    }
    if (s->algorithm == CONTEXTUAL_TABLE) {
        tacet_ab_model *table = NULL;
        status = table_model(s, l, trial, &table, err);
        TACET_THEN(status, table_error(s, &p, table, &loss, &s->rms[trial], &s->stated[trial], f, err));
        tacet_ab_model_free(table);
        goto done;
    }
    status = ridge(s, l, &model, err);
    TACET_THEN(status, model_error(s, &p, model, &loss, &s->rms[trial], f, f + s->actions, err));
done:
    s->error[trial] = loss;
    tacet_contextual_learner_free(l);
    tacet_contextual_model_free(model);
    tacet_noise_close(noise);
    free(f);
    return status;
}
