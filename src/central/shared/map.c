/* joint_map.c - what one round becomes before it is summed and released: (v phi(x), (1 - v) phi(x)).
 * Ring: shared. Source: the class-conditional mean embedding; Dubey (AISTATS 2021) releases the outer product of
 * [phi; y] instead, at twice the sensitivity and r(r+1)/2 + r numbers for 2r. The bound is enforced record by record
 * (see joint.h), so no supremum over the domain has to be certified. Cost: one evaluation of the features. */
#include <tacet/central/shared/map.h>

#include <math.h>
#include <sodium.h>
#include <stdint.h>
#include <string.h>

#include "gp/domain.h"
#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

/* eta is probed on this many spread points and widened by ETA_MARGIN of itself and ETA_SLACK, which also covers the
 * rounding errors of the features (up to 1e-10 seen). Where it is too small after all, points are dropped, privacy
 * holds. */
enum { PROBE_POINTS = 2048 };
static const double ETA_MARGIN = 1.15;
static const double ETA_SLACK = 1e-9;

struct tacet_central_map {
    const tacet_features *features; /* borrowed */
    tacet_domain domain;            /* its arrays point into `numbers` */
    double *numbers;                /* owned */
    size_t released;
    double lo, hi;
    double eta;
    double sensitivity;
    unsigned long long print;
};

static tacet_status check_kernel(const tacet_features *features, tacet_error *err) {
    const tacet_kernel_spec *spec = tacet_kernel_describe(tacet_features_kernel(features));
    /* the bound on <phi, phi'> needs k - phi'phi' to be a kernel, which holds for projections and not for QFF */
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
    map->numbers = TACET__ZALLOC(double, 2 * d);
    if (map->numbers == NULL) {
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
    return TACET_OK;
}

/* Largest 1 - |phi|^2 over spread points, and a hash of the features there: it tells problems apart. */
static tacet_status probe(tacet_central_map *map, tacet_error *err) {
    const size_t d = map->domain.d, m = tacet_features_dim(map->features);
    tacet_status status = TACET_OK;
    double *X = TACET__ALIGNED(double, d *PROBE_POINTS);
    double *phi = TACET__ALIGNED(double, m);
    if (X == NULL || phi == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "no memory to probe the features");
        goto done;
    }
    tacet__domain_spread(&map->domain, X, PROBE_POINTS);
    double worst = 0;
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, NULL, 0, 16);
    for (size_t j = 0; j < PROBE_POINTS; j++) {
        tacet_features_eval(map->features, phi, X + j * d, d, 1);
        worst = fmax(worst, 1 - tacet__dot(phi, phi, map->released));
        if (j < 16) {
            crypto_generichash_update(&hash, (const unsigned char *)phi, m * sizeof(double));
        }
    }
    const double numbers[4] = {map->lo, map->hi, (double)map->released, map->domain.radius};
    crypto_generichash_update(&hash, (const unsigned char *)numbers, sizeof numbers);
    crypto_generichash_update(&hash, (const unsigned char *)map->numbers, 2 * d * sizeof(double));
    unsigned char digest[16];
    crypto_generichash_final(&hash, digest, sizeof digest);
    memcpy(&map->print, digest, sizeof map->print);
    map->eta = ETA_MARGIN * worst + ETA_SLACK;
    if (!(map->eta < 0.5)) {
        status =
            tacet__fail(err, TACET_NUMERIC, "%zu features miss %.2g of the kernel: take more", map->released, worst);
    }
done:
    free(X);
    free(phi);
    return status;
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
        status = probe(map, err);
    }
    if (status != TACET_OK) {
        tacet_central_map_free(map);
        return status;
    }
    /* the factor covers the rounding of s itself: 2r numbers of size at most 1, each off by some 1e-16 */
    map->sensitivity = sqrt(2 * (1 + map->eta)) * (1 + 1e-12);
    *out = map;
    return TACET_OK;
}

void tacet_central_map_free(tacet_central_map *map) {
    if (map != NULL) {
        free(map->numbers);
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

double tacet_central_map_eta(const tacet_central_map *map) {
    return map->eta;
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
    const size_t m = tacet_features_dim(map->features), r = map->released, d = map->domain.d;
    double *clipped = work + m;
    memcpy(clipped, x, d * sizeof(double));
    tacet__domain_clip(&map->domain, clipped);
    tacet_features_eval(map->features, work, clipped, d, 1);
    double v = (y - map->lo) / (map->hi - map->lo);
    v = isnan(v) ? 0.5 : fmin(fmax(v, 0), 1);
    const double norm2 = tacet__dot(work, work, r);
    /* > 1 only by rounding; < 1 - eta nowhere the probe looked. Written so that NaN gives the zero vector. */
    const double scale = norm2 >= 1 - map->eta ? (norm2 > 1 ? 1 / sqrt(norm2) : 1) : 0;
    for (size_t i = 0; i < r; i++) {
        const double phi = scale == 0 ? 0 : scale * work[i];
        out[i] = v * phi;
        out[r + i] = (1 - v) * phi;
    }
    sodium_memzero(work, (m + d) * sizeof(double));
}
