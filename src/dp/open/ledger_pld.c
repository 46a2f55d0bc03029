/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_pld.c - what the charges of a ledger amount to, by the numerical accountant.
 * Ring: shared. Proof: pld.md. Cost: a pass over the ledger, and a few convolutions for each different charge. */
#include "core/fail.h"
#include "core/memory.h"
#include "dp/open/ledger_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/pld.h>

typedef struct item {
    double eps, delta, mu; /* mu > 0: Gaussian; else (eps, delta) */
    char *group, *part;    /* owned; "" where there is none */
} item;

typedef struct items {
    item *list;
    size_t count, capacity;
    bool sayable; /* every claim is one that can be added up */
} items;

static tacet_status collect(void *user, const tacet__ledger_row *row, tacet_error *err) {
    items *all = user;
    const tacet_charge *c = &row->record->reserve.charge;
    if (row->record->kind != TACET__RECORD_RESERVE || c->claim == TACET_CLAIM_UNCOVERED) {
        return TACET_OK;
    }
    item one = {.eps = c->eps, .delta = c->delta, .mu = c->claim == TACET_CLAIM_GAUSSIAN ? c->mu : 0};
    void *array = all->list;
    all->sayable = all->sayable && c->claim != TACET_CLAIM_ZCDP;
    if (!tacet__grow(&array, &all->capacity, all->count + 1, sizeof *all->list)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory adding up a ledger");
    }
    all->list = array;
    one.group = strdup(c->group);
    one.part = strdup(c->part);
    all->list[all->count++] = one;
    return one.group != NULL && one.part != NULL
               ? TACET_OK
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory adding up a ledger");
}

static int by_cost(const item *x, const item *y) {
    return x->mu != y->mu         ? (x->mu < y->mu ? -1 : 1)
           : x->eps != y->eps     ? (x->eps < y->eps ? -1 : 1)
           : x->delta != y->delta ? (x->delta < y->delta ? -1 : 1)
                                  : 0;
}

/* By group first: entries of no group stand before the others, equal costs side by side. */
static int order(const void *a, const void *b) {
    const item *x = a;
    const item *y = b;
    const int group = strcmp(x->group, y->group);
    return group != 0 ? group : by_cost(x, y);
}

/* A group counts once where all of its parts have one entry each, of one cost; nothing else is said of groups here. */
static bool is_plain_group(const item *list, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (by_cost(&list[0], &list[i]) != 0) {
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(list[i].part, list[j].part) == 0) {
                return false;
            }
        }
    }
    return count <= 1000;
}

static tacet_status add(tacet_pld *pld, const item *one, uint64_t times, tacet_error *err) {
    return one->mu > 0 ? tacet_pld_gaussian(pld, one->mu, times, err)
                       : tacet_pld_approx(pld, one->eps, one->delta, times, err);
}

static tacet_status add_all(tacet_pld *pld, items *all, tacet_error *err) {
    tacet_status status = TACET_OK;
    if (all->count > 0) {
        qsort(all->list, all->count, sizeof *all->list, order);
    }
    for (size_t i = 0; status == TACET_OK && all->sayable && i < all->count;) {
        const bool grouped = all->list[i].group[0] != '\0';
        size_t end = i + 1;
        while (end < all->count && strcmp(all->list[end].group, all->list[i].group) == 0 &&
               (grouped || by_cost(&all->list[end], &all->list[i]) == 0)) {
            end++;
        }
        all->sayable = !grouped || is_plain_group(all->list + i, end - i);
        status = all->sayable ? add(pld, &all->list[i], grouped ? 1 : end - i, err) : TACET_OK;
        i = end;
    }
    return status;
}

tacet_status tacet__ledger_numerical(tacet__ledger_view *view, double *eps, double delta, double most,
                                     tacet_error *err) {
    items all = {.sayable = true};
    tacet_pld *pld = NULL;
    *eps = INFINITY;
    tacet_status status = tacet__ledger_each(view, collect, &all, err);
    status = status != TACET_OK ? status : tacet_pld_create(&pld, fmin(fmax(4 * most, 4), 500), 0, err);
    status = status != TACET_OK ? status : add_all(pld, &all, err);
    if (status == TACET_OK && all.sayable) {
        *eps = tacet_pld_eps(pld, delta);
    }
    tacet_pld_free(pld);
    for (size_t i = 0; i < all.count; i++) {
        free(all.list[i].group);
        free(all.list[i].part);
    }
    free(all.list);
    return status;
}
