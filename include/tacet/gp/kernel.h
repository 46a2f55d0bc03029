/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - covariance functions.
 *
 * Points are columns: point j of an array X with d coordinates and leading dimension ldx starts at X + j*ldx. For a
 * precomputed kernel d = 1 and the coordinate is the number of the point, 0 … n-1; anything else gives NaN.
 * All entry points give the same bits for the same pair of points; k(x, y) = k(y, x) holds exactly, and so does
 * |k(x, y)| <= signal_var for SE and Matérn. Inside the library, src/gp/kernel_internal.h has rows over points stored
 * by coordinate (faster) and derivatives.
 * A kernel is immutable once created, so any number of threads may read it. */
#ifndef TACET_GP_KERNEL_H
#define TACET_GP_KERNEL_H

#include <stddef.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tacet_kernel_kind {
    TACET_KERNEL_SE,         /* exp(-r^2/2) */
    TACET_KERNEL_MATERN,     /* half-integer nu = matern_p + 1/2 */
    TACET_KERNEL_LINEAR,     /* <x, y> over the scaled coordinates */
    TACET_KERNEL_PRECOMPUTED /* a given covariance matrix */
} tacet_kernel_kind;

/* r^2 = sum over coordinates ((x_i - y_i) / l_i)^2, within a group when there are groups. */
typedef struct tacet_kernel_spec {
    tacet_kernel_kind kind;
    size_t d;                   /* coordinates of a point; 1 for precomputed */
    unsigned matern_p;          /* 0, 1, 2, …: nu = 1/2, 3/2, 5/2, …; at most 10 */
    double signal_var;          /* k(x, x) for SE and Matérn; a factor for linear and precomputed; > 0 */
    const double *lengthscales; /* 1 or d of them, each > 0; copied */
    size_t lengthscale_count;   /* 1: isotropic; d: ARD */
    const size_t *groups; /* NULL, or d group numbers 0 … group_count-1: additive kernel, the mean over groups of */
    size_t group_count;   /*   one kernel per group (so that k(x, x) = signal_var still) */
    const double *matrix; /* precomputed: order x order, column-major, symmetric PSD (checked); copied */
    size_t order;         /* precomputed: its order */
    size_t ld_matrix;     /* precomputed: its leading dimension */
} tacet_kernel_spec;

typedef struct tacet_kernel tacet_kernel;

/* SE, one lengthscale of 1, signal variance 1, d = 1, no groups. */
TACET_API void tacet_kernel_spec_defaults(tacet_kernel_spec *spec);
/* "se", "matern12", "matern32", "matern52", "matern72" …, "linear" into kind and matern_p. INVALID names the choices.
 */
TACET_API tacet_status tacet_kernel_parse(tacet_kernel_spec *spec, const char *name, tacet_error *err);
/* INVALID: a lengthscale or variance that is not finite and > 0, a group out of range or empty, d = 0. NUMERIC: a
 * precomputed matrix that is not symmetric positive semidefinite (names the eigenvalue). NO_MEMORY. */
TACET_API tacet_status tacet_kernel_create(tacet_kernel **out, const tacet_kernel_spec *spec, tacet_error *err);
TACET_API void tacet_kernel_free(tacet_kernel *kernel); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
