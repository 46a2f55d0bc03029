/* SPDX-License-Identifier: Apache-2.0 */
/* reward_law.c - how rewards scatter about their mean in a simulation. Ring: programs; made-up data. */
#include "reward_law.h"

#include "trials.h"

#include <math.h>
#include <stddef.h>

static const char *const NAMES[] = {"normal", "skewed", "binary", "heavy"};

bool lab_reward_law_parse(lab_reward_law *out, const char *name) {
    size_t i = 0;
    const bool known = lab_choose(&i, NAMES, sizeof NAMES / sizeof *NAMES, name);
    *out = (lab_reward_law)i;
    return known;
}

const char *lab_reward_law_names(void) {
    return "normal, skewed, binary or heavy";
}

double lab_reward_draw(lab_reward_law law, double mean, double sd, double lo, double hi, tacet_simrng *rng) {
    double noise = 0;
    switch (law) {
    case LAB_REWARD_BINARY:
        return tacet_simrng_uniform(rng) * (hi - lo) < mean - lo ? hi : lo;
    case LAB_REWARD_SKEWED:
        noise = -log1p(-tacet_simrng_uniform(rng)) - 1;
        break;
    case LAB_REWARD_NORMAL:
    case LAB_REWARD_HEAVY:
        noise = tacet_simrng_normal(rng);
        break;
    }
    if (law == LAB_REWARD_HEAVY) { /* over the root of chi-square/3 of three degrees, and of variance 3 */
        double square = 0;
        for (int k = 0; k < 3; k++) {
            const double z = tacet_simrng_normal(rng);
            square += z * z;
        }
        noise /= sqrt(square);
    }
    return mean + sd * noise;
}
