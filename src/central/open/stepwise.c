/* SPDX-License-Identifier: Apache-2.0 */
/* stepwise.c - law of play and reward, learnt batch by batch from releases that are shaped for it.
 * Ring: open; post-processing of what was released. Source: ours; the model is tilt.c's: with w_j = g_j exp(phi_j'a)/Z
 * and f_j = 1/(1 + exp(-theta_0 - phi_j'theta)) on a grid, a batch's release of n rounds is
 *     u = n [sum w (f - 1/2) psi; play sum w zeta] + N(0, s^2 I + the sums' own sampling covariance),
 * psi and zeta maps into the unit ball that were chosen before the batch to tell most about theta and a (shape.c). The
 * Gaussian belief in (a, theta) after a batch is the prior of the next (Laplace's approximation, Gauss-Newton).
 * README.md, (f). Cost: a plan O(points m^2 + m^3); an update at most 8 times O(points k m + m^3), k numbers. */
#include "central/open/stepwise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

enum { STEPS = 8, HALVINGS = 12 };
static const double MOVE_MOST = 3;     /* of a log-density or a logit at a grid point, in one step */
static const double TOLERANCE = 1e-5;  /* of the objective */
static const double SHORT = 0.3;       /* vectors of at least this length, where 1 is usual, become unit vectors */
static const double REWARD_VAR = 0.25; /* of v at most */
static const double PLAY_MOST = 0.5;
enum { PLAY_SIZE = 6 }; /* numbers for which the noise decides how much to tell about the law of play */

struct tacet__stepwise {
    const double *Phi;        /* borrowed: m x n */
    size_t ld, m, r, n, q, p; /* q = 1 + m, p = r + q unknowns */
    /* state */
    double *x; /* p: the tilt's r coefficients, then the level and the reward's m */
    double *P; /* p x p, both triangles: their covariance */
    /* the batch */
    size_t k, kz;
    double play;
    double *B, *Z; /* q x q, q x q: k and kz rows of maps of (1, phi) */
    /* scratch */
    double *psi1;                       /* q x n: (1, phi) */
    double *psi, *zeta;                 /* q x n: the maps at the grid, k and kz rows, ld q */
    double *w, *f, *weight, *move;      /* n */
    double *scaled;                     /* q x n */
    double *trial, *step, *start, *off; /* p */
    double *Pi, *H, *S, *square;        /* p x p each; */
    double *work;                       /* 3 q^2 + 3 q */
    double *h, *e;                      /* 2 q */
    double *mean;                       /* r */
    double *N, *J;                      /* 2q x 2q, 2q x p */
    double *half;                       /* q x TACET__TILT_BATCH */
    double *read;                       /* what a state holds */
};

size_t tacet__stepwise_most(size_t features) {
    return 2 * (features + 1);
}

double tacet__stepwise_play(const tacet__batch_noise *unit) {
    return PLAY_MOST / (1 + sqrt(tacet__batch_noise_var(unit, PLAY_SIZE)));
}

/* |(v - 1/2) psi - (v' - 1/2) psi'| <= 1 and |zeta - zeta'| <= 2. */
double tacet__stepwise_sensitivity(double play) {
    return sqrt(1 + 4 * play * play);
}

static size_t state_size(const tacet__stepwise *s) {
    return 3 + s->p + s->p * s->p + 2 * s->q * s->q;
}

static bool allocate(tacet__stepwise *s) {
    const size_t q = s->q, p = s->p, n = s->n;
    const tacet__array arrays[] = {{&s->x, p, 1},
                                   {&s->P, p, p},
                                   {&s->B, q, q},
                                   {&s->Z, q, q},
                                   {&s->psi1, q, n},
                                   {&s->psi, q, n},
                                   {&s->zeta, q, n},
                                   {&s->w, n, 1},
                                   {&s->f, n, 1},
                                   {&s->weight, n, 1},
                                   {&s->move, n, 1},
                                   {&s->scaled, q, n},
                                   {&s->trial, p, 1},
                                   {&s->step, p, 1},
                                   {&s->start, p, 1},
                                   {&s->off, p, 1},
                                   {&s->Pi, p, p},
                                   {&s->H, p, p},
                                   {&s->S, p, p},
                                   {&s->square, p, p},
                                   {&s->work, 3 * q, q + 1},
                                   {&s->h, 2, q},
                                   {&s->e, 2, q},
                                   {&s->mean, q, 1},
                                   {&s->N, 2 * q, 2 * q},
                                   {&s->J, 2 * q, p},
                                   {&s->half, q, TACET__TILT_BATCH},
                                   {&s->read, state_size(s), 1}};
    return tacet__zalloc_arrays(arrays, sizeof arrays / sizeof arrays[0]);
}

