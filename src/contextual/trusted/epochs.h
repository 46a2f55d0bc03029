/* SPDX-License-Identifier: Apache-2.0 */
/* epochs.h - contextual choices that earn while they learn: epochs with one release each, Thompson draws between them.
 *
 * The candidates are a fixed, public list of actions; a round brings its context. Epoch 0 draws actions evenly; every
 * later one draws, for each round, one of 64 functions from the released posterior and takes its best action in the
 * round's context. Epochs end after a public number of suggestions (n0, then n0, 2 n0, 4 n0, …), and one release is
 * then made of the epoch's rounds, which are wiped. The last epoch ends before the last round, and is released with
 * that suggestion (not if it has less than a quarter of the first one's rounds). A round that was not reported by then
 * counts as a null record: it adds nothing, and no size depends on it; its report is accepted afterwards, and not
 * learnt. Where reports come late, `late` puts every release off by so many suggestions.
 *
 * Joint eps-DP (or (eps, delta)) for one round: its context and the rewards it would give (src/contextual/README.md has
 * the proof). The action of a round from epoch 1 on tells about its own context: it is for that round alone, and a list
 * of actions must not be published. Recommendations: the action that is best on average over the measured law of
 * contexts; STATE before the first release. */
#ifndef TACET_SRC_CONTEXTUAL_TRUSTED_EPOCHS_H
#define TACET_SRC_CONTEXTUAL_TRUSTED_EPOCHS_H

#include "contextual/trusted/learn.h"
#include <tacet/core/policy.h>

typedef struct tacet_contextual_epochs_settings {
    tacet_contextual_settings learner; /* range and kind of rewards, eps */
    size_t rounds;                     /* suggestions at the most, up to 2^22; no default */
    size_t first;                      /* rounds of epoch 0; 0: 300/eps, from 100 to 1000 */
    double width;                      /* draws are so many posterior standard deviations wide; 0: 0.75 */
    uint64_t coin_seed;                /* of the draws; public. Default 1 */
    size_t late; /* reports may come so many suggestions after an epoch's end; it is released one later, and `first` is
                    no less than that. Default 0 */
} tacet_contextual_epochs_settings;

void tacet_contextual_epochs_settings_defaults(tacet_contextual_epochs_settings *settings);
/* actions: action_dim x count, within the bounds; copied. space->actions must be NULL; what `space` points to is not
 * needed afterwards. `ask` is copied; its texts, ledger and noise must outlive the policy, and its ticket has at most
 * 150 bytes. Nothing is charged before the first release. INVALID names the rule. UNSUPPORTED: more than 384 actions.
 * NO_MEMORY. */
tacet_status tacet_contextual_epochs_create(tacet_policy **out, const tacet_contextual_space *space,
                                            const double *actions, size_t count,
                                            const tacet_contextual_epochs_settings *settings, const tacet_ask *ask,
                                            tacet_error *err);
/* What the last release says, as a model; NULL before the first. Valid until the policy is used again. */
const tacet_contextual_model *tacet_contextual_epochs_model(const tacet_policy *policy);

#endif
