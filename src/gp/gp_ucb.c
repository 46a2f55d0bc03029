/* SPDX-License-Identifier: Apache-2.0 */
/* gp_ucb.c - GP-UCB over a finite domain.
 * Ring: pure. Source: Srinivas et al., "Gaussian Process Optimization in the Bandit Setting" (2010), Theorem 1 with
 * delta halved as in the outsourced paper (Theorem 3 there): beta_t = 2 ln(n t^2 pi^2/(6 delta')), delta' = delta/2.
 * Differs: a candidate is asked once unless repeats are allowed; ties go to the lowest number, and equal candidates do
 * tie (their posterior has equal bits); several suggestions may be open, each counts in t when it is made.
 * Cost: O(n t) an observation, which finds the next suggestion on its way; no allocation; 8 n horizon bytes. */
#include "gp/cov_internal.h"
#include "gp/gp_ucb_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/policy_internal.h"
#include "gp/gp_internal.h"
#include "gp/vexp.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024 };

typedef tacet__gp_ucb gp_ucb;

void tacet_gp_ucb_settings_defaults(tacet_gp_ucb_settings *settings) {
    *settings = (tacet_gp_ucb_settings){.noise_var = 1e-6, .delta_ucb = 0.05, .beta_scale = 1};
}

double tacet_gp_ucb_beta(size_t n, size_t t, double delta_ucb) {
    const double pi = 3.14159265358979323846;
    /* Logarithms apart: n t^2 need not fit anything. */
    return 2 * (log((double)n) + 2 * log((double)t) + log(pi * pi / (6 * (delta_ucb / 2))));
}

/* --- suggest, observe, recommend --------------------------------------------------------------------------------- */

/* bound[j] = mean[j] + width sqrt(var[j]), and the largest of them. */
TACET__CLONES
static double bounds_of(double *restrict bound, const double *restrict mean, const double *restrict var, double width,
                        size_t m) {
    for (size_t j = 0; j < m; j++) {
        bound[j] = mean[j] + width * sqrt(var[j]);
    }
    double lane[8];
    for (size_t k = 0; k < 8; k++) {
        lane[k] = -(double)INFINITY;
    }
    size_t j = 0;
    for (; j + 8 <= m; j += 8) {
        for (size_t k = 0; k < 8; k++) {
            lane[k] = bound[j + k] > lane[k] ? bound[j + k] : lane[k];
        }
    }
    for (; j < m; j++) {
        lane[0] = bound[j] > lane[0] ? bound[j] : lane[0];
    }
    double top = lane[0];
    for (size_t k = 1; k < 8; k++) {
        top = lane[k] > top ? lane[k] : top;
    }
    return top;
}

/* Whether some mean[j] + width sqrt(var[j]) may exceed `best`: never says no where bounds_of would find one. It asks,
 * without a root, whether (best - mean)^2 <= width^2 var. A rounded sum is above the double `best` only where the exact
 * one is, so what is left are relative errors, of a unit in the difference, the root and each product: the factor has
 * more than them. The constant is for what underflows. */
TACET__CLONES
static bool may_exceed(const double *restrict mean, const double *restrict var, double width, double best, size_t m) {
    const double square = width * width * (1 + 0x1p-48);
    const double tiny = 1e-300;
    uint64_t count = 0;
    for (size_t j = 0; j < m; j++) {
        const double gap = best - mean[j];
        const double g = gap > 0 ? gap : 0;
        count += g * g <= square * var[j] + tiny;
    }
    return count > 0;
}

/* Looks for a larger mean + width * sd among some candidates, in the order of their numbers: the lowest of equals. */
static void look_at(const gp_ucb *self, tacet__bound *best, const double *mean, const double *var, size_t at,
                    size_t count) {
    double bound[BLOCK];
    for (size_t done = 0; done < count; done += BLOCK) {
        const size_t m = count - done < BLOCK ? count - done : BLOCK;
        if (best->row != SIZE_MAX && !may_exceed(mean + done, var + done, best->width, best->score, m)) {
            continue;
        }
        const double top = bounds_of(bound, mean + done, var + done, best->width, m);
        if (best->row != SIZE_MAX && !(top > best->score)) {
            continue;
        }
        for (size_t j = 0; j < m; j++) {
            if ((best->row == SIZE_MAX || bound[j] > best->score) &&
                (self->settings.allow_repeats || !self->asked[at + done + j])) {
                best->row = at + done + j;
                best->score = bound[j];
            }
        }
    }
}

static void look_on(void *user, const double *mean, const double *var, size_t at, size_t m) {
    gp_ucb *self = user;
    look_at(self, &self->next_best, mean, var, at, m);
}

