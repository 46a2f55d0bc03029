/* SPDX-License-Identifier: Apache-2.0 */
/* outsourced_problem.h - made-up and tabulated problems for simulations of the outsourced model. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/io/csv.h>

typedef struct lab_table_options {
    const char *data;   /* CSV file */
    const char *inputs; /* "a,b,c" */
    const char *target;
    const char *target_data; /* another CSV with as many records, in the same order, that has the target; NULL: data */
    const char *log_inputs;  /* "b,c": columns of which the logarithm is taken; NULL: none */
    size_t rows;             /* the first so many records; 0: all */
    const char *scales;      /* "1,2.5,1": each column is divided by its own; NULL: by its half-range */
    double sigma_min;        /* of any scenario: the coordinate that varies least is shrunk until this is the smallest
                                singular value of the centred records, the radius staying as it is; 0: left alone */
    bool log_target;
    bool minimize;
    bool standardize;
} lab_table_options;

enum { LAB_MOST_INPUTS = 50 };

/* Records X centred in their box and scaled to a largest norm of `radius`. The model's parameters are in that space. */
typedef struct lab_problem {
    size_t d, n;
    double *X; /* d x n */
    double low[LAB_MOST_INPUTS], high[LAB_MOST_INPUTS];
    double lengthscale, signal_var, noise_var, mean;
    double *fixed;  /* n: the objective when it is the same in every trial; NULL otherwise */
    double *factor; /* side x side: 1-D Cholesky factor from which grid functions are drawn */
    size_t side;
    bool made_up; /* functions are sums of random cosines */
    bool mixed;   /* of several lengthscales, some with skewed values */
} lab_problem;

/* Its inputs, then its target, one record after the other; *inputs is their number. */
tacet_status lab_table_load(tacet_csv_table *out, const lab_table_options *options, size_t *inputs, tacet_error *err);

/* NaN for a parameter: the scenario's own. INVALID: no such scenario; for csv as tacet_csv_load_file. */
tacet_status lab_problem_init(lab_problem *problem, const char *scenario, const lab_table_options *table, double radius,
                              double lengthscale, double signal_var, double noise_var, double mean, tacet_error *err);
/* `candidates` points uniform in a box of `dim` coordinates; functions are sums of random cosines whose covariance is
 * the SE kernel of signal variance 1. lengthscale: share of a side of the box; NaN: 1/16 to 1 by turns, every
 * other function with skewed values, as in docs/robustness.md. noise: standard deviation. */
tacet_status lab_problem_init_made_up(lab_problem *problem, size_t candidates, size_t dim, double radius,
                                      double lengthscale, double noise, uint64_t seed, tacet_error *err);
void lab_problem_clear(lab_problem *problem);
/* f (n) of trial k: drawn from the prior, or the fixed one. Returns NO_MEMORY at worst. */
tacet_status lab_problem_function(const lab_problem *problem, double *f, uint64_t seed, uint64_t k, tacet_error *err);
