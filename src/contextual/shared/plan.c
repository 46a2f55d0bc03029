/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - how many features, stages and records each, how much to clip: from the predicted error, before any
 * data. Ring: shared. Source: src/contextual/README.md, section 7. The search: numbers of features in growing steps;
 * for each a walk over one to six stages of equal or growing sizes, from where the last number of features ended; in
 * each stage a walk over tau/n and the clipping, until no neighbour predicts less. Matrices of a clipping depend on
 * (tau/n, kappa) alone, and are kept. Cost: some fifty m x m problems a number of features: tens to hundreds of
 * milliseconds.
 */
#include "contextual/shared/internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RATIOS = 13, SLACKS = 5, GROWTHS = 3, PLAN_FEATURES_MOST = 200 };
static const double SLACK[SLACKS] = {0.5, 0.7, 1.0, 1.4, 2.0};
static const double GROWTH[GROWTHS] = {1, 2, 4};
/* Residuals are clipped at three standard deviations of what the model does not know yet, which must not be lost, and
 * one of the noise, of which only the mean matters. */
static const double UNKNOWN_KEPT = 3;
static const double NOISE_KEPT = 1;

static double ratio_of(size_t i) {
    return pow(10, -0.5 * (double)i); /* 1 … 1e-6 */
}

typedef struct slot {
    double *H; /* H then S; NULL: not computed yet */
    double clip;
} slot;

typedef struct planner {
    const tacet_contextual_basis *basis;
    const tacet__contextual_plan_settings *settings;
    tacet__contextual_fusion fusion;
    double *trial, *best, *prior; /* m x m */
    bool single;                  /* one stage: no later one mends what clipping of residuals bends */
    slot slots[RATIOS][SLACKS];
} planner;

static void clear(planner *p) {
    for (size_t i = 0; i < RATIOS; i++) {
        for (size_t k = 0; k < SLACKS; k++) {
            free(p->slots[i][k].H);
            p->slots[i][k] = (slot){0};
        }
    }
    free(p->trial);
    free(p->best);
    free(p->prior);
    p->trial = p->best = p->prior = NULL;
    tacet__contextual_fusion_clear(&p->fusion);
}

static tacet_status begin(planner *p, size_t m, tacet_error *err) {
    tacet_status status =
        tacet__contextual_fusion_init(&p->fusion, p->basis, m, p->settings->prior_var, p->settings->decay, err);
    p->trial = TACET__ZALLOC(double, m *m);
    p->best = TACET__ZALLOC(double, m *m);
    p->prior = TACET__ZALLOC(double, m *m);
    if (status == TACET_OK && (p->trial == NULL || p->best == NULL || p->prior == NULL)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a plan of %zu features", m);
    }
    if (status == TACET_OK) {
        memcpy(p->prior, p->fusion.P, m * m * sizeof *p->prior);
    }
    return status;
}

/* The matrices for a pair of the grid, in the fusion's H and S. */
static tacet_status select_slot(planner *p, size_t i, size_t k, double *clip, tacet_error *err) {
    slot *s = &p->slots[i][k];
    const size_t size = p->fusion.m * p->fusion.m;
    if (s->H == NULL) {
        s->H = TACET__ALIGNED(double, 2 * size);
        if (s->H == NULL) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a plan");
        }
        tacet__contextual_fusion_clip(&p->fusion, ratio_of(i), SLACK[k], &s->clip);
        memcpy(s->H, p->fusion.H, size * sizeof *s->H);
        memcpy(s->H + size, p->fusion.S, size * sizeof *s->H);
    } else {
        memcpy(p->fusion.H, s->H, size * sizeof *s->H);
        memcpy(p->fusion.S, s->H + size, size * sizeof *s->H);
    }
    *clip = s->clip;
    return TACET_OK;
}

/* Predicts one stage at one pair; the covariance after it is in p->trial. */
static tacet_status predict(planner *p, tacet__contextual_stage *stage, size_t i, size_t k, tacet_error *err) {
    const tacet__contextual_plan_settings *s = p->settings;
    const double n = (double)stage->n;
    const double growth = s->grows ? sqrt(((double)p->fusion.m + 1) / 2) : 1;
    const double unknown_var = tacet__contextual_fusion_risk(&p->fusion, p->fusion.P);
    const double residual_var = s->noise_sd * s->noise_sd + unknown_var;
    tacet_status status = select_slot(p, i, k, &stage->clip, err);
    if (status != TACET_OK) {
        return status;
    }
    stage->clip /= sqrt(n);
    stage->ratio = ratio_of(i);
    stage->slack = SLACK[k];
    stage->bound = p->single ? s->bound : fmin(s->bound, UNKNOWN_KEPT * sqrt(unknown_var) + NOISE_KEPT * s->noise_sd);
    stage->noise_sd = s->unit_sd * growth * 2 * stage->bound * stage->clip;
    return tacet__contextual_fusion_gain(&p->fusion, p->trial, &stage->risk, n, stage->ratio, residual_var,
                                         stage->bound, stage->noise_sd, err);
}

