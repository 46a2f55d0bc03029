/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - a released table with its posterior, in the unit of the rewards; where money is cut.
 * Ring: open. Source: src/ab/README.md. Cost: that of the posterior. */
#include <tacet/ab/open/model.h>

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
                                      .levels = plan->levels,
                                      .columns = plan->columns,
                                      .up = m->released,
                                      .down = m->released + K,
                                      .up_totals = totals,
                                      .down_totals = totals != NULL ? totals + plan->actions : NULL,
                                      .scale = facts->scale,
                                      .rows = (double)facts->table_rows,
                                      .variance_share = facts->variance_share};
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

tacet_status tacet_ab_model_predict(const tacet_ab_model *m, double *means, double *sds, double *best,
                                    const double *records, size_t n, tacet_error *err) {
    const tacet_ab_plan *plan = &m->facts.plan;
    const tacet_ab_posterior *p = &m->posterior;
    for (size_t i = 0; i < n; i++) {
        const double *record = records + i * m->space.count;
        for (size_t c = best != NULL ? plan->action_columns : 0; c < m->space.count; c++) {
            const tacet_space_column *k = &m->space.columns[c];
            if (!(record[c] >= 0 && record[c] < (double)k->level_count && record[c] == floor(record[c]))) {
                return tacet__fail(err, TACET_INVALID, "row %zu (counted from 0): column '%s' is none of its levels", i,
                                   k->name);
            }
        }
        const size_t context = tacet_ab_plan_context(plan, record);
        const size_t action = best != NULL ? p->rule[context] : tacet_ab_plan_action(plan, record);
        means[i] = p->mean[context * p->actions + action];
        sds[i] = p->sd[context * p->actions + action];
        for (size_t j = 0; j < plan->action_columns && best != NULL; j++) {
            best[i * plan->action_columns + j] = (double)tacet_ab_plan_level(plan, action, j);
        }
    }
    return TACET_OK;
}
