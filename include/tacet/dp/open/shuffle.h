/* SPDX-License-Identifier: Apache-2.0 */
/* shuffle.h - what shuffling local reports would be worth: the amplification bound of Feldman, McMillan and Talwar.
 *
 * n reports of one and the same randomiser of pure eps0, of n persons, come out in an order that says nothing of who
 * sent which. Towards whoever sees only that, they are (eps, delta)-DP with a smaller eps. src/dp/open/shuffle.md has
 * the statement, who must be trusted for it, and why no study here claims it. */
#ifndef TACET_DP_OPEN_SHUFFLE_H
#define TACET_DP_OPEN_SHUFFLE_H

#include <stddef.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* eps of the shuffled batch, rounded up, and at most eps0; eps0 itself where the theorem needs more reports. INVALID:
 * eps0 not in (0, 30], delta not in (0, 1), count = 0. */
TACET_API tacet_status tacet_shuffle_eps(double *out, double eps0, double delta, size_t count, tacet_error *err);
/* The least number of reports for which the theorem says anything; 0: none that fits. */
TACET_API size_t tacet_shuffle_least(double eps0, double delta);

#ifdef __cplusplus
}
#endif
#endif
