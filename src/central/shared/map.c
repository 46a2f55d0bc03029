/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - what one round becomes before it is summed and released: (v phi(x), (1 - v) phi(x)).
 * Ring: pure. Source: the class-conditional mean embedding; Dubey (AISTATS 2021) releases the outer product of
 * [phi; y] instead, at twice the sensitivity and r(r+1)/2 + r numbers for 2r. The sensitivity is sqrt(2 nu), nu the
 * norm of one r x r matrix (README.md, (e)): nothing is assumed of the domain. Where the domain is a list of points, it
 * is the largest distance of any two statistics, found by comparing them all. Cost: creating O(q^2 r), q nodes or
 * points; a record one evaluation of the features. */
#include "gp/kernel_internal.h"
#include "central/shared/map.h"

#include <float.h>
#include <math.h>
#include <sodium.h>
#include <stdint.h>
#include <string.h>

#include "central/shared/embed.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/domain.h"
#include "gp/features_internal.h"
#include "gp/linalg.h"

static const double NU_MOST = 1.5;
static const double SENSITIVITY_GRID = 0x1p20;
enum { LISTED_MOST = 512 }; /* points of a domain whose statistics are all compared */

struct tacet_central_map {
    const tacet_features *features; /* borrowed */
    tacet_domain domain;            /* its arrays point into `numbers` and `levels` */
    double *numbers;                /* owned: 2 d */
    size_t *levels;                 /* owned: 2 d */
    size_t released;
    double lo, hi;
    double sensitivity;
    unsigned long long print;
};

static tacet_status check_kernel(const tacet_features *features, tacet_error *err) {
    const tacet_kernel_spec *spec = tacet_kernel_describe(tacet_features_kernel(features));
    /* the lemma needs phi = W'k(Z, .), which Fourier features are not */
    if (tacet_features_eigenvalues(features) == NULL) {
        return tacet__fail(err, TACET_INVALID, "the embedding needs Mercer or Nyström features");
    }
    if (spec->kind != TACET_KERNEL_SE && spec->kind != TACET_KERNEL_MATERN) {
        return tacet__fail(err, TACET_INVALID, "the embedding needs a kernel that is nowhere negative: SE or Matérn");
    }
    if (spec->signal_var != 1) {
        return tacet__fail(err, TACET_INVALID, "the embedding needs a kernel with signal variance 1");
    }
    return TACET_OK;
}

static tacet_status copy_domain(tacet_central_map *map, const tacet_domain *domain, tacet_error *err) {
    const size_t d = domain->d;
    size_t count = 0;
    map->numbers = tacet__size_mul(&count, 2, d) ? TACET__ZALLOC(double, count) : NULL;
    map->levels = TACET__ZALLOC(size_t, count);
    if (map->numbers == NULL || map->levels == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a domain");
    }
    map->domain = *domain;
    map->domain.lower = map->domain.upper = map->domain.centre = NULL;
    if (domain->kind == TACET_DOMAIN_BOX) {
        memcpy(map->numbers, domain->lower, d * sizeof(double));
        memcpy(map->numbers + d, domain->upper, d * sizeof(double));
        map->domain.lower = map->numbers;
        map->domain.upper = map->numbers + d;
        map->domain.radius = 0;
    } else {
        if (domain->centre != NULL) {
            memcpy(map->numbers, domain->centre, d * sizeof(double));
        }
        map->domain.centre = map->numbers;
    }
    if (domain->levels != NULL) {
        memcpy(map->levels, domain->levels, d * sizeof(size_t));
        map->domain.levels = map->levels;
    }
    if (domain->choice != NULL) {
        memcpy(map->levels + d, domain->choice, d * sizeof(size_t));
        map->domain.choice = map->levels + d;
    }
    return TACET_OK;
}

/* nu of one block's first `r` features, and a bound of what rounding can do to it and to the features themselves:
 * with u half an ulp, q nodes and |k| <= 1 a computed entry of W'KW is off by at most 2 q u |w_i|_1 |w_j|_1, a computed
 * feature by at most (q + 8) u |w_i|_1 (the 8: the kernel's own value). */
