/* SPDX-License-Identifier: Apache-2.0 */
/* basis.h - the public half of contextual choices: the space of actions and contexts, its features, certified suprema.
 *
 * Everything here is a function of public things: bounds, kernel, lengthscales, sizes. None of
 * them may have been fitted on the data that is to be protected; src/contextual/README.md says why. A point w is an
 * action followed by a context, in the units of the bounds. Immutable once created: any number of threads may read. */
#pragma once

#include <stddef.h>
#include <tacet/contextual/shared/limits.h>
#include <tacet/gp/kernel.h>
#include <tacet/core/status.h>

typedef struct tacet_contextual_space {
    size_t action_dim;          /* >= 1 */
    size_t context_dim;         /* together at most TACET_CONTEXTUAL_DIM_MOST */
    const double *lower;        /* action_dim + context_dim of them, actions first */
    const double *upper;        /* each above its lower */
    tacet_kernel_kind kind;     /* SE or MATERN */
    unsigned matern_p;          /* 1 or 2: Matérn 3/2, 5/2 */
    const double *lengthscales; /* in the units of the bounds */
    size_t lengthscale_count;   /* 1 or action_dim + context_dim */
    size_t order;               /* quadrature nodes a coordinate; 0: by the dimension */
} tacet_contextual_space;

/* SE, one action and one context in [0, 1], lengthscale 0.3 (static storage). */
void tacet_contextual_space_defaults(tacet_contextual_space *space);

typedef struct tacet_contextual_basis tacet_contextual_basis;

/* Mercer features of the space under uniform actions and contexts; at most `most` (0: the most there can be). INVALID
 * names the rule: dimensions, bounds, lengthscales. UNSUPPORTED: another kernel. NO_MEMORY. NUMERIC. */
tacet_status tacet_contextual_basis_create(tacet_contextual_basis **out, const tacet_contextual_space *space,
                                           size_t most, tacet_error *err);
void tacet_contextual_basis_free(tacet_contextual_basis *basis);                       /* NULL is allowed */
size_t tacet_contextual_basis_dim(const tacet_contextual_basis *basis);                /* features */
const double *tacet_contextual_basis_eigenvalues(const tacet_contextual_basis *basis); /* E phi phi' = diag */
/* 0 when the point lies within the bounds; otherwise 1 + the first coordinate that does not, NaN included. */
size_t tacet_contextual_basis_outside(const tacet_contextual_basis *basis, const double *w);

/* What a certificate is worth. */
typedef struct tacet_contextual_certificate {
    double upper; /* no point of the space exceeds it */
    double found; /* the largest value seen: upper/found - 1 is what is given away */
    size_t cells; /* looked at */
} tacet_contextual_certificate;
