/* SPDX-License-Identifier: Apache-2.0 */
/* epochs.c - see epochs.h. Ring: trusted. Source: src/ab/README.md. Cost: four bytes a ticket; one entry of the ledger
 * read at the beginning of an epoch. */
#include "ab/trusted/epochs.h"

#include "core/fail.h"
#include "core/memory.h"
#include "dp/open/parameters.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST = 4 }; /* a last epoch has at least this part of the first, or is left out */

tacet_status tacet__ab_epochs_init(tacet__ab_epochs *e, size_t rounds, size_t first, size_t late, const tacet_ask *ask,
                                   tacet_error *err) {
    memset(e, 0, sizeof *e);
    if (rounds == 0 || rounds > TACET__AB_ROUNDS_MOST || late > rounds) {
        return tacet__fail(err, TACET_INVALID, "1 to %d rounds, and reports that are no later than all of them",
                           (int)TACET__AB_ROUNDS_MOST);
    }
    if (tacet_ask_check(ask, NULL) != TACET_OK || ask->group != NULL || ask->part != NULL || ask->ticket == NULL ||
        strlen(ask->ticket) > TACET__AB_TICKET) {
        return tacet__fail(err, TACET_INVALID,
                           "a release needs a ledger (or seeded noise), and a ticket of up to %d bytes, no group",
                           (int)TACET__AB_TICKET);
    }
    e->first = first;
    e->late = late + 1;
    e->ask = *ask;
    memcpy(e->ticket, ask->ticket, strlen(ask->ticket));
    e->ask.ticket = e->ticket;
    return tacet__tickets_init(&e->t, rounds, err);
}

void tacet__ab_epochs_clear(tacet__ab_epochs *e) {
    tacet__tickets_clear(&e->t);
    sodium_memzero(e, sizeof *e);
}

/* The ticket of an epoch's release in the ledger. */
static void name_part(const tacet__ab_epochs *e, char ticket[TACET_TICKET_MOST + 1], char part[64]) {
    (void)snprintf(part, 64, "epoch %zu", e->epoch);
    (void)snprintf(ticket, TACET_TICKET_MOST + 1, "%.130s/%.60s", e->ask.ticket, part);
}

/* Of how many tickets the ledger has a release of this epoch, which was begun before; 0: it has none. */
static tacet_status tickets_begun_with(size_t *tickets, const tacet__ab_epochs *e, tacet_error *err) {
    char ticket[TACET_TICKET_MOST + 1], part[64];
    tacet_blob texts;
    tacet_charge charge;
    tacet_error why = {0};
    *tickets = 0;
    if (e->ask.ledger == NULL) {
        return TACET_OK;
    }
    name_part(e, ticket, part);
    tacet_blob_init(&texts);
    tacet_status status = tacet_ledger_charge(e->ask.ledger, &charge, &texts, ticket, &why);
    if (status == TACET_OK) {
        const double records = tacet__parameter_number(charge.parameters, "records");
        *tickets = records >= 1 && records <= 0x1p53 ? (size_t)records : 0;
    } else if (status == TACET_NOT_FOUND) {
        status = TACET_OK;
    }
    tacet_blob_clear(&texts);
    return status == TACET_OK ? TACET_OK : tacet__fail(err, status, "%s", why.message);
}

tacet_status tacet__ab_epochs_plan(tacet__ab_epochs *e, size_t full, tacet_error *err) {
    const size_t most = full > e->late ? full : e->late; /* tickets waited for belong to the next epoch alone */
    const size_t left = e->t.horizon - e->begin;
    const size_t rest = left > e->late + 1 ? left - e->late - 1 : 0; /* all but the last round, and those waited for */
    size_t before = 0;
    e->size = rest < most && rest >= e->first / SHORTEST && rest >= e->late ? rest : most;
    const tacet_status status = tickets_begun_with(&before, e, err);
    e->size = before > 0 && before <= most ? before : e->size;
    return status;
}

