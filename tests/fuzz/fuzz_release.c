/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_release.c - any bytes as a release, with the hash put right so that the fields behind it are reached; what is
 * accepted must encode to the same bytes again. */
#include "fuzz.h"

#include <tacet/dp/open/release.h>

static void decode(const unsigned char *bytes, size_t size) {
    tacet_release *release = NULL;
    const tacet_status s = tacet_release_decode(&release, bytes, size, NULL);
    must((s == TACET_OK) == (release != NULL));
    if (release != NULL) {
        tacet_blob again;
        tacet_blob_init(&again);
        must(tacet_release_encode(release, &again, NULL) != TACET_OK ||
             (again.size == size && memcmp(again.data, bytes, size) == 0));
        tacet_blob_clear(&again);
        tacet_release_free(release);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char HEAD[] = "TACET\0\1\0\7\0\0\0release"; /* version 1, a name of seven letters */
    size_t whole = 0;
    unsigned char *bytes = fuzz_state(&whole, HEAD, sizeof HEAD - 1, data, size);
    decode(data, size);
    decode(bytes, whole);
    free(bytes);
    return 0;
}
