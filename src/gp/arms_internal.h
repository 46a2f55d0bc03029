/* SPDX-License-Identifier: Apache-2.0 */
/* arms_internal.h - inside of tacet_arms: its state, saving and loading it within a policy's own state, and the reduced
 * form. Ring: pure. */
#pragma once

#include "core/state.h"

#include "gp/arms.h"

struct tacet_arms {
    size_t n;
    size_t rank;  /* 0: exact. Otherwise f = F'u with u ~ N(0, I) of so many numbers (arms_reduced.c) */
    size_t order; /* of P: n, or the rank */
    double *K;    /* n x n prior covariance; NULL when reduced */
    double *F;    /* rank x n; NULL when exact */
    double *P;    /* order x order posterior covariance, of f or of u; both triangles */
    double *mean;
    double *var;
    double *weights;
    double *sums;
    uint64_t *counts;
    double information;
    double jitter;
    size_t since; /* rank-one updates since the last rebuild */
    /* scratch */
    double *A;      /* order x order */
    double *B;      /* order x n */
    double *retry;  /* order x order */
    double *vector; /* n */
    double *short_; /* rank */
    size_t *seen;   /* n */
};

/* arms_reduced.c. The factor of K into F (n x n are there), by its pivots: rank, or n where that is the answer. */
size_t tacet__arms_factor(double *F, const double *K, size_t n, double tolerance, double *left, size_t *order);
/* One observation; the posterior from the statistics alone. As their likes in arms.c. */
void tacet__arms_step_reduced(tacet_arms *arms, size_t arm, double average, double noise);
tacet_status tacet__arms_rebuild_reduced(tacet_arms *arms, tacet_error *err);

/* Into arms created over the same covariance; continues bit for bit. */
void tacet__arms_state(tacet_arms *arms, tacet__state *s);

/* *to becomes as *from: both over the same covariance. */
void tacet__arms_copy(tacet_arms *to, const tacet_arms *from);
