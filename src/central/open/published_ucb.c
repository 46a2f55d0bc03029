/* SPDX-License-Identifier: Apache-2.0 */
/* published_ucb.c - GP-UCB in a feature space from noisy normal equations.
 * Ring: open. Source: Dubey (AISTATS 2021), Algorithm 1, Theorem 1, Lemma 3. Differs: the kernel approximation's term
 * of the width is left out (it needs an error far below what 100 features give, and would only widen it); a V that the
 * shift failed to make positive definite is repaired. Cost: O(m^3) an update, O(m^2) an arm. */
#include "central/open/published_ucb.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

enum { BATCH = 64 };

struct tacet_published_ucb {
    const tacet_features *features;
    tacet_published_ucb_settings set;
    size_t m, dim;
    double *sums;  /* dim: what was told last */
    double *L;     /* m x m: V = L L' */
    double *theta; /* m */
    double *phi;   /* m x BATCH */
    double beta;
};

void tacet_published_ucb_settings_defaults(tacet_published_ucb_settings *settings) {
    *settings = (tacet_published_ucb_settings){
        .norm_bound = 1, .rho = 0.5, .lambda = 1, .zeta = 0.1, .shift = 0, .kappa = 0, .width = 1};
}

void tacet_published_ucb_spectrum(double *shift, double *kappa, double sd, size_t m, double rounds, double zeta) {
    const double log_term = log(2 * rounds / zeta), root = sqrt((double)m);
    *shift = sd * (4 * root + 2 * log_term);
    *kappa = sd / sqrt(2 * *shift) * (root + sqrt(2 * log_term));
}

static tacet_status check(const tacet_published_ucb_settings *s, tacet_error *err) {
    const struct {
        const char *name;
        double value;
        bool zero_allowed;
    } numbers[] = {{"norm_bound", s->norm_bound, true},
                   {"rho", s->rho, false},
                   {"lambda", s->lambda, false},
                   {"shift", s->shift, true},
                   {"kappa", s->kappa, true},
                   {"width", s->width, true},
                   {"zeta", s->zeta, false}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const double v = numbers[i].value;
        if (!(isfinite(v) && (v > 0 || (numbers[i].zero_allowed && v == 0)))) {
            return tacet__fail(err, TACET_INVALID, "%s must be finite and above 0", numbers[i].name);
        }
    }
    return s->zeta < 1 ? TACET_OK : tacet__fail(err, TACET_INVALID, "zeta must be below 1");
}

/* V, theta and beta from u->sums; L must hold m x m. */
static void solve(tacet_published_ucb *u) {
    const size_t m = u->m;
    const tacet_published_ucb_settings *s = &u->set;
    double added = s->lambda + 2 * s->shift, extra = 0;
    for (;;) {
        const double *at = u->sums;
        for (size_t j = 0; j < m; j++) {
            u->L[j * (m + 1)] = *at++ + added + extra;
            for (size_t i = j + 1; i < m; i++) {
                u->L[i + j * m] = *at++ / sqrt(2);
            }
            u->theta[j] = *at++ / sqrt(2); /* the last row of N is [u', sum y^2] */
        }
        if (tacet__cholesky(u->L, m, m, NULL, NULL, NULL) == TACET_OK) {
            break;
        }
        extra = extra == 0 ? added : 2 * extra;
    }
    const double logdet = tacet__chol_logdet(m, u->L, m) - (double)m * log(s->lambda + s->shift);
    u->beta = s->norm_bound * sqrt(3 * s->shift / (s->rho * s->rho) + 1) + s->kappa / s->rho +
              sqrt(fmax(0, logdet) + 2 * log(2 / s->zeta));
    tacet__chol_solve(m, u->L, m, u->theta);
}

tacet_status tacet_published_ucb_create(tacet_published_ucb **out, const tacet_features *features,
                                        const tacet_published_ucb_settings *settings, tacet_error *err) {
    if (out == NULL || features == NULL || settings == NULL) {
        return tacet__fail(err, TACET_INVALID, "noisy GP-UCB needs features and settings");
    }
    *out = NULL;
    TACET_OR_RETURN(check(settings, err));
    tacet_published_ucb *u = TACET__ZALLOC(tacet_published_ucb, 1);
    if (u == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for noisy GP-UCB");
    }
    u->features = features;
    u->set = *settings;
    u->m = tacet_features_dim(features);
    u->dim = (u->m + 1) * (u->m + 2) / 2;
    u->sums = TACET__ZALLOC(double, u->dim);
    u->L = TACET__ZALLOC(double, u->m * u->m);
    u->theta = TACET__ZALLOC(double, u->m);
    u->phi = TACET__ZALLOC(double, u->m *BATCH);
    if (u->sums == NULL || u->L == NULL || u->theta == NULL || u->phi == NULL) {
        tacet_published_ucb_free(u);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for normal equations of %zu features",
                           tacet_features_dim(features));
    }
    solve(u);
    *out = u;
    return TACET_OK;
}

void tacet_published_ucb_free(tacet_published_ucb *u) {
    if (u != NULL) {
        free(u->sums);
        free(u->L);
        free(u->theta);
        free(u->phi);
        free(u);
    }
}

size_t tacet_published_ucb_dim(const tacet_published_ucb *u) {
    return u->dim;
}

tacet_status tacet_published_ucb_update(tacet_published_ucb *u, const double *sums, tacet_error *err) {
    for (size_t i = 0; i < u->dim; i++) {
        if (!(fabs(sums[i]) < 1e100)) {
            return tacet__fail(err, TACET_INVALID, "number %zu of the release is not finite, or too large", i);
        }
    }
    memcpy(u->sums, sums, u->dim * sizeof(double));
    solve(u);
    return TACET_OK;
}

size_t tacet_published_ucb_choose(tacet_published_ucb *u, double *score, const double *X, size_t ldx, size_t n) {
    size_t best = 0;
    double top = -INFINITY;
    for (size_t first = 0; first < n; first += BATCH) {
        const size_t count = n - first < BATCH ? n - first : BATCH;
        tacet_features_eval(u->features, u->phi, X + first * ldx, ldx, count);
        double mean[BATCH];
        tacet__gemv(true, u->m, count, 1, u->phi, u->m, u->theta, 0, mean);
        tacet__trsm(false, u->m, count, u->L, u->m, u->phi, u->m);
        for (size_t j = 0; j < count; j++) {
            const double sd = u->set.rho * tacet__norm2(u->phi + j * u->m, u->m);
            const double value = mean[j] + u->set.width * u->beta * sd;
            if (value > top) {
                top = value;
                best = first + j;
            }
        }
    }
    if (score != NULL) {
        *score = top;
    }
    return best;
}
