/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_grad.c - derivatives of a kernel by its hyper-parameters (in logarithms) and by a point.
 * Ring: pure. Source: Rasmussen & Williams 2006, section 5.4.1 for the use; the derivative of e^-s P_p(s), P_p the
 * Matérn polynomial, is -s e^-s P_(p-1)(s)/(2p-1), from d/dz [z^nu K_nu(z)] = -z^nu K_(nu-1)(z).
 * One function gives everything: S(r^2) = -2 dk/d(r^2) of one group, so that with q_i = ((x_i - y_i)/l_i)^2
 *   dk/d log l_i = S q_i,   dk/dx_i = -S (x_i - y_i)/l_i^2   (each times signal_var / group_count).
 * Cost: O(d) a pair; nothing is allocated. */
#include "gp/kernel_internal.h"

#include "gp/vexp.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double MATERN_FAR = 1000; /* as in kernel.c */

TACET__CLONES
static void se_slope(double *v, size_t n) {
    for (size_t j = 0; j < n; j++) {
        v[j] = tacet__vexp(-0.5 * v[j]);
    }
}

TACET__CLONES
static void matern_slope(double *v, size_t n, double scale2, const double *c, unsigned p) {
    for (size_t j = 0; j < n; j++) {
        const double root = sqrt(scale2 * v[j]);
        const double s = MATERN_FAR < root ? MATERN_FAR : root;
        double sum = 0;
        for (unsigned i = p; i > 0; i--) {
            sum = sum * s + c[i - 1];
        }
        if (p == 0) {
            sum = s > 0 ? 1 / s : 0; /* the limit of q_i S at 0 is 0 */
        }
        v[j] = scale2 * sum * tacet__vexp(-s);
    }
}

/* slope[j] = S of group g between x and X_j, for n <= TACET__KERNEL_BLOCK points; 0 for linear, which has none. */
static void slopes(const tacet_kernel *kernel, double *slope, size_t g, const double *X, size_t ldx, size_t n,
                   const double *x) {
    if (kernel->spec.kind == TACET_KERNEL_LINEAR) {
        memset(slope, 0, n * sizeof *slope);
        return;
    }
    tacet__kernel_r2(kernel, slope, g, X, ldx, 1, n, x);
    if (kernel->spec.kind == TACET_KERNEL_SE) {
        se_slope(slope, n);
    } else {
        matern_slope(slope, n, kernel->matern_scale2, kernel->matern_slope, kernel->spec.matern_p);
    }
}

size_t tacet__kernel_param_count(const tacet_kernel *kernel) {
    return kernel->spec.lengthscale_count + 1;
}

/* Adds sum_j w_j dk(x, X_j)/dp over n <= TACET__KERNEL_BLOCK points to the lengthscale entries of out, without the
 * factor signal_var / group_count. */
static void add_lengthscales(const tacet_kernel *kernel, double *out, const double *X, size_t ldx, size_t n,
                             const double *x, const double *w) {
    const bool isotropic = kernel->spec.lengthscale_count == 1;
    double slope[TACET__KERNEL_BLOCK];
    for (size_t g = 0; g < kernel->group_count; g++) {
        slopes(kernel, slope, g, X, ldx, n, x);
        for (size_t k = kernel->starts[g]; k < kernel->starts[g + 1]; k++) {
            const size_t c = kernel->coordinates[k];
            const double inv = kernel->inverse[c];
            double sum = 0;
            for (size_t j = 0; j < n; j++) {
                const double y = X[j * ldx + c];
                if (kernel->spec.kind == TACET_KERNEL_LINEAR) {
                    sum += w[j] * (-2 * (x[c] * inv) * (y * inv));
                } else {
                    const double t = (y - x[c]) * inv;
                    sum += w[j] * slope[j] * (t * t);
                }
            }
            out[isotropic ? 0 : c] += sum;
        }
    }
}

void tacet__kernel_grad_trace(const tacet_kernel *kernel, double *out, const double *X, size_t ldx, size_t n,
                              const double *W, size_t ldw) {
    const size_t lengthscales = kernel->spec.lengthscale_count;
    double value = 0;
    memset(out, 0, (lengthscales + 1) * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        const double *x = X + i * ldx;
        /* By symmetry the part j < i counts twice; the diagonal has no lengthscale part except for linear. */
        for (size_t at = 0; at <= i; at += TACET__KERNEL_BLOCK) {
            const size_t left = i + 1 - at;
            const size_t size = left < TACET__KERNEL_BLOCK ? left : TACET__KERNEL_BLOCK;
            double k[TACET__KERNEL_BLOCK];
            double w[TACET__KERNEL_BLOCK];
            tacet_kernel_row(kernel, k, X + at * ldx, ldx, size, x);
            for (size_t j = 0; j < size; j++) {
                w[j] = (at + j < i ? 2 : 1) * W[i * ldw + at + j];
                value += w[j] * k[j];
            }
            if (lengthscales > 0) {
                add_lengthscales(kernel, out, X + at * ldx, ldx, size, x, w);
            }
        }
    }
    for (size_t p = 0; p < lengthscales; p++) {
        out[p] *= kernel->spec.signal_var / (double)kernel->group_count;
    }
    out[lengthscales] = value;
}

void tacet__kernel_grad(const tacet_kernel *kernel, double *out, const double *x, const double *y) {
    const size_t lengthscales = kernel->spec.lengthscale_count;
    const double one = 1;
    memset(out, 0, (lengthscales + 1) * sizeof *out);
    if (lengthscales > 0) {
        add_lengthscales(kernel, out, y, kernel->spec.d, 1, x, &one);
    }
    for (size_t p = 0; p < lengthscales; p++) {
        out[p] *= kernel->spec.signal_var / (double)kernel->group_count;
    }
    out[lengthscales] = tacet_kernel_eval(kernel, x, y);
}

void tacet__kernel_row_dx(const tacet_kernel *kernel, double *out, size_t ldo, const double *X, size_t ldx, size_t n,
                          const double *x) {
    const double factor = kernel->spec.signal_var / (double)kernel->group_count;
    if (kernel->spec.kind == TACET_KERNEL_PRECOMPUTED) {
        memset(out, 0, n * sizeof *out);
        return;
    }
    for (size_t at = 0; at < n; at += TACET__KERNEL_BLOCK) {
        const size_t size = n - at < TACET__KERNEL_BLOCK ? n - at : TACET__KERNEL_BLOCK;
        for (size_t g = 0; g < kernel->group_count; g++) {
            double slope[TACET__KERNEL_BLOCK];
            slopes(kernel, slope, g, X + at * ldx, ldx, size, x);
            for (size_t k = kernel->starts[g]; k < kernel->starts[g + 1]; k++) {
                const size_t c = kernel->coordinates[k];
                const double inv = kernel->inverse[c];
                for (size_t j = 0; j < size; j++) {
                    const double y = X[(at + j) * ldx + c];
                    out[c * ldo + at + j] =
                        factor * inv *
                        (kernel->spec.kind == TACET_KERNEL_LINEAR ? y * inv : slope[j] * ((y - x[c]) * inv));
                }
            }
        }
    }
}
