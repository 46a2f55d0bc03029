/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - a released table with its posterior, in the unit of the rewards; where money is cut.
 * Ring: open. Source: src/ab/README.md. Cost: that of the posterior. */
#include "space/internal.h"
#include "ab/shared/plan.h"
#include <tacet/ab/open/model.h>

#include "ab/open/internal.h"
#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t SEED = 20; /* public; the same table has the same posterior */

struct tacet_ab_model {
    tacet_ab_facts facts;
    tacet_space space;
    char reward[TACET_SPACE_NAME];
    double *released;
    tacet_ab_posterior posterior;
};

void tacet_ab_cut(double *top, double *share, const tacet_ab_plan *plan, const double *knots, double rows,
                  double scale) {
    double law[TACET_AB_KNOTS];
    double mean_all = 0, best = INFINITY;
    /* Numbers that the noise alone could be are taken for none; 3 standard deviations. */
    for (size_t k = 0; k < TACET_AB_KNOTS; k++) {
        law[k] = knots[k] > 3 * sqrt(2) * scale ? knots[k] / fmax(rows, 1) : 0;
        mean_all += law[k] * tacet_ab_knot(plan, k);
    }
    *top = plan->hi;
    *share = 1;
    const double n = fmax(((double)plan->rows - rows) / (double)plan->cells, 1); /* rows of a cell */
    const double noise = plan->sensitivity / plan->eps;
    for (size_t t = 1; t < TACET_AB_KNOTS && mean_all > 0; t++) {
        const double at = tacet_ab_knot(plan, t);
        double m = 0, v = 0;
        for (size_t k = 0; k < TACET_AB_KNOTS; k++) {
            const double x = fmin(tacet_ab_knot(plan, k), at);
            m += law[k] * x;
            v += law[k] * x * x;
        }
        const double error = m > 0 ? (v / n + 2 * noise * noise * at * at / (n * n)) / (m * m) : INFINITY;
        if (m >= 0.5 * mean_all && error < best) {
            const double p = fmin(m / at, 1 - 1e-9);
            best = error;
            *top = at;
            *share = fmin(fmax((v / (at * at) - p * p) / (p * (1 - p)), 0.02), 1);
        }
    }
}

/* Of a scaled reward over the whole log: p (1 - p) less the mean of s (1 - s). */
static double variance_of(const tacet_ab_facts *f) {
    const tacet_ab_plan *plan = &f->plan;
    const double rows = (double)f->table_rows;
    double up = 0;
    for (size_t i = 0; i < plan->cells; i++) {
        up += f->released[i];
    }
    const double p = fmin(fmax(up / rows, 0), 1);
    const double inner = f->released[plan->numbers - 1] * (TACET_AB_SPREAD_PARTS / 4) / rows;
    return fmax(p * (1 - p) - fmax(inner, 0), 1e-9);
}

static void convert(tacet_ab_estimate *e, double lo, double unit) {
    e->mean = lo + unit * e->mean;
    e->lower = lo + unit * e->lower;
    e->upper = lo + unit * e->upper;
}

/* From shares of the range to the unit of rewards. */
static void set_unit(tacet_ab_posterior *p, double lo, double unit) {
    for (size_t i = 0; i < p->actions * p->contexts; i++) {
        p->mean[i] = lo + unit * p->mean[i];
        p->sd[i] *= unit;
    }
    for (size_t a = 0; a < p->actions; a++) {
        convert(&p->action_value[a], lo, unit);
    }
    tacet_ab_estimate *const values[] = {&p->rule_value, &p->single_value, &p->logged_value, &p->uniform_value};
    tacet_ab_estimate *const gains[] = {&p->over_single, &p->over_logged, &p->over_uniform};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        convert(values[i], lo, unit);
    }
    for (size_t i = 0; i < sizeof gains / sizeof *gains; i++) {
        convert(gains[i], 0, unit);
    }
}