tacet_status tacet__stepwise_create(tacet__stepwise **out, const double *Phi, size_t ld, size_t features, size_t tilted,
                                    size_t points, const tacet__tilt_prior *prior, tacet_error *err) {
    *out = NULL;
    tacet__stepwise *s = TACET__ZALLOC(tacet__stepwise, 1);
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner");
    }
    s->Phi = Phi;
    s->ld = ld;
    s->m = features;
    s->r = tilted;
    s->n = points;
    s->q = features + 1;
    s->p = tilted + s->q;
    if (!allocate(s)) {
        tacet__stepwise_free(s);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner of %zu features", features);
    }
    for (size_t j = 0; j < points; j++) {
        s->psi1[j * s->q] = 1;
        memcpy(s->psi1 + j * s->q + 1, Phi + j * ld, features * sizeof(double));
    }
    s->x[s->r] = prior->level;
    for (size_t i = 0; i < s->p; i++) {
        s->P[i * (s->p + 1)] = i < s->r ? prior->tilt_var : i == s->r ? prior->level_var : prior->reward_var;
    }
    *out = s;
    return TACET_OK;
}

void tacet__stepwise_free(tacet__stepwise *s) {
    if (s == NULL) {
        return;
    }
    double *arrays[] = {s->x,    s->P,      s->B,     s->Z,    s->psi1,  s->psi, s->zeta, s->w,   s->f, s->weight,
                        s->move, s->scaled, s->trial, s->step, s->start, s->off, s->Pi,   s->H,   s->S, s->square,
                        s->work, s->h,      s->e,     s->mean, s->N,     s->J,   s->half, s->read};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    free(s);
}

/* Law of play (total 1) and rewards on the grid at the unknowns x. */
static void expect(tacet__stepwise *s, const double *x, const double *guess) {
    const size_t n = s->n;
    double top = -INFINITY, total = 0;
    tacet__gemv(true, s->r, n, 1, s->Phi, s->ld, x, 0, s->w);
    tacet__gemv(true, s->q, n, 1, s->psi1, s->q, x + s->r, 0, s->f);
    for (size_t j = 0; j < n; j++) {
        top = guess[j] > 0 ? fmax(top, s->w[j]) : top;
    }
    for (size_t j = 0; j < n; j++) {
        s->w[j] = guess[j] > 0 ? guess[j] * exp(s->w[j] - top) : 0;
        total += s->w[j];
        s->f[j] = 1 / (1 + exp(-s->f[j]));
    }
    for (size_t j = 0; j < n; j++) {
        s->w[j] /= total;
    }
}

/* out (a x b) = sum_j weight_j A_j B_j', A and B with a and b rows. */
static void weighted(tacet__stepwise *s, double *out, size_t ldo, const double *A, size_t lda, size_t a,
                     const double *B, size_t ldb, size_t b) {
    for (size_t j = 0; j < s->n; j++) {
        for (size_t i = 0; i < a; i++) {
            s->scaled[i + j * s->q] = s->weight[j] * A[i + j * lda];
        }
    }
    tacet__gemm(false, true, a, b, s->n, 1, s->scaled, s->q, B, ldb, 0, out, ldo);
}

/* A vector into the unit ball: its direction, if it is not too short to have one. */
static void normalise(double *v, size_t k) {
    const double length = tacet__norm2(v, k);
    const double scale = length >= 0 ? 1 / fmax(length, SHORT) : 0; /* NaN: the zero vector */
    for (size_t i = 0; i < k; i++) {
        v[i] = scale > 0 && isfinite(v[i]) ? v[i] * scale : 0;
    }
}

