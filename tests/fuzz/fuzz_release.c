/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_release.c - any bytes as a release, with the hash put right so that the fields behind it are reached; what is
 * accepted must encode to the same bytes again. */
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/release.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(const unsigned char *bytes, size_t size) {
    tacet_release *release = NULL;
    const tacet_status s = tacet_release_decode(&release, bytes, size, NULL);
    if ((s == TACET_OK) != (release != NULL)) {
        abort();
    }
    if (release == NULL) {
        return;
    }
    tacet_blob again;
    tacet_blob_init(&again);
    if (tacet_release_encode(release, &again, NULL) == TACET_OK &&
        (again.size != size || memcmp(again.data, bytes, size) != 0)) {
        abort();
    }
    tacet_blob_clear(&again);
    tacet_release_free(release);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    decode(data, size);
    /* "TACET", version 1, name "release", the input, a good hash */
    static const unsigned char head[] = {'T', 'A', 'C', 'E', 'T', 0,   1,   0,   7,  0,
                                         0,   0,   'r', 'e', 'l', 'e', 'a', 's', 'e'};
    const size_t body = sizeof head + size;
    unsigned char *whole = malloc(body + 32);
    if (whole == NULL) {
        return 0;
    }
    memcpy(whole, head, sizeof head);
    if (size > 0) {
        memcpy(whole + sizeof head, data, size);
    }
    crypto_generichash(whole + body, 32, whole, body, NULL, 0);
    decode(whole, body + 32);
    free(whole);
    return 0;
}
