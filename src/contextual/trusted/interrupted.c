/* SPDX-License-Identifier: Apache-2.0 */
/* interrupted.c - what a ledger knows of a release of a model that was begun before: of how many records.
 * Ring: trusted. Source: none; src/contextual/README.md, "A release that was interrupted". The number is a field of the
 * charge ("records" among its parameters). Cost: one entry read. */
#include "contextual/trusted/internal.h"

#include "core/fail.h"
#include "dp/open/parameters.h"

#include <stdio.h>
#include <string.h>

/* 0: there is no such field. */
static size_t field_of(const tacet_charge *charge) {
    const double records = tacet__parameter_number(charge->parameters, "records");
    return records >= 1 && records <= 0x1p53 ? (size_t)records : 0;
}

tacet_status tacet__contextual_begun_records(size_t *records, const tacet_ask *ask, const char *part,
                                             tacet_error *err) {
    char ticket[TACET_TICKET_MOST + 1];
    tacet_blob texts;
    tacet_charge charge;
    tacet_error why = {0};
    *records = 0;
    if (ask->ledger == NULL) {
        return TACET_OK;
    }
    (void)snprintf(ticket, sizeof ticket, "%.130s/%.60s", ask->ticket, part);
    tacet_blob_init(&texts);
    tacet_status status = tacet_ledger_charge(ask->ledger, &charge, &texts, ticket, &why);
    if (status == TACET_OK) {
        *records = field_of(&charge);
    } else if (status == TACET_NOT_FOUND) {
        status = TACET_OK;
    }
    tacet_blob_clear(&texts);
    return status == TACET_OK ? TACET_OK : tacet__fail(err, status, "%s", why.message);
}
