/* SPDX-License-Identifier: Apache-2.0 */
/* cells.h - what noisy numbers of successes and failures say of the cells of a table. Ring: shared. */
#ifndef TACET_SRC_CONTEXTUAL_SHARED_CELLS_H
#define TACET_SRC_CONTEXTUAL_SHARED_CELLS_H

#include <stddef.h>
#include <tacet/core/status.h>

enum { TACET__CELLS_MOST = 1024 };

/* Every pair of an action and a context is a cell, actions fastest. */
typedef struct tacet__cells {
    size_t actions, contexts;
    double bound;     /* rewards about the middle are at most this */
    double prior_var; /* believed mean square of how cells differ */
    double noise_var; /* of each released number */
} tacet__cells;

/* theta (a mean a cell, about the middle) and P (their covariance, cells x cells) from 2 x cells released numbers: for
 * each cell the sum of (y + B)/2B, and of (B - y)/2B. NUMERIC, NO_MEMORY. */
tacet_status tacet__cells_learn(const tacet__cells *cells, double *theta, double *P, const double *released,
                                tacet_error *err);
/* P alone, for cells of n records each, means near the middle, and their overall mean known. */
tacet_status tacet__cells_foresee(const tacet__cells *cells, double *P, const double *n, tacet_error *err);

#endif
