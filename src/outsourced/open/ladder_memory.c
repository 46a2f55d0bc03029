/* SPDX-License-Identifier: Apache-2.0 */
/* ladder_memory.c - the memory of the ladder modeler: rungs, shelves and the arrays over rows and values.
 * Ring: open. Cost: about 24 n horizon bytes, 512 MiB of shelves at most; nothing is allocated after it. */
#include "outsourced/open/ladder_state.h"

#include "core/memory.h"

#include <stdint.h>
#include <stdlib.h>

enum { SHELVES = 10, SHELF_BYTES = 1 << 29 /* all of them together */ };

/* Fewer rungs where there are many values to fit, whose likelihood then tells most of them apart anyway. */
static size_t rungs_for(size_t horizon) {
    return horizon <= 256 ? TACET__LADDER_RUNGS : horizon <= 512 ? 128 : horizon <= 1024 ? 64 : 32;
}

static bool allocate_rungs(tacet__ladder *l) {
    size_t each = l->horizon * (l->horizon + 1) / 2 + 2 * l->horizon + l->d;
    size_t all = 0;
    l->rung_count = rungs_for(l->horizon);
    l->rungs = TACET__ZALLOC(tacet__rung, l->rung_count);
    l->store = tacet__size_mul(&all, each, l->rung_count) ? TACET__ALIGNED(double, all) : NULL;
    if (l->rungs == NULL || l->store == NULL) {
        return false;
    }
    for (size_t m = 0; m < l->rung_count; m++) {
        double *at = l->store + m * each;
        l->rungs[m].inverse = at;
        l->rungs[m].ones = at + l->d;
        l->rungs[m].solved = at + l->d + l->horizon;
        l->rungs[m].L = at + l->d + 2 * l->horizon;
    }
    return true;
}

/* As many shelves as fit; none is all right. */
static bool allocate_shelves(tacet__ladder *l) {
    const size_t padded = (l->n + TACET__LADDER_BLOCK - 1) / TACET__LADDER_BLOCK * TACET__LADDER_BLOCK;
    size_t each = 0;
    size_t cells = 0;
    if (!tacet__size_mul(&each, padded, l->horizon)) {
        return false;
    }
    l->shelf_count = SHELF_BYTES / sizeof(float) / each;
    l->shelf_count = l->shelf_count > SHELVES ? SHELVES : l->shelf_count;
    l->scratch = TACET__ALIGNED(float, TACET__LADDER_BLOCK * l->horizon);
    l->shelves = TACET__ZALLOC(tacet__shelf, l->shelf_count);
    l->shelf_store = tacet__size_mul(&cells, each, l->shelf_count) ? TACET__ALIGNED(float, cells) : NULL;
    l->shelf_sums = tacet__size_mul(&cells, 2 * l->shelf_count, l->n) ? TACET__ALIGNED(double, cells) : NULL;
    if (l->scratch == NULL || l->shelves == NULL || l->shelf_store == NULL || l->shelf_sums == NULL) {
        return false;
    }
    for (size_t s = 0; s < l->shelf_count; s++) {
        l->shelves[s].U = l->shelf_store + s * each;
        l->shelves[s].squares = l->shelf_sums + 2 * s * l->n;
        l->shelves[s].ones = l->shelf_sums + (2 * s + 1) * l->n;
    }
    return true;
}

bool tacet__ladder_allocate(tacet__ladder *l) {
    size_t cells = 0;
    l->x = tacet__size_mul(&cells, l->n, l->d) ? TACET__ALIGNED(double, cells) : NULL;
    l->rows = TACET__ZALLOC(size_t, l->horizon);
    l->values = TACET__ZALLOC(double, 2 * l->horizon);
    l->score = tacet__size_mul(&cells, l->n, 3) ? TACET__ALIGNED(double, cells) : NULL;
    l->work = TACET__ZALLOC(double, l->horizon);
    if (l->x == NULL || l->rows == NULL || l->values == NULL || l->score == NULL || l->work == NULL) {
        return false;
    }
    l->y = l->values + l->horizon;
    l->moment = l->score + l->n;
    l->second = l->moment + l->n;
    return allocate_rungs(l) && allocate_shelves(l);
}

void tacet__ladder_clear(tacet__ladder *l) {
    free(l->x);
    free(l->rungs);
    free(l->store);
    free(l->shelves);
    free(l->shelf_store);
    free(l->shelf_sums);
    free(l->scratch);
    free(l->rows);
    free(l->values);
    free(l->score);
    free(l->work);
}

void tacet__ladder_forget(tacet__ladder *l) {
    for (size_t m = 0; m < l->rung_count; m++) {
        l->rungs[m].have = 0;
        l->rungs[m].log_det = 0;
    }
    for (size_t s = 0; s < l->shelf_count; s++) {
        l->shelves[s] = (tacet__shelf){
            .rung = SIZE_MAX, .U = l->shelves[s].U, .squares = l->shelves[s].squares, .ones = l->shelves[s].ones};
    }
    l->noise_share = 0;
    l->refit_at = TACET__LADDER_REFIT;
    l->count = 0;
}
