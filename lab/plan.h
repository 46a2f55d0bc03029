/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - a stated problem, and the simulations that stand for it. Ring: programs; made-up functions. */
#pragma once

#include "common/cli.h"
#include "runs.h"

typedef struct plan_problem {
    lab_model model;
    size_t candidates, dim, rounds, trials; /* 0: the model's own */
    double lengthscale;                     /* fraction of the domain; NaN: the model's own, outsourced: several */
    double noise, radius, delta;
    double asked_delta;    /* what was given; NaN: nothing */
    const char *mechanism; /* outsourced: auto, gaussian or laplace */
    uint64_t seed;
} plan_problem;

typedef enum plan_player { PLAN_PRIVATE, PLAN_RANDOM, PLAN_NONPRIVATE } plan_player;

int lab_plan(int argc, char **argv, const cli_command *self); /* the command */
/* An A/B study; rate, lift: NaN, eps: NULL where it was not given. */
int plan_ab(double rate, double lift, size_t arms, cli_reals eps, uint64_t seed, const cli_command *self);

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

/* --- what was found (plan.c), printed by plan_print.c ---------------------------------------------------------------
 */

enum { PLAN_MOST_EPS = 24 };
/* Standard errors of what is kept beyond that share. A plan looks at most five times, at twice as many functions each
 * time: where exactly 90 % are kept, one of the looks passes 2.5 in 5 % of plans (and 2 in 16 %). */
static const double PLAN_CLEAR = 2.5;

typedef enum plan_closeness { PLAN_NOT_CLOSE, PLAN_OPEN, PLAN_CLOSE } plan_closeness;

typedef struct plan_point {
    double eps;
    lab_outcome outcome;
    double mean, se;
    double gain, gain_se;   /* random less this, in pairs */
    double spare, spare_se; /* its gain less CLOSE_SHARE of the reference's, in pairs */
    plan_closeness close;
    bool better;
    bool hopeless; /* clearly no gain worth having */
} plan_point;

typedef struct plan_state {
    const cli_command *self;
    plan_problem problem;
    plan_point at[PLAN_MOST_EPS];
    size_t count;
    plan_point random, plain;
    char advice[640];
    size_t first;                 /* from here on every eps is better than random; count: none */
    size_t close_low, close_high; /* from one of these on every eps is close; count: none of those tried */
    double low, high;             /* the band of chance: nine of ten random players' regrets */
    size_t most;                  /* functions at most; */
    size_t narrow;                /* at most to narrow the eps from which on most is kept */
    bool told;                    /* what is better than random is settled */
    bool settled;                 /* and so is that eps */
    double share, share_se;       /* outsourced, one eps: of random's regret */
    size_t units, queries;        /* units so many times smaller, or so many questions, are worth it; 0: none tried */
    double seconds;
} plan_state;

/* Whether the advice has a sentence on what is kept of the non-private gain. */
bool plan_tells_share(const plan_state *plan);
/* Clearly better than random, or clearly not worth having. */
bool plan_is_settled(const plan_point *at);
int plan_tell(const plan_state *plan); /* as text or JSON on stdout */
json_t *plan_json(const plan_state *plan);
/* One HTML page. */
tacet_status plan_page(const plan_state *plan, const char *path, tacet_error *err);
