/* SPDX-License-Identifier: Apache-2.0 */
/* gp.h - Gaussian process posterior on a finite domain of n candidates, one observation at a time.
 *
 * f ~ GP(mean, cov), y = f(candidate) + N(0, noise_var). Any candidate may be observed any number of times; the
 * posterior does not depend on the order (but for rounding). Mean and variance of all candidates are always up to date.
 * An observation costs O(n t) and allocates nothing; memory is 8 n T bytes for T observations, and a little.
 * Not thread-safe: one thread at a time per object. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/gp/cov.h>
#include <tacet/core/status.h>

typedef struct tacet_gp_settings {
    double mean;      /* prior mean, the same everywhere */
    double noise_var; /* >= 0 */
    size_t horizon;   /* observations to make room for */
} tacet_gp_settings;

typedef struct tacet_gp_report {
    size_t count;          /* observations so far */
    size_t jittered;       /* of these, how many needed extra noise to keep the matrix positive definite */
    double largest_jitter; /* variance added in the worst of them; 0 when none */
    double log_likelihood; /* of all observations under the prior */
} tacet_gp_report;

typedef struct tacet_gp tacet_gp;

/* The covariance is borrowed: it must outlive the GP. INVALID: mean not finite, noise not finite and >= 0.
 * NO_MEMORY, OVERFLOW. */
tacet_status tacet_gp_create(tacet_gp **out, const tacet_gp_settings *settings, const tacet_cov *cov, tacet_error *err);
void tacet_gp_free(tacet_gp *gp); /* NULL is allowed */

/* Observes value y at a candidate. A candidate whose variance plus noise is below 1e-10 of its prior variance (a repeat
 * without noise, a twin) gets jitter from the fixed schedule, which the report tells. INVALID: no such candidate, y not
 * finite or beyond what squares to a double. STATE: beyond the horizon. On failure nothing has changed. */
tacet_status tacet_gp_observe(tacet_gp *gp, size_t candidate, double y, tacet_error *err);
/* Forgets all observations, keeps the memory. */
void tacet_gp_reset(tacet_gp *gp);

size_t tacet_gp_count(const tacet_gp *gp); /* observations */
/* n posterior means and n posterior variances (>= 0); the pointers stay valid and show each new observation. */
const double *tacet_gp_mean(const tacet_gp *gp);
const double *tacet_gp_var(const tacet_gp *gp);
void tacet_gp_report_get(const tacet_gp *gp, tacet_gp_report *out);
