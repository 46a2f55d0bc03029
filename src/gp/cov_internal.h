/* SPDX-License-Identifier: Apache-2.0 */
/* cov_internal.h - what the other files of base ask of a covariance. Ring: pure. */
#ifndef TACET_SRC_GP_COV_INTERNAL_H
#define TACET_SRC_GP_COV_INTERNAL_H

#include <stdbool.h>
#include <tacet/gp/cov.h>

/* Its rows come from the caller's function, so nothing is known of them. */
bool tacet__cov_is_custom(const tacet_cov *cov);
/* Coordinates of a point; 0: the caller's functions. */
size_t tacet__cov_dim(const tacet_cov *cov);
/* The point of candidate i: tacet__cov_dim of them. */
void tacet__cov_point(const tacet_cov *cov, double *out, size_t i);
/* As tacet_cov_row, x being the point of candidate i, which the caller has at hand. Not for the caller's functions. */
void tacet__cov_row_at(const tacet_cov *cov, double *out, size_t first, size_t count, const double *x, size_t i);

#endif
