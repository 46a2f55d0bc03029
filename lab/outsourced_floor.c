/* SPDX-License-Identifier: Apache-2.0 */
/* outsourced_floor.c - the floor of the outsourced model: f and the set of records are known, who is who is not.
 * Ring: programs. A row is a record k with probability w_ik proportional to the noise's density at z_i - x_k. For any
 * threshold tau, however the rows are chosen, the largest value found is at most tau plus the sum over chosen rows of
 * (f - tau)+, so its expectation is at most tau plus the `queries` largest E[(f(x_i) - tau)+ | z_i]; the bound is the
 * least of these over a few tau (rows are taken as independent, which they are up to the records' being all
 * different). Beside it a choice row by row for expected improvement. Cost: O(n^2) for the densities' sums, then
 * O(n * records near the top) per query. */
#include "outsourced_floor.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/vexp.h"

#include <math.h>
#include <stdlib.h>

enum { THRESHOLDS = 24 };
/* How far below the top a record still counts, as a share of the range of f, and the ratio of the thresholds. */
static const double NEAR = 0.08;
static const double SHRINK = 0.75;

typedef struct floor_state {
    const lab_problem *p;
    const double *Z;
    bool laplace;
    double scale;
    size_t near;    /* records near the top */
    double *excess; /* near: f - lowest threshold */
    double *weight; /* near x n: the chance that row i is that record */
    double *gain;   /* n */
    double *sorted; /* n */
    bool *taken;    /* n */
} floor_state;

/* density[k]: of the noise between z and record k, where the nearest record is the unit: a row far outside must not
 * divide zero by zero. Returns their sum. */
TACET__CLONES static double densities(double *restrict density, const double *restrict X, const double *z, size_t d,
                                      size_t n, bool laplace, double scale) {
    double least = INFINITY;
    for (size_t k = 0; k < n; k++) {
        double r2 = 0;
        for (size_t a = 0; a < d; a++) {
            r2 += (z[a] - X[k * d + a]) * (z[a] - X[k * d + a]);
        }
        density[k] = laplace ? sqrt(r2) / scale : 0.5 * r2 / (scale * scale);
        least = fmin(least, density[k]);
    }
    for (size_t k = 0; k < n; k++) {
        density[k] = tacet__vexp(least - density[k]);
    }
    double total = 0;
    for (size_t k = 0; k < n; k++) {
        total += density[k];
    }
    return total;
}

static void fill_weights(floor_state *s, const size_t *near) {
    const lab_problem *p = s->p;
    for (size_t i = 0; i < p->n; i++) {
        const double total = densities(s->sorted, p->X, s->Z + i * p->d, p->d, p->n, s->laplace, s->scale);
        for (size_t k = 0; k < s->near; k++) {
            s->weight[i * s->near + k] = s->sorted[near[k]] / total;
        }
    }
}

/* gain[i] = E[(f(x_i) - lowest - tau)+ | z_i]. */
static void fill_gain(floor_state *s, double tau) {
    for (size_t i = 0; i < s->p->n; i++) {
        double sum = 0;
        for (size_t k = 0; k < s->near; k++) {
            sum += s->weight[i * s->near + k] * fmax(0, s->excess[k] - tau);
        }
        s->gain[i] = sum;
    }
}

static int descending(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Excess over the lowest threshold that no choice of rows can pass on average. */
static double bound_excess(floor_state *s, double top, size_t queries) {
    double least = top;
    double below = top;
    for (size_t j = 0; j < THRESHOLDS; j++) {
        const double tau = top - below;
        fill_gain(s, tau);
        for (size_t i = 0; i < s->p->n; i++) {
            s->sorted[i] = s->gain[i];
        }
        qsort(s->sorted, s->p->n, sizeof *s->sorted, descending);
        double sum = tau;
        for (size_t i = 0; i < queries; i++) {
            sum += s->sorted[i];
        }
        least = fmin(least, sum);
        below *= SHRINK;
    }
    return least;
}

static void choose_rows(floor_state *s, size_t *rows, const double *f, double lowest, size_t queries) {
    double best = 0;
    fill_gain(s, best);
    for (size_t t = 0; t < queries; t++) {
        size_t row = s->p->n;
        for (size_t i = 0; i < s->p->n; i++) {
            if (!s->taken[i] && (row == s->p->n || s->gain[i] > s->gain[row])) {
                row = i;
            }
        }
        rows[t] = row;
        s->taken[row] = true;
        if (f[row] - lowest > best) {
            best = f[row] - lowest;
            fill_gain(s, best);
        }
    }
}

tacet_status lab_floor_find(lab_floor *out, const lab_problem *p, const double *f, const double *Z, bool laplace,
                            double scale, size_t queries, tacet_error *err) {
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t i = 0; i < p->n; i++) {
        low = fmin(low, f[i]);
        high = fmax(high, f[i]);
    }
    const double lowest = high - NEAR * (high - low);
    floor_state s = {.p = p, .Z = Z, .laplace = laplace, .scale = scale};
    tacet_status status = TACET_OK;
    size_t *near = TACET__ZALLOC(size_t, p->n);
    for (size_t i = 0; near != NULL && i < p->n; i++) {
        if (f[i] >= lowest) {
            near[s.near++] = i;
        }
    }
    size_t cells = 0;
    s.excess = TACET__ZALLOC(double, s.near);
    s.weight = tacet__size_mul(&cells, s.near, p->n) ? TACET__ZALLOC(double, cells) : NULL;
    s.gain = TACET__ZALLOC(double, p->n);
    s.sorted = TACET__ZALLOC(double, p->n);
    s.taken = TACET__ZALLOC(bool, p->n);
    if (near == NULL || s.excess == NULL || s.weight == NULL || s.gain == NULL || s.sorted == NULL || s.taken == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records near the top", s.near);
        goto done;
    }
    for (size_t k = 0; k < s.near; k++) {
        s.excess[k] = f[near[k]] - lowest;
    }
    fill_weights(&s, near);
    out->bound = fmax(0, high - lowest - bound_excess(&s, high - lowest, queries));
    choose_rows(&s, out->rows, f, lowest, queries);
done:
    free(near);
    free(s.excess);
    free(s.weight);
    free(s.gain);
    free(s.sorted);
    free(s.taken);
    return status;
}
