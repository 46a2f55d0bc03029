/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_design.c - phased elimination over a finite public list of arms.
 * Ring: open. Source: Lattimore, Szepesvári, Weisz (ICML 2020), phased elimination with G-optimal designs; Kiefer,
 * Wolfowitz (1960); Frank-Wolfe steps with the exact line search of Fedorov (1972). Differs: the noise of a release is
 * part of the width, and widths are those of the design that was really played, rounded as it is, so that nothing
 * rests on how near the optimum it is. Proof of the regret bound: README.md, (g). Cost: O(m (m^2 + n m)) a batch. */
#include "central/open/fixed_design.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double RIDGE = 1e-8;    /* of the design's matrix, of the arms' mean square */
static const double NEAR = 1.05;     /* a design whose largest leverage is within this of the least is good enough */
static const double KEPT = 1e-10;    /* eigenvalues below this share of the largest are not seen by the batch */
static const double OUTSIDE = 1e-8;  /* of an arm's square: more outside the span, and it is not estimated */
static const double ROUNDING = 1e-6; /* of an estimate: sums are multiples of 2^-30 */
enum { STEPS_PER_FEATURE = 10 };

tacet_status tacet__design_create(tacet__design **out, const double *Phi, size_t m, size_t n, double confidence,
                                  double misfit, tacet_error *err) {
    tacet__design *d = TACET__ZALLOC(tacet__design, 1);
    size_t square = 0;
    *out = NULL;
    if (d == NULL || !tacet__size_mul(&square, m, m)) {
        free(d);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a design over %zu arms", n);
    }
    *d = (tacet__design){.m = m, .n = n, .Phi = Phi, .confidence = confidence, .misfit = misfit};
    d->live = TACET__ZALLOC(bool, n);
    d->V = TACET__ZALLOC(double, square);
    d->w = TACET__ZALLOC(double, m);
    d->root = TACET__ZALLOC(double, square);
    d->inverse = TACET__ZALLOC(double, square);
    d->q = TACET__ZALLOC(double, n);
    d->weight = TACET__ZALLOC(double, n);
    d->a = TACET__ZALLOC(double, m);
    d->at = TACET__ZALLOC(double, n);
    if (d->live == NULL || d->V == NULL || d->w == NULL || d->root == NULL || d->inverse == NULL || d->q == NULL ||
        d->weight == NULL || d->a == NULL || d->at == NULL) {
        tacet__design_free(d);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a design over %zu arms", n);
    }
    for (size_t x = 0; x < n; x++) {
        d->live[x] = true;
    }
    *out = d;
    return TACET_OK;
}

void tacet__design_free(tacet__design *d) {
    if (d == NULL) {
        return;
    }
    free(d->live);
    free(d->V);
    free(d->w);
    free(d->root);
    free(d->inverse);
    free(d->q);
    free(d->weight);
    free(d->a);
    free(d->at);
    free(d);
}

/* The arm left of largest leverage; the first of equals. */
static size_t longest_arm(const tacet__design *d) {
    size_t best = SIZE_MAX;
    for (size_t x = 0; x < d->n; x++) {
        if (d->live[x] && (best == SIZE_MAX || d->q[x] > d->q[best])) {
            best = x;
        }
    }
    return best;
}

/* The matrix becomes (1 - part) times itself plus add phi phi' of arm x: its inverse and all leverages follow. */
static void move_weight(tacet__design *d, size_t x, double part, double add) {
    const size_t m = d->m;
    const double keep = 1 - part;
    tacet__gemv(false, m, m, 1, d->inverse, m, d->Phi + x * m, 0, d->a);
    tacet__gemv(true, m, d->n, 1, d->Phi, m, d->a, 0, d->at);
    const double factor = add / keep / (1 + add / keep * d->q[x]);
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < m; i++) {
            d->inverse[i + j * m] = (d->inverse[i + j * m] - factor * d->a[i] * d->a[j]) / keep;
        }
    }
    for (size_t k = 0; k < d->n; k++) {
        d->q[k] = (d->q[k] - factor * d->at[k] * d->at[k]) / keep;
        d->weight[k] *= keep;
    }
    d->weight[x] += add;
}

/* Weights of the design: one arm for each direction first, then Frank-Wolfe steps towards the longest. */
static void find_weights(tacet__design *d) {
    const size_t m = d->m;
    double square = 0;
    size_t left = 0;
    for (size_t x = 0; x < d->n; x++) {
        d->weight[x] = 0;
        d->q[x] = tacet__dot(d->Phi + x * m, d->Phi + x * m, m);
        square += d->live[x] ? d->q[x] : 0;
        left += d->live[x] ? 1 : 0;
    }
    const double ridge = fmax(RIDGE * square / (double)left, 1e-300);
    memset(d->inverse, 0, m * m * sizeof *d->inverse);
    for (size_t i = 0; i < m; i++) {
        d->inverse[i * (m + 1)] = 1 / ridge;
    }
    for (size_t x = 0; x < d->n; x++) {
        d->q[x] /= ridge;
    }
    for (size_t i = 0; i < m; i++) { /* what lies outside the span so far is the longest by far */
        move_weight(d, longest_arm(d), 0, 1 / (double)m);
    }
    const double r = (double)(left < m ? left : m);
    for (size_t step = 0; step < STEPS_PER_FEATURE * m; step++) {
        const size_t x = longest_arm(d);
        if (!(d->q[x] > NEAR * r) || !(d->q[x] > 1)) {
            break;
        }
        const double part = (d->q[x] / r - 1) / (d->q[x] - 1);
        move_weight(d, x, part, part);
    }
}

