/* SPDX-License-Identifier: Apache-2.0 */
/* sketch.c - bottom-k sketches of the rows of a table.
 * Ring: trusted. Source: Broder, "On the resemblance and containment of documents" (1997), section 4; Cohen, Kaplan,
 * "Summarizing data using bottom-k sketches" (2007). Differs: of the rows that both sketches can speak of (hashes up to
 * the smaller of their two largest), counts what they share, so that tables of different sizes can be compared.
 * Hashes are keyed (BLAKE2b for the file, SipHash-2-4 for a row). Cost: one pass, O(k) memory. */
#include "registry/sketch.h"

#include "core/fail.h"
#include "core/memory.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_BYTES = 1 << 16, ROOM = 2 * TACET__SKETCH_MOST };

typedef struct sketching {
    unsigned char row_key[crypto_shorthash_KEYBYTES];
    uint64_t found[ROOM]; /* hashes up to `limit`, in no order, some twice */
    size_t count;
    uint64_t limit;
    bool full;
    char *line; /* the row that is being read, its blanks and quotes left out */
    size_t length, capacity;
    bool header; /* it is the first one */
} sketching;

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The smallest ones, once each. */
static void squeeze(sketching *s) {
    qsort(s->found, s->count, sizeof *s->found, ascending);
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (kept == 0 || s->found[kept - 1] != s->found[i]) {
            s->found[kept++] = s->found[i];
        }
    }
    if (kept > TACET__SKETCH_MOST) {
        kept = TACET__SKETCH_MOST;
        s->full = true;
        s->limit = s->found[kept - 1];
    }
    s->count = kept;
}

static void add_row(sketching *s, const void *row, size_t size) {
    unsigned char bytes[crypto_shorthash_BYTES];
    uint64_t hash = 0;
    (void)crypto_shorthash(bytes, row, size, s->row_key);
    memcpy(&hash, bytes, sizeof hash);
    if (hash <= s->limit) {
        s->found[s->count++] = hash;
        if (s->count == ROOM) {
            squeeze(s);
        }
    }
}

static void end_row(sketching *s) {
    if (s->length > 0 && !s->header) {
        add_row(s, s->line, s->length);
    }
    s->header = s->header && s->length == 0;
    s->length = 0;
}

static bool take_bytes(sketching *s, const char *bytes, size_t count) {
    if (!tacet__grow((void **)&s->line, &s->capacity, s->length + count, 1)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const char c = bytes[i];
        if (c == '\n') {
            end_row(s);
        } else if (c != ' ' && c != '\t' && c != '\r' && c != '"') {
            s->line[s->length++] = c;
        }
    }
    return true;
}

static tacet_status read_file(sketching *s, unsigned char hash[TACET__SKETCH_HASH], const char *path,
                              const unsigned char key[TACET__SKETCH_KEY], tacet_error *err) {
    crypto_generichash_state whole;
    char *bytes = TACET__ZALLOC(char, READ_BYTES);
    FILE *file = fopen(path, "rbe");
    tacet_status status = TACET_OK;
    size_t got = 0;
    if (file == NULL) {
        status = tacet__fail(err, errno == ENOENT ? TACET_NOT_FOUND : TACET_IO, "%s: cannot be read: %s", path,
                             strerror(errno));
    } else if (bytes == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch");
    }
    (void)crypto_generichash_init(&whole, key, TACET__SKETCH_KEY, TACET__SKETCH_HASH);
    while (status == TACET_OK && (got = fread(bytes, 1, READ_BYTES, file)) > 0) {
        (void)crypto_generichash_update(&whole, (const unsigned char *)bytes, got);
        if (!take_bytes(s, bytes, got)) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch");
        }
    }
    if (status == TACET_OK && ferror(file)) {
        status = tacet__fail(err, TACET_IO, "%s: cannot be read", path);
    }
    end_row(s);
    squeeze(s);
    (void)crypto_generichash_final(&whole, hash, TACET__SKETCH_HASH);
    if (file != NULL) {
        (void)fclose(file);
    }
    if (bytes != NULL) {
        sodium_memzero(bytes, READ_BYTES);
    }
    free(bytes);
    return status;
}

