/* SPDX-License-Identifier: Apache-2.0 */
/* direct.h - joint DP over a space without contexts: rewards are released at once, with Laplace noise.
 *
 * The point of a round is a function of earlier releases, of public coins and of the public order of suggestions and
 * reports; only its reward is private. So rewards, mapped to [0, 1], are released once, by themselves or as the sum of
 * `each` rounds at one point, with Laplace(1/eps), and all else is post-processing: pure eps for the reward of one
 * round, towards everybody. Sums have less noise a round and tell of fewer points. Proof: src/central/README.md, (g).
 *
 * The contract. Whether, when and in which order tickets are reported must not depend on rewards: the time of a report
 * decides which later points may rest on it. A ticket that is never reported, that failed or was given up
 * (tacet_policy_drop) counts as a reward of 1/2, at its place. c rounds of one person cost c
 * eps: give eps/c. Contexts and decision sets are refused: with them the point would tell of its user.
 * A sum is released inside the first suggestion after the last report of its rounds (the last ones with the last report
 * of all), under "<ticket>/<number>" in the group "<ticket>"; it is in the ledger before it is used, and rounds that
 * are reported again from an older state are given the same sum, whatever is reported. Not thread-safe. */
#ifndef TACET_CENTRAL_TRUSTED_DIRECT_H
#define TACET_CENTRAL_TRUSTED_DIRECT_H

#include <stdbool.h>
#include <stdint.h>
#include <tacet/core/policy.h>
#include <tacet/dp/mechanism.h>
#include <tacet/space/space.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TACET_CENTRAL_DIRECT_ROUNDS = 4096
}; /* at most: each may be a number in the posterior, and an entry of the ledger */

typedef struct tacet_central_direct_settings {
    double eps;                  /* pure, of each round; no default */
    uint64_t rounds;             /* T, at most TACET_CENTRAL_DIRECT_ROUNDS; no default */
    double reward_lo, reward_hi; /* defaults 0, 1; what is outside is clipped */
    size_t open_most;            /* tickets that may be open at a time; default 64 */
    uint64_t each;               /* default 1. n: a point is played n times in a row, and the sum is released */
    uint64_t coin_seed;          /* public; default 1 */
} tacet_central_direct_settings;

TACET_API void tacet_central_direct_settings_defaults(tacet_central_direct_settings *settings);
/* The space is copied. The index of a suggestion names a point of a fine public grid: tacet_central_direct_record.
 * INVALID names what is wrong; also a space of too many columns or levels for such a grid. NO_MEMORY. */
TACET_API tacet_status tacet_central_direct_policy(tacet_policy **out, const tacet_space *space,
                                                   const tacet_central_direct_settings *settings, const tacet_ask *ask,
                                                   tacet_error *err);
/* The record of an index, in the columns' own units: as many numbers as columns. INVALID: no such point, or the policy
 * is another. */
TACET_API tacet_status tacet_central_direct_record(const tacet_policy *policy, double *record, size_t index,
                                                   tacet_error *err);

/* Which release tells more over this space, by arithmetic on public numbers alone. */
typedef enum tacet_central_release {
    TACET_CENTRAL_RELEASE_BATCHES, /* shaped batches: tacet/central/trusted/fixed.h */
    TACET_CENTRAL_RELEASE_DIRECT   /* tacet_central_direct_policy with `each` as below */
} tacet_central_release;

typedef struct tacet_central_outlook {
    tacet_central_release release;
    uint64_t each;          /* how often a point is best played before its sum is released */
    double direct, batches; /* nats that a quarter of the rounds tell of the function */
    double all;             /* nats that all rounds tell, by the better of the two */
    bool chance;            /* too little: expect nothing better than a point at random */
} tacet_central_outlook;

/* INVALID, NO_MEMORY, NUMERIC. */
TACET_API tacet_status tacet_central_direct_outlook(tacet_central_outlook *out, const tacet_space *space,
                                                    uint64_t rounds, double eps, double delta, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
