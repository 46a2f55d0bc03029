/* SPDX-License-Identifier: Apache-2.0 */
/* belief.c - learning a function's weights from noisy clipped sums, whatever law their records had.
 * Ring: shared; functions of public numbers and of releases. Source: README.md, "Parts". A release of n
 * records is v = sum omega r u / sqrt n + noise, u = R^-1 phi, Z = E phi phi' + ratio I = R R'. So b = sqrt n R v has
 * mean n H (theta* - theta), H = E omega phi phi', and covariance n s^2 S + sg^2 n Z. Where the law was measured, not
 * given, n^2 dL P dL' is added for other laws it may have been; and the size of P follows the data (a), so that a
 * belief that was too small by orders of magnitude is mended by the first release. None of it enters the proof of
 * privacy. Z need not be diagonal, and fewer features may be released than are believed in. Cost: O(m M N + M^3) a form
 * tried, some twenty of them a choice. */
#include "contextual/shared/belief.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 13, RATIOS = 9, SLACKS = 5, SCALES = 20 };
static const size_t SIZE[SIZES] = {4, 5, 6, 8, 10, 13, 17, 22, 29, 38, 50, 64, TACET__BELIEF_FEATURES_MOST};
static const double SLACK[SLACKS] = {0.5, 0.7, 1.0, 1.4, 2.0};

