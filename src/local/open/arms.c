/* SPDX-License-Identifier: Apache-2.0 */
/* arms.c - GP-UCB and LDP-TGP-GP-UCB over per-arm sufficient statistics, with reports that are late and lengthscales
 * that are not known.
 * Ring: open. Source: Zhou and Tan 2020, Algorithm 2; Chowdhury and Gopalan 2017 for GP-UCB with sub-Gaussian noise;
 * Desautels, Krause and Burdick 2014 (GP-BUCB) for rounds whose reports are not in. Differs: the posterior over the n
 * arms is kept instead of the T x T system (the same numbers); GP-UCB may also use each arm's own mean; a ladder of
 * lengthscales is averaged over by how well each predicted the reports (src/local/README.md). Cost: O(n^2) a round and
 * rung, O(n) of smooth kernels with tuned parameters (gp/arms_reduced.c), flat in T, twice that while reports are out;
 * no allocation after create. */
#include "local/open/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/arms_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "gp/arms.h"

/* What a variance of tuned parameters may lose, of the largest one: a hundredth of a standard deviation, below what any
 * number of randomised reports could tell. It makes a round O(n) for smooth kernels (gp/arms_reduced.c). */
static const double TOLERANCE = 1e-4;

typedef struct engine {
    const tacet__local *p;
    size_t rungs;        /* lengthscales; 1: the given one */
    tacet_arms **known;  /* rungs: what the reports say */
    tacet_arms **played; /* rungs: also what the rounds that are out will say of the variance; NULL: not looked at */
    double *evidence;    /* rungs: log probability of the reports */
    double *share;       /* rungs */
    double *mean, *var;  /* n: over the rungs, where there are several */
    double *own;         /* n: upper bounds from the arms' own means (UCB, tight); infinite where not used */
    uint32_t *out;       /* n: rounds whose reports are out */
    uint32_t *fresh;     /* n: of these, not yet in `played` */
    size_t out_count, fresh_count;
    bool stale; /* `played` must be made again */
    size_t observed;
} engine;

static bool own_means(const engine *e) {
    return e->p->s.algorithm == TACET_LOCAL_UCB && e->p->s.parameters == TACET_LOCAL_TIGHT;
}

static void bound_own_mean(engine *e, size_t arm) {
    const double count = (double)tacet_arms_counts(e->known[0])[arm];
    const double average = e->p->s.lambda * tacet_arms_sums(e->known[0])[arm] / count;
    e->own[arm] = average + tacet__local_arm_radius(e->p, count);
}

/* Mean and variance over the rungs. The variance is in units of the prior's, c/lambda of a reward's. */
static void mix(const engine *e, double *mean, double *var, tacet_arms *const *of) {
    const double unit = e->p->c > 0 ? e->p->s.lambda / e->p->c : 0;
    for (size_t i = 0; i < e->p->n; i++) {
        double first = 0, second = 0, spread = 0;
        for (size_t k = 0; k < e->rungs; k++) {
            const double value = tacet_arms_mean(e->known[k])[i];
            first += e->share[k] * value;
            second += e->share[k] * value * value;
            spread += e->share[k] * tacet_arms_var(of[k])[i];
        }
        mean[i] = first;
        var[i] = spread + unit * fmax(0, second - first * first);
    }
}

static void weigh(engine *e) {
    double top = -INFINITY, total = 0;
    for (size_t k = 0; k < e->rungs; k++) {
        top = fmax(top, e->evidence[k]);
    }
    for (size_t k = 0; k < e->rungs; k++) {
        e->share[k] = exp(e->evidence[k] - top);
        total += e->share[k];
    }
    for (size_t k = 0; k < e->rungs; k++) {
        e->share[k] /= total;
    }
}

/* How probable a report was to a rung: N(mean, c (1 + var/lambda)). */
static double surprise(const engine *e, size_t k, size_t arm, double y) {
    const double c = e->p->c > 0 ? e->p->c : 1e-6 * e->p->s.bound * e->p->s.bound;
    const double spread = c * (1 + tacet_arms_var(e->known[k])[arm] / e->p->s.lambda);
    const double off = y - tacet_arms_mean(e->known[k])[arm];
    return -0.5 * (off * off / spread + log(spread));
}

