/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_codec.c - any bytes as a saved state, with the hash put right so that the fields behind it are reached. */
#include "core/codec.h"

#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_fields(const unsigned char *bytes, size_t size) {
    tacet__reader r;
    if (tacet__read_begin(&r, bytes, size, "fuzz", 1, NULL) != TACET_OK) {
        return;
    }
    double reals[16];
    uint64_t words[16];
    const unsigned char *at = NULL;
    const size_t count = tacet__read_size(&r, 16);
    tacet__read_f64s(&r, reals, count);
    tacet__read_u64s(&r, words, tacet__read_size(&r, 16));
    const size_t length = tacet__read_bytes(&r, &at);
    if (length > size || (length > 0 && (at < bytes || at + length > bytes + size))) {
        abort();
    }
    if (tacet__read_end(&r, NULL) == TACET_OK && r.at != r.end) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_fields(data, size);
    /* "TACET", version 1, name "fuzz", the input, a good hash */
    static const unsigned char head[] = {'T', 'A', 'C', 'E', 'T', 0, 1, 0, 4, 0, 0, 0, 'f', 'u', 'z', 'z'};
    const size_t body = sizeof head + size;
    unsigned char *whole = malloc(body + 32);
    if (whole == NULL) {
        return 0;
    }
    memcpy(whole, head, sizeof head);
    if (size > 0) {
        memcpy(whole + sizeof head, data, size);
    }
    (void)crypto_generichash(whole + body, 32, whole, body, NULL, 0);
    read_fields(whole, body + 32);
    /* … and with the input as the head, too: short names, long lengths */
    if (size > 0) {
        memcpy(whole, data, size);
        (void)crypto_generichash(whole + size, 32, whole, size, NULL, 0);
        read_fields(whole, size + 32);
    }
    free(whole);
    return 0;
}
