/* SPDX-License-Identifier: Apache-2.0 */
/* published_choose.c - one private action for one context: the published exponential mechanism, and its range
 * calibration. Ring: trusted. Source: Pavlovic, Salgia, Zhao 2025, Algorithm 1, lines 16 to 18;
 * src/contextual/README.md, sections 4 and
 * 5. Differs: the supremum is certified, actions are a finite public set (sampling is then exact), scores are bounded
 * by how far they move against each other. Cost: one pass over the records; a certificate per context for RANGE, per
 * chooser for PUBLISHED; a choice is O(n m). */
#include "contextual/trusted/internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "dp/bound_internal.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MOST = 200000 };
static const double KEPT = 1e-3;            /* features with T lam < KEPT tau change nothing that is seen */
static const double NORM_TOLERANCE = 0.005; /* of sup |u|: 1 % of its square */

static tacet__lever lever_of(const tacet_contextual_chooser *c, const tacet__contextual_view *view) {
    return (tacet__lever){.features = &view->features,
                          .inverse_root = c->inverse_root,
                          .tau = c->tau,
                          .d = c->basis->d,
                          .lengthscale = c->basis->unit_lengthscale};
}

/* The sum of all records' shares, kept secret in the chooser. */
static tacet_status sum_all(tacet_contextual_chooser *c, const tacet_contextual_learner *l, tacet_error *err) {
    const tacet__contextual_pass pass = {.m = c->m, .inverse_root = c->inverse_root, .clip = c->sup, .bound = l->bound};
    tacet_raw *raw = NULL;
    tacet_status status = tacet_raw_create(&raw, c->m, err);
    c->v = TACET__ZALLOC(double, c->m);
    if (status == TACET_OK && c->v == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu numbers", c->m);
    }
    c->share = tacet__contextual_share(&pass, &c->step);
    TACET_THEN(status, tacet__contextual_sum(l, raw, &pass, err));
    if (status == TACET_OK) {
        memcpy(c->v, raw->values, c->m * sizeof *c->v);
    }
    tacet_raw_free(raw);
    return status;
}

tacet_status tacet__contextual_chooser_begin(tacet_contextual_chooser **out, const tacet_contextual_learner *l,
                                             double tau, double sup, tacet_error *err) {
    *out = NULL;
    if (!(tau >= 0 && isfinite(tau))) {
        return tacet__fail(err, TACET_INVALID, "tau must be finite and > 0, or 0 for the default");
    }
    if (l->count == 0) {
        return tacet__fail(err, TACET_STATE, "there are no records to learn from");
    }
    tacet_contextual_chooser *c = TACET__ZALLOC(tacet_contextual_chooser, 1);
    if (c == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a chooser");
    }
    c->basis = l->basis;
    c->eps = l->settings.eps;
    c->bound = l->bound;
    c->n = l->count;
    c->tau = tau > 0 ? tau : 1;
    const double *lam = l->basis->features->eigenvalues;
    while (c->m < l->basis->features->m && (c->m == 0 || (double)c->n * lam[c->m] > KEPT * c->tau)) {
        c->inverse_root[c->m] = 1 / sqrt((double)c->n * lam[c->m] + c->tau);
        c->m++;
    }
    tacet_status status = TACET_OK;
    c->sup = sup;
    if (!(sup > 0)) {
        tacet__contextual_view view;
        tacet_contextual_certificate certificate;
        tacet__contextual_view_init(&view, l->basis, c->m);
        const tacet__lever lever = lever_of(c, &view);
        status = tacet__lever_certify(&certificate, &lever, NORM_TOLERANCE, CELLS_MOST, err);
        c->sup = status == TACET_OK ? certificate.upper : 0;
    }
    TACET_THEN(status, sum_all(c, l, err));
    if (status != TACET_OK) {
        tacet_contextual_chooser_free(c);
        return status;
    }
    *out = c;
    return TACET_OK;
}

tacet_status tacet_contextual_chooser_create(tacet_contextual_chooser **out, const tacet_contextual_learner *l,
                                             double tau, tacet_error *err) {
    return tacet__contextual_chooser_begin(out, l, tau, 0, err);
}

void tacet_contextual_chooser_free(tacet_contextual_chooser *c) {
    if (c != NULL) {
        if (c->v != NULL) {
            sodium_memzero(c->v, c->m * sizeof *c->v);
        }
        free(c->v);
        free(c);
    }
}

