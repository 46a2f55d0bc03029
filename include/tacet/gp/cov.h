/* SPDX-License-Identifier: Apache-2.0 */
/* cov.h - the prior covariance of a finite domain of n candidates, numbered 0 … n-1: from a kernel and the candidates'
 * points, or from a kernel and points known up to Gaussian noise. Immutable once created: any number of threads may
 * read it. */
#ifndef TACET_GP_COV_H
#define TACET_GP_COV_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/gp/kernel.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_cov_spec {
    const tacet_kernel *kernel; /* borrowed: must outlive the covariance */
    /* Errors in variables: the points are z = x + N(0, diag(input_sd^2)) and the kernel is that of x. The covariance
     * of two different candidates is E k(z + u, z' + u'), u and u' independent noises; of a candidate with itself
     * k(x, x). NULL: points are exact. 1 or d of them, each >= 0. SE and Matérn, with ARD and groups; others are
     * UNSUPPORTED. */
    const double *input_sd;
    size_t input_sd_count;
} tacet_cov_spec;

typedef struct tacet_cov tacet_cov;

#ifdef __cplusplus
}
#endif
#endif
