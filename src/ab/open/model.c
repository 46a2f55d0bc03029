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
    double *released, *tickets, *actions;
    tacet_ab_posterior posterior;
    double within;                      /* variance within bins of what is taken for even, between coarse ones */
    double *factor[TACET_AB_AXES_MOST]; /* of a column of numbers: its blend */
    double *places[TACET_AB_AXES_MOST]; /* of an action among them: weights at the places looked at, levels x places */
};

static tacet_status make_blends(tacet_ab_model *m, tacet_error *err);

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

/* Of a scaled reward over all rows: p (1 - p) less the mean of s (1 - s). */
static double variance_of(const tacet_ab_facts *f) {
    const tacet_ab_plan *plan = &f->plan;
    double rows = plan->study ? 0 : (double)f->table_rows; /* of a study those that reported, as far as is known */
    double up = 0, inner = 0;
    for (size_t e = 0; e < (plan->study ? f->epochs : 1); e++) {
        const double *released = f->released + e * plan->numbers;
        for (size_t i = 0; i < plan->cells; i++) {
            up += released[i];
            rows += plan->study ? released[i] + released[plan->cells + i] : 0;
        }
        inner += released[plan->numbers - 1] * (TACET_AB_SPREAD_PARTS / 4.0);
    }
    rows = fmax(rows, 1);
    const double p = fmin(fmax(up / rows, 0), 1);
    return fmax(p * (1 - p) - fmax(inner / rows, 0), 1e-9);
}

tacet_status tacet__ab_data_of(tacet__ab_data *d, tacet_ab_table *table, const tacet_ab_facts *f, tacet_error *err) {
    const tacet_ab_plan *plan = &f->plan;
    const double *totals = plan->totals ? f->released + 2 * plan->cells : NULL;
    *table = (tacet_ab_table){.actions = plan->actions,
                              .levels = plan->levels + plan->action_columns,
                              .columns = plan->columns,
                              .up = f->released,
                              .down = f->released + plan->cells,
                              .up_totals = totals,
                              .down_totals = totals != NULL ? totals + plan->actions : NULL,
                              .scale = f->scale,
                              .rows = (double)f->table_rows,
                              .variance_share = f->variance_share,
                              .axes = plan->smooth ? plan->levels : NULL,
                              .smooth = plan->number,
                              .axis_count = plan->smooth ? plan->action_columns + plan->columns : 0,
                              .variance = plan->spread ? variance_of(f) : 0};
    return plan->study ? tacet__ab_data_join(d, table, f, err) : tacet__ab_data_init(d, table, err);
}

static void convert(tacet_ab_estimate *e, double lo, double unit) {
    const double lower = lo + unit * e->lower, upper = lo + unit * e->upper;
    e->mean = lo + unit * e->mean;
    e->lower = fmin(lower, upper);
    e->upper = fmax(lower, upper);
}

/* From shares of the range to the unit of rewards, which is below 0 where the least is wanted: gains are gains. */
static void set_unit(tacet_ab_posterior *p, double lo, double unit) {
    for (size_t i = 0; i < p->actions * p->contexts; i++) {
        p->mean[i] = lo + unit * p->mean[i];
        p->sd[i] *= fabs(unit);
    }
    for (size_t a = 0; a < p->actions; a++) {
        convert(&p->action_value[a], lo, unit);
    }
    tacet_ab_estimate *const values[] = {&p->rule_value, &p->single_value, &p->logged_value, &p->uniform_value};
    tacet_ab_estimate *const gains[] = {&p->over_single, &p->over_logged, &p->over_uniform};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        convert(values[i], lo, unit);
    }
    for (size_t i = 0; i < sizeof gains / sizeof gains[0]; i++) {
        convert(gains[i], 0, fabs(unit));
    }
}

static tacet_status copy_facts(tacet_ab_model *m, const tacet_ab_facts *facts, tacet_error *err) {
    const tacet_ab_plan *plan = &facts->plan;
    const size_t numbers = plan->numbers * (plan->study ? facts->epochs : 1);
    const size_t listed = facts->action_count * plan->action_columns;
    const tacet__array arrays[] = {
        {&m->released, numbers, 1}, {&m->tickets, facts->epochs + 1, 1}, {&m->actions, listed + 1, 1}};
    m->facts = *facts;
    tacet_status status = tacet__zalloc_arrays(arrays, sizeof arrays / sizeof *arrays)
                              ? tacet_space_copy(&m->space, facts->space, err)
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model");
    if (status == TACET_OK) {
        memcpy(m->released, facts->released, numbers * sizeof *m->released);
        if (facts->epochs > 0) {
            memcpy(m->tickets, facts->tickets, facts->epochs * sizeof *m->tickets);
        }
        if (listed > 0) {
            memcpy(m->actions, facts->actions, listed * sizeof *m->actions);
        }
        (void)strncpy(m->reward, facts->reward, sizeof m->reward - 1);
        m->facts.space = &m->space;
        m->facts.reward = m->reward;
        m->facts.released = m->released;
        m->facts.tickets = m->tickets;
        m->facts.actions = m->actions;
    }
    return status;
}

