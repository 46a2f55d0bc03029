/* SPDX-License-Identifier: Apache-2.0 */
/* direct_learner.h - what to try next over a space or a list, from rewards that were released one by one with known
 * noise. Ring: open. README.md, (f). Not thread-safe. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#include "central/open/arms.h"

enum { TACET__DIRECT_FEW = 8 }; /* points: no more than these are played evenly, and none is expected between them */

typedef struct tacet__direct_learner tacet__direct_learner;

typedef struct tacet__direct_settings {
    uint64_t visits;  /* points that are played, one after the other; a value is released for each */
    double each;      /* rewards of which a value is the mean */
    double noise_var; /* of the noise in a value, mapped to [0, 1] */
    uint64_t coin_seed;
    const tacet_central_earlier *earlier; /* copied */
    size_t earlier_count;
    double lo, range; /* of earlier values: what is 0 of them, and 1 */
} tacet__direct_settings;

/* Errors of tacet__arms_init. */
tacet_status tacet__direct_learner_create(tacet__direct_learner **out, const tacet_central_arms *arms,
                                          const tacet__direct_settings *settings, tacet_error *err);
void tacet__direct_learner_free(tacet__direct_learner *learner); /* NULL is allowed */
const tacet__arms *tacet__direct_learner_arms(const tacet__direct_learner *learner);
size_t tacet__direct_learner_ahead(
    const tacet__direct_learner *learner); /* codes that are planned at a time, at most */
/* Points that are spread out before anything decides: none where earlier values are known. */
size_t tacet__direct_learner_first(const tacet__direct_learner *learner);
/* What was released, in order; codes that were given and not reported. The next codes to try: *count of them, which are
 * a function of these and of `given`, how many were given before. NO_MEMORY, NUMERIC. */
tacet_status tacet__direct_learner_plan(tacet__direct_learner *learner, uint64_t *next, size_t *count,
                                        const uint64_t *codes, const double *values, size_t released,
                                        const uint64_t *open, size_t open_count, uint64_t given, tacet_error *err);
/* The point of the largest posterior mean, mapped to [0, 1]. */
tacet_status tacet__direct_learner_best(tacet__direct_learner *learner, uint64_t *code, double *mean, double *sd,
                                        const uint64_t *codes, const double *values, size_t released, tacet_error *err);

/* Posterior means of any points (dims x count, in the learner's coordinates), mapped to [0, 1], and the root mean
 * square of their deviations. */
tacet_status tacet__direct_learner_means(tacet__direct_learner *learner, double *mean, double *error, const double *X,
                                         size_t count, const uint64_t *codes, const double *values, size_t released,
                                         tacet_error *err);