tacet_status tacet_ab_model_create(tacet_ab_model **out, const tacet_ab_facts *facts, tacet_error *err) {
    const tacet_ab_plan *plan = &facts->plan;
    *out = NULL;
    if (!(facts->top > plan->lo && facts->top <= plan->hi) || facts->receipt_count > TACET_AB_RECEIPTS_MOST) {
        return tacet__fail(err, TACET_INVALID, "rewards are counted up to a number within their range");
    }
    tacet_ab_model *m = TACET__ZALLOC(tacet_ab_model, 1);
    if (m == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model");
    }
    m->facts = *facts;
    m->released = TACET__ZALLOC(double, plan->numbers);
    tacet_status status = m->released == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model")
                                              : tacet_space_copy(&m->space, facts->space, err);
    if (status == TACET_OK) {
        memcpy(m->released, facts->released, plan->numbers * sizeof *m->released);
        (void)strncpy(m->reward, facts->reward, sizeof m->reward - 1);
        m->facts.space = &m->space;
        m->facts.reward = m->reward;
        m->facts.released = m->released;
        const size_t K = plan->cells;
        const double *totals = plan->totals ? m->released + 2 * K : NULL;
        const tacet_ab_table table = {.actions = plan->actions,
                                      .levels = plan->levels + plan->action_columns,
                                      .columns = plan->columns,
                                      .up = m->released,
                                      .down = m->released + K,
                                      .up_totals = totals,
                                      .down_totals = totals != NULL ? totals + plan->actions : NULL,
                                      .scale = facts->scale,
                                      .rows = (double)facts->table_rows,
                                      .variance_share = facts->variance_share,
                                      .axes = plan->smooth ? plan->levels : NULL,
                                      .smooth = plan->number,
                                      .axis_count = plan->smooth ? plan->action_columns + plan->columns : 0,
                                      .variance = plan->spread ? variance_of(facts) : 0};
        status = tacet_ab_posterior_make(&m->posterior, &table, SEED, err);
    }
    if (status != TACET_OK) {
        tacet_ab_model_free(m);
        return status;
    }
    set_unit(&m->posterior, plan->lo, facts->top - plan->lo);
    *out = m;
    return TACET_OK;
}

void tacet_ab_model_free(tacet_ab_model *m) {
    if (m == NULL) {
        return;
    }
    tacet_ab_posterior_clear(&m->posterior);
    tacet_space_clear(&m->space);
    free(m->released);
    free(m);
}

const tacet_ab_facts *tacet_ab_model_facts(const tacet_ab_model *m) {
    return &m->facts;
}

const tacet_ab_posterior *tacet_ab_model_posterior(const tacet_ab_model *m) {
    return &m->posterior;
}

/* --- predictions ------------------------------------------------------------------------------------------------- */

enum { PLACES_A_BIN = 4 }; /* of numbers that an action may have */

/* Weights of the cells of a column at a record: one level, or bins about a number. */
static tacet_status weigh(double *out, const tacet_ab_plan *plan, size_t j, double value, tacet_error *err) {
    if (plan->number[j]) {
        return tacet__ab_blend(out, plan->levels[j], tacet_ab_plan_place(plan, j, value), err);
    }
    memset(out, 0, plan->levels[j] * sizeof *out);
    out[(size_t)value] = 1;
    return TACET_OK;
}

/* Weights of all combinations of the columns from `begin` to `end`, in `out`: `all` of them. */
static tacet_status weigh_all(double *out, double *one, size_t all, const tacet_ab_plan *plan, size_t begin, size_t end,
                              const double *record, tacet_error *err) {
    size_t step = 1;
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < all; i++) {
        out[i] = 1;
    }
    for (size_t j = begin; j < end && status == TACET_OK; j++) {
        status = weigh(one, plan, j, record[j], err);
        for (size_t i = 0; i < all && status == TACET_OK; i++) {
            out[i] *= one[i / step % plan->levels[j]];
        }
        step *= plan->levels[j];
    }
    return status;
}

typedef struct asking {
    const tacet_ab_model *m;
    double *contexts, *actions, *one; /* weights */
    double *means, *sds;              /* of the actions' cells in a context */
} asking;

/* Means of all actions' cells in the context of a record. */
static tacet_status ask_context(asking *q, const double *record, tacet_error *err) {
    const tacet_ab_plan *plan = &q->m->facts.plan;
    const tacet_ab_posterior *p = &q->m->posterior;
    const size_t n = plan->action_columns + plan->columns;
    const tacet_status status =
        weigh_all(q->contexts, q->one, plan->contexts, plan, plan->action_columns, n, record, err);
    for (size_t a = 0; a < plan->actions && status == TACET_OK; a++) {
        double weight = 0;
        q->means[a] = q->sds[a] = 0;
        for (size_t c = 0; c < plan->contexts; c++) {
            q->means[a] += q->contexts[c] * p->mean[c * plan->actions + a];
            q->sds[a] += fabs(q->contexts[c]) * p->sd[c * plan->actions + a];
            weight += fabs(q->contexts[c]);
        }
        q->sds[a] /= weight;
    }
    return status;
}

