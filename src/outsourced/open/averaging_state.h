/* SPDX-License-Identifier: Apache-2.0 */
/* averaging_state.h - between the files of the averaging modeler. Ring: open. */
#pragma once

#include "outsourced/open/modeler_internal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TACET__AVERAGING_DRAWS = 320, /* draws from the prior over hyper-parameters, at most: a fifth of them by ranks */
    TACET__AVERAGING_BEST = 6,    /* of them the posterior is averaged over, at most */
    TACET__AVERAGING_BLOCK = 512, /* rows predicted at a time */
    TACET__AVERAGING_DIMS = 256,
    TACET__AVERAGING_LISTED = 16384, /* rows that are looked at every round, at most */
    TACET__AVERAGING_REFIT = 8       /* values from which on known measurement noise is weighed */
};

/* One draw from the prior, and its Gaussian process on the values so far. */
typedef struct tacet__draw {
    double nugget;     /* over the signal variance */
    double *inverse;   /* d: one over the lengthscale */
    size_t first;      /* of the axes of x that it takes: 0, or d: the ranks */
    double *L;         /* packed rows of the Cholesky factor of R + nugget I */
    double *ones;      /* L^-1 1 */
    double *solved;    /* L^-1 y */
    size_t have;       /* rows of L */
    bool out;          /* hopelessly behind at some check: not looked at again */
    double log_det;    /* sum of the logarithms of L's diagonal */
    double mean, s2;   /* of y under this draw: constant mean, signal variance */
    double oo;         /* 1' K^-1 1 */
    double fit, blank; /* log marginal likelihood; the same with the relation taken out */
} tacet__draw;

/* Solves for all rows of one draw, kept between rounds. */
typedef struct tacet__shelf {
    size_t draw;            /* SIZE_MAX: free */
    size_t have;            /* rows of U */
    size_t used;            /* round of the last use */
    float *U;               /* blocks of `horizon` x BLOCK */
    double *squares, *ones; /* listed: u'u and u'(L^-1 1) */
} tacet__shelf;

typedef struct tacet__averaging {
    size_t d, n, horizon;
    size_t axes; /* of x: d, or 2 d with ranks */
    uint64_t seed;
    size_t holders; /* at least 1: whose rows differ in their noise */
    size_t *ends;   /* holders: row after the last one of each */
    double *x;      /* n x d, one coordinate after the other: shrunk and scaled rows */
    /* The rows that are looked at: all of them, or, of many, those of the best means and as many at random. */
    size_t *list; /* listed: row numbers, ascending; NULL: all */
    double *near; /* listed x d: their coordinates; x itself where all are listed */
    size_t listed;
    double *means; /* 2 n: room for that; NULL: all are listed */
    tacet__draw *draws;
    size_t draw_count;
    double *store; /* what the draws point into */
    tacet__shelf *shelves;
    size_t shelf_count;
    float *shelf_store;
    double *shelf_sums;
    float *scratch; /* horizon x BLOCK, for a draw without a shelf */
    /* The values, in the order of their reports. */
    size_t count;
    size_t *rows;
    double *values, *y;                  /* as reported; squashed and standardized */
    double *shares;                      /* of each: known variance of its measurement over the values' own */
    double median, spread, shift, scale; /* of that transformation */
    bool level;                          /* all values are equal */
    double *noise_var;                   /* holders: known variance of a measurement, in the values' own units */
    double rest;                         /* variance of the first values without it; 0: not looked at yet */
    size_t refit_at;                     /* count at which the shares are looked at again */
    bool squash;
    bool of_value; /* expected improvement of a row's value, not of the function at it */
    size_t most;   /* draws averaged over */
    /* The posterior over draws. */
    size_t best[TACET__AVERAGING_BEST];
    double weight[TACET__AVERAGING_BEST];
    size_t best_count;
    size_t checked;  /* count at the last check: which draws are out, which rows are listed */
    double evidence; /* log Bayes factor against no relation */
    size_t round;
    double *score, *moment, *second; /* listed */
    double *work;                    /* 2 horizon */
} tacet__averaging;

/* Room for d, n and horizon, which are set; clear frees it, also where allocate failed half-way. */
bool tacet__averaging_allocate(tacet__averaging *l);
void tacet__averaging_clear(tacet__averaging *l);
/* Whose row it is. */
size_t tacet__averaging_holder(const tacet__averaging *l, size_t row);
/* Back to no values. */
void tacet__averaging_forget(tacet__averaging *l);
/* What is behind a policy of this kind; NULL: of another. For tests. */
tacet__averaging *tacet__averaging_of(const tacet_policy *policy);
/* Rows into x: the released noise taken out by linear shrinkage, each coordinate scaled to its own spread. `sd`, d x
 * holders, is that of the noise per coordinate, in the rows' units; low and high may be NULL. */
tacet_status tacet__averaging_place(tacet__averaging *l, const double *rows, size_t ld, const double *sd,
                                    const double *low, const double *high, bool shrink, tacet_error *err);
/* The draws: fixed, the same in every run. */
void tacet__averaging_draw(tacet__averaging *l);
/* Standard normal quantile. */
double tacet__averaging_quantile(double p);

/* Probability that the next row is the best of a few random ones, by the log Bayes factor of the values so far. */
double tacet__averaging_doubt(double evidence);
/* Values into y, the draws up to them, weights and evidence; checks on the way. What comes of it depends on the values
 * and their order alone, not on how often it was called. */
void tacet__averaging_fit(tacet__averaging *l);
/* y-scale to the values' own. */
double tacet__averaging_back(const tacet__averaging *l, double y);
/* Entries from `from` on of K^-1 (y - mean) by one draw, into v (count). */
void tacet__averaging_solve(const tacet__averaging *l, const tacet__draw *r, double *v, size_t from);
/* Posterior mean of the value of a measured row, averaged; its own report where measurements have no noise. */
double tacet__averaging_smooth(const tacet__averaging *l, size_t k);

/* Chooses the listed rows by the model as it is: O(6 n t). */
void tacet__averaging_relist(tacet__averaging *l);
/* Number of a listed row in the table. */
size_t tacet__averaging_row(const tacet__averaging *l, size_t i);
/* kernel of a row and rows from..from+m of `x`, whose coordinates are `stride` apart. */
void tacet__averaging_kernel(const tacet__averaging *l, const tacet__draw *r, size_t row, const double *x,
                             size_t stride, size_t from, size_t m, double *k);
/* score[i]: expected improvement of listed row i over `best`. moment and second: mean and mean square of its value,
 * y-scale. */
void tacet__averaging_sweep(tacet__averaging *l, double best);
/* Mean and standard deviation (of the function) at some rows: upper confidence bound with `width`. */
double tacet__averaging_bound(tacet__averaging *l, size_t row, double width);
/* Variance of the value of one row, y-scale. */
double tacet__averaging_variance(tacet__averaging *l, size_t row);
/* Where the value of a row not measured lies with probability `share`, in the values' own scale: by all draws, not the
 * best few, and, as far as the evidence allows, by "no relation". Values are not all equal. */
void tacet__averaging_interval(const tacet__averaging *l, size_t row, double share, double *low, double *high);
