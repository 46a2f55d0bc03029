/* SPDX-License-Identifier: Apache-2.0 */
/* levels.c - levels beside the numbers of a row: exact k-ary randomised response.
 * Ring: gate. In: raw indices of levels, clipped here to what there is. Out: indices. Proof:
 * src/dp/mechanisms/levels.md. Source: Warner 1965; Kairouz, Bonawitz, Ramage 2016. Cost: at most min(k, e^eps) draws a
 * level on average. */
#include "dp/mechanisms/table.h"

#include "core/fail.h"
#include "core/memory.h"
#include "dp/bound_internal.h"
#include "dp/noise/sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t LEVELS_MOST = (size_t)1 << 32;
static const tacet_bound NOTHING = {.kind = TACET__BOUND_BOX}; /* a box of no numbers */

/* Levels alone. Not in the table: it is made by tacet_mechanism_response and by nothing else. */
static void charge_response(const tacet_mechanism *m, tacet_charge *charge) {
    tacet_charge_pure(charge, m->eps);
}
static const tacet_law RESPONSE_LAW = {
    .name = "response", .words = "levels by randomised response", .density = TACET_DENSITY_NONE, .pure = true};
static const tacet__kind RESPONSE = {
    .law = &RESPONSE_LAW, .proof = "dp/mechanisms/levels.md", .charge = charge_response};

tacet_status tacet_mechanism_add_levels(tacet_mechanism *m, const size_t *levels, size_t count, tacet_error *err) {
    const bool noisy = m->kind->noise != NULL && !m->kind->by_l1;
    if (m->kind != &RESPONSE && !(noisy && m->neighbours.relation == TACET_RELATION_MOVE)) {
        return tacet__fail(err, TACET_INVALID, "levels stand beside Euclidean noise, between records that move");
    }
    if (m->level_count > 0 || count == 0 || !(m->eps > 0 && m->eps <= TACET__LEVEL_EPS_MOST)) {
        return tacet__fail(err, TACET_INVALID, "levels are added once, and need an eps above 0 and at most %d",
                           TACET__LEVEL_EPS_MOST);
    }
    for (size_t i = 0; i < count; i++) {
        if (!(levels[i] >= 2 && levels[i] <= LEVELS_MOST)) {
            return tacet__fail(err, TACET_INVALID, "column %zu of levels needs at least 2 of them", i + 1);
        }
    }
    m->levels = TACET__ZALLOC(size_t, count);
    if (m->levels == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns of levels", count);
    }
    memcpy(m->levels, levels, count * sizeof *levels);
    m->level_count = count;
    return TACET_OK;
}

tacet_status tacet_mechanism_response(tacet_mechanism **out, const size_t *levels, size_t count, double eps,
                                      tacet_error *err) {
    *out = NULL;
    tacet_mechanism *m = TACET__ZALLOC(tacet_mechanism, 1);
    if (m == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a mechanism");
    }
    m->kind = &RESPONSE;
    m->bound = &NOTHING;
    m->neighbours = (tacet_neighbours){TACET_RELATION_MOVE, 1};
    m->eps = eps;
    const tacet_status status = tacet_mechanism_add_levels(m, levels, count, err);
    if (status != TACET_OK) {
        tacet_mechanism_free(m);
        return status;
    }
    *out = m;
    return TACET_OK;
}

/* A total function: what is no index of a level becomes the nearest one, NaN the first. */
static size_t index_of(double raw, size_t levels) {
    if (!(raw > 0)) {
        return 0;
    }
    return raw < (double)levels ? (size_t)raw : levels - 1;
}

tacet_status tacet__mechanism_draw_levels(const tacet_mechanism *m, tacet_noise *noise, double *out, const double *raw,
                                          size_t rows, tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t r = 0; r < rows && status == TACET_OK; r++) {
        for (size_t i = 0; i < m->level_count && status == TACET_OK; i++, out++, raw++) {
            size_t drawn = 0;
            status = tacet__draw_level(noise, &drawn, index_of(*raw, m->levels[i]), m->levels[i], m->eps, err);
            *out = (double)drawn;
        }
    }
    return status;
}

void tacet__mechanism_charge_levels(const tacet_mechanism *m, tacet_charge *charge, char *parameters, size_t size) {
    if (m->level_count == 0) {
        return;
    }
    if (charge->claim != TACET_CLAIM_PURE) {
        /* A neighbour moves, or changes one level: the dearer of the two, in every currency. */
        tacet_charge response;
        tacet_charge_init(&response);
        tacet_charge_pure(&response, m->eps);
        charge->mu = fmax(charge->mu, response.mu);
        charge->rho = fmax(charge->rho, response.rho);
        charge->eps = fmax(charge->eps, response.eps);
    }
    size_t at = strlen(parameters) - 1; /* in the place of the closing brace */
    at += (size_t)snprintf(parameters + at, size - at, ",\"levels\":[");
    for (size_t i = 0; i < m->level_count && at < size; i++) {
        at += (size_t)snprintf(parameters + at, size - at, "%s%zu", i > 0 ? "," : "", m->levels[i]);
    }
    if (at < size) {
        (void)snprintf(parameters + at, size - at, "]}");
    }
}
