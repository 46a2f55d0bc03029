/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - which table a log of categories gets. Ring: shared; public arithmetic. Source: src/ab/README.md, "What is
 * released". */
#include <tacet/ab/shared/plan.h>

#include "core/fail.h"

#include <math.h>
#include <string.h>

/* Where a cell has fewer rows than this, times 1/eps, the noise hides it, and totals of actions are worth half of eps.
 */
static const double ROWS_A_CELL = 50;

tacet_status tacet_ab_plan_make(tacet_ab_plan *p, const tacet_space *space, size_t action_columns, double lo, double hi,
                                double eps, size_t rows, tacet_error *err) {
    memset(p, 0, sizeof *p);
    if (action_columns == 0 || action_columns > space->count || !(lo < hi) || !isfinite(hi - lo) || !(eps > 0) ||
        !isfinite(eps)) {
        return tacet__fail(err, TACET_INVALID, "a table needs an action column, a range of rewards and an eps above 0");
    }
    p->actions = p->contexts = 1;
    p->action_columns = action_columns;
    p->columns = space->count - action_columns;
    bool fits = action_columns <= TACET_AB_ACTION_COLUMNS_MOST && p->columns <= TACET_AB_COLUMNS_MOST;
    for (size_t i = 0; i < space->count && fits; i++) {
        const tacet_space_column *c = &space->columns[i];
        fits = tacet_space_traits_of(c)->levels && c->level_count <= TACET_AB_CELLS_MOST / (p->actions * p->contexts);
        if (fits && i < action_columns) {
            p->action_levels[i] = c->level_count;
            p->actions *= c->level_count;
        } else if (fits) {
            p->levels[i - action_columns] = c->level_count;
            p->contexts *= c->level_count;
        }
    }
    if (!fits) {
        return tacet__fail(err, TACET_UNSUPPORTED, "one table is for columns of categories with at most %d cells",
                           (int)TACET_AB_CELLS_MOST);
    }
    p->cells = p->actions * p->contexts;
    p->lo = lo;
    p->hi = hi;
    p->eps = eps;
    p->rows = rows;
    p->money = lo == 0 && hi > 1;
    p->totals = p->contexts > 1 && (double)rows / (double)p->cells * eps < ROWS_A_CELL;
    p->numbers = 2 * (p->cells + (p->totals ? p->actions : 0));
    p->sensitivity = p->totals ? 4 : 2;
    return TACET_OK;
}

/* Levels out of range count as the first. */
static size_t combine(const size_t *counts, size_t n, const double *levels) {
    size_t at = 0;
    for (size_t j = n; j-- > 0;) {
        const double l = levels[j];
        at = at * counts[j] + (l >= 0 && l < (double)counts[j] ? (size_t)l : 0);
    }
    return at;
}

size_t tacet_ab_plan_action(const tacet_ab_plan *p, const double *levels) {
    return combine(p->action_levels, p->action_columns, levels);
}

size_t tacet_ab_plan_context(const tacet_ab_plan *p, const double *levels) {
    return combine(p->levels, p->columns, levels + p->action_columns);
}

size_t tacet_ab_plan_level(const tacet_ab_plan *p, size_t action, size_t j) {
    for (size_t k = 0; k < j; k++) {
        action /= p->action_levels[k];
    }
    return action % p->action_levels[j];
}

double tacet_ab_knot(const tacet_ab_plan *p, size_t k) {
    return k == 0 ? 0 : ldexp(p->hi, (int)k - (TACET_AB_KNOTS - 1));
}
