/* SPDX-License-Identifier: Apache-2.0 */
/* gp_ucb.h - GP-UCB over a finite domain: the policy every private method is measured against.
 *
 * Round t asks the candidate with the largest mean + sqrt(beta_t) sd, beta_t = 2 ln(n t^2 pi^2/(6 delta')),
 * delta' = delta_ucb/2, t from 1; ties go to the lowest number. It sees the candidates and the values in the clear: it
 * protects nothing itself, but over points that are a private release it is post-processing and keeps their guarantee.
 * Several tickets may be open; they count as asked at once. src/gp/gp-ucb.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/gp/cov.h>
#include "gp/gp.h"
#include <tacet/core/policy.h>
#include <tacet/core/status.h>

typedef struct tacet_gp_ucb_settings {
    double mean;                      /* prior mean */
    double noise_var;                 /* >= 0 */
    double delta_ucb;                 /* in (0, 1): probability that the confidence bounds fail */
    double beta_scale;                /* factor on beta_t, > 0; 1 is the theory's */
    size_t horizon;                   /* suggestions at most, > 0; memory is 8 n horizon bytes */
    bool allow_repeats;               /* a candidate may be asked again */
    const size_t *initial;            /* candidates to ask first, in this order; NULL: none; copied */
    size_t initial_count;             /* all different unless allow_repeats */
    const tacet_guarantee *guarantee; /* of the points, when they are a release; copied; NULL: unprotected */
} tacet_gp_ucb_settings;

/* Mean 0, noise 1e-6, delta_ucb 0.05, scale 1, no repeats, nothing initial, unprotected. The horizon must be set. */
void tacet_gp_ucb_settings_defaults(tacet_gp_ucb_settings *settings);
/* Candidates as for tacet_cov_create (points copied, kernel borrowed). INVALID: a setting out of its range, an initial
 * candidate that does not exist or repeats, a horizon above n without repeats. NO_MEMORY, OVERFLOW; or as
 * tacet_cov_create. */
tacet_status tacet_gp_ucb_create(tacet_policy **out, const tacet_gp_ucb_settings *settings, const tacet_cov_spec *cov,
                                 const double *X, size_t ldx, size_t n, tacet_error *err);
/* beta_t for n candidates, round t >= 1. */
double tacet_gp_ucb_beta(size_t n, size_t t, double delta_ucb);
/* The model inside a GP-UCB policy, for reading. NULL: another kind of policy. */
const tacet_gp *tacet_gp_ucb_model(const tacet_policy *policy);
