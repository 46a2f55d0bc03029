/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - what one round of a device becomes before it is reported: (v phi(x), (1 - v) phi(x)).
 * Ring: pure. Source: the class-conditional mean embedding; Dubey (AISTATS 2021) reports the outer product of [phi; y]
 * instead, r(r+1)/2 + r numbers for 2r. Cost: a record one evaluation of the features. */
#include "gp/kernel_internal.h"
#include "central/shared/map.h"

#include <math.h>
#include <sodium.h>
#include <stdint.h>
#include <string.h>

#include "central/shared/embed.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/domain.h"
#include "gp/features_internal.h"

struct tacet_central_map {
    const tacet_features *features; /* borrowed */
    tacet_domain domain;            /* its arrays point into `numbers` and `levels` */
    double *numbers;                /* owned: 2 d */
    size_t *levels;                 /* owned: 2 d */
    size_t released;
    double lo, hi;
    unsigned long long print;
};

static tacet_status check_kernel(const tacet_features *features, tacet_error *err) {
    const tacet_kernel_spec *spec = tacet_kernel_describe(tacet_features_kernel(features));
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
    TACET_THEN(status, tacet__domain_check(domain, err));
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

double tacet_central_map_lo(const tacet_central_map *map) {
    return map->lo;
}

double tacet_central_map_hi(const tacet_central_map *map) {
    return map->hi;
}

unsigned long long tacet_central_map_print(const tacet_central_map *map) {
    return map->print;
}