static tacet_status observe(void *self, size_t arm, double y, tacet_error *err) {
    engine *e = self;
    double kept = y;
    if (e->p->s.algorithm == TACET_LOCAL_TGP && fabs(y) > tacet__local_level_tgp(e->p, e->observed + 1)) {
        kept = 0;
    }
    for (size_t k = 0; k < e->rungs; k++) {
        const double gain = e->rungs > 1 ? surprise(e, k, arm, kept) : 0;
        const tacet_status status = tacet_arms_observe(e->known[k], arm, 1, kept, e->p->s.lambda, err);
        if (status != TACET_OK) {
            return status; /* the first rung's: nothing has changed; a later one fails only where the first would */
        }
        e->evidence[k] += gain;
    }
    if (e->rungs > 1) {
        weigh(e);
        mix(e, e->mean, e->var, e->known);
    }
    e->observed++;
    if (own_means(e)) {
        bound_own_mean(e, arm);
    }
    return TACET_OK;
}

static void pending(void *self, size_t arm, tacet__local_event event) {
    engine *e = self;
    if (e->played == NULL) {
        return;
    }
    if (event == TACET__LOCAL_GIVEN) {
        e->out[arm]++;
        e->fresh[arm]++;
        e->out_count++;
        e->fresh_count++;
        return;
    }
    /* Rounds of one arm are alike. A report of one that `played` has leaves it right: the round is now in both. One
     * that it does not have yet, or a round that is dropped, does not. */
    const bool had = e->out[arm] > e->fresh[arm];
    e->out[arm] -= e->out[arm] > 0;
    e->out_count -= e->out_count > 0;
    if (!had && e->fresh[arm] > 0) {
        e->fresh[arm]--;
        e->fresh_count--;
    }
    e->stale = e->stale || !had || event == TACET__LOCAL_DROPPED;
}

/* `played` up to all rounds that are out. Failing numerically it stays behind, and bounds are those without it. */
static bool catch_up(engine *e) {
    const uint32_t *add = e->stale ? e->out : e->fresh;
    bool good = true;
    for (size_t k = 0; k < e->rungs && good; k++) {
        if (e->stale) {
            tacet__arms_copy(e->played[k], e->known[k]);
        }
        for (size_t i = 0; i < e->p->n && good; i++) {
            good = add[i] == 0 || tacet_arms_observe(e->played[k], i, add[i], 0, e->p->s.lambda, NULL) == TACET_OK;
        }
    }
    memset(e->fresh, 0, e->p->n * sizeof *e->fresh);
    e->fresh_count = 0;
    e->stale = !good;
    return good;
}

static double width(const void *self, size_t t) {
    const engine *e = self;
    const double gamma = tacet_arms_information(e->known[0]);
    return e->p->s.algorithm == TACET_LOCAL_TGP ? tacet__local_beta_tgp(e->p, t, gamma)
                                                : tacet__local_beta_ucb(e->p, t, gamma);
}

static void bounds(void *self, double *out, size_t t) {
    engine *e = self;
    const double beta_t = width(e, t);
    const bool late = e->played != NULL && e->out_count > 0 && catch_up(e);
    if (!late && e->played != NULL) {
        e->stale = true; /* cheaper to make again when it is next wanted */
    }
    const double *mean = tacet_arms_mean(e->known[0]);
    const double *var = tacet_arms_var(late ? e->played[0] : e->known[0]);
    if (e->rungs > 1) {
        mix(e, e->mean, e->var, late ? e->played : e->known);
        mean = e->mean;
        var = e->var;
    }
    for (size_t i = 0; i < e->p->n; i++) {
        out[i] = fmin(mean[i] + beta_t * sqrt(var[i]), e->own[i]);
    }
    if (late && e->rungs > 1) {
        mix(e, e->mean, e->var, e->known); /* what is reported of the arms rests on reports alone */
    }
}

static const double *mean(const void *self) {
    const engine *e = self;
    return e->rungs > 1 ? e->mean : tacet_arms_mean(e->known[0]);
}

static const double *var(const void *self) {
    const engine *e = self;
    return e->rungs > 1 ? e->var : tacet_arms_var(e->known[0]);
}

static void forget_own_means(engine *e) {
    for (size_t i = 0; i < e->p->n; i++) {
        e->own[i] = (double)INFINITY;
    }
}

static void reset(void *self) {
    engine *e = self;
    for (size_t k = 0; k < e->rungs; k++) {
        tacet_arms_reset(e->known[k]);
        e->evidence[k] = 0;
        e->share[k] = 1 / (double)e->rungs;
    }
    memset(e->out, 0, e->p->n * sizeof *e->out);
    memset(e->fresh, 0, e->p->n * sizeof *e->fresh);
    e->out_count = e->fresh_count = 0;
    e->stale = true;
    e->observed = 0;
    if (e->rungs > 1) {
        mix(e, e->mean, e->var, e->known);
    }
    forget_own_means(e);
}

