/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_codec.c - any bytes as a saved state, with the hash put right so that the fields behind it are reached. */
#include "fuzz.h"

#include "core/codec.h"

static void read_fields(const unsigned char *bytes, size_t size) {
    tacet__reader r;
    if (tacet__read_begin(&r, bytes, size, "fuzz", 1, NULL) != TACET_OK) {
        return;
    }
    double reals[16];
    uint64_t words[16];
    const unsigned char *at = NULL;
    tacet__read_f64s(&r, reals, tacet__read_size(&r, 16));
    tacet__read_u64s(&r, words, tacet__read_size(&r, 16));
    const size_t length = tacet__read_bytes(&r, &at);
    must(length <= size && (length == 0 || (at >= bytes && at + length <= bytes + size)));
    must(tacet__read_end(&r, NULL) != TACET_OK || r.at == r.end);
}

/* Once as the fields behind a head that is right, and once as the head, too: short names, long lengths. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char HEAD[] = "TACET\0\1\0\4\0\0\0fuzz"; /* version 1, a name of four letters */
    read_fields(data, size);
    for (size_t length = sizeof HEAD - 1, k = 0; k < 2; k++, length = 0) {
        size_t whole = 0;
        unsigned char *bytes = fuzz_state(&whole, HEAD, length, data, size);
        read_fields(bytes, whole);
        free(bytes);
    }
    return 0;
}
