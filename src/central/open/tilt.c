/* SPDX-License-Identifier: Apache-2.0 */
/* tilt.c - one model of where rounds were played and of what they returned, fitted to the released sums.
 * Ring: open; post-processing of what was released. Source: ours; the log-density of play is a Gaussian process around
 * a guess (Leonard 1978, density estimation by logistic Gaussian processes), the reward's logit another; Gauss-Newton
 * and Laplace's approximation. With w_j = t g_j exp(phi_j'a)/Z and f_j = 1/(1 + exp(-theta_0 - phi_j'theta)) on a grid,
 *     R = [sum w f phi; sum w (1 - f) phi] + N(0, s^2 I + the sums' own sampling covariance).
 * The uncertainty of the law of play is in the posterior of theta: nothing is decoded first and then taken for exact.
 * README.md, "Tilt". Cost: at most 7 times O(points r (r + m) + (r + m)^3) a release; O(m^2) a point. */
#include "central/open/tilt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

enum { STEPS = 6, HALVINGS = 12 };
static const double MOVE_MOST = 3;    /* of a log-density or a logit at a grid point, in one step */
static const double TOLERANCE = 1e-5; /* of the objective: far below what its noise can tell */

struct tacet__tilt {
    const double *Phi;     /* borrowed: m x n */
    size_t ld, m, r, n, p; /* p = r + 1 + m unknowns */
    tacet__tilt_prior prior;
    /* state */
    double *x;   /* p: the tilt's r coefficients, then the level and the reward's m */
    double *cov; /* (1 + m)^2, both triangles: of the level and the reward's coefficients */
    /* scratch */
    double *trial, *step, *read; /* p */
    double *w, *f;               /* n: of the point last looked at */
    double *weight;              /* n */
    double *scaled;              /* m x n */
    double *h, *e;               /* 2r */
    double *mean;                /* r */
    double *L1, *L2;             /* r x r */
    double *J;                   /* 2r x p */
    double *H;                   /* p x p */
    double *read_cov;            /* (1 + m)^2 */
    double *move;                /* n */
    double *half;                /* (1 + m) x BATCH */
};

static bool allocate(tacet__tilt *t) {
    const size_t q = t->m + 1;
    const tacet__array arrays[] = {{&t->x, t->p, 1},
                                   {&t->cov, q, q},
                                   {&t->trial, t->p, 1},
                                   {&t->step, t->p, 1},
                                   {&t->read, t->p, 1},
                                   {&t->w, t->n, 1},
                                   {&t->f, t->n, 1},
                                   {&t->weight, t->n, 1},
                                   {&t->scaled, t->m, t->n},
                                   {&t->h, t->r, 2},
                                   {&t->e, t->r, 2},
                                   {&t->mean, t->r, 1},
                                   {&t->L1, t->r, t->r},
                                   {&t->L2, t->r, t->r},
                                   {&t->J, 2 * t->r, t->p},
                                   {&t->H, t->p, t->p},
                                   {&t->read_cov, q, q},
                                   {&t->move, t->n, 1},
                                   {&t->half, q, TACET__TILT_BATCH}};
    return tacet__zalloc_arrays(arrays, sizeof arrays / sizeof arrays[0]);
}

tacet_status tacet__tilt_create(tacet__tilt **out, const double *Phi, size_t ld, size_t features, size_t released,
                                size_t points, const tacet__tilt_prior *prior, tacet_error *err) {
    *out = NULL;
    tacet__tilt *t = TACET__ZALLOC(tacet__tilt, 1);
    if (t == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner");
    }
    t->Phi = Phi;
    t->ld = ld;
    t->m = features;
    t->r = released;
    t->n = points;
    t->p = released + 1 + features;
    t->prior = *prior;
    if (!allocate(t)) {
        tacet__tilt_free(t);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner of %zu features", features);
    }
    t->x[t->r] = prior->level;
    t->cov[0] = prior->level_var;
    for (size_t i = 1; i <= t->m; i++) {
        t->cov[i * (t->m + 2)] = prior->reward_var;
    }
    *out = t;
    return TACET_OK;
}

void tacet__tilt_free(tacet__tilt *t) {
    if (t == NULL) {
        return;
    }
    double *arrays[] = {t->x, t->cov,  t->trial, t->step, t->read, t->w, t->f,        t->weight, t->scaled, t->h,
                        t->e, t->mean, t->L1,    t->L2,   t->J,    t->H, t->read_cov, t->move,   t->half};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    free(t);
}

static double prior_var(const tacet__tilt *t, size_t i) {
    return i < t->r ? t->prior.tilt_var : i == t->r ? t->prior.level_var : t->prior.reward_var;
}

static double prior_mean(const tacet__tilt *t, size_t i) {
    return i == t->r ? t->prior.level : 0;
}