void tacet__design_plan(tacet__design *d, size_t *arms, size_t count) {
    size_t planned = 0;
    find_weights(d);
    for (size_t x = 0; x < d->n; x++) { /* whole parts first */
        const size_t times = d->live[x] ? (size_t)(d->weight[x] * (double)count) : 0;
        for (size_t k = 0; k < times && planned < count; k++) {
            arms[planned++] = x;
        }
        d->at[x] = d->live[x] ? d->weight[x] * (double)count - (double)times : -1;
    }
    while (planned < count) { /* then the largest remainders, in turn */
        size_t best = SIZE_MAX;
        for (size_t x = 0; x < d->n; x++) {
            if (d->live[x] && (best == SIZE_MAX || d->at[x] > d->at[best])) {
                best = x;
            }
        }
        arms[planned++] = best;
        d->at[best] -= 1;
    }
}

tacet_status tacet__design_shape(tacet__design *d, double *A, const size_t *arms, size_t count, tacet_error *err) {
    const size_t m = d->m;
    memset(d->V, 0, m * m * sizeof *d->V);
    for (size_t i = 0; i < count; i++) {
        tacet__syrk(false, m, 1, 1 / (double)count, d->Phi + arms[i] * m, m, 1, d->V, m);
    }
    const tacet_status status = tacet__eigh(d->V, m, m, d->w, err);
    if (status != TACET_OK) {
        return status;
    }
    for (size_t j = 0; j < m; j++) { /* inverse: V w^-1/2, for a while */
        const double r = d->w[j] > KEPT * d->w[m - 1] ? 1 / sqrt(d->w[j]) : 0;
        for (size_t i = 0; i < m; i++) {
            d->inverse[i + j * m] = r * d->V[i + j * m];
        }
    }
    tacet__gemm(false, true, m, m, m, 1, d->inverse, m, d->V, m, 0, d->root, m);
    d->kappa = 0;
    for (size_t i = 0; i < count; i++) {
        tacet__gemv(false, m, m, 1, d->root, m, d->Phi + arms[i] * m, 0, d->a);
        d->kappa = fmax(d->kappa, tacet__norm2(d->a, m));
    }
    d->kappa = fmax(d->kappa, 1e-300);
    d->count = count;
    for (size_t i = 0; i < m * m; i++) {
        A[i] = d->root[i] / d->kappa;
    }
    return TACET_OK;
}

/* Width of arm x after the batch; d->a is left as S^-1/2 phi. */
static double width_of(tacet__design *d, size_t x, double noise_var, uint64_t batch) {
    const size_t m = d->m;
    const double n = (double)d->count, pi2 = acos(-1) * acos(-1), k = (double)batch;
    const double *phi = d->Phi + x * m;
    const double square = tacet__dot(phi, phi, m);
    double seen = 0;
    tacet__gemv(true, m, m, 1, d->V, m, phi, 0, d->a);
    for (size_t j = 0; j < m; j++) {
        seen += d->w[j] > KEPT * d->w[m - 1] ? d->a[j] * d->a[j] : 0;
    }
    tacet__gemv(false, m, m, 1, d->root, m, phi, 0, d->a);
    if (square - seen > OUTSIDE * square) {
        return INFINITY;
    }
    const double q = tacet__dot(d->a, d->a, m);
    /* delta_k = 6 delta/(pi^2 k^2) over all batches, and over all arms */
    const double L = sqrt(2 * log(2 * (double)d->n * pi2 * k * k / (6 * d->confidence)));
    return L * sqrt(q * (0.25 / n + d->kappa * d->kappa * noise_var / (n * n))) + d->misfit * (1 + sqrt(q)) + ROUNDING;
}

void tacet__design_drop(tacet__design *d, const double *u, double noise_var, uint64_t batch) {
    double most = -INFINITY;
    for (size_t x = 0; x < d->n; x++) {
        if (!d->live[x]) {
            continue;
        }
        const double half = width_of(d, x, noise_var, batch);
        const double mean = d->kappa / (double)d->count * tacet__dot(d->a, u, d->m);
        d->q[x] = mean + half;
        most = isfinite(half) ? fmax(most, mean - half) : most;
    }
    for (size_t x = 0; x < d->n; x++) {
        d->live[x] = d->live[x] && !(d->q[x] < most);
    }
}
