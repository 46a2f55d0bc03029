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
    GRID = 8,                                       /* scales that a family may have */
    SHAPES = 4,                                     /* of the cells' own effects */
    LAYERS = 5,                                     /* Gaussians that make up a Laplace number */
    FAMILIES = 2 * (3 + 2 * TACET_AB_COLUMNS_MOST), /* smooth ones twice, with two lengthscales */
    SMOOTH_DRAWS = 500,
    ACTIONS = 1,  /* which family is theirs */
    BURN_IN = 100 /* draws thrown away, at least */
};
static const double GRID_LEAST = 0.0125; /* of the unit u = p (1 - p); each further scale is twice the one before */
/* Prior weight of a scale, a factor e^slope for each doubling: of cells' own effects, where they are all there is of
 * action x context, and where several columns have such effects beside them; of actions, there (README.md, "Model"). */
static const double OWN_SLOPE = 0.6, OWN_SLOPE_BESIDE = 0.3, ACTION_SLOPE = 0.7;
/* Few successes a cell scatter with long tails of their own (excess kurtosis 1/successes, less where noise covers it),
 * which must not be taken for a few large effects: above this mean, own effects are Gaussian. */
static const double KURTOSIS_MOST = 0.2;
static const double SHARE_LEAST = 0.005; /* of p (1 - p), what a reward scatters by within a cell */
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
    size_t families, q; /* family 0: the constant, ACTIONS, then columns, then action x column */
    size_t first[FAMILIES + 1], scale[FAMILIES];
    size_t *at[FAMILIES];           /* which effect of the family each cell has; NULL: it is a smooth one */
    double *own_features[FAMILIES]; /* of a smooth one: its effects are sums of these */
    double *X, *Y;                  /* where there are smooth ones: q x K features of all families; scratch */
    double share;                   /* variance of a reward within a cell, of p (1 - p) */
    double *V;                      /* variance of a cell's contrast but for noise on `up` and its own effect */
    double *omega, *eta;            /* variance of that noise, and the noise */
    unsigned char *large;           /* whether a cell's own effect is a large one */
    double *omega_total;            /* of the totals' noise */
    size_t own, shape;              /* scale of the cells' own effects */
    double *beta, *mean, *L, *h, *fit, *g, *residual, *part;
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
    if (k->X != NULL) {
        tacet__axpy(h, weight * z, k->X + i * k->q, k->q);
        return;
    }
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
        for (size_t j = 0; j < q && k->X != NULL; j++) {
            k->Y[i * q + j] = sqrt(w) * k->X[i * q + j];
        }
        for (size_t f = 0; f < k->families && k->X == NULL; f++) {
            const size_t row = k->first[f] + k->at[f][i];
            for (size_t g = 0; g <= f; g++) { /* families come in order, so this is the lower triangle */
                k->L[(k->first[g] + k->at[g][i]) * q + row] += w;
            }
        }
        add_cell(k, i, d->n[i] / D, k->h, d->z[i]);
    }
    if (k->X != NULL) {
        tacet__syrk(false, q, d->K, 1, k->Y, q, 1, k->L, q);
    }
    for (size_t a = 0; a < d->A && d->totals != NULL; a++) {
        add_total(k, a);
    }
}

