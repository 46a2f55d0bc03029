/* SPDX-License-Identifier: Apache-2.0 */
/* shape.h - along which directions a batch's sum is released, how strongly, and in how many numbers. Ring: open.
 * README.md, (c). */
#pragma once

#include <stddef.h>
#include <tacet/core/status.h>

/* l2 noise is for at most so many numbers: with more it gains little on Gaussian noise, and several records of one
 * person would cost more (README.md, (c)). */
enum { TACET__FEW_MOST = 24 };

/* The noise that a release of k numbers is planned with: Gaussian, of one variance, or, where that is less, of an l2
 * mechanism, whose variance grows with k. */
typedef struct tacet__batch_noise {
    double gaussian_var; /* per number, for the release's sensitivity; 0: exact; INFINITY: pure eps, no Gaussian */
    double unit;         /* sensitivity/eps of the l2 mechanism; 0: there is none */
    double beside;       /* numbers that are released beside each of the shape's */
} tacet__batch_noise;

/* Planned variance of one of k numbers. Within some 5 % of what is then calibrated, which nothing rests on. */
double tacet__batch_noise_var(const tacet__batch_noise *noise, size_t k);

/* A (m x m) of *numbers rows, at most `most`, the others 0, such that A sum v_i phi_i + noise tells most, in nats,
 * about theta ~ N(., P), where the n arms have mean phi phi' = S (both triangles) and rewards scatter with variance
 * reward_var; the mean of |A phi|^2 over the arms is 1. A is upper trapezoidal with a positive diagonal: a function of
 * S, P and the noise whichever eigenvectors were found. P is destroyed; scratch: 3 m^2 + 3 m doubles. NUMERIC,
 * NO_MEMORY. */
tacet_status tacet__batch_shape(double *A, size_t *numbers, const double *S, double *P, size_t m, size_t n,
                                double reward_var, const tacet__batch_noise *noise, size_t most, double *scratch,
                                tacet_error *err);
