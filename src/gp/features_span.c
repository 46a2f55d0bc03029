/* SPDX-License-Identifier: Apache-2.0 */
/* features_span.c - features that span kernel functions: Nyström landmarks, and Mercer features of a public domain.
 * Ring: pure. Source: Williams & Seeger 2001 (Nyström); Mercer eigenfunctions by quadrature after Atkinson 1967. With
 * nodes z_j and weights q_j: q^1/2 K q^1/2 = V lam V', phi(x) = lam^-1/2 V' q^1/2 k(Z, x). The functions phi_i are
 * orthonormal in the kernel's Hilbert space, so |phi(x)|^2 is the squared norm of a projection of k(., x): at most
 * k(x, x), whatever is cut off. Differs: eigenvalues below 1e-10 of the largest are dropped, where rounding would be
 * magnified. Cost: O(q^3) to create, O(m q) a point, by gemm. */
#include "gp/features_internal.h"

#include "core/fail.h"
#include "gp/kernel_internal.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "gp/quadrature.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double CUT_OFF = 1e-10; /* relative to the largest eigenvalue */
static const double RIDGE = 1e-6;    /* of values that are fitted: far below what noise can tell */
enum { NODES_MOST = 10000 };         /* the eigenproblem is cubic in it */
enum { TILE_NODES = 256, TILE_POINTS = 32 };

/* The eigenpairs of one block, ascending, before it is known how many are kept. */
typedef struct pairs {
    double *V; /* count x count */
    double *lam;
} pairs;

static const tacet_kernel *kernel_of(const tacet_features *features, const tacet__feature_block *block) {
    return block->kernel != NULL ? block->kernel : features->kernel;
}

/* Room for the nodes of a block. */
static tacet_status reserve(tacet__feature_block *block, size_t d, size_t count, tacet_error *err) {
    size_t size = 0;
    if (!tacet__size_mul(&size, d, count)) {
        return tacet__fail(err, TACET_OVERFLOW, "%zu points of %zu coordinates", count, d);
    }
    block->d = d;
    block->count = count;
    block->Z = TACET__ALIGNED(double, size);
    block->Zt = TACET__ALIGNED(double, size);
    if (block->Z == NULL || block->Zt == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu points", count);
    }
    return TACET_OK;
}

void tacet__span_transpose(tacet__feature_block *block) {
    for (size_t j = 0; j < block->count; j++) {
        for (size_t c = 0; c < block->d; c++) {
            block->Zt[c * block->count + j] = block->Z[j * block->d + c];
        }
    }
}

/* From nodes (in block->Z) and weights (NULL: ones) to eigenpairs. */
static tacet_status decompose(const tacet_features *features, tacet__feature_block *block, const double *weights,
                              pairs *found, tacet_error *err) {
    const size_t n = block->count;
    size_t size = 0;
    if (!tacet__size_mul(&size, n, n)) {
        return tacet__fail(err, TACET_OVERFLOW, "%zu points", n);
    }
    found->V = TACET__ALIGNED(double, size);
    found->lam = TACET__ALIGNED(double, n);
    if (found->V == NULL || found->lam == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the eigenproblem of %zu points", n);
    }
    tacet__span_transpose(block);
    for (size_t j = 0; j < n; j++) {
        double *column = found->V + j * n;
        tacet__kernel_row_soa(kernel_of(features, block), column, block->Zt, n, n, block->Z + j * block->d);
        for (size_t i = 0; i < n; i++) {
            if (!isfinite(column[i])) {
                return tacet__fail(err, TACET_INVALID, "the kernel of points %zu and %zu is not finite", i, j);
            }
            column[i] *= weights == NULL ? 1 : sqrt(weights[i]) * sqrt(weights[j]);
        }
    }
    return tacet__eigh(found->V, n, n, found->lam, err);
}

/* Keeps the leading m eigenpairs: A = q^1/2 V lam^-1/2, and their eigenvalues. */
static tacet_status keep_leading(tacet__feature_block *block, double *eigenvalues, const double *weights,
                                 const pairs *found, size_t m, tacet_error *err) {
    const size_t n = block->count;
    size_t size = 0;
    block->m = m;
    block->A = tacet__size_mul(&size, n, m) ? TACET__ALIGNED(double, size) : NULL;
    if (block->A == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features of %zu points", m, n);
    }
    for (size_t i = 0; i < m; i++) {
        const double *v = found->V + (n - 1 - i) * n;
        const double lam = found->lam[n - 1 - i];
        eigenvalues[i] = lam;
        for (size_t j = 0; j < n; j++) {
            block->A[i * n + j] = v[j] * (weights == NULL ? 1 : sqrt(weights[j])) / sqrt(lam);
        }
    }
    return TACET_OK;
}