tacet_status tacet_ab_model_create(tacet_ab_model **out, const tacet_ab_facts *facts, tacet_error *err) {
    const tacet_ab_plan *plan = &facts->plan;
    tacet__ab_data data;
    tacet_ab_table table;
    *out = NULL;
    if (!(facts->top > plan->lo && facts->top <= plan->hi) || facts->receipt_count > TACET_AB_RECEIPTS_MOST) {
        return tacet__fail(err, TACET_INVALID, "rewards are counted up to a number within their range");
    }
    if (plan->study && (facts->epochs == 0 || facts->epochs > TACET_AB_EPOCHS_MOST)) {
        return tacet__fail(err, TACET_INVALID, "a study's model has 1 to %d epochs", (int)TACET_AB_EPOCHS_MOST);
    }
    tacet_ab_model *m = TACET__ZALLOC(tacet_ab_model, 1);
    if (m == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model");
    }
    tacet_status status = copy_facts(m, facts, err);
    TACET_THEN(status, tacet__ab_data_of(&data, &table, &m->facts, err));
    TACET_THEN(status, tacet__ab_posterior_of(&m->posterior, &data, SEED, err));
    if (status == TACET_OK) {
        const double sign = facts->minimize ? -1 : 1;
        set_unit(&m->posterior, sign * plan->lo, sign * (facts->top - plan->lo));
        status = make_blends(m, err);
    }
    if (status != TACET_OK) {
        tacet_ab_model_free(m);
        return status;
    }
    *out = m;
    return TACET_OK;
}

void tacet_ab_model_free(tacet_ab_model *m) {
    if (m == NULL) {
        return;
    }
    for (size_t j = 0; j < TACET_AB_AXES_MOST; j++) {
        free(m->factor[j]);
        free(m->places[j]);
    }
    tacet_ab_posterior_clear(&m->posterior);
    tacet_space_clear(&m->space);
    free(m->released);
    free(m->tickets);
    free(m->actions);
    free(m);
}

const tacet_ab_facts *tacet_ab_model_facts(const tacet_ab_model *m) {
    return &m->facts;
}

const tacet_ab_posterior *tacet_ab_model_posterior(const tacet_ab_model *m) {
    return &m->posterior;
}

/* --- predictions ------------------------------------------------------------------------------------------------- */

enum { PLACES_A_BIN = 4, COARSE = 4 }; /* of numbers that an action may have; so many bins are coarse */

typedef struct asking {
    const tacet_ab_model *m;
    double *contexts, *actions, *one; /* weights */
    double *means, *sds;              /* of the actions' cells in a context */
    size_t all;                       /* actions that are looked at for the best */
    double *here, *there;             /* all: their means */
} asking;

/* Weights of the cells of a column at a record: one level, or bins about a number. */
static void weigh(const tacet_ab_model *m, double *out, size_t j, double value) {
    const tacet_ab_plan *plan = &m->facts.plan;
    if (plan->number[j]) {
        tacet__ab_blend(out, m->factor[j], plan->levels[j], tacet_ab_plan_place(plan, j, value));
        return;
    }
    memset(out, 0, plan->levels[j] * sizeof *out);
    out[(size_t)value] = 1;
}

/* Weights of all combinations of the columns from `begin` to `end`, in `out`: `all` of them. */
static void weigh_all(const asking *q, double *out, size_t all, size_t begin, size_t end, const double *record) {
    const size_t *levels = q->m->facts.plan.levels;
    size_t step = 1;
    for (size_t i = 0; i < all; i++) {
        out[i] = 1;
    }
    for (size_t j = begin; j < end; j++) {
        weigh(q->m, q->one, j, record[j]);
        for (size_t i = 0; i < all; i++) {
            out[i] *= q->one[i / step % levels[j]];
        }
        step *= levels[j];
    }
}