tacet_status tacet__contextual_levers(const tacet_contextual_chooser *c, double *U, const double *context,
                                      const double *actions, size_t n, tacet_error *err) {
    const size_t a = c->basis->action_dim;
    tacet__contextual_view view;
    tacet__contextual_view_init(&view, c->basis, c->m);
    const tacet__lever lever = lever_of(c, &view);
    for (size_t i = 0; i < n; i++) {
        double w[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
        double unit[TACET_CONTEXTUAL_COORDINATES_MOST];
        memcpy(w, actions + i * a, a * sizeof *w);
        if (c->basis->d > a) {
            memcpy(w + a, context, (c->basis->d - a) * sizeof *w);
        }
        const size_t outside = tacet_contextual_basis_outside(c->basis, w);
        if (outside != 0) {
            return tacet__fail(
                err, TACET_INVALID,
                outside <= a ? "action %zu lies outside the bounds" : "the context lies outside the bounds", i + 1);
        }
        tacet__contextual_unit(c->basis, unit, w);
        tacet_features_eval(&view.features, U + i * c->m, unit, c->basis->d, 1);
    }
    tacet__lever_apply(&lever, U, n);
    return TACET_OK;
}

static double longest(const double *U, size_t m, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, tacet__norm2(U + i * m, m));
    }
    return most;
}

double tacet__contextual_score_bound(const tacet_contextual_chooser *c, const double *U, size_t n) {
    const double reach = longest(U, c->m, n);
    /* Shares are rounded, scores are computed in floating point: both are charged. */
    const double limit = c->sup * c->bound;
    const double slack = 2 * reach * (c->share - limit + 1e-12 * limit) +
                         4 * ((double)c->m + 8) * 0x1p-53 * reach * (double)c->n * c->share;
    /* The paper's 2 B sup sigma^2. A share is clipped at the supremum; an action's own leverage is not. */
    return 2 * c->bound * c->sup * fmax(c->sup, reach * (1 + 1e-12)) + slack;
}

tacet_status tacet__contextual_choose_with(const tacet_contextual_chooser *c, tacet_release **out, const tacet_ask *ask,
                                           const double *U, size_t n, double bound, tacet_error *err) {
    const tacet_neighbours replace = {.relation = TACET_RELATION_REPLACE};
    const double widest = fmax(1.001 * longest(U, c->m, n) * (double)c->n * c->share, bound);
    tacet_bound *range = NULL;
    tacet_bound *narrow = NULL;
    tacet_raw *raw = NULL;
    tacet_bounded *bounded = NULL;
    tacet_mechanism *mechanism = NULL;
    *out = NULL;
    double *scores = TACET__ZALLOC(double, n);
    tacet_status status = scores == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu scores", n)
                                         : tacet_bound_range(&range, n, -widest, widest, err);
    TACET_THEN(status, tacet_bound_narrow_scores(&narrow, range, bound, "src/contextual/README.md section 4", err));
    TACET_THEN(status,
               tacet_mechanism_create(&mechanism, TACET_MECHANISM_EXPONENTIAL, narrow, &replace, c->eps, 0, err));
    TACET_THEN(status, tacet_raw_create(&raw, n, err));
    TACET_THEN(status, tacet_bounded_create(&bounded, narrow, err));
    if (status == TACET_OK) {
        tacet__gemv(true, c->m, n, 1, U, c->m, c->v, 0, scores);
        status = tacet_raw_set(raw, scores, n, err);
    }
    TACET_THEN(status, tacet_bounded_set(bounded, raw, err));
    TACET_THEN(status, tacet_mechanism_run(mechanism, out, ask, bounded, err));
    if (scores != NULL) {
        sodium_memzero(scores, n * sizeof *scores);
    }
    free(scores);
    tacet_bounded_free(bounded);
    tacet_raw_free(raw);
    tacet_mechanism_free(mechanism);
    tacet_bound_free(narrow);
    tacet_bound_free(range);
    return status;
}

tacet_status tacet_contextual_choose(const tacet_contextual_chooser *c, tacet_release **out, const tacet_ask *ask,
                                     const double *context, const double *actions, size_t n, tacet_error *err) {
    *out = NULL;
    size_t size = 0;
    if (n < 2 || !tacet__size_mul(&size, n, c->m)) {
        return tacet__fail(err, TACET_INVALID, "a choice needs at least two actions");
    }
    double *U = TACET__ALIGNED(double, size);
    tacet_status status = U == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu actions", n)
                                    : tacet__contextual_levers(c, U, context, actions, n, err);
    TACET_THEN(status, tacet__contextual_choose_with(c, out, ask, U, n, tacet__contextual_score_bound(c, U, n), err));
    free(U);
    return status;
}
