/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - what a joint-DP bandit is made of: a statistic of a round, and a learner that sees its noisy sums.
 * Ring: trusted. */
#ifndef TACET_SRC_CENTRAL_TRUSTED_PARTS_H
#define TACET_SRC_CENTRAL_TRUSTED_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/policy.h>
#include <tacet/dp/mechanism.h>
#include <tacet/dp/stream.h>
#include <tacet/central/trusted/policy.h>

#include "central/open/shape.h"

typedef struct tacet__central_ops {
    const char *name; /* of the policy; written into states */
    /* out: dim numbers; any two possible results are at most `sensitivity` apart, none longer than `radius`. Total. */
    void (*record)(void *self, double *out, const double *x, double y);
    /* The learner: may see nothing but what update and played tell it. */
    void (*played)(void *self);
    tacet_status (*update)(void *self, const double *sums, double var, uint64_t count, tacet_error *err);
    bool (*informed)(const void *self);
    size_t (*choose)(void *self, double *score, const double *X, size_t ldx, size_t n);
    void (*best)(void *self, double *mean, double *sd); /* best posterior mean over the domain */
    tacet_status (*save)(const void *self, tacet_blob *out, tacet_error *err);
    tacet_status (*load)(void *self, const void *bytes, size_t size, tacet_error *err);
    void (*free)(void *self);
    /* Batches instead of a stream, where not NULL: *k numbers a record of the coming batch of n rounds, at most `dim`;
     * update is then told the sums of one batch. NO_MEMORY: to be tried again. NULL: the study has a stream. */
    tacet_status (*plan)(void *self, size_t *k, uint64_t n, const tacet__batch_noise *noise, tacet_error *err);
    /* What must be the same numbers wherever the study goes on; may be NULL. */
    tacet_status (*basis)(const void *self, tacet_blob *out, tacet_error *err);
} tacet__central_ops;

typedef struct tacet__central_parts {
    const tacet__central_ops *ops;
    void *self;
    size_t d, dim;
    double lo, hi; /* of rewards */
    double sensitivity, radius;
    const char *proof; /* static */
    uint64_t print;    /* tells studies apart */
} tacet__central_parts;

typedef struct tacet__central_run {
    double eps, delta;
    uint64_t rounds; /* 0: unknown */
    tacet_factorization factorization;
    double first_length, growth; /* of the epochs */
    size_t open_most;
    uint64_t coin_seed;
    bool save_first;
    bool replay;
    bool gaussian; /* batches: no other noise */
} tacet__central_run;

/* Take ownership of parts->self, on failure as well. */
tacet_status tacet__central_policy_create(tacet_policy **out, const tacet__central_parts *parts,
                                          const tacet__central_run *run, const tacet_ask *ask, tacet_error *err);
tacet_status tacet__central_policy_restore(tacet_policy **out, const tacet__central_parts *parts,
                                           const tacet__central_run *run, const tacet_ask *ask, const void *bytes,
                                           size_t size, tacet_error *err);
/* The basis in a saved state of the policy of this name: points into the bytes. CORRUPT. */
tacet_status tacet__central_policy_basis(const unsigned char **basis, size_t *basis_size, const char *name,
                                         const void *bytes, size_t size, tacet_error *err);
/* The last release of a saved policy with its receipt; `look` is shown the learner that has taken it in. STATE: nothing
 * was released yet. */
tacet_status tacet__central_policy_model(tacet_release **out, const tacet__central_parts *parts,
                                         const tacet__central_run *run, const tacet_ask *ask, const void *bytes,
                                         size_t size, void (*look)(void *self, uint64_t rounds, void *user), void *user,
                                         tacet_error *err);

/* What a saved state of the shipped policy knows: its last release, and what the learner makes of it. */
typedef struct tacet__central_learnt {
    tacet_release *release; /* owned by the caller */
    double *theta;          /* in: room for as many as there are features */
    double level;           /* with theta and `logistic`: tacet_central_learner_theta */
    bool logistic;
    bool minimize;   /* in: of the model */
    double error;    /* root mean square of the posterior's sd over the learner's grid */
    uint64_t rounds; /* of the epochs that have ended */
} tacet__central_learnt;
tacet_status tacet__central_learnt_of(tacet__central_learnt *out, const tacet_central_map *map,
                                      const tacet_central_settings *settings, const tacet_ask *ask, const void *bytes,
                                      size_t size, tacet_error *err);

#endif
