/* SPDX-License-Identifier: Apache-2.0 */
/* reward_law.h - how rewards scatter about their mean in a simulation. Ring: programs; made-up data. */
#pragma once

#include <stdbool.h>
#include <tacet/core/simrng.h>

typedef enum lab_reward_law {
    LAB_REWARD_NORMAL,
    LAB_REWARD_SKEWED, /* exponential less 1: a long tail above */
    LAB_REWARD_BINARY, /* the two ends of the range, with the right mean */
    LAB_REWARD_HEAVY   /* Student's t with 3 degrees of freedom, brought to variance 1 */
} lab_reward_law;

bool lab_reward_law_parse(lab_reward_law *out, const char *name);
const char *lab_reward_law_names(void); /* "normal, skewed, binary or heavy" */
/* A reward of this mean; sd: of the noise; lo, hi: the range, where the binary ones lie. Others are not clipped. */
double lab_reward_draw(lab_reward_law law, double mean, double sd, double lo, double hi, tacet_simrng *rng);
