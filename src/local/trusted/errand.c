/* SPDX-License-Identifier: Apache-2.0 */
/* errand.c - one ticket of a device, from the reward to the server's acknowledgement.
 * Ring: trusted. The order is what counts: agree, reserve, draw, send; a crash between any two is repaired by the same
 * errand. Messages never hold the reward. Cost: one sync of the ledger and three requests. */

#include "core/fail.h"

#include <math.h>
#include "local/trusted/device_internal.h"
#include <tacet/local/trusted/statistics_report.h>

/* An existing ledger keeps its budget; a new one needs one. */
static tacet_status open_ledger(tacet_ledger **out, const tacet_device_errand *e, tacet_error *err) {
    tacet_ledger_settings settings;
    tacet_ledger_settings_defaults(&settings);
    settings.accounting = TACET_ACCOUNTING_BASIC;
    settings.delta = 0;
    if (isnan(e->budget)) {
        settings.use_stored = true;
        settings.create = false;
    } else {
        settings.eps = e->budget;
    }
    return tacet_device_ledger_open(out, e->ledger, &settings, err);
}

/* The point that was played and its reward, by the card and the round that the server tells. */
static tacet_status report_point(tacet_device_service *server, const tacet_device_errand *e,
                                 const tacet_device_store *store, tacet_device_answer *out, double reward,
                                 tacet_error *err) {
    tacet_statistics_card *card = NULL;
    uint64_t round = 0;
    if (server == NULL) {
        return tacet__fail(err, TACET_INVALID, "a point is reported by the study's public model: a server is needed");
    }
    tacet_status status = tacet_device_service_card(server, &card, err);
    if (status == TACET_OK && e->point_count != tacet_statistics_card_dim(card)) {
        status =
            tacet__fail(err, TACET_INVALID, "--point needs %zu numbers with commas", tacet_statistics_card_dim(card));
    }
    TACET_THEN(status, tacet_device_service_round(server, &round, e->ticket, err));
    TACET_THEN(status, tacet_statistics_report(card, e->ldp, store, out, e->ticket, round, e->point, reward, err));
    tacet_statistics_card_free(card);
    return status;
}

tacet_status tacet_device_run(const tacet_device_errand *e, tacet_device_answer *out, bool *drawn, double reward,
                              tacet_error *err) {
    tacet_ledger *ledger = NULL;
    tacet_device *device = NULL;
    tacet_device_service *server = NULL;
    tacet_device_ledger memory;
    tacet_device_store store;
    tacet_status status = TACET_OK;
    *out = (tacet_device_answer){0};
    *drawn = false;
    if (e->address.server != NULL) {
        status = tacet_device_service_open(&server, &e->address, err);
        TACET_THEN(status, tacet_device_service_agree(server, e->ldp, err));
    }
    TACET_THEN(status, open_ledger(&ledger, e, err));
    if (status == TACET_OK) {
        tacet_device_ledger_init(&memory, &store, ledger, e->to_whom);
        status = tacet_device_open(&device, e->ldp, &store, err);
    }
    TACET_THEN(status, e->point != NULL ? report_point(server, e, &store, out, reward, err)
                                        : tacet_device_report(device, out, e->ticket, reward, err));
    *drawn = status == TACET_OK;
    if (*drawn && server != NULL) {
        status = tacet_device_service_observe(server, e->ticket, out->report, err);
    }
    tacet_device_service_close(server);
    tacet_device_close(device);
    tacet_ledger_close(ledger);
    return status;
}