static tacet_status block_norm(const tacet_features *features, const tacet__feature_block *block, size_t r, double *nu,
                               double *off, tacet_error *err) {
    const size_t q = block->count;
    const double u = DBL_EPSILON / 2;
    size_t tall = 0, square = 0;
    tacet_status status = TACET_OK;
    double *row = TACET__ALIGNED(double, q);
    double *KW = tacet__size_mul(&tall, q, r) ? TACET__ZALLOC(double, tall) : NULL;
    double *M = tacet__size_mul(&square, r, r) ? TACET__ZALLOC(double, square) : NULL;
    double *w = TACET__ZALLOC(double, r);
    if (row == NULL || KW == NULL || M == NULL || w == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "no memory for a sensitivity");
        goto done;
    }
    for (size_t i = 0; i < q; i++) {
        tacet_kernel_row(block->kernel != NULL ? block->kernel : features->kernel, row, block->Z, block->d, q,
                         block->Z + i * block->d);
        for (size_t j = 0; j < r; j++) {
            KW[i + j * q] = tacet__dot(row, block->A + j * q, q);
        }
    }
    tacet__gemm(true, false, r, r, q, 1, block->A, q, KW, q, 0, M, r);
    double ones = 0;
    for (size_t j = 0; j < r; j++) {
        double length = 0;
        for (size_t i = 0; i < q; i++) {
            length += fabs(block->A[i + j * q]);
        }
        ones += length * length;
    }
    status = tacet__eigh(M, r, r, w, err);
    if (status == TACET_OK) {
        *nu = w[r - 1] + 2 * (double)q * u * ones;
        *off = ((double)q + 8) * u * sqrt(ones);
    }
done:
    free(row);
    free(KW);
    free(M);
    free(w);
    return status;
}

/* Groups are orthogonal: their features are a direct sum, and its norm is the largest of theirs. */
static tacet_status span_bound(double *bound, const tacet_central_map *map, tacet_error *err) {
    double nu = 0, off2 = 0;
    size_t before = 0;
    tacet_status status = TACET_OK;
    for (size_t b = 0; b < map->features->block_count && before < map->released && status == TACET_OK; b++) {
        const tacet__feature_block *block = map->features->blocks + b;
        const size_t left = map->released - before, r = left < block->m ? left : block->m;
        double own = 0, off = 0;
        status = r > 0 ? block_norm(map->features, block, r, &own, &off, err) : TACET_OK;
        nu = fmax(nu, own);
        off2 += off * off;
        before += block->m;
    }
    if (status == TACET_OK && !(nu <= NU_MOST)) {
        status = tacet__fail(err, TACET_NUMERIC, "%zu features are too many for this kernel and domain: take fewer",
                             map->released);
    }
    *bound = sqrt(2 * fmax(nu, 1)) + 2 * sqrt(2 * off2);
    return status;
}

/* The largest distance of two statistics of a domain of n points: of two points with the same reward, or of any two
 * with opposite ones. phi is what a record makes of a point, bit for bit. */
static tacet_status listed_bound(double *bound, const tacet_central_map *map, size_t n, tacet_error *err) {
    const size_t r = map->released, d = map->domain.d, m = tacet_features_dim(map->features);
    size_t tall = 0;
    double *X = TACET__ZALLOC(double, d *n);
    double *S = tacet__size_mul(&tall, 2 * r, n) ? TACET__ZALLOC(double, tall) : NULL;
    double *work = TACET__ZALLOC(double, m + d);
    double far2 = 0, long2 = 0;
    const bool room = X != NULL && S != NULL && work != NULL;
    if (room) {
        tacet__domain_spread(&map->domain, X, n);
    }
    for (size_t j = 0; room && j < n; j++) {
        const double *phi = S + j * 2 * r;
        tacet_central_map_record(map, S + j * 2 * r, work, X + j * d, map->hi);
        long2 = fmax(long2, tacet__dot(phi, phi, r));
        for (size_t i = 0; i < j; i++) {
            double sum = 0;
            for (size_t k = 0; k < r; k++) {
                const double off = phi[k] - S[i * 2 * r + k];
                sum += off * off;
            }
            far2 = fmax(far2, sum);
        }
    }
    free(X);
    free(S);
    free(work);
    *bound = sqrt(fmax(far2, 2 * long2));
    return room ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "no memory for a sensitivity");
}

static tacet_status find_sensitivity(tacet_central_map *map, tacet_error *err) {
    const size_t points = tacet__domain_levels(&map->domain);
    double bound = 0;
    const tacet_status status =
        points > 0 && points <= LISTED_MOST ? listed_bound(&bound, map, points, err) : span_bound(&bound, map, err);
    /* the factor covers the rounding of s itself: 2r numbers of size at most 1, each off by some 1e-16; then upwards to
     * a grid: what the ledger was charged for must not depend on the last bits of an eigenvalue */
    map->sensitivity = ceil(bound * (1 + 1e-9) * SENSITIVITY_GRID) / SENSITIVITY_GRID;
    return status;
}

static void hash_numbers(crypto_generichash_state *hash, const void *numbers, size_t bytes) {
    (void)crypto_generichash_update(hash, numbers, bytes);
}