static sketching *begin_sketch(tacet__sketch *out, const unsigned char key[TACET__SKETCH_KEY], tacet_error *err) {
    static const unsigned char ROWS[] = "rows";
    memset(out, 0, sizeof *out);
    sketching *s = TACET__ZALLOC(sketching, 1);
    out->rows = TACET__ZALLOC(uint64_t, TACET__SKETCH_MOST);
    if (s == NULL || out->rows == NULL) {
        free(s);
        tacet__sketch_clear(out);
        (void)tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch");
        return NULL;
    }
    s->limit = UINT64_MAX;
    s->header = true;
    (void)crypto_generichash(s->row_key, sizeof s->row_key, ROWS, sizeof ROWS, key, TACET__SKETCH_KEY);
    return s;
}

static void end_sketch(tacet__sketch *out, sketching *s, tacet_status status) {
    out->count = s->count;
    out->full = s->full;
    memcpy(out->rows, s->found, s->count * sizeof *out->rows);
    if (s->line != NULL) {
        sodium_memzero(s->line, s->capacity);
    }
    free(s->line);
    sodium_memzero(s, sizeof *s);
    free(s);
    if (status != TACET_OK) {
        tacet__sketch_clear(out);
    }
}

tacet_status tacet__sketch_file(tacet__sketch *out, const char *path, const unsigned char key[TACET__SKETCH_KEY],
                                tacet_error *err) {
    sketching *s = begin_sketch(out, key, err);
    if (s == NULL) {
        return TACET_NO_MEMORY;
    }
    const tacet_status status = read_file(s, out->bytes, path, key, err);
    end_sketch(out, s, status);
    return status;
}

tacet_status tacet__sketch_rows(tacet__sketch *out, const double *numbers, size_t width, size_t count,
                                const unsigned char key[TACET__SKETCH_KEY], tacet_error *err) {
    sketching *s = begin_sketch(out, key, err);
    if (s == NULL) {
        return TACET_NO_MEMORY;
    }
    (void)crypto_generichash(out->bytes, sizeof out->bytes, (const unsigned char *)numbers,
                             count * width * sizeof *numbers, key, TACET__SKETCH_KEY);
    for (size_t i = 0; i < count; i++) {
        add_row(s, numbers + i * width, width * sizeof *numbers);
    }
    squeeze(s);
    end_sketch(out, s, TACET_OK);
    return TACET_OK;
}

void tacet__sketch_clear(tacet__sketch *sketch) {
    free(sketch->rows);
    memset(sketch, 0, sizeof *sketch);
}

/* The largest hash of which a sketch can say whether the table has it. */
static uint64_t reach(const tacet__sketch *s) {
    return s->full ? s->rows[s->count - 1] : UINT64_MAX;
}

double tacet__sketch_shared(const tacet__sketch *a, const tacet__sketch *b) {
    const uint64_t end = reach(a) < reach(b) ? reach(a) : reach(b);
    size_t i = 0;
    size_t j = 0;
    size_t both = 0;
    if (memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0) {
        return 1;
    }
    while (i < a->count && j < b->count && a->rows[i] <= end && b->rows[j] <= end) {
        both += a->rows[i] == b->rows[j];
        const bool first = a->rows[i] <= b->rows[j];
        const bool second = b->rows[j] <= a->rows[i];
        i += first;
        j += second;
    }
    while (i < a->count && a->rows[i] <= end) {
        i++;
    }
    while (j < b->count && b->rows[j] <= end) {
        j++;
    }
    const size_t fewer = i < j ? i : j;
    return fewer > 0 ? (double)both / (double)fewer : 0;
}
