/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what the targets share. A target is one function of the bytes; whatever they are, what it says must hold
 * holds. Copies are of the input's own size, so that a sanitizer sees one byte read too many. */
#pragma once

#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/blob.h>
#include <tacet/core/status.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool holds) {
    if (!holds) {
        abort();
    }
}

/* What was refused says why, and leaves nothing behind. */
static inline int fuzz_refused(const void *left, const tacet_error *err) {
    must(left == NULL && err->message[0] != '\0');
    return 0;
}

/* From malloc, ended by a NUL. */
static inline char *fuzz_text(const uint8_t *data, size_t size) {
    char *copy = malloc(size + 1);
    must(copy != NULL);
    memcpy(copy, size > 0 ? (const void *)data : "", size);
    copy[size] = '\0';
    return copy;
}

enum { FUZZ_HASH = 32 }; /* at the end of a saved state (core/codec.h) */

static inline void fuzz_seal(unsigned char *bytes, size_t size) {
    (void)crypto_generichash(bytes + size - FUZZ_HASH, FUZZ_HASH, bytes, size - FUZZ_HASH, NULL, 0);
}

/* A copy of a good state with the changes that the input lists, two bytes of offset and one of value each; its hash is
 * put right, or the fields behind it would never be reached. From malloc. */
static inline unsigned char *fuzz_changed(const tacet_blob *good, const uint8_t *data, size_t size) {
    unsigned char *bytes = (unsigned char *)fuzz_text(good->data, good->size);
    for (size_t i = 0; i + 2 < size; i += 3) {
        bytes[(data[i] + 256U * data[i + 1]) % (good->size - FUZZ_HASH)] = data[i + 2];
    }
    fuzz_seal(bytes, good->size);
    return bytes;
}

/* The input as the fields of a state: head, input, a good hash. *whole is its size. From malloc. */
static inline unsigned char *fuzz_state(size_t *whole, const void *head, size_t length, const uint8_t *data,
                                        size_t size) {
    unsigned char *bytes = malloc(length + size + FUZZ_HASH);
    must(bytes != NULL);
    memcpy(bytes, head, length);
    memcpy(bytes + length, size > 0 ? (const void *)data : "", size);
    *whole = length + size + FUZZ_HASH;
    fuzz_seal(bytes, *whole);
    return bytes;
}

static char
    fuzz_place[128]; /* of the one file in a folder that goes when the program ends; in memory where it can be */

static inline void fuzz_remove(void) {
    (void)unlink(fuzz_place);
    *strrchr(fuzz_place, '/') = '\0';
    (void)rmdir(fuzz_place);
}

static inline void fuzz_folder(char folder[64], const char *file) {
    (void)snprintf(folder, 64, "%s/tacet-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    must(mkdtemp(folder) != NULL);
    (void)snprintf(fuzz_place, sizeof fuzz_place, "%s/%s", folder, file);
    (void)atexit(fuzz_remove);
}

/* A request: first line "METHOD PATH?QUERY", then the body. */
typedef struct fuzz_request {
    char line[256];
    const char *path, *query; /* query NULL: none */
    char *body;               /* from malloc */
    size_t size;
} fuzz_request;

/* false, and nothing to free: no request below /v1, or one that waits longer than the fuzzer should. */
static inline bool fuzz_read_request(fuzz_request *r, const uint8_t *data, size_t size) {
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    const size_t head = end != NULL ? (size_t)(end - data) : size;
    *r = (fuzz_request){.size = end != NULL ? size - head - 1 : 0};
    memcpy(r->line, data, head < sizeof r->line - 1 ? head : sizeof r->line - 1);
    char *path = strchr(r->line, ' '), *asked = path != NULL ? strchr(path, '?') : NULL;
    const char *wait = asked != NULL ? strstr(asked, "wait=") : NULL;
    if (path == NULL || strncmp(path, " /v1", 4) != 0 || (wait != NULL && strtod(wait + 5, NULL) > 0.01)) {
        return false;
    }
    *path = '\0';
    r->path = path + 1;
    if (asked != NULL) {
        *asked = '\0';
        r->query = asked + 1;
    }
    r->body = fuzz_text(end != NULL ? end + 1 : data, r->size);
    return true;
}

/* Whether a status is one of those that a table of routes may answer; the list ends with 0. */
static inline bool fuzz_known(unsigned status, const unsigned *known) {
    while (*known != 0 && *known != status) {
        known++;
    }
    return *known != 0;
}
