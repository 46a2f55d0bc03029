/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - the mechanisms under attack, one constant each; registry.c lists them. Ring: audit. */
#ifndef TACET_SRC_AUDIT_TARGETS_H
#define TACET_SRC_AUDIT_TARGETS_H

#include <tacet/audit/audit.h>

/* targets_additive.c */
extern const tacet_audit_target tacet__audit_gaussian, tacet__audit_laplace, tacet__audit_discrete_laplace,
    tacet__audit_knorm, tacet__audit_l2, tacet__audit_l2_short;
/* targets_choice.c */
extern const tacet_audit_target tacet__audit_exponential, tacet__audit_permute_and_flip;
/* targets_control.c */
extern const tacet_audit_target tacet__audit_half_noise, tacet__audit_float_laplace, tacet__audit_published;
/* targets_randomizer.c */
extern const tacet_audit_target tacet__audit_sphere, tacet__audit_duchi, tacet__audit_piecewise, tacet__audit_hybrid,
    tacet__audit_device_laplace, tacet__audit_device_retry, tacet__audit_retry_redraws;
/* targets_contextual.c */
extern const tacet_audit_target tacet__audit_contextual_choice;
/* targets_central.c */
extern const tacet_audit_target tacet__audit_central, tacet__audit_central_shared,
    tacet__audit_central_lemma_5, tacet__audit_central_counts;
/* targets_tune.c */
extern const tacet_audit_target tacet__audit_tune, tacet__audit_tune_stopping, tacet__audit_tune_scores,
    tacet__audit_tune_crossed, tacet__audit_tune_failing, tacet__audit_tune_ten;
/* targets_direct.c */
extern const tacet_audit_target tacet__audit_direct, tacet__audit_direct_unclipped;

#endif
