/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h - contextual choices online: explore without looking, release once, then choose for free.
 *
 * The candidates are a fixed, public list of actions; a round brings its context. While learning, actions are drawn
 * without looking at anything (a function of the ticket and a public seed), and (context, reward) are kept. One release
 * through the gate makes a model of them (tacet_contextual_release); from then on the records are wiped, and each
 * suggestion is the action with the best released mean for the round's own context. Reports made after the release are
 * accepted and not learnt. Neighbours and proof: as tacet/contextual/trusted/learn.h; a later suggestion depends on the
 * release and on its own round's context alone. Recommendations: STATE before the release; after it, the action that is
 * best on average over the law of contexts (its sd is the predicted error). Contexts outside the bounds are taken as
 * the nearest point within. Saved states are private bytes until the release, at most 8 (context_dim + 2) + 1 a round,
 * and hold no raw record after it.
 *
 * A release has several stages, each entered in the ledger. What is entered names the rounds it is of (how many
 * reports, and a hash of their tickets, which are public), so a release that ended half-way, or was made and then
 * forgotten by a crash, is gone on with from the same reports: the first so many, in the order in which they were
 * observed. Reports that came since are accepted and not learnt. A replica that observes the same reports in the same
 * order therefore makes the same model. src/contextual/README.md, section 8. */
#ifndef TACET_CONTEXTUAL_TRUSTED_POLICY_H
#define TACET_CONTEXTUAL_TRUSTED_POLICY_H

#include <stddef.h>
#include <stdint.h>
#include <tacet/core/policy.h>
#include <tacet/contextual/shared/basis.h>
#include <tacet/contextual/trusted/learn.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tacet_contextual_design {
    TACET_CONTEXTUAL_UNIFORM, /* independent draws */
    TACET_CONTEXTUAL_SOBOL    /* a Sobol sequence with a random shift: evener, and as blind */
} tacet_contextual_design;

typedef struct tacet_contextual_policy_settings {
    tacet_contextual_settings learner; /* range of rewards, eps, beliefs */
    size_t rounds;                     /* suggestions at the most, at least 1, at most 2^22; no default */
    size_t learn;                      /* of these, how many are for learning; 0 (default): all */
    tacet_contextual_design design;    /* default SOBOL */
    uint64_t coin_seed;                /* of the draws; public. Default 1 */
} tacet_contextual_policy_settings;

TACET_API void tacet_contextual_policy_settings_defaults(tacet_contextual_policy_settings *settings);
/* actions: action_dim x count, within the bounds; copied. Few of them (their number times the nodes of the contexts at
 * most 1,536): drawn evenly, and the features are made for that law. More: the nearest one to a point drawn from the
 * box, so that a list of any spacing stands for the box. space->actions must be NULL; what `space` points to is not
 * needed afterwards, but for the density's user. `ask` is copied, its texts, ledger and noise must outlive the policy;
 * its ticket has at most 150 bytes. Nothing is charged before the release. INVALID names the rule. NO_MEMORY. */
TACET_API tacet_status tacet_contextual_policy_create(tacet_policy **out, const tacet_contextual_space *space,
                                                      const double *actions, size_t count,
                                                      const tacet_contextual_policy_settings *settings,
                                                      const tacet_ask *ask, tacet_error *err);
/* Makes the release from what has been reported, and charges it: once; again, it does nothing. The first suggestion
 * after `learn` of them does this by itself. Make reports durable before: a policy whose first reports are not those of
 * the release that the ledger knows is refused (CONFLICT). INVALID: not such a policy. STATE:
 * nothing reported, or too few rounds for this eps. Otherwise as tacet_contextual_release; after a failure it may be
 * repeated. */
TACET_API TACET_MUST_CHECK tacet_status tacet_contextual_policy_release(tacet_policy *policy, tacet_error *err);
/* The released model, owned by the policy and valid until it is loaded or freed; NULL before the release. */
TACET_API const tacet_contextual_model *tacet_contextual_policy_model(const tacet_policy *policy);

#ifdef __cplusplus
}
#endif
#endif
