/* SPDX-License-Identifier: Apache-2.0 */
/* device_ledger.c - a device's reports, remembered and charged in a ledger.
 * Ring: trusted. The stored answer is the report's eight bytes, little-endian. The charge holds what was asked (range,
 * eps, mechanism), never the reward nor whether it was clipped. Cost: two durable writes a report. */
#include <tacet/local/trusted/service.h>

#include "core/fail.h"
#include "dp/ledger/minted.h"
#include "registry/registry.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

static tacet_status reserve(void *user, const char *ticket, const tacet_ldp *ldp, tacet_mint *mint, bool *answered,
                            double *report, tacet_error *err) {
    tacet_device_ledger *self = user;
    char parameters[160];
    tacet_charge charge;
    tacet_blob memo;
    (void)snprintf(parameters, sizeof parameters, "{\"lo\":%.17g,\"hi\":%.17g,\"eps\":%.17g}", ldp->lo, ldp->hi,
                   ldp->eps);
    tacet_charge_init(&charge);
    tacet_charge_pure(&charge, ldp->eps);
    const bool vector = ldp->kind == TACET_LDP_SPHERE;
    charge.what = vector ? "report of one action and its reward" : "report of one reward";
    charge.to_whom = self->to_whom;
    charge.mechanism = tacet_ldp_name(ldp->kind);
    charge.parameters = parameters;
    charge.covered_fields = vector ? "decision set,action,reward" : "reward";
    charge.uncovered_fields = "ticket";
    charge.covered_records = vector ? "whatever was offered, played and earned under this ticket"
                                    : "the reward of this ticket, anywhere in the range";
    tacet_blob_init(&memo);
    tacet_status status = tacet__ledger_reserve(self->ledger, &self->entry, &memo, mint, ticket, &charge, 0, err);
    *answered = status == TACET_OK && self->entry.answered;
    if (*answered) {
        uint64_t bits = 0;
        if (memo.size == sizeof bits) {
            memcpy(&bits, memo.data, sizeof bits);
            bits = le64toh(bits);
            memcpy(report, &bits, sizeof bits);
        } else {
            *answered = false;
            status = tacet__fail(err, TACET_CORRUPT, "the ledger's answer for this ticket is no report");
        }
    }
    tacet_blob_clear(&memo);
    return status;
}

static tacet_status commit(void *user, const char *ticket, double report, tacet_error *err) {
    tacet_device_ledger *self = user;
    uint64_t bits = 0;
    (void)ticket; /* the entry is the ticket's */
    memcpy(&bits, &report, sizeof bits);
    bits = htole64(bits);
    return tacet_ledger_commit(self->ledger, &self->entry, &bits, sizeof bits, NULL, err);
}

tacet_status tacet_device_ledger_open(tacet_ledger **out, const char *path, const tacet_ledger_settings *settings,
                                      tacet_error *err) {
    return tacet__registry_reopen(out, path, settings, err);
}

void tacet_device_ledger_init(tacet_device_ledger *self, tacet_device_store *store, tacet_ledger *ledger,
                              const char *to_whom) {
    *self = (tacet_device_ledger){.ledger = ledger, .to_whom = to_whom};
    *store = (tacet_device_store){.reserve = reserve, .commit = commit, .user = self};
}