/* Law of play, rewards and expected sums at the unknowns x: w, f, h. */
static void expect(tacet__tilt *t, const double *x, const double *guess, double total) {
    const size_t n = t->n, r = t->r;
    double top = -INFINITY, Z = 0;
    tacet__gemv(true, r, n, 1, t->Phi, t->ld, x, 0, t->w);
    tacet__gemv(true, t->m, n, 1, t->Phi, t->ld, x + r + 1, 0, t->f);
    for (size_t j = 0; j < n; j++) {
        top = guess[j] > 0 ? fmax(top, t->w[j]) : top;
    }
    for (size_t j = 0; j < n; j++) {
        t->w[j] = guess[j] > 0 ? guess[j] * exp(t->w[j] - top) : 0;
        Z += t->w[j];
        t->f[j] = 1 / (1 + exp(-(x[r] + t->f[j])));
    }
    for (size_t j = 0; j < n; j++) {
        t->w[j] *= total / Z;
        t->weight[j] = t->w[j] * t->f[j];
    }
    tacet__gemv(false, r, n, 1, t->Phi, t->ld, t->weight, 0, t->h);
    for (size_t j = 0; j < n; j++) {
        t->weight[j] = t->w[j] - t->weight[j];
    }
    tacet__gemv(false, r, n, 1, t->Phi, t->ld, t->weight, 0, t->h + r);
}

/* Rows of the moments sum_j weight_j phi_j phi_j' (r x columns, lower triangle too) into out. */
static void moments(tacet__tilt *t, double *out, size_t ldo, size_t columns) {
    for (size_t j = 0; j < t->n; j++) {
        for (size_t i = 0; i < columns; i++) {
            t->scaled[i + j * t->m] = t->weight[j] * t->Phi[i + j * t->ld];
        }
    }
    tacet__gemm(false, true, t->r, columns, t->n, 1, t->Phi, t->ld, t->scaled, t->m, 0, out, ldo);
}

/* One half of the sums: its covariance factored into L, its derivatives into the rows `at` … of J. */
static tacet_status half_of(tacet__tilt *t, double *L, size_t at, double noise_var, tacet_error *err) {
    const size_t r = t->r, ldj = 2 * t->r;
    const bool first = at == 0;
    const double sign = first ? 1 : -1; /* what rewards gain, the others lose */
    for (size_t j = 0; j < t->n; j++) {
        t->weight[j] = t->w[j] * (first ? t->f[j] : 1 - t->f[j]);
    }
    moments(t, L, r, r);
    for (size_t j = 0; j < r; j++) {
        for (size_t i = 0; i < r; i++) {
            t->J[at + i + j * ldj] = L[i + j * r] - t->h[at + i] * t->mean[j];
        }
    }
    for (size_t i = 0; i < r; i++) {
        L[i * (r + 1)] += noise_var;
    }
    for (size_t j = 0; j < t->n; j++) {
        t->weight[j] = sign * t->w[j] * t->f[j] * (1 - t->f[j]);
    }
    tacet__gemv(false, r, t->n, 1, t->Phi, t->ld, t->weight, 0, t->J + at + r * ldj);
    moments(t, t->J + at + (r + 1) * ldj, ldj, t->m);
    return tacet__cholesky(L, r, r, NULL, NULL, err);
}

/* Residual of the sums at what expect() left, whitened by the factors in hand; half its square and the prior's. */
static double objective(tacet__tilt *t, const double *x, const double *sums) {
    const size_t r = t->r;
    for (size_t i = 0; i < 2 * r; i++) {
        t->e[i] = sums[i] - t->h[i];
    }
    tacet__trsv(false, r, t->L1, r, t->e);
    tacet__trsv(false, r, t->L2, r, t->e + r);
    double value = tacet__dot(t->e, t->e, 2 * r);
    for (size_t i = 0; i < t->p; i++) {
        const double off = x[i] - prior_mean(t, i);
        value += off * off / prior_var(t, i);
    }
    return 0.5 * value;
}

/* At x: covariance of the sums, Jacobian, curvature factored into H, objective. The step is H^-1 times the descent. */
static tacet_status linearise(tacet__tilt *t, double *x, const double *sums, const double *guess, double total,
                              double noise_var, double *value, tacet_error *err) {
    const size_t r = t->r, p = t->p, ldj = 2 * r;
    expect(t, x, guess, total);
    for (size_t i = 0; i < r; i++) {
        t->mean[i] = (t->h[i] + t->h[r + i]) / total;
    }
    tacet_status status = half_of(t, t->L1, 0, noise_var, err);
    status = status != TACET_OK ? status : half_of(t, t->L2, r, noise_var, err);
    if (status != TACET_OK) {
        return status;
    }
    *value = objective(t, x, sums);
    tacet__trsm(false, r, p, t->L1, r, t->J, ldj);
    tacet__trsm(false, r, p, t->L2, r, t->J + r, ldj);
    tacet__gemv(true, ldj, p, 1, t->J, ldj, t->e, 0, t->step);
    tacet__syrk(true, p, ldj, 1, t->J, ldj, 0, t->H, p);
    for (size_t i = 0; i < p; i++) {
        t->H[i * (p + 1)] += 1 / prior_var(t, i);
        t->step[i] -= (x[i] - prior_mean(t, i)) / prior_var(t, i);
    }
    status = isfinite(*value) ? tacet__cholesky(t->H, p, p, NULL, NULL, err)
                              : tacet__fail(err, TACET_NUMERIC, "the released sums can't be explained: not finite");
    if (status == TACET_OK) {
        tacet__chol_solve(p, t->H, p, t->step);
    }
    return status;
}

