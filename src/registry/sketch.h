/* SPDX-License-Identifier: Apache-2.0 */
/* sketch.h - a table as few numbers: enough to know it again, and to tell how many rows it shares with another one.
 * Ring: trusted. Keyed hashes: without the key they tell nothing of the rows. */
#ifndef TACET_SRC_REGISTRY_SKETCH_H
#define TACET_SRC_REGISTRY_SKETCH_H

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

/* Reads the file once, in `threads` parts (0: as many as are worth it; the outcome is the same). A row is a line but
 * the first, without blanks and quotes around its cells. NOT_FOUND, IO, NO_MEMORY; *out is then cleared. */
tacet_status tacet__sketch_file(tacet__sketch *out, const char *path, size_t threads,
                                const unsigned char key[TACET__SKETCH_KEY], tacet_error *err);
/* The same of a table in memory: a row is the bytes of its numbers, so a file of the same numbers is another table. */
tacet_status tacet__sketch_rows(tacet__sketch *out, const double *numbers, size_t width, size_t count, size_t threads,
                                const unsigned char key[TACET__SKETCH_KEY], tacet_error *err);
void tacet__sketch_clear(tacet__sketch *sketch);
/* Of the distinct rows of either table, the larger part that is in the other one; estimated from those rows whose
 * hashes both sketches would hold. 1 for the same rows. */
double tacet__sketch_shared(const tacet__sketch *a, const tacet__sketch *b);

#endif
