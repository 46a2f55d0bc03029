/* SPDX-License-Identifier: Apache-2.0 */
/* features_state.c - features kept as bytes, and features evaluated alike on every machine.
 * Ring: pure. Features of equal eigenvalues are defined up to a rotation, which LAPACK chooses by the processor it runs
 * on: sums of features that go on elsewhere must go on in the same ones, so they are stored, not made again. Cost: one
 * pass; an evaluation O(count m) without BLAS. */
#include "gp/features_internal.h"

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "gp/kernel_internal.h"

#include <string.h>

static const char NAME[] = "features";
enum { VERSION = 1, COUNT_MOST = 10000 };

tacet_status tacet__features_save(const tacet_features *features, tacet_blob *out, tacet_error *err) {
    tacet__writer w;
    if (features->block_count != 1 || features->blocks[0].order != 0 || features->blocks[0].coordinates != NULL) {
        return tacet__fail(err, TACET_UNSUPPORTED, "only features of one span are kept as bytes");
    }
    const tacet__feature_block *block = &features->blocks[0];
    tacet__write_begin(&w, out, NAME, VERSION);
    tacet__write_size(&w, features->d);
    tacet__write_size(&w, block->m);
    tacet__write_size(&w, block->count);
    tacet__write_f64s(&w, block->Z, block->d * block->count);
    tacet__write_f64s(&w, block->A, block->count * block->m);
    tacet__write_f64s(&w, features->eigenvalues, block->m);
    return tacet__write_end(&w, err);
}

static bool allocate(tacet_features *features, size_t m, size_t count) {
    tacet__feature_block *block = &features->blocks[0];
    size_t points = 0, entries = 0;
    if (!tacet__size_mul(&points, features->d, count) || !tacet__size_mul(&entries, count, m)) {
        return false;
    }
    block->m = features->m = m;
    block->d = features->d;
    block->count = count;
    block->Z = TACET__ALIGNED(double, points);
    block->Zt = TACET__ALIGNED(double, points);
    block->A = TACET__ALIGNED(double, entries);
    features->eigenvalues = TACET__ZALLOC(double, m);
    return block->Z != NULL && block->Zt != NULL && block->A != NULL && features->eigenvalues != NULL;
}

tacet_status tacet__features_load(tacet_features **out, const tacet_kernel *kernel, const void *bytes, size_t size,
                                  tacet_error *err) {
    tacet__reader r;
    tacet_features *features = NULL;
    *out = NULL;
    TACET_OR_RETURN(tacet__read_begin(&r, bytes, size, NAME, VERSION, err));
    const size_t d = tacet__read_size(&r, TACET__FEATURES_INPUTS_MOST), m = tacet__read_size(&r, COUNT_MOST),
                 count = tacet__read_size(&r, COUNT_MOST);
    if (r.failed || d != tacet_kernel_dim(kernel) || m == 0 || count == 0 || m > count) {
        return tacet__fail(err, TACET_CORRUPT, "the stored features are of another kernel, or damaged");
    }
    TACET_OR_RETURN(tacet__features_begin(&features, kernel, 1, err));
    if (!allocate(features, m, count)) {
        tacet_features_free(features);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for features");
    }
    tacet__feature_block *block = &features->blocks[0];
    tacet__read_f64s(&r, block->Z, d * count);
    tacet__read_f64s(&r, block->A, count * m);
    tacet__read_f64s(&r, features->eigenvalues, m);
    tacet_status status = tacet__read_end(&r, err);
    if (status == TACET_OK && !(tacet__all_finite(block->Z, d * count) && tacet__all_finite(block->A, count * m) &&
                                tacet__all_finite(features->eigenvalues, m))) {
        status = tacet__fail(err, TACET_CORRUPT, "the stored features hold impossible numbers");
    }
    if (status != TACET_OK) {
        tacet_features_free(features);
        return status;
    }
    tacet__span_transpose(block);
    *out = features;
    return TACET_OK;
}

void tacet__features_eval_exact(const tacet_features *features, double *out, const double *x) {
    double row[TACET__KERNEL_BLOCK], buffer[TACET__FEATURES_GROUP_MOST];
    size_t offset = 0;
    for (size_t b = 0; b < features->block_count; b++) {
        const tacet__feature_block *block = features->blocks + b;
        if (block->order != 0) {
            tacet__fourier_eval(block, out + offset, x);
            offset += block->m;
            continue;
        }
        memset(out + offset, 0, block->m * sizeof(double));
        for (size_t node = 0; node < block->count; node += TACET__KERNEL_BLOCK) {
            const size_t n = block->count - node < TACET__KERNEL_BLOCK ? block->count - node : TACET__KERNEL_BLOCK;
            tacet__kernel_row_soa(block->kernel != NULL ? block->kernel : features->kernel, row, block->Zt + node,
                                  block->count, n, tacet__features_gather(block, buffer, x));
            for (size_t i = 0; i < block->m; i++) {
                const double *w = block->A + i * block->count + node;
                double sum = out[offset + i];
                for (size_t j = 0; j < n; j++) { /* in this order, on every machine */
                    sum += w[j] * row[j];
                }
                out[offset + i] = sum;
            }
        }
        offset += block->m;
    }
}
