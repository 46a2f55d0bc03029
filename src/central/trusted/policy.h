/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h (central, trusted) - joint differential privacy for bandits whose decision sets and rewards are both
 * private.
 *
 * Each round is one user: a decision set D_t, of which an arm is shown to that user, and a reward y_t. What everybody
 * else sees, now and later, is (eps, delta)-private in (D_t, y_t) (Definition 6 of Dubey, AISTATS 2021: replace one
 * round). tacet_central_create gives the policy; inside, raw sums are held and released through the gate at the ends of
 * growing batches, and a learner (central/open/learner.h) sees the releases only.
 *
 * Stored states, and logs that are replayed. A release leaves inside the first suggestion after a batch's end, and is
 * entered in the ledger just before, durably, with a hash of the tickets of its rounds. The same tickets in the same
 * order get the same release again, whatever is reported for them, in any number of processes; others are refused with
 * CONFLICT, by that suggestion and every later one. So a state may be older than the newest release.
 * Make an observation durable (the event, or a saved state) BEFORE the next suggestion is asked for: in an earlier
 * transaction, not in the same one. Then what the ledger knows of is always in the log, and a replay can always follow
 * it. Proofs: src/central/README.md.
 * A ticket that is dropped (tacet_policy_drop) is one that is never reported: its round has no record. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "central/shared/map.h"
#include <tacet/core/policy.h>
#include "dp/mechanism.h"
#include <tacet/dp/noise.h>
#include "central/open/learner.h"
#include <tacet/contextual/open/model.h>

typedef struct tacet_central_settings {
    double eps, delta;  /* of the whole run, for each round's record; no defaults; delta = 0: pure eps */
    uint64_t rounds;    /* T; 0: unknown. Default 0 */
    double first_epoch; /* rounds played at random before the first release, without noise; more under noise. Default 0:
                           4 under little noise to 8 under much */
    double growth;      /* each batch is so much longer than the one before; above 1. Default 0: 1.15 under little noise
                           to 1.25 under much */
    size_t open_most;   /* tickets that may be open at a time; default 64 */
    uint64_t coin_seed; /* of the random first batch; public, need not be secret. Default 1 */
    bool gaussian; /* default false: a batch of few numbers gets l2 noise where the ledger adds up eps and delta. true:
                      Gaussian noise always, so that k rounds of one person cost what k times its shift does */
    bool minimize; /* default false. true: rewards come negated, and models that are released negate them back */
    tacet_central_learner_settings learner;
} tacet_central_settings;

void tacet_central_settings_defaults(tacet_central_settings *settings);
/* Decision sets come with each round: any number of points of the map's dimension. Batches are charged to ask->ledger
 * one by one, as parts of one group that costs what one of them costs. The map must outlive the policy. INVALID names
 * the setting. */
tacet_status tacet_central_create(tacet_policy **out, const tacet_central_map *map,
                                  const tacet_central_settings *settings, const tacet_ask *ask, tacet_error *err);
/* A policy from the bytes of tacet_policy_save, with the ask it was created with (ledger, ticket, texts): nothing is
 * charged. CORRUPT: damaged, or of another study. */
tacet_status tacet_central_restore(tacet_policy **out, const tacet_central_map *map,
                                   const tacet_central_settings *settings, const tacet_ask *ask, const void *bytes,
                                   size_t size, tacet_error *err);

/* How many rounds the batch has that reports go into now, and how many of them are not reported yet: at 0 the next
 * suggestion releases it. INVALID: another policy. */
tacet_status tacet_central_batch(const tacet_policy *policy, uint64_t *rounds, uint64_t *left, tacet_error *err);
/* The features that a saved state sums in. Make the map of these, not of features made again: where eigenvalues are
 * equal another machine's are rotated. UNSUPPORTED: features with groups are not kept. CORRUPT, NO_MEMORY. */
tacet_status tacet_central_state_features(tacet_features **out, const tacet_kernel *kernel, const void *bytes,
                                          size_t size, tacet_error *err);

/* What a saved state has learnt, as a model that anybody may keep and ask (Remark 1 of the paper;
 * tacet/contextual/open/model.h, actions only): a sum of kernel functions, with the receipt of the release it was made
 * of; predicted_error is the root mean square of the posterior's sd over the domain, rounds those of the batches that
 * have ended. From the bytes of tacet_policy_save; it is post-processing of what was charged, and costs nothing. STATE:
 * no batch has ended yet. INVALID: the domain is no box of at most TACET_CONTEXTUAL_DIM_MOST coordinates, or the
 * features are not one span of at most TACET_CONTEXTUAL_NODES_MOST kernel functions (Mercer or Nyström without groups,
 * se, matern32 or matern52). Other errors as tacet_central_restore. */
tacet_status tacet_central_model(tacet_contextual_model **out, const tacet_central_map *map,
                                 const tacet_central_settings *settings, const tacet_ask *ask, const void *bytes,
                                 size_t size, tacet_error *err);
/* The published algorithm (Algorithms 1 and 2): the outer product of [phi; y] after every round through a binary tree,
 * Lemma 3's shift, Theorem 1's width. Kept as the reference, for simulations: its noise is seeded, it charges no ledger
 * and its guarantee says that it is not private; what its noise would guarantee is tacet_central_published_noise. */
typedef enum tacet_central_calibration {
    TACET_CENTRAL_PROVEN,   /* the noise that (eps, delta) needs: one Gaussian mechanism over the whole tree */
    TACET_CENTRAL_PUBLISHED /* sigma^2 = 16 n (1 + B^2) ln(10/delta)^2/eps^2, n = 1 + ceil(log2 T), as in the paper's
                             proof of Lemma 2; the guarantee reported is the one this noise really gives */
} tacet_central_calibration;

typedef struct tacet_central_published_settings {
    double eps, delta;                     /* no defaults */
    uint64_t rounds;                       /* T, at most 2^24; no default */
    tacet_central_calibration calibration; /* default PROVEN */
    double norm_bound;                     /* B of the function; default 1. Rewards in [lo, hi], |y| <= reward_bound */
    double reward_lo, reward_hi;           /* defaults 0, 1 */
    double rho, lambda, zeta, width;       /* as in tacet_published_ucb_settings: 0.5, 1, 0.1, 1 */
    size_t open_most;                      /* default 64 */
    uint64_t coin_seed;                    /* of the first round; default 1 */
    bool leaves; /* the tree as the paper prints it: noise in its leaves alone. Default false: in every node */
} tacet_central_published_settings;

void tacet_central_published_settings_defaults(tacet_central_published_settings *settings);
/* The features must have norm at most 1 and outlive the policy. `noise` is seeded, and is used up as the policy needs
 * it: it must outlive the policy. INVALID names the setting; also noise that is not seeded. Saving is UNSUPPORTED. */
tacet_status tacet_central_published_create(tacet_policy **out, const tacet_features *features,
                                            const tacet_central_published_settings *settings, tacet_noise *noise,
                                            tacet_error *err);
/* The noise of the settings: *sigma is the paper's (entries of v), and (*eps, *delta) what it really guarantees. */
tacet_status tacet_central_published_noise(double *sigma, double *eps, double *delta,
                                           const tacet_central_published_settings *settings, tacet_error *err);
