/* SPDX-License-Identifier: Apache-2.0 */
/* randomizer.h - a bounded scalar leaves the device: clipped, put on a public grid, reported with pure eps. Or a choice
 * among public cells does, of which the device's secret makes some more likely.
 *
 * The likelihood ratio holds exactly: every probability that depends on the value is a ratio of whole numbers, decided
 * by key stream words (src/dp/mechanisms/randomizers.md). What is public about the reports is in
 * tacet/local/shared/ldp.h. No heap, no floating-point randomness; part of the device library. */
#ifndef TACET_DP_RANDOMIZER_H
#define TACET_DP_RANDOMIZER_H

#include <tacet/local/shared/ldp.h>
#include <tacet/dp/noise.h>

#ifdef __cplusplus
extern "C" {
#endif

/* *out = a report of `value` clipped to [ldp->lo, ldp->hi] (infinities clip). INVALID: value is not a number; nothing
 * is drawn. NUMERIC: see src/dp/noise/sampler.h, Laplace only; *out is then NaN. Asking twice spends eps twice:
 * memoise. */
TACET_API tacet_status tacet_randomize(tacet_noise *noise, double *out, const tacet_ldp *ldp, double value,
                                       tacet_error *err);

/* *out = one of the ldp's cells, a number from 0. `order` has every cell once: the ldp->window that come first have
 * e^eps times the likelihood of the others, whichever they are. INVALID: a cell that is missing; a randomiser of
 * numbers. */
TACET_API tacet_status tacet_randomize_among(tacet_noise *noise, double *out, const tacet_ldp *ldp,
                                             const uint32_t *order, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
