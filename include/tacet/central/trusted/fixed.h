/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.h - joint DP over a fixed public domain: only rewards are summed, so only they pay.
 *
 * Rounds come in batches planned by the open learner (tacet/central/open/fixed_learner.h). A batch's arms are public;
 * its rewards are summed here and released once, at its end, with noise for a sensitivity of 1. Each record is in one
 * batch, so all batches together cost one (eps, delta) (parallel composition). Proof: src/central/README.md, (f).
 * Tickets of a batch may be open together and are reported in any order; the next batch begins when all of them were.
 * Restarts: a batch's release is stored in the ledger before it is used, and is given again to whoever ends the same
 * batch, whatever was reported to it: an old state, a copy, a replayed log see what left, never a second release.
 * Not thread-safe. */
#ifndef TACET_CENTRAL_TRUSTED_FIXED_H
#define TACET_CENTRAL_TRUSTED_FIXED_H

#include <stdint.h>
#include <tacet/gp/kernel.h>
#include <tacet/core/policy.h>
#include <tacet/dp/mechanism.h>
#include <tacet/central/open/fixed_learner.h>
#include <tacet/contextual/open/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_central_fixed_settings {
    double eps, delta;           /* no defaults; delta = 0: pure eps, not with Gaussian noise */
    uint64_t rounds;             /* T; at least 1; no default */
    double reward_lo, reward_hi; /* defaults 0, 1 */
    size_t first_batch;          /* rounds; default 0: a quarter of at most 300 rounds, from 30 to 50; of more than that
                                    30, over one list 20 standard deviations of the noise of six numbers, 30 to a tenth
                                    of them */
    double growth;               /* of the batches, above 1; default 1.35 */
    size_t open_most;            /* tickets that may be open at a time; default 64 */
    bool gaussian;               /* default false: a batch of few numbers gets l2 noise where the ledger adds up eps and
                                    delta; true: Gaussian noise always */
    uint64_t problem;            /* names the domain and its features in saved states; default 0: hashed from them */
    tacet_fixed_settings learner; /* its defaults, but for prior_var: 0 */
} tacet_central_fixed_settings;

typedef struct tacet_central_fixed tacet_central_fixed;

TACET_API void tacet_central_fixed_settings_defaults(tacet_central_fixed_settings *settings);
/* `ask` is copied, its noise source and ledger must outlive the study; batch k is released under "<ticket>/k", in the
 * group "<ticket>". Nothing is charged before the first batch ends. INVALID, NO_MEMORY. */
TACET_API tacet_status tacet_central_fixed_create(tacet_central_fixed **out, const tacet_fixed_group *groups,
                                                  size_t group_count, const tacet_central_fixed_settings *settings,
                                                  const tacet_ask *ask, tacet_error *err);
TACET_API void tacet_central_fixed_free(tacet_central_fixed *fixed); /* wipes; NULL is allowed */
/* The next arm: choices has one number per group. Makes the release of the batch before, where one is due: errors of
 * tacet_mechanism_run, after which the call may be repeated. STATE: open_most tickets are open, or the batch waits for
 * its open ones, or the horizon is over. */
TACET_API tacet_status tacet_central_fixed_suggest(tacet_central_fixed *fixed, size_t *choices, uint64_t *ticket,
                                                   tacet_error *err);
/* The same as if it had given this ticket this arm, which it did before, perhaps on another machine. CORRUPT: it cannot
 * have. */
TACET_API tacet_status tacet_central_fixed_repeat(tacet_central_fixed *fixed, const size_t *choices, uint64_t ticket,
                                                  tacet_error *err);
/* NOT_FOUND, CONFLICT, INVALID (not finite) as for every policy. Outside the range is clipped. */
TACET_API tacet_status tacet_central_fixed_observe(tacet_central_fixed *fixed, uint64_t ticket, double value,
                                                   tacet_error *err);
