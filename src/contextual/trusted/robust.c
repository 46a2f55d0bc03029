/* SPDX-License-Identifier: Apache-2.0 */
/* robust.c - the robust release: measure the law of contexts and the scale of rewards on parts of the records, then
 * learn in stages on others.
 * Ring: trusted. Source: README.md, "The robust release": stages with the measured law, and errors that follow the
 * data. Every row is in one part; rows are dealt by their
 * numbers, in proportion all along the log, because logs come sorted. Cost: one pass over the records, an eigenproblem
 * of the features, some twenty O(M^2 N) forms a stage. */
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
static const double NOTHING_LEARNT = 0.95; /* of the prior standard deviation: too few records */
static const double SKEWED_KEPT = 3;       /* likewise, where that cuts off nothing to speak of */
static const double SYMMETRIC_KEPT = 2.5;  /* residuals are clipped at so many of their scale */
static const double SKEWED_PRIOR = 0.12;   /* mean square of the function, of B^2 */
static const double PRIOR_LEAST = 0.0025;  /* likewise, at least */
static const double DISCRETE_STAGES_FROM =
    20000;                              /* where actions are levels: fewer weights, and often two-valued rewards */
static const double STAGES_FROM = 2000; /* records x eps from which a second stage pays */
static const tacet__belief_scaling SCALING = {.width = 2.5, .least = 1.0 / 64};

/* --- sizes ------------------------------------------------------------------------------------------------------- */

static size_t between(double x, double low, double high) {
    return (size_t)fmax(fmin(x, high), low);
}

void tacet__robust_sizes(const tacet_contextual_learner *l, size_t count, tacet__parts_sizes *sizes) {
    const double T = (double)count;
    const bool symmetric = l->settings.rewards == TACET_CONTEXTUAL_SYMMETRIC;
    const double first = fmax(0.05 * T, fmin(T / 8, 500)); /* law and scale */
    const bool law = !l->settings.law_stated && l->basis->d > l->basis->action_dim;
    size_t left = count;
    memset(sizes, 0, sizeof *sizes);
    sizes->n[TACET__PART_LAW] = law ? (size_t)(0.75 * first) : 0;
    sizes->n[TACET__PART_SCALE] = (size_t)(0.25 * first);
    sizes->n[TACET__PART_HELD] = (size_t)(0.05 * T);
    if (l->settings.discrete) {
        sizes->n[TACET__PART_VALUE] = (size_t)(0.07 * T);
        sizes->n[TACET__PART_LOGGED] = (size_t)(0.03 * T);
    }
    for (size_t j = 0; j < TACET__PART_STAGE; j++) {
        left -= sizes->n[j];
    }
    const double from = l->settings.discrete ? DISCRETE_STAGES_FROM : STAGES_FROM;
    sizes->stages = T * l->settings.eps < from ? 1 : symmetric ? 3 : 2;
    double total = 0;
    for (size_t j = 0; j < sizes->stages; j++) {
        total += ldexp(1, (int)j);
    }
    const double pool = (double)left;
    for (size_t j = 0; j < sizes->stages; j++) {
        size_t n = j + 1 < sizes->stages ? (size_t)(pool * ldexp(1, (int)j) / total) : left;
        left -= n;
        if (j > 0) { /* some of them say how large residuals are */
            const size_t some = between(0.05 * (double)n, fmin(100, (double)n / 6), fmin(600, (double)n / 6));
            const size_t more = symmetric ? 0 : between(0.1 * (double)n, fmin(400, (double)n / 4), (double)n / 4);
            sizes->n[TACET__PART_STAGE + 3 * j + 1] = some;
            sizes->n[TACET__PART_STAGE + 3 * j + 2] = more;
            n -= some + more;
        }
        sizes->n[TACET__PART_STAGE + 3 * j] = n;
    }
}

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

void tacet__robust_add(int64_t *sums, const double *share, size_t m, double factor, double step) {
    for (size_t i = 0; i < m; i++) {
        const double x = factor * share[i] / step;
        sums[i] += isfinite(x) ? (int64_t)llrint(x) : 0;
    }
}

double tacet__robust_share(double limit, size_t m) {
    return nextafter(limit * (1 + 1e-12) + 0.5000001 * tacet__robust_step(limit) * sqrt((double)m), INFINITY);
}

/* --- stages ------------------------------------------------------------------------------------------------------ */

