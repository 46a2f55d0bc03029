/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.c - tickets by keyed BLAKE2b: a MAC of the suggestion's number, and that number under a pad made of the MAC.
 * Ring: open. The number is that of an event, so that in the clear it would tell whoever holds two tickets how many
 * reports came between them. Synthetic nonce: two numbers never share a pad but where their MACs collide. */
#include "service/open/study/ticket.h"

#include <sodium.h>
#include <string.h>

enum { NUMBER_BYTES = 8, MAC_BYTES = 16 };
/* Keeps this use of the secret apart from any other. */
static const unsigned char PURPOSE[] = "tacet ticket 1";

static void mac(unsigned char out[MAC_BYTES], const unsigned char number[NUMBER_BYTES],
                const unsigned char secret[32]) {
    unsigned char text[sizeof PURPOSE + NUMBER_BYTES];
    memcpy(text, PURPOSE, sizeof PURPOSE);
    memcpy(text + sizeof PURPOSE, number, NUMBER_BYTES);
    (void)crypto_generichash(out, MAC_BYTES, text, sizeof text, secret, 32);
}

/* number becomes the pad's exclusive or with it: hides it, and shows it again. */
static void cover(unsigned char number[NUMBER_BYTES], const unsigned char tag[MAC_BYTES],
                  const unsigned char secret[32]) {
    static const unsigned char PAD_PURPOSE[] = "tacet ticket pad 1";
    unsigned char text[sizeof PAD_PURPOSE + MAC_BYTES];
    unsigned char pad[MAC_BYTES]; /* no shorter hash there is */
    memcpy(text, PAD_PURPOSE, sizeof PAD_PURPOSE);
    memcpy(text + sizeof PAD_PURPOSE, tag, MAC_BYTES);
    (void)crypto_generichash(pad, sizeof pad, text, sizeof text, secret, 32);
    for (int i = 0; i < NUMBER_BYTES; i++) {
        number[i] ^= pad[i];
    }
}

void tacet__ticket_make(char text[TACET__TICKET_TEXT], uint64_t seq, const unsigned char secret[32]) {
    unsigned char raw[NUMBER_BYTES + MAC_BYTES];
    for (int i = 0; i < NUMBER_BYTES; i++) {
        raw[i] = (unsigned char)(seq >> (8 * (NUMBER_BYTES - 1 - i)));
    }
    mac(raw + NUMBER_BYTES, raw, secret);
    cover(raw, raw + NUMBER_BYTES, secret);
    (void)sodium_bin2base64(text, TACET__TICKET_TEXT, raw, sizeof raw, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

bool tacet__ticket_read(uint64_t *seq, const char *text, const unsigned char secret[32]) {
    unsigned char raw[NUMBER_BYTES + MAC_BYTES];
    unsigned char expected[MAC_BYTES];
    size_t size = 0;
    if (strlen(text) != TACET__TICKET_TEXT - 1 ||
        sodium_base642bin(raw, sizeof raw, text, TACET__TICKET_TEXT - 1, NULL, &size, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        size != sizeof raw) {
        return false;
    }
    cover(raw, raw + NUMBER_BYTES, secret);
    mac(expected, raw, secret);
    if (sodium_memcmp(expected, raw + NUMBER_BYTES, MAC_BYTES) != 0) {
        return false;
    }
    *seq = 0;
    for (int i = 0; i < NUMBER_BYTES; i++) {
        *seq = *seq << 8 | raw[i];
    }
    return true;
}
