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
/* All of it as bytes, and back, on any machine: features are stored, not made again. CORRUPT, NO_MEMORY. */
TACET_API tacet_status tacet_statistics_model_save(const tacet_statistics_model *model, tacet_blob *out,
                                                   tacet_error *err);
TACET_API tacet_status tacet_statistics_model_open(tacet_statistics_model **out, const void *bytes, size_t size,
                                                   tacet_error *err);

/* What devices are sent (tacet/local/shared/card.h): how arms are scored now, and among what they report. NO_MEMORY. */
TACET_API tacet_status tacet_statistics_model_card(const tacet_statistics_model *model, tacet_blob *out,
                                                   tacet_error *err);
/* A report of a round. INVALID: none this randomiser gives. */
TACET_API tacet_status tacet_statistics_model_take(tacet_statistics_model *model, uint64_t round, double report,
                                                   tacet_error *err);
/* The best point of the public grid: d numbers, its mean reward and sd in the devices' units. STATE: too few reports.
 */
TACET_API tacet_status tacet_statistics_model_best(tacet_statistics_model *model, double *x, double *mean, double *sd,
                                                   tacet_error *err);
TACET_API uint64_t tacet_statistics_model_count(const tacet_statistics_model *model); /* reports taken */
TACET_API bool tacet_statistics_model_informed(const tacet_statistics_model *model);  /* arms are scored */
TACET_API size_t tacet_statistics_model_dim(const tacet_statistics_model *model);     /* d */
TACET_API bool tacet_statistics_model_minimize(const tacet_statistics_model *model);
TACET_API const tacet_sphere *tacet_statistics_model_sphere(const tacet_statistics_model *model);

/* The collector's half as a policy over at most `rounds` (up to 2^22) rounds: a suggestion is the number of its round,
 * as ticket and as index; what is observed is a report of it (negated in a study that minimizes). Owns the model, on
 * failure too; it stays where it is when a state is loaded. */
TACET_API tacet_status tacet_statistics_policy_create(tacet_policy **out, tacet_statistics_model *model,
                                                      uint64_t rounds, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
