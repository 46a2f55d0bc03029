/* SPDX-License-Identifier: Apache-2.0 */
/* direct.h - joint DP over a space or a list, without contexts: rewards are released at once, with Laplace noise.
 *
 * The point of a round is a function of earlier releases, of public coins and of the public order of suggestions and
 * reports; only its reward is private. So rewards, mapped to [0, 1], are released once, by themselves or as the sum of
 * `each` rounds at one point, with Laplace(1/eps), and all else is post-processing: pure eps for the reward of one
 * round, towards everybody. Sums have less noise a round and tell of fewer points. Proof: src/central/README.md, (f).
 *
 * The contract. Whether, when and in which order tickets are reported must not depend on rewards: the time of a report
 * decides which later points may rest on it. A ticket that is never reported, that failed or was given up
 * (tacet_policy_drop) counts as a reward of 1/2, at its place. c rounds of one person cost c
 * eps: give eps/c. Contexts and decision sets are refused: with them the point would tell of its user.
 * A sum is released inside the first suggestion after the last report of its rounds (the last ones with the last report
 * of all), under "<ticket>/<number>" in the group "<ticket>"; it is in the ledger before it is used, and rounds that
 * are reported again from an older state are given the same sum, whatever is reported. Not thread-safe. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "central/open/outlook.h"
#include <tacet/contextual/open/model.h>
#include <tacet/core/policy.h>
#include "dp/mechanism.h"
#include <tacet/space/space.h>

typedef struct tacet_central_direct_settings {
    double eps;                  /* pure, of each round; no default */
    uint64_t rounds;             /* T, at most TACET_CENTRAL_DIRECT_ROUNDS; no default */
    double reward_lo, reward_hi; /* defaults 0, 1; what is outside is clipped */
    size_t open_most;            /* tickets that may be open at a time; default 64 */
    uint64_t each;               /* default 1. n: a point is played n times in a row, and the sum is released */
    uint64_t coin_seed;          /* public; default 1 */
    const tacet_central_earlier *earlier; /* public; read by the call that makes the policy; of more than 256 an even
                                             sample counts. Default none */
    size_t earlier_count;
} tacet_central_direct_settings;

void tacet_central_direct_settings_defaults(tacet_central_direct_settings *settings);
/* Space and list are copied. The index of a suggestion is a place in the list, or names a point of a fine public grid
 * over the space: tacet_central_direct_record. INVALID names what is wrong; also a space of too many columns or levels
 * for such a grid. NO_MEMORY. */
tacet_status tacet_central_direct_policy(tacet_policy **out, const tacet_central_arms *arms,
                                         const tacet_central_direct_settings *settings, const tacet_ask *ask,
                                         tacet_error *err);
/* The record of an index, in the columns' own units: as many numbers as columns. INVALID: no such point, a list, or
 * another policy. */
tacet_status tacet_central_direct_record(const tacet_policy *policy, double *record, size_t index, tacet_error *err);
/* Tickets until a point is chosen by more than the points before it were: first by anything at all. Of counts that are
 * public alone. 0: the next one, or the horizon is over, or another policy. */
uint64_t tacet_central_direct_tickets_left(const tacet_policy *policy);
/* What was learnt, as a model for anyone: the posterior mean at `count` points (coordinates x count, spread over
 * the domain) by a sum of the kernel's functions there. `about` has bounds, direction and the space. Post-processing:
 * it costs nothing. STATE: nothing was released yet. UNSUPPORTED: another kernel than se, matern32 and matern52.
 * INVALID: no points. NO_MEMORY, NUMERIC. */
tacet_status tacet_central_direct_model(tacet_contextual_model **out, const tacet_policy *policy,
                                        const tacet_kernel *kernel, const tacet_contextual_parts *about,
                                        const double *points, size_t count, tacet_error *err);