/* The ticket will never be reported: it counts as a reward in the middle of the range, a public value, so that the
 * batch can end. Which tickets are dropped must not depend on rewards. NOT_FOUND, CONFLICT as above. */
TACET_API tacet_status tacet_central_fixed_drop(tacet_central_fixed *fixed, uint64_t ticket, tacet_error *err);
/* The arm of the best posterior mean, and that mean in the rewards' units. */
TACET_API double tacet_central_fixed_best(const tacet_central_fixed *fixed, size_t *choices);
/* m coefficients of the features, mapped to [0, 1]: tacet_fixed_learner_theta; rounds of the batches that have ended.
 */
TACET_API const double *tacet_central_fixed_theta(const tacet_central_fixed *fixed);
TACET_API uint64_t tacet_central_fixed_ended(const tacet_central_fixed *fixed);
TACET_API bool tacet_central_fixed_informed(const tacet_central_fixed *fixed); /* a batch was released */
/* Reports that the batch which runs lacks; 0: none runs, or all are there. */
TACET_API size_t tacet_central_fixed_lacking(const tacet_central_fixed *fixed);
/* Posterior of the mean reward at an arm, in the rewards' units. */
TACET_API void tacet_central_fixed_posterior(tacet_central_fixed *fixed, double *mean, double *sd,
                                             const size_t *choices);
TACET_API void tacet_central_fixed_guarantee(const tacet_central_fixed *fixed, tacet_guarantee *out);
/* Private bytes. With a ledger a batch that was released before is never released differently, whatever is loaded:
 * its ticket holds the answer. CORRUPT. */
TACET_API tacet_status tacet_central_fixed_save(const tacet_central_fixed *fixed, tacet_blob *out, tacet_error *err);
TACET_API tacet_status tacet_central_fixed_load(tacet_central_fixed *fixed, const void *bytes, size_t size,
                                                tacet_error *err);

/* The same behind the interface of all policies, "fixed". The index of an arm is that of its choices, the first
 * group's fastest. INVALID: also a product of choices that is no size_t. */
TACET_API tacet_status tacet_central_fixed_policy(tacet_policy **out, const tacet_fixed_group *groups,
                                                  size_t group_count, const tacet_central_fixed_settings *settings,
                                                  const tacet_ask *ask, tacet_error *err);
/* A plain list of points (d x count, leading dimension ld), of whose kernel the leading `features` are used: Mercer
 * features of the points, of an even sample of them where there are more than 512. The index is that of the point. */
TACET_API tacet_status tacet_central_fixed_policy_points(tacet_policy **out, const tacet_kernel *kernel,
                                                         const double *points, size_t ld, size_t count, size_t features,
                                                         const tacet_central_fixed_settings *settings,
                                                         const tacet_ask *ask, tacet_error *err);
/* The same from the bytes of tacet_policy_save, with the features that are kept in them: those made on another machine
 * may be rotated. CORRUPT: damaged, or of another study. */
TACET_API tacet_status tacet_central_fixed_policy_restore(tacet_policy **out, const tacet_kernel *kernel,
                                                          const double *points, size_t ld, size_t count,
                                                          size_t features, const tacet_central_fixed_settings *settings,
                                                          const tacet_ask *ask, const void *bytes, size_t size,
                                                          tacet_error *err);
/* What a policy over points has learnt, as a model for anyone (tacet/contextual/open/model.h, actions only): the
 * posterior mean over the box of the bounds. `about` says lower, upper and minimize, and space (all its columns are
 * actions) or the listed points; all else of it is not read. Post-processing: costs nothing. STATE: nothing was
 * released yet. UNSUPPORTED: more coordinates than a model has, or another kernel. INVALID, NO_MEMORY. */
TACET_API tacet_status tacet_central_fixed_model(tacet_contextual_model **out, const tacet_policy *policy,
                                                 const tacet_kernel *kernel, const tacet_contextual_parts *about,
                                                 tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
