/* SPDX-License-Identifier: Apache-2.0 */
/* mint.c - keys, digests and places: BLAKE2b as a pseudorandom function, each use under a name of its own.
 * Ring: gate. Source: none; proof: dp/ledger/README.md, section 2. Cost: one hash of a block a call. */
#include "dp/noise/mint.h"

#include "core/fail.h"
#include "dp/noise/noise_state.h"

#include <endian.h>
#include <sodium.h>
#include <string.h>

static const unsigned char ZERO[TACET_MINT_BYTES];

void tacet__mint_derive(unsigned char out[TACET_MINT_BYTES], const unsigned char key[TACET_MINT_BYTES],
                        const char name[8], const void *bytes, size_t size) {
    unsigned char input[8 + TACET_MINT_BYTES];
    memcpy(input, name, 8); /* of one length: no name with its bytes is another name with others */
    memcpy(input + 8, bytes, size);
    (void)crypto_generichash(out, TACET_MINT_BYTES, input, 8 + size, key, TACET_MINT_BYTES);
    sodium_memzero(input, sizeof input);
}

tacet_status tacet__mint_fresh(tacet_mint *out, tacet_error *err) {
    memset(out, 0, sizeof *out);
    if (sodium_init() < 0) {
        return tacet__fail(err, TACET_IO, "the operating system gives no entropy");
    }
    randombytes_buf(out->key, sizeof out->key);
    return TACET_OK;
}

void tacet__mint_clear(tacet_mint *mint) {
    sodium_memzero(mint, sizeof *mint);
}

void tacet__mint_digest(const tacet_mint *mint, unsigned char out[TACET_MINT_BYTES],
                        const unsigned char data[TACET_MINT_BYTES]) {
    tacet__mint_derive(out, mint->key, "digest 1", data, TACET_MINT_BYTES);
}

bool tacet__mint_is_bound(const tacet_mint *mint) {
    return sodium_memcmp(mint->digest, ZERO, sizeof ZERO) != 0;
}

tacet_status tacet__mint_bind(tacet_mint *mint, const unsigned char data[TACET_MINT_BYTES], tacet_error *err) {
    unsigned char digest[TACET_MINT_BYTES];
    tacet__mint_digest(mint, digest, data);
    if (!tacet__mint_is_bound(mint)) {
        memcpy(mint->digest, digest, sizeof digest);
    }
    return sodium_memcmp(mint->digest, digest, sizeof digest) == 0
               ? TACET_OK
               : tacet__fail(err, TACET_CONFLICT,
                             "this ticket was begun with other data or settings, and is answered with those or not at "
                             "all");
}

void tacet__mint_noise(const tacet_mint *mint, unsigned char out[TACET_MINT_BYTES]) {
    tacet__mint_derive(out, mint->key, "noise  1", mint->digest, sizeof mint->digest);
}

void tacet__noise_at(tacet_noise *noise, const unsigned char key[TACET_MINT_BYTES], uint64_t part, uint64_t place,
                     size_t words) {
    /* A key for each place: rows may be drawn in any order, by anybody who has the key, and are the same. */
    const uint64_t numbers[2] = {htole64(part), htole64(place)};
    noise->source = TACET__NOISE_MINTED;
    noise->next = NOISE_WORDS;
    noise->fill = words < NOISE_WORDS ? words : NOISE_WORDS;
    noise->generation = atomic_load_explicit(&tacet__fork_generation, memory_order_relaxed);
    noise->pid = 0;
    noise->exhausted = false;
    tacet__mint_derive(noise->key, key, "place  1", numbers, sizeof numbers);
}

void tacet__noise_clear(tacet_noise *noise) {
    sodium_memzero(noise, sizeof *noise);
}
