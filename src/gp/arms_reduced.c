/* SPDX-License-Identifier: Apache-2.0 */
/* arms_reduced.c - GP posterior over many arms of which few are needed to tell the others.
 * Ring: pure. Source: Fine and Scheinberg 2001 (pivoted Cholesky to a tolerance); the posterior is that of arms.c in
 * weight space: f = F'u, u ~ N(0, I), P = (I + F W F')^-1 the covariance of u (Rasmussen and Williams 2006,
 * section 2.1). What the factor leaves of a variance is at most the tolerance, and is dropped. A smooth function over
 * 400 arms has hardly more rank than over 100, so that a round costs four times as much, not sixteen.
 * Cost: O(n rank + rank^2) an update; creating O(n rank^2); no allocation after create. */
#include "gp/arms_internal.h"

#include "core/fail.h"
#include "gp/linalg.h"

#include <math.h>
#include <string.h>

/* Row k of F, of the arm with the largest variance left: F_kj = (K_pj - sum over i < k of F_ip F_ij)/sqrt(left_p). The
 * rows are written n apart; the caller's n x n are then packed to rank x n, an arm after the other. */
size_t tacet__arms_factor(double *F, const double *K, size_t n, double tolerance, double *left, size_t *order) {
    double largest = 0;
    size_t rank = 0;
    for (size_t j = 0; j < n; j++) {
        left[j] = K[j * n + j];
        largest = fmax(largest, left[j]);
    }
    for (; rank < n; rank++) {
        size_t p = 0;
        for (size_t j = 1; j < n; j++) {
            p = left[j] > left[p] ? j : p;
        }
        if (!(left[p] > tolerance * largest)) {
            break;
        }
        order[rank] = p;
        const double root = sqrt(left[p]);
        for (size_t j = 0; j < n; j++) {
            const double value = (K[p * n + j] - tacet__dot(F + p * n, F + j * n, rank)) / root;
            left[j] -= value * value;
            F[j * n + rank] = value;
        }
        left[p] = 0;
    }
    for (size_t j = 1; j < n; j++) { /* towards the front, so that nothing is overwritten that is still needed */
        memmove(F + j * rank, F + j * n, rank * sizeof *F);
    }
    return rank;
}

void tacet__arms_step_reduced(tacet_arms *arms, size_t arm, double average, double noise) {
    const size_t n = arms->n, m = arms->rank;
    double *restrict q = arms->vector, *restrict s = arms->short_;
    tacet__gemv(false, m, m, 1, arms->P, m, arms->F + arm * m, 0, s);
    const double root = sqrt(noise + arms->var[arm]);
    const double surprise = (average - arms->mean[arm]) / root;
    arms->information += 0.5 * log1p(arms->var[arm] / noise);
    tacet__gemv(true, m, n, 1 / root, arms->F, m, s, 0, q);
    for (size_t i = 0; i < n; i++) {
        arms->mean[i] += surprise * q[i];
        const double v = arms->var[i] - q[i] * q[i];
        arms->var[i] = v > 0 ? v : 0;
    }
    for (size_t j = 0; j < m; j++) { /* the product is the same either way round: P stays symmetric to the last bit */
        const double factor = s[j] / root;
        double *restrict column = arms->P + j * m;
        for (size_t i = 0; i < m; i++) {
            column[i] -= factor * (s[i] / root);
        }
    }
    arms->since++;
}

/* I + F W F' = L L', B = L^-1 F, P = L^-T L^-1. On failure P, mean and var are as they were. */
tacet_status tacet__arms_rebuild_reduced(tacet_arms *arms, tacet_error *err) {
    const size_t n = arms->n, m = arms->rank;
    double *A = arms->A, *B = arms->B;
    for (size_t i = 0; i < n; i++) {
        const double root = sqrt(arms->weights[i]);
        for (size_t k = 0; k < m; k++) {
            B[i * m + k] = root * arms->F[i * m + k];
        }
    }
    tacet__syrk(false, m, n, 1, B, m, 0, A, m);
    for (size_t k = 0; k < m; k++) {
        A[k * m + k] += 1;
    }
    tacet__symmetrize(A, m, m);
    tacet__chol_report report = {0};
    TACET_OR_RETURN(tacet__cholesky(A, m, m, arms->retry, &report, err));
    tacet__gemv(false, m, n, 1, arms->F, m, arms->sums, 0, arms->short_);
    tacet__trsv(false, m, A, m, arms->short_);
    memcpy(B, arms->F, n * m * sizeof *B);
    tacet__trsm(false, m, n, A, m, B, m);
    for (size_t i = 0; i < n; i++) {
        arms->mean[i] = tacet__dot(B + i * m, arms->short_, m);
        arms->var[i] = tacet__dot(B + i * m, B + i * m, m);
    }
    memset(arms->retry, 0, m * m * sizeof *arms->retry);
    for (size_t k = 0; k < m; k++) {
        arms->retry[k * m + k] = 1;
    }
    tacet__trsm(false, m, m, A, m, arms->retry, m);
    tacet__syrk(true, m, m, 1, arms->retry, m, 0, arms->P, m);
    tacet__symmetrize(arms->P, m, m);
    arms->information = 0.5 * tacet__chol_logdet(m, A, m);
    arms->jitter = fmax(arms->jitter, report.jitter);
    arms->since = 0;
    return TACET_OK;
}
