/* SPDX-License-Identifier: Apache-2.0 */
/* grant.c - grants by keyed BLAKE2b. Ring: open. Cost: one hash. */
#include "service/open/study/grant.h"

#include <sodium.h>
#include <string.h>

enum { TIME_BYTES = 8, ID_BYTES = 16, MAC_BYTES = 16, RAW_BYTES = TIME_BYTES + ID_BYTES + MAC_BYTES };

static void mac(unsigned char out[MAC_BYTES], const unsigned char signedbytes[TIME_BYTES + ID_BYTES],
                const unsigned char secret[32]) {
    static const unsigned char PURPOSE[] = "tacet grant 1"; /* keeps this use of the secret apart from any other */
    unsigned char text[sizeof PURPOSE + TIME_BYTES + ID_BYTES];
    memcpy(text, PURPOSE, sizeof PURPOSE);
    memcpy(text + sizeof PURPOSE, signedbytes, TIME_BYTES + ID_BYTES);
    (void)crypto_generichash(out, MAC_BYTES, text, sizeof text, secret, 32);
}

static void login_id(unsigned char out[ID_BYTES], const char *login, const unsigned char lasting[32]) {
    static const unsigned char PURPOSE[] = "tacet login 1";
    crypto_generichash_state hash;
    (void)crypto_generichash_init(&hash, lasting, 32, ID_BYTES);
    (void)crypto_generichash_update(&hash, PURPOSE, sizeof PURPOSE);
    (void)crypto_generichash_update(&hash, (const unsigned char *)login, strlen(login));
    (void)crypto_generichash_final(&hash, out, ID_BYTES);
}

void tacet__grant_make(char text[TACET__GRANT_TEXT], uint64_t expires, const unsigned char secret[32],
                       const char *login, const unsigned char lasting[32]) {
    unsigned char raw[RAW_BYTES];
    for (int i = 0; i < TIME_BYTES; i++) {
        raw[i] = (unsigned char)(expires >> (8 * (TIME_BYTES - 1 - i)));
    }
    if (login != NULL) {
        login_id(raw + TIME_BYTES, login, lasting);
    } else {
        randombytes_buf(raw + TIME_BYTES, ID_BYTES);
    }
    mac(raw + TIME_BYTES + ID_BYTES, raw, secret);
    (void)sodium_bin2base64(text, TACET__GRANT_TEXT, raw, sizeof raw, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

bool tacet__grant_read(char id[TACET__GRANT_ID], uint64_t *expires, const char *text, const unsigned char secret[32]) {
    unsigned char raw[RAW_BYTES], expected[MAC_BYTES];
    size_t size = 0;
    id[0] = '\0';
    *expires = 0;
    if (strlen(text) != TACET__GRANT_TEXT - 1 ||
        sodium_base642bin(raw, sizeof raw, text, TACET__GRANT_TEXT - 1, NULL, &size, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        size != sizeof raw) {
        return false;
    }
    mac(expected, raw, secret);
    if (sodium_memcmp(expected, raw + TIME_BYTES + ID_BYTES, MAC_BYTES) != 0) {
        return false;
    }
    for (int i = 0; i < TIME_BYTES; i++) {
        *expires = *expires << 8 | raw[i];
    }
    (void)sodium_bin2base64(id, TACET__GRANT_ID, raw + TIME_BYTES, ID_BYTES, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return true;
}
