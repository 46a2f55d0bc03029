/* SPDX-License-Identifier: Apache-2.0 */
/* posterior.c - the rule, what it earns and gains, and intervals, from draws of the cells' means.
 * Ring: open. Source: src/ab/README.md, "What is claimed". Cost: one pass over the draws. */
#include "ab/open/internal.h"
#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Half the width of an interval in standard deviations of the draws. */
static const double REACH = 2.1;

/* What is known of one quantity so far. */
typedef struct moments {
    double sum, square;
} moments;

static void note(moments *m, double x) {
    m->sum += x;
    m->square += x * x;
}

static tacet_ab_estimate estimate(const moments *m, size_t count) {
    const double n = (double)count;
    const double mean = m->sum / n;
    const double sd = sqrt(fmax(m->square / n - mean * mean, 0));
    return (tacet_ab_estimate){.mean = mean, .lower = mean - REACH * sd, .upper = mean + REACH * sd};
}

/* Of a value: rewards lie within 0 and 1, and so does their mean. */
static tacet_ab_estimate within(const moments *m, size_t count) {
    const tacet_ab_estimate e = estimate(m, count);
    return (tacet_ab_estimate){
        .mean = fmin(fmax(e.mean, 0), 1), .lower = fmin(fmax(e.lower, 0), 1), .upper = fmin(fmax(e.upper, 0), 1)};
}

static void set_rule(tacet_ab_posterior *out, const tacet__ab_data *d) {
    double best = -INFINITY;
    for (size_t a = 0; a < d->A; a++) {
        double value = 0;
        for (size_t c = 0; c < d->C; c++) {
            value += d->q[c] * out->mean[c * d->A + a];
        }
        if (value > best) {
            best = value;
            out->single = a;
        }
    }
    out->rule_is_single = true;
    for (size_t c = 0; c < d->C; c++) {
        const double *row = out->mean + c * d->A;
        out->rule[c] = out->single; /* in a tie, the action that is best for all */
        for (size_t a = 0; a < d->A; a++) {
            out->rule[c] = row[a] > row[out->rule[c]] ? a : out->rule[c];
        }
        out->rule_is_single = out->rule_is_single && out->rule[c] == out->single;
    }
}

/* A draw of the visitors' contexts. */
static void draw_shares(double *q, const tacet__ab_data *d, tacet_simrng *rng) {
    double sum = 0;
    for (size_t c = 0; c < d->C; c++) {
        q[c] = fmax(d->q[c] + d->q_sd[c] * tacet_simrng_normal(rng), 0);
        sum += q[c];
    }
    for (size_t c = 0; c < d->C; c++) {
        q[c] = sum > 0 ? q[c] / sum : d->q[c];
    }
}

enum { RULE, SINGLE, LOGGED, UNIFORM, OVER_SINGLE, OVER_LOGGED, OVER_UNIFORM, QUANTITIES };

static void note_draw(moments *m, moments *actions, const tacet_ab_posterior *p, const tacet__ab_data *d,
                      const double *mu, const double *q) {
    double rule = 0, logged = 0, uniform = 0;
    for (size_t c = 0; c < d->C; c++) {
        double sum = 0, rows = 0, earned = 0;
        for (size_t a = 0; a < d->A; a++) {
            const size_t i = c * d->A + a;
            sum += mu[i];
            rows += d->n[i];
            earned += d->n[i] * mu[i];
        }
        rule += q[c] * mu[c * d->A + p->rule[c]];
        uniform += q[c] * sum / (double)d->A;
        logged += q[c] * earned / rows;
    }
    double single = 0;
    for (size_t a = 0; a < d->A; a++) {
        double value = 0;
        for (size_t c = 0; c < d->C; c++) {
            value += q[c] * mu[c * d->A + a];
        }
        note(&actions[a], value);
        single = a == p->single ? value : single;
    }
    note(&m[RULE], rule);
    note(&m[SINGLE], single);
    note(&m[LOGGED], logged);
    note(&m[UNIFORM], uniform);
    note(&m[OVER_SINGLE], rule - single);
    note(&m[OVER_LOGGED], rule - logged);
    note(&m[OVER_UNIFORM], rule - uniform);
}

static void set_spread(tacet_ab_posterior *out, const tacet__ab_data *d, const tacet__ab_draws *draws) {
    for (size_t i = 0; i < d->K; i++) {
        moments m = {0};
        for (size_t s = 0; s < draws->count; s++) {
            note(&m, (double)draws->means[s * d->K + i]);
        }
        out->sd[i] = (estimate(&m, draws->count).upper - estimate(&m, draws->count).mean) / REACH;
    }
}

/* How much wider a cell's draws are than the chain's. The chain takes every cell's sampling variance at the overall
 * mean, which is right for means (as with Poisson counts under a gamma prior); their spread goes with the cell's own
 * mean. */
