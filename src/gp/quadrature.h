/* SPDX-License-Identifier: Apache-2.0 */
/* quadrature.h - Gauss rules for symmetric laws, and product rules for boxes and balls.
 *
 * All rules are for probability laws: the weights sum to 1, so a rule gives an expectation. A rule of n nodes is exact
 * for polynomials of degree 2n - 1. Nodes ascend and are exactly symmetric; an odd rule has a node at exactly 0.
 * INVALID: n = 0 or n > TACET__QUADRATURE_MOST. Ring: pure. */
#pragma once

#include <stddef.h>
#include <tacet/core/status.h>

enum { TACET__QUADRATURE_MOST = 256 };

/* The standard normal law. (The nodes for weight e^(-z^2) are these divided by sqrt 2.) */
tacet_status tacet__gauss_hermite(double *nodes, double *weights, size_t n, tacet_error *err);
/* The uniform law on [-1, 1]. */
tacet_status tacet__gauss_legendre(double *nodes, double *weights, size_t n, tacet_error *err);
/* The law on [-1, 1] with density proportional to (1 - t^2)^(lambda - 1/2), lambda > 0; lambda = d/2 is one coordinate
 * of a uniform point of the unit ball of R^d. */
tacet_status tacet__gauss_gegenbauer(double *nodes, double *weights, size_t n, double lambda, tacet_error *err);

/* The uniform law on the box [lower, upper] of R^d: n^d nodes, one per column of X (d x n^d), first coordinate
 * fastest. The caller has checked that n^d fits. */
tacet_status tacet__quadrature_box(double *X, double *weights, size_t d, size_t n, const double *lower,
                                   const double *upper, tacet_error *err);
/* The uniform law on the ball, n^d nodes: a coordinate of a uniform point has a Gegenbauer law, and given it the others
 * are uniform on a smaller ball. Exact for polynomials of total degree 2n - 1. centre NULL: the origin. */
tacet_status tacet__quadrature_ball(double *X, double *weights, size_t d, size_t n, const double *centre, double radius,
                                    tacet_error *err);