static void make_print(tacet_central_map *map) {
    const tacet_kernel_spec *k = tacet_kernel_describe(map->features->kernel);
    const size_t d = map->domain.d;
    crypto_generichash_state hash;
    unsigned char digest[16];
    const double numbers[] = {map->lo, map->hi, map->domain.radius};
    const uint64_t counts[] = {
        (uint64_t)map->domain.kind, d,           map->released, map->features->m, map->features->block_count,
        (uint64_t)k->kind,          k->matern_p, k->group_count};
    (void)crypto_generichash_init(&hash, NULL, 0, sizeof digest);
    hash_numbers(&hash, numbers, sizeof numbers);
    hash_numbers(&hash, counts, sizeof counts);
    hash_numbers(&hash, map->numbers, 2 * d * sizeof(double));
    hash_numbers(&hash, map->levels, 2 * d * sizeof(size_t));
    for (size_t c = 0; c < d; c++) {
        const double scale = k->lengthscales[k->lengthscale_count == 1 ? 0 : c];
        const uint64_t group = k->groups != NULL ? k->groups[c] : 0;
        hash_numbers(&hash, &scale, sizeof scale);
        hash_numbers(&hash, &group, sizeof group);
    }
    for (size_t b = 0; b < map->features->block_count; b++) {
        const uint64_t sizes[] = {map->features->blocks[b].m, map->features->blocks[b].count};
        hash_numbers(&hash, sizes, sizeof sizes);
    }
    (void)crypto_generichash_final(&hash, digest, sizeof digest);
    memcpy(&map->print, digest, sizeof map->print);
}

tacet_status tacet_central_map_create(tacet_central_map **out, const tacet_features *features,
                                      const tacet_domain *domain, size_t released, double reward_lo, double reward_hi,
                                      tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the map");
    }
    *out = NULL;
    if (features == NULL) {
        return tacet__fail(err, TACET_INVALID, "an embedding needs features");
    }
    tacet_status status = check_kernel(features, err);
    if (status == TACET_OK) {
        status = tacet__domain_check(domain, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    if (domain->d != tacet_features_inputs(features)) {
        return tacet__fail(err, TACET_INVALID, "the domain has another dimension than the features");
    }
    if (released > tacet_features_dim(features)) {
        return tacet__fail(err, TACET_INVALID, "released is %zu, but there are %zu features", released,
                           tacet_features_dim(features));
    }
    if (!(reward_lo < reward_hi && isfinite(reward_hi - reward_lo))) {
        return tacet__fail(err, TACET_INVALID, "the range of rewards must be finite, its low end below its high end");
    }
    tacet_central_map *map = TACET__ZALLOC(tacet_central_map, 1);
    if (map == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for an embedding");
    }
    map->features = features;
    map->released = released == 0 ? tacet_features_dim(features) : released;
    map->lo = reward_lo;
    map->hi = reward_hi;
    status = copy_domain(map, domain, err);
    if (status == TACET_OK) {
        status = find_sensitivity(map, err);
    }
    if (status != TACET_OK) {
        tacet_central_map_free(map);
        return status;
    }
    make_print(map);
    *out = map;
    return TACET_OK;
}

void tacet_central_map_free(tacet_central_map *map) {
    if (map != NULL) {
        free(map->numbers);
        free(map->levels);
        free(map);
    }
}

const tacet_features *tacet_central_map_features(const tacet_central_map *map) {
    return map->features;
}

const tacet_domain *tacet_central_map_domain(const tacet_central_map *map) {
    return &map->domain;
}

size_t tacet_central_map_released(const tacet_central_map *map) {
    return map->released;
}

size_t tacet_central_map_dim(const tacet_central_map *map) {
    return 2 * map->released;
}

double tacet_central_map_sensitivity(const tacet_central_map *map) {
    return map->sensitivity;
}

double tacet_central_map_lo(const tacet_central_map *map) {
    return map->lo;
}

double tacet_central_map_hi(const tacet_central_map *map) {
    return map->hi;
}

unsigned long long tacet_central_map_print(const tacet_central_map *map) {
    return map->print;
}

void tacet_central_map_record(const tacet_central_map *map, double *out, double *work, const double *x, double y) {
    const size_t m = tacet_features_dim(map->features), d = map->domain.d;
    double *clipped = work + m;
    memcpy(clipped, x, d * sizeof(double));
    tacet__domain_clip(&map->domain, clipped);
    tacet__features_eval_exact(map->features, work, clipped); /* a replay elsewhere must give the same bits */
    tacet__embed(out, work, map->released, y, map->lo, map->hi);
    sodium_memzero(work, (m + d) * sizeof(double));
}
