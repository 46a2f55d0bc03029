/* joint_parts.h - what a joint-DP bandit is made of: a statistic of a round, and a learner that sees its noisy sums.
 * Ring: trusted. */
#ifndef TACET_SRC_TRUSTED_JOINT_PARTS_H
#define TACET_SRC_TRUSTED_JOINT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/base/policy.h>
#include <tacet/gate/mechanism.h>
#include <tacet/gate/stream.h>
#include <tacet/trusted/joint.h>

typedef struct tacet__joint_ops {
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
} tacet__joint_ops;

typedef struct tacet__joint_parts {
    const tacet__joint_ops *ops;
    void *self;
    size_t d, dim;
    double lo, hi; /* of rewards */
    double sensitivity, radius;
    const char *proof; /* static */
    uint64_t print;    /* tells studies apart */
} tacet__joint_parts;

typedef struct tacet__joint_run {
    double eps, delta;
    uint64_t rounds; /* 0: unknown */
    tacet_factorization factorization;
    double first_length, growth; /* of the epochs */
    size_t open_most;
    uint64_t coin_seed;
    bool save_first;
    bool replay;
} tacet__joint_run;

/* Take ownership of parts->self, on failure as well. */
tacet_status tacet__joint_policy_create(tacet_policy **out, const tacet__joint_parts *parts,
                                        const tacet__joint_run *run, const tacet_ask *ask, tacet_error *err);
tacet_status tacet__joint_policy_restore(tacet_policy **out, const tacet__joint_parts *parts,
                                         const tacet__joint_run *run, const tacet_ask *ask, const void *bytes,
                                         size_t size, tacet_error *err);
/* The last release of a saved policy with its receipt; `look` is shown the learner that has taken it in. STATE: nothing
 * was released yet. */
tacet_status tacet__joint_policy_model(tacet_release **out, const tacet__joint_parts *parts,
                                       const tacet__joint_run *run, const tacet_ask *ask, const void *bytes,
                                       size_t size, void (*look)(void *self, uint64_t rounds, void *user), void *user,
                                       tacet_error *err);

/* What a saved state of the shipped policy knows: its last release, and what the learner makes of it. */
typedef struct tacet__joint_learnt {
    tacet_release *release; /* owned by the caller */
    double *theta;          /* in: room for as many as there are features */
    double error;           /* root mean square of the posterior's sd over the learner's grid */
    uint64_t rounds;        /* of the epochs that have ended */
} tacet__joint_learnt;
tacet_status tacet__joint_learnt_of(tacet__joint_learnt *out, const tacet_joint_map *map,
                                    const tacet_joint_settings *settings, const tacet_ask *ask, const void *bytes,
                                    size_t size, tacet_error *err);

#endif
