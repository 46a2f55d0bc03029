/* SPDX-License-Identifier: Apache-2.0 */
/* weights.h - how often each arm of a local study should be played by what was reported so far, for devices that choose
 * by themselves (tacet/local/shared/choice.h). Public: it is made of reports. */
#pragma once

#include <stdint.h>
#include <tacet/core/policy.h>

enum { TACET_WEIGHTS_DRAWS = 512 }; /* what the weights add up to */

/* out: as many numbers as the policy has arms, which is *count. The same state gives the same weights. INVALID: not a
 * learner of the local model over fixed arms. */
tacet_status tacet_local_weights(const tacet_policy *policy, uint32_t *out, size_t *count, tacet_error *err);
