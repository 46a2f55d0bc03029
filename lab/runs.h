/* SPDX-License-Identifier: Apache-2.0 */
/* runs.h - the simulations as functions: a request with every setting in it, an outcome with one number per trial.
 * `tacet-lab repro` and `tacet plan` are made of them. Ring: programs; made-up data or public tables, seeded noise. */
#pragma once

#include "central_env.h"
#include "outsourced_problem.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

typedef enum lab_model { LAB_OUTSOURCED, LAB_CENTRAL, LAB_LOCAL_STATISTICS, LAB_LOCAL, LAB_CONTEXTUAL } lab_model;

/* value: outsourced, simple regret; central, local-statistics, local, cumulative regret (local relative to random play
 * when asked); contextual, expected error. */
typedef struct lab_outcome {
    size_t trials;
    double *value;  /* by trial */
    json_t *detail; /* outsourced as published: branch, omega, sigma_min; random rows: expected; NULL: none */
} lab_outcome;

void lab_outcome_clear(lab_outcome *outcome);
/* Copies the values. Without detail. NO_MEMORY. */
tacet_status lab_outcome_set(lab_outcome *outcome, const double *value, size_t trials, tacet_error *err);

typedef struct lab_outsourced_request {
    const char *scenario; /* grid, branin, csv, made-up */
    lab_table_options table;
    double radius, lengthscale, signal_var, noise_var, mean; /* NaN: the scenario's; lengthscale: share of the radius */
    size_t candidates, dim;                                  /* made-up */
    const char *mechanism, *modeler;
    double eps, delta;
    size_t dims, queries, initial;
} lab_outsourced_request;

typedef struct lab_central_request {
    const char *algorithm; /* shipped, published, nonprivate, random */
    const char *scenario;  /* contextual, or a fixed domain */
    bool published_noise;  /* of the published algorithm: its own instead of the proven one */
    central_world world;   /* contextual: dim 0 is the paper's problem */
    double eps, delta;
    size_t rounds, arms;
} lab_central_request;

typedef struct lab_local_request {
    const char *scenario; /* synthetic, light, stocks */
    const char *folder;   /* of the tables */
    const char *kernel, *noise, *mechanism, *algorithm, *parameters, *range;
    double lengthscale, noise_scale;
    size_t arms, dim, support, rounds;
    double eps;
    bool relative; /* values over those of uniform random play */
    bool eager;    /* ata: rebuilt at every report */
} lab_local_request;

typedef struct lab_contextual_request {
    const char *algorithm, *kernel;
    double lengthscale, noise, eps;
    size_t dim_action, dim_context, actions, rounds, draws; /* actions 0: by the dimension */
} lab_contextual_request;

typedef struct lab_request {
    lab_model model;
    size_t trials;
    uint64_t seed;
    union {
        lab_outsourced_request outsourced;
        lab_central_request central; /* and local-statistics */
        lab_local_request local;
        lab_contextual_request contextual;
    } of;
} lab_request;

/* Runs on all processors; the outcome does not depend on their number. Errors as of the simulation. */
tacet_status lab_run(lab_outcome *out, const lab_request *request, tacet_error *err);
/* The mean over its trials. */
tacet_status lab_run_mean(double *out, const lab_request *request, tacet_error *err);
/* Every setting in words: equal texts are equal requests. A table enters by name and content. */
tacet_status lab_request_key(char *out, size_t size, const lab_request *request, tacet_error *err);

/* One for each model, beside its `tacet-lab simulate` command. */
tacet_status lab_outsourced_run(lab_outcome *out, const lab_request *request, tacet_error *err);
tacet_status lab_central_run(lab_outcome *out, const lab_request *request, tacet_error *err);
tacet_status lab_local_statistics_run(lab_outcome *out, const lab_request *request, tacet_error *err);
/* Theorem 1 of the local paper with its constant set to 1, over the regret of uniform play; mean over the functions. */
tacet_status lab_local_lower(double *out, const lab_request *request, tacet_error *err);
/* The theorem itself: alpha = 1, d = 1; else of se, nu = 5/2 of Matérn. */
double lab_local_theorem_1(bool se, double B, double v, double eps, double T);
tacet_status lab_local_run(lab_outcome *out, const lab_request *request, tacet_error *err);
tacet_status lab_contextual_run(lab_outcome *out, const lab_request *request, tacet_error *err);
/* gamma_T of the kernel on the unit box at tau = 1, from which the published rate is made. */
tacet_status lab_contextual_theory(double bound[2], double measured[2], const lab_request *request, tacet_error *err);
tacet_status lab_contextual_gain(double *gain, const lab_contextual_request *request, tacet_error *err);
/* What the published noise of joint DP really guarantees: its eps at the same delta. */
tacet_status lab_central_published_eps(double *eps, double claimed_eps, double delta, size_t rounds, tacet_error *err);