static void map_grid(tacet__stepwise *s) {
    tacet__gemm(false, false, s->k, s->n, s->q, 1, s->B, s->q, s->psi1, s->q, 0, s->psi, s->q);
    tacet__gemm(false, false, s->kz, s->n, s->q, 1, s->Z, s->q, s->psi1, s->q, 0, s->zeta, s->q);
    for (size_t j = 0; j < s->n; j++) {
        normalise(s->psi + j * s->q, s->k);
        normalise(s->zeta + j * s->q, s->kz);
    }
}

/* Directions that tell most about the reward: B. The belief in f at a point has the logistic's slope in it. */
static tacet_status shape_reward(tacet__stepwise *s, size_t n, const tacet__batch_noise *noise, tacet_error *err) {
    const size_t q = s->q, p = s->p;
    for (size_t j = 0; j < s->n; j++) {
        const double slope = s->f[j] * (1 - s->f[j]);
        s->weight[j] = s->w[j] * slope * slope;
    }
    weighted(s, s->S, q, s->psi1, q, q, s->psi1, q, q);
    for (size_t j = 0; j < q; j++) {
        memcpy(s->square + j * q, s->P + s->r + (s->r + j) * p, q * sizeof(double));
    }
    return tacet__batch_shape(s->B, &s->k, s->S, s->square, q, n, REWARD_VAR, noise, q, s->work, err);
}

/* Directions that tell most about the law of play, at most `most`: Z, maps of phi less its mean. */
static tacet_status shape_play(tacet__stepwise *s, size_t n, double var, size_t most, tacet_error *err) {
    const size_t q = s->q, r = s->r, p = s->p;
    const tacet__batch_noise noise = {.gaussian_var = var / (s->play * s->play)};
    memcpy(s->weight, s->w, s->n * sizeof(double));
    weighted(s, s->S, r, s->Phi, s->ld, r, s->Phi, s->ld, r);
    tacet__gemv(false, r, s->n, 1, s->Phi, s->ld, s->w, 0, s->mean);
    for (size_t j = 0; j < r; j++) {
        for (size_t i = 0; i < r; i++) {
            s->S[i + j * r] -= s->mean[i] * s->mean[j];
            s->square[i + j * r] = s->P[i + j * p];
        }
    }
    tacet_status status = tacet__batch_shape(s->H, &s->kz, s->S, s->square, r, n, 1, &noise, most, s->work, err);
    if (status != TACET_OK) {
        return status;
    }
    memset(s->Z, 0, q * q * sizeof(double));
    for (size_t i = 0; i < s->kz; i++) {
        double level = 0;
        for (size_t c = 0; c < r; c++) {
            s->Z[i + (c + 1) * q] = s->H[i + c * r];
            level -= s->H[i + c * r] * s->mean[c];
        }
        s->Z[i] = level;
    }
    return TACET_OK;
}

/* Rows of unit mean square under the law of the batch, so that SHORT means the same for all. */
static void scale_rows(tacet__stepwise *s, double *A, size_t k) {
    const size_t q = s->q;
    double mean = 0;
    tacet__gemm(false, false, k, s->n, q, 1, A, q, s->psi1, q, 0, s->scaled, q);
    for (size_t j = 0; j < s->n; j++) {
        mean += s->w[j] * tacet__dot(s->scaled + j * q, s->scaled + j * q, k);
    }
    for (size_t c = 0; mean > 0 && c < q; c++) {
        for (size_t i = 0; i < k; i++) {
            A[i + c * q] /= sqrt(mean);
        }
    }
}

tacet_status tacet__stepwise_plan(tacet__stepwise *s, size_t *k, size_t n, const double *guess, double play,
                                  const tacet__batch_noise *noise, tacet_error *err) {
    const double share = 1 / (1 + sqrt(tacet__batch_noise_var(noise, PLAY_SIZE)));
    tacet__batch_noise both = *noise;
    both.beside = share;
    *k = s->k = s->kz = 0;
    s->play = play;
    expect(s, s->x, guess);
    tacet_status status = shape_reward(s, n, &both, err);
    if (status == TACET_OK && s->k > 0) {
        const double most = ceil(share * (double)s->k);
        status = shape_play(s, n, tacet__batch_noise_var(&both, s->k), (size_t)fmin(most, (double)s->r), err);
    }
    if (status != TACET_OK) {
        s->k = s->kz = 0;
        return status;
    }
    scale_rows(s, s->B, s->k);
    scale_rows(s, s->Z, s->kz);
    *k = s->k + s->kz;
    return TACET_OK;
}

