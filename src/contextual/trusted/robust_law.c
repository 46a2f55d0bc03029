/* SPDX-License-Identifier: Apache-2.0 */
/* robust_law.c - the law of contexts, measured on a part of the records, and features for it.
 * Ring: trusted. Source: README.md, "Parts". Cost: one pass over its part, and an eigenproblem of the
 * basis' features. */
#include "contextual/trusted/robust.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static const char PROOF[] = TACET__ROBUST_PROOF;
static const double EIGENVALUE_LEAST = 1e-9; /* of the largest: features that the law has never seen */

/* --- the law ----------------------------------------------------------------------------------------------------- */

typedef struct sketching {
    const tacet__robust *r;
    tacet_tally *sums;
    double *g;
    double step;
} sketching;

size_t tacet__robust_action(const tacet_contextual_basis *b, const double *record) {
    const double *Z = b->features->blocks[0].Z;
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < b->node_actions; i++) {
        double sum = 0;
        for (size_t c = 0; c < b->action_dim; c++) {
            const double e = Z[i * b->d + c] - record[c];
            sum += e * e;
        }
        if (sum < least) {
            least = sum;
            best = i;
        }
    }
    return best;
}

static void sketch_record(void *user, const double *record, const double *phi) {
    const sketching *s = user;
    const tacet__contextual_law *law = &s->r->law;
    (void)phi;
    if (tacet__robust_null(s->r, record)) {
        return;
    }
    tacet__contextual_law_features(law, s->g, record + law->a);
    const double norm = tacet__norm2(s->g, law->g);
    const size_t x = law->classes == 1 ? 0 : tacet__robust_action(s->r->learner->basis, record);
    tacet__robust_add(s->sums, x * law->g, s->g, law->g, norm > 1 ? 1 / norm : 1, s->step);
}

tacet_status tacet__robust_sketch(tacet__robust *r, double *V, double *sd, tacet_error *err) {
    const size_t size = tacet__contextual_law_size(&r->law);
    const size_t n = r->parts.sizes.n[TACET__PART_LAW];
    const double share = tacet__robust_share(1, size);
    tacet_tally *sums = NULL;
    double *g = TACET__ZALLOC(double, r->law.g);
    tacet_status status = g == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch")
                                    : tacet__robust_tally(&sums, "law", size, err);
    sketching s = {.r = r, .sums = sums, .g = g, .step = tacet__robust_step(1)};
    TACET_THEN(status, tacet__robust_visit(r, TACET__PART_LAW, sketch_record, &s, err));
    if (status == TACET_OK) {
        tacet__robust_sums(sums, V, size, s.step);
        /* |g(c) - g(c')|^2 <= 2 - 2 k(c, c') <= 2, and each is rounded. */
        const tacet__parts_vector v = {.name = "law",
                                       .values = V,
                                       .count = size,
                                       .radius = (double)n * share,
                                       .diameter = sqrt(2) + 2 * (share - 1) + 1e-12,
                                       .proof = PROOF};
        status = tacet__parts_release(&r->parts, V, sd, &v, err);
    }
    if (g != NULL) {
        sodium_memzero(g, r->law.g * sizeof *g);
    }
    tacet_tally_free(sums);
    free(g);
    return status;
}

/* --- features for the law ---------------------------------------------------------------------------------------- */

tacet_status tacet__robust_adapt(tacet__robust *r, tacet_error *err) {
    const tacet_contextual_basis *basis = r->learner->basis;
    const tacet__feature_block *block = &basis->features->blocks[0];
    const size_t big = basis->features->m;
    const size_t N = block->count;
    tacet__belief all = {0};
    double *lam = TACET__ZALLOC(double, big);
    double *V = TACET__ZALLOC(double, big *TACET__BELIEF_FEATURES_MOST);
    double *law = TACET__ZALLOC(double, N);
    tacet_status status = lam == NULL || V == NULL || law == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features", big)
                              : tacet__belief_init(&all, big, N, err);
    if (status != TACET_OK) {
        goto done;
    }
    for (size_t k = 0; k < N; k++) {
        law[k] = 0.5 * (r->q[k] + r->even[k]);
    }
    tacet_features_eval(basis->features, all.phi, block->Z, basis->d, N);
    tacet__belief_gram(&all, all.L, law);
    status = tacet__eigh(all.L, big, big, lam, err);
    if (status != TACET_OK) {
        goto done;
    }
    size_t M = 0;
    double total = 0;
    const double decay = r->learner->decay;
    for (size_t j = 0; j < big; j++) {
        const double at = lam[big - 1 - j]; /* ascending */
        if (M == j && M < TACET__BELIEF_FEATURES_MOST && at > EIGENVALUE_LEAST * lam[big - 1]) {
            memcpy(V + M * big, all.L + (big - 1 - j) * big, big * sizeof *V);
            M++;
        }
        total += pow(fmax(at, 0), 1 + decay);
    }
    total += basis->tail * pow(fmax(lam[big - M], 0), decay);
    status = tacet__belief_init(&r->belief, M, N, err);
    r->A = TACET__ALIGNED(double, N *M);
    if (status == TACET_OK && r->A == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features", M);
    }
    if (status != TACET_OK) {
        goto done;
    }
    tacet__gemm(false, false, N, M, big, 1, block->A, N, V, big, 0, r->A, N);
    tacet__gemm(true, false, M, N, big, 1, V, big, all.phi, big, 0, r->belief.phi, M);
    tacet__contextual_view_init(&r->view, basis, M);
    r->view.block.A = r->A;
    r->view.features.blocks = &r->view.block;
    double kept = 0;
    for (size_t j = 0; j < M; j++) {
        const double at = lam[big - 1 - j];
        r->belief.P[j * M + j] = pow(at, decay) / total;
        kept += pow(at, 1 + decay) / total;
    }
    r->belief.tail = fmax(1 - kept, 0);
    for (size_t k = 0; k < N; k++) {
        law[k] = 0.5 * (r->q[k] + r->even[k]);
    }
    tacet__belief_gram(&r->belief, r->belief.U, law);
done:
    tacet__belief_clear(&all);
    free(lam);
    free(V);
    free(law);
    return status;
}
