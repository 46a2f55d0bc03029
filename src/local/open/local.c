/* SPDX-License-Identifier: Apache-2.0 */
/* local.c - the learners of the local model as policies: tickets, history, saved states.
 * Ring: open. Source: Zhou and Tan 2020, Algorithms 1 to 3; src/local/README.md maps every step.
 * Differs: see there. Reports arrive as the device randomised them; one that it cannot have sent is refused.
 * Cost: that of the engine (arms.c, ata.c, moma.c) and O(n) a suggestion; 12 bytes a round, 4 where
 * reports are not remembered. A saved state is the engine's numbers and the open tickets; loading takes the time of
 * reading them, however many rounds they stand for, and goes on with the same bits. */
#include "local/shared/ldp.h"
#include "gp/kernel_internal.h"
#include "gp/cov_internal.h"
#include "local/open/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/policy_internal.h"
#include "core/tickets.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { PRINT_BYTES = 32 };
static const char NAME[] = "local";
typedef struct local {
    tacet__local p;
    const tacet__local_engine *ops;
    void *engine;
    tacet__tickets t;
    size_t last;         /* the arm of the newest ticket */
    double *bounds;      /* n */
    double asked_lambda; /* as it was given: what is made of it may differ in its last bits between machines */
    unsigned char problem[PRINT_BYTES];
} local;

static void local_free(void *object) {
    local *self = object;
    if (self != NULL) {
        if (self->engine != NULL) {
            self->ops->free(self->engine);
        }
        tacet__tickets_clear(&self->t);
        free(self->bounds);
        free(self->p.K);
        free(self);
    }
}

/* --- suggest, observe, recommend ---------------------------------------------------------------------------------- */

static size_t best_arm(local *self, size_t t, double *score) {
    self->ops->bounds(self->engine, self->bounds, t);
    size_t best = 0;
    for (size_t j = 1; j < self->p.n; j++) {
        best = self->bounds[j] > self->bounds[best] ? j : best;
    }
    *score = self->bounds[best] + self->p.s.mean;
    return best;
}

static void tell_engine(local *self, size_t arm, tacet__local_event event) {
    if (self->ops->pending != NULL) {
        self->ops->pending(self->engine, arm, event);
    }
}

/* That a round may be played now; where a lane goes on, *next is false and the arm is the last one. */
static tacet_status check_round(const local *self, bool *next, const tacet_round *round, tacet_error *err) {
    const tacet__tickets *t = &self->t;
    if (round->points != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID, "%s has a fixed domain and no context: a round brings nothing", NAME);
    }
    const tacet_status left = tacet__tickets_left(t, err);
    if (left != TACET_OK) {
        return left;
    }
    const size_t played = t->given - t->dropped;
    *next = played % self->p.s.lanes == 0;
    if (*next && self->p.s.lanes > 1 && t->reported < played) {
        return tacet__fail(err, TACET_STATE, "%zu reports of the epoch are not in yet", played - t->reported);
    }
    return TACET_OK;
}

static uint64_t give(local *self, size_t arm) {
    self->last = arm;
    tell_engine(self, arm, TACET__LOCAL_GIVEN);
    return tacet__tickets_give(&self->t, arm);
}

static tacet_status suggest(void *object, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    local *self = object;
    tacet__tickets *t = &self->t;
    bool next = false;
    const tacet_status status = check_round(self, &next, round, err);
    if (status != TACET_OK) {
        return status;
    }
    double score = 0;
    size_t arm = 0;
    if (next) {
        arm = best_arm(self, t->given + 1, &score);
    } else {
        arm = self->last; /* an epoch plays one arm; in place of a ticket that was dropped, once more */
        score = self->ops->mean(self->engine)[arm] + self->p.s.mean;
    }
    *out = (tacet_suggestion){.index = arm, .ticket = give(self, arm), .score = score};
    return TACET_OK;
}

static tacet_status repeat(void *object, const tacet_suggestion *made, const tacet_round *round, tacet_error *err) {
    local *self = object;
    bool next = false;
    const tacet_status status = check_round(self, &next, round, err);
    if (status != TACET_OK) {
        return status;
    }
    if (made->ticket != self->t.given + 1 || made->index >= self->p.n || (!next && made->index != self->last)) {
        return tacet__fail(err, TACET_CORRUPT, "ticket %llu is not the next, or its arm impossible",
                           (unsigned long long)made->ticket);
    }
    (void)give(self, made->index);
    return TACET_OK;
}

/* Whether a device that follows the rules can have sent this. */
static bool is_possible(const tacet__local *p, double value) {
    return fabs(value) <= TACET__LOCAL_LARGEST && (p->s.ldp == NULL || tacet_ldp_possible(&p->ldp, value));
}