static tacet_status ask_action(asking *q, double *mean, double *sd, const double *record, tacet_error *err) {
    const tacet_ab_plan *plan = &q->m->facts.plan;
    const tacet_status status =
        weigh_all(q->actions, q->one, plan->actions, plan, 0, plan->action_columns, record, err);
    double weight = 0;
    *mean = *sd = 0;
    for (size_t a = 0; a < plan->actions && status == TACET_OK; a++) {
        *mean += q->actions[a] * q->means[a];
        *sd += fabs(q->actions[a]) * q->sds[a];
        weight += fabs(q->actions[a]);
    }
    *sd /= weight;
    return status;
}

/* Of all levels, and of numbers at some places a bin, the action of the largest mean; in a tie the first. */
static tacet_status ask_best(asking *q, double *best, double *mean, double *sd, const double *context,
                             tacet_error *err) {
    const tacet_ab_plan *plan = &q->m->facts.plan;
    double record[TACET_AB_ACTION_COLUMNS_MOST];
    size_t all = 1;
    tacet_status status = TACET_OK;
    for (size_t j = 0; j < plan->action_columns; j++) {
        all *= plan->number[j] ? PLACES_A_BIN * plan->levels[j] + 1 : plan->levels[j];
    }
    if (!plan->smooth) { /* the rule that the claims are of */
        const size_t rule = q->m->posterior.rule[tacet_ab_plan_context(plan, context)];
        for (size_t j = 0; j < plan->action_columns; j++) {
            best[j] = tacet_ab_plan_value(plan, rule, j);
        }
        return ask_action(q, mean, sd, best, err);
    }
    *mean = -INFINITY;
    for (size_t k = 0; k < all && status == TACET_OK; k++) {
        size_t rest = k;
        double m = 0, s = 0;
        for (size_t j = 0; j < plan->action_columns; j++) {
            const size_t count = plan->number[j] ? PLACES_A_BIN * plan->levels[j] + 1 : plan->levels[j];
            const double at = (double)(rest % count);
            record[j] = plan->number[j] ? tacet_ab_plan_at(plan, j, at / (double)(count - 1)) : at;
            rest /= count;
        }
        status = ask_action(q, &m, &s, record, err);
        if (status == TACET_OK && m > *mean) {
            *mean = m;
            *sd = s;
            memcpy(best, record, plan->action_columns * sizeof *best);
        }
    }
    return status;
}

tacet_status tacet_ab_model_predict(const tacet_ab_model *m, double *means, double *sds, double *best,
                                    const double *records, size_t n, tacet_error *err) {
    const tacet_ab_plan *plan = &m->facts.plan;
    asking q = {.m = m};
    const tacet__array arrays[] = {{&q.contexts, plan->contexts, 1},
                                   {&q.actions, plan->actions, 1},
                                   {&q.one, plan->cells, 1},
                                   {&q.means, plan->actions, 1},
                                   {&q.sds, plan->actions, 1}};
    tacet_status status = tacet__zalloc_arrays(arrays, sizeof arrays / sizeof *arrays)
                              ? TACET_OK
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory for predictions");
    for (size_t i = 0; i < n && status == TACET_OK; i++) {
        const double *record = records + i * m->space.count;
        for (size_t c = best != NULL ? plan->action_columns : 0; c < m->space.count && status == TACET_OK; c++) {
            const tacet_space_column *k = &m->space.columns[c];
            if (isnan(record[c]) || !tacet_space_holds(k, record[c])) {
                status = tacet__fail(err, TACET_INVALID, "row %zu (counted from 0): column '%s' %s", i, k->name,
                                     plan->number[c] ? "lies outside its bounds" : "is none of its levels");
            }
        }
        TACET_THEN(status, ask_context(&q, record, err));
        if (status == TACET_OK) {
            status = best != NULL ? ask_best(&q, best + i * plan->action_columns, &means[i], &sds[i], record, err)
                                  : ask_action(&q, &means[i], &sds[i], record, err);
        }
    }
    free(q.contexts);
    free(q.actions);
    free(q.one);
    free(q.means);
    free(q.sds);
    return status;
}
