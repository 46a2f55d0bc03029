/* SPDX-License-Identifier: Apache-2.0 */
/* chain.c - draws of the cells' means given the released table: a hierarchical model with free variance components.
 * Ring: open. Source: src/ab/README.md, "Posterior": Gibbs sampling of a variance-component model (Gelman 2006), with
 * the Laplace noise as a mixture of Gaussians (Andrews, Mallows 1974), cells' own effects from a mixture of scales, and
 * each family's scale moved both ways (Yu, Meng 2011). Cost, a draw: one pass over the cells and a factorisation of the
 * order of the effects, q = 1 + actions + levels + actions x levels (the last for several columns only). */
#include "ab/open/internal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GRID = 8,   /* scales that a family may have */
    SHAPES = 4, /* of the cells' own effects */
    LAYERS = 5, /* Gaussians that make up a Laplace number */
    FAMILIES = 2 + 2 * TACET_AB_COLUMNS_MOST,
    BURN_IN = 100 /* draws thrown away, at least */
};
static const double GRID_LEAST = 0.0125; /* of the unit u = p (1 - p); each further scale is twice the one before */
/* Prior weight of the scale of cells' own effects, a factor e^slope for each doubling. With none, noise is taken for
 * effects of actions that are not there (README.md, "Model"). */
static const double OWN_SLOPE = 0.6;
/* Few successes a cell scatter with long tails of their own (excess kurtosis 1/successes, less where noise covers it),
 * which must not be taken for a few large effects: above this mean, own effects are Gaussian. */
static const double KURTOSIS_MOST = 0.2;
/* Gauss-Laguerre: a Laplace number of scale b is Gaussian with variance 2 b^2 x, x exponential. */
static const double LAYER_X[LAYERS] = {0.26356031971814, 1.41340305910652, 3.59642577104072, 7.08581000585884,
                                       12.6408008442758};
static const double LAYER_W[LAYERS] = {0.521755610582809, 0.398666811083176, 0.0759424496817076, 0.00361175867992205,
                                       2.33699723857762e-05};
/* How many of the cells have an effect that is `rise` doublings larger than the others'. */
static const struct {
    double part;
    size_t rise;
} SHAPE[SHAPES] = {{0, 0}, {0.2, 2}, {0.1, 4}, {0.05, 3}};

typedef struct chain {
    const tacet__ab_data *d;
    tacet_simrng *rng;
    double u;           /* unit of effects */
    size_t families, q; /* family 0: the constant, 1: actions, then columns, then action x column */
    size_t first[FAMILIES + 1], scale[FAMILIES];
    size_t *at[FAMILIES]; /* which effect of the family each cell has */
    double *V;            /* variance of a cell's contrast but for noise on `up` and its own effect */
    double *omega, *eta;  /* variance of that noise, and the noise */
    unsigned char *large; /* whether a cell's own effect is a large one */
    double *omega_total;  /* of the totals' noise */
    size_t own, shape;    /* scale of the cells' own effects */
    double *beta, *mean, *L, *h, *fit, *g, *residual;
    double noise_var; /* 2 b^2 (1 - p)^2 */
    size_t shapes;    /* that own effects may have: the Gaussian alone, or all */
} chain;

static double grid(const chain *k, size_t i) {
    return GRID_LEAST * k->u * ldexp(1, (int)(i < GRID ? i : GRID - 1));
}

static double own_sd(const chain *k, size_t i) {
    return grid(k, k->own + (k->large[i] ? SHAPE[k->shape].rise : 0));
}

/* One of `count` by weights given as logarithms, which are overwritten. */
static size_t choose(tacet_simrng *rng, double *logs, size_t count) {
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, logs[i]);
    }
    for (size_t i = 0; i < count; i++) {
        sum += logs[i] = exp(logs[i] - most);
    }
    double left = tacet_simrng_uniform(rng) * sum;
    for (size_t i = 0; i + 1 < count; i++) {
        left -= logs[i];
        if (left < 0) {
            return i;
        }
    }
    return count - 1;
}

