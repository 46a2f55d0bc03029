/* SPDX-License-Identifier: Apache-2.0 */
/* direct.h - joint DP over a space without contexts: each reward is released at once, with Laplace noise.
 *
 * The point of a round is a function of earlier releases, of public coins and of the public order of suggestions and
 * reports; only its reward is private. So the reward v, mapped to [0, 1], is released once, v + Laplace(1/eps), and all
 * else is post-processing: pure eps for the reward of one round, towards everybody. Proof: src/central/README.md, (g).
 *
 * The contract. Whether, when and in which order tickets are reported must not depend on rewards: the time of a report
 * decides which later points may rest on it. A ticket that is never reported, that failed or was given up
 * (tacet_policy_drop) is released like a report, as 1/2 + Laplace(1/eps), at its place. c rounds of one person cost c
 * eps: give eps/c. Contexts and decision sets are refused: with them the point would tell of its user.
 * A reward is released inside the first suggestion after its report (the last ones with the last report), under
 * "<ticket>/<round>" in the group "<ticket>"; the number is in the ledger before it is used, and a round that is
 * reported again from an older state is given the same number, whatever is reported. Not thread-safe. */
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
}; /* at most: each is a number in the posterior, and an entry of the ledger */

typedef struct tacet_central_direct_settings {
    double eps;                  /* pure, of each round; no default */
    uint64_t rounds;             /* T, at most TACET_CENTRAL_DIRECT_ROUNDS; no default */
    double reward_lo, reward_hi; /* defaults 0, 1; what is outside is clipped */
    size_t open_most;            /* tickets that may be open at a time; default 64 */
    bool uniform;                /* default false. true: points anywhere, whatever was learnt */
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
    TACET_CENTRAL_RELEASE_DIRECT,
    TACET_CENTRAL_RELEASE_UNIFORM /* neither tells enough to do better than points anywhere */
} tacet_central_release;

typedef struct tacet_central_outlook {
    tacet_central_release release;
    double direct, batches; /* nats that a quarter of the rounds tell of the function */
    double all;             /* nats that all rounds tell, by the better of the two */
} tacet_central_outlook;

/* INVALID, NO_MEMORY, NUMERIC. */
TACET_API tacet_status tacet_central_direct_outlook(tacet_central_outlook *out, const tacet_space *space,
                                                    uint64_t rounds, double eps, double delta, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
