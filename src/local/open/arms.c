/* arms.c - GP-UCB and LDP-TGP-GP-UCB over per-arm sufficient statistics.
 * Ring: open. Source: Zhou and Tan 2020, Algorithm 2; Chowdhury and Gopalan 2017 for GP-UCB with sub-Gaussian noise.
 * Differs: the posterior over the n arms is kept instead of the T x T system (the same numbers); GP-UCB may also use
 * each arm's own mean. Cost: O(n^2) a round, flat in T; no allocation after create. */
#include "local/open/internal.h"

#include "gp/arms_internal.h"
#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <tacet/gp/arms.h>

typedef struct engine {
    const tacet__local *p;
    tacet_arms *arms;
    double *own; /* n: upper bounds from the arms' own means (UCB, tight); infinite where not used */
    size_t observed;
} engine;

static bool own_means(const engine *e) {
    return e->p->s.algorithm == TACET_LOCAL_UCB && e->p->s.parameters == TACET_LOCAL_TIGHT;
}

static void bound_own_mean(engine *e, size_t arm) {
    const double count = (double)tacet_arms_counts(e->arms)[arm];
    const double average = e->p->s.lambda * tacet_arms_sums(e->arms)[arm] / count;
    e->own[arm] = average + tacet__local_arm_radius(e->p, count);
}

static tacet_status observe(void *self, size_t arm, double y, tacet_error *err) {
    engine *e = self;
    double kept = y;
    if (e->p->s.algorithm == TACET_LOCAL_TGP && fabs(y) > tacet__local_level_tgp(e->p, e->observed + 1)) {
        kept = 0;
    }
    const tacet_status status = tacet_arms_observe(e->arms, arm, 1, kept, e->p->s.lambda, err);
    if (status == TACET_OK) {
        e->observed++;
        if (own_means(e)) {
            bound_own_mean(e, arm);
        }
    }
    return status;
}

static double width(const void *self, size_t t) {
    const engine *e = self;
    const double gamma = tacet_arms_information(e->arms);
    return e->p->s.algorithm == TACET_LOCAL_TGP ? tacet__local_beta_tgp(e->p, t, gamma)
                                                : tacet__local_beta_ucb(e->p, t, gamma);
}

static void bounds(void *self, double *out, size_t t) {
    const engine *e = self;
    const double beta_t = width(e, t);
    const double *mean = tacet_arms_mean(e->arms);
    const double *var = tacet_arms_var(e->arms);
    for (size_t i = 0; i < e->p->n; i++) {
        out[i] = fmin(mean[i] + beta_t * sqrt(var[i]), e->own[i]);
    }
}

static const double *mean(const void *self) {
    const engine *e = self;
    return tacet_arms_mean(e->arms);
}

static const double *var(const void *self) {
    const engine *e = self;
    return tacet_arms_var(e->arms);
}

static void forget_own_means(engine *e) {
    for (size_t i = 0; i < e->p->n; i++) {
        e->own[i] = (double)INFINITY;
    }
}

static void reset(void *self) {
    engine *e = self;
    tacet_arms_reset(e->arms);
    e->observed = 0;
    forget_own_means(e);
}

static void write_state(const void *self, tacet__writer *w) {
    const engine *e = self;
    tacet__arms_write(e->arms, w);
}

static void read_state(void *self, tacet__reader *r, size_t observed) {
    engine *e = self;
    const size_t n = e->p->n;
    tacet__arms_read(e->arms, r);
    const uint64_t *counts = tacet_arms_counts(e->arms);
    const double *P = tacet_arms_cov(e->arms);
    uint64_t left = observed;
    for (size_t i = 0; i < n && !r->failed; i++) {
        r->failed = counts[i] > left || (counts[i] > 0) != (tacet_arms_weights(e->arms)[i] > 0);
        left -= counts[i];
    }
    for (size_t i = 0; i < n * n && !r->failed; i++) {
        r->failed = !isfinite(P[i]);
    }
    if (left != 0 || !isfinite(tacet_arms_information(e->arms))) {
        r->failed = true;
    }
    e->observed = observed;
    forget_own_means(e);
    /* A bound of an arm's own mean was computed when the arm was last reported, from the sums it still has. */
    for (size_t i = 0; i < n && own_means(e) && !r->failed; i++) {
        if (counts[i] > 0) {
            bound_own_mean(e, i);
        }
    }
}

static void destroy(void *self) {
    engine *e = self;
    if (e != NULL) {
        tacet_arms_free(e->arms);
        free(e->own);
        free(e);
    }
}

static const tacet__local_engine ENGINE = {observe, bounds, width, mean, var, reset, destroy, write_state, read_state};

tacet_status tacet__local_arms(void **out, const tacet__local_engine **ops, const tacet__local *p, const tacet_cov *cov,
                               tacet_error *err) {
    *out = NULL;
    *ops = &ENGINE;
    engine *e = TACET__ZALLOC(engine, 1);
    if (e != NULL) {
        e->p = p;
        e->own = TACET__ALIGNED(double, p->n);
    }
    if (e == NULL || e->own == NULL) {
        destroy(e);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a learner of %zu arms", p->n);
    }
    const tacet_status status = tacet_arms_create(&e->arms, cov, 0, err);
    if (status != TACET_OK) {
        destroy(e);
        return status;
    }
    reset(e);
    *out = e;
    return TACET_OK;
}
