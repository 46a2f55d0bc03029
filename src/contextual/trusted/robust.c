/* SPDX-License-Identifier: Apache-2.0 */
/* robust.c - one epoch's vector: residuals of the model so far, under the law of contexts as measured.
 * Ring: trusted. Source: README.md, "Parts". Every round is in one part. Cost: one pass over the records, some twenty
 * O(M^2 N) forms. */
#include "tally/gate.h"
#include "contextual/trusted/robust.h"

#include "core/fail.h"
#include "core/stop.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>

static const char PROOF[] = TACET__ROBUST_PROOF;
static const double SKEWED_KEPT = 3;      /* likewise, where that cuts off nothing to speak of */
static const double SYMMETRIC_KEPT = 2.5; /* residuals are clipped at so many of their scale */

/* --- records ----------------------------------------------------------------------------------------------------- */

tacet_status tacet__robust_visit(const tacet__robust *r, size_t part, tacet__robust_visitor visit, void *user,
                                 tacet_error *err) {
    const tacet_contextual_learner *l = r->learner;
    const size_t d = l->basis->d;
    const size_t M = r->belief.M;
    const double *records[TACET__ROBUST_TILE];
    size_t filled = 0;
    double *points = TACET__ZALLOC(double, d *TACET__ROBUST_TILE);
    double *phi = TACET__ALIGNED(double, (M + 1) * TACET__ROBUST_TILE);
    const bool good = points != NULL && phi != NULL;
    tacet_status status = good ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features", M);
    for (size_t i = 0; i <= l->count && status == TACET_OK; i++) {
        if (i < l->count && r->parts.part_of[i] == part) {
            records[filled] = l->records + i * l->stride;
            memcpy(points + filled * d, records[filled], d * sizeof *points);
            filled++;
        }
        if (filled == TACET__ROBUST_TILE || (i == l->count && filled > 0)) {
            if (M > 0) {
                tacet_features_eval(&r->view.features, phi, points, d, filled);
            }
            for (size_t j = 0; j < filled; j++) {
                visit(user, records[j], phi + j * M);
            }
            filled = 0;
            status = tacet__stopped(l->settings.stop, err);
        }
    }
    if (good) {
        sodium_memzero(points, d * TACET__ROBUST_TILE * sizeof *points);
        sodium_memzero(phi, M * TACET__ROBUST_TILE * sizeof *phi);
    }
    free(points);
    free(phi);
    return status;
}

bool tacet__robust_null(const tacet__robust *r, const double *record) {
    return record[r->learner->basis->d + 1] < 0;
}

double tacet__robust_mean(const tacet__robust *r, const double *phi) {
    const double bound = r->learner->bound;
    return fmin(fmax(tacet__dot(r->belief.theta, phi, r->belief.M), -bound), bound);
}

double tacet__robust_step(double limit) {
    int exponent = 0;
    (void)frexp(limit, &exponent);
    return ldexp(1, exponent - TACET__ROBUST_STEP_BITS);
}

tacet_status tacet__robust_tally(tacet_tally **out, const char *name, size_t numbers, tacet_error *err) {
    tacet_tally_plan plan = {.numbers = numbers};
    (void)crypto_generichash(plan.hash, sizeof plan.hash, (const unsigned char *)name, strlen(name), NULL, 0);
    return tacet_tally_create(out, &plan, "an epoch", err);
}

void tacet__robust_add(tacet_tally *tally, size_t first, const double *share, size_t m, double factor, double step) {
    enum { SOME = 64 };
    size_t at[SOME];
    int64_t steps[SOME];
    for (size_t i = 0, count = 0; i < m; i += count) {
        for (count = 0; count < SOME && i + count < m; count++) {
            const double x = factor * share[i + count] / step;
            at[count] = first + i + count;
            steps[count] = isfinite(x) ? (int64_t)llrint(x) : 0;
        }
        (void)tacet_tally_add(tally, i == 0 ? 1 : 0, at, steps, count, NULL); /* all places are its own */
    }
    sodium_memzero(steps, sizeof steps);
}

