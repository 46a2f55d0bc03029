/* SPDX-License-Identifier: Apache-2.0 */
/* begun.c - what a ledger knows of a release of a model that was begun before: of how many records.
 * Ring: trusted. Source: none; src/contextual/README.md, "A release that was interrupted". The number is a field of the
 * charge ("records" among its parameters). Ledgers of older versions have it in words only, or not at all: those are
 * still read. Cost: one entry read. */
#include "contextual/trusted/internal.h"

#include "core/fail.h"
#include "dp/open/parameters.h"

#include <stdio.h>
#include <string.h>

static void first_ticket(char out[TACET_TICKET_MOST + 1], const char *ticket, size_t which) {
    static const char *const FIRST[] = {"law", "scale", "stage 1", "table"};
    (void)snprintf(out, TACET_TICKET_MOST + 1, "%.150s/%s", ticket, FIRST[which]);
}

/* Whether the ledger has this ticket. */
static tacet_status entered(bool *there, const tacet_ask *ask, const char *ticket, tacet_error *err) {
    tacet_blob texts;
    tacet_charge charge;
    tacet_error why = {0};
    tacet_blob_init(&texts);
    const tacet_status status = tacet_ledger_charge(ask->ledger, &charge, &texts, ticket, &why);
    tacet_blob_clear(&texts);
    *there = status == TACET_OK;
    return status == TACET_OK || status == TACET_NOT_FOUND ? TACET_OK : tacet__fail(err, status, "%s", why.message);
}

/* 0: there is no such field. */
static size_t field_of(const tacet_charge *charge) {
    const double records = tacet__parameter_number(charge->parameters, "records");
    return records >= 1 && records <= 0x1p53 ? (size_t)records : 0;
}

/* Ledgers of before that field: the number at the end of "…, N records"; 0: there is none. */
static size_t words_of(const char *text) {
    static const char TAIL[] = " records";
    const size_t length = strlen(text);
    const size_t tail = sizeof TAIL - 1;
    if (length < tail || strcmp(text + length - tail, TAIL) != 0) {
        return 0;
    }
    size_t count = 0;
    size_t unit = 1;
    for (size_t i = length - tail;
         i-- > 0 && text[i] >= '0' && text[i] <= '9' && count <= TACET__CONTEXTUAL_RECORDS_MOST;) {
        count += (size_t)(text[i] - '0') * unit;
        unit *= 10;
    }
    return count;
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

tacet_status tacet__contextual_begun_as(unsigned *forms, const tacet_ask *ask, tacet_error *err) {
    char first[TACET_TICKET_MOST + 1];
    tacet_status status = TACET_OK;
    *forms = 0;
    for (size_t i = 0; i < TACET__CONTEXTUAL_FIRSTS && ask->ledger != NULL && ask->ticket != NULL && status == TACET_OK;
         i++) {
        bool there = false;
        first_ticket(first, ask->ticket, i);
        status = entered(&there, ask, first, err);
        *forms |= there ? 1U << i : 0U;
    }
    return status;
}

tacet_status tacet__contextual_other_form(tacet_error *err) {
    return tacet__fail(err, TACET_CONFLICT,
                       "the ledger has a release of another form under this ticket: ask with the same settings, or "
                       "name another ticket");
}

tacet_status tacet__contextual_begun_with(const tacet_ask *ask, const char *part, tacet_error *err) {
    char ticket[TACET_TICKET_MOST + 1];
    bool there = false;
    unsigned forms = 0;
    if (ask->ledger == NULL || ask->ticket == NULL) {
        return TACET_OK;
    }
    (void)snprintf(ticket, sizeof ticket, "%.150s/%.40s", ask->ticket, part);
    tacet_status status = entered(&there, ask, ticket, err);
    if (status != TACET_OK || there) {
        return status; /* gone on with: each part is compared with what was entered */
    }
    status = tacet__contextual_begun_as(&forms, ask, err);
    return status == TACET_OK && forms != 0 ? tacet__contextual_other_form(err) : status;
}

tacet_status tacet__contextual_begun_find(tacet__contextual_begun *out, const tacet_ask *ask, const char *ticket,
                                          tacet_error *err) {
    char stage[TACET_TICKET_MOST + 1];
    tacet_blob texts;
    tacet_charge charge;
    tacet_error none = {0};
    *out = (tacet__contextual_begun){.form = TACET__CONTEXTUAL_NOT_BEGUN};
    if (ask->ledger == NULL) {
        return TACET_OK;
    }
    tacet_blob_init(&texts);
    tacet_status status = TACET_NOT_FOUND;
    for (size_t i = 0; i < TACET__CONTEXTUAL_FIRSTS && status == TACET_NOT_FOUND; i++) {
        none = (tacet_error){0};
        first_ticket(stage, ticket, i);
        status = tacet_ledger_charge(ask->ledger, &charge, &texts, stage, &none);
    }
    if (status == TACET_OK) {
        out->records = field_of(&charge);
        if (out->records > 0) {
            out->form = TACET__CONTEXTUAL_BEGUN;
        } else if (ask->what != NULL && strcmp(charge.what, ask->what) == 0) {
            out->form = TACET__CONTEXTUAL_BEGUN_UNSAID;
        } else {
            out->form = TACET__CONTEXTUAL_BEGUN_WORDS;
            out->records = words_of(charge.what);
        }
    } else if (status == TACET_NOT_FOUND) {
        status = TACET_OK;
    }
    tacet_blob_clear(&texts);
    return status == TACET_OK ? TACET_OK : tacet__fail(err, status, "%s", none.message);
}
