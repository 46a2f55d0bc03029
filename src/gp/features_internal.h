/* SPDX-License-Identifier: Apache-2.0 */
/* features_internal.h - how features are stored: a list of blocks, one per group of coordinates, each Fourier or a span
 * of kernel functions. Ring: pure. */
#pragma once

#include <stddef.h>
#include <tacet/core/blob.h>
#include "gp/features.h"

enum { TACET__FEATURES_INPUTS_MOST = 4096 }; /* coordinates of a point: bounds the buffers of the gradient */
enum { TACET__FEATURES_GROUP_MOST = 64 };    /* coordinates of a group: bounds the buffer it is gathered into */

typedef struct tacet__feature_block {
    size_t m;            /* features of this block */
    size_t d;            /* coordinates it reads */
    size_t *coordinates; /* d of them; NULL: all, in order */

    /* Fourier: node L of the grid has digit i_c = L / order^c % order in coordinate c; kept are L < pairs, as cosines
     * then sines, then the constant when order^d is odd (its middle node is 0, its own mirror image). */
    size_t order; /* 0 for a span */
    size_t pairs;
    double *frequency; /* order x d: node / lengthscale */
    double *amplitude; /* pairs (+ 1): sqrt(2 W signal_var/groups), the last without the 2 */

    /* Span: phi = A' k(Z, x). */
    size_t count;         /* landmarks or nodes */
    tacet_kernel *kernel; /* of the block's coordinates; NULL: the features' own */
    double *Z;            /* d x count */
    double *Zt;           /* count x d: the same by coordinate */
    double *A;            /* count x m */
} tacet__feature_block;

struct tacet_features {
    tacet_kernel *kernel;
    size_t m;
    size_t d;
    size_t block_count;
    tacet__feature_block *blocks;
    double *eigenvalues; /* m, or NULL */
    double norm2_bound;
};

/* An empty object with its copy of the kernel and room for the blocks; INVALID when there are too many coordinates. */
tacet_status tacet__features_begin(tacet_features **out, const tacet_kernel *kernel, size_t block_count,
                                   tacet_error *err);
/* A kernel for the coordinates of group g alone, with its share of the signal variance. */
tacet_status tacet__features_group_kernel(tacet_kernel **out, const tacet_kernel *kernel, size_t g, tacet_error *err);

/* What a block reads of a point: the point itself, or its coordinates gathered into `buffer`
 * (TACET__FEATURES_GROUP_MOST). */
const double *tacet__features_gather(const tacet__feature_block *block, double *buffer, const double *x);

/* Features of one span, of the n columns of X (d x n), that take about the values F (n x m) there: A = (K + RIDGE I)^-1
 * F, so values that the kernel can hardly span are smoothed. eigenvalues: m. NUMERIC, NO_MEMORY. */
tacet_status tacet__features_create_values(tacet_features **out, const tacet_kernel *kernel, const double *X, size_t n,
                                           const double *F, const double *eigenvalues, size_t m, tacet_error *err);

/* Fills Zt from Z. */
void tacet__span_transpose(tacet__feature_block *block);
/* x and X are whole points; m rows of values. */
void tacet__fourier_eval(const tacet__feature_block *block, double *out, const double *x);
void tacet__span_eval(const tacet_features *features, const tacet__feature_block *block, double *out, size_t ldo,
                      const double *X, size_t ldx, size_t n);

/* features_state.c: features of one span (Mercer, Nyström, no groups) as bytes, and back with the same bits.
 * UNSUPPORTED: others. CORRUPT: damaged, or of another kernel's dimension. NO_MEMORY. */
tacet_status tacet__features_save(const tacet_features *features, tacet_blob *out, tacet_error *err);
tacet_status tacet__features_load(tacet_features **out, const tacet_kernel *kernel, const void *bytes, size_t size,
                                  tacet_error *err);
/* The features of one point, summed in a fixed order without BLAS: the same bits on every processor, given the same
 * features. Not capped at the kernel's diagonal. */
void tacet__features_eval_exact(const tacet_features *features, double *out, const double *x);