size_t tacet__stepwise_numbers(const tacet__stepwise *s) {
    return s->k + s->kz;
}

void tacet__stepwise_record(const tacet__stepwise *s, double *out, const double *phi, double v) {
    const struct {
        const double *A;
        size_t first, rows;
    } maps[] = {{s->B, 0, s->k}, {s->Z, s->k, s->kz}};
    for (size_t a = 0; a < 2; a++) {
        double *at = out + maps[a].first;
        for (size_t i = 0; i < maps[a].rows; i++) { /* in this order everywhere: a replay adds up the same */
            double sum = maps[a].A[i];
            for (size_t c = 0; c < s->m; c++) {
                sum += maps[a].A[i + (c + 1) * s->q] * phi[c];
            }
            at[i] = sum;
        }
        normalise(at, maps[a].rows);
    }
    for (size_t i = 0; i < s->k + s->kz; i++) {
        out[i] *= i < s->k ? v - 0.5 : s->play;
    }
}

/* What the sums should be at what expect() left. */
static void expected_sums(tacet__stepwise *s, double n) {
    for (size_t j = 0; j < s->n; j++) {
        s->weight[j] = n * s->w[j] * (s->f[j] - 0.5);
    }
    tacet__gemv(false, s->k, s->n, 1, s->psi, s->q, s->weight, 0, s->h);
    tacet__gemv(false, s->kz, s->n, n * s->play, s->zeta, s->q, s->w, 0, s->h + s->k);
}

/* Half the squared residual, whitened by the factor in hand, and half that of the prior. */
static double objective(tacet__stepwise *s, const double *x, const double *sums) {
    const size_t D = s->k + s->kz, p = s->p;
    for (size_t i = 0; i < D; i++) {
        s->e[i] = sums[i] - s->h[i];
    }
    for (size_t i = 0; i < p; i++) {
        s->off[i] = x[i] - s->start[i];
    }
    tacet__trsv(false, D, s->N, 2 * s->q, s->e);
    tacet__gemv(false, p, p, 1, s->Pi, p, s->off, 0, s->step);
    return 0.5 * (tacet__dot(s->e, s->e, D) + tacet__dot(s->off, s->step, p));
}

/* Covariance of the sums into N, factored; their derivatives into J. */
static tacet_status derive(tacet__stepwise *s, double n, double noise_var, tacet_error *err) {
    const size_t k = s->k, kz = s->kz, D = k + kz, q = s->q, r = s->r, ld = 2 * q;
    double *J = s->J, *N = s->N;
    tacet__gemv(false, r, s->n, 1, s->Phi, s->ld, s->w, 0, s->mean);
    for (size_t j = 0; j < s->n; j++) {
        s->weight[j] = n * REWARD_VAR * s->w[j];
    }
    weighted(s, N, ld, s->psi, q, k, s->psi, q, k);
    for (size_t j = 0; j < s->n; j++) {
        s->weight[j] = n * s->w[j] * s->f[j] * (1 - s->f[j]);
    }
    weighted(s, J + r * ld, ld, s->psi, q, k, s->psi1, q, q);
    for (size_t j = 0; j < s->n; j++) {
        s->weight[j] = n * s->w[j] * (s->f[j] - 0.5);
    }
    weighted(s, J, ld, s->psi, q, k, s->Phi, s->ld, r);
    for (size_t j = 0; j < s->n; j++) {
        s->weight[j] *= s->play;
    }
    weighted(s, N + k, ld, s->zeta, q, kz, s->psi, q, k);
    for (size_t j = 0; j < s->n; j++) {
        s->weight[j] = n * s->play * s->w[j];
    }
    weighted(s, J + k, ld, s->zeta, q, kz, s->Phi, s->ld, r);
    for (size_t j = 0; j < s->n; j++) {
        s->weight[j] *= s->play;
    }
    weighted(s, N + k + k * ld, ld, s->zeta, q, kz, s->zeta, q, kz);
    for (size_t c = 0; c < q; c++) {
        memset(J + k + (r + c) * ld, 0, kz * sizeof(double));
    }
    for (size_t c = 0; c < r; c++) {
        tacet__axpy(J + c * ld, -s->mean[c], s->h, D);
    }
    for (size_t j = 0; j < D; j++) {
        for (size_t i = j; i < D; i++) {
            N[i + j * ld] -= s->h[i] * s->h[j] / n;
        }
        N[j + j * ld] += noise_var;
    }
    return tacet__cholesky(N, ld, D, NULL, NULL, err);
}