/* --- effects ----------------------------------------------------------------------------------------------------- */

/* Adds weight z to the effects that cell i has. */
static void add_cell(const chain *k, size_t i, double weight, double *h, double z) {
    for (size_t f = 0; f < k->families; f++) {
        h[k->first[f] + k->at[f][i]] += weight * z;
    }
}

static double cell_variance(const chain *k, size_t i) {
    const double own = k->d->n[i] * own_sd(k, i);
    return k->V[i] + own * own;
}

/* What the total of action a says of its cells' noise: given it that has covariance diag(omega) - omega
 * omega'/(sum omega + w), whose inverse has one rank more (Sherman, Morrison). */
static void add_total(chain *k, size_t a) {
    const tacet__ab_data *d = k->d;
    const size_t q = k->q;
    double *b = k->mean; /* scratch: X' D^-1 omega */
    double sum = k->omega_total[a], quad = 0, across = 0;
    memset(b, 0, q * sizeof *b);
    for (size_t c = 0; c < d->C; c++) {
        sum += k->omega[c * d->A + a];
    }
    const double lift = d->totals[a] / sum;
    for (size_t c = 0; c < d->C; c++) {
        const size_t i = c * d->A + a;
        const double D = cell_variance(k, i) + k->omega[i];
        quad += k->omega[i] * k->omega[i] / D;
        across += k->omega[i] * (d->z[i] + k->omega[i] * lift) / D;
        add_cell(k, i, d->n[i] / D, k->h, k->omega[i] * lift);
        add_cell(k, i, d->n[i] / D, b, k->omega[i]);
    }
    const double r = 1 / (sum - quad);
    for (size_t x = 0; x < q; x++) {
        for (size_t y = x; y < q && b[x] != 0; y++) {
            k->L[x * q + y] += r * b[x] * b[y];
        }
        k->h[x] += r * across * b[x];
    }
}

/* The precision of the effects, X'D^-1 X and the priors', in the lower triangle of L; X'D^-1 z in h. */
static void assemble(chain *k) {
    const tacet__ab_data *d = k->d;
    const size_t q = k->q;
    memset(k->L, 0, q * q * sizeof *k->L);
    memset(k->h, 0, q * sizeof *k->h);
    for (size_t f = 0; f < k->families; f++) {
        const double sd = f == 0 ? k->u : grid(k, k->scale[f]);
        for (size_t j = k->first[f]; j < k->first[f + 1]; j++) {
            k->L[j * q + j] = 1 / (sd * sd);
        }
    }
    for (size_t i = 0; i < d->K; i++) {
        const double D = cell_variance(k, i) + k->omega[i];
        const double w = d->n[i] * d->n[i] / D;
        for (size_t f = 0; f < k->families; f++) {
            const size_t row = k->first[f] + k->at[f][i];
            for (size_t g = 0; g <= f; g++) { /* families come in order, so this is the lower triangle */
                k->L[(k->first[g] + k->at[g][i]) * q + row] += w;
            }
        }
        add_cell(k, i, d->n[i] / D, k->h, d->z[i]);
    }
    for (size_t a = 0; a < d->A && d->totals != NULL; a++) {
        add_total(k, a);
    }
}