/* How much of the step may be taken so that nothing moves by more than MOVE_MOST on the grid. */
static double reach(tacet__tilt *t) {
    double most = 0;
    tacet__gemv(true, t->r, t->n, 1, t->Phi, t->ld, t->step, 0, t->move);
    for (size_t j = 0; j < t->n; j++) {
        most = fmax(most, fabs(t->move[j]));
    }
    tacet__gemv(true, t->m, t->n, 1, t->Phi, t->ld, t->step + t->r + 1, 0, t->move);
    for (size_t j = 0; j < t->n; j++) {
        most = fmax(most, fabs(t->move[j] + t->step[t->r]));
    }
    return most > MOVE_MOST ? MOVE_MOST / most : 1;
}

/* Moves t->trial along the step; false when nothing better lies there. */
static bool descend(tacet__tilt *t, const double *sums, const double *guess, double total, double value) {
    const size_t p = t->p;
    double length = reach(t);
    memcpy(t->read, t->trial, p * sizeof(double));
    for (int k = 0; k < HALVINGS; k++, length *= 0.5) { /* NOLINT(cert-flp30-c): k counts */
        for (size_t i = 0; i < p; i++) {
            t->trial[i] = t->read[i] + length * t->step[i];
        }
        expect(t, t->trial, guess, total);
        const double next = objective(t, t->trial, sums);
        if (next < value) {
            return value - next > TOLERANCE * (1 + fabs(next));
        }
    }
    memcpy(t->trial, t->read, p * sizeof(double));
    return false;
}

tacet_status tacet__tilt_fit(tacet__tilt *t, const double *sums, const double *guess, double total, double noise_var,
                             tacet_error *err) {
    const size_t p = t->p, q = t->m + 1;
    double value = 0;
    memcpy(t->trial, t->x, p * sizeof(double));
    bool moving = true;
    for (int k = 0; k <= STEPS; k++) {
        tacet_status status = linearise(t, t->trial, sums, guess, total, noise_var, &value, err);
        if (status != TACET_OK) {
            return status;
        }
        if (k == STEPS || !moving) {
            break;
        }
        moving = descend(t, sums, guess, total, value);
    }
    /* H holds the factor of the curvature at the end */
    tacet_status status = tacet__chol_inverse(p, t->H, p, err);
    for (size_t i = 0; status == TACET_OK && i < p; i++) {
        status = isfinite(t->trial[i]) && isfinite(t->H[i * (p + 1)])
                     ? TACET_OK
                     : tacet__fail(err, TACET_NUMERIC, "the released sums can't be explained: not finite");
    }
    if (status != TACET_OK) {
        return status;
    }
    memcpy(t->x, t->trial, p * sizeof(double));
    for (size_t j = 0; j < q; j++) {
        memcpy(t->cov + j * q, t->H + t->r + (t->r + j) * p, q * sizeof(double));
    }
    return TACET_OK;
}

void tacet__tilt_logit(tacet__tilt *t, double *mean, double *var, const double *phi, size_t ld, size_t n) {
    const size_t m = t->m, q = m + 1;
    const double *theta = t->x + t->r;
    tacet__gemv(true, m, n, 1, phi, ld, theta + 1, 0, mean);
    tacet__gemm(false, false, q, n, m, 1, t->cov + q, q, phi, ld, 0, t->half, q);
    for (size_t j = 0; j < n; j++) {
        const double *half = t->half + j * q;
        mean[j] += theta[0];
        /* psi'C psi with psi = (1, phi): C_00 + 2 phi'C_0 + phi'C phi; half is C times (0, phi) */
        var[j] = fmax(0, t->cov[0] + 2 * half[0] + tacet__dot(half + 1, phi + j * ld, m));
    }
}

const double *tacet__tilt_theta(const tacet__tilt *t) {
    return t->x + t->r;
}

void tacet__tilt_write(const tacet__tilt *t, tacet__writer *w) {
    tacet__write_f64s(w, t->x, t->p);
    tacet__write_f64s(w, t->cov, (t->m + 1) * (t->m + 1));
}

void tacet__tilt_read(tacet__tilt *t, tacet__reader *r) {
    const size_t q = t->m + 1;
    tacet__read_f64s(r, t->read, t->p);
    tacet__read_f64s(r, t->read_cov, q * q);
    for (size_t i = 0; i < t->p && !r->failed; i++) {
        r->failed = !isfinite(t->read[i]);
    }
    for (size_t i = 0; i < q * q && !r->failed; i++) {
        r->failed = !isfinite(t->read_cov[i]);
    }
}

void tacet__tilt_take(tacet__tilt *t) {
    memcpy(t->x, t->read, t->p * sizeof(double));
    memcpy(t->cov, t->read_cov, (t->m + 1) * (t->m + 1) * sizeof(double));
}