static double ratio_of(size_t i) {
    return pow(10, -0.5 * (double)(i + 1)); /* 0.3 … 3e-5 */
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

tacet_status tacet__belief_init(tacet__belief *b, size_t M, size_t N, tacet_error *err) {
    *b = (tacet__belief){.M = M, .N = N};
    b->phi = TACET__ALIGNED(double, M *N);
    b->theta = TACET__ZALLOC(double, M);
    b->P = TACET__ZALLOC(double, M *M);
    b->L = TACET__ZALLOC(double, M *M);
    b->U = TACET__ZALLOC(double, M *M);
    b->A = TACET__ALIGNED(double, M *M);
    b->B = TACET__ALIGNED(double, M *M);
    b->C = TACET__ALIGNED(double, M *M);
    b->wide = TACET__ALIGNED(double, M *N);
    b->tall = TACET__ALIGNED(double, M *N);
    if (b->phi == NULL || b->theta == NULL || b->P == NULL || b->L == NULL || b->U == NULL || b->A == NULL ||
        b->B == NULL || b->C == NULL || b->wide == NULL || b->tall == NULL) {
        tacet__belief_clear(b);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features at %zu nodes", M, N);
    }
    return TACET_OK;
}

void tacet__belief_clear(tacet__belief *b) {
    free(b->phi);
    free(b->theta);
    free(b->P);
    free(b->L);
    free(b->U);
    free(b->A);
    free(b->B);
    free(b->C);
    free(b->wide);
    free(b->tall);
    memset(b, 0, sizeof *b);
}

void tacet__belief_form_restart(tacet__belief_form *f) {
    static const size_t MIDDLE[3] = {6, 4, 2};
    memcpy(f->at, MIDDLE, sizeof f->at);
}

tacet_status tacet__belief_form_init(tacet__belief_form *f, size_t M, size_t N, tacet_error *err) {
    *f = (tacet__belief_form){0};
    tacet__belief_form_restart(f);
    f->R = TACET__ALIGNED(double, M *M);
    f->H = TACET__ALIGNED(double, M *M);
    f->S = TACET__ALIGNED(double, M *M);
    f->omega = TACET__ZALLOC(double, N);
    if (f->R == NULL || f->H == NULL || f->S == NULL || f->omega == NULL) {
        tacet__belief_form_clear(f);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a release of %zu features", M);
    }
    return TACET_OK;
}

void tacet__belief_form_clear(tacet__belief_form *f) {
    free(f->R);
    free(f->H);
    free(f->S);
    free(f->omega);
    memset(f, 0, sizeof *f);
}

/* --- sums over the nodes ----------------------------------------------------------------------------------------- */

/* out (m x M) = sum over nodes of weight phi phi', the leading m rows. */
static void weighted(const tacet__belief *b, double *out, size_t m, const double *weight) {
    for (size_t k = 0; k < b->N; k++) {
        for (size_t i = 0; i < m; i++) {
            b->tall[k * m + i] = weight[k] * b->phi[k * b->M + i];
        }
    }
    tacet__gemm(false, true, m, b->M, b->N, 1, b->tall, m, b->phi, b->M, 0, out, m);
}

void tacet__belief_gram(const tacet__belief *b, double *out, const double *q) {
    weighted(b, out, b->M, q);
}

double tacet__belief_risk(const tacet__belief *b, const double *gram) {
    return b->tail + tacet__dot(gram, b->P, b->M * b->M);
}

/* --- the form ---------------------------------------------------------------------------------------------------- */

/* R, omega, clip, H and S for (m, ratio, slack). */
static tacet_status shape(tacet__belief *b, tacet__belief_form *f, const tacet__belief_case *c, tacet_error *err) {
    const size_t m = f->m;
    const double *q = c->q;
    double d_eff = 0;
    for (size_t j = 0; j < m; j++) {
        memcpy(f->R + j * m, b->L + j * b->M, m * sizeof *f->R);
        f->R[j * m + j] += f->ratio;
    }
    tacet_status status = tacet__cholesky(f->R, m, m, NULL, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    for (size_t k = 0; k < b->N; k++) {
        memcpy(b->wide + k * m, b->phi + k * b->M, m * sizeof *b->wide);
    }
    tacet__trsm(false, m, b->N, f->R, m, b->wide, m);
    for (size_t k = 0; k < b->N; k++) {
        const double reach = c->reach != NULL ? c->reach[k] : 1;
        const double norm2 = tacet__dot(b->wide + k * m, b->wide + k * m, m) * reach * reach;
        f->omega[k] = norm2;
        d_eff += q[k] * norm2;
    }
    f->clip = f->slack * sqrt(d_eff);
    double *weight = b->wide; /* N numbers of it */
    for (size_t k = 0; k < b->N; k++) {
        f->omega[k] = f->omega[k] > f->clip * f->clip ? f->clip / sqrt(f->omega[k]) : 1;
        weight[k] = q[k] * f->omega[k];
    }
    weighted(b, f->H, m, weight);
    for (size_t k = 0; k < b->N; k++) {
        weight[k] *= f->omega[k];
    }
    for (size_t k = 0; k < b->N; k++) {
        for (size_t i = 0; i < m; i++) {
            b->tall[k * m + i] = sqrt(weight[k]) * b->phi[k * b->M + i];
        }
    }
    tacet__syrk(false, m, b->N, 1, b->tall, m, 0, f->S, m);
    tacet__symmetrize(f->S, m, m);
    return TACET_OK;
}

/* out (m x m) = n s^2 S + sg^2 n Z. */
static void error_covariance(const tacet__belief *b, const tacet__belief_form *f, const tacet__belief_case *c,
                             double noise_sd, double *out) {
    const size_t m = f->m;
    const double noise = c->n * noise_sd * noise_sd;
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < m; i++) {
            out[j * m + i] = c->n * c->residual_var * f->S[j * m + i] + noise * b->L[j * b->M + i];
        }
        out[j * m + j] += noise * f->ratio;
    }
}

/* HP (m x M, in A) = n H P, and C (m x m) += HP n H'. */
static void signal_covariance(const tacet__belief *b, const double *H, size_t m, double n, double *HP, double *C) {
    tacet__gemm(false, false, m, b->M, b->M, n, H, m, b->P, b->M, 0, HP, m);
    tacet__gemm(false, true, m, m, b->M, n, HP, m, H, m, 1, C, m);
}

static tacet_status predict(tacet__belief *b, tacet__belief_form *f, const tacet__belief_case *c, tacet_error *err) {
    const size_t m = f->m;
    const size_t M = b->M;
    tacet_status status = shape(b, f, c, err);
    if (status != TACET_OK) {
        return status;
    }
    const double growth = c->grows ? sqrt(((double)m + 1) / 2) : 1;
    const double noise_sd = c->unit_sd * growth * 2 * c->bound * f->clip / sqrt(c->n);
    error_covariance(b, f, c, noise_sd, b->C);
    signal_covariance(b, f->H, m, c->n, b->A, b->C);
    status = tacet__cholesky(b->C, m, m, b->B, NULL, err); /* jitter: where noise is all but nothing */
    if (status != TACET_OK) {
        return status;
    }
    tacet__trsm(false, m, M, b->C, m, b->A, m);
    /* tr U (P - A'A) */
    tacet__gemm(false, false, m, M, M, 1, b->A, m, b->U, M, 0, b->B, m);
    f->risk = b->tail + tacet__dot(b->U, b->P, M * M) - tacet__dot(b->A, b->B, m * M);
    return TACET_OK;
}

