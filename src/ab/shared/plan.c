/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - which table a log gets. Ring: shared; public arithmetic. Source: src/ab/README.md, "What is
 * released". */
#include "ab/shared/plan.h"

#include "core/fail.h"

#include <math.h>
#include <string.h>

/* Where a cell has fewer rows than this, times 1/eps, the noise hides it, and totals of actions are worth half of eps;
 * not beside smooth effects, which tell as much of an action from its neighbours. */
static const double ROWS_A_CELL = 50;

/* Bins of a column of numbers: fewer rows in one are mostly noise, and more bins tell nothing new of a smooth effect.
 * Up to four bins are coarse, and worth having with fewer. */
static const double ROWS_A_BIN = 100, ROWS_A_COARSE_BIN = 60;
/* Effects along bins fill whole matrices: a table with them has at most about so many cells. */
static const double SMOOTH_CELLS = 600;
enum { BINS_MOST = 16, COARSE = 3, HALVES = 2 };

/* How many bins each column of numbers gets, `numbers` of them beside categories with so many cells. */
static size_t bins_for(double rows, double eps, double cells, size_t numbers) {
    const bool four = numbers <= 2 && rows * eps >= ROWS_A_COARSE_BIN * cells * 16;
    const double least = four ? 4 : numbers <= 4 ? 3 : HALVES;
    const double each = numbers <= 2 ? ROWS_A_BIN : ROWS_A_COARSE_BIN;
    const double even = pow(rows * eps / (each * cells), 1 / (double)numbers);
    const double most = fmax(floor(pow(SMOOTH_CELLS / cells, 1 / (double)numbers) + 1e-9), HALVES);
    return (size_t)fmin(fmin(fmax(floor(even), least), BINS_MOST), most);
}

/* Of a study's contexts: three where it learns from more, of five; what it shows within a bin of actions moves to the
 * best of them, but a context is where it is. */
static size_t fewer_bins(size_t bins) {
    const size_t least = bins < COARSE ? bins : COARSE, part = (3 * bins + 4) / 5;
    return part > least ? part : least;
}

static tacet_ab_scale scale_of(const tacet_space_column *c) {
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    const bool whole = kind->whole;
    return (tacet_ab_scale){
        .lo = whole ? c->lo - 0.5 : c->lo, .hi = whole ? c->hi + 0.5 : c->hi, .log = kind->factor, .whole = whole};
}

/* Levels and bins of all columns; false: too many cells. */
static bool set_axes(tacet_ab_plan *p, const tacet_space *space, double eps, size_t rows) {
    size_t numbers = 0;
    double categories = 1;
    for (size_t i = 0; i < space->count; i++) {
        p->number[i] = !tacet_space_traits_of(&space->columns[i])->levels;
        numbers += p->number[i] ? 1 : 0;
        categories *= p->number[i] ? 1 : (double)space->columns[i].level_count;
    }
    const size_t bins = numbers > 0 ? bins_for((double)rows, eps, categories, numbers) : 0;
    p->actions = p->contexts = 1;
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        p->levels[i] = c->level_count;
        if (p->number[i]) {
            p->scale[i] = scale_of(c);
            const double values = p->scale[i].whole ? c->hi - c->lo + 1 : BINS_MOST;
            const size_t own = p->study && i >= p->action_columns ? fewer_bins(bins) : bins;
            p->levels[i] = values < (double)own ? (size_t)fmax(values, 1) : own;
        }
        p->smooth = p->smooth || (p->number[i] && p->levels[i] > HALVES);
        if (p->levels[i] > TACET_AB_CELLS_MOST / (p->actions * p->contexts)) {
            return false;
        }
        *(i < p->action_columns ? &p->actions : &p->contexts) *= p->levels[i];
    }
    return true;
}

static tacet_status make(tacet_ab_plan *p, const tacet_space *space, size_t action_columns, double lo, double hi,
                         double eps, size_t rows, bool study, tacet_error *err) {
    memset(p, 0, sizeof *p);
    p->study = study;
    if (action_columns == 0 || action_columns > space->count || !(lo < hi) || !isfinite(hi - lo) || !(eps > 0) ||
        !isfinite(eps)) {
        return tacet__fail(err, TACET_INVALID, "a table needs an action column, a range of rewards and an eps above 0");
    }
    p->action_columns = action_columns;
    p->columns = space->count - action_columns;
    if (action_columns > TACET_AB_ACTION_COLUMNS_MOST || p->columns > TACET_AB_COLUMNS_MOST ||
        !set_axes(p, space, eps, rows)) {
        return tacet__fail(err, TACET_UNSUPPORTED,
                           "one table has at most %d action columns, %d context columns and %d cells",
                           (int)TACET_AB_ACTION_COLUMNS_MOST, (int)TACET_AB_COLUMNS_MOST, (int)TACET_AB_CELLS_MOST);
    }
    p->cells = p->actions * p->contexts;
    p->lo = lo;
    p->hi = hi;
    p->eps = eps;
    p->rows = rows;
    p->money = lo == 0 && hi > 1;
    p->totals = p->contexts > 1 && !p->smooth && (double)rows / (double)p->cells * eps < ROWS_A_CELL;
    p->spread = p->smooth && !p->money;
    p->numbers = 2 * (p->cells + (p->totals ? p->actions : 0)) + (p->spread ? 1 : 0);
    p->sensitivity = (p->totals ? 4 : 2) + (p->spread ? 1.0 / TACET_AB_SPREAD_PARTS : 0);
    return TACET_OK;
}

