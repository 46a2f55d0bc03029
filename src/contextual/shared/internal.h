/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the inside of the public half of USCA, for the learner, the planner, the auditor and their tests.
 * Ring: shared. */
#pragma once

#include "gp/features_internal.h"

#include <stdbool.h>
#include "contextual/shared/basis.h"

struct tacet_contextual_basis {
    size_t d, action_dim;
    double lower[TACET_CONTEXTUAL_COORDINATES_MOST], upper[TACET_CONTEXTUAL_COORDINATES_MOST];
    double unit_lengthscale[TACET_CONTEXTUAL_COORDINATES_MOST]; /* of the unit box */
    tacet_features *features;                                   /* over the unit box, E phi phi' = diag(lam) */
};

/* The leading m features, without copying anything; lives as long as the basis. */
typedef struct tacet__contextual_view {
    tacet_features features;
    tacet__feature_block block;
} tacet__contextual_view;
void tacet__contextual_view_init(tacet__contextual_view *view, const tacet_contextual_basis *basis, size_t m);

/* Into the unit box; coordinates outside the bounds are clipped, a NaN becomes the middle: a total function. */
void tacet__contextual_unit(const tacet_contextual_basis *basis, double *out, const double *w);

/* u(w) = Z^-1/2 phi(w): |u|^2 is the leverage sigma^2(w). Z = diag(z), or L L'. Z >= tau I. */
typedef struct tacet__lever {
    const tacet_features *features; /* m of them */
    const double *inverse_root;     /* m: z^-1/2; NULL: use L */
    const double *L;                /* m x m, lower, leading dimension m */
    double tau;
    size_t d;
    const double *lengthscale; /* d, of the unit box */
} tacet__lever;

/* In place: columns phi (m x n) become u. */
void tacet__lever_apply(const tacet__lever *lever, double *phi, size_t n);
/* |k(., w) - k(., c) - (w - c)'grad k(., c)| in the kernel's space, at most, for |w - c| <= r lengthscales. half: 0 SE,
 * 1 Matérn 3/2, 2 Matérn 5/2. */
double tacet__contextual_remainder(unsigned half, double r);
/* sup over the unit box of |u(w)|, by branch and bound until upper <= (1 + tolerance) found, or so many cells: then it
 * is looser, and still true. UNSUPPORTED: too many coordinates, or groups. NO_MEMORY. */
tacet_status tacet__lever_certify(tacet_contextual_certificate *out, const tacet__lever *lever, double tolerance,
                                  size_t most_cells, tacet_error *err);

/* gamma = 1/2 sum ln(1 + T lam_j / tau), from kernel and law alone; the paper's K is ceil(T/gamma). */
double tacet__contextual_gain(const tacet_contextual_basis *basis, double rounds, double tau);