/* What family f adds to each cell, in `part`. */
static void effects_of(chain *k, size_t f) {
    if (k->at[f] == NULL) {
        const size_t m = k->first[f + 1] - k->first[f];
        tacet__gemv(true, m, k->d->K, 1, k->X + k->first[f], k->q, k->beta + k->first[f], 0, k->part);
        return;
    }
    for (size_t i = 0; i < k->d->K; i++) {
        k->part[i] = k->beta[k->first[f] + k->at[f][i]];
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
    memset(k->fit, 0, k->d->K * sizeof *k->fit);
    for (size_t f = 0; f < k->families; f++) {
        effects_of(k, f);
        tacet__axpy(k->fit, 1, k->part, k->d->K);
    }
    for (size_t i = 0; i < k->d->K; i++) {
        k->residual[i] = k->d->z[i] - k->d->n[i] * k->fit[i];
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
        logs[i] += (k->X != NULL ? 0 : d->table->columns > 1 ? OWN_SLOPE_BESIDE : OWN_SLOPE) * (double)(i % GRID);
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
    const double slope = f == ACTIONS && k->X == NULL && d->table->columns > 1 ? ACTION_SLOPE : 0;
    double logs[GRID];
    double square = 0;
    for (size_t j = k->first[f]; j < k->first[f + 1]; j++) {
        square += k->beta[j] * k->beta[j];
    }
    for (size_t s = 0; s < GRID; s++) {
        const double sd = grid(k, s);
        logs[s] = slope * (double)s - count * log(sd) - 0.5 * square / (sd * sd);
    }
    k->scale[f] = choose(k->rng, logs, GRID);
    const bool up = (tacet_simrng_u64(k->rng) & 1) != 0;
    if ((up && k->scale[f] + 1 == GRID) || (!up && k->scale[f] == 0)) {
        return;
    }
    const double factor = up ? 2 : 0.5;
    double change = up ? slope : -slope;
    effects_of(k, f);
    for (size_t i = 0; i < d->K; i++) {
        const double moved = k->g[i] - d->n[i] * (factor - 1) * k->part[i];
        change += 0.5 * (k->g[i] * k->g[i] - moved * moved) / cell_variance(k, i);
    }
    if (log(tacet_simrng_uniform(k->rng) + 1e-300) >= change) {
        return;
    }
    k->scale[f] = up ? k->scale[f] + 1 : k->scale[f] - 1;
    for (size_t i = 0; i < d->K; i++) {
        const double by = (factor - 1) * k->part[i];
        k->fit[i] += by;
        k->g[i] -= d->n[i] * by;
    }
    for (size_t j = k->first[f]; j < k->first[f + 1]; j++) {
        k->beta[j] *= factor;
    }
}

/* --- the chain --------------------------------------------------------------------------------------------------- */

/* Which columns a family's effects are of. */
typedef struct subset {
    bool actions, all;
    size_t column; /* of contexts; SIZE_MAX: none */
} subset;

static bool is_smooth(const tacet_ab_table *t, size_t action_axes, const subset *s, bool varies[TACET_AB_AXES_MOST]) {
    bool any = false;
    for (size_t j = 0; j < t->axis_count; j++) {
        varies[j] = s->all || (j < action_axes ? s->actions : j - action_axes == s->column);
        any = any || (varies[j] && t->smooth[j]);
    }
    return any;
}

static tacet_status add_smooth(chain *k, const bool *varies, tacet_error *err) {
    static const double LENGTHSCALE[] = {0.7, 0.35}; /* of the width of a column */
    for (size_t l = 0; l < sizeof LENGTHSCALE / sizeof *LENGTHSCALE; l++) {
        const size_t f = k->families++;
        size_t count = 0;
        const tacet_status status = tacet__ab_features(&k->own_features[f], &count, k->d, varies, LENGTHSCALE[l], err);
        if (status != TACET_OK) {
            return status;
        }
        k->first[f + 1] = k->first[f] + count;
    }
    return TACET_OK;
}

static tacet_status add_family(chain *k, const subset *s, tacet_error *err) {
    const tacet__ab_data *d = k->d;
    const tacet_ab_table *t = d->table;
    bool varies[TACET_AB_AXES_MOST];
    if (is_smooth(t, t->axis_count - t->columns, s, varies)) {
        return add_smooth(k, varies, err);
    }
    const size_t f = k->families++;
    k->at[f] = TACET__ZALLOC(size_t, d->K);
    if (k->at[f] == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu cells", d->K);
    }
    const size_t levels = s->column == SIZE_MAX ? 1 : t->levels[s->column];
    for (size_t i = 0; i < d->K; i++) {
        const size_t level = s->column == SIZE_MAX ? 0 : tacet__ab_level(t, i / d->A, s->column);
        k->at[f][i] = s->actions ? level * d->A + i % d->A : level;
    }
    k->first[f + 1] = k->first[f] + levels * (s->actions ? d->A : 1);
    return TACET_OK;
}

/* The features of all families beside each other, where some are smooth. */
static tacet_status gather(chain *k, tacet_error *err) {
    const size_t q = k->q;
    bool any = false;
    for (size_t f = 0; f < k->families; f++) {
        any = any || k->at[f] == NULL;
    }
    const tacet__array arrays[] = {{&k->X, q, k->d->K}, {&k->Y, q, k->d->K}};
    if (any && !tacet__zalloc_arrays(arrays, 2)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu effects", q);
    }
    for (size_t f = 0; f < k->families && any; f++) {
        const size_t m = k->first[f + 1] - k->first[f];
        for (size_t i = 0; i < k->d->K; i++) {
            double *to = k->X + i * q + k->first[f];
            if (k->at[f] != NULL) {
                to[k->at[f][i]] = 1;
            } else {
                memcpy(to, k->own_features[f] + i * m, m * sizeof *to);
            }
        }
    }
    return TACET_OK;
}

/* Families: the constant, actions, each column, action x column where there are several, and, where there are numbers,
 * all columns together. */
static tacet_status set_families(chain *k, tacet_error *err) {
    const tacet_ab_table *t = k->d->table;
    const subset constant = {.column = SIZE_MAX}, actions = {.actions = true, .column = SIZE_MAX};
    const subset all = {.actions = true, .all = true, .column = SIZE_MAX};
    tacet_status status = add_family(k, &constant, err);
    TACET_THEN(status, add_family(k, &actions, err));
    for (size_t crossed = 0; crossed < (t->columns >= 2 ? 2 : 1); crossed++) {
        for (size_t j = 0; j < t->columns && status == TACET_OK; j++) {
            const subset s = {.actions = crossed > 0, .column = j};
            status = add_family(k, &s, err);
        }
    }
    if (status == TACET_OK && t->axis_count > 0 && t->columns > 0) {
        status = add_family(k, &all, err);
    }
    for (size_t f = 0; f < k->families; f++) {
        k->scale[f] = GRID / 2;
    }
    k->q = k->first[k->families];
    k->own = t->axis_count > 0 ? 0 : GRID / 2;
    return status == TACET_OK ? gather(k, err) : status;
}

/* What one cell's contrast scatters by, but for the noise on `up` and its own effect. */
static void set_variances(chain *k) {
    const tacet__ab_data *d = k->d;
    const double noise = d->table->scale * d->p;
    for (size_t i = 0; i < d->K; i++) {
        k->V[i] = k->share * d->n[i] * k->u + 2 * noise * noise;
    }
}

/* Where the variance over the whole log was released, what effects do not explain of it is that within cells. */
static void set_share(chain *k) {
    const tacet__ab_data *d = k->d;
    double between = 0, rows = 0;
    if (!(d->table->variance > 0)) {
        return;
    }
    for (size_t i = 0; i < d->K; i++) {
        between += d->n[i] * k->fit[i] * k->fit[i];
        rows += d->n[i];
    }
    k->share = fmin(fmax((d->table->variance - between / rows) / k->u, SHARE_LEAST), 1);
    set_variances(k);
}

static tacet_status init(chain *k, const tacet__ab_data *d, tacet_simrng *rng, tacet_error *err) {
    const tacet_ab_table *t = d->table;
    memset(k, 0, sizeof *k);
    k->d = d;
    k->rng = rng;
    k->u = d->p * (1 - d->p);
    k->noise_var = 2 * t->scale * t->scale * (1 - d->p) * (1 - d->p);
    const tacet_status status = set_families(k, err);
    if (status != TACET_OK) {
        return status;
    }
    const tacet__array arrays[] = {{&k->V, d->K, 1},           {&k->omega, d->K, 1},    {&k->eta, d->K, 1},
                                   {&k->omega_total, d->A, 1}, {&k->beta, k->q, 1},     {&k->mean, k->q, 1},
                                   {&k->h, k->q, 1},           {&k->L, k->q, k->q},     {&k->fit, d->K, 1},
                                   {&k->g, d->K, 1},           {&k->residual, d->K, 1}, {&k->part, d->K, 1}};
    const bool good = tacet__zalloc_arrays(arrays, sizeof arrays / sizeof *arrays);
    k->large = TACET__ZALLOC(unsigned char, d->K);
    if (!good || k->large == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu effects", k->q);
    }
    k->share = t->variance > 0 ? fmin(fmax(t->variance / k->u, SHARE_LEAST), 1) : t->variance_share;
    set_variances(k);
    for (size_t i = 0; i < d->K; i++) {
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
    k->shapes = kurtosis > KURTOSIS_MOST || k->X != NULL ? 1 : SHAPES;
    return TACET_OK;
}

static void clear(chain *k) {
    for (size_t f = 0; f < k->families; f++) {
        free(k->at[f]);
        free(k->own_features[f]);
    }
    free(k->X);
    free(k->Y);
    free(k->part);
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
static void keep_draw(const chain *k, tacet__ab_draws *out, size_t draw) {
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
static size_t draws_for(size_t cells, bool smooth) {
    const double most = smooth ? SMOOTH_DRAWS : 2e6 / (double)cells;
    return most > 2000 ? 2000 : most < 200 ? 200 : (size_t)most;
}

tacet_status tacet__ab_draw(tacet__ab_draws *out, const tacet__ab_data *d, tacet_simrng *rng, tacet_error *err) {
    chain k;
    memset(out, 0, sizeof *out);
    tacet_status status = init(&k, d, rng, err);
    out->count = draws_for(d->K, d->table->axis_count > 0);
    const size_t burn_in = BURN_IN + out->count / 10;
    out->means = TACET__ZALLOC(float, out->count * d->K);
    out->mean = TACET__ZALLOC(double, d->K);
    if (status == TACET_OK && (out->means == NULL || out->mean == NULL)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for draws of %zu cells", d->K);
    }
    for (size_t step = 0; step < burn_in + out->count && status == TACET_OK; step++) {
        status = draw_effects(&k, err);
        if (status == TACET_OK) {
            set_share(&k);
            draw_noise(&k);
            draw_own(&k);
            for (size_t f = 1; f < k.families; f++) {
                draw_scale(&k, f);
            }
            if (step >= burn_in) {
                keep_draw(&k, out, step - burn_in);
                out->variance_share += k.share / (double)out->count;
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
