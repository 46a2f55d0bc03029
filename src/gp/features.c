/* SPDX-License-Identifier: Apache-2.0 */
/* features.c - what all feature maps share: the list of blocks, evaluation, the norm that is never exceeded.
 * Ring: pure. Source: see features_qff.c, features_span.c. Cost of evaluation: Fourier O(m) a point after order*d
 * sines; span O(m q) a point by gemm, q nodes; nothing is allocated. */
#include "gp/features_internal.h"

#include "core/fail.h"
#include "gp/kernel_internal.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tacet_status tacet__features_begin(tacet_features **out, const tacet_kernel *kernel, size_t block_count,
                                   tacet_error *err) {
    *out = NULL;
    if (tacet_kernel_dim(kernel) > TACET__FEATURES_INPUTS_MOST) {
        return tacet__fail(err, TACET_INVALID, "features of %zu coordinates, the most is %d", tacet_kernel_dim(kernel),
                           (int)TACET__FEATURES_INPUTS_MOST);
    }
    tacet_features *features = TACET__ZALLOC(tacet_features, 1);
    if (features == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for features");
    }
    tacet_status status = tacet_kernel_create(&features->kernel, tacet_kernel_describe(kernel), err);
    if (status == TACET_OK) {
        features->blocks = TACET__ZALLOC(tacet__feature_block, block_count);
        if (features->blocks == NULL) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for features");
        }
    }
    if (status != TACET_OK) {
        tacet_features_free(features);
        return status;
    }
    const tacet_kernel_spec *spec = tacet_kernel_describe(features->kernel);
    features->d = spec->d;
    features->block_count = block_count;
    features->norm2_bound = spec->kind == TACET_KERNEL_LINEAR ? INFINITY : spec->signal_var;
    if (spec->kind == TACET_KERNEL_PRECOMPUTED) {
        double largest = 0;
        for (size_t i = 0; i < spec->order; i++) {
            largest = fmax(largest, spec->matrix[i * spec->ld_matrix + i]);
        }
        features->norm2_bound = largest * spec->signal_var;
    }
    *out = features;
    return TACET_OK;
}

tacet_status tacet__features_group_kernel(tacet_kernel **out, const tacet_kernel *kernel, size_t g, tacet_error *err) {
    const size_t *coordinates = kernel->coordinates + kernel->starts[g];
    tacet_kernel_spec spec = kernel->spec;
    spec.d = kernel->starts[g + 1] - kernel->starts[g];
    spec.groups = NULL;
    spec.group_count = 0;
    spec.signal_var = kernel->spec.signal_var / (double)kernel->group_count;
    double *lengthscales = TACET__ZALLOC(double, spec.d);
    if (lengthscales == NULL) {
        *out = NULL;
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the kernel of a group");
    }
    for (size_t k = 0; k < spec.d; k++) {
        lengthscales[k] = kernel->spec.lengthscales[kernel->spec.lengthscale_count == 1 ? 0 : coordinates[k]];
    }
    spec.lengthscales = lengthscales;
    spec.lengthscale_count = spec.d;
    const tacet_status status = tacet_kernel_create(out, &spec, err);
    free(lengthscales);
    return status;
}

void tacet_features_free(tacet_features *features) {
    if (features == NULL) {
        return;
    }
    for (size_t b = 0; features->blocks != NULL && b < features->block_count; b++) {
        tacet__feature_block *block = features->blocks + b;
        free(block->coordinates);
        free(block->frequency);
        free(block->amplitude);
        tacet_kernel_free(block->kernel);
        free(block->Z);
        free(block->Zt);
        free(block->A);
    }
    free(features->blocks);
    free(features->eigenvalues);
    tacet_kernel_free(features->kernel);
    free(features);
}

size_t tacet_features_dim(const tacet_features *features) {
    return features->m;
}

size_t tacet_features_inputs(const tacet_features *features) {
    return features->d;
}

const tacet_kernel *tacet_features_kernel(const tacet_features *features) {
    return features->kernel;
}

const double *tacet_features_eigenvalues(const tacet_features *features) {
    return features->eigenvalues;
}

double tacet_features_norm2_bound(const tacet_features *features) {
    return features->norm2_bound;
}

const double *tacet__features_gather(const tacet__feature_block *block, double *buffer, const double *x) {
    if (block->coordinates == NULL) {
        return x;
    }
    for (size_t k = 0; k < block->d; k++) {
        buffer[k] = x[block->coordinates[k]];
    }
    return buffer;
}

/* In exact arithmetic |phi|^2 <= k(x, x). Rounding, divided by the root of a small eigenvalue, would exceed it by more
 * than an ulp or two; sensitivity bounds must not depend on that. */
static void cap(const tacet_features *features, double *phi, const double *x) {
    double diagonal = 0;
    tacet_kernel_diag(features->kernel, &diagonal, x, features->d, 1);
    const double norm2 = tacet__dot(phi, phi, features->m);
    if (norm2 > diagonal) {
        const double factor = diagonal > 0 ? sqrt(diagonal / norm2) : 0;
        for (size_t i = 0; i < features->m; i++) {
            phi[i] *= factor;
        }
    }
}

void tacet_features_eval(const tacet_features *features, double *out, const double *X, size_t ldx, size_t n) {
    size_t offset = 0;
    for (size_t b = 0; b < features->block_count; b++) {
        const tacet__feature_block *block = features->blocks + b;
        if (block->order == 0) {
            tacet__span_eval(features, block, out + offset, features->m, X, ldx, n);
        } else {
            for (size_t j = 0; j < n; j++) {
                tacet__fourier_eval(block, out + j * features->m + offset, X + j * ldx);
            }
        }
        offset += block->m;
    }
    for (size_t j = 0; j < n; j++) {
        cap(features, out + j * features->m, X + j * ldx);
    }
}
