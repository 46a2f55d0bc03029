/* SPDX-License-Identifier: Apache-2.0 */
/* eiv.h - the errors-in-variables covariance: a kernel between points that are known up to Gaussian noise.
 *
 * z = x + u, u ~ N(0, diag(sd^2)) independent from row to row: for two different rows the covariance is
 * E k(z + u, z' + u'). Every SE and Matérn kernel is here a finite mixture of squared exponentials, for which the
 * expectation is closed. Not for a row with itself: that is k(x, x). Ring: pure. */
#pragma once

#include <stddef.h>
#include <tacet/gp/kernel.h>
#include <tacet/core/status.h>

typedef struct tacet__eiv tacet__eiv;

/* sd: 1 or d of them, finite and >= 0 (INVALID otherwise). UNSUPPORTED: a kernel that is neither SE nor Matérn. The
 * specification is copied. NO_MEMORY. */
tacet_status tacet__eiv_create(tacet__eiv **out, const tacet_kernel_spec *spec, const double *sd, size_t sd_count,
                               tacet_error *err);
void tacet__eiv_free(tacet__eiv *eiv); /* NULL is allowed */

/* out[j] = covariance of row x with row j, n rows stored by coordinate: coordinate c of row j is Xt[c*ldt + j]. The
 * same operations for every j. */
void tacet__eiv_row_soa(const tacet__eiv *eiv, double *out, const double *Xt, size_t ldt, size_t n, const double *x);
