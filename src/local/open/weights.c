/* SPDX-License-Identifier: Apache-2.0 */
/* weights.c - posterior samples, and how often each arm was the best of one.
 * Ring: open. Source: Thompson 1933, in batches: while a batch is out, everybody plays a sample of what was known at
 * its beginning (Kandasamy et al. 2018). Differs: the arms' marginals are drawn, not their joint law, which counts
 * neighbours as if they were strangers and so plays more of them; and with SPREAD of their sd. The coins are always
 * the same. Cost: O(arms DRAWS). */
#include "local/open/weights.h"

#include "core/fail.h"
#include "local/open/internal.h"

#include <math.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include <tacet/local/open/local.h>

static const double SPREAD =
    0.7; /* of the posterior's sd: plays more of what is good, loses little of what is not known */

tacet_status tacet_local_weights(const tacet_policy *policy, uint32_t *out, size_t *count, tacet_error *err) {
    const double *mean = NULL, *var = NULL;
    double shift = 0, scale = 0;
    tacet_simrng coins;
    *count = tacet__local_posterior(policy, &mean, &var, &shift, &scale);
    if (*count == 0) {
        return tacet__fail(err, TACET_INVALID, "devices of this study cannot choose by themselves");
    }
    tacet_simrng_init(&coins, 0, 0);
    memset(out, 0, *count * sizeof *out);
    for (int i = 0; i < TACET_WEIGHTS_DRAWS; i++) {
        size_t best = 0;
        double top = -INFINITY;
        for (size_t k = 0; k < *count; k++) {
            const double value = mean[k] + SPREAD * scale * sqrt(var[k]) * tacet_simrng_normal(&coins);
            if (value > top) {
                top = value;
                best = k;
            }
        }
        out[best]++;
    }
    return TACET_OK;
}
