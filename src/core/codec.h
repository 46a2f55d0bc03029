/* SPDX-License-Identifier: Apache-2.0 */
/* codec.h - the byte format of saved states: little-endian numbers behind a named, versioned head, closed by a hash.
 *
 * Layout: "TACET\0" | u16 version | name (u32 length, bytes) | fields … | 32-byte BLAKE2b of all before.
 * A reader that fails once stays failed, so a decoder checks once at its end: all reads after a failure give zeros.
 * Doubles are stored as their bits: a state continues bit for bit. Ring: pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/blob.h>
#include <tacet/core/status.h>

typedef struct tacet__writer {
    tacet_blob *blob;
    bool failed; /* out of memory */
} tacet__writer;

typedef struct tacet__reader {
    const unsigned char *at;
    const unsigned char *end;
    bool failed;
} tacet__reader;

/* Appends to an empty blob. On failure of tacet__write_end the blob is left empty. */
void tacet__write_begin(tacet__writer *w, tacet_blob *blob, const char *name, uint16_t version);
void tacet__write_u64(tacet__writer *w, uint64_t value);
void tacet__write_size(tacet__writer *w, size_t value);
void tacet__write_f64(tacet__writer *w, double value);
void tacet__write_f64s(tacet__writer *w, const double *values, size_t count);
void tacet__write_u64s(tacet__writer *w, const uint64_t *values, size_t count);
void tacet__write_u32s(tacet__writer *w, const uint32_t *values, size_t count);
void tacet__write_bytes(tacet__writer *w, const void *bytes, size_t count); /* u64 length, then the bytes */
tacet_status tacet__write_end(tacet__writer *w, tacet_error *err);

/* Checks hash, name and version; CORRUPT names what is wrong. The bytes must outlive the reader. */
tacet_status tacet__read_begin(tacet__reader *r, const void *bytes, size_t length, const char *name, uint16_t version,
                               tacet_error *err);
uint64_t tacet__read_u64(tacet__reader *r);
size_t tacet__read_size(tacet__reader *r, size_t most); /* fails the reader above `most` */
double tacet__read_f64(tacet__reader *r);
void tacet__read_f64s(tacet__reader *r, double *values, size_t count);
void tacet__read_u64s(tacet__reader *r, uint64_t *values, size_t count);
void tacet__read_u32s(tacet__reader *r, uint32_t *values, size_t count);
/* Points *bytes into the input. */
size_t tacet__read_bytes(tacet__reader *r, const unsigned char **bytes);
/* OK when nothing failed and everything was read. */
tacet_status tacet__read_end(tacet__reader *r, tacet_error *err);