void tacet__robust_sums(const tacet_tally *tally, double *out, size_t m, double step) {
    for (size_t i = 0; i < m; i++) {
        out[i] = tacet_tally_number(tally, i) * ldexp(step, TACET_TALLY_BITS); /* powers of two: exact */
    }
}

double tacet__robust_share(double limit, size_t m) {
    return nextafter(limit * (1 + 1e-12) + 0.5000001 * tacet__robust_step(limit) * sqrt((double)m), INFINITY);
}

/* --- stages ------------------------------------------------------------------------------------------------------ */

typedef struct summing {
    const tacet__robust *r;
    tacet_tally *sums;
    double *u;
    double bound, clip, step; /* clip: of |omega u| */
    bool first, symmetric;    /* symmetric: the bound is the same everywhere */
} summing;

static void sum_record(void *user, const double *record, const double *phi) {
    const summing *s = user;
    const tacet__belief_form *f = &s->r->form;
    if (tacet__robust_null(s->r, record)) {
        return;
    }
    const double reward = record[s->r->learner->basis->d];
    const double mean = s->first ? 0 : tacet__robust_mean(s->r, phi);
    /* What the residual can be at most: for skewed rewards that of the range about the model, in units of the bound. */
    const double reach = s->symmetric ? 1 : 1 + fabs(mean) / s->bound;
    memcpy(s->u, phi, f->m * sizeof *s->u);
    tacet__trsv(false, f->m, f->R, f->m, s->u);
    const double norm = tacet__norm2(s->u, f->m);
    const double most = reach * s->bound;
    const double factor =
        (norm * reach > s->clip ? s->clip / (norm * reach) : 1) * fmin(fmax(reward - mean, -most), most);
    tacet__robust_add(s->sums, 0, s->u, f->m, factor, s->step);
}

/* What a residual can be at most in each node, in units of the bound: nothing of a skewed reward is clipped. */
static const double *reaches(const tacet__robust *r, size_t stage) {
    if (stage == 0 || r->learner->settings.rewards == TACET_CONTEXTUAL_SYMMETRIC) {
        return NULL;
    }
    for (size_t k = 0; k < r->belief.N; k++) {
        r->reach[k] = 1 + fabs(tacet__robust_mean(r, r->belief.phi + k * r->belief.M)) / r->learner->bound;
    }
    return r->reach;
}

/* The case of stage j, and its form. Skewed rewards are clipped only where what that cuts off was measured, and is
 * less than the noise it saves. */
static tacet_status prepare_stage(tacet__robust *r, tacet__belief_case *c, size_t j, tacet_error *err) {
    const double B = r->learner->bound;
    const bool symmetric = r->learner->settings.rewards == TACET_CONTEXTUAL_SYMMETRIC;
    char name[32];
    double scale = r->scale;
    double excess = 0;
    double noise = 0;
    tacet_status status = TACET_OK;
    *c = (tacet__belief_case){.q = r->q,
                              .n = (double)r->parts.sizes.n[TACET__PART_STAGE + 3 * j],
                              .bound = B,
                              .reach = reaches(r, j),
                              .unit_sd = r->unit_sd,
                              .grows = r->grows};
    if (j > 0) {
        (void)snprintf(name, sizeof name, "scale %zu", j + 1);
        status = tacet__robust_quantile_scale(r, &scale, TACET__PART_STAGE + 3 * j + 1, name, err);
    }
    c->residual_var = scale * scale;
    if (symmetric) {
        c->bound = fmin(j == 0 ? B : 2 * B, SYMMETRIC_KEPT * scale);
    }
    if (status != TACET_OK || symmetric || j == 0) {
        return status == TACET_OK ? tacet__belief_choose(&r->belief, &r->form, c, err) : status;
    }
    tacet__belief_case clipped = *c;
    clipped.reach = NULL;
    clipped.bound = fmin(SKEWED_KEPT * scale, 1.9 * B);
    (void)snprintf(name, sizeof name, "cut %zu", j + 1);
    status = tacet__robust_excess(r, &excess, &noise, TACET__PART_STAGE + 3 * j + 2, name, clipped.bound, err);
    const double cut = fmax(excess, 0) + 2 * noise;
    c->residual_var += 2 * B * cut;
    if (status == TACET_OK) {
        status = tacet__belief_choose(&r->belief, &r->form, c, err);
    }
    const double unclipped = r->form.risk;
    if (status == TACET_OK) {
        status = tacet__belief_choose(&r->belief, &r->form, &clipped, err);
    }
    if (status == TACET_OK && r->form.risk + cut * cut < unclipped) {
        *c = clipped;
        r->cut = cut;
        return TACET_OK;
    }
    r->cut = 0;
    return status == TACET_OK ? tacet__belief_choose(&r->belief, &r->form, c, err) : status;
}

