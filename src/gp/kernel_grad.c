/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_grad.c - derivatives of a kernel by a point.
 * Ring: pure. Source: the derivative of e^-s P_p(s), P_p the Matérn polynomial, is -s e^-s P_(p-1)(s)/(2p-1), from
 * d/dz [z^nu K_nu(z)] = -z^nu K_(nu-1)(z). With S(r^2) = -2 dk/d(r^2) of one group
 *   dk/dx_i = -S (x_i - y_i)/l_i^2   (times signal_var / group_count).
 * Cost: O(d) a pair; nothing is allocated. */
#include "gp/kernel_internal.h"

#include "gp/vexp.h"

#include <math.h>
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
            sum = s > 0 ? 1 / s : 0; /* at 0 its factor (x_i - y_i) is 0 */
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