static double width_of(const gp_ucb *self, size_t t) {
    return sqrt(self->settings.beta_scale * tacet_gp_ucb_beta(self->n, t, self->settings.delta_ucb));
}

/* Largest mean + width * sd among the candidates not asked; the lowest number of equals. SIZE_MAX: none left. */
static size_t best_bound(const gp_ucb *self, size_t t, double *score) {
    tacet__bound best = self->next_best;
    if (best.t != t) {
        best = (tacet__bound){.width = width_of(self, t), .row = SIZE_MAX};
        look_at(self, &best, tacet_gp_mean(self->gp), tacet_gp_var(self->gp), 0, self->n);
    }
    *score = best.score;
    return best.row;
}

static tacet_status suggest(void *object, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    gp_ucb *self = object;
    if (round->points != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID, "%s has a fixed domain and no context: a round brings nothing",
                           TACET__GP_UCB_NAME);
    }
    if (self->suggested == self->settings.horizon) {
        return tacet__fail(err, TACET_STATE, "the horizon of %zu suggestions is over", self->settings.horizon);
    }
    const size_t t = self->suggested + 1;
    double score = 0;
    size_t row = SIZE_MAX;
    if (t <= self->settings.initial_count) {
        row = self->initial[t - 1];
        score = tacet_gp_mean(self->gp)[row] + width_of(self, t) * sqrt(tacet_gp_var(self->gp)[row]);
    } else {
        row = best_bound(self, t, &score);
    }
    if (row == SIZE_MAX) {
        return tacet__fail(err, TACET_STATE, "all %zu candidates have been asked", self->n);
    }
    self->rows[self->suggested] = row;
    self->reported[self->suggested] = false;
    self->asked[row] = true;
    self->suggested = t;
    self->next_best.t = 0; /* one more is asked, and the width is another */
    *out = (tacet_suggestion){.index = row, .ticket = t, .score = score};
    return TACET_OK;
}

static tacet_status observe(void *object, uint64_t ticket, double value, tacet_error *err) {
    gp_ucb *self = object;
    if (ticket == 0 || ticket > self->suggested) {
        return tacet__fail(err, TACET_NOT_FOUND, "ticket %llu was never given", (unsigned long long)ticket);
    }
    const size_t k = (size_t)ticket - 1;
    if (self->reported[k]) {
        return tacet__fail(err, TACET_CONFLICT, "ticket %llu has been reported already", (unsigned long long)ticket);
    }
    const size_t count = tacet_gp_count(self->gp);
    const size_t t = self->suggested + 1;
    self->next_best = (tacet__bound){.row = SIZE_MAX};
    if (t <= self->settings.horizon && t > self->settings.initial_count) {
        self->next_best.width = width_of(self, t);
        tacet__gp_watch(self->gp, look_on, self);
    }
    const tacet_status status = tacet_gp_observe(self->gp, self->rows[k], value, err);
    tacet__gp_watch(self->gp, NULL, NULL);
    if (status != TACET_OK) {
        return status;
    }
    self->next_best.t = self->next_best.width > 0 ? t : 0;
    self->reported[k] = true;
    self->values[k] = value;
    self->order[count] = k;
    return TACET_OK;
}

static tacet_status recommend(void *object, tacet_recommendation *out, tacet_error *err) {
    const gp_ucb *self = object;
    (void)err;
    const double *mean = tacet_gp_mean(self->gp);
    size_t best = 0;
    for (size_t j = 1; j < self->n; j++) {
        best = mean[j] > mean[best] ? j : best;
    }
    const double sd = sqrt(tacet_gp_var(self->gp)[best]);
    *out = (tacet_recommendation){.index = best, .mean = mean[best], .sd = sd, .measured = SIZE_MAX};
    for (size_t k = 0; k < self->suggested; k++) {
        if (self->reported[k] && (out->measured == SIZE_MAX || self->values[k] > out->measured_value)) {
            out->measured = self->rows[k];
            out->measured_value = self->values[k];
        }
    }
    return TACET_OK;
}

static void ucb_free(void *object) {
    gp_ucb *self = object;
    if (self != NULL) {
        tacet_gp_free(self->gp);
        tacet_cov_free(self->cov);
        free(self->initial);
        free(self->rows);
        free(self->values);
        free(self->reported);
        free(self->order);
        free(self->asked);
        free(self);
    }
}

static void guarantee(const void *object, tacet_guarantee *out) {
    const gp_ucb *self = object;
    *out = self->guarantee;
}

/* --- creation ---------------------------------------------------------------------------------------------------- */

