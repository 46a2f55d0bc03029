/* SPDX-License-Identifier: Apache-2.0 */
/* tune_guide.h - a Gaussian process over settings that proposes the next one by expected improvement: what tuning is
 * compared with, on exact scores (not private) and on scores with noise. Ring: programs. */
#pragma once

#include <tacet/core/simrng.h>
#include <tacet/core/status.h>
#include <tacet/space/space.h>

typedef struct tune_guide tune_guide;

/* Settings are points of the cube, a number in [0, 1] a column (src/tune/trusted/internal.h). */
tacet_status tune_guide_create(tune_guide **out, const tacet_space *space, size_t most, tacet_error *err);
void tune_guide_free(tune_guide *guide);
/* A score with this variance of its noise. */
void tune_guide_add(tune_guide *guide, const double *cube, double score, double variance);
/* The point of largest expected improvement over the best posterior mean, among random ones and some near the best. */
void tune_guide_propose(tune_guide *guide, double *cube, tacet_simrng *rng);
