/* SPDX-License-Identifier: Apache-2.0 */
/* actions.h - actions to try while learning, drawn without looking at anything. */
#ifndef TACET_CONTEXTUAL_TRUSTED_ACTIONS_H
#define TACET_CONTEXTUAL_TRUSTED_ACTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills out (d x count, one action after the other) within the box. `seed` NULL: uniform, by the operating system's
 * entropy. Otherwise numbers first, first + 1, … of a Sobol sequence of at most four coordinates, shifted by a vector
 * that the seed chooses: each is uniform, too, and together they cover the box evenly; keep the seed for a whole study.
 * Neither depends on a context or a reward. INVALID: d is 0 or above TACET_CONTEXTUAL_DIM_MOST (of a sequence: 4), or
 * a bound is not finite or not below the other. IO: no entropy. */
TACET_API tacet_status tacet_contextual_actions(double *out, size_t d, size_t count, const double *lower,
                                                const double *upper, const uint64_t *seed, uint64_t first,
                                                tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