/* A round without a report. Where an epoch waits for all its reports, its arm is asked once more. */
static tacet_status drop(void *object, uint64_t ticket, tacet_error *err) {
    local *self = object;
    size_t arm = 0;
    const tacet_status status = tacet__tickets_find(&self->t, &arm, ticket, err);
    if (status == TACET_OK) {
        tacet__tickets_close(&self->t, ticket, false);
        tell_engine(self, arm, TACET__LOCAL_DROPPED);
    }
    return status;
}

static tacet_status observe(void *object, uint64_t ticket, double value, tacet_error *err) {
    local *self = object;
    size_t arm = 0;
    tacet_status status = tacet__tickets_find(&self->t, &arm, ticket, err);
    if (status == TACET_OK && !is_possible(&self->p, value)) {
        status = tacet__fail(err, TACET_INVALID, "no device that follows the rules can have sent this report");
    }
    TACET_THEN(status, self->ops->observe(self->engine, arm, value - self->p.s.mean, err));
    if (status == TACET_OK) {
        tacet__tickets_close(&self->t, ticket, true);
        tell_engine(self, arm, TACET__LOCAL_REPORTED);
    }
    return status;
}

/* The engines' variances are those of a prior of variance 1. Ridge regression with lambda is the posterior of a process
 * of variance c/lambda under noise of variance c: so much in units of the reward. */
static double posterior_sd(const tacet__local *p, double var) {
    return p->c > 0 && p->s.lambda > 0 ? sqrt(p->c / p->s.lambda * var) : p->s.bound * sqrt(var);
}

static tacet_status recommend(void *object, tacet_recommendation *out, tacet_error *err) {
    (void)err; /* there is always a prior to go by */
    const local *self = object;
    const double *mean = self->ops->mean(self->engine);
    size_t best = 0;
    for (size_t j = 1; j < self->p.n; j++) {
        best = mean[j] > mean[best] ? j : best;
    }
    *out = (tacet_recommendation){.index = best,
                                  .mean = mean[best] + self->p.s.mean,
                                  .sd = posterior_sd(&self->p, self->ops->var(self->engine)[best]),
                                  .measured = SIZE_MAX};
    return TACET_OK;
}

static void guarantee(const void *object, tacet_guarantee *out) {
    const local *self = object;
    *out = (tacet_guarantee){
        .trust = TACET_TRUST_NONE,
        .eps = (double)INFINITY,
        .delta = 1,
        .protects = "nothing",
        .statement = "Unprotected: the learner sees every reward as it is.",
        .proof = "src/local/README.md",
    };
    if (self->p.s.ldp != NULL) {
        *out = (tacet_guarantee){
            .trust = TACET_TRUST_LOCAL,
            .proven = true,
            .eps = self->p.ldp.eps,
            .delta = 0,
            .protects = "the reward of one round",
            .statement = "Each reward is randomised on its device with pure eps before it is sent; arms are "
                         "public. " TACET_LOCAL_NEW_DEVICE,
            .proof = "src/dp/mechanisms/randomizers.md",
        };
    }
}

/* --- saved state -------------------------------------------------------------------------------------------------- */

/* With several lanes only tickets of the epoch that is being played are open, all of one arm. */
static void check_open(const local *self, tacet__state *s) {
    const tacet__tickets *t = &self->t;
    const size_t lanes = self->p.s.lanes;
    /* Where tickets were dropped an epoch takes more of them than there are lanes. */
    const size_t least = lanes > 1 && t->given > 0 && t->dropped == 0 ? (t->given - 1) / lanes * lanes : 0;
    for (size_t k = 0; k < t->given; k++) {
        const bool newest = k + 1 == t->given || lanes > 1;
        tacet__state_require(s, "open", t->open[k] == 0 || (k >= least && (!newest || t->open[k] == self->last + 1)));
    }
}

static void state(void *object, tacet__state *s) {
    local *self = object;
    tacet__tickets *t = &self->t;
    tacet__state_same(s, "problem", self->problem, sizeof self->problem);
    tacet__tickets_state(t, s, self->p.n, false);
    tacet__state_size(s, "last", &self->last, t->given > 0 ? self->p.n - 1 : 0);
    if (tacet__state_taking(s)) {
        check_open(self, s);
    }
    self->ops->state(self->engine, s, t->reported + self->p.s.earlier_count);
    for (size_t k = 0; k < t->given && tacet__state_taking(s); k++) {
        if (t->open[k] != 0) {
            tell_engine(self, t->open[k] - 1, TACET__LOCAL_GIVEN);
        }
    }
}

/* --- creation ----------------------------------------------------------------------------------------------------- */

