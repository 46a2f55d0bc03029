/* SPDX-License-Identifier: Apache-2.0 */
/* session_rows.c - the released rows of one holder, or of several, as coordinates of one model.
 * Ring: open. Rows are numbered through, one holder's after the other's. Holders of the same columns may have chosen
 * other bounds, units, eps and mechanisms: their numbers are taken to the first one's units, and each keeps the spread
 * of its own noise, so that the model trusts the clearer release more. Cost: a pass. */
#include "outsourced/open/session_internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>
#include "outsourced/shared/coordinates.h"

size_t tacet_session_place(const tacet_session_holder *holders, size_t count, size_t *row) {
    size_t h = 0;
    while (h + 1 < count && *row >= holders[h].manifest->rows) {
        *row -= holders[h].manifest->rows;
        h++;
    }
    return h;
}

static bool same_kind(const tacet_space_column *a, const tacet_space_column *b) {
    bool same = strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->missing == b->missing &&
                a->level_count == b->level_count;
    for (size_t i = 0; same && i < a->level_count; i++) {
        same = strcmp(a->levels[i], b->levels[i]) == 0;
    }
    return same;
}

/* Whether rows of the two can be compared: the same columns of the same kinds in the same order. */
static tacet_status check_same(const tacet_manifest *a, const tacet_manifest *b, size_t number, tacet_error *err) {
    if (tacet_manifest_projects(a) || tacet_manifest_projects(b)) {
        return tacet__fail(err, TACET_UNSUPPORTED,
                           "holder %zu: rows of several holders can be compared only where noise was added to the "
                           "columns themselves (gaussian, laplace, l2)",
                           number);
    }
    bool same = a->space.count == b->space.count;
    for (size_t i = 0; same && i < a->space.count; i++) {
        same = same_kind(&a->space.columns[i], &b->space.columns[i]);
    }
    return same ? TACET_OK
                : tacet__fail(err, TACET_INVALID,
                              "holder %zu released other columns than holder 1: names, kinds and levels must agree",
                              number);
}

static double middle(const tacet_manifest_column *c) {
    return c->lo / 2 + c->hi / 2;
}

/* One holder's rows, noise and box, in the units of the first. */
static void take_holder(tacet__session *r, size_t h, double *low, double *high) {
    const tacet_manifest *first = r->holders[0].manifest;
    const tacet_manifest *m = r->holders[h].manifest;
    double *spread = r->spread + h * r->d;
    tacet_manifest_spread(m, spread, low, high);
    double scale[TACET_MANIFEST_COLUMNS]; /* 1 and 0 where units and bounds are the first one's: nothing is rounded */
    double shift[TACET_MANIFEST_COLUMNS];
    const size_t numbers = tacet_manifest_projects(m) ? 0 : m->column_count;
    for (size_t a = 0; a < numbers; a++) {
        scale[a] = m->columns[a].unit / first->columns[a].unit;
        shift[a] = (middle(&m->columns[a]) - middle(&first->columns[a])) / first->columns[a].unit;
        low[a] = low[a] * scale[a] + shift[a];
        high[a] = high[a] * scale[a] + shift[a];
        spread[a] *= scale[a];
    }
    for (size_t i = 0; i < m->rows; i++) {
        double *x = r->rows + (r->start[h] + i) * r->d;
        const double *z = r->holders[h].rows + i * m->dims;
        tacet_manifest_row(m, x, z);
        for (size_t a = 0; a < numbers; a++) {
            x[a] = x[a] * scale[a] + shift[a];
        }
    }
    for (size_t a = 0; a < r->d; a++) {
        r->low[a] = h > 0 ? fmin(r->low[a], low[a]) : low[a];
        r->high[a] = h > 0 ? fmax(r->high[a], high[a]) : high[a];
    }
}

static tacet_status take_all(tacet__session *r, tacet_error *err) {
    size_t size = 0;
    r->spread = TACET__ZALLOC(double, r->holder_count * r->d);
    r->rows = tacet__size_mul(&size, r->n, r->d) ? TACET__ALIGNED(double, size) : NULL;
    double *low = TACET__ZALLOC(double, 2 * r->d);
    if (r->spread == NULL || r->rows == NULL || low == NULL) {
        free(low);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", r->n);
    }
    for (size_t h = 0; h < r->holder_count; h++) {
        take_holder(r, h, low, low + r->d);
    }
    free(low);
    return TACET_OK;
}

tacet_status tacet__session_rows(tacet__session *r, tacet_error *err) {
    const tacet_manifest *m = r->holders[0].manifest;
    for (size_t h = 1; h < r->holder_count; h++) {
        TACET_OR_RETURN(check_same(m, r->holders[h].manifest, h + 1, err));
    }
    r->d = tacet_manifest_coordinates(m);
    r->low = TACET__ZALLOC(double, r->d);
    r->high = TACET__ZALLOC(double, r->d);
    if (r->low == NULL || r->high == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu coordinates", r->d);
    }
    const tacet_status status = take_all(r, err);
    if (status == TACET_OK && tacet_manifest_projects(m)) { /* there is no box of the true inputs */
        free(r->low);
        free(r->high);
        r->low = r->high = NULL;
    }
    return status;
}
