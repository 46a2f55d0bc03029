/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - the non-negative measure that best explains a noisy vector of its moments. Ring: open.
 *
 * Given R = Phi w + noise of variance s2 in each number, w >= 0 with a known total, and a guess g of where the mass is,
 * it is the w of least |R - Phi w|^2 / (2 s2) + tau KL(w | g). */
#ifndef TACET_SRC_CONTEXTUAL_OPEN_MEASURE_H
#define TACET_SRC_CONTEXTUAL_OPEN_MEASURE_H

#include <stddef.h>
#include <tacet/core/status.h>

typedef struct tacet__measure tacet__measure;

/* A measure on `points` grid points, seen through an r x points matrix, which is borrowed. NO_MEMORY. */
tacet_status tacet__measure_create(tacet__measure **out, const double *Phi, size_t r, size_t points, tacet_error *err);
void tacet__measure_free(tacet__measure *measure);
/* w (points) from R (r) and guess (points, >= 0, some > 0, any scale). total, s2, tau > 0. NUMERIC: numbers that are
 * not finite. Nothing is allocated. */
tacet_status tacet__measure_fit(tacet__measure *measure, double *w, const double *R, const double *guess, double total,
                                double s2, double tau, tacet_error *err);

#endif
