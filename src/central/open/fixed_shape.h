/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_shape.h - along which directions a batch's sum is released, and how strongly. Ring: open. README.md, (g). */
#ifndef TACET_SRC_CENTRAL_OPEN_FIXED_SHAPE_H
#define TACET_SRC_CENTRAL_OPEN_FIXED_SHAPE_H

#include <stddef.h>
#include <tacet/core/status.h>

/* A (m x m, symmetric) such that A sum v_i phi_i + N(0, noise_var I) tells most, in nats, about theta ~ N(., P), where
 * the n arms have mean phi phi' = S (both triangles) and rewards scatter with variance reward_var; the mean of
 * |A phi|^2 over the arms is 1. P is destroyed; scratch: 3 m^2 + 2 m doubles. NUMERIC. */
tacet_status tacet__fixed_shape(double *A, const double *S, double *P, size_t m, size_t n, double reward_var,
                                double noise_var, double *scratch, tacet_error *err);

#endif
