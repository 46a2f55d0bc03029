/* SPDX-License-Identifier: Apache-2.0 */
/* mint_tag.c - keyed hashes of the blocks of a table.
 * Ring: gate. Source: Poly1305 (Bernstein 2005) as an almost universal hash: under a secret key of its own two
 * different blocks of 64 KiB get one tag with probability below 2^-90. Cost: three bytes a nanosecond, and a hash of a
 * block. */
#include "dp/noise/mint.h"

#include <endian.h>
#include <sodium.h>

void tacet__mint_tag(const tacet_mint *mint, unsigned char out[TACET__MINT_TAG], uint64_t number, const void *bytes,
                     size_t size) {
    unsigned char key[TACET_MINT_BYTES];
    const uint64_t place = htole64(number);
    tacet__mint_derive(key, mint->key, "block  1", &place, sizeof place);
    (void)crypto_onetimeauth(out, bytes, size, key);
    sodium_memzero(key, sizeof key);
}
