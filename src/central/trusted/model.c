/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - what a joint-DP study learnt, as a model for anyone: a sum of kernel functions.
 * Ring: trusted (it reads a saved state; what leaves is post-processing of what was released). Source: Remark 1 of
 * Dubey (AISTATS 2021). Differs: kernel functions at the nodes instead of coefficients of features, since features of
 * equal eigenvalues are defined up to a rotation that differs between machines; the logit of f(x), level +
 * <theta, A' k(Z, x)>, is the level and weights A theta at Z. Cost: that of loading the state. */
#include "gp/kernel_internal.h"
#include "contextual/open/internal.h"
#include "central/trusted/policy.h"

#include <stdlib.h>

#include "core/fail.h"
#include "gp/features_internal.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "central/trusted/bandit.h"

static tacet_status check(const tacet_central_map *map, tacet_error *err) {
    const tacet_domain *domain = tacet_central_map_domain(map);
    const tacet_features *features = tacet_central_map_features(map);
    const tacet_kernel_spec *kernel = tacet_kernel_describe(features->kernel);
    if (domain->kind != TACET_DOMAIN_BOX || domain->d > TACET_CONTEXTUAL_DIM_MOST) {
        return tacet__fail(err, TACET_INVALID, "a model is of a box of at most %d coordinates",
                           (int)TACET_CONTEXTUAL_DIM_MOST);
    }
    const bool named = kernel->kind == TACET_KERNEL_SE ||
                       (kernel->kind == TACET_KERNEL_MATERN && kernel->matern_p >= 1 && kernel->matern_p <= 2);
    if (!named || features->block_count != 1 || features->blocks[0].order != 0 ||
        features->blocks[0].coordinates != NULL || features->blocks[0].count > TACET_CONTEXTUAL_NODES_MOST) {
        return tacet__fail(err, TACET_INVALID, "a model is a sum of at most %d se, matern32 or matern52 kernels",
                           (int)TACET_CONTEXTUAL_NODES_MOST);
    }
    return TACET_OK;
}

/* Nodes into the unit box, coefficients of features into weights of nodes. */
static tacet_status expand(tacet_contextual_model **out, const tacet_central_map *map,
                           const tacet__central_learnt *learnt, double *nodes, double *weights, tacet_error *err) {
    const tacet_domain *domain = tacet_central_map_domain(map);
    const tacet__feature_block *block = &tacet_central_map_features(map)->blocks[0];
    const tacet_kernel_spec *kernel = tacet_kernel_describe(tacet_central_map_features(map)->kernel);
    const tacet_receipt *receipt = tacet_release_receipt(learnt->release);
    const double lo = tacet_central_map_lo(map), hi = tacet_central_map_hi(map);
    double scales[TACET_CONTEXTUAL_DIM_MOST];
    for (size_t c = 0; c < domain->d; c++) {
        scales[c] = kernel->lengthscales[kernel->lengthscale_count == 1 ? 0 : c];
        for (size_t j = 0; j < block->count; j++) {
            nodes[j * domain->d + c] =
                (block->Z[j * domain->d + c] - domain->lower[c]) / (domain->upper[c] - domain->lower[c]);
        }
    }
    /* the logistic curve has the range, the sum stays as it is */
    tacet__gemv(false, block->count, block->m, 1, block->A, block->count, learnt->theta, 0.0, weights);
    const tacet_contextual_parts parts = {.action_dim = domain->d,
                                          .lower = domain->lower,
                                          .upper = domain->upper,
                                          .kind = kernel->kind,
                                          .matern_p = kernel->matern_p,
                                          .lengthscales = scales,
                                          .nodes = nodes,
                                          .weights = weights,
                                          .count = block->count,
                                          .offset = learnt->level,
                                          .logistic_lo = lo,
                                          .logistic_scale = hi - lo,
                                          .minimize = learnt->minimize,
                                          .is_private = receipt->is_private,
                                          .eps = receipt->eps,
                                          .delta = receipt->delta,
                                          .rounds = learnt->rounds,
                                          .range = {learnt->minimize ? -hi : lo, learnt->minimize ? -lo : hi},
                                          .predicted_error = learnt->error,
                                          .receipts = receipt,
                                          .receipt_count = 1};
    return tacet_contextual_model_create(out, &parts, err);
}

tacet_status tacet_central_model(tacet_contextual_model **out, const tacet_central_map *map,
                                 const tacet_central_settings *settings, const tacet_ask *ask, const void *bytes,
                                 size_t size, tacet_error *err) {
    if (out == NULL || map == NULL) {
        return tacet__fail(err, TACET_INVALID, "a model needs a map, and a place");
    }
    *out = NULL;
    TACET_OR_RETURN(check(map, err));
    const tacet__feature_block *block = &tacet_central_map_features(map)->blocks[0];
    tacet__central_learnt learnt = {.theta = TACET__ZALLOC(double, block->m),
                                    .minimize = settings != NULL && settings->minimize};
    double *nodes = TACET__ZALLOC(double, block->count * block->d);
    double *weights = TACET__ZALLOC(double, block->count);
    tacet_status status = learnt.theta == NULL || nodes == NULL || weights == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a model of %zu nodes", block->count)
                              : tacet__central_learnt_of(&learnt, map, settings, ask, bytes, size, err);
    TACET_THEN(status, expand(out, map, &learnt, nodes, weights, err));
    tacet_release_free(learnt.release);
    free(learnt.theta);
    free(nodes);
    free(weights);
    return status;
}