bool tacet__ab_epochs_due(const tacet__ab_epochs *e) {
    return e->t.given == e->begin + e->size + e->late;
}

size_t tacet__ab_epochs_next_look(const tacet__ab_epochs *e) {
    const size_t at = e->begin + e->size + e->late + 1;
    return at <= e->t.horizon ? at - e->t.given : 0;
}

bool tacet__ab_epochs_open(const tacet__ab_epochs *e) {
    return e->t.given <= e->begin + e->size;
}

tacet__ab_when tacet__ab_epochs_report(tacet__ab_epochs *e, uint64_t ticket) {
    const size_t k = (size_t)ticket - 1;
    tacet__tickets_close(&e->t, ticket, true);
    return k >= e->begin + e->size                     ? TACET__AB_NEXT
           : k >= e->begin && !tacet__ab_epochs_due(e) ? TACET__AB_NOW
                                                       : TACET__AB_PAST;
}

tacet_status tacet__ab_epochs_release(const tacet__ab_epochs *e, tacet_release **out, const uint64_t *steps,
                                      tacet__tally_sums sums, const char *group, tacet_error *err) {
    char ticket[TACET_TICKET_MOST + 1], named[TACET_TICKET_MOST + 1], part[64];
    tacet_ask ask = e->ask;
    tacet_raw *raw = NULL;
    double *numbers = TACET__ZALLOC(double, sums.count);
    name_part(e, ticket, part);
    (void)snprintf(named, sizeof named, "%.20s %.150s", group, e->ask.ticket);
    ask.ticket = ticket;
    ask.group = named;
    ask.part = part;
    ask.records = e->size;
    *out = NULL;
    for (size_t i = 0; i < sums.count && numbers != NULL; i++) {
        numbers[i] = (double)steps[i] / (double)TACET_TALLY_ONE; /* exact: below 2^45 steps */
    }
    tacet_status status = numbers == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for sums")
                                          : tacet_raw_create(&raw, sums.count, err);
    TACET_THEN(status, tacet_raw_set(raw, numbers, sums.count, err));
    sums.raw = raw;
    sums.norm = (double)e->size; /* s, 1 - s and at most s (1 - s) / 4: a ticket's numbers have a norm of at most 1 */
    TACET_THEN(status, tacet__tally_release(out, &sums, &ask, err));
    tacet_raw_free(raw);
    if (numbers != NULL) {
        sodium_memzero(numbers, sums.count * sizeof *numbers);
    }
    free(numbers);
    return status;
}

void tacet__ab_epochs_guarantee(const tacet__ab_epochs *e, tacet_guarantee *out, double eps, const char *protects,
                                const char *statement) {
    const bool is_private = tacet_ask_is_private(&e->ask);
    *out = (tacet_guarantee){
        .trust = TACET_TRUST_CENTRAL,
        .proven = is_private,
        .eps = is_private ? eps : INFINITY,
        .delta = is_private ? 0 : 1,
        .protects = protects,
        .statement =
            is_private ? statement : "Not private: the noise comes from a seeded source, for tests and simulations.",
        .proof = "src/ab/README.md"};
}

void tacet__ab_epochs_next(tacet__ab_epochs *e) {
    tacet__tickets_forget(&e->t, e->begin, e->size);
    e->begin += e->size;
    e->epoch++;
}

void tacet__ab_epochs_state(tacet__ab_epochs *e, tacet__state *s, size_t epochs, size_t about, size_t *now,
                            size_t *next) {
    tacet__tickets_state(&e->t, s, about, true);
    tacet__state_size(s, "epoch", &e->epoch, epochs);
    tacet__state_size(s, "begin", &e->begin, e->t.given);
    tacet__state_size(s, "size", &e->size, SIZE_MAX / 4);
    const size_t open = e->t.given - e->begin;
    tacet__state_require(s, "size", open <= e->size + e->late);
    *now = open < e->size ? open : e->size;
    *next = open - *now;
}
