/* SPDX-License-Identifier: Apache-2.0 */
/* policy_internal.h - the inside of the policy of contextual choices, between policy.c and
 * policy_state.c. Ring: trusted. */
#ifndef TACET_SRC_CONTEXTUAL_TRUSTED_POLICY_INTERNAL_H
#define TACET_SRC_CONTEXTUAL_TRUSTED_POLICY_INTERNAL_H

#include "core/policy_internal.h"
#include "contextual/trusted/internal.h"

#include <tacet/contextual/trusted/policy.h>

#define TACET__CONTEXTUAL_POLICY_NAME "contextual"
enum {
    TACET__CONTEXTUAL_POLICY_PRINT = 32,
    TACET__CONTEXTUAL_POLICY_TICKET = 150,
    TACET__CONTEXTUAL_POLICY_ROUNDS = 1 << 22
};

typedef struct tacet__contextual_policy {
    tacet_contextual_policy_settings settings;
    tacet_ask ask;
    char ticket[TACET__CONTEXTUAL_POLICY_TICKET + 1];
    tacet_contextual_basis *basis;
    size_t a, contexts; /* coordinates */
    size_t n;
    double *actions; /* a x n */
    double *scaled;  /* a x n: in the unit box */
    bool atoms;      /* drawn evenly from the list; otherwise the nearest to a point of the box */
    size_t suggested;
    size_t reports;  /* before the release */
    bool *reported;  /* rounds */
    uint32_t *order; /* learn: its report was the 1st, 2nd, …; 0: none before the release. At most 2^22 */
    double *rewards; /* learn: secret until the release, then wiped */
    double *context; /* contexts x learn: the same */
    tacet_contextual_model *model;
    double *means;   /* n */
    double *average; /* n: over the law of contexts; of the model */
    unsigned char problem[TACET__CONTEXTUAL_POLICY_PRINT];
} tacet__contextual_policy;

tacet_status tacet__contextual_policy_save(const void *self, tacet_blob *out, tacet_error *err);
tacet_status tacet__contextual_policy_load(void *self, const void *bytes, size_t size, tacet_error *err);
/* Suggestions by the model should cost microseconds: a table, far finer than the model is good. Where there can be
 * none, or in four coordinates, where it would take seconds, predictions stay direct. */
tacet_status tacet__contextual_policy_quicken(const tacet__contextual_policy *u, tacet_contextual_model *model,
                                              tacet_error *err);
/* Each action's mean over the law of contexts, from the model: the nodes are all actions times all contexts. */
tacet_status tacet__contextual_policy_average(const tacet__contextual_policy *u, double *average,
                                              const tacet_contextual_model *model, tacet_error *err);

#endif