typedef struct summing {
    const tacet__robust *r;
    int64_t *sums;
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
    tacet__robust_add(s->sums, s->u, f->m, factor, s->step);
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
    int64_t *sums = TACET__ZALLOC(int64_t, m);
    double *u = TACET__ZALLOC(double, m);
    double *v = TACET__ZALLOC(double, m);
    double sd = 0;
    /* u here has no 1/sqrt n: it goes into the step. */
    summing s = {.r = r,
                 .sums = sums,
                 .u = u,
                 .bound = c.bound,
                 .clip = r->form.clip,
                 .step = tacet__robust_step(limit) * sqrt(c.n),
                 .first = j == 0,
                 .symmetric = c.reach == NULL};
    status = sums == NULL || u == NULL || v == NULL
                 ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features", m)
                 : tacet__robust_visit(r, TACET__PART_STAGE + 3 * j, sum_record, &s, err);
    for (size_t i = 0; i < m && status == TACET_OK; i++) {
        v[i] = (double)sums[i] * tacet__robust_step(limit);
    }
    if (status == TACET_OK) {
        (void)snprintf(name, sizeof name, "stage %zu", j + 1);
        const tacet__parts_vector leaves = {
            .name = name, .values = v, .count = m, .radius = c.n * share, .diameter = 2 * share, .proof = PROOF};
        status = tacet__parts_release(&r->parts, v, &sd, &leaves, err);
    }
    if (status == TACET_OK) {
        sd *= fmax(r->learner->settings.eps / TACET__ROBUST_TRUSTED_EPS, 1);
        status = tacet__belief_learn(&r->belief, &r->form, &c, v, sd, r->laws, TACET__ROBUST_LAWS, scaling, err);
    }
    if (sums != NULL && u != NULL) {
        sodium_memzero(sums, m * sizeof *sums);
        sodium_memzero(u, m * sizeof *u);
    }
    free(sums);
    free(u);
    free(v);
    return status;
}

/* --- the release ------------------------------------------------------------------------------------------------- */

tacet_status tacet__robust_noise(tacet__robust *r, tacet_error *err) {
    const tacet_contextual_settings *s = &r->learner->settings;
    r->grows = !s->gaussian;
    r->unit_sd = sqrt(2) / fmin(s->eps, TACET__ROBUST_TRUSTED_EPS);
    return s->gaussian
               ? tacet_calibrate_gaussian(&r->unit_sd, fmin(s->eps, TACET__ROBUST_TRUSTED_EPS), s->delta, 1, err)
               : TACET_OK;
}

static tacet_status begin(tacet__robust *r, tacet_error *err) {
    const tacet_status status = tacet__robust_noise(r, err);
    tacet__robust_sizes(r->learner, r->learner->count, &r->parts.sizes);
    return status == TACET_OK ? tacet__parts_deal(&r->parts, err) : status;
}

static void set_prior(tacet__robust *r) {
    const tacet_contextual_learner *l = r->learner;
    const double B2 = l->bound * l->bound;
    const double prior = l->settings.rewards == TACET_CONTEXTUAL_SYMMETRIC
                             ? fmax(PRIOR_LEAST * B2, r->scale * r->scale - l->noise_sd * l->noise_sd)
                             : SKEWED_PRIOR * B2;
    for (size_t i = 0; i < r->belief.M * r->belief.M; i++) {
        r->belief.P[i] *= prior;
    }
    r->belief.tail *= prior;
}

