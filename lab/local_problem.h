/* SPDX-License-Identifier: Apache-2.0 */
/* local_problem.h - what `tacet-lab simulate local` plays on: functions of an RKHS on a grid, or a table of measured
 * arms.
 */
#ifndef TACET_LAB_LOCAL_PROBLEM_H
#define TACET_LAB_LOCAL_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/gp/kernel.h>
#include <tacet/core/simrng.h>
#include <tacet/core/status.h>

/* weibull: P(|noise| > x) = exp(-x^(1/theta)); pareto: x^-(1 + 1.5 alpha) from 1 on, so that E|noise|^(1 + alpha) is
 * finite and, for alpha < 2/3, the variance is not. Both symmetric. */
typedef enum local_noise { LOCAL_UNIFORM, LOCAL_NORMAL, LOCAL_STUDENT3, LOCAL_WEIBULL, LOCAL_PARETO } local_noise;

/* Shared by all trials. */
typedef struct local_problem {
    tacet_kernel *kernel;
    double *X; /* d x n; arm numbers for a table */
    size_t d, n;
    local_noise noise; /* of synthetic rewards */
    double noise_scale;
    double theta, alpha; /* of weibull and pareto noise */
    bool unit;           /* functions are brought to standard deviation 1 over the arms */
    /* Appendix A: Delta, w, 2 c/w, M, the reward that is paid and its moment; hard_cells 0: another problem */
    double hard_delta, hard_width, hard_scale, hard_payout, hard_moment;
    size_t hard_cells;
    double *table; /* n x rows: measured rewards of a table, one of them per play; NULL: synthetic */
    size_t rows;
} local_problem;

/* One function: f at the arms, max |f|, its norm in the kernel's space, R and second moment (pareto: the one of order
 * 1 + alpha) of the reward's noise. */
typedef struct local_function {
    double *f;
    double bound, norm, noise_bound, noise_var;
    double least, top, mean; /* of f over the arms */
} local_function;

/* `arms` points spread evenly over [0, 1]. */
tacet_status local_problem_synthetic(local_problem *p, const char *kernel, double lengthscale, size_t arms,
                                     local_noise noise, tacet_error *err);
/* `arms` points uniform in a box of `dim` coordinates; functions of standard deviation 1, uniform noise in
 * ±noise_scale. */
tacet_status local_problem_made_up(local_problem *p, const char *kernel, double lengthscale, size_t arms, size_t dim,
                                   double noise_scale, uint64_t seed, tacet_error *err);
/* "light": light_train.csv gives the covariance, light_test.csv the rewards; "stocks": stocks.csv gives both. */
tacet_status local_problem_table(local_problem *p, const char *scenario, const char *folder, tacet_error *err);
void local_problem_clear(local_problem *p);

/* Makes a synthetic problem (alpha set) the one of Appendix A for a norm of at most B, E|y|^(1 + alpha) <= v, devices
 * with this eps and so many rounds. INVALID: fewer than two cells. */
tacet_status local_problem_hard(local_problem *p, double B, double v, double eps, size_t rounds, tacet_error *err);
void local_hard_function(local_function *out, const local_problem *p, tacet_simrng *rng);
double local_hard_reward(const local_problem *p, double f, tacet_simrng *rng);

/* Synthetic: sum of `support` kernels at random arms with weights uniform in [-1, 1]. f is allocated. */
tacet_status local_function_make(local_function *out, const local_problem *p, size_t support, uint64_t seed,
                                 uint64_t stream, tacet_error *err);
void local_function_clear(local_function *f);
/* The reward of one play. */
double local_reward(const local_problem *p, const local_function *f, size_t arm, tacet_simrng *rng);

/* R for unbounded reward noise with P(|noise| > x) <= a exp(-b x^(1/theta)): beyond it none of `rounds` rewards falls,
 * with probability 1 - delta. The device clips to f's range widened by R, so eps stays pure and only the learner's
 * guarantee loses delta. NaN when an argument is not finite and > 0 or delta >= 1. */
double local_noise_range(double a, double b, double theta, size_t rounds, double delta);

#endif
