/* SPDX-License-Identifier: Apache-2.0 */
/* learn.c - the learner: raw records in; a bounded, exact sum of one share per record out, for the gate.
 * Ring: trusted. Source: Pavlovic, Salgia, Zhao 2025, Algorithm 1; src/contextual/README.md, sections 3 and 5. Differs:
 * the share of a record, omega r Z^-1/2 phi, is clipped to a norm and rounded to whole steps before it is added, so
 * that the sum is exact, its order does not matter, and its sensitivity holds for the numbers the machine really
 * computes. Cost: O(q m) a record (kernel values at q nodes, one matrix product), 8 (d + 1) bytes a record. */
#include "contextual/trusted/internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_BITS = 30, TILE = 32 }; /* TACET__CONTEXTUAL_RECORDS_MOST shares of 2^30 steps: whole numbers below 2^53 */

void tacet_contextual_settings_defaults(tacet_contextual_settings *settings) {
    *settings = (tacet_contextual_settings){.reward_lower = -1, .reward_upper = 1, .eps = 1};
}

static tacet_status check(const tacet_contextual_settings *s, tacet_error *err) {
    if (!(isfinite(s->reward_lower) && isfinite(s->reward_upper) && s->reward_lower < s->reward_upper &&
          isfinite(s->reward_upper - s->reward_lower))) {
        return tacet__fail(err, TACET_INVALID, "the range of rewards: finite, the lower below the upper");
    }
    if (!(s->eps > 0 && isfinite(s->eps))) {
        return tacet__fail(err, TACET_INVALID, "eps must be finite and > 0");
    }
    return TACET_OK;
}

tacet_status tacet_contextual_learner_create(tacet_contextual_learner **out, const tacet_contextual_basis *basis,
                                             const tacet_contextual_settings *settings, tacet_error *err) {
    *out = NULL;
    TACET_OR_RETURN(check(settings, err));
    tacet_contextual_learner *l = TACET__ZALLOC(tacet_contextual_learner, 1);
    if (l == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a learner");
    }
    l->basis = basis;
    l->stride = basis->d + 1;
    l->settings = *settings;
    l->bound = 0.5 * (settings->reward_upper - settings->reward_lower);
    l->middle = settings->reward_lower + l->bound;
    *out = l;
    return TACET_OK;
}

void tacet_contextual_learner_free(tacet_contextual_learner *l) {
    if (l != NULL) {
        if (l->records != NULL) {
            sodium_memzero(l->records, l->capacity * sizeof *l->records);
        }
        free(l->records);
        free(l);
    }
}

/* Doubling by hand, because the old copy must be wiped. */
static tacet_status make_room(tacet_contextual_learner *l, tacet_error *err) {
    const size_t need = (l->count + 1) * l->stride;
    if (need <= l->capacity) {
        return TACET_OK;
    }
    const size_t capacity = l->capacity == 0 ? 1024 : 2 * l->capacity;
    double *grown = TACET__ZALLOC(double, capacity);
    if (grown == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", l->count + 1);
    }
    if (l->records != NULL) {
        memcpy(grown, l->records, l->capacity * sizeof *grown);
        sodium_memzero(l->records, l->capacity * sizeof *l->records);
    }
    free(l->records);
    l->records = grown;
    l->capacity = capacity;
    return TACET_OK;
}

tacet_status tacet_contextual_learner_add(tacet_contextual_learner *l, const double *w, double reward,
                                          tacet_error *err) {
    const size_t outside = tacet_contextual_basis_outside(l->basis, w);
    if (outside > 0 && outside <= l->basis->action_dim) {
        return tacet__fail(err, TACET_INVALID, "record %zu: action %zu lies outside its bounds", l->count + 1, outside);
    }
    if (l->count == TACET__CONTEXTUAL_RECORDS_MOST) {
        return tacet__fail(err, TACET_INVALID, "at most %d records", (int)TACET__CONTEXTUAL_RECORDS_MOST);
    }
    const tacet_status status = make_room(l, err);
    if (status == TACET_OK) {
        double *record = l->records + l->count * l->stride;
        tacet__contextual_unit(l->basis, record, w);
        record[l->basis->d] = isnan(reward) ? 0 : fmin(fmax(reward - l->middle, -l->bound), l->bound);
        l->count++;
    }
    return status;
}

double tacet__contextual_share(const tacet__contextual_pass *pass, double *step) {
    const double limit = pass->clip * pass->bound;
    int exponent = 0;
    (void)frexp(limit, &exponent);
    *step = ldexp(1, exponent - STEP_BITS);
    /* Computed norms are good to (m + 4) 2^-52; each coordinate is off by at most half a step. */
    return nextafter(limit * (1 + 1e-12) + 0.5000001 * *step * sqrt((double)pass->m), INFINITY);
}

/* One record's share in whole steps, added to sums. phi (m) is overwritten. */
static void add_share(int64_t *sums, const tacet__contextual_pass *pass, double *phi, double reward, double step) {
    const size_t m = pass->m;
    const double residual = fmin(fmax(reward, -pass->bound), pass->bound);
    double norm2 = 0;
    for (size_t i = 0; i < m; i++) {
        phi[i] *= pass->inverse_root[i];
        norm2 += phi[i] * phi[i];
    }
    if (!(isfinite(norm2) && isfinite(residual))) {
        return; /* cannot happen within the bounds; a share of nothing is within its bound */
    }
    const double norm = sqrt(norm2);
    const double factor = (norm > pass->clip ? pass->clip / norm : 1) * residual / step;
    for (size_t i = 0; i < m; i++) {
        sums[i] += (int64_t)llrint(factor * phi[i]);
    }
}

tacet_status tacet__contextual_sum(const tacet_contextual_learner *l, tacet_raw *out,
                                   const tacet__contextual_pass *pass, tacet_error *err) {
    const size_t m = pass->m;
    const size_t d = l->basis->d;
    tacet__contextual_view view;
    double step = 0;
    double points[TILE * TACET_CONTEXTUAL_COORDINATES_MOST];
    double rewards[TILE];
    size_t filled = 0;
    int64_t *sums = TACET__ZALLOC(int64_t, m);
    double *phi = TACET__ALIGNED(double, m *TILE);
    double *values = TACET__ZALLOC(double, m);
    tacet_status status = TACET_OK;
    if (sums == NULL || phi == NULL || values == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sum of %zu numbers", m);
        goto done;
    }
    (void)tacet__contextual_share(pass, &step);
    tacet__contextual_view_init(&view, l->basis, m);
    for (size_t i = 0; i <= l->count; i++) {
        if (i < l->count) {
            memcpy(points + filled * d, l->records + i * l->stride, d * sizeof *points);
            rewards[filled++] = l->records[i * l->stride + d];
        }
        if (filled == TILE || (i == l->count && filled > 0)) {
            tacet_features_eval(&view.features, phi, points, d, filled);
            for (size_t j = 0; j < filled; j++) {
                add_share(sums, pass, phi + j * m, rewards[j], step);
            }
            filled = 0;
        }
    }
    for (size_t j = 0; j < m; j++) {
        values[j] = (double)sums[j] * step;
    }
    TACET_THEN(status, tacet_raw_set(out, values, m, err));
done:
    if (sums != NULL && phi != NULL && values != NULL) {
        sodium_memzero(sums, m * sizeof *sums);
        sodium_memzero(phi, m * TILE * sizeof *phi);
        sodium_memzero(values, m * sizeof *values);
    }
    sodium_memzero(points, sizeof points);
    sodium_memzero(rewards, sizeof rewards);
    free(sums);
    free(phi);
    free(values);
    return status;
}
