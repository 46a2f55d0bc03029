/* SPDX-License-Identifier: Apache-2.0 */
/* mint.h - from the key of a reservation to its noise, and to nothing else. Ring: gate. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/dp/mint.h>
#include <tacet/dp/noise.h>

/* Of the samplers: how key stream becomes noise. Raised by every change after which the same key gives other noise, so
 * that a release begun by one version is not finished by another. */
enum { TACET__SAMPLER_VERSION = 1 };

/* A fresh key; nothing is bound. IO: the operating system gives no entropy. */
tacet_status tacet__mint_fresh(tacet_mint *out, tacet_error *err);
void tacet__mint_clear(tacet_mint *mint); /* wipes */
/* The digest of these 32 bytes under the mint's key. */
void tacet__mint_digest(const tacet_mint *mint, unsigned char out[TACET_MINT_BYTES],
                        const unsigned char data[TACET_MINT_BYTES]);
/* H_key(name, bytes), at most 32 bytes; names are of one length, so that no two uses share an input. */
void tacet__mint_derive(unsigned char out[TACET_MINT_BYTES], const unsigned char key[TACET_MINT_BYTES],
                        const char name[8], const void *bytes, size_t size);
/* For data that are too large for one hash: a keyed hash of one block of them, by its number (Poly1305 under a key of
 * its own). Tags of all blocks, hashed, stand for the whole; to whoever lacks the key they tell nothing. */
enum { TACET__MINT_TAG = 16 };
void tacet__mint_tag(const tacet_mint *mint, unsigned char out[TACET__MINT_TAG], uint64_t number, const void *bytes,
                     size_t size);
bool tacet__mint_is_bound(const tacet_mint *mint);
/* Binds a mint that is not, and otherwise compares. CONFLICT: it is bound to other data or settings. */
tacet_status tacet__mint_bind(tacet_mint *mint, const unsigned char data[TACET_MINT_BYTES], tacet_error *err);
/* The key of all noise of a bound mint: of its key and its digest. */
void tacet__mint_noise(const tacet_mint *mint, unsigned char out[TACET_MINT_BYTES]);

/* A private source, at the beginning of `place` in `part` of the release whose noise has this key. The caller's memory;
 * wiped by tacet__noise_clear. `words`: how many of the key stream are made at first, above 0; more follow as they are
 * needed. Same key, place and words, same noise; another place, independent noise. */
void tacet__noise_at(tacet_noise *noise, const unsigned char key[TACET_MINT_BYTES], uint64_t part, uint64_t place,
                     size_t words);
void tacet__noise_clear(tacet_noise *noise);
