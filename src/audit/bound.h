/* SPDX-License-Identifier: Apache-2.0 */
/* bound.h - the what engine.c has for others: states of targets, and its bound from runs that somebody else made. Ring:
 * audit. */
#pragma once

#include <tacet/audit/audit.h>

typedef struct tacet__audit_sample {
    double statistic;
    int world;
} tacet__audit_sample;

/* Chooses the event on the first third of the samples, whose order this changes, and measures it on the others. */
tacet_status tacet__audit_judge(tacet_audit_result *out, tacet__audit_sample *samples, size_t count,
                                const tacet_audit_claim *claim, double confidence, tacet_error *err);

/* A state of a target, as it is before its first run. On failure *state is NULL. */
tacet_status tacet__audit_open(void **state, const tacet_audit_target *target, const tacet_audit_claim *claim,
                               tacet_error *err);
void tacet__audit_close(void *state, const tacet_audit_target *target); /* NULL is allowed */

/* Clopper–Pearson: one-sided bounds at the given confidence for a probability, from `hits` of `n`. */
double tacet_audit_lower(size_t hits, size_t n, double confidence);
double tacet_audit_upper(size_t hits, size_t n, double confidence);