static void fingerprint(local *self) {
    const tacet_local_settings *s = &self->p.s;
    const tacet_ldp *ldp = &self->p.ldp;
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, PRINT_BYTES);
    const double reals[] = {s->bound,           s->noise_bound, s->noise_var, s->mean, s->delta,
                            self->asked_lambda, s->accuracy,    ldp->eps,     ldp->lo, ldp->hi};
    const uint64_t wholes[] = {(uint64_t)s->algorithm,
                               (uint64_t)s->parameters,
                               s->ldp != NULL,
                               (uint64_t)ldp->kind,
                               s->lanes,
                               s->seed,
                               s->horizon,
                               s->ladder,
                               self->p.n};
    (void)crypto_generichash_update(&state, (const unsigned char *)reals, sizeof reals);
    (void)crypto_generichash_update(&state, (const unsigned char *)wholes, sizeof wholes);
    if (s->moment < 1 || s->theta > 0) {
        const double tails[] = {s->moment, s->theta, s->tail_a, s->tail_b};
        (void)crypto_generichash_update(&state, (const unsigned char *)tails, sizeof tails);
    }
    for (size_t i = 0; i < s->earlier_count; i++) {
        const double one[] = {(double)s->earlier[i].arm, s->earlier[i].value};
        (void)crypto_generichash_update(&state, (const unsigned char *)one, sizeof one);
    }
    (void)crypto_generichash_update(&state, (const unsigned char *)self->p.K,
                                    self->p.n * self->p.n * sizeof *self->p.K);
    (void)crypto_generichash_final(&state, self->problem, PRINT_BYTES);
}

static const tacet__policy_ops OPS = {
    .name = NAME,
    .suggest = suggest,
    .observe = observe,
    .recommend = recommend,
    .guarantee = guarantee,
    .state = state,
    .free = local_free,
    .drop = drop,
    .repeat = repeat,
};

static tacet_status read_covariance(local *self, const tacet_cov *cov, tacet_error *err) {
    const size_t n = self->p.n;
    for (size_t i = 0; i < n; i++) {
        tacet_cov_row(cov, self->p.K + i * n, 0, n, i);
    }
    for (size_t i = 0; i < n * n; i++) {
        if (!isfinite(self->p.K[i])) {
            return tacet__fail(err, TACET_NUMERIC, "the covariance of arms %zu and %zu is not finite", i / n, i % n);
        }
    }
    return TACET_OK;
}

static tacet_status build(local *self, tacet_cov *const *covs, size_t middle, bool default_lambda, tacet_error *err) {
    tacet__local *p = &self->p;
    size_t square = 0;
    if (!tacet__size_mul(&square, p->n, p->n) || p->n >= UINT32_MAX) {
        return tacet__fail(err, TACET_OVERFLOW, "%zu arms are too many", p->n);
    }
    p->K = TACET__ALIGNED(double, square);
    self->bounds = TACET__ALIGNED(double, p->n);
    if (p->K == NULL || self->bounds == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu arms", p->n);
    }
    tacet_status status = tacet__tickets_init(&self->t, p->s.horizon, err);
    TACET_THEN(status, read_covariance(self, covs[middle], err));
    if (status == TACET_OK && default_lambda && p->s.algorithm == TACET_LOCAL_UCB &&
        p->s.parameters == TACET_LOCAL_TIGHT) {
        double factor = 1;
        status = tacet__local_prior_factor(&factor, p, p->s.lambda, err);
        p->s.lambda *= factor;
    }
    if (status != TACET_OK) {
        return status;
    }
    switch (p->s.algorithm) { /* without a default: a new algorithm does not compile before it has an engine */
    case TACET_LOCAL_ATA:
        status = tacet__local_ata(&self->engine, &self->ops, p, err);
        break;
    case TACET_LOCAL_MOMA:
        status = tacet__local_moma(&self->engine, &self->ops, p, err);
        break;
    case TACET_LOCAL_UCB:
    case TACET_LOCAL_TGP:
        status = tacet__local_arms(&self->engine, &self->ops, p, covs, p->s.ladder, err);
        break;
    }
    for (size_t i = 0; i < p->s.earlier_count && status == TACET_OK; i++) {
        const tacet_local_earlier *known = &p->s.earlier[i];
        status = known->arm < p->n && fabs(known->value) <= TACET__LOCAL_LARGEST
                     ? self->ops->observe(self->engine, known->arm, known->value - p->s.mean, err)
                     : tacet__fail(err, TACET_INVALID, "earlier value %zu is of no arm, or not finite", i);
    }
    fingerprint(self);
    p->s.earlier = NULL; /* borrowed; how many there were stays */
    return status;
}

