/* SPDX-License-Identifier: Apache-2.0 */
/* epochs_draws.c - what follows from an epoch's releases: draws of the function, how likely each action is, the model.
 * Ring: trusted; post-processing. Source: README.md, "Cumulative regret". Cost: an eigenproblem of the M features and
 * O(M N) a draw. */
#include "gp/kernel_internal.h"
#include "contextual/trusted/epochs_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

enum { DRAWS = TACET__EPOCHS_DRAWS };

/* Each draw's function at the actions, as weights of the context nodes' kernel values: SE is a product. */
static tacet_status make_fast(tacet__epochs *u, tacet_error *err) {
    const tacet_contextual_basis *b = u->basis;
    const tacet__feature_block *block = &b->features->blocks[0];
    const size_t N = block->count;
    if (tacet_kernel_describe(b->features->kernel)->kind != TACET_KERNEL_SE || b->d > TACET_CONTEXTUAL_DIM_MOST ||
        tacet_kernel_describe(b->features->kernel)->groups != NULL) {
        return TACET_OK;
    }
    if (u->fast == NULL) {
        u->fast = TACET__ALIGNED(double, N *DRAWS);
    }
    double *Ka = TACET__ZALLOC(double, u->n * u->n);
    double *W = TACET__ALIGNED(double, N *DRAWS);
    if (u->fast == NULL || Ka == NULL || W == NULL) {
        free(Ka);
        free(W);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for draws");
    }
    for (size_t i = 0; i < u->n; i++) {
        for (size_t j = 0; j < u->n; j++) { /* nodes i and j have the first context */
            Ka[j * u->n + i] = tacet_kernel_eval(b->features->kernel, block->Z + i * b->d, block->Z + j * b->d);
        }
    }
    tacet__gemm(false, false, N, DRAWS, u->robust.belief.M, 1, block->A, N, u->draws, u->robust.belief.M, 0, W, N);
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): an action list has at least one node */
    tacet__gemm(false, false, u->n, N / u->n * DRAWS, u->n, 1, Ka, u->n, W, u->n, 0, u->fast, u->n);
    free(Ka);
    free(W);
    return TACET_OK;
}

/* How likely each action is in each context node. */
static tacet_status make_pi(tacet__epochs *u, tacet_error *err) {
    const tacet__belief *b = &u->robust.belief;
    double *F = TACET__ALIGNED(double, b->N *DRAWS);
    if (F == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for draws");
    }
    memset(u->pi, 0, b->N * sizeof *u->pi);
    tacet__gemm(true, false, b->N, DRAWS, b->M, 1, b->phi, b->M, u->draws, b->M, 0, F, b->N);
    for (size_t k = 0; k < b->N; k += u->n) {
        for (size_t s = 0; s < DRAWS; s++) {
            size_t best = 0;
            for (size_t i = 1; i < u->n; i++) {
                best = F[s * b->N + k + i] > F[s * b->N + k + best] ? i : best;
            }
            u->pi[k + best] += 1.0 / DRAWS;
        }
    }
    free(F);
    return TACET_OK;
}

static tacet_status make_model(tacet__epochs *u, tacet_error *err) {
    tacet__robust *r = &u->robust;
    tacet_contextual_model *model = NULL;
    tacet__belief_gram(&r->belief, r->belief.L, r->even);
    const tacet_contextual_parts claims = {.is_private = tacet_ask_is_private(&u->ask),
                                           .eps = u->settings.learner.eps,
                                           .delta = u->settings.learner.gaussian ? u->settings.learner.delta : 0,
                                           .predicted_error =
                                               sqrt(fmax(tacet__belief_risk(&r->belief, r->belief.L), 0)),
                                           .receipts = r->parts.receipts,
                                           .receipt_count = r->parts.receipt_count};
    const tacet_status status = tacet__contextual_model_from(&model, u->learner, u->basis->features->blocks[0].A,
                                                             r->belief.theta, r->belief.M, &claims, err);
    if (status == TACET_OK) {
        tacet_contextual_model_free(u->model);
        u->model = model;
    }
    return status;
}

tacet_status tacet__epochs_refresh(tacet__epochs *u, tacet_error *err) {
    const tacet__belief *b = &u->robust.belief;
    tacet_status status = make_fast(u, err);
    if (status == TACET_OK) {
        status = make_pi(u, err);
    }
    if (status == TACET_OK) {
        status = make_model(u, err);
    }
    memset(u->average, 0, u->n * sizeof *u->average);
    for (size_t k = 0; k < b->N; k++) {
        u->average[k % u->n] += u->robust.even[k] * (double)u->n * tacet__dot(b->theta, b->phi + k * b->M, b->M);
    }
    return status;
}

tacet_status tacet__epochs_draw(tacet__epochs *u, tacet_error *err) {
    const tacet__belief *b = &u->robust.belief;
    const size_t M = b->M;
    tacet_simrng rng;
    double *V = TACET__ZALLOC(double, M *M);
    double *w = TACET__ZALLOC(double, M);
    double *z = TACET__ZALLOC(double, M);
    tacet_status status = TACET_OK;
    if (V == NULL || w == NULL || z == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for draws");
    } else {
        memcpy(V, b->P, M * M * sizeof *V);
        status = tacet__eigh(V, M, M, w, err);
    }
    tacet_simrng_init(&rng, u->settings.coin_seed, UINT64_MAX - u->epoch);
    for (size_t s = 0; s < DRAWS && status == TACET_OK; s++) {
        for (size_t j = 0; j < M; j++) {
            z[j] = u->settings.width * sqrt(fmax(w[j], 0)) * tacet_simrng_normal(&rng);
        }
        memcpy(u->draws + s * M, b->theta, M * sizeof *z);
        tacet__gemv(false, M, M, 1, V, M, z, 1, u->draws + s * M);
    }
    free(V);
    free(w);
    free(z);
    return status;
}
