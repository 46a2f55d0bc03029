/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_learner.h - the learner of joint DP over a fixed public domain: plans batches of arms, learns from noisy sums.
 *
 * An arm is one choice in each of G groups; group g has n_g choices, each with m_g features (a plain finite domain is
 * one group). The function is f(arm) = 1/2 + sum over groups <theta_g, phi_g(choice)>, rewards are mapped to [0, 1].
 * Everything the learner does is public: arms are planned a batch ahead from releases and public coins, so their
 * features need no noise. Per batch it learns one vector u = A sum c_i phi_i (v_i - 1/2) + noise, where A and the c_i
 * are planned too, such that |c_i A phi_i| <= 1: that bound is what the sensitivity, 1, rests on.
 * src/central/README.md, (f). Not thread-safe. */
#ifndef TACET_CENTRAL_OPEN_FIXED_LEARNER_H
#define TACET_CENTRAL_OPEN_FIXED_LEARNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/blob.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_fixed_group {
    const double *Phi; /* features x choices, column-major; copied */
    size_t features, choices;
} tacet_fixed_group;

/* What is public already of one arm: an earlier value, or what an earlier model says. */
typedef struct tacet_fixed_earlier {
    size_t arm;
    double value, sd; /* mapped to [0, 1]; sd > 0: of the value around the mean reward */
} tacet_fixed_earlier;

typedef struct tacet_fixed_settings {
    bool ladder;       /* default true: averaged over rewards of variance 0.01, 0.05 and 0.25 and, over one list, two
                          priors, flat and smooth, by what each release says of them; reward_var is then not used */
    double prior_var;  /* of each coefficient; default 1; 0: 1, in a study of one list and over 300 rounds 0.4 */
    double reward_var; /* of a reward around its mean, mapped to [0, 1]; default 0.01 */
    double sampling;   /* posterior samples are drawn with so many standard deviations; default 0: 0.5, in a study of at
                          most 300 rounds 1 */
    double noise;    /* standard deviation of Gaussian noise that may be added to a release; public; INFINITY: there is
                        none of that law. Default 0: exact */
    double few;      /* 1/eps where few numbers may get noise of density exp(-eps |v|) instead; default 0: not */
    size_t distinct; /* at most so many different arms a batch; default 48 */
    uint64_t coin_seed;                 /* default 1 */
    const tacet_fixed_earlier *earlier; /* borrowed by create; for a single group. Default none */
    size_t earlier_count;
} tacet_fixed_settings;

enum { TACET_FIXED_BATCH_MOST = 1 << 14 }; /* rounds of a batch */

typedef struct tacet_fixed_learner tacet_fixed_learner;

TACET_API void tacet_fixed_settings_defaults(tacet_fixed_settings *settings);
/* INVALID names what is wrong. NO_MEMORY. */
TACET_API tacet_status tacet_fixed_learner_create(tacet_fixed_learner **out, const tacet_fixed_group *groups,
                                                  size_t group_count, const tacet_fixed_settings *settings,
                                                  tacet_error *err);
TACET_API void tacet_fixed_learner_free(tacet_fixed_learner *learner);        /* NULL is allowed */
TACET_API size_t tacet_fixed_learner_dim(const tacet_fixed_learner *learner); /* m */
/* Plans the next batch of `count` rounds. INVALID: 0 or above TACET_FIXED_BATCH_MOST. NO_MEMORY, NUMERIC. */
TACET_API tacet_status tacet_fixed_learner_plan(tacet_fixed_learner *learner, size_t count, tacet_error *err);
TACET_API size_t tacet_fixed_learner_planned(const tacet_fixed_learner *learner); /* rounds of the batch; 0: none */
/* Numbers of the planned batch's release: the leading ones of m. The others are 0, in vectors and in what update is
 * told. */
TACET_API size_t tacet_fixed_learner_numbers(const tacet_fixed_learner *learner);
/* Choices of round i of the batch (G numbers), and the vector c_i A phi_i (m numbers, norm at most 1). */
TACET_API const size_t *tacet_fixed_learner_arm(const tacet_fixed_learner *learner, size_t i);
TACET_API void tacet_fixed_learner_vector(const tacet_fixed_learner *learner, double *out, size_t i);
/* What the planned batch gave: u, with noise of variance noise_var (0: exact). INVALID: not finite. NUMERIC. */
TACET_API tacet_status tacet_fixed_learner_update(tacet_fixed_learner *learner, const double *u, double noise_var,
                                                  tacet_error *err);
/* State as bytes, and back: the posterior and the place in the coins; a planned batch is planned again, the same.
 * CORRUPT: damaged, or of another problem; the learner keeps its state. */
TACET_API tacet_status tacet_fixed_learner_save(const tacet_fixed_learner *learner, tacet_blob *out, tacet_error *err);
TACET_API tacet_status tacet_fixed_learner_load(tacet_fixed_learner *learner, const void *bytes, size_t size,
                                                tacet_error *err);
TACET_API bool tacet_fixed_learner_informed(const tacet_fixed_learner *learner); /* an update was made */
/* Mean and standard deviation of the posterior at an arm, rewards mapped to [0, 1]. */
TACET_API void tacet_fixed_learner_posterior(tacet_fixed_learner *learner, double *mean, double *sd,
                                             const size_t *choices);
/* m posterior means of the coefficients: f = 1/2 + <theta, phi>. */
TACET_API const double *tacet_fixed_learner_theta(const tacet_fixed_learner *learner);
/* Round i of the batch was played with these choices instead of the planned ones (below each group's number): for a
 * batch that was planned elsewhere. Vectors keep a norm of at most 1. */
TACET_API void tacet_fixed_learner_replace(tacet_fixed_learner *learner, size_t i, const size_t *choices);
/* The arm of the best posterior mean: choices (G numbers) and that mean. */
TACET_API double tacet_fixed_learner_best(const tacet_fixed_learner *learner, size_t *choices);

#ifdef __cplusplus
}
#endif
#endif
