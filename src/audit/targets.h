/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - the mechanisms under attack, one constant each in targets_*.c. Ring: audit. */
#pragma once

#include <tacet/audit/audit.h>

/* All of them, in the order in which they are listed and run. */
/* clang-format off */
#define TACET__AUDIT_TARGETS(X) \
    X(gaussian) X(laplace) X(discrete_laplace) X(knorm) X(l2) X(exponential) \
    X(permute_and_flip) X(half_noise) X(l2_short) X(float_laplace) X(published) X(duchi) \
    X(sphere) X(piecewise) X(hybrid) X(device_laplace) X(device_retry) X(retry_redraws) \
    X(contextual_choice) X(central) X(central_counts) X(direct) X(direct_unclipped) \
    X(central_shared) X(central_lemma_5) X(tune) X(tune_stopping) X(tune_scores) \
    X(tune_crossed) X(tune_failing) X(tune_ten)
/* clang-format on */

/* A file defines its own: TARGET(gaussian, .name = "gaussian", …); */
#define TARGET(id, ...) const tacet_audit_target tacet__audit_##id = {__VA_ARGS__}
#define TACET__AUDIT_TARGET(name) extern const tacet_audit_target tacet__audit_##name;
TACET__AUDIT_TARGETS(TACET__AUDIT_TARGET)