static tacet_status draw_effects(chain *k, tacet_error *err) {
    assemble(k);
    const tacet_status status = tacet__cholesky(k->L, k->q, k->q, NULL, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    memcpy(k->mean, k->h, k->q * sizeof *k->mean);
    tacet__chol_solve(k->q, k->L, k->q, k->mean);
    for (size_t j = 0; j < k->q; j++) {
        k->beta[j] = tacet_simrng_normal(k->rng);
    }
    tacet__trsv(true, k->q, k->L, k->q, k->beta);
    for (size_t j = 0; j < k->q; j++) {
        k->beta[j] += k->mean[j];
    }
    for (size_t i = 0; i < k->d->K; i++) {
        double sum = 0;
        for (size_t f = 0; f < k->families; f++) {
            sum += k->beta[k->first[f] + k->at[f][i]];
        }
        k->fit[i] = sum;
        k->residual[i] = k->d->z[i] - k->d->n[i] * sum;
    }
    return TACET_OK;
}

/* --- noise ------------------------------------------------------------------------------------------------------- */

/* Which Gaussian a Laplace number of this value came from: its variance. */
static double draw_layer(chain *k, double value) {
    double logs[LAYERS];
    for (size_t l = 0; l < LAYERS; l++) {
        const double var = k->noise_var * LAYER_X[l];
        logs[l] = log(LAYER_W[l]) - 0.5 * (log(var) + value * value / var);
    }
    return k->noise_var * LAYER_X[choose(k->rng, logs, LAYERS)];
}

/* Draws given the total of action a, by Matheron's rule: the noise drawn so far, and a draw of the total's, are moved
 * by what they miss it by. `g` is scratch. */
static void meet_total(chain *k, size_t a) {
    const tacet__ab_data *d = k->d;
    double total = sqrt(k->omega_total[a]) * tacet_simrng_normal(k->rng);
    double sum = k->omega_total[a];
    double off = d->totals[a] - total;
    for (size_t c = 0; c < d->C; c++) {
        const size_t i = c * d->A + a;
        const double G = cell_variance(k, i);
        sum += k->g[i] = k->omega[i] * G / (k->omega[i] + G);
        off += k->eta[i];
    }
    for (size_t c = 0; c < d->C; c++) {
        k->eta[c * d->A + a] -= k->g[c * d->A + a] * off / sum;
    }
    total += k->omega_total[a] * off / sum;
    k->omega_total[a] = draw_layer(k, total);
}

/* The noise of each cell, given what its contrast has beyond the effects; `g` is what is then left. */
static void draw_noise(chain *k) {
    const tacet__ab_data *d = k->d;
    if (k->noise_var == 0) {
        memcpy(k->g, k->residual, d->K * sizeof *k->g);
        return;
    }
    for (size_t i = 0; i < d->K; i++) {
        const double G = cell_variance(k, i);
        const double share = k->omega[i] / (k->omega[i] + G);
        k->eta[i] = share * k->residual[i] + sqrt(share * G) * tacet_simrng_normal(k->rng);
    }
    for (size_t a = 0; a < d->A && d->totals != NULL; a++) {
        meet_total(k, a);
    }
    for (size_t i = 0; i < d->K; i++) {
        k->omega[i] = draw_layer(k, k->eta[i]);
        k->g[i] = k->residual[i] - k->eta[i];
    }
}

/* --- scales ------------------------------------------------------------------------------------------------------ */

static double log_normal(double x, double var) {
    return -0.5 * (log(var) + x * x / var);
}

/* Scale and shape of the cells' own effects, with which cells have large ones summed out; then which have. */
static void draw_own(chain *k) {
    const tacet__ab_data *d = k->d;
    double logs[GRID * SHAPES] = {0};
    for (size_t i = 0; i < d->K; i++) {
        double density[GRID];
        double most = -INFINITY;
        for (size_t s = 0; s < GRID; s++) {
            const double own = d->n[i] * grid(k, s);
            density[s] = log_normal(k->g[i], k->V[i] + own * own);
            most = fmax(most, density[s]);
        }
        for (size_t s = 0; s < GRID; s++) {
            density[s] = exp(density[s] - most);
        }
        for (size_t shape = 0; shape < k->shapes; shape++) {
            for (size_t s = 0; s < GRID; s++) {
                const size_t up = s + SHAPE[shape].rise < GRID ? s + SHAPE[shape].rise : GRID - 1;
                logs[shape * GRID + s] +=
                    log((1 - SHAPE[shape].part) * density[s] + SHAPE[shape].part * density[up] + 1e-300);
            }
        }
    }
    for (size_t i = 0; i < GRID * k->shapes; i++) {
        logs[i] += OWN_SLOPE * (double)(i % GRID);
    }
    const size_t chosen = choose(k->rng, logs, GRID * k->shapes);
    k->shape = chosen / GRID;
    k->own = chosen % GRID;
    for (size_t i = 0; i < d->K; i++) {
        const double part = SHAPE[k->shape].part;
        const double small = d->n[i] * grid(k, k->own), big = d->n[i] * grid(k, k->own + SHAPE[k->shape].rise);
        double two[2] = {log(1 - part) + log_normal(k->g[i], k->V[i] + small * small),
                         part > 0 ? log(part) + log_normal(k->g[i], k->V[i] + big * big) : -INFINITY};
        k->large[i] = (unsigned char)choose(k->rng, two, 2);
    }
}

/* The scale of a family given its effects; and, where effects are small against it, the effects moved with the scale.
 */
static void draw_scale(chain *k, size_t f) {
    const tacet__ab_data *d = k->d;
    const double count = (double)(k->first[f + 1] - k->first[f]);
    double logs[GRID];
    double square = 0;
    for (size_t j = k->first[f]; j < k->first[f + 1]; j++) {
        square += k->beta[j] * k->beta[j];
    }
    for (size_t s = 0; s < GRID; s++) {
        const double sd = grid(k, s);
        logs[s] = -count * log(sd) - 0.5 * square / (sd * sd);
    }
    k->scale[f] = choose(k->rng, logs, GRID);
    const bool up = (tacet_simrng_u64(k->rng) & 1) != 0;
    if ((up && k->scale[f] + 1 == GRID) || (!up && k->scale[f] == 0)) {
        return;
    }
    const double factor = up ? 2 : 0.5;
    double change = 0;
    for (size_t i = 0; i < d->K; i++) {
        const double moved = k->g[i] - d->n[i] * (factor - 1) * k->beta[k->first[f] + k->at[f][i]];
        change += 0.5 * (k->g[i] * k->g[i] - moved * moved) / cell_variance(k, i);
    }
    if (log(tacet_simrng_uniform(k->rng) + 1e-300) >= change) {
        return;
    }
    k->scale[f] = up ? k->scale[f] + 1 : k->scale[f] - 1;
    for (size_t i = 0; i < d->K; i++) {
        const double by = (factor - 1) * k->beta[k->first[f] + k->at[f][i]];
        k->fit[i] += by;
        k->g[i] -= d->n[i] * by;
    }
    for (size_t j = k->first[f]; j < k->first[f + 1]; j++) {
        k->beta[j] *= factor;
    }
}

/* --- the chain --------------------------------------------------------------------------------------------------- */

/* Families and the effect of each that a cell has. */
static bool set_families(chain *k) {
    const tacet__ab_data *d = k->d;
    const tacet_ab_table *t = d->table;
    const size_t crossed = t->columns >= 2 ? t->columns : 0; /* with one column, a cell is action x level */
    bool good = true;
    k->families = 2 + t->columns + crossed;
    for (size_t f = 0; f < k->families; f++) {
        const size_t j = f < 2 + t->columns ? f - 2 : f - 2 - t->columns;
        const size_t count = f == 0 ? 1 : f == 1 ? d->A : f < 2 + t->columns ? t->levels[j] : t->levels[j] * d->A;
        k->at[f] = TACET__ZALLOC(size_t, d->K);
        good = good && k->at[f] != NULL;
        for (size_t i = 0; i < d->K && good; i++) {
            const size_t a = i % d->A, level = f >= 2 ? tacet__ab_level(t, i / d->A, j) : 0;
            k->at[f][i] = f == 0 ? 0 : f == 1 ? a : f < 2 + t->columns ? level : level * d->A + a;
        }
        k->first[f + 1] = k->first[f] + count;
        k->scale[f] = GRID / 2;
    }
    k->q = k->first[k->families];
    k->own = GRID / 2;
    return good;
}

static tacet_status init(chain *k, const tacet__ab_data *d, tacet_simrng *rng, tacet_error *err) {
    const tacet_ab_table *t = d->table;
    memset(k, 0, sizeof *k);
    k->d = d;
    k->rng = rng;
    k->u = d->p * (1 - d->p);
    k->noise_var = 2 * t->scale * t->scale * (1 - d->p) * (1 - d->p);
    bool good = set_families(k);
    const tacet__array arrays[] = {{&k->V, d->K, 1},           {&k->omega, d->K, 1},   {&k->eta, d->K, 1},
                                   {&k->omega_total, d->A, 1}, {&k->beta, k->q, 1},    {&k->mean, k->q, 1},
                                   {&k->h, k->q, 1},           {&k->L, k->q, k->q},    {&k->fit, d->K, 1},
                                   {&k->g, d->K, 1},           {&k->residual, d->K, 1}};
    good = tacet__zalloc_arrays(arrays, sizeof arrays / sizeof *arrays) && good;
    k->large = TACET__ZALLOC(unsigned char, d->K);
    if (!good || k->large == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu effects", k->q);
    }
    for (size_t i = 0; i < d->K; i++) {
        k->V[i] = t->variance_share * d->n[i] * k->u + 2 * t->scale * t->scale * d->p * d->p;
        k->omega[i] = k->noise_var;
    }
    for (size_t a = 0; a < d->A; a++) {
        k->omega_total[a] = k->noise_var;
    }
    double kurtosis = 0;
    for (size_t i = 0; i < d->K; i++) {
        const double sampling = d->n[i] * k->u, share = sampling / (k->V[i] + k->omega[i]);
        kurtosis += share * share / sampling / (double)d->K;
    }
    k->shapes = kurtosis > KURTOSIS_MOST ? 1 : SHAPES;
    return TACET_OK;
}

static void clear(chain *k) {
    for (size_t f = 0; f < k->families; f++) {
        free(k->at[f]);
    }
    free(k->V);
    free(k->omega);
    free(k->eta);
    free(k->large);
    free(k->omega_total);
    free(k->beta);
    free(k->mean);
    free(k->h);
    free(k->L);
    free(k->fit);
    free(k->g);
    free(k->residual);
}

/* Cells' means: their effects, and their own given what is left. */
static void keep(const chain *k, tacet__ab_draws *out, size_t draw) {
    const tacet__ab_data *d = k->d;
    for (size_t i = 0; i < d->K; i++) {
        const double sd = own_sd(k, i), own = d->n[i] * sd;
        const double share = own * own / (own * own + k->V[i]);
        const double mean = d->p + k->fit[i] + share * k->g[i] / d->n[i];
        out->mean[i] += mean / (double)out->count;
        out->means[draw * d->K + i] = (float)(mean + sd * sqrt(1 - share) * tacet_simrng_normal(k->rng));
    }
}

/* Many draws of small tables, fewer of large ones, whose scales are better known and whose draws cost more. */
static size_t draws_for(size_t cells) {
    const double most = 2e6 / (double)cells;
    return most > 2000 ? 2000 : most < 200 ? 200 : (size_t)most;
}

tacet_status tacet__ab_draw(tacet__ab_draws *out, const tacet__ab_data *d, tacet_simrng *rng, tacet_error *err) {
    chain k;
    memset(out, 0, sizeof *out);
    tacet_status status = init(&k, d, rng, err);
    out->count = draws_for(d->K);
    const size_t burn_in = BURN_IN + out->count / 10;
    out->means = TACET__ZALLOC(float, out->count * d->K);
    out->mean = TACET__ZALLOC(double, d->K);
    if (status == TACET_OK && (out->means == NULL || out->mean == NULL)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for draws of %zu cells", d->K);
    }
    for (size_t step = 0; step < burn_in + out->count && status == TACET_OK; step++) {
        status = draw_effects(&k, err);
        if (status == TACET_OK) {
            draw_noise(&k);
            draw_own(&k);
            for (size_t f = 1; f < k.families; f++) {
                draw_scale(&k, f);
            }
            if (step >= burn_in) {
                keep(&k, out, step - burn_in);
            }
        }
    }
    clear(&k);
    if (status != TACET_OK) {
        tacet__ab_draws_clear(out);
    }
    return status;
}

void tacet__ab_draws_clear(tacet__ab_draws *draws) {
    free(draws->means);
    free(draws->mean);
    memset(draws, 0, sizeof *draws);
}