static tacet_status try_form(tacet__belief *b, tacet__belief_form *f, const tacet__belief_case *c, const size_t at[3],
                             tacet_error *err) {
    const size_t least = c->features_least < b->M ? c->features_least : b->M;
    f->m = SIZE[at[0]] < b->M ? SIZE[at[0]] : b->M;
    f->m = f->m > least ? f->m : least;
    f->ratio = ratio_of(at[1]);
    f->slack = SLACK[at[2]];
    return predict(b, f, c, err);
}

tacet_status tacet__belief_choose(tacet__belief *b, tacet__belief_form *f, const tacet__belief_case *c,
                                  tacet_error *err) {
    static const int STEP[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    static const size_t END[3] = {SIZES, RATIOS, SLACKS};
    bool seen[SIZES][RATIOS][SLACKS] = {{{false}}};
    size_t best[3];
    memcpy(best, f->at, sizeof best);
    tacet__belief_gram(b, b->L, c->q);
    while (best[0] > 0 && SIZE[best[0] - 1] >= b->M) {
        best[0]--;
    }
    tacet_status status = try_form(b, f, c, best, err);
    double least = f->risk;
    for (bool moved = true; moved && status == TACET_OK;) {
        moved = false;
        for (size_t step = 0; step < 6 && !moved && status == TACET_OK; step++) {
            size_t at[3];
            bool inside = true;
            for (size_t i = 0; i < 3; i++) {
                at[i] = best[i] + (size_t)STEP[step][i]; /* below zero wraps around, and is caught */
                inside = inside && at[i] < END[i];
            }
            if (!inside || (at[0] > best[0] && SIZE[best[0]] >= b->M) || seen[at[0]][at[1]][at[2]]) {
                continue;
            }
            seen[at[0]][at[1]][at[2]] = true;
            status = try_form(b, f, c, at, err);
            if (status == TACET_OK && f->risk < least * (1 - 1e-6)) {
                least = f->risk;
                memcpy(best, at, sizeof best);
                moved = true;
            }
        }
    }
    memcpy(f->at, best, sizeof best);
    return status == TACET_OK ? try_form(b, f, c, best, err) : status;
}

/* --- learning ---------------------------------------------------------------------------------------------------- */

/* Sig (m x m) += mean over other laws of n^2 dL P dL', dL = sum (q_k - q) omega phi phi'. */
static void add_laws(tacet__belief *b, const tacet__belief_form *f, const tacet__belief_case *c, const double *laws,
                     size_t count, double *Sig, double *weight, double *dL) {
    for (size_t k = 0; k < count; k++) {
        for (size_t j = 0; j < b->N; j++) {
            weight[j] = (laws[k * b->N + j] - c->q[j]) * f->omega[j];
        }
        weighted(b, dL, f->m, weight);
        signal_covariance(b, dL, f->m, c->n / sqrt((double)count), b->A, Sig);
    }
}

/* The a of largest posterior density: z_i has variance a d_i + 1. */
static double fit_scale(const double *d, const double *z, size_t m, const tacet__belief_scaling *s) {
    double best = 1;
    double most = -INFINITY;
    for (size_t i = 0; i < SCALES; i++) {
        const double a = pow(4, -3 + 0.5 * (double)i); /* 1/64 … 8192 */
        if (a < s->least * (1 - 1e-9)) {
            continue;
        }
        double value = -0.5 * log(a) * log(a) / (s->width * s->width);
        for (size_t j = 0; j < m; j++) {
            const double var = a * fmax(d[j], 0) + 1;
            value -= 0.5 * (log(var) + z[j] * z[j] / var);
        }
        if (value > most) {
            most = value;
            best = a;
        }
    }
    return best;
}

/* Everything of a step of learning that needs its own room. */
typedef struct step {
    double *Sig, *C, *D, *b, *z, *d, *weight, *dL;
} step;

static tacet_status step_init(step *s, size_t m, size_t M, size_t N, tacet_error *err) {
    s->Sig = TACET__ZALLOC(double, m *m);
    s->C = TACET__ZALLOC(double, m *m);
    s->D = TACET__ZALLOC(double, m *m);
    s->b = TACET__ZALLOC(double, m);
    s->z = TACET__ZALLOC(double, m);
    s->d = TACET__ZALLOC(double, m);
    s->weight = TACET__ZALLOC(double, N);
    s->dL = TACET__ZALLOC(double, m *M);
    return s->Sig == NULL || s->C == NULL || s->D == NULL || s->b == NULL || s->z == NULL || s->d == NULL ||
                   s->weight == NULL || s->dL == NULL
               ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features", m)
               : TACET_OK;
}

static void step_clear(step *s) {
    free(s->Sig);
    free(s->C);
    free(s->D);
    free(s->b);
    free(s->z);
    free(s->d);
    free(s->weight);
    free(s->dL);
}

/* In the coordinates in which the error is white (C C' = N) and the signal diagonal: its variances d and what was seen,
 * z. */
static tacet_status whiten(step *s, size_t m, tacet_error *err) {
    tacet_status status = tacet__cholesky(s->C, m, m, s->D, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    memcpy(s->D, s->Sig, m * m * sizeof *s->D);
    tacet__trsm(false, m, m, s->C, m, s->D, m);
    for (size_t j = 0; j < m; j++) { /* the transpose of C^-1 Sig */
        for (size_t i = 0; i < j; i++) {
            const double keep = s->D[j * m + i];
            s->D[j * m + i] = s->D[i * m + j];
            s->D[i * m + j] = keep;
        }
    }
    tacet__trsm(false, m, m, s->C, m, s->D, m);
    memcpy(s->weight, s->b, m * sizeof *s->b);
    tacet__trsv(false, m, s->C, m, s->weight);
    status = tacet__eigh(s->D, m, m, s->d, err);
    if (status == TACET_OK) {
        tacet__gemv(true, m, m, 1, s->D, m, s->weight, 0, s->z);
    }
    return status;
}

tacet_status tacet__belief_learn(tacet__belief *b, const tacet__belief_form *f, const tacet__belief_case *c,
                                 const double *v, double noise_sd, const double *laws, size_t count,
                                 const tacet__belief_scaling *scaling, tacet_error *err) {
    const size_t m = f->m;
    const size_t M = b->M;
    step s = {0};
    tacet_status status = step_init(&s, m, M, b->N > m ? b->N : m, err);
    if (status != TACET_OK) {
        goto done;
    }
    for (size_t j = 0; j < m; j++) {
        for (size_t i = j; i < m; i++) {
            s.b[i] += sqrt(c->n) * f->R[j * m + i] * v[j];
        }
    }
    error_covariance(b, f, c, noise_sd, s.C);
    if (laws != NULL) {
        add_laws(b, f, c, laws, count, s.Sig, s.weight, s.dL);
    }
    signal_covariance(b, f->H, m, c->n, b->A, s.Sig);
    memcpy(b->C, s.C, m * m * sizeof *s.C);
    status = whiten(&s, m, err);
    if (status != TACET_OK) {
        goto done;
    }
    const double a = fit_scale(s.d, s.z, m, scaling);
    /* (a Sig + N)^-1 by Cholesky; A = a n H P. */
    for (size_t i = 0; i < m * m; i++) {
        b->C[i] += a * s.Sig[i];
    }
    for (size_t i = 0; i < M * M; i++) {
        b->P[i] *= a;
    }
    b->tail *= a;
    status = tacet__cholesky(b->C, m, m, b->B, NULL, err); /* jitter: where noise is all but nothing */
    if (status != TACET_OK) {
        goto done;
    }
    tacet__gemm(false, false, m, M, M, c->n, f->H, m, b->P, M, 0, b->A, m);
    tacet__trsm(false, m, M, b->C, m, b->A, m);
    tacet__trsv(false, m, b->C, m, s.b);
    tacet__gemv(true, m, M, 1, b->A, m, s.b, 1, b->theta);
    tacet__syrk(true, M, m, -1, b->A, m, 1, b->P, M);
    tacet__symmetrize(b->P, M, M);
done:
    step_clear(&s);
    return status;
}
