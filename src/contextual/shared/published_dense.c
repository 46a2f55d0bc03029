/* SPDX-License-Identifier: Apache-2.0 */
/* published_dense.c - eqs (4) and (5) of the USCA paper as they are printed, on a given approximating set: the
 * reference. Ring: shared. Source: Pavlovic, Salgia, Zhao 2025, Lemma 3.1. Cost: O(count^3) time and O(count^2) memory
 * in the size of the approximating set, which is T ceil(T/gamma): for T of a few hundred at the most. */
#include "gp/kernel_internal.h"
#include "contextual/shared/internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tacet__contextual_dense {
    const tacet_kernel *kernel;
    size_t d, rounds, count;
    double *W, *y, *P;
    double *L;     /* of K_PP + K tau I */
    double *alpha; /* (K_PP + K tau I)^-1 K_PW y */
    double *row;   /* max(rounds, count) */
    double tau;
};

void tacet__contextual_dense_free(tacet__contextual_dense *e) {
    if (e != NULL) {
        free(e->W);
        free(e->y);
        free(e->P);
        free(e->L);
        free(e->alpha);
        free(e->row);
        free(e);
    }
}

tacet_status tacet__contextual_dense_create(tacet__contextual_dense **out, const tacet_kernel *kernel, const double *W,
                                            const double *y, size_t rounds, const double *P, size_t count, double K,
                                            double tau, tacet_error *err) {
    *out = NULL;
    size_t size = 0;
    if (rounds == 0 || count == 0 || !(K > 0 && tau > 0) || !tacet__size_mul(&size, count, count)) {
        return tacet__fail(err, TACET_INVALID, "the dense form needs rounds, an approximating set, and K, tau > 0");
    }
    const size_t d = tacet_kernel_dim(kernel);
    tacet__contextual_dense *e = TACET__ZALLOC(tacet__contextual_dense, 1);
    if (e == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the dense form");
    }
    *e = (tacet__contextual_dense){.kernel = kernel, .d = d, .rounds = rounds, .count = count, .tau = tau};
    e->W = TACET__ZALLOC(double, d *rounds);
    e->y = TACET__ZALLOC(double, rounds);
    e->P = TACET__ZALLOC(double, d *count);
    e->L = TACET__ALIGNED(double, size);
    e->alpha = TACET__ZALLOC(double, count);
    e->row = TACET__ZALLOC(double, rounds > count ? rounds : count);
    if (e->W == NULL || e->y == NULL || e->P == NULL || e->L == NULL || e->alpha == NULL || e->row == NULL) {
        tacet__contextual_dense_free(e);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for an approximating set of %zu points", count);
    }
    memcpy(e->W, W, d * rounds * sizeof *W);
    memcpy(e->y, y, rounds * sizeof *y);
    memcpy(e->P, P, d * count * sizeof *P);
    tacet_kernel_matrix(kernel, e->L, count, P, d, count, P, d, count);
    for (size_t i = 0; i < count; i++) {
        e->L[i * count + i] += K * tau;
    }
    const tacet_status status = tacet__cholesky(e->L, count, count, NULL, NULL, err);
    if (status != TACET_OK) {
        tacet__contextual_dense_free(e);
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        tacet_kernel_row(kernel, e->row, W, d, rounds, P + i * d);
        e->alpha[i] = tacet__dot(e->row, y, rounds);
    }
    tacet__chol_solve(count, e->L, count, e->alpha);
    *out = e;
    return TACET_OK;
}

void tacet__contextual_dense_eval(const tacet__contextual_dense *e, double *mu, double *sigma2, const double *w) {
    tacet_kernel_row(e->kernel, e->row, e->W, e->d, e->rounds, w);
    *mu = tacet__dot(e->row, e->y, e->rounds);
    tacet_kernel_row(e->kernel, e->row, e->P, e->d, e->count, w);
    *mu = (*mu - tacet__dot(e->row, e->alpha, e->count)) / e->tau;
    tacet__trsv(false, e->count, e->L, e->count, e->row);
    const double half = tacet__norm2(e->row, e->count);
    *sigma2 = (tacet_kernel_eval(e->kernel, w, w) - half * half) / e->tau;
}
