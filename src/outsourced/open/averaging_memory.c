/* SPDX-License-Identifier: Apache-2.0 */
/* averaging_memory.c - the memory of the averaging modeler: draws, shelves and the arrays over rows and values.
 * Ring: open. Cost: 8 (2 d + 2) bytes a row, and 40 horizon bytes of each that is listed; nothing is allocated after
 * it. */
#include "outsourced/open/averaging_state.h"

#include "core/memory.h"

#include <stdint.h>
#include <stdlib.h>

enum { SHELVES = 10, SHELF_BYTES = 1 << 29 /* all of them together */ };

/* Fewer draws where there are many values to fit, whose likelihood then tells most of them apart anyway. */
static size_t draws_for(size_t horizon) {
    return horizon <= 256 ? TACET__AVERAGING_DRAWS : horizon <= 512 ? 160 : horizon <= 1024 ? 80 : 40;
}

static bool allocate_draws(tacet__averaging *l) {
    size_t each = l->horizon * (l->horizon + 1) / 2 + 2 * l->horizon + l->d;
    size_t all = 0;
    l->draw_count = draws_for(l->horizon);
    l->draw_count -= l->axes == l->d ? l->draw_count / 5 : 0;
    l->draws = TACET__ZALLOC(tacet__draw, l->draw_count);
    l->store = tacet__size_mul(&all, each, l->draw_count) ? TACET__ALIGNED(double, all) : NULL;
    if (l->draws == NULL || l->store == NULL) {
        return false;
    }
    for (size_t m = 0; m < l->draw_count; m++) {
        double *at = l->store + m * each;
        l->draws[m].inverse = at;
        l->draws[m].ones = at + l->d;
        l->draws[m].solved = at + l->d + l->horizon;
        l->draws[m].L = at + l->d + 2 * l->horizon;
    }
    return true;
}

/* As many shelves as fit; none is all right. */
static bool allocate_shelves(tacet__averaging *l) {
    const size_t padded = (l->listed + TACET__AVERAGING_BLOCK - 1) / TACET__AVERAGING_BLOCK * TACET__AVERAGING_BLOCK;
    size_t each = 0;
    size_t cells = 0;
    if (!tacet__size_mul(&each, padded, l->horizon)) {
        return false;
    }
    l->shelf_count = SHELF_BYTES / sizeof(float) / each;
    l->shelf_count = l->shelf_count > SHELVES ? SHELVES : l->shelf_count;
    l->scratch = TACET__ALIGNED(float, TACET__AVERAGING_BLOCK * l->horizon);
    l->shelves = TACET__ZALLOC(tacet__shelf, l->shelf_count);
    l->shelf_store = tacet__size_mul(&cells, each, l->shelf_count) ? TACET__ALIGNED(float, cells) : NULL;
    l->shelf_sums = tacet__size_mul(&cells, 2 * l->shelf_count, l->listed) ? TACET__ALIGNED(double, cells) : NULL;
    if (l->scratch == NULL || l->shelves == NULL || l->shelf_store == NULL || l->shelf_sums == NULL) {
        return false;
    }
    for (size_t s = 0; s < l->shelf_count; s++) {
        l->shelves[s].U = l->shelf_store + s * each;
        l->shelves[s].squares = l->shelf_sums + 2 * s * l->listed;
        l->shelves[s].ones = l->shelf_sums + (2 * s + 1) * l->listed;
    }
    return true;
}

bool tacet__averaging_allocate(tacet__averaging *l) {
    size_t cells = 0;
    l->x = tacet__size_mul(&cells, l->n, l->axes) ? TACET__ALIGNED(double, cells) : NULL;
    l->rows = TACET__ZALLOC(size_t, l->horizon);
    l->ends = TACET__ZALLOC(size_t, l->holders);
    l->noise_var = TACET__ZALLOC(double, l->holders);
    l->values = TACET__ZALLOC(double, 3 * l->horizon);
    l->listed = l->n < TACET__AVERAGING_LISTED ? l->n : TACET__AVERAGING_LISTED;
    l->score = TACET__ALIGNED(double, 3 * l->listed);
    l->work = TACET__ZALLOC(double, 2 * l->horizon);
    l->near = l->x;
    if (l->listed < l->n) {
        l->list = TACET__ZALLOC(size_t, l->listed);
        l->near = TACET__ALIGNED(double, l->listed * l->axes);
        l->means = TACET__ALIGNED(double, 2 * l->n);
    }
    if (l->x == NULL || l->rows == NULL || l->ends == NULL || l->noise_var == NULL || l->values == NULL ||
        l->score == NULL || l->work == NULL || l->near == NULL ||
        (l->listed < l->n && (l->list == NULL || l->means == NULL))) {
        return false;
    }
    l->y = l->values + l->horizon;
    l->shares = l->y + l->horizon;
    l->moment = l->score + l->listed;
    l->second = l->moment + l->listed;
    return allocate_draws(l) && allocate_shelves(l);
}

void tacet__averaging_clear(tacet__averaging *l) {
    if (l->near != l->x) {
        free(l->near);
    }
    free(l->list);
    free(l->means);
    free(l->x);
    free(l->draws);
    free(l->store);
    free(l->shelves);
    free(l->shelf_store);
    free(l->shelf_sums);
    free(l->scratch);
    free(l->rows);
    free(l->ends);
    free(l->noise_var);
    free(l->values);
    free(l->score);
    free(l->work);
}

size_t tacet__averaging_holder(const tacet__averaging *l, size_t row) {
    size_t h = 0;
    while (row >= l->ends[h]) {
        h++;
    }
    return h;
}

void tacet__averaging_forget(tacet__averaging *l) {
    for (size_t m = 0; m < l->draw_count; m++) {
        l->draws[m].have = 0;
        l->draws[m].log_det = 0;
        l->draws[m].out = false;
    }
    for (size_t s = 0; s < l->shelf_count; s++) {
        l->shelves[s] = (tacet__shelf){
            .draw = SIZE_MAX, .U = l->shelves[s].U, .squares = l->shelves[s].squares, .ones = l->shelves[s].ones};
    }
    for (size_t j = 0; j < l->horizon; j++) {
        l->shares[j] = 0;
    }
    l->checked = 0;
    l->rest = 0;
    l->refit_at = TACET__AVERAGING_REFIT;
    l->count = 0;
}
