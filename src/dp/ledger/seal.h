/* SPDX-License-Identifier: Apache-2.0 */
/* seal.h - the key file: what the keys of open reservations are sealed under. Ring: gate, internal.
 * A ledger may be read, copied and backed up by others than the trusted program: folders link to it, a database keeps
 * logs and standbys, and neither forgets on command. So the key of a reservation never lies there in the clear. */
#pragma once

#include "io/file/folder.h"

#include <tacet/dp/ledger.h>
#include <tacet/dp/mint.h>

enum { TACET__SEAL_KEY = 32, TACET__SEALED_BYTES = 24 + 16 + TACET_MINT_BYTES + TACET_HASH_BYTES };

typedef struct tacet__seal {
    char path[TACET__PATH];
    unsigned char key[TACET__SEAL_KEY];
    bool open;
} tacet__seal;

/* Where it is: the one named; else that of $TACET_KEY_FILE; else beside the ledger's file, LEDGER.key, links followed;
 * else, for a shared store, ledger.key in the state folder ($TACET_STATE, $XDG_STATE_HOME/tacet, ~/.local/state/tacet).
 * INVALID: too long, or there is no such folder to name. */
tacet_status tacet__seal_find(tacet__seal *seal, const char *ledger, const char *named, tacet_error *err);
/* Reads the key, after making the file where there is none (mode 0600, durable). Nothing when that was done before.
 * DENIED: no permission, or others may read it. CORRUPT: no key file. IO. */
tacet_status tacet__seal_open(tacet__seal *seal, tacet_error *err);
void tacet__seal_clear(tacet__seal *seal); /* wipes */

/* A key for another purpose, of the key file that this ledger's reservations are sealed under; `name` says which. All
 * who draw for the ledger from the same key file have the same. Errors as above. */
tacet_status tacet__seal_derive(unsigned char out[TACET__SEAL_KEY], const char *ledger, const char name[8],
                                tacet_error *err);

/* The mint's key, for the entry with this hash and no other. */
void tacet__seal_close_key(const tacet__seal *seal, unsigned char out[TACET__SEALED_BYTES],
                           const unsigned char key[TACET_MINT_BYTES], const unsigned char entry[TACET_HASH_BYTES]);
/* False: sealed under another key file, for another entry, or damaged. */
bool tacet__seal_open_key(const tacet__seal *seal, unsigned char out[TACET_MINT_BYTES], const unsigned char *sealed,
                          size_t size, const unsigned char entry[TACET_HASH_BYTES]);