/* At t->trial: curvature factored into H, objective, and the step H^-1 times the descent. */
static tacet_status linearise(tacet__stepwise *s, const double *sums, const double *guess, double n, double noise_var,
                              double *value, tacet_error *err) {
    const size_t D = s->k + s->kz, p = s->p, ld = 2 * s->q;
    expect(s, s->trial, guess);
    expected_sums(s, n);
    tacet_status status = derive(s, n, noise_var, err);
    if (status != TACET_OK) {
        return status;
    }
    *value = objective(s, s->trial, sums); /* leaves Pi (x - start) in step */
    tacet__trsm(false, D, p, s->N, ld, s->J, ld);
    tacet__gemv(true, D, p, 1, s->J, ld, s->e, -1, s->step);
    memcpy(s->H, s->Pi, p * p * sizeof(double));
    tacet__syrk(true, p, D, 1, s->J, ld, 1, s->H, p);
    status = isfinite(*value) ? tacet__cholesky(s->H, p, p, NULL, NULL, err)
                              : tacet__fail(err, TACET_NUMERIC, "the released sums can't be explained: not finite");
    if (status == TACET_OK) {
        tacet__chol_solve(p, s->H, p, s->step);
    }
    return status;
}

/* How much of the step may be taken so that nothing moves by more than MOVE_MOST on the grid. */
static double reach(tacet__stepwise *s) {
    double most = 0;
    tacet__gemv(true, s->r, s->n, 1, s->Phi, s->ld, s->step, 0, s->move);
    for (size_t j = 0; j < s->n; j++) {
        most = fmax(most, fabs(s->move[j]));
    }
    tacet__gemv(true, s->q, s->n, 1, s->psi1, s->q, s->step + s->r, 0, s->move);
    for (size_t j = 0; j < s->n; j++) {
        most = fmax(most, fabs(s->move[j]));
    }
    return most > MOVE_MOST ? MOVE_MOST / most : 1;
}

/* Moves s->trial along the step; false when nothing better lies there. */
static bool descend(tacet__stepwise *s, const double *sums, const double *guess, double n, double value) {
    const size_t p = s->p;
    double length = reach(s);
    double *from = s->square, *along = s->square + p; /* objective() writes into step */
    memcpy(from, s->trial, p * sizeof(double));
    memcpy(along, s->step, p * sizeof(double));
    for (int i = 0; i < HALVINGS; i++, length *= 0.5) { /* NOLINT(cert-flp30-c): i counts */
        for (size_t c = 0; c < p; c++) {
            s->trial[c] = from[c] + length * along[c];
        }
        expect(s, s->trial, guess);
        expected_sums(s, n);
        const double next = objective(s, s->trial, sums);
        if (next < value) {
            return value - next > TOLERANCE * (1 + fabs(next));
        }
    }
    memcpy(s->trial, from, p * sizeof(double));
    return false;
}

