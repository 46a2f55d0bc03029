/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - the non-negative measure that best explains a noisy vector of its moments.
 * Ring: open; post-processing of what was released. Source: maximum entropy on the mean (Csiszár 1991), solved in its
 * dual: w_j = total g_j exp(phi_j'v / tau) / Z(v), v maximizes the concave
 *     v'R - s2 |v|^2 / 2 - tau total ln Z(v)
 * in r unknowns, whatever the number of grid points. Damped Newton; the curvature is at least s2, so a step is always a
 * direction of ascent. Cost: some ten steps of O(points r^2 + r^3). */
#include "contextual/open/measure.h"

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
    size_t r, points;
    double *v, *trial, *step, *mean; /* r each */
    double *exponent;                /* points */
    double *scaled;                  /* r x points */
    double *H;                       /* r^2 */
};

tacet_status tacet__measure_create(tacet__measure **out, const double *Phi, size_t r, size_t points, tacet_error *err) {
    *out = NULL;
    tacet__measure *m = TACET__ZALLOC(tacet__measure, 1);
    if (m == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a measure");
    }
    m->Phi = Phi;
    m->r = r;
    m->points = points;
    const tacet__array arrays[] = {{&m->v, r, 1},    {&m->trial, r, 1},         {&m->step, r, 1},
                                   {&m->mean, r, 1}, {&m->exponent, points, 1}, {&m->scaled, r, points},
                                   {&m->H, r, r}};
    if (!tacet__zalloc_arrays(arrays, sizeof arrays / sizeof arrays[0])) {
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
    const size_t r = m->r, n = m->points;
    tacet__gemv(true, r, n, 1 / tau, m->Phi, r, m->trial, 0, m->exponent);
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
    return tacet__dot(m->trial, R, r) - 0.5 * s2 * tacet__dot(m->trial, m->trial, r) - tau * total * (log(Z) + top);
}

/* m->step = H^-1 gradient at v with weights w. */
static tacet_status newton(tacet__measure *m, const double *w, const double *R, double total, double s2, double tau,
                           tacet_error *err) {
    const size_t r = m->r;
    tacet__gemv(false, r, m->points, 1, m->Phi, r, w, 0, m->mean);
    for (size_t j = 0; j < m->points; j++) {
        const double q = sqrt(w[j] / tau);
        for (size_t i = 0; i < r; i++) {
            m->scaled[i + j * r] = q * m->Phi[i + j * r];
        }
    }
    tacet__syrk(false, r, m->points, 1, m->scaled, r, 0, m->H, r);
    for (size_t j = 0; j < r; j++) {
        for (size_t i = j; i < r; i++) {
            m->H[i + j * r] -= m->mean[i] * m->mean[j] / (tau * total);
        }
        m->H[j * (r + 1)] += s2;
        m->step[j] = R[j] - s2 * m->v[j] - m->mean[j];
    }
    tacet_status status = tacet__cholesky(m->H, r, r, NULL, NULL, err);
    if (status == TACET_OK) {
        tacet__chol_solve(r, m->H, r, m->step);
    }
    return status;
}

tacet_status tacet__measure_fit(tacet__measure *m, double *w, const double *R, const double *guess, double total,
                                double s2, double tau, tacet_error *err) {
    const size_t r = m->r, n = m->points;
    memset(m->v, 0, r * sizeof(double));
    memset(m->step, 0, r * sizeof(double));
    double best = -INFINITY, length = 1;
    for (size_t k = 0; k < NEWTON_STEPS; k++) {
        for (size_t i = 0; i < r; i++) {
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
        memcpy(m->v, m->trial, r * sizeof(double));
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
