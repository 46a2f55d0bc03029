/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_report.c - one arm, one reward, one report among the directions of its round.
 * Ring: trusted; part of libtacet-device. In: a raw arm and reward. Out: a report of
 * include/tacet/local/shared/sphere.h. Source: Dubey (AISTATS 2021), Algorithm 3, with a bounded randomiser of pure eps
 * in place of Gaussian noise. Cost: the features, and K directions; wipes what it made of the record. */
#include <tacet/local/trusted/statistics_report.h>

#include "core/fail.h"
#include "core/memory.h"
#include "local/shared/card.h"
#include "local/trusted/device_internal.h"

#include <math.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>

/* What the server sent decides neither eps nor range. */
static bool agrees(const tacet_ldp *own, const tacet_ldp *asked) {
    return own->kind == TACET_LDP_SPHERE && own->eps == asked->eps && own->lo == asked->lo && own->hi == asked->hi &&
           own->cells == asked->cells;
}

tacet_status tacet__statistics_answer(const unsigned char *fresh, const tacet_statistics_card *card,
                                      const tacet_ldp *ldp, const tacet_device_store *store, tacet_device_answer *out,
                                      const char *ticket, uint64_t round, const double *x, double reward,
                                      tacet_error *err) {
    const size_t size = tacet__statistics_card_work(card), cells = card->sphere.ldp.cells;
    *out = (tacet_device_answer){.report = NAN};
    if (store->reserve == NULL || store->commit == NULL) { /* a reward that is no number: device.c */
        return tacet__fail(err, TACET_INVALID, "a device needs a place to remember its reports");
    }
    if (!agrees(ldp, &card->sphere.ldp)) {
        return tacet__fail(err, TACET_CONFLICT,
                           "the card asks for another eps or range than this device gives; nothing was drawn");
    }
    double *work = TACET__ZALLOC(double, size);
    uint32_t *order = TACET__ZALLOC(uint32_t, cells);
    tacet_status status =
        work == NULL || order == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a report") : TACET_OK;
    if (status == TACET_OK) {
        tacet__statistics_card_order(card, order, work, round, x, reward);
        status = tacet__device_answer_among(fresh, ldp, store, out, ticket, reward, order, err);
    }
    if (order != NULL) { /* freed in the opposite order: a page's memory is a stack */
        sodium_memzero(order, cells * sizeof(uint32_t));
    }
    free(order);
    if (work != NULL) {
        sodium_memzero(work, size * sizeof(double));
    }
    free(work);
    return status;
}

tacet_status tacet_statistics_report(const tacet_statistics_card *card, const tacet_ldp *ldp,
                                     const tacet_device_store *store, tacet_device_answer *out, const char *ticket,
                                     uint64_t round, const double *x, double reward, tacet_error *err) {
    return tacet__statistics_answer(NULL, card, ldp, store, out, ticket, round, x, reward, err);
}
