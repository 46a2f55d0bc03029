/* SPDX-License-Identifier: Apache-2.0 */
/* nystrom.c - Nyström embedding over a finite domain.
 * Ring: open. Source: Zhou and Tan 2020, Algorithm 4 (Calandriello et al. 2019). Differs: the map is (K_D^1/2)^+
 * k_D(x), not (K_D^-1/2)^+ (erratum 2), taken in the eigenbasis of K_D with eigenvalues below 1e-10 of the largest
 * dropped, so that its dimension is the rank (erratum 12); inclusion is drawn once per arm with probability 1 - (1 -
 * p)^plays, p = min(q var/lambda, 1), which is the law of the paper's one coin per play. Cost: O(n^3) when the
 * dictionary changed, O(n) otherwise. */
#include "local/open/internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

static const double CUTOFF = 1e-10;

tacet_status tacet__nystrom_init(tacet__nystrom *ny, const tacet__local *p, tacet_error *err) {
    const size_t n = p->n;
    *ny = (tacet__nystrom){.p = p};
    ny->in = TACET__ZALLOC(bool, n);
    ny->next = TACET__ZALLOC(bool, n);
    ny->features = TACET__ALIGNED(double, n *n);
    ny->residual = TACET__ALIGNED(double, n);
    ny->A = TACET__ALIGNED(double, n *n);
    ny->B = TACET__ALIGNED(double, n *n);
    ny->w = TACET__ALIGNED(double, n);
    ny->members = TACET__ZALLOC(size_t, n);
    ny->scratch = TACET__ALIGNED(double, tacet__eigh_scratch(n));
    if (ny->in == NULL || ny->next == NULL || ny->features == NULL || ny->residual == NULL || ny->A == NULL ||
        ny->B == NULL || ny->w == NULL || ny->members == NULL || ny->scratch == NULL) {
        tacet__nystrom_clear(ny);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the features of %zu arms", n);
    }
    tacet__nystrom_reset(ny);
    return TACET_OK;
}

void tacet__nystrom_clear(tacet__nystrom *ny) {
    free(ny->in);
    free(ny->next);
    free(ny->features);
    free(ny->residual);
    free(ny->A);
    free(ny->B);
    free(ny->w);
    free(ny->members);
    free(ny->scratch);
    *ny = (tacet__nystrom){0};
}

void tacet__nystrom_reset(tacet__nystrom *ny) {
    const size_t n = ny->p->n;
    ny->m = 0;
    ny->size = 0;
    memset(ny->in, 0, n * sizeof *ny->in);
    for (size_t i = 0; i < n; i++) {
        ny->residual[i] = ny->p->K[i * n + i];
    }
}

/* The features as they are: another machine's eigenvectors may differ in the last bits. */
void tacet__nystrom_state(tacet__nystrom *ny, tacet__state *s) {
    const size_t n = ny->p->n;
    tacet__state_bools(s, "dictionary", ny->in, n);
    if (tacet__state_taking(s)) {
        ny->size = 0;
        for (size_t i = 0; i < n; i++) {
            ny->size += ny->in[i] ? 1 : 0;
        }
    }
    tacet__state_size(s, "features", &ny->m, ny->size);
    tacet__state_matrix(s, "embedding", ny->features, n, ny->m, n);
    tacet__state_f64s(s, "residual", ny->residual, n);
    for (size_t i = 0; i < n && tacet__state_taking(s); i++) {
        tacet__state_require(s, "residual", ny->residual[i] >= 0);
    }
}

/* Features of all arms from the dictionary in `next`. */
static tacet_status embed(tacet__nystrom *ny, tacet_error *err) {
    const size_t n = ny->p->n;
    const double *K = ny->p->K;
    size_t size = 0;
    for (size_t i = 0; i < n; i++) {
        if (ny->next[i]) {
            ny->members[size++] = i;
        }
    }
    if (size == 0) {
        tacet__nystrom_reset(ny);
        return TACET_OK;
    }
    for (size_t b = 0; b < size; b++) {
        for (size_t a = 0; a < size; a++) {
            ny->A[b * size + a] = K[ny->members[b] * n + ny->members[a]];
        }
    }
    TACET_OR_RETURN(tacet__eigh_in(ny->A, size, size, ny->w, ny->scratch, err));
    size_t dropped = 0;
    while (dropped < size && !(ny->w[dropped] > CUTOFF * ny->w[size - 1])) {
        dropped++;
    }
    const size_t m = size - dropped;
    for (size_t j = 0; j < n; j++) {
        for (size_t a = 0; a < size; a++) {
            ny->B[j * size + a] = K[j * n + ny->members[a]];
        }
    }
    tacet__gemm(true, false, m, n, size, 1, ny->A + dropped * size, size, ny->B, size, 0, ny->features, n);
    for (size_t j = 0; j < n; j++) {
        double *phi = ny->features + j * n;
        double norm2 = 0;
        for (size_t i = 0; i < m; i++) {
            phi[i] /= sqrt(ny->w[dropped + i]);
            norm2 += phi[i] * phi[i];
        }
        ny->residual[j] = fmax(K[j * n + j] - norm2, 0);
    }
    ny->m = m;
    ny->size = size;
    memcpy(ny->in, ny->next, n * sizeof *ny->in);
    return TACET_OK;
}

tacet_status tacet__nystrom_update(tacet__nystrom *ny, bool *changed, const uint64_t *plays, const double *var,
                                   uint64_t step, tacet_error *err) {
    const size_t n = ny->p->n;
    const double rate = tacet__local_q(ny->p) / ny->p->s.lambda;
    tacet_simrng coins; /* public: which arms describe the features is no secret */
    tacet_simrng_init(&coins, ny->p->s.seed, step);
    for (size_t i = 0; i < n; i++) {
        const double p = fmin(rate * var[i], 1);
        const double miss = p < 1 ? exp((double)plays[i] * log1p(-p)) : 0;
        const double u = tacet_simrng_uniform(&coins);
        ny->next[i] = plays[i] > 0 && u >= miss;
    }
    *changed = memcmp(ny->next, ny->in, n * sizeof *ny->in) != 0;
    return *changed ? embed(ny, err) : TACET_OK;
}
