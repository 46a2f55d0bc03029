/* SPDX-License-Identifier: Apache-2.0 */
/* cells.c - what noisy numbers of successes and failures say of the cells of a table.
 * Ring: shared; post-processing of a release. Source: README.md, "A table of levels". Linear Gaussian regression: cell
 * k has y_k = n_k mu_k + e_k, where n_k and y_k are the released number of records and sum of rewards, and e_k has the
 * variance of sampling and of the noise in both. The prior of mu is a mean, effects of actions, of contexts and of
 * pairs; how large the effects are follows the data. An empty cell so gets what its action and context have elsewhere.
 * Cost: some twenty Cholesky factors of the cells, O(K^3). */
#include "contextual/shared/cells.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCALES = 8, ROUNDS = 2 };
static const double SCALE_FIRST = 1.0 / 32; /* of the believed size of effects, then twice that, … */
static const double SCALE_WIDTH = 2.5;      /* standard deviation of the logarithm, as of a belief */
static const double SPREAD_LEAST = 0.02;    /* of B^2: variance of a reward, at least */

typedef struct room {
    double *h, *z; /* K: n and y by the standard deviation of e */
    double *x;     /* K */
    double *S;     /* K x K */
    double *W;     /* K x K */
} room;

static void prior(const tacet__cells *c, double *C, double level, double scale) {
    const size_t K = c->actions * c->contexts;
    const double share = scale * c->prior_var / 3;
    for (size_t i = 0; i < K; i++) {
        for (size_t j = 0; j < K; j++) {
            const double same = (i % c->actions == j % c->actions ? 1 : 0) + (i / c->actions == j / c->actions ? 1 : 0);
            C[i * K + j] = level + share * (same + (i == j ? 1 : 0));
        }
    }
}

/* S = L L' = I + H C H; W has C. */
static tacet_status factor(const tacet__cells *c, const room *r, double level, double scale, tacet_error *err) {
    const size_t K = c->actions * c->contexts;
    prior(c, r->W, level, scale);
    for (size_t i = 0; i < K; i++) {
        for (size_t j = 0; j < K; j++) {
            r->S[i * K + j] = r->h[i] * r->W[i * K + j] * r->h[j] + (i == j ? 1 : 0);
        }
    }
    return tacet__cholesky(r->S, K, K, NULL, NULL, err);
}

/* theta = C H S^-1 z and P = C - C H S^-1 H C, after factor. theta may be NULL. */
static void posterior(const tacet__cells *c, const room *r, double *theta, double *P) {
    const size_t K = c->actions * c->contexts;
    if (theta != NULL) {
        memcpy(r->x, r->z, K * sizeof *r->x);
        tacet__chol_solve(K, r->S, K, r->x);
        for (size_t i = 0; i < K; i++) {
            r->x[i] *= r->h[i];
        }
        tacet__gemv(false, K, K, 1, r->W, K, r->x, 0, theta);
    }
    memcpy(P, r->W, K * K * sizeof *P);
    for (size_t j = 0; j < K; j++) {
        for (size_t i = 0; i < K; i++) {
            r->W[j * K + i] *= r->h[i];
        }
    }
    tacet__trsm(false, K, K, r->S, K, r->W, K);
    tacet__gemm(true, false, K, K, K, -1, r->W, K, r->W, K, 1, P, K);
}

static tacet_status likeliest(const tacet__cells *c, const room *r, double *scale, tacet_error *err) {
    const size_t K = c->actions * c->contexts;
    double most = -INFINITY;
    tacet_status status = TACET_OK;
    for (size_t k = 0; k < SCALES && status == TACET_OK; k++) {
        const double at = SCALE_FIRST * ldexp(1, (int)k);
        status = factor(c, r, c->bound * c->bound, at, err);
        if (status == TACET_OK) {
            memcpy(r->x, r->z, K * sizeof *r->x);
            tacet__trsv(false, K, r->S, K, r->x);
            const double value =
                -0.5 * (tacet__dot(r->x, r->x, K) + tacet__chol_logdet(K, r->S, K) + pow(log(at) / SCALE_WIDTH, 2));
            *scale = value > most ? at : *scale;
            most = fmax(most, value);
        }
    }
    return status;
}

/* Of the sum of n rewards about mu, less n mu, both released: at most, whatever the rewards' law. */
static double variance(const tacet__cells *c, double n, double mu) {
    const double B2 = c->bound * c->bound;
    return n * fmax(B2 - mu * mu, SPREAD_LEAST * B2) + 2 * c->noise_var * (B2 + mu * mu);
}

static tacet_status room_init(room *r, size_t K, tacet_error *err) {
    *r = (room){.h = TACET__ZALLOC(double, K),
                .z = TACET__ZALLOC(double, K),
                .x = TACET__ZALLOC(double, K),
                .S = TACET__ALIGNED(double, K *K),
                .W = TACET__ALIGNED(double, K *K)};
    return r->h == NULL || r->z == NULL || r->x == NULL || r->S == NULL || r->W == NULL
               ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu cells", K)
               : TACET_OK;
}

static void room_clear(room *r) {
    free(r->h);
    free(r->z);
    free(r->x);
    free(r->S);
    free(r->W);
}

tacet_status tacet__cells_learn(const tacet__cells *c, double *theta, double *P, const double *released,
                                tacet_error *err) {
    const size_t K = c->actions * c->contexts;
    double all = 0;
    double sum = 0;
    room r;
    tacet_status status = room_init(&r, K, err);
    for (size_t k = 0; k < K; k++) {
        all += fmax(released[2 * k] + released[2 * k + 1], 0);
        sum += c->bound * (released[2 * k] - released[2 * k + 1]);
    }
    for (size_t k = 0; k < K; k++) {
        theta[k] = all > 0 ? sum / all : 0;
    }
    for (size_t round = 0; round < ROUNDS && status == TACET_OK; round++) {
        double scale = 1;
        for (size_t k = 0; k < K; k++) {
            const double n = fmax(released[2 * k] + released[2 * k + 1], 0);
            const double sd = sqrt(variance(c, n, fmin(fmax(theta[k], -c->bound), c->bound)));
            r.h[k] = n / sd;
            r.z[k] = c->bound * (released[2 * k] - released[2 * k + 1]) / sd;
        }
        status = likeliest(c, &r, &scale, err);
        if (status == TACET_OK) {
            status = factor(c, &r, c->bound * c->bound, scale, err);
        }
        if (status == TACET_OK) {
            posterior(c, &r, theta, P);
        }
    }
    for (size_t k = 0; k < K; k++) {
        theta[k] = fmin(fmax(theta[k], -c->bound), c->bound);
    }
    room_clear(&r);
    return status;
}

tacet_status tacet__cells_foresee(const tacet__cells *c, double *P, const double *n, tacet_error *err) {
    const size_t K = c->actions * c->contexts;
    room r;
    tacet_status status = room_init(&r, K, err);
    for (size_t k = 0; k < K && status == TACET_OK; k++) {
        r.h[k] = n[k] / sqrt(variance(c, n[k], 0));
    }
    if (status == TACET_OK) {
        status = factor(c, &r, 0, 1, err);
    }
    if (status == TACET_OK) {
        posterior(c, &r, NULL, P);
    }
    room_clear(&r);
    return status;
}
