/* SPDX-License-Identifier: Apache-2.0 */
/* blt.c - buffered linear Toeplitz: the square root of the prefix-sum matrix by a few exponentials, fitted.
 * Ring: gate. No data here. Source: Dvijotham, McMahan, Pillutla, Steinke, Thakurta 2024, "Efficient and near-optimal
 * noise generation for streaming differential privacy". Differs: C and its inverse are described by their interlacing
 * poles and zeros, c(s) = prod (s - theta_inv_i)/(s - theta_i), which gives both at once with no root-finding; all sums
 * in closed form, so that a fit does not cost more for a longer stream. Cost: O(buffers^2) per evaluation, a few
 * thousand evaluations (NLopt's Nelder–Mead, deterministic), once. */
#include "dp/streams/factor.h"

#include <math.h>
#include <nlopt.h>

/* 1 - theta^count with 1 - theta = gap given, theta in (-1, 1). */
static double one_minus_power(double gap, double count) {
    return gap < 1.0 ? -expm1(count * log1p(-gap)) : 1.0 - pow(1.0 - gap, count);
}

/* sum over k < count of (theta_i theta_j)^k, from the gaps. */
static double pair_sum(double gap_i, double gap_j, double count) {
    const double gap = gap_i + gap_j - gap_i * gap_j;
    return one_minus_power(gap, count) / gap;
}

double tacet__blt_column_sq(const tacet__factor *f, size_t count) {
    double sum = 1.0;
    for (size_t i = 0; i < f->buffers; i++) {
        for (size_t j = 0; j < f->buffers; j++) {
            sum += f->omega[i] * f->omega[j] * pair_sum(1.0 - f->theta[i], 1.0 - f->theta[j], (double)(count - 1));
        }
    }
    return sum;
}

double tacet__blt_error_sq(const tacet__factor *f, size_t count) {
    /* b_k = 1 + sum_i omega_i (1 - theta_i^k)/(1 - theta_i) = last + sum_i share_i theta_i^k, all terms positive */
    const double n = (double)count;
    double last = 1.0, share[TACET__BLT_MOST];
    for (size_t i = 0; i < f->buffers; i++) {
        share[i] = -f->omega_inv[i] / (1.0 - f->theta_inv[i]);
        last *= (1.0 - f->theta[i]) / (1.0 - f->theta_inv[i]);
    }
    double sum = n * last * last;
    for (size_t i = 0; i < f->buffers; i++) {
        const double gap = 1.0 - f->theta_inv[i];
        sum += 2.0 * last * share[i] * one_minus_power(gap, n) / gap;
        for (size_t j = 0; j < f->buffers; j++) {
            sum += share[i] * share[j] * pair_sum(gap, 1.0 - f->theta_inv[j], n);
        }
    }
    return sum;
}

/* Residues of prod (s - zero_j)/(s - pole_j) at its poles. */
static void residues(double *out, const double *poles, const double *zeros, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double r = poles[i] - zeros[i];
        for (size_t j = 0; j < count; j++) {
            if (j != i) {
                r *= (poles[i] - zeros[j]) / (poles[i] - poles[j]);
            }
        }
        out[i] = r;
    }
}

double tacet__blt_cost(tacet__factor *f, const double *at) {
    double gap = exp(at[0]);
    for (size_t i = 0; i < f->buffers; i++) {
        f->theta[i] = 1.0 - gap;
        gap *= 1.0 + exp(at[2 * i + 1]);
        f->theta_inv[i] = 1.0 - gap;
        gap *= i + 1 < f->buffers ? 1.0 + exp(at[2 * i + 2]) : 1.0;
    }
    residues(f->omega, f->theta, f->theta_inv, f->buffers);
    residues(f->omega_inv, f->theta_inv, f->theta, f->buffers);
    /* Beyond the unit circle, or with poles that collide, the sums mean nothing; the start never is. */
    return tacet__factor_check(f, NULL) == TACET_OK
               ? log(tacet__blt_column_sq(f, f->most)) + log(tacet__blt_error_sq(f, f->most))
               : 1e6;
}

static double objective(unsigned n, const double *at, double *gradient, void *user) {
    (void)n;
    (void)gradient;
    return tacet__blt_cost(user, at);
}

void tacet__blt_fit(tacet__factor *f) {
    const unsigned dim = (unsigned)(2 * f->buffers);
    double at[2 * TACET__BLT_MOST], best = 0.0;
    /* Poles and zeros of a rational square root crowd geometrically towards the end of the cut, at a distance 1/most.
     */
    const double ratio = pow((double)f->most + 2.0, 1.0 / (double)dim);
    at[0] = -log((double)f->most + 2.0);
    for (unsigned i = 1; i < dim; i++) {
        at[i] = log(ratio - 1.0);
    }
    /* NLopt takes a NULL search for an invalid one and does nothing: out of memory leaves the start, which is a factor
     * too, only not the best. */
    nlopt_opt search = nlopt_create(NLOPT_LN_NELDERMEAD, dim);
    (void)nlopt_set_min_objective(search, objective, f);
    (void)nlopt_set_initial_step1(search, 0.3);
    (void)nlopt_set_ftol_abs(search, 1e-9);
    (void)nlopt_set_maxeval(search, 6000);
    (void)nlopt_optimize(search, at, &best);
    nlopt_destroy(search);
    (void)tacet__blt_cost(f, at);
}
