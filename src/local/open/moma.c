/* SPDX-License-Identifier: Apache-2.0 */
/* moma.c - LDP-MoMA-GP-UCB: k estimates from k lanes of reports, and the one nearest to most others.
 * Ring: open. Source: Zhou and Tan 2020, Algorithm 3. Differs: lane sums per arm instead of the list of epochs; the
 * distance to the floor(k/2)-th nearest other lane instead of the median, which is what the proof by simple majority
 * needs (erratum 7). Rounds after the last full epoch are played and not used (erratum 8).
 * Cost: an epoch is O(n^3 + n^2 k + k^2 n), 1/k of that a round, flat in T; no allocation after create. */
#include "local/open/internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct engine {
    tacet__embedded base; /* its plays are epochs */
    size_t k;
    double *lanes;   /* k x n: sums of reports by lane and arm */
    double *epoch;   /* k: the reports of the epoch so far */
    size_t reported; /* of them */
    uint64_t epochs;
    double *V, *white, *scaled; /* n x n: Cholesky factor of V, L^-1 Phi, scratch */
    double *estimates;          /* m x k: L^-1 Phi S_j, so that distances are in the norm of V */
    double *gram;               /* k x k */
    double *distances;          /* k */
} engine;

/* The value that would be at place `at` (from 0) were the array sorted; reorders it. */
static double order_statistic(double *a, size_t count, size_t at) {
    size_t lo = 0;
    size_t hi = count - 1;
    while (lo < hi) {
        const double pivot = a[lo + (hi - lo) / 2];
        size_t i = lo;
        size_t j = hi;
        for (;;) {
            while (a[i] < pivot) {
                i++;
            }
            while (a[j] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            const double kept = a[i];
            a[i++] = a[j];
            a[j--] = kept;
        }
        if (at <= j) {
            hi = j;
        } else {
            lo = j + 1;
        }
    }
    return a[at];
}

/* Line 11 and 12: the lane whose floor(k/2)-th nearest other lane is nearest. */
static size_t central_lane(engine *e, size_t m) {
    const size_t k = e->k;
    if (k < 2) {
        return 0;
    }
    tacet__syrk(true, k, m, 1, e->estimates, m, 0, e->gram, k);
    tacet__symmetrize(e->gram, k, k);
    size_t best = 0;
    double least = (double)INFINITY;
    for (size_t j = 0; j < k; j++) {
        size_t count = 0;
        for (size_t s = 0; s < k; s++) {
            if (s != j) {
                e->distances[count++] = e->gram[j * k + j] + e->gram[s * k + s] - 2 * e->gram[j * k + s];
            }
        }
        const double r = order_statistic(e->distances, count, k / 2 - 1);
        if (r < least) {
            least = r;
            best = j;
        }
    }
    return best;
}

static tacet_status factor(engine *e, tacet_error *err) {
    const size_t m = e->base.ny.m;
    tacet__embedded_design(&e->base, e->V, e->scaled);
    return tacet__cholesky(e->V, m, m, e->white, NULL, err);
}

static tacet_status update(engine *e, tacet_error *err) {
    const size_t n = e->base.p->n;
    bool changed = false;
    tacet_status status = tacet__nystrom_update(&e->base.ny, &changed, e->base.plays, e->base.var, e->epochs, err);
    const size_t m = e->base.ny.m;
    if (status == TACET_OK && m > 0) {
        status = factor(e, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    if (m == 0) {
        memset(e->base.mean, 0, n * sizeof *e->base.mean);
        memcpy(e->base.var, e->base.ny.residual, n * sizeof *e->base.var);
        return TACET_OK;
    }
    for (size_t j = 0; j < n; j++) {
        memcpy(e->white + j * m, e->base.ny.features + j * n, m * sizeof *e->white);
    }
    tacet__trsm(false, m, n, e->V, m, e->white, m);
    tacet__gemm(false, true, m, e->k, n, 1, e->white, m, e->lanes, e->k, 0, e->estimates, m);
    const double *centre = e->estimates + central_lane(e, m) * m;
    for (size_t j = 0; j < n; j++) {
        const double *white = e->white + j * m;
        e->base.mean[j] = tacet__dot(white, centre, m);
        e->base.var[j] = e->base.ny.residual[j] + e->base.p->s.lambda * tacet__dot(white, white, m);
    }
    return TACET_OK;
}

static tacet_status observe(void *self, size_t arm, double y, tacet_error *err) {
    engine *e = self;
    e->epoch[e->reported++] = y;
    if (e->reported < e->k) {
        return TACET_OK;
    }
    double *lanes = e->lanes + arm * e->k;
    for (size_t j = 0; j < e->k; j++) {
        lanes[j] += e->epoch[j];
    }
    e->base.plays[arm]++;
    const tacet_status status = update(e, err);
    if (status != TACET_OK) {
        for (size_t j = 0; j < e->k; j++) {
            lanes[j] -= e->epoch[j];
        }
        e->base.plays[arm]--;
        e->reported--;
        return status;
    }
    e->epochs++;
    e->reported = 0;
    return TACET_OK;
}

static double width(const void *self, size_t t) {
    const engine *e = self;
    (void)t;
    return e->epochs == 0 ? e->base.p->s.bound : tacet__local_beta_moma(e->base.p, e->base.ny.m, e->epochs);
}

static void bounds(void *self, double *out, size_t t) {
    const engine *e = self;
    tacet__embedded_bounds(&e->base, out, width(e, t));
}

static void reset(void *self) {
    engine *e = self;
    const size_t n = e->base.p->n;
    tacet__embedded_reset(&e->base);
    memset(e->lanes, 0, n * e->k * sizeof *e->lanes);
    e->epochs = 0;
    e->reported = 0;
}

static void visit_state(void *self, tacet__state *s, size_t observed) {
    engine *e = self;
    const size_t n = e->base.p->n;
    if (tacet__state_taking(s)) {
        e->reported = observed % e->k;
        e->epochs = observed / e->k;
    }
    tacet__embedded_state(&e->base, s);
    tacet__state_f64s(s, "lanes", e->lanes, e->k * n);
    tacet__state_f64s(s, "epoch", e->epoch, e->reported);
    uint64_t left = e->epochs;
    for (size_t j = 0; j < n && tacet__state_taking(s); j++) {
        tacet__state_require(s, "plays", e->base.plays[j] <= left);
        left -= e->base.plays[j];
    }
    tacet__state_require(s, "plays", left == 0);
}

static bool allocate(void *self) {
    engine *e = self;
    const size_t n = e->base.p->n;
    size_t lanes = 0;
    size_t gram = 0;
    e->k = e->base.p->s.lanes;
    if (!tacet__size_mul(&lanes, n, e->k) || !tacet__size_mul(&gram, e->k, e->k)) {
        return false;
    }
    e->lanes = TACET__EMBEDDED(&e->base, double, lanes);
    e->epoch = TACET__EMBEDDED(&e->base, double, e->k);
    e->V = TACET__EMBEDDED(&e->base, double, n *n);
    e->white = TACET__EMBEDDED(&e->base, double, n *n);
    e->scaled = TACET__EMBEDDED(&e->base, double, n *n);
    e->estimates = TACET__EMBEDDED(&e->base, double, lanes);
    e->gram = TACET__EMBEDDED(&e->base, double, gram);
    e->distances = TACET__EMBEDDED(&e->base, double, e->k);
    return true;
}

static const tacet__local_engine ENGINE = {.observe = observe,
                                           .bounds = bounds,
                                           .width = width,
                                           .mean = tacet__embedded_mean,
                                           .var = tacet__embedded_var,
                                           .reset = reset,
                                           .free = tacet__embedded_free,
                                           .state = visit_state};

tacet_status tacet__local_moma(void **out, const tacet__local_engine **ops, const tacet__local *p, tacet_error *err) {
    *ops = &ENGINE;
    return tacet__embedded_create(out, sizeof(engine), &ENGINE, allocate, p, err);
}
