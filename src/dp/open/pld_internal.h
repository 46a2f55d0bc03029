/* SPDX-License-Identifier: Apache-2.0 */
/* pld_internal.h - mechanisms by the points of their curves, for whoever adds up several kinds at once. Ring: shared.
 */
#ifndef TACET_SRC_DP_OPEN_PLD_INTERNAL_H
#define TACET_SRC_DP_OPEN_PLD_INTERNAL_H

#include <tacet/dp/open/pld.h>

/* What is known of one mechanism. */
typedef struct tacet__loss {
    size_t dims;       /* above 0: Euclidean noise in so many coordinates, of pure eps; 1: Laplace noise on a number */
    double mu;         /* otherwise, above 0: Gaussian */
    double eps, delta; /* otherwise: (eps, delta), and nothing else */
} tacet__loss;

/* How many points a curve has, and the points raised to at least those of the mechanism; zeros are no mechanism at all.
 * INVALID: numbers out of range; the points are then undefined. */
size_t tacet__pld_points(const tacet_pld *pld);
tacet_status tacet__pld_raise(const tacet_pld *pld, double *delta, const tacet__loss *loss, tacet_error *err);
/* `times` more runs of a mechanism whose curve is nowhere above these points. NO_MEMORY. */
tacet_status tacet__pld_add(tacet_pld *pld, const double *delta, uint64_t times, tacet_error *err);

#endif
