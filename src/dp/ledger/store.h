/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - the ledger's file: schema, reading on from where one was, appending. Ring: gate, internal.
 * One thread at a time. */
#pragma once

#include <tacet/core/blob.h>
#include <tacet/dp/ledger.h>

#include "dp/open/entry.h"
#include "dp/ledger/seal.h"
#include "dp/ledger/state.h"

typedef struct tacet__store tacet__store;

/* Opens the file, after creating it whole, with its budget, where there is none. The state is read in full. */
tacet_status tacet__store_open(tacet__store **out, tacet__state *state, const char *path,
                               const tacet_ledger_settings *settings, double cap, tacet_error *err);
void tacet__store_close(tacet__store *store); /* NULL is allowed */

/* A transaction. After begin the state knows all records there are. On any failure after begin: abandon. */
tacet_status tacet__store_begin(tacet__store *store, tacet__state *state, bool write, tacet_error *err);
/* Takes the ledger over from every other handle that did, in the transaction that was announced by `taking` before its
 * begin: their next begin to write is BUSY. */
void tacet__store_taking(tacet__store *store);
tacet_status tacet__store_take(tacet__store *store, tacet_error *err);
/* Encodes, chains, inserts and applies a record; seq and time are set here. hash may be NULL. */
tacet_status tacet__store_append(tacet__store *store, tacet__state *state, tacet__record *record, unsigned char *hash,
                                 tacet_error *err);
tacet_status tacet__store_put_answer(tacet__store *store, uint64_t seq, const void *answer, size_t size,
                                     tacet_error *err);
/* The mint of an entry that is not answered: its key, sealed, and what it is bound to (zeros: nothing yet). */
typedef struct tacet__sealed {
    bool found;
    unsigned char bytes[TACET__SEALED_BYTES];
    unsigned char digest[TACET_MINT_BYTES];
    int64_t sampler; /* version */
} tacet__sealed;
tacet_status tacet__store_put_mint(tacet__store *store, uint64_t seq, const unsigned char *sealed, size_t size,
                                   const unsigned char digest[TACET_MINT_BYTES], tacet_error *err);
tacet_status tacet__store_read_mint(tacet__store *store, tacet__sealed *out, uint64_t seq, tacet_error *err);
tacet_status tacet__store_bind_mint(tacet__store *store, uint64_t seq, const unsigned char digest[TACET_MINT_BYTES],
                                    tacet_error *err);
tacet_status tacet__store_drop_mint(tacet__store *store, uint64_t seq, tacet_error *err);
/* Outside of transactions: takes keys that were dropped out of the file's log. Waits for nobody. */
void tacet__store_forget(tacet__store *store);
/* OK: durable, and the anchor follows. Otherwise rolled back and abandoned. */
tacet_status tacet__store_commit(tacet__store *store, tacet__state *state, tacet_error *err);
/* Rolls back. When records were appended the state is forgotten, and read again by the next begin. */
void tacet__store_abandon(tacet__store *store, tacet__state *state);

/* Reads a record and checks it against its hash and that of the one before. Its texts live until the next read. */
tacet_status tacet__store_read(tacet__store *store, tacet__record *record, unsigned char hash[TACET_HASH_BYTES],
                               uint64_t seq, tacet_error *err);
/* The bytes of an answer, checked against its record; replaces the content of *out. */
tacet_status tacet__store_read_answer(tacet__store *store, tacet_blob *out, const tacet__record *commit,
                                      tacet_error *err);
