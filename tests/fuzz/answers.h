/* SPDX-License-Identifier: Apache-2.0 */
/* answers.h - the wire of a client as a fuzzer plays it: what the other side answers is the fuzzer's bytes. To be
 * included before the source that asks, which then asks here. The first byte of an input chooses the status. */
#pragma once

#include "fuzz.h"

#include "io/http/client.h"

static struct {
    long status;
    char *body; /* from malloc */
    size_t size;
    unsigned asked;
} answers;

static void answers_set(const uint8_t *data, size_t size) {
    static const long STATUSES[] = {200, 200, 200, 201, 202, 400, 403, 409, 429, 502, 503, 999};
    const size_t kinds = sizeof STATUSES / sizeof STATUSES[0], head = size > 0;
    answers.status = STATUSES[head ? data[0] % kinds : 0];
    answers.size = size - head;
    answers.body = fuzz_text(data + head, answers.size);
    answers.asked = 0;
}

static tacet_status fuzzed_request(tacet__client *client, tacet__answer *out, const char *method, const char *path,
                                   const char *body, tacet_error *err) {
    (void)client, (void)method, (void)path, (void)body, (void)err;
    /* One that is asked again and again gives up in the end. */
    *out = (tacet__answer){
        .status = answers.asked++ < 3 ? answers.status : 400, .body = answers.body, .size = answers.size};
    return TACET_OK;
}

static inline tacet_status fuzzed_download(tacet__client *client, tacet__answer *out, const char *path, FILE *file,
                                           tacet_error *err) {
    const tacet_status status = fuzzed_request(client, out, "GET", path, NULL, err);
    return out->status == 200 && fwrite(answers.body, 1, answers.size, file) != answers.size ? TACET_IO : status;
}

#define tacet__client_request fuzzed_request
#define tacet__client_download fuzzed_download
