/* SPDX-License-Identifier: Apache-2.0 */
/* modeler.h - the modeler of the outsourced model: optimise over released rows z_i = x_i + noise, whose noise is known.
 *
 * Two methods behind one door, chosen by what is known of f. Both are policies with a fixed domain, the released rows,
 * each suggested at most once, and both see released numbers and measured values only: what they compute is
 * post-processing of the release.
 *   averaging  where no kernel is given: nothing to tune, hyper-parameters are averaged over and weighed anew with
 *              every value. Any dimension up to 256.
 *   eiv        where one is: GP-UCB under the covariance that the noise leaves (errors in variables). Any dimension,
 *              SE and Matérn. src/outsourced/open/README.md. */
#ifndef TACET_OUTSOURCED_OPEN_MODELER_H
#define TACET_OUTSOURCED_OPEN_MODELER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/gp/kernel.h>
#include <tacet/core/policy.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_modeler_settings {
    /* The release. */
    const double *rows; /* d x n, one row per column; copied */
    size_t ld;
    size_t d;
    size_t n;
    const double *low, *high; /* public box of the true inputs, d each, low < high; copied; averaging */
    const double *spread;     /* d x holders: standard deviation of the noise of each coordinate, Gaussian or nearly
                                 (outsourced/shared/coordinates.h); NULL: there is none. Copied */
    /* Rows of several holders, one holder's after the other's, each with noise of its own; 0 or 1: all are alike.
     * Averaging only. Copied. */
    size_t holders;
    const size_t *holder_rows;      /* holders: how many are whose; together n */
    const double *holder_noise_var; /* holders: in place of known_noise_var */
    /* The model: f ~ GP(mean, kernel), y = f(x) + N(0, noise_var). Copied. kernel NULL: not known, and the averaging
     * modeler finds out. */
    const tacet_kernel_spec *kernel;
    double noise_var; /* >= 0 */
    double mean;
    /* The search. */
    size_t horizon;        /* measurements in all, > 0: when to stop exploring follows from it */
    const size_t *initial; /* rows to suggest first, in this order, all different; may be NULL; copied */
    size_t initial_count;
    const tacet_guarantee *guarantee; /* of the release; copied; NULL: none stated */
    /* Of the averaging modeler method. */
    size_t random_first;    /* rows asked at random after the initial ones, before the model chooses */
    double known_noise_var; /* variance of a measurement in the values' own units, where it is known; 0: it is not */
    uint64_t seed;          /* of its random rows; nothing private depends on it */
    /* Of the errors-in-variables method. */
    double delta_ucb;  /* in (0, 1) */
    double beta_scale; /* factor on the theory's beta_t, > 0 */
} tacet_modeler_settings;

/* Everything but the release, its box and scale, and the kernel. */
TACET_API void tacet_modeler_settings_defaults(tacet_modeler_settings *settings);
/* The policy's name says which method it is: "eiv" or "averaging". INVALID: a setting outside its range, a row that is
 * not finite. UNSUPPORTED: averaging with a horizon above 2048. NO_MEMORY, OVERFLOW. */
TACET_API tacet_status tacet_modeler_create(tacet_policy **out, const tacet_modeler_settings *settings,
                                            tacet_error *err);

/* What the averaging modeler has learnt beside its recommendation. */
typedef struct tacet_modeler_knowledge {
    double log_bayes_factor;    /* of "the inputs inform about the value" against "no relation" */
    size_t next_row;            /* of the rows not asked, the one of the largest expected value; SIZE_MAX: none */
    double next_mean;           /* of its value, in the values' own units … */
    double next_low, next_high; /* … which lies between these in 9 of 10 cases (docs/robustness.md measures it) */
} tacet_modeler_knowledge;
/* The log Bayes factor in words; static. It says that the inputs inform, never that the best row was found. */
TACET_API const char *tacet_modeler_words(double log_bayes_factor);

/* What a few rows asked at random tell of the best of `queries` other random rows, whatever the law of the values. How
 * far that exceeds what was seen they do not tell. */
typedef struct tacet_chance {
    size_t rows; /* random rows it is told from */
    size_t queries;
    double likely;         /* the best of `queries` random rows is as good as this … */
    double likely_share;   /* … with at least this probability: .95 or more where enough random rows were asked */
    double best;           /* best of the random rows … */
    double best_share;     /* … and the probability that the best of `queries` random rows is as good, at least */
    size_t chosen, better; /* rows that were chosen; of them, better than `best` */
    double by_luck;        /* of `chosen` random rows as many are better with at most this probability */
} tacet_chance;

#ifdef __cplusplus
}
#endif
#endif
