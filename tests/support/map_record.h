/* SPDX-License-Identifier: Apache-2.0 */
/* map_record.h - a record's two vectors of features, as a device embeds them. */
#pragma once

#include "central/shared/embed.h"
#include "central/shared/map.h"
#include "gp/domain.h"

#include <string.h>

/* out: 2r numbers; work: as many as there are features, and d. */
static inline void map_record(const tacet_central_map *map, double *out, double *work, const double *x, double y) {
    const size_t d = tacet_central_map_domain(map)->d, m = tacet_features_dim(tacet_central_map_features(map));
    double *clipped = work + m;
    memcpy(clipped, x, d * sizeof *x);
    tacet__domain_clip(tacet_central_map_domain(map), clipped);
    tacet_features_eval(tacet_central_map_features(map), work, clipped, d, 1);
    tacet__embed(out, work, tacet_central_map_released(map), y, tacet_central_map_lo(map), tacet_central_map_hi(map));
}
