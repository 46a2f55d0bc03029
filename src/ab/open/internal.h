/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the steps of a posterior: counts, draws of the cells' means, claims. Ring: open. */
#ifndef TACET_SRC_AB_OPEN_INTERNAL_H
#define TACET_SRC_AB_OPEN_INTERNAL_H

#include <stdint.h>
#include <tacet/ab/open/model.h>
#include <tacet/ab/open/posterior.h>
#include <tacet/core/simrng.h>

/* What the chain works on. */
typedef struct tacet__ab_data {
    const tacet_ab_table *table;
    size_t A, C, K;   /* actions, contexts, cells */
    double p;         /* overall mean reward, in (0, 1) */
    double *n;        /* likely rows of each cell */
    double *q, *q_sd; /* share of each context, and how far off it may be */
    double *z;        /* released (1 - p) up - p down: n (mean - p) and noise */
    double *totals;   /* the same of each action's totals, less the sum of its cells; NULL: none */
} tacet__ab_data;

tacet_status tacet__ab_data_init(tacet__ab_data *d, const tacet_ab_table *table, tacet_error *err);
void tacet__ab_data_clear(tacet__ab_data *d);
/* What was released, as the chain takes it; `table` is filled, and must live as long as the data. */
tacet_status tacet__ab_data_of(tacet__ab_data *d, tacet_ab_table *table, const tacet_ab_facts *facts, tacet_error *err);
/* Tables of the same cells and of disjoint rows as one (src/ab/README.md, "Several tables"). `joined` has what they
 * share, and is completed. */
tacet_status tacet__ab_data_join(tacet__ab_data *d, tacet_ab_table *joined, const tacet_ab_facts *facts,
                                 tacet_error *err);
/* Which level of column j context c has. */
size_t tacet__ab_level(const tacet_ab_table *table, size_t c, size_t j);

/* Features of smooth effects of the columns that vary: count x K, of unit variance in each cell. */
tacet_status tacet__ab_features(double **out, size_t *count, const tacet__ab_data *d, const bool *varies,
                                double lengthscale, tacet_error *err);
/* How many tickets of an epoch reported, by what it released. */
double tacet__ab_rows_of(const tacet_ab_facts *facts, size_t epoch);

/* --- a study over numbers: README.md, "Earning" ------------------------------------------------------------------ */

/* What the public knows of which actions were shown. Actions of the list are `points` different ones to the process. */
typedef struct tacet__ab_shown {
    size_t count, points, draws;
    const size_t *bin, *at; /* of each action: its cells' in the table; its point */
    const double *place;    /* points x action columns: places of numbers, levels */
    const uint32_t *chosen; /* epochs x contexts x draws: actions that were chosen after each */
    size_t late;            /* tickets of an epoch that went by what was known before the one before it was released */
} tacet__ab_shown;
/* mean, of contexts x points, and draws of it; each context's share. From the facts' epochs, the first of which was
 * even. NUMERIC, NO_MEMORY. */
tacet_status tacet__ab_field(double *mean, double *draws, double *share, const tacet__ab_shown *shown,
                             const tacet_ab_facts *facts, tacet_simrng *rng, tacet_error *err);

/* What is seen of a function of points and contexts: averages over points, in a context each. */
typedef struct tacet__ab_seen {
    const tacet_ab_plan *plan;
    const double *place;
    size_t points, count; /* count: of what was seen */
    size_t *context;
    double *weights;  /* count x points; a row sums to 1 */
    double *n, *z;    /* rows, and their contrast n (mean - p) */
    double *noise;    /* its variance on z */
    double p, spread; /* overall mean; variance of a reward at the most */
} tacet__ab_seen;
/* Both less p. */
tacet_status tacet__ab_process(double *mean, double *draws, size_t count, const tacet__ab_seen *seen, tacet_simrng *rng,
                               tacet_error *err);

/* A number at `place` (0 … 1) among bins: the weights of their means. `factor` (count x count) is made once. */
tacet_status tacet__ab_blend_init(double *factor, size_t count, tacet_error *err);
void tacet__ab_blend(double *weights, const double *factor, size_t count, double place);

/* Draws of all cells' means, one after the other: draws x K. */
typedef struct tacet__ab_draws {
    size_t count;
    float *means;
    double *mean;          /* K: smoother than the mean of the draws */
    double variance_share; /* of rewards within a cell, as found */
} tacet__ab_draws;

tacet_status tacet__ab_draw(tacet__ab_draws *out, const tacet__ab_data *d, tacet_simrng *rng, tacet_error *err);
void tacet__ab_draws_clear(tacet__ab_draws *draws);
tacet_status tacet__ab_claim(tacet_ab_posterior *out, const tacet__ab_data *d, const tacet__ab_draws *draws,
                             tacet_simrng *rng, tacet_error *err);
/* Draws and claims of data, which are cleared. */
tacet_status tacet__ab_posterior_of(tacet_ab_posterior *out, tacet__ab_data *data, uint64_t seed, tacet_error *err);

/* From what was released; all of it is copied, and the posterior is computed. INVALID, NUMERIC, NO_MEMORY. */
tacet_status tacet_ab_model_create(tacet_ab_model **out, const tacet_ab_facts *facts, tacet_error *err);
/* Where the law of rewards is cut, and their variance as a share of p (1 - p), from the released knots. */
void tacet_ab_cut(double *top, double *variance_share, const tacet_ab_plan *plan, const double *knots, double rows,
                  double scale);

/* INVALID: sizes, a number that is not finite, a scale or share out of range. NUMERIC. NO_MEMORY. */
tacet_status tacet_ab_posterior_make(tacet_ab_posterior *out, const tacet_ab_table *table, uint64_t seed,
                                     tacet_error *err);
void tacet_ab_posterior_clear(tacet_ab_posterior *posterior);

#endif
