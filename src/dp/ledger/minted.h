/* SPDX-License-Identifier: Apache-2.0 */
/* minted.h - reservations with the key of their noise. Ring: gate; and of the trusted ring those who draw for
 * themselves (the desk, the device's memory). */
#pragma once

#include <tacet/dp/ledger.h>
#include <tacet/dp/mint.h>

/* As tacet_ledger_reserve, for a charge that draws. A new reservation is stored with *mint (NULL: with a fresh one); of
 * an old one that is not answered *mint becomes what was stored with it. CONFLICT also: its key is gone or sealed under
 * another key file, or it was begun by another version of the samplers; it is spent, and is never answered. group_most:
 * how many entries the charge's group may have, this one included; 0: any number. BUDGET: it has them. */
TACET_MUST_CHECK tacet_status tacet__ledger_reserve(tacet_ledger *ledger, tacet_entry *entry, tacet_blob *memo,
                                                    tacet_mint *mint, const char *ticket, const tacet_charge *charge,
                                                    uint64_t group_most, tacet_error *err);
/* The mint of a reservation that is not answered yet. NOT_FOUND: there is no such ticket, or it was answered. CONFLICT
 * as above. */
TACET_MUST_CHECK tacet_status tacet__ledger_peek(tacet_ledger *ledger, tacet_mint *mint, const char *ticket,
                                                 tacet_error *err);
/* The mint of an entry, bound to these data: durably, before anything is drawn. CONFLICT: it was bound to others; it
 * was answered; or as above. */
TACET_MUST_CHECK tacet_status tacet__ledger_bind(tacet_ledger *ledger, const tacet_entry *entry, tacet_mint *mint,
                                                 const unsigned char data[TACET_MINT_BYTES], tacet_error *err);
/* While the log of a study is replayed: all that it rests on was answered before. A ticket that the ledger does not
 * have is then refused as CORRUPT, and nothing is entered or drawn: the ledger was put back, or is another one. */
void tacet__ledger_recall(tacet_ledger *ledger, bool recalling);