/* Walks from (*i, *k) to a pair none of whose neighbours predicts less; the fusion then has the covariance after it. */
static tacet_status walk(planner *p, tacet__contextual_stage *stage, size_t *i, size_t *k, tacet_error *err) {
    static const int STEP[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    const size_t bytes = p->fusion.m * p->fusion.m * sizeof(double);
    tacet_status status = predict(p, stage, *i, *k, err);
    memcpy(p->best, p->trial, bytes);
    for (bool moved = true; moved && status == TACET_OK;) {
        moved = false;
        for (size_t step = 0; step < 4 && !moved && status == TACET_OK; step++) {
            const size_t a = *i + (size_t)STEP[step][0];
            const size_t b = *k + (size_t)STEP[step][1];
            if (a >= RATIOS || b >= SLACKS) {
                continue; /* below zero wraps around, and is caught here too */
            }
            tacet__contextual_stage other = *stage;
            status = predict(p, &other, a, b, err);
            if (status == TACET_OK && other.risk < stage->risk * (1 - 1e-9)) {
                *stage = other;
                memcpy(p->best, p->trial, bytes);
                *i = a;
                *k = b;
                moved = true;
            }
        }
    }
    if (status == TACET_OK) {
        memcpy(p->fusion.P, p->best, bytes);
    }
    return status;
}

static tacet_status try_stages(planner *p, tacet__contextual_plan *plan, size_t count, size_t g, tacet_error *err) {
    const double growth = GROWTH[g];
    const size_t m = p->fusion.m;
    double total = 0;
    size_t given = 0;
    size_t i = 2; /* where the walk begins */
    size_t k = 2;
    tacet_status status = TACET_OK;
    memcpy(p->fusion.P, p->prior, m * m * sizeof *p->prior);
    *plan = (tacet__contextual_plan){.m = m, .count = count, .growth = g};
    p->single = count == 1;
    for (size_t j = 0; j < count; j++) {
        total += pow(growth, (double)j);
    }
    for (size_t j = 0; j < count && status == TACET_OK; j++) {
        tacet__contextual_stage *stage = &plan->stages[j];
        stage->n = j + 1 < count ? (size_t)floor((double)p->settings->rounds * pow(growth, (double)j) / total)
                                 : p->settings->rounds - given;
        if (stage->n == 0) {
            plan->risk = INFINITY;
            return TACET_OK;
        }
        given += stage->n;
        status = walk(p, stage, &i, &k, err);
        plan->risk = stage->risk;
    }
    return status;
}

/* The best number of stages and growth of their sizes, walking from those of `best`; its risk is that of m features. */
static tacet_status try_features(planner *p, tacet__contextual_plan *best, size_t m, tacet_error *err) {
    static const int STEP[5][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    bool seen[TACET__CONTEXTUAL_STAGES_MOST + 1][GROWTHS] = {{false}};
    tacet_status status = begin(p, m, err);
    size_t count = best->count;
    size_t g = best->growth;
    best->risk = INFINITY;
    for (bool moved = true; moved && status == TACET_OK;) {
        moved = false;
        for (size_t step = 0; step < 5 && status == TACET_OK; step++) {
            const size_t c = count + (size_t)STEP[step][0];
            const size_t h = g + (size_t)STEP[step][1];
            tacet__contextual_plan plan;
            if (c == 0 || c > p->settings->stages_most || h >= GROWTHS || seen[c][h] || (c == 1 && h > 0)) {
                continue;
            }
            seen[c][h] = true;
            status = try_stages(p, &plan, c, h, err);
            if (status == TACET_OK && plan.risk < best->risk) {
                *best = plan;
                moved = true;
            }
        }
        count = best->count;
        g = best->growth;
    }
    clear(p);
    return status;
}

static tacet_status check(const tacet_contextual_basis *basis, const tacet__contextual_plan_settings *s,
                          tacet_error *err) {
    if (s->rounds == 0 || s->stages_most == 0 || s->stages_most > TACET__CONTEXTUAL_STAGES_MOST) {
        return tacet__fail(err, TACET_INVALID, "a plan needs records, and 1 to %d stages",
                           (int)TACET__CONTEXTUAL_STAGES_MOST);
    }
    if (!(s->bound > 0 && isfinite(s->bound) && s->noise_sd > 0 && isfinite(s->noise_sd) && s->prior_var > 0 &&
          isfinite(s->prior_var) && s->decay >= 0 && isfinite(s->decay) && s->unit_sd > 0 && isfinite(s->unit_sd)) ||
        basis == NULL) {
        return tacet__fail(err, TACET_INVALID,
                           "a plan needs a reward bound, a noise, a prior and a scale that are finite and > 0");
    }
    return TACET_OK;
}

tacet_status tacet__contextual_plan_make(tacet__contextual_plan *plan, const tacet_contextual_basis *basis,
                                         const tacet__contextual_plan_settings *settings, tacet_error *err) {
    planner p = {.basis = basis, .settings = settings};
    memset(plan, 0, sizeof *plan);
    plan->risk = INFINITY;
    tacet_status status = check(basis, settings, err);
    size_t most = basis->features->m < PLAN_FEATURES_MOST ? basis->features->m : PLAN_FEATURES_MOST;
    if (settings->features_most != 0 && settings->features_most < most) {
        most = settings->features_most;
    }
    size_t worse = 0;
    tacet__contextual_plan found = {.count = settings->stages_most > 1 ? 2 : 1,
                                    .growth = settings->stages_most > 1 ? 1 : 0};
    for (size_t m = most < 4 ? most : 4; status == TACET_OK && worse < 2; m = m + m / 3 < most ? m + m / 3 : most) {
        status = try_features(&p, &found, m, err);
        if (status == TACET_OK && found.risk < plan->risk) {
            *plan = found;
            worse = 0;
        } else {
            worse++;
        }
        if (m == most) {
            break;
        }
    }
    clear(&p);
    return status;
}
