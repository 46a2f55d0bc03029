/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - every audit target by name.
 * Ring: audit. */
#include "audit/targets.h"

#include <string.h>

/* clang-format off: one a line, so that a new target is one new line */
static const tacet_audit_target *const TARGETS[] = {
    &tacet__audit_gaussian,
    &tacet__audit_laplace,
    &tacet__audit_discrete_laplace,
    &tacet__audit_knorm,
    &tacet__audit_l2,
    &tacet__audit_exponential,
    &tacet__audit_permute_and_flip,
    &tacet__audit_half_noise,
    &tacet__audit_l2_short,
    &tacet__audit_float_laplace,
    &tacet__audit_published,
    &tacet__audit_duchi,
    &tacet__audit_sphere,
    &tacet__audit_piecewise,
    &tacet__audit_hybrid,
    &tacet__audit_device_laplace,
    &tacet__audit_device_retry,
    &tacet__audit_retry_redraws,
    &tacet__audit_contextual_choice,
    &tacet__audit_central,
    &tacet__audit_central_counts,
    &tacet__audit_direct,
    &tacet__audit_direct_unclipped,
    &tacet__audit_central_shared,
    &tacet__audit_central_lemma_5,
    &tacet__audit_tune,
    &tacet__audit_tune_stopping,
    &tacet__audit_tune_scores,
    &tacet__audit_tune_crossed,
    &tacet__audit_tune_failing,
    &tacet__audit_tune_ten,
};
/* clang-format on */

const tacet_audit_target *tacet_audit_target_at(size_t index) {
    return index < sizeof TARGETS / sizeof TARGETS[0] ? TARGETS[index] : NULL;
}

const tacet_audit_target *tacet_audit_find(const char *name) {
    for (size_t i = 0; tacet_audit_target_at(i) != NULL; i++) {
        if (strcmp(TARGETS[i]->name, name) == 0) {
            return TARGETS[i];
        }
    }
    return NULL;
}