static tacet_status make_model(tacet__robust *r, tacet_contextual_model **out, tacet_error *err) {
    const tacet_contextual_learner *l = r->learner;
    double *gram = TACET__ZALLOC(double, r->belief.M * r->belief.M);
    if (gram == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model");
    }
    tacet__belief_gram(&r->belief, gram, r->even);
    const double believed = sqrt(fmax(tacet__belief_risk(&r->belief, gram), 0) + r->cut * r->cut);
    free(gram);
    /* The belief knows nothing of what no feature has; rows that were held out do. */
    const double error = fmax(believed, r->held_out);
    const tacet_contextual_parts claims = {.is_private = r->parts.receipts[0].is_private,
                                           .eps = l->settings.eps,
                                           .delta = l->settings.gaussian ? l->settings.delta : 0,
                                           .predicted_error = error,
                                           .measured = true,
                                           .outcome_error = r->outcome,
                                           .outcome_bound = r->outcome_most,
                                           .recommended = r->recommended,
                                           .logged = r->logged,
                                           .receipts = r->parts.receipts,
                                           .receipt_count = r->parts.receipt_count};
    return tacet__contextual_model_from(out, l, r->A, r->belief.theta, r->belief.M, &claims, err);
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

/* What is said of the release in every charge: how many records it is of decides how they are dealt. */
static tacet_status describe(tacet__robust *r, char out[TACET_CHARGE_TEXT_MOST + 1], tacet_error *err) {
    const tacet_ask *ask = r->parts.ask;
    if (ask->group != NULL || ask->part != NULL || ask->ticket == NULL || strlen(ask->ticket) > 130) {
        return tacet__fail(err, TACET_INVALID,
                           "a release of a model names its own groups, and needs a ticket of up to 130 bytes");
    }
    const int length = snprintf(out, TACET_CHARGE_TEXT_MOST + 1, "%s, %zu records",
                                ask->what != NULL ? ask->what : "model", r->learner->count);
    if (length < 0 || length > TACET_CHARGE_TEXT_MOST) {
        return tacet__fail(err, TACET_INVALID, "what is released has too long a description");
    }
    r->parts.what = out;
    return TACET_OK;
}

static tacet_status learn_stages(tacet__robust *r, tacet_error *err) {
    tacet_status status = tacet__robust_scale(r, &r->scale, TACET__PART_SCALE, "scale", err);
    if (status == TACET_OK) {
        status = tacet__robust_adapt(r, err);
    }
    if (status == TACET_OK) {
        set_prior(r);
        status = tacet__belief_form_init(&r->form, r->belief.M, r->belief.N, err);
    }
    for (size_t j = 0; j < r->parts.sizes.stages && status == TACET_OK; j++) {
        status = tacet__robust_learn(r, j, &SCALING, err);
    }
    return status;
}

tacet_status tacet_contextual_release(const tacet_contextual_learner *l, tacet_contextual_model **out,
                                      const tacet_ask *ask, tacet_error *err) {
    char what[TACET_CHARGE_TEXT_MOST + 1];
    *out = NULL;
    const tacet_status enough = tacet_contextual_enough(l, err);
    tacet__robust *r = enough == TACET_OK ? TACET__ZALLOC(tacet__robust, 1) : NULL;
    if (r == NULL) {
        return enough == TACET_OK ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a release") : enough;
    }
    r->learner = l;
    r->parts = (tacet__parts){.learner = l, .ask = ask, .records = l->count};
    tacet_status status = describe(r, what, err);
    if (status == TACET_OK) {
        status = begin(r, err);
    }
    if (status == TACET_OK) {
        status = tacet__robust_find_law(r, err);
    }
    if (status == TACET_OK) {
        status = learn_stages(r, err);
    }
    if (status == TACET_OK) {
        status = tacet__robust_outcome(r, err);
    }
    if (status == TACET_OK) {
        status = tacet__robust_values(r, err);
    }
    if (status == TACET_OK) {
        status = make_model(r, out, err);
    }
    tacet__robust_clear(r);
    free(r);
    return status;
}

/* --- before anything is spent ------------------------------------------------------------------------------------ */

tacet_status tacet_contextual_outlook_get(tacet_contextual_outlook *out, const tacet_contextual_learner *l,
                                          size_t rounds, tacet_error *err) {
    const double B2 = l->bound * l->bound;
    tacet__parts_sizes sizes;
    tacet__robust *r = TACET__ZALLOC(tacet__robust, 1);
    *out = (tacet_contextual_outlook){.predicted_error = NAN};
    if (rounds == 0 || r == NULL) {
        free(r);
        return rounds == 0 ? tacet__fail(err, TACET_INVALID, "an outlook needs records")
                           : tacet__fail(err, TACET_NO_MEMORY, "out of memory for an outlook");
    }
    r->learner = l;
    r->scale = sqrt(SKEWED_PRIOR * B2 + l->noise_sd * l->noise_sd);
    tacet_status status = tacet__robust_noise(r, err);
    if (status == TACET_OK) {
        status = tacet__robust_find_law(r, err);
    }
    if (status == TACET_OK) {
        status = tacet__robust_adapt(r, err);
    }
    if (status == TACET_OK) {
        set_prior(r);
        status = tacet__belief_form_init(&r->form, r->belief.M, r->belief.N, err);
    }
    if (status == TACET_OK) {
        tacet__robust_sizes(l, rounds, &sizes);
        size_t n = 0;
        for (size_t j = 0; j < sizes.stages; j++) {
            n += sizes.n[TACET__PART_STAGE + 3 * j];
        }
        const double before = tacet__belief_risk(&r->belief, r->belief.U);
        const tacet__belief_case c = {.q = r->q,
                                      .n = fmax((double)n, 1),
                                      .residual_var = r->scale * r->scale,
                                      .bound = l->bound,
                                      .unit_sd = r->unit_sd,
                                      .grows = r->grows};
        status = tacet__belief_choose(&r->belief, &r->form, &c, err);
        *out = (tacet_contextual_outlook){.features = r->form.m,
                                          .stages = sizes.stages,
                                          .predicted_error = sqrt(fmax(r->form.risk, 0)),
                                          .prior_sd = sqrt(before),
                                          .refused = !(sqrt(r->form.risk) < NOTHING_LEARNT * sqrt(before)) || n < 10};
    }
    tacet__robust_clear(r);
    free(r);
    return status;
}

tacet_status tacet_contextual_enough(const tacet_contextual_learner *l, tacet_error *err) {
    tacet_contextual_outlook outlook;
    if (l->count == 0) {
        return tacet__fail(err, TACET_STATE, "there are no records to learn from; nothing was spent");
    }
    const tacet_status status = tacet_contextual_outlook_get(&outlook, l, l->count, err);
    if (status != TACET_OK || !outlook.refused) {
        return status;
    }
    return tacet__fail(err, TACET_STATE,
                       "%zu records are too few at eps = %g: the noise would leave %.0f %% of what is unknown; "
                       "nothing was spent",
                       l->count, l->settings.eps, 100 * outlook.predicted_error / outlook.prior_sd);
}