/* How many of each block to keep: the leading `most` over all blocks (0: all), above the cut-off. Ties go to the first
 * block. */
static size_t choose(size_t *kept, const tacet_features *features, const pairs *found, size_t most) {
    double largest = 0;
    size_t total = 0;
    for (size_t b = 0; b < features->block_count; b++) {
        largest = fmax(largest, found[b].lam[features->blocks[b].count - 1]);
        kept[b] = 0;
    }
    while (most == 0 || total < most) {
        size_t best = features->block_count;
        double lead = CUT_OFF * largest;
        for (size_t b = 0; b < features->block_count; b++) {
            const size_t count = features->blocks[b].count;
            if (kept[b] < count && found[b].lam[count - 1 - kept[b]] > lead) {
                best = b;
                lead = found[b].lam[count - 1 - kept[b]];
            }
        }
        if (best == features->block_count) {
            break;
        }
        kept[best]++;
        total++;
    }
    return total;
}

/* The nodes of every block are in place; weights[b] may be NULL. Consumes `features` on failure. */
static tacet_status finish(tacet_features **out, tacet_features *features, double *const *weights, size_t most,
                           tacet_error *err) {
    tacet_status status = TACET_OK;
    size_t *kept = TACET__ZALLOC(size_t, features->block_count);
    pairs *found = TACET__ZALLOC(pairs, features->block_count);
    if (kept == NULL || found == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for features");
        goto done;
    }
    for (size_t b = 0; status == TACET_OK && b < features->block_count; b++) {
        status = decompose(features, features->blocks + b, weights[b], found + b, err);
    }
    if (status != TACET_OK) {
        goto done;
    }
    features->m = choose(kept, features, found, most);
    if (features->m == 0) {
        status = tacet__fail(err, TACET_NUMERIC, "the kernel vanishes on all given points");
        goto done;
    }
    features->eigenvalues = TACET__ALIGNED(double, features->m);
    if (features->eigenvalues == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features", features->m);
        goto done;
    }
    size_t offset = 0;
    for (size_t b = 0; status == TACET_OK && b < features->block_count; b++) {
        status =
            keep_leading(features->blocks + b, features->eigenvalues + offset, weights[b], found + b, kept[b], err);
        offset += kept[b];
    }
done:
    for (size_t b = 0; found != NULL && b < features->block_count; b++) {
        free(found[b].V);
        free(found[b].lam);
    }
    free(found);
    free(kept);
    if (status != TACET_OK) {
        tacet_features_free(features);
        return status;
    }
    *out = features;
    return TACET_OK;
}

static tacet_status from_points(tacet_features **out, const tacet_kernel *kernel, const double *X, size_t ldx,
                                const double *weights, size_t n, size_t most, tacet_error *err) {
    tacet_features *features = NULL;
    double *scaled = NULL;
    TACET_OR_RETURN(tacet__features_begin(&features, kernel, 1, err));
    tacet_status status = reserve(features->blocks, features->d, n, err);
    if (status == TACET_OK && weights != NULL) {
        scaled = TACET__ALIGNED(double, n);
        if (scaled == NULL) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu weights", n);
        }
    }
    if (status != TACET_OK) {
        tacet_features_free(features);
        free(scaled);
        return status;
    }
    if (scaled != NULL) {
        memcpy(scaled, weights, n * sizeof *scaled);
    }
    for (size_t j = 0; j < n; j++) {
        memcpy(features->blocks->Z + j * features->d, X + j * ldx, features->d * sizeof *X);
    }
    status = finish(out, features, &scaled, most, err);
    free(scaled);
    return status;
}