tacet_status tacet_ab_plan_make(tacet_ab_plan *p, const tacet_space *space, size_t action_columns, double lo, double hi,
                                double eps, size_t rows, tacet_error *err) {
    return make(p, space, action_columns, lo, hi, eps, rows, false, err);
}

/* Noise is paid for in every epoch, and a regret adds up from the first on: fewer bins than a log of as many rows, and
 * the more slowly more of them. */
static const double STUDY_ROWS = 25;

tacet_status tacet_ab_plan_study(tacet_ab_plan *p, const tacet_space *space, size_t action_columns, double lo,
                                 double hi, double eps, size_t rounds, tacet_error *err) {
    const double rows = eps > 0 ? fmax(STUDY_ROWS * sqrt((double)rounds / eps), 1) : 1;
    tacet_status status = make(p, space, action_columns, lo, hi, eps, (size_t)rows, true, err);
    if (status == TACET_OK && p->cells > TACET_AB_STUDY_CELLS_MOST) {
        status = tacet__fail(err, TACET_UNSUPPORTED, "%zu combinations of actions and contexts; a study has at most %d",
                             p->cells, (int)TACET_AB_STUDY_CELLS_MOST);
    }
    p->rows = rounds;
    p->money = p->totals = false;
    p->spread = p->smooth;
    p->numbers = 2 * p->cells + (p->spread ? 1 : 0);
    p->sensitivity = 2 + (p->spread ? 1.0 / TACET_AB_SPREAD_PARTS : 0);
    return status;
}

double tacet_ab_plan_place(const tacet_ab_plan *p, size_t j, double value) {
    const tacet_ab_scale *s = &p->scale[j];
    const double place = s->log ? log(value / s->lo) / log(s->hi / s->lo) : (value - s->lo) / (s->hi - s->lo);
    return isnan(value) ? 0.5 : isnan(place) ? 0 : fmin(fmax(place, 0), 1);
}

double tacet_ab_plan_at(const tacet_ab_plan *p, size_t j, double place) {
    const tacet_ab_scale *s = &p->scale[j];
    const double value = s->log ? s->lo * pow(s->hi / s->lo, place) : s->lo + place * (s->hi - s->lo);
    return s->whole ? fmin(fmax(rint(value), s->lo + 0.5), s->hi - 0.5) : value;
}

/* Levels out of range count as the first. */
static size_t level_of(const tacet_ab_plan *p, size_t j, double value) {
    const double count = (double)p->levels[j];
    if (p->number[j]) {
        return (size_t)fmin(floor(tacet_ab_plan_place(p, j, value) * count), count - 1);
    }
    return value >= 0 && value < count ? (size_t)value : 0;
}

static size_t combine(const tacet_ab_plan *p, size_t begin, size_t end, const double *record) {
    size_t at = 0;
    for (size_t j = end; j-- > begin;) {
        at = at * p->levels[j] + level_of(p, j, record[j]);
    }
    return at;
}

size_t tacet_ab_plan_action(const tacet_ab_plan *p, const double *record) {
    return combine(p, 0, p->action_columns, record);
}

size_t tacet_ab_plan_context(const tacet_ab_plan *p, const double *record) {
    return combine(p, p->action_columns, p->action_columns + p->columns, record);
}

double tacet_ab_plan_value(const tacet_ab_plan *p, size_t number, size_t j) {
    for (size_t k = j < p->action_columns ? 0 : p->action_columns; k < j; k++) {
        number /= p->levels[k];
    }
    const double level = (double)(number % p->levels[j]);
    return p->number[j] ? tacet_ab_plan_at(p, j, (level + 0.5) / (double)p->levels[j]) : level;
}

double tacet_ab_knot(const tacet_ab_plan *p, size_t k) {
    return k == 0 ? 0 : ldexp(p->hi, (int)k - (TACET_AB_KNOTS - 1));
}
