/* joint.h - what one round becomes before it is summed and released: two vectors instead of a matrix.
 *
 * A record is a point x of a public domain and a reward y in [lo, hi]. With v = (y - lo)/(hi - lo) it becomes
 *     s = (v phi(x), (1 - v) phi(x))    in R^(2r),
 * phi being the leading r features of a kernel that is nowhere negative. Any two such s are at most
 * sqrt(2 (1 + eta)) apart, for every x and y, by construction (src/central/README.md proves it): x is clipped to the
 * domain, y to the range, and a point whose features miss more than eta of k(x, x) becomes the zero vector; eta is
 * chosen so that this does not happen in practice. Public, immutable: both halves of the algorithm hold one. */
#ifndef TACET_CENTRAL_SHARED_MAP_H
#define TACET_CENTRAL_SHARED_MAP_H

#include <stddef.h>
#include <tacet/gp/features.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_central_map tacet_central_map;

/* features: Mercer or Nyström, of SE or Matérn with signal variance 1, groups or not; their leading `released`
 * coordinates are used (0: all). Borrowed, must outlive the map; the domain is copied. INVALID: a kernel that may be
 * negative or whose signal variance is not 1, released above the number of features, a range that is not finite with lo
 * < hi, a domain that does not fit. NUMERIC: the features miss half of k(x, x) or more somewhere in the domain.
 * NO_MEMORY. */
TACET_API tacet_status tacet_central_map_create(tacet_central_map **out, const tacet_features *features,
                                                const tacet_domain *domain, size_t released, double reward_lo,
                                                double reward_hi, tacet_error *err);
TACET_API void tacet_central_map_free(tacet_central_map *map); /* NULL is allowed */

TACET_API const tacet_features *tacet_central_map_features(const tacet_central_map *map);
TACET_API const tacet_domain *tacet_central_map_domain(const tacet_central_map *map);
TACET_API size_t tacet_central_map_released(const tacet_central_map *map);    /* r */
TACET_API size_t tacet_central_map_dim(const tacet_central_map *map);         /* 2 r */
TACET_API double tacet_central_map_eta(const tacet_central_map *map);         /* how negative <phi, phi'> may be */
TACET_API double tacet_central_map_sensitivity(const tacet_central_map *map); /* sqrt(2 (1 + eta)), rounded up */
TACET_API double tacet_central_map_lo(const tacet_central_map *map);
TACET_API double tacet_central_map_hi(const tacet_central_map *map);
/* out: 2r numbers. x has d coordinates. Total: any x and y, NaN included, give a vector of norm at most 1.
 * work: as many doubles as there are features, plus d. */
TACET_API void tacet_central_map_record(const tacet_central_map *map, double *out, double *work, const double *x,
                                        double y);
/* 64 bits that name map and domain, for saved states: equal for equal problems. */
TACET_API unsigned long long tacet_central_map_print(const tacet_central_map *map);

#ifdef __cplusplus
}
#endif
#endif
