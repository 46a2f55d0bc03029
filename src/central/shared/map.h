/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - the problem of a study over decision sets: features, domain, range of rewards; and what one round becomes
 * before a device reports it.
 *
 * A record is a point x of a public domain and a reward y in [lo, hi]. With v = (y - lo)/(hi - lo) it becomes
 *     s = (v phi(x), (1 - v) phi(x))    in R^(2r),
 * phi being the leading r features. x is clipped to the domain, y to the range. Public, immutable: both halves of the
 * algorithm hold one. */
#pragma once

#include <stddef.h>
#include <tacet/core/status.h>
#include "gp/features.h"

typedef struct tacet_central_map tacet_central_map;

/* features: Mercer or Nyström, of SE or Matérn with signal variance 1, groups or not; their leading `released`
 * coordinates are used (0: all). Borrowed, must outlive the map; the domain is copied. INVALID: a kernel that may be
 * negative or whose signal variance is not 1, released above the number of features, a range that is not finite with lo
 * < hi, a domain that does not fit. NO_MEMORY. */
tacet_status tacet_central_map_create(tacet_central_map **out, const tacet_features *features,
                                      const tacet_domain *domain, size_t released, double reward_lo, double reward_hi,
                                      tacet_error *err);
void tacet_central_map_free(tacet_central_map *map); /* NULL is allowed */

const tacet_features *tacet_central_map_features(const tacet_central_map *map);
const tacet_domain *tacet_central_map_domain(const tacet_central_map *map);
size_t tacet_central_map_released(const tacet_central_map *map); /* r */
size_t tacet_central_map_dim(const tacet_central_map *map);      /* 2 r */
double tacet_central_map_lo(const tacet_central_map *map);
double tacet_central_map_hi(const tacet_central_map *map);
/* 64 bits that name the problem, for saved states: kernel, domain, range, how the features were made and how many.
 * From what was asked for, not from computed numbers, which differ in their last bits between machines. */
unsigned long long tacet_central_map_print(const tacet_central_map *map);