static tacet_status check_settings(const tacet_gp_ucb_settings *s, size_t n, tacet_error *err) {
    if (!(s->delta_ucb > 0 && s->delta_ucb < 1)) {
        return tacet__fail(err, TACET_INVALID, "delta_ucb must lie between 0 and 1");
    }
    if (!(s->beta_scale > 0 && isfinite(s->beta_scale))) {
        return tacet__fail(err, TACET_INVALID, "the factor on beta must be finite and greater than 0");
    }
    if (s->horizon == 0 || (s->horizon > n && !s->allow_repeats)) {
        return tacet__fail(err, TACET_INVALID,
                           "%zu suggestions are asked of %zu candidates, each of which is asked once", s->horizon, n);
    }
    if (s->initial_count > s->horizon) {
        return tacet__fail(err, TACET_INVALID, "%zu initial candidates for a horizon of %zu", s->initial_count,
                           s->horizon);
    }
    for (size_t k = 0; k < s->initial_count; k++) {
        if (s->initial[k] >= n) {
            return tacet__fail(err, TACET_INVALID, "initial candidate %zu does not exist: there are %zu, from 0",
                               s->initial[k], n);
        }
        for (size_t i = 0; i < k && !s->allow_repeats; i++) {
            if (s->initial[i] == s->initial[k]) {
                return tacet__fail(err, TACET_INVALID, "initial candidate %zu is named twice", s->initial[k]);
            }
        }
    }
    return TACET_OK;
}

static const tacet_guarantee UNPROTECTED = {
    .trust = TACET_TRUST_NONE,
    .proven = false,
    .eps = (double)INFINITY,
    .delta = 1,
    .protects = "nothing",
    .statement = "Unprotected: plain GP-UCB sees every candidate and every value as it is.",
    .proof = "src/gp/gp-ucb.md",
};

static const tacet__policy_ops OPS = {
    .name = TACET__GP_UCB_NAME,
    .suggest = suggest,
    .observe = observe,
    .recommend = recommend,
    .guarantee = guarantee,
    .state = tacet__gp_ucb_state,
    .free = ucb_free,
};

const tacet_gp *tacet_gp_ucb_model(const tacet_policy *policy) {
    const gp_ucb *self = tacet__policy_self(policy, &OPS);
    return self != NULL ? self->gp : NULL;
}

static bool allocate(gp_ucb *self) {
    const size_t horizon = self->settings.horizon;
    self->initial = TACET__ZALLOC(size_t, self->settings.initial_count);
    self->rows = TACET__ZALLOC(size_t, horizon);
    self->values = TACET__ZALLOC(double, horizon);
    self->reported = TACET__ZALLOC(bool, horizon);
    self->order = TACET__ZALLOC(size_t, horizon);
    self->asked = TACET__ZALLOC(bool, self->n);
    return self->initial != NULL && self->rows != NULL && self->values != NULL && self->reported != NULL &&
           self->order != NULL && self->asked != NULL;
}

static tacet_status copy_problem(gp_ucb *self, const tacet_cov_spec *cov, const double *X, size_t ldx,
                                 tacet_error *err) {
    const tacet_gp_ucb_settings *s = &self->settings;
    if (!allocate(self)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating %s", TACET__GP_UCB_NAME);
    }
    for (size_t k = 0; k < s->initial_count; k++) {
        self->initial[k] = s->initial[k];
    }
    self->settings.initial = self->initial;
    self->guarantee = s->guarantee != NULL ? *s->guarantee : UNPROTECTED;
    self->settings.guarantee = &self->guarantee;
    tacet_status status = tacet_cov_create(&self->cov, cov, X, ldx, self->n, err);
    if (status != TACET_OK) {
        return status;
    }
    const tacet_gp_settings model = {.mean = s->mean, .noise_var = s->noise_var, .horizon = s->horizon};
    status = tacet_gp_create(&self->gp, &model, self->cov, err);
    if (status == TACET_OK) {
        tacet__gp_ucb_fingerprint(self, cov, X, ldx);
    }
    return status;
}

tacet_status tacet_gp_ucb_create(tacet_policy **out, const tacet_gp_ucb_settings *settings, const tacet_cov_spec *cov,
                                 const double *X, size_t ldx, size_t n, tacet_error *err) {
    *out = NULL;
    tacet_status status = check_settings(settings, n, err);
    if (status != TACET_OK) {
        return status;
    }
    gp_ucb *self = TACET__ZALLOC(gp_ucb, 1);
    if (self == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating %s", TACET__GP_UCB_NAME);
    }
    self->settings = *settings;
    self->n = n;
    status = copy_problem(self, cov, X, ldx, err);
    if (status != TACET_OK) {
        ucb_free(self);
        return status;
    }
    return tacet__policy_wrap(out, &OPS, self, err); /* it owns self, even when it failed */
}
