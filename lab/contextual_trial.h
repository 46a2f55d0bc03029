/* contextual_trial.h - one trial of `tacet simulate usca`: a function, a log, what an algorithm learns from it, its
 * error.
 *
 * The function is 20 kernel functions with random centres, of norm 1 in the kernel's space; actions and contexts are
 * uniform, rewards noisy and clipped to [-1, 1]. The error is eq. (1) of the USCA paper: the mean over contexts of the
 * best reward less the reward of the action chosen. Ring: programs; made-up data, seeded noise. */
#ifndef TACET_LAB_CONTEXTUAL_TRIAL_H
#define TACET_LAB_CONTEXTUAL_TRIAL_H

#include "contextual/trusted/internal.h"

#include <stdint.h>

typedef enum usca_algorithm {
    USCA_PUBLISHED,
    USCA_RANGE,
    USCA_RELEASE,
    USCA_STAGED,
    USCA_FAITHFUL,
    USCA_NONPRIVATE,
    USCA_UNIFORM
} usca_algorithm;
enum { USCA_ALGORITHM_COUNT = 7 };

/* What all trials share: made once, from sizes and space alone. */
typedef struct usca_simulation {
    usca_algorithm algorithm;
    const char *kernel_name;
    size_t dim_action, dim_context, rounds, trials, draws;
    double lengthscale, noise, tau;
    uint64_t seed;
    tacet_contextual_settings settings;
    tacet_contextual_basis *basis;
    size_t d, actions, contexts;
    size_t per_axis; /* of actions; 0: by the dimension */
    double *action;  /* dim_action x actions */
    double *context; /* dim_context x contexts */
    tacet__contextual_plan plan;
    double sup, used_tau; /* of the choosers */
    double *U;            /* per context: m x actions */
    double *bounds;       /* per context */
    size_t m;
    size_t points; /* faithful: of the approximating set, T ceil(T/gamma) */
    double *error; /* trials */
} usca_simulation;

/* Sets error[trial]; for lab_trials, user is the usca_simulation. */
tacet_status usca_trial(void *user, size_t trial, tacet_error *err);

#endif