/* Means of all actions' cells in the context of a record. */
static void ask_context(asking *q, const double *record) {
    const tacet_ab_plan *plan = &q->m->facts.plan;
    const tacet_ab_posterior *p = &q->m->posterior;
    weigh_all(q, q->contexts, plan->contexts, plan->action_columns, plan->action_columns + plan->columns, record);
    for (size_t a = 0; a < plan->actions; a++) {
        double weight = 0;
        q->means[a] = q->sds[a] = 0;
        for (size_t c = 0; c < plan->contexts; c++) {
            q->means[a] += q->contexts[c] * p->mean[c * plan->actions + a];
            q->sds[a] += fabs(q->contexts[c]) * p->sd[c * plan->actions + a];
            weight += fabs(q->contexts[c]);
        }
        q->sds[a] /= weight;
    }
}

static void ask_action(asking *q, double *mean, double *sd, const double *record) {
    const tacet_ab_plan *plan = &q->m->facts.plan;
    double weight = 0;
    weigh_all(q, q->actions, plan->actions, 0, plan->action_columns, record);
    *mean = *sd = 0;
    for (size_t a = 0; a < plan->actions; a++) {
        *mean += q->actions[a] * q->means[a];
        *sd += fabs(q->actions[a]) * q->sds[a];
        weight += fabs(q->actions[a]);
    }
    *sd = hypot(*sd / weight, sqrt(q->m->within));
}

/* How far from the ends, in quarters of a bin: beyond the middle of a coarse one nothing holds what is laid through. */
static size_t margin_of(const tacet_ab_plan *plan, size_t j) {
    return plan->levels[j] > COARSE ? 0 : 1;
}

/* How many values of an action column are looked at, and which. */
static size_t places_of(const tacet_ab_plan *plan, size_t j) {
    return plan->number[j] ? PLACES_A_BIN * plan->levels[j] + 1 - 2 * margin_of(plan, j) : plan->levels[j];
}

static double value_at(const tacet_ab_plan *plan, size_t j, size_t place) {
    const double at = (double)(place + margin_of(plan, j)) / (double)(PLACES_A_BIN * plan->levels[j]);
    return plan->number[j] ? tacet_ab_plan_at(plan, j, at) : (double)place;
}

/* From means of cells to means at the places looked at, column by column: the first of them runs fastest. */
static void spread_means(asking *q) {
    const tacet_ab_plan *plan = &q->m->facts.plan;
    size_t before = 1, after = plan->actions;
    memcpy(q->here, q->means, plan->actions * sizeof *q->here);
    for (size_t j = 0; j < plan->action_columns; j++) {
        const size_t levels = plan->levels[j], places = places_of(plan, j);
        after /= levels;
        if (!plan->number[j]) { /* each level is a place */
            before *= levels;
            continue;
        }
        for (size_t p = 0; p < places; p++) {
            const double *weights = q->m->places[j] + p * levels;
            for (size_t i = 0; i < before * after; i++) {
                const size_t b = i % before, a = i / before;
                double sum = 0;
                for (size_t l = 0; l < levels; l++) {
                    sum += weights[l] * q->here[b + before * (l + levels * a)];
                }
                q->there[b + before * (p + places * a)] = sum;
            }
        }
        double *const was = q->here;
        q->here = q->there;
        q->there = was;
        before *= places;
    }
}

/* Of all levels, and of numbers at some places a bin, the action of the largest mean; in a tie the first. */
static void ask_best(asking *q, double *best, double *mean, double *sd, const double *context) {
    const tacet_ab_plan *plan = &q->m->facts.plan;
    const tacet_ab_facts *f = &q->m->facts;
    const double sign = f->minimize ? -1 : 1;
    size_t top = 0;
    if (plan->smooth && f->action_count > 0) {
        double at = 0, most = -INFINITY;
        for (size_t k = 0; k < f->action_count; k++) {
            ask_action(q, &at, sd, f->actions + k * plan->action_columns);
            top = sign * at > most ? k : top;
            most = fmax(most, sign * at);
        }
        memcpy(best, f->actions + top * plan->action_columns, plan->action_columns * sizeof *best);
        ask_action(q, mean, sd, best);
        return;
    }
    if (plan->smooth) {
        spread_means(q);
        for (size_t k = 1; k < q->all; k++) {
            top = sign * q->here[k] > sign * q->here[top] ? k : top;
        }
    }
    for (size_t j = 0; j < plan->action_columns; j++) {
        /* without bins: the rule that the claims are of */
        best[j] = plan->smooth
                      ? value_at(plan, j, top % places_of(plan, j)) /* NOLINT(clang-analyzer-core.DivideZero): > 0 */
                      : tacet_ab_plan_value(plan, q->m->posterior.rule[tacet_ab_plan_context(plan, context)], j);
        top /= places_of(plan, j);
    }
    ask_action(q, mean, sd, best);
}