static double widening(const tacet__ab_data *d, double variance_share, size_t i, double cell_mean) {
    const double b = d->table->scale, p = d->p;
    const double mean = fmin(fmax(cell_mean, 0.1 * p), 1 - 0.1 * (1 - p));
    const double noise = 2 * b * b * ((1 - p) * (1 - p) + p * p);
    const double per = variance_share * d->n[i];
    return sqrt((per * mean * (1 - mean) + noise) / (per * p * (1 - p) + noise));
}

tacet_status tacet__ab_claim(tacet_ab_posterior *out, const tacet__ab_data *d, const tacet__ab_draws *draws,
                             tacet_simrng *rng, tacet_error *err) {
    moments m[QUANTITIES] = {{0}};
    moments *actions = TACET__ZALLOC(moments, d->A);
    double *mu = TACET__ZALLOC(double, d->K);
    double *q = TACET__ZALLOC(double, d->C);
    double *widen = TACET__ZALLOC(double, d->K);
    const bool good = actions != NULL && mu != NULL && q != NULL && widen != NULL;
    if (good) {
        memcpy(out->mean, draws->mean, d->K * sizeof *out->mean);
        set_rule(out, d);
        set_spread(out, d, draws);
        for (size_t i = 0; i < d->K; i++) {
            widen[i] = widening(d, draws->variance_share, i, out->mean[i]);
            out->sd[i] *= widen[i];
        }
        for (size_t s = 0; s < draws->count; s++) {
            for (size_t i = 0; i < d->K; i++) {
                mu[i] = out->mean[i] + widen[i] * ((double)draws->means[s * d->K + i] - out->mean[i]);
            }
            draw_shares(q, d, rng);
            note_draw(m, actions, out, d, mu, q);
        }
        out->rule_value = within(&m[RULE], draws->count);
        out->single_value = within(&m[SINGLE], draws->count);
        out->logged_value = within(&m[LOGGED], draws->count);
        out->uniform_value = within(&m[UNIFORM], draws->count);
        out->over_single = estimate(&m[OVER_SINGLE], draws->count);
        out->over_logged = estimate(&m[OVER_LOGGED], draws->count);
        out->over_uniform = estimate(&m[OVER_UNIFORM], draws->count);
        for (size_t a = 0; a < d->A; a++) {
            out->action_value[a] = within(&actions[a], draws->count);
        }
        memcpy(out->share, d->q, d->C * sizeof *out->share);
        memcpy(out->rows, d->n, d->K * sizeof *out->rows);
    }
    free(actions);
    free(mu);
    free(q);
    free(widen);
    return good ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for the claims of %zu cells", d->K);
}

tacet_status tacet_ab_posterior_make(tacet_ab_posterior *out, const tacet_ab_table *table, uint64_t seed,
                                     tacet_error *err) {
    tacet__ab_data data;
    memset(out, 0, sizeof *out);
    const tacet_status status = tacet__ab_data_init(&data, table, err);
    return status == TACET_OK ? tacet__ab_posterior_of(out, &data, seed, err) : status;
}

tacet_status tacet__ab_posterior_of(tacet_ab_posterior *out, tacet__ab_data *of, uint64_t seed, tacet_error *err) {
    tacet__ab_data data = *of;
    tacet__ab_draws draws = {0};
    tacet_simrng rng;
    memset(out, 0, sizeof *out);
    tacet_simrng_init(&rng, seed, 0);
    out->actions = data.A;
    out->contexts = data.C;
    out->mean = TACET__ZALLOC(double, data.K);
    out->sd = TACET__ZALLOC(double, data.K);
    out->rows = TACET__ZALLOC(double, data.K);
    out->share = TACET__ZALLOC(double, data.C);
    out->rule = TACET__ZALLOC(size_t, data.C);
    out->action_value = TACET__ZALLOC(tacet_ab_estimate, data.A);
    tacet_status status =
        out->mean == NULL || out->sd == NULL || out->rows == NULL || out->share == NULL || out->rule == NULL ||
                out->action_value == NULL
            ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for the posterior of %zu cells", data.K)
            : tacet__ab_draw(&draws, &data, &rng, err);
    if (status == TACET_OK) {
        status = tacet__ab_claim(out, &data, &draws, &rng, err);
    }
    tacet__ab_draws_clear(&draws);
    tacet__ab_data_clear(&data);
    if (status != TACET_OK) {
        tacet_ab_posterior_clear(out);
    }
    return status;
}

void tacet_ab_posterior_clear(tacet_ab_posterior *p) {
    free(p->mean);
    free(p->sd);
    free(p->rows);
    free(p->share);
    free(p->rule);
    free(p->action_value);
    memset(p, 0, sizeof *p);
}
