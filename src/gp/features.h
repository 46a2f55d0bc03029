/* SPDX-License-Identifier: Apache-2.0 */
/* features.h - finite-dimensional approximations of a kernel: phi(x)'phi(y) is close to k(x, y).
 *
 * All of them are functions of public things only (kernel, domain, landmarks), so they may be recreated by any party
 * and are never saved. For every one |phi(x)|^2 <= k(x, x) (to a few units in the last place): with signal variance 1 a
 * feature vector has norm at most 1, which is what sensitivity bounds rest on. For QFF it is an equality.
 * Points are columns, as in kernel.h. Immutable once created: any number of threads may read one. */
#pragma once

#include <stddef.h>
#include <tacet/gp/kernel.h>
#include <tacet/core/status.h>

typedef struct tacet_features tacet_features;

typedef enum tacet_domain_kind {
    TACET_DOMAIN_BOX, /* lower <= x <= upper */
    TACET_DOMAIN_BALL /* |x - centre| <= radius */
} tacet_domain_kind;

/* A public domain with its uniform law. */
typedef struct tacet_domain {
    tacet_domain_kind kind;
    size_t d;
    const double *lower;  /* box: d of them */
    const double *upper;  /* box: d of them, each above its lower */
    const double *centre; /* ball: d of them, or NULL for the origin */
    double radius;        /* ball: > 0 */
    /* Box: what is known of its coordinates. A point elsewhere is taken for the nearest of these. */
    const size_t *levels; /* d, or NULL: so many evenly spaced values from lower to upper; 0: any */
    const size_t *choice; /* d, or NULL: coordinates that share a number above 0 are one choice: one of them is at its
                             upper bound, the others at their lower */
} tacet_domain;

/* Quadrature Fourier features of an SE kernel: Gauss–Hermite nodes on the full Cartesian grid, one of each pair
 * ±omega kept. Dimension order^d, or the sum over groups of order^(its size) for an additive kernel.
 * order: 1 … 64. INVALID: order out of range. UNSUPPORTED: another kernel. OVERFLOW: too many features. NO_MEMORY. */
tacet_status tacet_features_create_qff(tacet_features **out, const tacet_kernel *kernel, size_t order,
                                       tacet_error *err);
/* The same, and for a Matérn kernel in several coordinates (of a group) those of the product of its one-coordinate
 * kernels: "modified Matérn" of Mutny and Krause, another kernel with the same smoothness along each axis. */
tacet_status tacet_features_create_qff_product(tacet_features **out, const tacet_kernel *kernel, size_t order,
                                               tacet_error *err);
/* Nyström: the kernel's projection on the span of k(., z) over `count` landmarks (columns of Z). Exact at the
 * landmarks up to the cut-off: eigenvalues below 1e-10 of the largest are dropped. most > 0: keep the leading `most`
 * only. Any kernel. INVALID: no landmarks, a coordinate that is not finite. NUMERIC. NO_MEMORY. */
tacet_status tacet_features_create_nystrom(tacet_features **out, const tacet_kernel *kernel, const double *Z,
                                           size_t ldz, size_t count, size_t most, tacet_error *err);
/* Mercer features of the domain under its uniform law, by quadrature with `order` nodes a coordinate: the leading
 * `most` (0: all above 1e-10 of the largest). With groups: one rule per group, the leading `most` over all groups; a
 * ball then gives each group the ball of the same radius. INVALID: a domain that does not fit the kernel, order^d >
 * 10,000. UNSUPPORTED: precomputed kernels (use the points below). NO_MEMORY. */
tacet_status tacet_features_create_mercer(tacet_features **out, const tacet_kernel *kernel, const tacet_domain *domain,
                                          size_t order, size_t most, tacet_error *err);
/* The same under a given law on n points: weights (NULL: equal) need not sum to 1, each must be > 0. */
tacet_status tacet_features_create_mercer_points(tacet_features **out, const tacet_kernel *kernel, const double *X,
                                                 size_t ldx, const double *weights, size_t n, size_t most,
                                                 tacet_error *err);
void tacet_features_free(tacet_features *features); /* NULL is allowed */

size_t tacet_features_dim(const tacet_features *features);    /* m */
size_t tacet_features_inputs(const tacet_features *features); /* d */
const tacet_kernel *tacet_features_kernel(const tacet_features *features);
/* m eigenvalues, in the order of the features: descending (within a group, where there are groups). Mercer: of the
 * integral operator, so that E phi phi' = diag(lam) under the law (exactly so on the nodes, without groups). Nyström:
 * of the kernel matrix. NULL for QFF. */
const double *tacet_features_eigenvalues(const tacet_features *features);
/* An upper bound of |phi(x)|^2 over all x: signal_var; for precomputed its largest diagonal entry; infinite for linear.
 */
double tacet_features_norm2_bound(const tacet_features *features);
/* out (m x n, leading dimension m) = phi(X_j). Nothing is allocated. */
void tacet_features_eval(const tacet_features *features, double *out, const double *X, size_t ldx, size_t n);