/* The given covariance, or those of the kernel with lengthscales of 1/4 to 4 times its own. */
static tacet_status make_covariances(tacet_cov **covs, tacet_kernel **kernels, size_t rungs, const tacet_cov_spec *spec,
                                     const double *X, size_t ldx, size_t n, tacet_error *err) {
    if (rungs == 1) {
        return tacet_cov_create(&covs[0], spec, X, ldx, n, err);
    }
    tacet_status status = TACET_OK;
    for (size_t k = 0; k < rungs && status == TACET_OK; k++) {
        tacet_kernel_spec scaled = *tacet_kernel_describe(spec->kernel);
        tacet_cov_spec own = *spec;
        double *scales = TACET__ZALLOC(double, scaled.lengthscale_count);
        if (scales == NULL) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a ladder of kernels");
        }
        for (size_t c = 0; c < scaled.lengthscale_count; c++) {
            scales[c] = ldexp(scaled.lengthscales[c], (int)k - (int)(rungs / 2));
        }
        scaled.lengthscales = scales;
        status = tacet_kernel_create(&kernels[k], &scaled, err);
        own.kernel = kernels[k];
        TACET_THEN(status, tacet_cov_create(&covs[k], &own, X, ldx, n, err));
        free(scales);
    }
    return status;
}

tacet_status tacet_local_create(tacet_policy **out, const tacet_local_settings *settings, const tacet_cov_spec *spec,
                                const double *X, size_t ldx, size_t n, tacet_error *err) {
    *out = NULL;
    tacet_cov *covs[TACET_LOCAL_LADDER] = {NULL};
    tacet_kernel *kernels[TACET_LOCAL_LADDER] = {NULL}; /* of the covariances, which borrow them */
    local *self = NULL;
    tacet_status status = tacet__local_check(settings, err);
    if (status != TACET_OK) {
        goto done;
    }
    self = TACET__ZALLOC(local, 1);
    if (self == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a learner");
        goto done;
    }
    self->p.s = *settings;
    self->p.n = n;
    self->asked_lambda = settings->lambda;
    tacet__local_choose(&self->p.s, spec);
    status = make_covariances(covs, kernels, self->p.s.ladder, spec, X, ldx, n, err);
    if (status != TACET_OK) {
        goto done;
    }
    if (settings->ldp != NULL) {
        self->p.ldp = *settings->ldp;
        self->p.s.ldp = &self->p.ldp;
    }
    status = tacet__local_derive(&self->p, err);
    if (status == TACET_OK) {
        status = build(self, covs, self->p.s.ladder / 2, settings->lambda == 0, err);
    }
    if (status == TACET_OK) {
        local *given = self;
        self = NULL; /* wrap owns it, and frees it on failure */
        status = tacet__policy_wrap(out, &OPS, given, err);
    }
done:
    local_free(self);
    for (size_t k = 0; k < TACET_LOCAL_LADDER; k++) {
        tacet_cov_free(covs[k]);
        tacet_kernel_free(kernels[k]);
    }
    return status;
}

double tacet__local_width(const tacet_policy *policy) {
    const local *self = tacet__policy_self(policy, &OPS);
    return self == NULL ? (double)NAN : self->ops->width(self->engine, self->t.given + 1);
}

tacet_status tacet_local_norm_least(const tacet_policy *policy, double *out, tacet_error *err) {
    const local *self = tacet__policy_self(policy, &OPS);
    const tacet_arms *arms =
        self != NULL && self->ops->arms != NULL ? self->ops->arms(self->engine) : NULL; /* only where there is one */
    *out = 0;
    if (arms == NULL || !isfinite(self->p.proxy) || self->p.s.earlier_count > 0) {
        return tacet__fail(err, TACET_INVALID,
                           "the norm can be bounded from reports of a study with ucb, one "
                           "lengthscale and a randomiser with a sub-Gaussian proxy");
    }
    double *averages = TACET__ZALLOC(double, self->p.n);
    if (averages == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu arms", self->p.n);
    }
    const uint64_t *counts = tacet_arms_counts(arms);
    for (size_t i = 0; i < self->p.n; i++) {
        averages[i] = counts[i] > 0 ? self->p.s.lambda * tacet_arms_sums(arms)[i] / (double)counts[i] : 0;
    }
    const tacet_status status = tacet__local_norm(out, &self->p, counts, averages, tacet_arms_information(arms), err);
    free(averages);
    return status;
}

size_t tacet__local_posterior(const tacet_policy *policy, const double **mean, const double **var, double *shift,
                              double *scale) {
    const local *self = tacet__policy_self(policy, &OPS);
    if (self == NULL) {
        return 0;
    }
    *mean = self->ops->mean(self->engine);
    *var = self->ops->var(self->engine);
    *shift = self->p.s.mean;
    *scale = posterior_sd(&self->p, 1);
    return self->p.n;
}
