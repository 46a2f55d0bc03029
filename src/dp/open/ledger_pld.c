/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_pld.c - what the charges of a ledger amount to, by the numerical accountant.
 * Ring: shared. Proof: pld.md. Cost: a pass over the ledger, and a few convolutions for each different charge; some
 * seconds for each different scale of Euclidean noise. */
#include "core/fail.h"
#include "core/memory.h"
#include "dp/open/ledger_view.h"
#include "dp/open/parameters.h"
#include "dp/open/pld_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/open/l2.h>
#include <tacet/dp/open/law.h>

typedef struct item {
    tacet__loss loss;
    char *group, *part; /* owned; "" where there is none */
} item;

static const double FIT = 1e-9; /* of a ratio of two printed numbers */
static const double MOST = 500; /* eps that can be added up */

typedef struct items {
    item *list;
    size_t count, capacity;
} items;

/* Whether noise of this pure eps is what was charged, neither more nor less: a claim above it covers something besides
 * the noise, or a sensitivity of another kind. */
static bool fits(const tacet_charge *c, double pure) {
    double mu = 0;
    return pure < MOST && tacet_gdp_from_pure(&mu, pure, NULL) == TACET_OK &&
           (c->claim == TACET_CLAIM_PURE ? fabs(pure - c->eps) <= FIT * c->eps
                                         : c->claim == TACET_CLAIM_GAUSSIAN && mu == c->mu);
}

/* The noise behind a charge, where its parameters name it and fit what was claimed; otherwise the claim stays. Laplace
 * noise on any number of coordinates tells at most what it does on one (pld.md). */
static void read_noise(tacet__loss *loss, const tacet_charge *c) {
    const tacet_law *law = tacet_law_find(c->mechanism);
    const tacet_density density = law != NULL ? law->density : TACET_DENSITY_NONE;
    if (density != TACET_DENSITY_LAPLACE && density != TACET_DENSITY_EUCLIDEAN) {
        return;
    }
    const double count = tacet__parameter_number(c->parameters, "count");
    const double pure = nextafter(tacet__parameter_number(c->parameters, "sensitivity") /
                                      tacet__parameter_number(c->parameters, "scale"),
                                  INFINITY);
    if (!tacet__parameter_named(c->parameters, "levels") && count >= 1 && count <= TACET_L2_MAX_DIMS && fits(c, pure)) {
        *loss = (tacet__loss){.dims = density == TACET_DENSITY_LAPLACE ? 1 : (size_t)count, .eps = pure};
    }
}

static tacet_status collect(void *user, const tacet__ledger_row *row, tacet_error *err) {
    items *all = user;
    const tacet_charge *c = &row->record->reserve.charge;
    if (row->record->kind != TACET__RECORD_RESERVE || c->claim == TACET_CLAIM_UNCOVERED) {
        return TACET_OK;
    }
    item one = {.loss = {.eps = INFINITY}}; /* zCDP: no curve is known */
    void *array = all->list;
    if (c->claim == TACET_CLAIM_GAUSSIAN) {
        one.loss = (tacet__loss){.mu = c->mu};
    } else if (c->claim != TACET_CLAIM_ZCDP) {
        one.loss = (tacet__loss){.eps = c->eps, .delta = c->delta};
    }
    read_noise(&one.loss, c);
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

static int by_loss(const tacet__loss *x, const tacet__loss *y) {
    return x->dims != y->dims     ? (x->dims < y->dims ? -1 : 1)
           : x->mu != y->mu       ? (x->mu < y->mu ? -1 : 1)
           : x->eps != y->eps     ? (x->eps < y->eps ? -1 : 1)
           : x->delta != y->delta ? (x->delta < y->delta ? -1 : 1)
                                  : 0;
}

/* By group first: entries of no group stand before the others, equal ones side by side. */
static int order(const void *a, const void *b) {
    const item *x = a;
    const item *y = b;
    const int group = strcmp(x->group, y->group);
    return group != 0 ? group : by_loss(&x->loss, &y->loss);
}

static int order_parts(const void *a, const void *b) {
    return strcmp(((const item *)a)->part, ((const item *)b)->part);
}

/* How many entries the part with the most of them has. */
static uint64_t most_of_a_part(item *list, size_t count) {
    uint64_t most = 0;
    qsort(list, count, sizeof *list, order_parts);
    for (size_t i = 0, run = 0; i < count; i++) {
        run = i > 0 && order_parts(&list[i - 1], &list[i]) == 0 ? run + 1 : 1;
        most = run > most ? run : most;
    }
    return most;
}

/* What is beyond all that can be added up may tell everything. */
static void raise_curve(const tacet_pld *pld, double *delta, const tacet__loss *loss) {
    if (tacet__pld_raise(pld, delta, loss, NULL) != TACET_OK) {
        for (size_t i = 0; i < tacet__pld_points(pld); i++) {
            delta[i] = 1;
        }
    }
}

/* Entries of one group, or equal entries of none. A record is in one part, so that a group is as telling as so many
 * entries as a part has, each as telling as the most telling of all (pld.md). */
static tacet_status add_slice(tacet_pld *pld, double *delta, item *list, size_t count, tacet_error *err) {
    const bool grouped = list[0].group[0] != '\0';
    memset(delta, 0, tacet__pld_points(pld) * sizeof *delta);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_loss(&list[i - 1].loss, &list[i].loss) != 0) {
            raise_curve(pld, delta, &list[i].loss);
        }
    }
    return tacet__pld_add(pld, delta, grouped ? most_of_a_part(list, count) : count, err);
}

static tacet_status add_all(tacet_pld *pld, items *all, tacet_error *err) {
    double *delta = TACET__ZALLOC(double, tacet__pld_points(pld));
    tacet_status status =
        delta != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory adding up a ledger");
    if (all->count > 0) {
        qsort(all->list, all->count, sizeof *all->list, order);
    }
    for (size_t i = 0, end = 0; status == TACET_OK && i < all->count; i = end) {
        const item *first = &all->list[i];
        for (end = i + 1; end < all->count && strcmp(all->list[end].group, first->group) == 0 &&
                          (first->group[0] != '\0' || by_loss(&all->list[end].loss, &first->loss) == 0);) {
            end++;
        }
        status = add_slice(pld, delta, all->list + i, end - i, err);
    }
    free(delta);
    return status;
}

tacet_status tacet__ledger_numerical(tacet__ledger_view *view, double *eps, double delta, double most,
                                     tacet_error *err) {
    items all = {0};
    tacet_pld *pld = NULL;
    *eps = INFINITY;
    tacet_status status = tacet__ledger_each(view, collect, &all, err);
    status = status != TACET_OK ? status : tacet_pld_create(&pld, fmin(fmax(4 * most, 1), 500), 0, err);
    status = status != TACET_OK ? status : add_all(pld, &all, err);
    if (status == TACET_OK) {
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