tacet_status tacet__stepwise_update(tacet__stepwise *s, const double *sums, size_t n, const double *guess,
                                    double noise_var, tacet_error *err) {
    const size_t p = s->p;
    double value = 0;
    if (s->k == 0) {
        return TACET_OK;
    }
    map_grid(s);
    memcpy(s->start, s->x, p * sizeof(double));
    memcpy(s->trial, s->x, p * sizeof(double));
    memcpy(s->Pi, s->P, p * p * sizeof(double));
    tacet_status status = tacet__cholesky(s->Pi, p, p, NULL, NULL, err);
    status = status != TACET_OK ? status : tacet__chol_inverse(p, s->Pi, p, err);
    bool moving = true;
    for (int i = 0; status == TACET_OK; i++) {
        status = linearise(s, sums, guess, (double)n, noise_var, &value, err);
        if (status != TACET_OK || i == STEPS || !moving) {
            break;
        }
        moving = descend(s, sums, guess, (double)n, value);
    }
    status = status != TACET_OK ? status : tacet__chol_inverse(p, s->H, p, err); /* of the curvature at the end */
    for (size_t i = 0; status == TACET_OK && i < p; i++) {
        status = isfinite(s->trial[i]) && isfinite(s->H[i * (p + 1)])
                     ? TACET_OK
                     : tacet__fail(err, TACET_NUMERIC, "the released sums can't be explained: not finite");
    }
    if (status == TACET_OK) {
        memcpy(s->x, s->trial, p * sizeof(double));
        memcpy(s->P, s->H, p * p * sizeof(double));
    }
    return status;
}

void tacet__stepwise_logit(tacet__stepwise *s, double *mean, double *var, const double *phi, size_t ld, size_t n) {
    const size_t q = s->q, m = s->m;
    const double *theta = s->x + s->r, *C = s->P + s->r + s->r * s->p;
    tacet__gemv(true, m, n, 1, phi, ld, theta + 1, 0, mean);
    tacet__gemm(false, false, q, n, m, 1, C + s->p, s->p, phi, ld, 0, s->half, q);
    for (size_t j = 0; j < n; j++) {
        const double *half = s->half + j * q;
        mean[j] += theta[0];
        var[j] = fmax(0, C[0] + 2 * half[0] + tacet__dot(half + 1, phi + j * ld, m));
    }
}

const double *tacet__stepwise_theta(const tacet__stepwise *s) {
    return s->x + s->r;
}

void tacet__stepwise_write(const tacet__stepwise *s, tacet__writer *w) {
    tacet__write_size(w, s->k);
    tacet__write_size(w, s->kz);
    tacet__write_f64(w, s->play);
    tacet__write_f64s(w, s->x, s->p);
    for (size_t j = 0; j < s->p; j++) {
        tacet__write_f64s(w, s->P + j * (s->p + 1), s->p - j);
    }
    for (size_t c = 0; c < s->q; c++) {
        tacet__write_f64s(w, s->B + c * s->q, s->k);
        tacet__write_f64s(w, s->Z + c * s->q, s->kz);
    }
}

bool tacet__stepwise_read(tacet__stepwise *s, tacet__reader *r) {
    const size_t p = s->p, q = s->q, k = tacet__read_size(r, q), kz = tacet__read_size(r, s->r);
    double *x = s->read + 3, *P = x + p, *B = P + p * p, *Z = B + q * q;
    const double play = tacet__read_f64(r);
    bool good = play >= 0 && play <= PLAY_MOST;
    memset(B, 0, 2 * q * q * sizeof(double));
    tacet__read_f64s(r, x, p);
    for (size_t j = 0; j < p; j++) {
        tacet__read_f64s(r, P + j * (p + 1), p - j);
        for (size_t i = j; i < p && !r->failed; i++) {
            P[j + i * p] = P[i + j * p];
        }
    }
    for (size_t c = 0; c < q; c++) {
        tacet__read_f64s(r, B + c * q, k);
        tacet__read_f64s(r, Z + c * q, kz);
    }
    for (size_t i = 0; good && !r->failed && i < p + p * p + 2 * q * q; i++) {
        good = isfinite(x[i]);
    }
    for (size_t i = 0; good && !r->failed && i < p; i++) {
        good = P[i * (p + 1)] > 0;
    }
    s->read[0] = (double)k;
    s->read[1] = (double)kz;
    s->read[2] = play;
    return good;
}

void tacet__stepwise_take(tacet__stepwise *s) {
    const size_t p = s->p, q = s->q;
    const double *x = s->read + 3;
    s->k = (size_t)s->read[0];
    s->kz = (size_t)s->read[1];
    s->play = s->read[2];
    memcpy(s->x, x, p * sizeof(double));
    memcpy(s->P, x + p, p * p * sizeof(double));
    memcpy(s->B, x + p + p * p, q * q * sizeof(double));
    memcpy(s->Z, x + p + p * p + q * q, q * q * sizeof(double));
}
