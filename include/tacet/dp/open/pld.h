/* SPDX-License-Identifier: Apache-2.0 */
/* pld.h - a numerical accountant: many mechanisms together, by the distribution of their privacy loss.
 *
 * Every mechanism is known by its curve delta(eps). A discrete pair of distributions whose curve lies above it is made
 * on a grid of losses (upper bounds at the grid's points, joined so that they stay above: Doroshenko et al. 2022),
 * pairs are composed by adding losses, and everything that rounds or is cut off is counted on the private side: the eps
 * returned holds. For mechanisms whose parameters were fixed beforehand; they may be run adaptively.
 * src/dp/open/pld.md. */
#ifndef TACET_DP_OPEN_PLD_H
#define TACET_DP_OPEN_PLD_H

#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_pld tacet_pld;

/* Nothing spent. Losses from -most to most, in `steps` steps (0: 4000) to either side. INVALID, NO_MEMORY. */
TACET_API tacet_status tacet_pld_create(tacet_pld **out, double most, size_t steps, tacet_error *err);
TACET_API void tacet_pld_free(tacet_pld *pld); /* NULL is allowed */
/* `times` more runs of a mechanism. INVALID: parameters; NO_MEMORY. */
TACET_API tacet_status tacet_pld_gaussian(tacet_pld *pld, double mu, uint64_t times, tacet_error *err);
TACET_API tacet_status tacet_pld_laplace(tacet_pld *pld, double eps, uint64_t times, tacet_error *err);
/* Any mechanism of which (eps, delta) is all that is known; delta = 0: pure. */
TACET_API tacet_status tacet_pld_approx(tacet_pld *pld, double eps, double delta, uint64_t times, tacet_error *err);
/* Euclidean noise of this scale in `dims` coordinates, with a delta or pure: up to 5 s for each scale. */
TACET_API tacet_status tacet_pld_l2(tacet_pld *pld, double scale, double sensitivity, size_t dims, uint64_t times,
                                    tacet_error *err);
/* Upper bounds. eps is INFINITY where none up to `most` has this delta. */
TACET_API double tacet_pld_delta(const tacet_pld *pld, double eps);
TACET_API double tacet_pld_eps(const tacet_pld *pld, double delta);

#ifdef __cplusplus
}
#endif
#endif
