/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - the non-negative measure that best explains a noisy vector of its moments.
 * Ring: open; post-processing of what was released. Source: maximum entropy on the mean (Csiszár 1991), solved in its
 * dual: w_j = total g_j exp(phi_j'v / tau) / Z(v), v maximizes the concave
 *     v'R - s2 |v|^2 / 2 - tau total ln Z(v)
 * in r x classes unknowns, whatever the number of grid points. Damped Newton; the curvature is at least s2, so a step
 * is always a direction of ascent. Cost: some ten steps of O(points r^2 classes + (r classes)^3). */
#include "central/open/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

enum { NEWTON_STEPS = 100 };
static const double TOLERANCE = 1e-9; /* of the objective, relative to 1 + itself */
static const double SMALLEST_STEP = 1e-8;

struct tacet__measure {
    const double *Phi;
    size_t ld, r, points, classes;
    double *v, *trial, *step, *mean; /* r x classes each */
    double *exponent;                /* points x classes */
    double *scaled;                  /* r x points */
    double *H;                       /* (r classes)^2 */
};

tacet_status tacet__measure_create(tacet__measure **out, const double *Phi, size_t ld, size_t r, size_t points,
                                   size_t classes, tacet_error *err) {
    *out = NULL;
    tacet__measure *m = TACET__ZALLOC(tacet__measure, 1);
    if (m == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a measure");
    }
    const size_t D = r * classes;
    m->Phi = Phi;
    m->ld = ld;
    m->r = r;
    m->points = points;
    m->classes = classes;
    m->v = TACET__ALIGNED(double, D);
    m->trial = TACET__ALIGNED(double, D);
    m->step = TACET__ALIGNED(double, D);
    m->mean = TACET__ALIGNED(double, D);
    m->exponent = TACET__ALIGNED(double, points *classes);
    m->scaled = TACET__ALIGNED(double, r *points);
    m->H = TACET__ALIGNED(double, D *D);
    if (m->v == NULL || m->trial == NULL || m->step == NULL || m->mean == NULL || m->exponent == NULL ||
        m->scaled == NULL || m->H == NULL) {
        tacet__measure_free(m);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a measure of %zu points", points);
    }
    *out = m;
    return TACET_OK;
}

void tacet__measure_free(tacet__measure *m) {
    if (m != NULL) {
        free(m->v);
        free(m->trial);
        free(m->step);
        free(m->mean);
        free(m->exponent);
        free(m->scaled);
        free(m->H);
        free(m);
    }
}

/* The dual objective at m->trial; m->exponent becomes the normalised weights. */
static double dual(tacet__measure *m, const double *R, const double *guess, double total, double s2, double tau) {
    const size_t D = m->r * m->classes, n = m->points * m->classes;
    for (size_t c = 0; c < m->classes; c++) {
        tacet__gemv(true, m->r, m->points, 1 / tau, m->Phi, m->ld, m->trial + c * m->r, 0, m->exponent + c * m->points);
    }
    double top = -INFINITY, Z = 0;
    for (size_t i = 0; i < n; i++) {
        if (guess[i] > 0) {
            top = fmax(top, m->exponent[i]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        m->exponent[i] = guess[i] > 0 ? guess[i] * exp(m->exponent[i] - top) : 0;
        Z += m->exponent[i];
    }
    if (!(Z > 0)) {
        return -(double)INFINITY; /* a guess of no mass has no dual value; never chosen */
    }
    for (size_t i = 0; i < n; i++) {
        m->exponent[i] /= Z;
    }
    return tacet__dot(m->trial, R, D) - 0.5 * s2 * tacet__dot(m->trial, m->trial, D) - tau * total * (log(Z) + top);
}

/* m->step = H^-1 gradient at v with weights w. */
static tacet_status newton(tacet__measure *m, const double *w, const double *R, double total, double s2, double tau,
                           tacet_error *err) {
    const size_t r = m->r, D = r * m->classes;
    memset(m->H, 0, D * D * sizeof(double));
    for (size_t c = 0; c < m->classes; c++) {
        const double *wc = w + c * m->points;
        tacet__gemv(false, r, m->points, 1, m->Phi, m->ld, wc, 0, m->mean + c * r);
        for (size_t j = 0; j < m->points; j++) {
            const double q = sqrt(wc[j] / tau);
            for (size_t i = 0; i < r; i++) {
                m->scaled[i + j * r] = q * m->Phi[i + j * m->ld];
            }
        }
        tacet__syrk(false, r, m->points, 1, m->scaled, r, 0, m->H + c * r * (D + 1), D);
    }
    for (size_t j = 0; j < D; j++) {
        for (size_t i = j; i < D; i++) {
            m->H[i + j * D] -= m->mean[i] * m->mean[j] / (tau * total);
        }
        m->H[j * (D + 1)] += s2;
        m->step[j] = R[j] - s2 * m->v[j] - m->mean[j];
    }
    tacet_status status = tacet__cholesky(m->H, D, D, NULL, NULL, err);
    if (status == TACET_OK) {
        tacet__chol_solve(D, m->H, D, m->step);
    }
    return status;
}

tacet_status tacet__measure_fit(tacet__measure *m, double *w, const double *R, const double *guess, double total,
                                double s2, double tau, tacet_error *err) {
    const size_t D = m->r * m->classes, n = m->points * m->classes;
    memset(m->v, 0, D * sizeof(double));
    memset(m->step, 0, D * sizeof(double));
    double best = -INFINITY, length = 1;
    for (size_t k = 0; k < NEWTON_STEPS; k++) {
        for (size_t i = 0; i < D; i++) {
            m->trial[i] = m->v[i] + length * m->step[i];
        }
        const double value = dual(m, R, guess, total, s2, tau);
        if (isnan(value)) {
            return tacet__fail(err, TACET_NUMERIC, "the released vector can't be decoded: not finite");
        }
        if (value < best) {
            length *= 0.5;
            if (length < SMALLEST_STEP) {
                return TACET_OK; /* no better point in the direction of ascent: at the optimum but for rounding */
            }
            continue;
        }
        const double gain = value - best;
        best = value;
        memcpy(m->v, m->trial, D * sizeof(double));
        for (size_t i = 0; i < n; i++) {
            w[i] = total * m->exponent[i];
        }
        if (k > 0 && gain <= TOLERANCE * (1 + fabs(best))) {
            return TACET_OK;
        }
        tacet_status status = newton(m, w, R, total, s2, tau, err);
        if (status != TACET_OK) {
            return status;
        }
        length = 1;
    }
    return TACET_OK; /* every step ascended: the best w so far is a measure all the same */
}
