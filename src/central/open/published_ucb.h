/* SPDX-License-Identifier: Apache-2.0 */
/* published_ucb.h - GP-UCB in a feature space from noisy normal equations: the server of Dubey (AISTATS 2021),
 * Algorithm 1.
 *
 * It is told a noisy version of N = sum z z', z = [phi(x); y], as its lower triangle by columns with the off-diagonals
 * times sqrt 2 (an isometry), and scores arms by <theta, phi> + width beta_t rho |phi|_(V^-1) with
 *     V = Sigma + 2 shift I + lambda I, theta = V^-1 u,
 *     beta_t = B sqrt(3 shift/rho^2 + 1) + kappa/rho + sqrt(ln det(V / (lambda + shift)) + 2 ln(2/zeta))  (Theorem 1).
 * The shift (Lemma 3's Lambda) makes the noise positive definite with high probability; the eigenvalues of the shifted
 * noise lie between shift and 3 shift. With exact sums, shift = kappa = 0: plain GP-UCB. Not thread-safe. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <tacet/core/blob.h>
#include "gp/features.h"
#include <tacet/core/status.h>

typedef struct tacet_published_ucb_settings {
    double norm_bound; /* B of the function; default 1 */
    double rho;        /* sub-Gaussian constant of a reward; default 0.5 (rewards in [0, 1]) */
    double lambda;     /* > 0; default 1 */
    double zeta;       /* failure probability of the width; default 0.1 */
    double shift;      /* >= 0; default 0 */
    double kappa;      /* >= 0; default 0 */
    double width;      /* factor of the proven width; default 1 */
} tacet_published_ucb_settings;

typedef struct tacet_published_ucb tacet_published_ucb;

void tacet_published_ucb_settings_defaults(tacet_published_ucb_settings *settings);
/* Lemma 3: shift and kappa when each number of a release has noise of standard deviation sd (the paper's
 * sigma sqrt(2 n)), m features, with probability 1 - zeta over all rounds. */
void tacet_published_ucb_spectrum(double *shift, double *kappa, double sd, size_t m, double rounds, double zeta);
/* The features are borrowed. INVALID names the setting. NO_MEMORY. */
tacet_status tacet_published_ucb_create(tacet_published_ucb **out, const tacet_features *features,
                                        const tacet_published_ucb_settings *settings, tacet_error *err);
void tacet_published_ucb_free(tacet_published_ucb *ucb);        /* NULL is allowed */
size_t tacet_published_ucb_dim(const tacet_published_ucb *ucb); /* (m+1)(m+2)/2 numbers of a sum */
/* Where V is not positive definite all the same, the identity is added in doubling steps until it is. INVALID: a number
 * that is not finite; the state is then as it was. O(m^3). Allocates nothing. */
tacet_status tacet_published_ucb_update(tacet_published_ucb *ucb, const double *sums, tacet_error *err);
/* The arm of the largest score, and that score. */
size_t tacet_published_ucb_choose(tacet_published_ucb *ucb, double *score, const double *X, size_t ldx, size_t n);