tacet_status tacet__features_create_values(tacet_features **out, const tacet_kernel *kernel, const double *X, size_t n,
                                           const double *F, const double *eigenvalues, size_t m, tacet_error *err) {
    tacet_features *features = NULL;
    size_t square = 0, tall = 0;
    *out = NULL;
    TACET_OR_RETURN(tacet__features_begin(&features, kernel, 1, err));
    tacet__feature_block *block = features->blocks;
    double *K = tacet__size_mul(&square, n, n) ? TACET__ALIGNED(double, square) : NULL;
    tacet_status status = reserve(block, features->d, n, err);
    block->A = tacet__size_mul(&tall, n, m) ? TACET__ALIGNED(double, tall) : NULL;
    features->eigenvalues = TACET__ALIGNED(double, m);
    if (status == TACET_OK && (K == NULL || block->A == NULL || features->eigenvalues == NULL)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features of %zu points", m, n);
    }
    if (status == TACET_OK) {
        memcpy(block->Z, X, n * features->d * sizeof *X);
        memcpy(block->A, F, tall * sizeof *F);
        memcpy(features->eigenvalues, eigenvalues, m * sizeof *eigenvalues);
        block->m = features->m = m;
        tacet__span_transpose(block);
        for (size_t j = 0; j < n; j++) {
            tacet__kernel_row_soa(kernel, K + j * n, block->Zt, n, n, X + j * features->d);
            K[j * (n + 1)] += RIDGE;
        }
        status = tacet__cholesky(K, n, n, NULL, NULL, err);
    }
    for (size_t i = 0; status == TACET_OK && i < m; i++) {
        tacet__chol_solve(n, K, n, block->A + i * n);
    }
    free(K);
    if (status != TACET_OK) {
        tacet_features_free(features);
        return status;
    }
    *out = features;
    return TACET_OK;
}

static tacet_status check_points(const tacet_kernel *kernel, const double *X, size_t ldx, size_t n, tacet_error *err) {
    if (kernel == NULL || X == NULL || n == 0 || ldx < tacet_kernel_dim(kernel)) {
        return tacet__fail(err, TACET_INVALID, "features need a kernel and at least one point of its dimension");
    }
    return tacet__check_points(X, ldx, tacet_kernel_dim(kernel), n, "point", err);
}

tacet_status tacet_features_create_nystrom(tacet_features **out, const tacet_kernel *kernel, const double *Z,
                                           size_t ldz, size_t count, size_t most, tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the features");
    }
    *out = NULL;
    const tacet_status status = check_points(kernel, Z, ldz, count, err);
    return status != TACET_OK ? status : from_points(out, kernel, Z, ldz, NULL, count, most, err);
}

tacet_status tacet_features_create_mercer_points(tacet_features **out, const tacet_kernel *kernel, const double *X,
                                                 size_t ldx, const double *weights, size_t n, size_t most,
                                                 tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the features");
    }
    *out = NULL;
    tacet_status status = check_points(kernel, X, ldx, n, err);
    if (status != TACET_OK) {
        return status;
    }
    double *law = TACET__ALIGNED(double, n);
    if (law == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu weights", n);
    }
    double sum = 0;
    for (size_t j = 0; status == TACET_OK && j < n; j++) {
        law[j] = weights == NULL ? 1 : weights[j];
        sum += law[j];
        if (!(law[j] > 0 && isfinite(sum))) {
            status = tacet__fail(err, TACET_INVALID, "the weight of point %zu must be finite and > 0", j);
        }
    }
    for (size_t j = 0; j < n; j++) {
        law[j] /= sum;
    }
    TACET_THEN(status, from_points(out, kernel, X, ldx, law, n, most, err));
    free(law);
    return status;
}

static tacet_status check_domain(const tacet_kernel *kernel, const tacet_domain *domain, tacet_error *err) {
    if (kernel == NULL || domain == NULL || domain->d != tacet_kernel_dim(kernel)) {
        return tacet__fail(err, TACET_INVALID, "Mercer features need a kernel and a domain of its dimension");
    }
    if (kernel->spec.kind == TACET_KERNEL_PRECOMPUTED) {
        return tacet__fail(err, TACET_UNSUPPORTED, "a precomputed kernel has no domain: give its points");
    }
    if (domain->kind == TACET_DOMAIN_BALL) {
        for (size_t c = 0; domain->centre != NULL && c < domain->d; c++) {
            if (!isfinite(domain->centre[c])) {
                return tacet__fail(err, TACET_INVALID, "coordinate %zu of the centre is not finite", c);
            }
        }
        if (!(domain->radius > 0 && isfinite(domain->radius))) {
            return tacet__fail(err, TACET_INVALID, "the radius must be finite and > 0");
        }
        return TACET_OK;
    }
    if (domain->kind != TACET_DOMAIN_BOX || domain->lower == NULL || domain->upper == NULL) {
        return tacet__fail(err, TACET_INVALID, "a domain is a ball, or a box with its bounds");
    }
    for (size_t c = 0; c < domain->d; c++) {
        if (!(domain->lower[c] < domain->upper[c] && isfinite(domain->upper[c] - domain->lower[c]))) {
            return tacet__fail(err, TACET_INVALID, "bounds of coordinate %zu: finite, lower below upper", c);
        }
    }
    return TACET_OK;
}

