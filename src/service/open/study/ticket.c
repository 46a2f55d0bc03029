/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.c - tickets and grants by keyed BLAKE2b. Ring: open. Cost: one hash or two.
 * A ticket is the MAC of a suggestion's number, and that number under a pad made of the MAC: in the clear it would tell
 * whoever holds two tickets how many reports came between them. Synthetic nonce: two numbers never share a pad but
 * where their MACs collide. */
#include "service/open/study/ticket.h"

#include <sodium.h>
#include <string.h>

enum { NUMBER_BYTES = 8, ID_BYTES = 16, MAC_BYTES = 16, SIGNED_BYTES = NUMBER_BYTES + ID_BYTES };
enum { BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING };

void tacet__purpose_hash(unsigned char *out, size_t size, const char *purpose, const void *bytes, size_t length,
                         const unsigned char secret[32]) {
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, secret, 32, size);
    (void)crypto_generichash_update(&state, (const unsigned char *)purpose, strlen(purpose) + 1);
    (void)crypto_generichash_update(&state, bytes, length);
    (void)crypto_generichash_final(&state, out, size);
}

static void put_number(unsigned char out[NUMBER_BYTES], uint64_t number) {
    for (int i = 0; i < NUMBER_BYTES; i++) {
        out[i] = (unsigned char)(number >> (8 * (NUMBER_BYTES - 1 - i)));
    }
}

static uint64_t get_number(const unsigned char bytes[NUMBER_BYTES]) {
    uint64_t number = 0;
    for (int i = 0; i < NUMBER_BYTES; i++) {
        number = number << 8 | bytes[i];
    }
    return number;
}

/* Exactly `size` bytes of a text of exactly `length` characters. */
static bool read_bytes(unsigned char *raw, size_t size, const char *text, size_t length) {
    size_t got = 0;
    return strlen(text) == length && sodium_base642bin(raw, size, text, length, NULL, &got, NULL, BASE64) == 0 &&
           got == size;
}

/* number becomes the pad's exclusive or with it: hides it, and shows it again. */
static void cover(unsigned char number[NUMBER_BYTES], const unsigned char tag[MAC_BYTES],
                  const unsigned char secret[32]) {
    unsigned char pad[MAC_BYTES]; /* no shorter hash there is */
    tacet__purpose_hash(pad, sizeof pad, "tacet ticket pad 1", tag, MAC_BYTES, secret);
    for (int i = 0; i < NUMBER_BYTES; i++) {
        number[i] ^= pad[i];
    }
}

void tacet__ticket_make(char text[TACET__TICKET_TEXT], uint64_t seq, const unsigned char secret[32]) {
    unsigned char raw[NUMBER_BYTES + MAC_BYTES];
    put_number(raw, seq);
    tacet__purpose_hash(raw + NUMBER_BYTES, MAC_BYTES, "tacet ticket 1", raw, NUMBER_BYTES, secret);
    cover(raw, raw + NUMBER_BYTES, secret);
    (void)sodium_bin2base64(text, TACET__TICKET_TEXT, raw, sizeof raw, BASE64);
}

bool tacet__ticket_read(uint64_t *seq, const char *text, const unsigned char secret[32]) {
    unsigned char raw[NUMBER_BYTES + MAC_BYTES], expected[MAC_BYTES];
    if (!read_bytes(raw, sizeof raw, text, TACET__TICKET_TEXT - 1)) {
        return false;
    }
    cover(raw, raw + NUMBER_BYTES, secret);
    tacet__purpose_hash(expected, MAC_BYTES, "tacet ticket 1", raw, NUMBER_BYTES, secret);
    if (sodium_memcmp(expected, raw + NUMBER_BYTES, MAC_BYTES) != 0) {
        return false;
    }
    *seq = get_number(raw);
    return true;
}

void tacet__grant_make(char text[TACET__GRANT_TEXT], uint64_t expires, const unsigned char secret[32],
                       const char *login, const unsigned char lasting[32]) {
    unsigned char raw[SIGNED_BYTES + MAC_BYTES];
    put_number(raw, expires);
    if (login != NULL) {
        tacet__purpose_hash(raw + NUMBER_BYTES, ID_BYTES, "tacet login 1", login, strlen(login), lasting);
    } else {
        randombytes_buf(raw + NUMBER_BYTES, ID_BYTES);
    }
    tacet__purpose_hash(raw + SIGNED_BYTES, MAC_BYTES, "tacet grant 1", raw, SIGNED_BYTES, secret);
    (void)sodium_bin2base64(text, TACET__GRANT_TEXT, raw, sizeof raw, BASE64);
}

bool tacet__grant_read(char id[TACET__GRANT_ID], uint64_t *expires, const char *text, const unsigned char secret[32]) {
    unsigned char raw[SIGNED_BYTES + MAC_BYTES], expected[MAC_BYTES];
    id[0] = '\0';
    *expires = 0;
    if (!read_bytes(raw, sizeof raw, text, TACET__GRANT_TEXT - 1)) {
        return false;
    }
    tacet__purpose_hash(expected, MAC_BYTES, "tacet grant 1", raw, SIGNED_BYTES, secret);
    if (sodium_memcmp(expected, raw + SIGNED_BYTES, MAC_BYTES) != 0) {
        return false;
    }
    *expires = get_number(raw);
    (void)sodium_bin2base64(id, TACET__GRANT_ID, raw + NUMBER_BYTES, ID_BYTES, BASE64);
    return true;
}
