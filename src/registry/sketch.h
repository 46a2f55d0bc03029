/* SPDX-License-Identifier: Apache-2.0 */
/* sketch.h - a table as few numbers: enough to know it again, and to tell how many rows it shares with another one.
 * Ring: trusted. Keyed hashes: without the key they tell nothing of the rows. */
#ifndef TACET_SRC_REGISTRY_SKETCH_H
#define TACET_SRC_REGISTRY_SKETCH_H

#include "core/codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

enum { TACET__SKETCH_MOST = 4096, TACET__SKETCH_KEY = 32, TACET__SKETCH_HASH = 32 };

typedef struct tacet__sketch {
    unsigned char bytes[TACET__SKETCH_HASH]; /* keyed hash of all its rows, whatever their order */
    size_t count;                            /* of `rows` */
    bool full;                               /* there are more distinct rows than these */
    uint64_t *rows; /* the smallest keyed hashes of distinct rows, ascending; TACET__SKETCH_MOST places, owned */
} tacet__sketch;

/* A table of numbers: in memory, one row after the other, or read in runs of up to `step` rows that begin at a multiple
 * of it, by several threads at a time. */
typedef struct tacet__rows {
    const double *numbers; /* NULL: by `read` */
    size_t width, count;
    size_t step;
    tacet_status (*read)(const void *user, double *out, size_t first, size_t count, tacet_error *err);
    const void *user;
} tacet__rows;

/* Reads the files once, one after the other, as one table, each in `threads` parts (0: as many as are worth it; the
 * outcome is the same). A row is a line but a file's first, without blanks and quotes around its cells. NOT_FOUND, IO,
 * NO_MEMORY; INVALID: one of them is no regular file; *out is then cleared. */
tacet_status tacet__sketch_files(tacet__sketch *out, const char *const *paths, size_t count, size_t threads,
                                 const unsigned char key[TACET__SKETCH_KEY], tacet_error *err);
/* The same of numbers: a row is their bytes. */
tacet_status tacet__sketch_rows(tacet__sketch *out, const tacet__rows *rows, size_t threads,
                                const unsigned char key[TACET__SKETCH_KEY], tacet_error *err);
/* The same of rows of numbers that come a few at a time, in any order; several threads each begin one, gathered in the
 * end. */
typedef struct tacet__sketching tacet__sketching;
tacet__sketching *tacet__sketching_begin(const unsigned char key[TACET__SKETCH_KEY]); /* NULL: out of memory */
void tacet__sketching_add(tacet__sketching *sketching, const double *rows, size_t count, size_t width);
/* Adds what `from` has seen; `from` stays to be freed. */
void tacet__sketching_gather(tacet__sketching *to, tacet__sketching *from);
tacet_status tacet__sketching_end(tacet__sketch *out, tacet__sketching *sketching,
                                  const unsigned char key[TACET__SKETCH_KEY], tacet_error *err);
void tacet__sketching_free(tacet__sketching *sketching); /* NULL is allowed */
void tacet__sketch_clear(tacet__sketch *sketch);
/* Of the distinct rows of either table, the larger part that is in the other one; estimated from those rows whose
 * hashes both sketches would hold. 1 for the same rows. */
double tacet__sketch_shared(const tacet__sketch *a, const tacet__sketch *b);
/* In a stored state. A sketch that is read has its `rows` already. */
void tacet__sketch_write(tacet__writer *writer, const tacet__sketch *sketch);
void tacet__sketch_read(tacet__reader *reader, tacet__sketch *sketch);

#endif
