/* SPDX-License-Identifier: Apache-2.0 */
/* shuffle.c - the amplification bound for shuffled reports, with its constants.
 * Ring: shared. Source: Feldman, McMillan, Talwar, "Hiding among the clones" (2021), Theorem 3.1. Differs: rounded up.
 * Proof and limits: shuffle.md. Cost: O(1). */
#include <tacet/dp/open/shuffle.h>

#include "core/fail.h"

#include <math.h>
#include <stdint.h>

static const double EPS_MOST = 30;
static const double UP = 1 + 1e-12; /* above what a dozen operations can lose to rounding */

/* e^eps0 <= n/(16 ln(2/delta)) */
size_t tacet_shuffle_least(double eps0, double delta) {
    const double n = exp(eps0) * 16 * log(2 / delta) * UP;
    return n < 0x1p53 ? (size_t)ceil(n) : 0;
}

tacet_status tacet_shuffle_eps(double *out, double eps0, double delta, size_t count, tacet_error *err) {
    *out = INFINITY;
    if (!(eps0 > 0 && eps0 <= EPS_MOST) || !(delta > 0 && delta < 1) || count == 0) {
        return tacet__fail(err, TACET_INVALID,
                           "a shuffle needs eps above 0 and at most 30, delta in (0, 1), and reports");
    }
    const size_t least = tacet_shuffle_least(eps0, delta);
    *out = eps0;
    if (least > 0 && count >= least) {
        const double n = (double)count, e = exp(eps0);
        const double grows = 8 * sqrt(e * log(4 / delta) / n) + 8 * e / n;
        *out = fmin(eps0, log1p(expm1(eps0) / (e + 1) * grows * UP) * UP);
    }
    return TACET_OK;
}
