/* SPDX-License-Identifier: Apache-2.0 */
/* central_domain.h - fixed-domain problems of section 6.2 of Dubey (AISTATS 2021), and their simulation.
 *
 * The paper leaves noise, scaling and kernels open; here every function is scaled to [0, 1] over its domain, a reward
 * is the function plus N(0, 0.1^2), clipped to [0, 1].
 *   camelback      six-hump camel on [-2, 2] x [-1, 1], a grid of 31 x 31 points
 *   styblinski20   Styblinski-Tang, 20 coordinates in [-4, 4], 41 values each
 *   michalewicz10  sum of sin(x_i) sin(i x_i^2 / pi)^2, i = 0 … 9, x_i in [0, 1], 41 values each
 * and, not of the paper:
 *   box            a function of its own for each trial, of a Matérn 5/2 process of lengthscale 0.5 (central_env.h,
 *                  drawn), means from 0.1 to 0.9, over 500, 1000, 1000 points of the unit box of 2, 3, 4 coordinates;
 *                  regret is against the best point of the box; rewards are 0 or 1, or normal where noise is given.
 * Ring: programs; made-up data. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "central_env.h"

#include "central/trusted/policy.h"
#include "central/trusted/direct.h"

typedef struct central_domain central_domain;
typedef enum central_domain_player {
    CENTRAL_DOMAIN_PUBLISHED, /* one group: all arms are scored; many: additive QFF, arms found by a search */
    CENTRAL_DOMAIN_SHIPPED,
    CENTRAL_DOMAIN_NONPRIVATE,
    CENTRAL_DOMAIN_RANDOM
} central_domain_player;

/* dim, noise: of box alone. INVALID names the scenarios. NO_MEMORY. */
tacet_status central_domain_create(central_domain **out, const char *scenario, size_t dim, double noise,
                                   tacet_error *err);
void central_domain_free(central_domain *domain);
/* One run; *regret is cumulative, curve[0 … 9] that after each tenth of the rounds; *gap, of the shipped and the
 * non-private player: how far what it recommends is below the best there is. The shipped player reads eps and rounds of
 * the settings, and is pure. */
tacet_status central_domain_run(const central_domain *domain, double *regret, double *curve, double *gap,
                                central_domain_player player, const tacet_central_published_settings *settings,
                                uint64_t seed, uint64_t trial, tacet_error *err);
