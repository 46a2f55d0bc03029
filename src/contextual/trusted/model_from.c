/* SPDX-License-Identifier: Apache-2.0 */
/* model_from.c - a model from weights of features: kernel functions at the nodes, and what is claimed of it.
 * Ring: trusted. Source: src/contextual/README.md, section 3. Cost: nodes x m. */
#include "gp/kernel_internal.h"
#include "contextual/open/internal.h"
#include "contextual/trusted/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <stdlib.h>

tacet_status tacet__contextual_model_from(tacet_contextual_model **out, const tacet_contextual_learner *l,
                                          const double *A, const double *theta, size_t m,
                                          const tacet_contextual_parts *claims, tacet_error *err) {
    const tacet_contextual_basis *b = l->basis;
    const tacet__feature_block *block = &b->features->blocks[0];
    const tacet_kernel_spec *spec = tacet_kernel_describe(b->features->kernel);
    double lengthscales[TACET_CONTEXTUAL_COORDINATES_MOST];
    double *weights = TACET__ZALLOC(double, block->count);
    *out = NULL;
    if (weights == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model");
    }
    tacet__gemv(false, block->count, m, 1, A, block->count, theta, 0, weights);
    for (size_t i = 0; i < b->d; i++) {
        lengthscales[i] = b->unit_lengthscale[i] * (b->upper[i] - b->lower[i]);
    }
    tacet_contextual_parts parts = *claims;
    parts.action_dim = b->action_dim;
    parts.context_dim = b->d - b->action_dim;
    parts.lower = b->lower;
    parts.upper = b->upper;
    parts.kind = spec->kind;
    parts.matern_p = spec->matern_p;
    parts.lengthscales = lengthscales;
    parts.nodes = block->Z;
    parts.weights = weights;
    parts.count = block->count;
    parts.offset = l->middle;
    parts.rounds = l->count;
    parts.range[0] = l->settings.reward_lower;
    parts.range[1] = l->settings.reward_upper;
    const tacet_status status = tacet_contextual_model_create(out, &parts, err);
    free(weights);
    return status;
}