static void asking_clear(asking *q) {
    free(q->contexts);
    free(q->actions);
    free(q->one);
    free(q->means);
    free(q->sds);
    free(q->here);
    free(q->there);
}

static tacet_status asking_init(asking *q, const tacet_ab_model *m, tacet_error *err) {
    const tacet_ab_plan *plan = &m->facts.plan;
    *q = (asking){.m = m, .all = 1};
    for (size_t j = 0; j < plan->action_columns && plan->smooth; j++) {
        q->all *= places_of(plan, j);
    }
    const tacet__array arrays[] = {{&q->contexts, plan->contexts, 1},
                                   {&q->actions, plan->actions, 1},
                                   {&q->one, plan->cells, 1},
                                   {&q->means, plan->actions, 1},
                                   {&q->sds, plan->actions, 1},
                                   {&q->here, q->all, 1},
                                   {&q->there, q->all, 1}};
    return tacet__zalloc_arrays(arrays, sizeof arrays / sizeof *arrays)
               ? TACET_OK
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory for predictions");
}

/* Coarse bins say nothing of what happens within one: as much as a straight line from bin to bin changes there. */
static double variance_within(const tacet_ab_model *m) {
    const tacet_ab_plan *plan = &m->facts.plan;
    double sum = 0;
    size_t step = 1;
    for (size_t j = 0; j < m->space.count; j++) {
        double squares = 0;
        size_t pairs = 0;
        for (size_t i = 0; i < plan->cells && plan->number[j] && plan->levels[j] <= COARSE; i++) {
            if (i / step % plan->levels[j] + 1 < plan->levels[j]) {
                const double d = m->posterior.mean[i + step] - m->posterior.mean[i];
                squares += d * d;
                pairs++;
            }
        }
        sum += pairs > 0 ? squares / (double)pairs / 12 : 0;
        step *= plan->levels[j];
    }
    return sum;
}

/* What is the same for every question. */
static tacet_status make_blends(tacet_ab_model *m, tacet_error *err) {
    const tacet_ab_plan *plan = &m->facts.plan;
    tacet_status status = TACET_OK;
    m->within = variance_within(m);
    for (size_t j = 0; j < m->space.count && status == TACET_OK; j++) {
        const size_t levels = plan->levels[j], places = j < plan->action_columns ? places_of(plan, j) : 0;
        if (!plan->number[j]) {
            continue;
        }
        m->factor[j] = TACET__ZALLOC(double, levels *levels);
        m->places[j] = TACET__ZALLOC(double, places *levels + 1);
        status = m->factor[j] == NULL || m->places[j] == NULL
                     ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for predictions")
                     : tacet__ab_blend_init(m->factor[j], levels, err);
        for (size_t p = 0; p < places && status == TACET_OK; p++) {
            weigh(m, m->places[j] + p * levels, j, value_at(plan, j, p));
        }
    }
    return status;
}

tacet_status tacet_ab_model_predict(const tacet_ab_model *m, double *means, double *sds, double *best,
                                    const double *records, size_t n, tacet_error *err) {
    const tacet_ab_plan *plan = &m->facts.plan;
    asking q;
    tacet_status status = asking_init(&q, m, err);
    for (size_t i = 0; i < n && status == TACET_OK; i++) {
        const double *record = records + i * m->space.count;
        for (size_t c = best != NULL ? plan->action_columns : 0; c < m->space.count && status == TACET_OK; c++) {
            const tacet_space_column *k = &m->space.columns[c];
            if (isnan(record[c]) || !tacet_space_holds(k, record[c])) {
                status = tacet__fail(err, TACET_INVALID, "row %zu (counted from 0): column '%s' %s", i, k->name,
                                     isnan(record[c])  ? "is missing"
                                     : plan->number[c] ? "lies outside its bounds"
                                                       : "is none of its levels");
            }
        }
        if (status == TACET_OK) {
            ask_context(&q, record);
        }
        if (status == TACET_OK && best != NULL) {
            ask_best(&q, best + i * plan->action_columns, &means[i], &sds[i], record);
        } else if (status == TACET_OK) {
            ask_action(&q, &means[i], &sds[i], record);
        }
    }
    asking_clear(&q);
    return status;
}
