/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.c - what engines over an embedding have in common: features, plays, and an estimate for each arm.
 * Ring: open. Source: Zhou and Tan 2020, Algorithms 1 and 3, which differ in how they come by the estimates. Cost: O(n)
 * a call beside that of the embedding. */
#include "local/open/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tacet_status init(tacet__embedded *e, const tacet__local *p, tacet_error *err) {
    e->p = p;
    e->plays = TACET__EMBEDDED(e, uint64_t, p->n);
    e->mean = TACET__EMBEDDED(e, double, p->n);
    e->var = TACET__EMBEDDED(e, double, p->n);
    return tacet__nystrom_init(&e->ny, p, err);
}

void *tacet__embedded_hold(tacet__embedded *e, size_t count, size_t size) {
    void *array = e->holds < sizeof e->held / sizeof e->held[0] ? tacet__aligned(count, size) : NULL;
    e->lacking = e->lacking || array == NULL;
    if (array != NULL) {
        e->held[e->holds++] = array;
    }
    return array;
}

void tacet__embedded_free(void *self) {
    tacet__embedded *e = self;
    if (e == NULL) {
        return;
    }
    tacet__nystrom_clear(&e->ny);
    for (size_t i = 0; i < e->holds; i++) {
        free(e->held[i]);
    }
    free(e);
}

void tacet__embedded_reset(tacet__embedded *e) {
    const size_t n = e->p->n;
    tacet__nystrom_reset(&e->ny);
    for (size_t j = 0; j < n; j++) {
        e->plays[j] = 0;
        e->mean[j] = 0;
        e->var[j] = e->p->K[j * n + j];
    }
}

void tacet__embedded_bounds(const tacet__embedded *e, double *out, double beta_t) {
    for (size_t j = 0; j < e->p->n; j++) {
        out[j] = e->mean[j] + beta_t * sqrt(e->var[j]);
    }
}

const double *tacet__embedded_mean(const void *self) {
    return ((const tacet__embedded *)self)->mean;
}

const double *tacet__embedded_var(const void *self) {
    return ((const tacet__embedded *)self)->var;
}

void tacet__embedded_state(tacet__embedded *e, tacet__state *s) {
    const size_t n = e->p->n;
    tacet__nystrom_state(&e->ny, s);
    tacet__state_u64s(s, "plays", e->plays, n, UINT64_MAX);
    tacet__state_f64s(s, "mean", e->mean, n);
    tacet__state_f64s(s, "variance", e->var, n);
    for (size_t j = 0; j < n && tacet__state_taking(s); j++) {
        tacet__state_require(s, "variance", e->var[j] >= 0);
    }
}

tacet_status tacet__embedded_create(void **out, size_t size, const tacet__local_engine *ops, bool (*allocate)(void *),
                                    const tacet__local *p, tacet_error *err) {
    *out = NULL;
    void *self = tacet__zalloc(1, size);
    tacet_status status = self != NULL ? init(self, p, err) : TACET_NO_MEMORY;
    if (self == NULL || (status == TACET_OK && (!allocate(self) || ((tacet__embedded *)self)->lacking))) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a learner of %zu arms", p->n);
    }
    if (status != TACET_OK) {
        tacet__embedded_free(self);
        return status;
    }
    ops->reset(self);
    *out = self;
    return TACET_OK;
}

void tacet__embedded_design(const tacet__embedded *e, double *V, double *scratch) {
    const size_t n = e->p->n;
    const size_t m = e->ny.m;
    size_t played = 0;
    for (size_t j = 0; j < n; j++) {
        if (e->plays[j] > 0) {
            const double root = sqrt((double)e->plays[j]);
            for (size_t i = 0; i < m; i++) {
                scratch[played * m + i] = root * e->ny.features[j * n + i];
            }
            played++;
        }
    }
    memset(V, 0, m * m * sizeof *V);
    for (size_t i = 0; i < m; i++) {
        V[i * m + i] = e->p->s.lambda;
    }
    tacet__syrk(false, m, played, 1, scratch, m, 1, V, m);
}
