/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - a stated problem, and the simulations that stand for it. Ring: programs; made-up functions. */
#ifndef TACET_LAB_PLAN_H
#define TACET_LAB_PLAN_H

#include "common/cli.h"
#include "runs.h"

typedef struct plan_problem {
    lab_model model;
    size_t candidates, dim, rounds, trials; /* 0: the model's own */
    double lengthscale;                     /* fraction of the domain */
    double noise, radius, delta;
    double asked_delta;    /* what was given; NaN: nothing */
    const char *mechanism; /* outsourced: auto, gaussian or laplace */
    bool known_prior;      /* outsourced: the modeler is told the objective's lengthscale and noise */
    uint64_t seed;
} plan_problem;

typedef enum plan_player { PLAN_PRIVATE, PLAN_RANDOM, PLAN_NONPRIVATE } plan_player;

int lab_plan(int argc, char **argv, const cli_command *self); /* the commands */
int lab_plan_ab(int argc, char **argv, const cli_command *self);

plan_problem plan_defaults(void);
/* Fills what was not given by what suits the model. */
void plan_complete(plan_problem *problem);
/* INVALID, with the option that is wrong. */
tacet_status plan_check(const plan_problem *problem, tacet_error *err);
bool plan_model_parse(lab_model *out, const char *name);
const char *plan_model_name(lab_model model);
/* What the regret of the model is. */
const char *plan_quantity(lab_model model);
double plan_delta(const plan_problem *problem); /* 0 where the model is pure */
void plan_words(char *out, size_t size, const plan_problem *problem);
/* What a player plays; eps is for PLAN_PRIVATE. */
tacet_status plan_request(lab_request *out, const plan_problem *problem, plan_player player, double eps,
                          tacet_error *err);

#endif
