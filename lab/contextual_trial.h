/* SPDX-License-Identifier: Apache-2.0 */
/* contextual_trial.h - one trial of `tacet-lab simulate contextual`: a function, a log, what an algorithm learns from
 * it, its error.
 *
 * The function is 20 kernel functions with random centres, of norm 1 in the kernel's space; actions and contexts are
 * uniform, rewards noisy and clipped to [-1, 1]. The error is eq. (1) of the USCA paper: the mean over contexts of the
 * best reward less the reward of the action chosen. Ring: programs; made-up data, seeded noise. */
#pragma once

#include "contextual/trusted/internal.h"
#include "reward_law.h"

#include <stdint.h>

typedef enum contextual_algorithm {
    CONTEXTUAL_PUBLISHED,
    CONTEXTUAL_FAITHFUL,
    CONTEXTUAL_NONPRIVATE,
    CONTEXTUAL_UNIFORM,
    CONTEXTUAL_TABLE
} contextual_algorithm;
enum { CONTEXTUAL_ALGORITHM_COUNT = 5 };

/* Laws that contexts may have. LEVELS is another world, of studies: variants and device types, rewards of two values.
 */
typedef enum contextual_law {
    CONTEXTUAL_LAW_UNIFORM,
    CONTEXTUAL_LAW_SKEW,     /* u^4 */
    CONTEXTUAL_LAW_TWO,      /* two values, 90 and 10 % */
    CONTEXTUAL_LAW_ONE,      /* one value */
    CONTEXTUAL_LAW_CLUSTERS, /* three of a width of 0.1 */
    CONTEXTUAL_LAW_LEVELS    /* 4 variants x 3 types of 62, 33 and 5 %, even propensities */
} contextual_law;
enum { CONTEXTUAL_LAW_COUNT = 6 };

/* A study instead of a log: cumulative regret. */
typedef enum contextual_policy {
    CONTEXTUAL_POLICY_NONE,
    CONTEXTUAL_POLICY_EPOCHS,
    CONTEXTUAL_POLICY_RANDOM
} contextual_policy;
enum { CONTEXTUAL_POLICY_COUNT = 3 };

enum { CONTEXTUAL_LIKELY = 3 }; /* an error is likely at most so many times the model's own */

/* What all trials share: made once, from sizes and space alone. */
typedef struct contextual_simulation {
    contextual_algorithm algorithm;
    const char *kernel_name;
    size_t dim_action, dim_context, rounds, trials, draws;
    double lengthscale, noise, tau;
    double missing;        /* studies: share of rounds that never report */
    size_t outstanding;    /* studies: each report comes so many rounds late */
    bool permute;          /* rewards are those of other records: unrelated to action and context */
    lab_reward_law reward; /* how rewards scatter */
    tacet_kernel *truth;   /* of the function, where that has kernel functions */
    uint64_t seed;
    tacet_contextual_settings settings;
    tacet_contextual_basis *basis;
    size_t d, actions, contexts;
    size_t per_axis;      /* of actions; 0: by the dimension */
    double *action;       /* dim_action x actions */
    double *context;      /* dim_context x contexts */
    double sup, used_tau; /* of the choosers */
    double *U;            /* per context: m x actions */
    double *bounds;       /* per context */
    size_t m;
    size_t points; /* faithful: of the approximating set, T ceil(T/gamma) */
    double *error; /* trials */
    contextual_law law;
    contextual_policy policy;
    bool waves;           /* 0.7 cos(4 (x - a - b c)) + 0.25 sin(3 x c + p) instead of kernel functions of norm 1 */
    double *rms, *stated; /* trials: true error of predictions, what the model states of it; choosers:
                                               rms is the largest error of the estimate at actions and contexts */
} contextual_simulation;

/* Lemma 6.3 and Theorem 8.2 in numbers, for norm 1 and delta = 0.1 (contextual_theory.c). */
typedef struct contextual_theory {
    double F, gamma;
    double rate;       /* sqrt(gamma/T), Lemma 4.3's */
    double sup, error; /* bounds on sup |mu - f| and on the error of a choice */
} contextual_theory;
tacet_status contextual_theory_of(contextual_theory *out, const contextual_simulation *s, tacet_error *err);

/* The context below which a share u of them lies. */
double contextual_law_quantile(contextual_law law, double u);
/* The same for studies (contextual_regret.c): error[trial] is the regret. */
tacet_status contextual_regret_trial(contextual_simulation *s, size_t trial, tacet_error *err);
/* Sets error[trial]; for lab_trials, user is the contextual_simulation. */
tacet_status contextual_trial(void *user, size_t trial, tacet_error *err);
