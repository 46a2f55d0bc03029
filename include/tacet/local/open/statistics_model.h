/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_model.h - a local study of decision sets: what is public of it, at the collector and at every device.
 *
 * Each device has arms of its own (points of a public box) and a reward; neither leaves it. The model says how arms are
 * scored, and how a report is read: as one of the round's directions (tacet/local/shared/sphere.h), an estimate of
 * (v phi(x), (1 - v) phi(x)) (central/shared/map.h). The collector adds the estimates up. Everything in a model
 * is post-processing of reports. Source: Dubey (AISTATS 2021), Algorithm 3; what
 * differs: src/local/README.md. Not thread-safe. */
#ifndef TACET_LOCAL_OPEN_STATISTICS_MODEL_H
#define TACET_LOCAL_OPEN_STATISTICS_MODEL_H

#include <tacet/core/policy.h>
#include <tacet/local/shared/card.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACET_STATISTICS_DIMS_MOST = 16, TACET_STATISTICS_FEATURES_MOST = 200 };
/* Rounds that devices number themselves, as pages do, at random from here to 2^53: directions are of the number. */
#define TACET_STATISTICS_OWN_ROUNDS (UINT64_C(1) << 32)

/* Borrowed while a model is made of it. */
typedef struct tacet_statistics_spec {
    const char *kernel; /* as tacet_kernel_parse takes it: SE or Matérn */
    const double *lengthscales;
    size_t lengthscale_count;    /* 1 or d */
    const double *lower, *upper; /* where arms lie */
    const size_t *levels;        /* as in tacet_domain, or NULL */
    size_t d;
    double lo, hi; /* range of the reward, as devices see it */
    bool minimize;
    double eps;                /* of each report */
    size_t features, released; /* of the kernel; how many of them a report speaks of */
    size_t set_size;           /* arms a device typically has */
} tacet_statistics_spec;

typedef struct tacet_statistics_model tacet_statistics_model;

/* INVALID names the field. NO_MEMORY, NUMERIC. */
TACET_API tacet_status tacet_statistics_model_create(tacet_statistics_model **out, const tacet_statistics_spec *spec,
                                                     tacet_error *err);
TACET_API void tacet_statistics_model_free(tacet_statistics_model *model); /* NULL is allowed */

/* What devices are sent (tacet/local/shared/card.h): how arms are scored now, and among what they report. NO_MEMORY. */
TACET_API tacet_status tacet_statistics_model_card(const tacet_statistics_model *model, tacet_blob *out,
                                                   tacet_error *err);
/* A report of a round. INVALID: none this randomiser gives. */
TACET_API tacet_status tacet_statistics_model_take(tacet_statistics_model *model, uint64_t round, double report,
                                                   tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
