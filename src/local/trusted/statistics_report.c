/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_report.c - one arm, one reward, one report among the directions of its round.
 * Ring: trusted. In: a raw arm and reward. Out: a report of include/tacet/local/shared/sphere.h. Source: Dubey (AISTATS
 * 2021), Algorithm 3, with a bounded randomiser of pure eps in place of Gaussian noise. Cost: the features, and K
 * directions; wipes what it made of the record. */
#include <tacet/local/trusted/statistics_report.h>

#include "core/fail.h"
#include "core/memory.h"
#include "local/trusted/device_internal.h"

#include <math.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>

static void order_of(const tacet_statistics_model *model, uint32_t *order, double *work, uint64_t round,
                     const double *x, double reward) {
    const tacet_sphere *sphere = tacet_statistics_model_sphere(model);
    double *record = work + 2 * (sphere->dim + 1) + sphere->ldp.cells;
    tacet_central_map_record(tacet_statistics_model_map(model), record, record + sphere->dim, x,
                             tacet_statistics_model_minimize(model) ? -reward : reward);
    tacet_sphere_order(sphere, order, work, round, record);
}

/* What the server sent decides neither eps nor range. */
static bool agrees(const tacet_ldp *own, const tacet_ldp *asked) {
    return own->kind == TACET_LDP_SPHERE && own->eps == asked->eps && own->lo == asked->lo && own->hi == asked->hi &&
           own->cells == asked->cells;
}

tacet_status tacet_statistics_report(const tacet_statistics_model *model, const tacet_ldp *ldp,
                                     const tacet_device_store *store, tacet_device_answer *out, const char *ticket,
                                     uint64_t round, const double *x, double reward, tacet_error *err) {
    const tacet_sphere *sphere = tacet_statistics_model_sphere(model);
    const tacet_central_map *map = tacet_statistics_model_map(model);
    const size_t size = 2 * (sphere->dim + 1) + sphere->ldp.cells + sphere->dim +
                        tacet_features_dim(tacet_central_map_features(map)) + tacet_statistics_model_dim(model);
    *out = (tacet_device_answer){.report = NAN};
    if (store->reserve == NULL || store->commit == NULL || isnan(reward)) {
        return tacet__fail(err, TACET_INVALID,
                           isnan(reward) ? "the reward is not a number"
                                         : "a device needs a place to remember its reports");
    }
    if (!agrees(ldp, &sphere->ldp)) {
        return tacet__fail(err, TACET_CONFLICT,
                           "the model asks for eps %.17g and rewards in %.17g:%.17g, not for what this "
                           "device gives; nothing was drawn",
                           sphere->ldp.eps, sphere->ldp.lo, sphere->ldp.hi);
    }
    double *work = TACET__ZALLOC(double, size);
    uint32_t *order = TACET__ZALLOC(uint32_t, sphere->ldp.cells);
    tacet_status status =
        work == NULL || order == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a report") : TACET_OK;
    if (status == TACET_OK) {
        order_of(model, order, work, round, x, reward);
        status = tacet__device_report_among(ldp, store, out, ticket, reward, order, err);
    }
    if (work != NULL) {
        sodium_memzero(work, size * sizeof(double));
    }
    if (order != NULL) {
        sodium_memzero(order, sphere->ldp.cells * sizeof(uint32_t));
    }
    free(work);
    free(order);
    return status;
}