tacet_status tacet__robust_learn(tacet__robust *r, size_t j, const tacet__belief_scaling *scaling, tacet_error *err) {
    tacet__belief_case c;
    char name[32];
    tacet_status status = prepare_stage(r, &c, j, err);
    if (status != TACET_OK) {
        return status;
    }
    const size_t m = r->form.m;
    const double limit = c.bound * r->form.clip / sqrt(c.n);
    const double share = tacet__robust_share(limit, m);
    tacet_tally *sums = NULL;
    double *u = TACET__ZALLOC(double, m);
    double *v = TACET__ZALLOC(double, m);
    double sd = 0;
    (void)snprintf(name, sizeof name, "stage %zu", j + 1);
    status = u == NULL || v == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features", m)
                                    : tacet__robust_tally(&sums, name, m, err);
    /* u here has no 1/sqrt n: it goes into the step. */
    summing s = {.r = r,
                 .sums = sums,
                 .u = u,
                 .bound = c.bound,
                 .clip = r->form.clip,
                 .step = tacet__robust_step(limit) * sqrt(c.n),
                 .first = j == 0,
                 .symmetric = c.reach == NULL};
    TACET_THEN(status, tacet__robust_visit(r, TACET__PART_STAGE + 3 * j, sum_record, &s, err));
    if (status == TACET_OK) {
        tacet__robust_sums(sums, v, m, tacet__robust_step(limit));
        const tacet__parts_vector leaves = {
            .name = name, .values = v, .count = m, .radius = c.n * share, .diameter = 2 * share, .proof = PROOF};
        status = tacet__parts_release(&r->parts, v, &sd, &leaves, err);
    }
    if (status == TACET_OK) {
        sd *= fmax(r->learner->settings.eps / TACET__ROBUST_TRUSTED_EPS, 1);
        status = tacet__belief_learn(&r->belief, &r->form, &c, v, sd, r->laws, TACET__ROBUST_LAWS, scaling, err);
    }
    if (u != NULL) {
        sodium_memzero(u, m * sizeof *u);
    }
    tacet_tally_free(sums);
    free(u);
    free(v);
    return status;
}

tacet_status tacet__robust_noise(tacet__robust *r, tacet_error *err) {
    const tacet_contextual_settings *s = &r->learner->settings;
    r->grows = !s->gaussian;
    r->unit_sd = sqrt(2) / fmin(s->eps, TACET__ROBUST_TRUSTED_EPS);
    return s->gaussian
               ? tacet_calibrate_gaussian(&r->unit_sd, fmin(s->eps, TACET__ROBUST_TRUSTED_EPS), s->delta, 1, err)
               : TACET_OK;
}

void tacet__robust_clear(tacet__robust *r) {
    tacet__contextual_law_clear(&r->law);
    tacet__belief_clear(&r->belief);
    tacet__belief_form_clear(&r->form);
    free(r->parts.part_of);
    free(r->q);
    free(r->even);
    free(r->reach);
    free(r->laws);
    free(r->A);
}
