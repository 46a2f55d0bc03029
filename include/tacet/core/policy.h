/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h - the interface all algorithms implement: suggest, observe, recommend, guarantee, save, load.
 *
 * A policy chooses one of the candidates of a round and learns from what is reported for it. The candidates are either
 * a fixed domain, known when the policy was created (then a round is empty), or a decision set given with each round.
 * Not thread-safe: one thread at a time per policy. Calls that fail leave the policy as it was. */
#ifndef TACET_CORE_POLICY_H
#define TACET_CORE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/blob.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_policy tacet_policy;

/* What a round offers. All zero: the fixed domain. */
typedef struct tacet_round {
    const double *points; /* decision set: d x count, column-major; NULL for a fixed domain */
    size_t ld;
    size_t d;
    size_t count;
    const double *context; /* contextual policies: what is known of this round; NULL otherwise */
    size_t context_dim;
} tacet_round;

typedef struct tacet_suggestion {
    size_t index;    /* which candidate: row of the domain, or column of the decision set */
    uint64_t ticket; /* names this suggestion when its outcome is reported; 1, 2, 3, … */
    double score;    /* the acquisition value, for display only */
} tacet_suggestion;

typedef struct tacet_recommendation {
    size_t index;    /* best posterior mean among the fixed domain (SIZE_MAX where there is none) */
    double mean;     /* its posterior mean */
    double sd;       /* its posterior standard deviation */
    size_t measured; /* best measured candidate, where measured values are disclosed; SIZE_MAX otherwise */
    double measured_value;
} tacet_recommendation;

typedef enum tacet_trust {
    TACET_TRUST_NONE, /* unprotected: no privacy claimed */
    TACET_TRUST_OUTSOURCED,
    TACET_TRUST_CENTRAL,
    TACET_TRUST_LOCAL
} tacet_trust;

/* What is proven of a policy's output, in numbers and in words. */
typedef struct tacet_guarantee {
    tacet_trust trust;
    bool proven;       /* false: a published calibration that does not hold, or no privacy at all */
    double eps, delta; /* infinity and 1 where nothing is guaranteed */
    double pure_eps;   /* what a record costs at most with delta = 0 in those releases whose noise is not Gaussian; 0:
                          there are none, and k records cost what a Gaussian mechanism of k times the shift does */
    const char *protects;  /* what one record is: "the reward of one round", …; static */
    const char *statement; /* one sentence for people; static */
    const char *proof;     /* the document that proves it, relative to docs/; static */
} tacet_guarantee;

TACET_API void tacet_policy_free(tacet_policy *policy); /* NULL is allowed */

TACET_API const char *tacet_policy_name(const tacet_policy *policy);
/* INVALID: a round of the wrong shape or with values that are not finite. STATE: no candidate is left, or the policy's
 * horizon is over. `round` may be NULL for a fixed domain. A policy may allow several open tickets at a time. */
TACET_API tacet_status tacet_policy_suggest(tacet_policy *policy, tacet_suggestion *out, const tacet_round *round,
                                            tacet_error *err);
/* Goes on as if it had made this suggestion (index and ticket), which a policy of the same study and the same history
 * made before, perhaps on another machine whose arithmetic rounds otherwise. Errors as tacet_policy_suggest; CORRUPT:
 * the policy cannot have made it. */
TACET_API tacet_status tacet_policy_repeat(tacet_policy *policy, const tacet_suggestion *made, const tacet_round *round,
                                           tacet_error *err);
/* Once per ticket. NOT_FOUND: a ticket never given. CONFLICT: a ticket already reported. INVALID: not finite, or
 * impossible for this policy. */
TACET_API tacet_status tacet_policy_observe(tacet_policy *policy, uint64_t ticket, double value, tacet_error *err);
/* The ticket will never be reported: the policy no longer waits for it. Which tickets are dropped must not depend on
 * anything private (their age, say). What that means is each policy's to say: nothing was learnt in that round, or the
 * round counts as one of a fixed public outcome, or what it asked is asked again. NOT_FOUND: a ticket never given.
 * CONFLICT: already reported or dropped (policies that wait for no ticket need not notice). UNSUPPORTED: this policy
 * cannot. */
TACET_API tacet_status tacet_policy_drop(tacet_policy *policy, uint64_t ticket, tacet_error *err);
/* STATE: nothing observed yet and the policy has no prior to go by. */
TACET_API tacet_status tacet_policy_recommend(tacet_policy *policy, tacet_recommendation *out, tacet_error *err);
TACET_API void tacet_policy_guarantee(const tacet_policy *policy, tacet_guarantee *out);
/* The state alone, not what the policy was created from: create it again with the same arguments, then load. */
TACET_API tacet_status tacet_policy_save(const tacet_policy *policy, tacet_blob *out, tacet_error *err);
/* CORRUPT: damaged, or from another policy or another problem; the policy keeps its state. */
TACET_API tacet_status tacet_policy_load(tacet_policy *policy, const void *bytes, size_t size, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
