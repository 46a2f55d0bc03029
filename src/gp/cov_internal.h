/* SPDX-License-Identifier: Apache-2.0 */
/* cov_internal.h - covariances, as policies and Gaussian processes use them. Ring: pure. */
#pragma once

#include <stdbool.h>
#include <tacet/gp/cov.h>

/* X: one point per column, leading dimension ldx, copied. INVALID: no
 * candidate, a coordinate that is not finite (names candidate and coordinate), an input_sd that is not finite and
 * >= 0. NUMERIC: a prior variance that is negative or not finite. UNSUPPORTED: input noise for a kernel that has none.
 * NO_MEMORY. */
tacet_status tacet_cov_create(tacet_cov **out, const tacet_cov_spec *spec, const double *X, size_t ldx, size_t n,
                              tacet_error *err);
void tacet_cov_free(tacet_cov *cov); /* NULL is allowed */
size_t tacet_cov_size(const tacet_cov *cov);
/* out[k] = covariance of candidate i with candidate first + k. Every entry is computed by the same operations wherever
 * it stands in the row: equal points give equal bits. */
void tacet_cov_row(const tacet_cov *cov, double *out, size_t first, size_t count, size_t i);
void tacet_cov_diag(const tacet_cov *cov, double *out, size_t first, size_t count);
/* Coordinates of a point. */
size_t tacet__cov_dim(const tacet_cov *cov);
/* The point of candidate i: tacet__cov_dim of them. */
void tacet__cov_point(const tacet_cov *cov, double *out, size_t i);
/* As tacet_cov_row, x being the point of candidate i, which the caller has at hand. */
void tacet__cov_row_at(const tacet_cov *cov, double *out, size_t first, size_t count, const double *x, size_t i);