/* Kernel, coordinates, nodes and weights of group g. */
static tacet_status group_block(tacet_features *features, size_t g, double **weights, const tacet_domain *domain,
                                size_t order, tacet_error *err) {
    const tacet_kernel *kernel = features->kernel;
    tacet__feature_block *block = features->blocks + g;
    const size_t *coordinates = kernel->coordinates + kernel->starts[g];
    const size_t d = kernel->starts[g + 1] - kernel->starts[g];
    double first[TACET__FEATURES_GROUP_MOST];
    double second[TACET__FEATURES_GROUP_MOST];
    size_t count = 1;
    for (size_t c = 0; c < d; c++) {
        if (d > TACET__FEATURES_GROUP_MOST || !tacet__size_mul(&count, count, order) || count > NODES_MOST) {
            return tacet__fail(err, TACET_INVALID, "order %zu in %zu coordinates gives more than %d nodes", order, d,
                               (int)NODES_MOST);
        }
    }
    tacet_status status = reserve(block, d, count, err);
    *weights = TACET__ALIGNED(double, count);
    block->coordinates = kernel->group_count > 1 ? TACET__ZALLOC(size_t, d) : NULL;
    if (status == TACET_OK && (*weights == NULL || (kernel->group_count > 1 && block->coordinates == NULL))) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu nodes", count);
    }
    if (status != TACET_OK) {
        return status;
    }
    const bool box = domain->kind == TACET_DOMAIN_BOX;
    for (size_t k = 0; k < d; k++) {
        const size_t c = coordinates[k];
        first[k] = box ? domain->lower[c] : (domain->centre == NULL ? 0 : domain->centre[c]);
        second[k] = box ? domain->upper[c] : 0;
        if (block->coordinates != NULL) {
            block->coordinates[k] = c;
        }
    }
    if (kernel->group_count > 1) {
        status = tacet__features_group_kernel(&block->kernel, kernel, g, err);
    }
    TACET_THEN(status, box ? tacet__quadrature_box(block->Z, *weights, d, order, first, second, err)
                           : tacet__quadrature_ball(block->Z, *weights, d, order, first, domain->radius, err));
    return status;
}

tacet_status tacet_features_create_mercer(tacet_features **out, const tacet_kernel *kernel, const tacet_domain *domain,
                                          size_t order, size_t most, tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the features");
    }
    *out = NULL;
    TACET_OR_RETURN(check_domain(kernel, domain, err));
    tacet_features *features = NULL;
    const size_t groups = kernel->group_count;
    double **weights = TACET__ZALLOC(double *, groups);
    if (weights == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for features");
    }
    tacet_status status = tacet__features_begin(&features, kernel, groups, err);
    for (size_t g = 0; status == TACET_OK && g < groups; g++) {
        status = group_block(features, g, weights + g, domain, order, err);
    }
    if (status == TACET_OK) {
        status = finish(out, features, weights, most, err);
    } else {
        tacet_features_free(features);
    }
    for (size_t g = 0; g < groups; g++) {
        free(weights[g]);
    }
    free(weights);
    return status;
}

/* Tiles of kernel values on the stack, accumulated by gemm: nothing is allocated, and A is read once per tile of
 * points. */
void tacet__span_eval(const tacet_features *features, const tacet__feature_block *block, double *out, size_t ldo,
                      const double *X, size_t ldx, size_t n) {
    const tacet_kernel *kernel = kernel_of(features, block);
    for (size_t at = 0; at < n; at += TILE_POINTS) {
        const size_t width = n - at < TILE_POINTS ? n - at : TILE_POINTS;
        for (size_t node = 0; node < block->count; node += TILE_NODES) {
            const size_t height = block->count - node < TILE_NODES ? block->count - node : TILE_NODES;
            double tile[TILE_NODES * TILE_POINTS];
            for (size_t j = 0; j < width; j++) {
                double buffer[TACET__FEATURES_GROUP_MOST];
                tacet__kernel_row_soa(kernel, tile + j * TILE_NODES, block->Zt + node, block->count, height,
                                      tacet__features_gather(block, buffer, X + (at + j) * ldx));
            }
            tacet__gemm(true, false, block->m, width, height, 1, block->A + node, block->count, tile, TILE_NODES,
                        node == 0 ? 0 : 1, out + at * ldo, ldo);
        }
    }
}
