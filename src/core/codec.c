/* SPDX-License-Identifier: Apache-2.0 */
/* codec.c - saved states as bytes: see codec.h for the layout.
 * Ring: pure. Cost: one pass; the hash is BLAKE2b (libsodium), which guards against damage, not against forgery. */
#include "core/codec.h"

#include "core/fail.h"
#include "core/memory.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_BYTES = 32 };
static const unsigned char MAGIC[6] = {'T', 'A', 'C', 'E', 'T', 0};

void tacet_blob_init(tacet_blob *blob) {
    blob->data = NULL;
    blob->size = 0;
    blob->capacity = 0;
}

void tacet_blob_clear(tacet_blob *blob) {
    if (blob == NULL) {
        return;
    }
    if (blob->data != NULL) {
        sodium_memzero(blob->data, blob->capacity);
        free(blob->data);
    }
    tacet_blob_init(blob);
}

tacet_status tacet_blob_append(tacet_blob *blob, const void *bytes, size_t count, tacet_error *err) {
    size_t need = 0;
    if (!tacet__size_add(&need, blob->size, count)) {
        return tacet__fail(err, TACET_OVERFLOW, "blob too large");
    }
    if (need > blob->capacity) {
        /* Not realloc: the old copy may hold secrets and must be wiped. */
        size_t capacity = blob->capacity < 64 ? 64 : blob->capacity;
        while (capacity < need) {
            if (!tacet__size_mul(&capacity, capacity, 2)) {
                return tacet__fail(err, TACET_OVERFLOW, "blob too large");
            }
        }
        unsigned char *data = malloc(capacity);
        if (data == NULL) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory saving state");
        }
        if (blob->data != NULL) {
            memcpy(data, blob->data, blob->size);
            sodium_memzero(blob->data, blob->capacity);
            free(blob->data);
        }
        blob->data = data;
        blob->capacity = capacity;
    }
    if (count > 0) {
        memcpy(blob->data + blob->size, bytes, count);
    }
    blob->size = need;
    return TACET_OK;
}

static void put(tacet__writer *w, const void *bytes, size_t count) {
    if (!w->failed && tacet_blob_append(w->blob, bytes, count, NULL) != TACET_OK) {
        w->failed = true;
    }
}

static void put_le(tacet__writer *w, uint64_t value, size_t bytes) {
    unsigned char raw[8];
    for (size_t i = 0; i < bytes; i++) {
        raw[i] = (unsigned char)(value >> (8 * i));
    }
    put(w, raw, bytes);
}

void tacet__write_begin(tacet__writer *w, tacet_blob *blob, const char *name, uint16_t version) {
    w->blob = blob;
    w->failed = false;
    put(w, MAGIC, sizeof MAGIC);
    put_le(w, version, 2);
    const size_t length = strlen(name);
    put_le(w, length, 4);
    put(w, name, length);
}

void tacet__write_u64(tacet__writer *w, uint64_t value) {
    put_le(w, value, 8);
}

void tacet__write_size(tacet__writer *w, size_t value) {
    put_le(w, value, 8);
}

void tacet__write_f64(tacet__writer *w, double value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    put_le(w, bits, 8);
}

void tacet__write_f64s(tacet__writer *w, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        tacet__write_f64(w, values[i]);
    }
}

void tacet__write_u64s(tacet__writer *w, const uint64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        put_le(w, values[i], 8);
    }
}

void tacet__write_u32s(tacet__writer *w, const uint32_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        put_le(w, values[i], 4);
    }
}

void tacet__write_bytes(tacet__writer *w, const void *bytes, size_t count) {
    put_le(w, count, 8);
    put(w, bytes, count);
}

tacet_status tacet__write_end(tacet__writer *w, tacet_error *err) {
    unsigned char hash[HASH_BYTES];
    if (!w->failed) {
        (void)crypto_generichash(hash, sizeof hash, w->blob->data, w->blob->size, NULL, 0);
        put(w, hash, sizeof hash);
    }
    if (w->failed) {
        tacet_blob_clear(w->blob);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory saving state");
    }
    return TACET_OK;
}

static const unsigned char *take(tacet__reader *r, size_t count) {
    if (r->failed || (size_t)(r->end - r->at) < count) {
        r->failed = true;
        return NULL;
    }
    const unsigned char *at = r->at;
    r->at += count;
    return at;
}

static uint64_t take_le(tacet__reader *r, size_t bytes) {
    const unsigned char *raw = take(r, bytes);
    uint64_t value = 0;
    for (size_t i = 0; raw != NULL && i < bytes; i++) {
        value |= (uint64_t)raw[i] << (8 * i);
    }
    return value;
}

tacet_status tacet__read_begin(tacet__reader *r, const void *bytes, size_t length, const char *name, uint16_t version,
                               tacet_error *err) {
    r->at = bytes;
    r->end = r->at;
    r->failed = true; /* until everything below holds */
    if (bytes == NULL || length < sizeof MAGIC + 2 + 4 + HASH_BYTES || memcmp(bytes, MAGIC, sizeof MAGIC) != 0) {
        return tacet__fail(err, TACET_CORRUPT, "not a saved state");
    }
    const size_t body = length - HASH_BYTES;
    unsigned char hash[HASH_BYTES];
    (void)crypto_generichash(hash, sizeof hash, bytes, body, NULL, 0);
    if (memcmp(hash, r->at + body, HASH_BYTES) != 0) {
        return tacet__fail(err, TACET_CORRUPT, "saved state is damaged: its hash does not match");
    }
    r->end = r->at + body;
    r->at += sizeof MAGIC;
    r->failed = false;
    const uint64_t found = take_le(r, 2);
    const size_t name_length = (size_t)take_le(r, 4);
    const unsigned char *found_name = take(r, name_length);
    if (r->failed || name_length != strlen(name) || memcmp(found_name, name, name_length) != 0) {
        r->failed = true;
        return tacet__fail(err, TACET_CORRUPT, "saved state is of another kind, not %s", name);
    }
    if (found != version) {
        r->failed = true;
        return tacet__fail(err, TACET_CORRUPT, "saved state of %s has version %u, expected %u", name, (unsigned)found,
                           (unsigned)version);
    }
    return TACET_OK;
}

uint64_t tacet__read_u64(tacet__reader *r) {
    return take_le(r, 8);
}

size_t tacet__read_size(tacet__reader *r, size_t most) {
    const uint64_t value = take_le(r, 8);
    if (value > most) {
        r->failed = true;
        return 0;
    }
    return (size_t)value;
}

double tacet__read_f64(tacet__reader *r) {
    const uint64_t bits = take_le(r, 8);
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void tacet__read_f64s(tacet__reader *r, double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        values[i] = tacet__read_f64(r);
    }
}

void tacet__read_u64s(tacet__reader *r, uint64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        values[i] = take_le(r, 8);
    }
}

void tacet__read_u32s(tacet__reader *r, uint32_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        values[i] = (uint32_t)take_le(r, 4);
    }
}

size_t tacet__read_bytes(tacet__reader *r, const unsigned char **bytes) {
    const uint64_t count = take_le(r, 8);
    if (count > (uint64_t)(r->end - r->at)) {
        r->failed = true;
        *bytes = NULL;
        return 0;
    }
    *bytes = take(r, (size_t)count);
    return *bytes == NULL ? 0 : (size_t)count;
}

tacet_status tacet__read_end(tacet__reader *r, tacet_error *err) {
    if (r->failed || r->at != r->end) {
        return tacet__fail(err, TACET_CORRUPT, "saved state has the wrong length or an impossible value");
    }
    return TACET_OK;
}