static void visit_rung(engine *e, size_t k, tacet__state *s, size_t observed) {
    uint64_t left = observed;
    tacet__arms_state(e->known[k], s);
    const uint64_t *counts = tacet_arms_counts(e->known[k]);
    for (size_t i = 0; i < e->p->n && tacet__state_taking(s); i++) {
        tacet__state_require(s, "counts",
                             counts[i] <= left && (counts[i] > 0) == (tacet_arms_weights(e->known[k])[i] > 0));
        left -= counts[i];
    }
    tacet__state_require(s, "counts", left == 0);
}

/* Rounds that are out are the policy's to tell again: see tacet__local_event. */
static void visit_state(void *self, tacet__state *s, size_t observed) {
    engine *e = self;
    if (tacet__state_taking(s)) {
        reset(e);
    }
    for (size_t k = 0; k < e->rungs; k++) {
        visit_rung(e, k, s, observed);
    }
    tacet__state_f64s(s, "evidence", e->evidence, e->rungs);
    if (!tacet__state_taking(s)) {
        return;
    }
    e->observed = observed;
    weigh(e);
    if (e->rungs > 1) {
        mix(e, e->mean, e->var, e->known);
    }
    /* A bound of an arm's own mean was computed when the arm was last reported, from the sums it still has. */
    for (size_t i = 0; i < e->p->n && own_means(e); i++) {
        if (tacet_arms_counts(e->known[0])[i] > 0) {
            bound_own_mean(e, i);
        }
    }
}

static void destroy(void *self) {
    engine *e = self;
    if (e != NULL) {
        for (size_t k = 0; k < e->rungs; k++) {
            tacet_arms_free(e->known != NULL ? e->known[k] : NULL);
            tacet_arms_free(e->played != NULL ? e->played[k] : NULL);
        }
        free(e->known);
        free(e->played);
        free(e->evidence);
        free(e->share);
        free(e->mean);
        free(e->var);
        free(e->own);
        free(e->out);
        free(e->fresh);
        free(e);
    }
}

static const tacet_arms *statistics(const void *self) {
    const engine *e = self;
    return e->rungs == 1 && e->p->s.algorithm == TACET_LOCAL_UCB ? e->known[0] : NULL;
}

static const tacet__local_engine ENGINE = {.observe = observe,
                                           .arms = statistics,
                                           .bounds = bounds,
                                           .width = width,
                                           .mean = mean,
                                           .var = var,
                                           .reset = reset,
                                           .free = destroy,
                                           .state = visit_state,
                                           .pending = pending};

static bool allocate(engine *e) {
    const size_t n = e->p->n;
    const bool late = e->p->s.algorithm == TACET_LOCAL_UCB;
    e->known = TACET__ZALLOC(tacet_arms *, e->rungs);
    e->played = late ? TACET__ZALLOC(tacet_arms *, e->rungs) : NULL;
    e->evidence = TACET__ZALLOC(double, e->rungs);
    e->share = TACET__ZALLOC(double, e->rungs);
    e->mean = TACET__ZALLOC(double, n);
    e->var = TACET__ZALLOC(double, n);
    e->own = TACET__ALIGNED(double, n);
    e->out = TACET__ZALLOC(uint32_t, n);
    e->fresh = TACET__ZALLOC(uint32_t, n);
    return e->known != NULL && (!late || e->played != NULL) && e->evidence != NULL && e->share != NULL &&
           e->mean != NULL && e->var != NULL && e->own != NULL && e->out != NULL && e->fresh != NULL;
}

tacet_status tacet__local_arms(void **out, const tacet__local_engine **ops, const tacet__local *p,
                               tacet_cov *const *covs, size_t rungs, tacet_error *err) {
    *out = NULL;
    *ops = &ENGINE;
    engine *e = TACET__ZALLOC(engine, 1);
    if (e != NULL) {
        e->p = p;
        e->rungs = rungs;
    }
    tacet_status status = e != NULL && allocate(e)
                              ? TACET_OK
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a learner of %zu arms", p->n);
    /* Widths that are proven are proven for the kernel itself. */
    const double tolerance = p->s.algorithm == TACET_LOCAL_UCB && p->s.parameters == TACET_LOCAL_TUNED ? TOLERANCE : 0;
    for (size_t k = 0; status == TACET_OK && k < rungs; k++) {
        status = tacet_arms_create(&e->known[k], covs[k], tolerance, err);
        if (status == TACET_OK && e->played != NULL) {
            status = tacet_arms_create(&e->played[k], covs[k], tolerance, err);
        }
    }
    if (status != TACET_OK) {
        destroy(e);
        return status;
    }
    reset(e);
    *out = e;
    return TACET_OK;
}
