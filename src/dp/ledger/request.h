/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - one request to the ledger, and the books it is done in. Ring: gate, internal. */
#pragma once

#include "dp/ledger/seal.h"
#include "dp/ledger/state.h"
#include "dp/ledger/store.h"

#include <tacet/dp/mint.h>

typedef enum tacet__ask {
    TACET__ASK_RESERVE,
    TACET__ASK_COMMIT,
    TACET__ASK_DISCLOSE,
    TACET__ASK_BIND,
    TACET__ASK_LOOKUP,
    TACET__ASK_TOTAL,
    TACET__ASK_TAKE
} tacet__ask;

typedef struct tacet__request {
    tacet__ask verb;
    const char *ticket;
    const tacet_charge *charge;
    const void *answer;
    size_t size;
    const unsigned char *receipt;
    tacet_entry *entry;        /* out; in for COMMIT */
    tacet_blob *memo;          /* out; NULL where there is none */
    tacet_blob *asked;         /* out: the entry itself, instead of its answer; mostly NULL */
    tacet_mint *mint;          /* in and out; NULL: not asked for */
    const unsigned char *data; /* BIND */
    uint64_t group_most;       /* 0: any number */
    tacet_ledger_totals *totals;
    tacet_status status;
    tacet_error error;
    bool done;
    struct tacet__request *next;
} tacet__request;

typedef struct tacet__books {
    tacet__store *store;
    tacet__state state;
    tacet__seal seal; /* opened before the first request that needs it, and read only after that */
    bool recalling;   /* what is asked for must be there */
} tacet__books;

/* Whether noise is drawn for the charge, by a key of its own. */
bool tacet__charge_draws(const tacet_charge *charge);
/* Does what r asks for, in the transaction that is open. The status is r's own, and its message is in r->error. */
TACET_MUST_CHECK tacet_status tacet__request_perform(tacet__books *books, tacet__request *r);
