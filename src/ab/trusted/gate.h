/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - how sums of this room leave. Ring: trusted. */
#ifndef TACET_SRC_AB_TRUSTED_GATE_H
#define TACET_SRC_AB_TRUSTED_GATE_H

#include <tacet/dp/mechanism.h>

/* Sums of rows, of which each moves them by at most `sensitivity` in the L1 norm when it is replaced; their Euclidean
 * norm is at most `norm`. `proof` names the page and its claim. They leave through the gate with Laplace noise. */
typedef struct tacet__ab_sums {
    const tacet_raw *raw;
    size_t count;
    double norm, sensitivity, eps;
    const char *proof;
} tacet__ab_sums;

tacet_status tacet__ab_release(tacet_release **out, const tacet__ab_sums *sums, const tacet_ask *ask, tacet_error *err);

#endif
