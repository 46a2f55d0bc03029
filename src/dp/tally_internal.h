/* SPDX-License-Identifier: Apache-2.0 */
/* tally_internal.h - sums of a tally, to be kept by whoever goes on with it later. Ring: gate, and of the trusted ring
 * the state of a tuning run: what is put back must be what was taken from a tally of the same records and range. */
#ifndef TACET_SRC_DP_TALLY_INTERNAL_H
#define TACET_SRC_DP_TALLY_INTERNAL_H

#include <stdint.h>
#include <tacet/dp/tally.h>

/* Private: in steps above the lowest. candidate < tacet_tally_candidates. */
int64_t tacet__tally_sum(const tacet_tally *tally, size_t candidate);
/* One more candidate, by its sum. INVALID: no sum of so many records. NO_MEMORY. */
tacet_status tacet__tally_put(tacet_tally *tally, int64_t sum, tacet_error *err);

#endif
