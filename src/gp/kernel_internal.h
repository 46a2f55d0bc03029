/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_internal.h - what the other files of the library use of a kernel beyond tacet/gp/kernel.h: rows over
 * coordinate-major points, and derivatives. Ring: pure. */
#pragma once

#include <stddef.h>
#include <tacet/gp/kernel.h>

enum { TACET__MATERN_MOST = 10 };   /* largest matern_p */
enum { TACET__KERNEL_BLOCK = 512 }; /* points worked on at once: a buffer of them stays in the first-level cache */

struct tacet_kernel {
    tacet_kernel_spec spec; /* pointers go to the copies below */
    double *inverse;        /* d reciprocals of the lengthscales */
    double *lengthscales;
    size_t *groups;      /* copy, NULL without groups */
    size_t *coordinates; /* all coordinates, those of one group together */
    size_t *starts;      /* group g has coordinates[starts[g] … starts[g+1]-1]; one group when there are none */
    size_t group_count;  /* at least 1 */
    double *matrix;      /* precomputed: order x order, symmetrised */
    double matern[TACET__MATERN_MOST + 1];       /* coefficients of s^j in k = e^-s sum_j, s = sqrt(2p+1) r */
    double matern_slope[TACET__MATERN_MOST + 1]; /* the same of order p-1, divided by 2p-1: -k'(s)/s = e^-s sum_j */
    double matern_scale2;                        /* 2p + 1 */
};

/* As tacet_kernel_row (same bits), points stored by coordinate: coordinate c of point j is Xt[c*ldt + j]. Faster:
 * each coordinate is one contiguous stream. */
void tacet__kernel_row_soa(const tacet_kernel *kernel, double *out, const double *Xt, size_t ldt, size_t n,
                           const double *x);

/* out[c*ldo + j] = dk(x, X_j)/dx_c, c < d, j < n. Matérn 1/2 has no derivative where a group's coordinates of x and X_j
 * are equal: that group counts 0 there. Zero for a precomputed kernel. */
void tacet__kernel_row_dx(const tacet_kernel *kernel, double *out, size_t ldo, const double *X, size_t ldx, size_t n,
                          const double *x);

/* For kernel_grad.c: r2[j] = squared scaled distance within group g, for n <= TACET__KERNEL_BLOCK points of which
 * coordinate c of point j is X[j*point + c*coordinate]. */
void tacet__kernel_r2(const tacet_kernel *kernel, double *r2, size_t g, const double *X, size_t point,
                      size_t coordinate, size_t n, const double *x);

size_t tacet_kernel_dim(const tacet_kernel *kernel);
/* The specification, with the pointers into the kernel's own copies. */
const tacet_kernel_spec *tacet_kernel_describe(const tacet_kernel *kernel);
double tacet_kernel_eval(const tacet_kernel *kernel, const double *x, const double *y);
/* out[j] = k(x, X_j), j < n. Vectorised: the hot path of a GP. */
void tacet_kernel_row(const tacet_kernel *kernel, double *out, const double *X, size_t ldx, size_t n, const double *x);
/* out (n x m, leading dimension ldo) = k(X_i, Y_j). */
void tacet_kernel_matrix(const tacet_kernel *kernel, double *out, size_t ldo, const double *X, size_t ldx, size_t n,
                         const double *Y, size_t ldy, size_t m);
/* out[j] = k(X_j, X_j). */
void tacet_kernel_diag(const tacet_kernel *kernel, double *out, const double *X, size_t ldx, size_t n);
