/* SPDX-License-Identifier: Apache-2.0 */
/* study.h - a running A/B test: every ticket gets an arm by a fair coin, every epoch has one release, and a test that
 * may be looked at after each of them says whether an arm is ahead.
 *
 * Epochs end after a public number of suggestions (tacet_ab_epoch_size). An epoch's release is, for each arm, the sum
 * of its rewards, scaled to [0, 1], with Laplace noise of scale 1/eps. A ticket that was not reported in time counts as
 * the worst reward: it adds 0. How many tickets each arm had is public, because the coin looks at nothing private. The
 * last epoch ends before the last round, and is released with that suggestion. Where reports come late, `late` puts
 * every release off by so many suggestions.
 *
 * eps-DP for one ticket: its reward, and whether it was reported (src/ab/README.md, "May I stop?"). Recommendation: the
 * arm of the highest released mean; STATE before the first release. */
#ifndef TACET_SRC_AB_TRUSTED_STUDY_H
#define TACET_SRC_AB_TRUSTED_STUDY_H

#include <stdint.h>
#include "ab/open/stopping.h"
#include <tacet/core/policy.h>
#include "dp/mechanism.h"

typedef struct tacet_ab_study_settings {
    size_t arms;        /* 2 to TACET_AB_ARMS_MOST; no default */
    size_t rounds;      /* suggestions at the most, up to 2^22; no default */
    double lower;       /* range of rewards; clipped. Default 0 to 1 */
    double upper;       /* */
    double eps;         /* of one ticket; no default */
    double alpha;       /* of all claims, at all looks together. Default .05 */
    double typical;     /* a public guess at a mean reward, before the first release. Default: the middle */
    size_t first;       /* tickets of the first epoch; 0: 250 an arm */
    size_t late;        /* reports may come so many suggestions after an epoch's end; it is released one later.
                           Default 0 */
    uint64_t coin_seed; /* of the coins; public. Default 1 */
} tacet_ab_study_settings;

void tacet_ab_study_settings_defaults(tacet_ab_study_settings *settings);
/* `ask` is copied; its texts, ledger and noise must outlive the policy, and its ticket has at most 120 bytes. Nothing
 * is charged before the first release. INVALID names the rule. NO_MEMORY. */
tacet_status tacet_ab_study_create(tacet_policy **out, const tacet_ab_study_settings *settings, const tacet_ask *ask,
                                   tacet_error *err);
/* What the releases so far say, of rewards scaled to [0, 1]. Valid until the policy is used again. */
const tacet_ab_test *tacet_ab_study_test(const tacet_policy *policy);
/* Tickets that were given so far, and how many more until the next release is seen; 0: there is none any more. */
size_t tacet_ab_study_issued(const tacet_policy *policy, size_t *next_look);

#endif
