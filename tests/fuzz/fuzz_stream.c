/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_stream.c - any bytes as the saved state of a stream, with the hash put right; what is accepted must go on. */
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/stream.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(const tacet_bound *bound, const unsigned char *bytes, size_t size) {
    const tacet_ask ask = {.ticket = "t"};
    tacet_stream *stream = NULL;
    const tacet_status s = tacet_stream_load(&stream, bound, &ask, bytes, size, NULL);
    if ((s == TACET_OK) != (stream != NULL)) {
        abort();
    }
    if (stream == NULL) {
        return;
    }
    tacet_bounded *x = NULL;
    double values[2];
    if (tacet_bounded_create(&x, bound, NULL) == TACET_OK) {
        const tacet_status before = tacet_stream_read(stream, values, NULL, NULL);
        if (before != TACET_OK && before != TACET_STATE) {
            abort();
        }
        if (tacet_stream_step(stream, x, NULL) == TACET_OK &&
            tacet_stream_read(stream, values, NULL, NULL) == TACET_OK) {
            abort(); /* not saved: nothing may leave */
        }
    }
    tacet_bounded_free(x);
    tacet_stream_close(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tacet_bound *bound;
    if (bound == NULL && tacet_bound_norm(&bound, 2, 1, NULL) != TACET_OK) {
        return 0;
    }
    load(bound, data, size);
    /* "TACET", version 2, name "stream", the input, a good hash */
    static const unsigned char head[] = {'T', 'A', 'C', 'E', 'T', 0, 2, 0, 6, 0, 0, 0, 's', 't', 'r', 'e', 'a', 'm'};
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
    load(bound, whole, body + 32);
    free(whole);
    return 0;
}
