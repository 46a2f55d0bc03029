/* SPDX-License-Identifier: Apache-2.0 */
/* sketch.h - a table as few numbers: enough to know it again, and to tell how many rows it shares with another one.
 * Ring: trusted. Keyed hashes: without the key they tell nothing of the rows. README.md has what is compared. */
#pragma once

#include "core/codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/io/csv.h>
#include <tacet/space/space.h>

enum { TACET__SKETCH_ROWS = 1024, TACET__SKETCH_COLUMNS = 64, TACET__SKETCH_KEY = 32, TACET__SKETCH_HASH = 32 };

/* A table to look at: files of text, or numbers in memory. */
typedef struct tacet__rows {
    size_t files; /* 0: numbers */
    tacet_status (*open)(tacet_csv **out, const void *user, size_t file, tacet_error *err);
    const void *user;
    const double *numbers;    /* one row after the other */
    size_t width, count;      /* places of a row; rows */
    const char *const *names; /* of its columns */
    size_t columns;           /* at most width */
    const tacet_space *space; /* what the first of them are; NULL: plain numbers */
} tacet__rows;

typedef struct tacet__sketch {
    unsigned char identity[TACET__SKETCH_HASH]; /* of all rows and columns, whatever their order */
    uint64_t rows;                              /* of the table */
    size_t columns, count;                      /* of the sample, and its distinct rows */
    uint64_t *names;                            /* hashes of the columns' names, ascending */
    uint64_t *entries; /* of each row of the sample: its hash, how often it is there, and the hashes of its cells */
    uint64_t sums[TACET__SKETCH_COLUMNS]; /* of each column: its cells, each hashed with the number of its row; not
                                             stored here */
} tacet__sketch;

/* A table's columns, and how their cells lay. */
typedef struct tacet__order {
    size_t columns;
    uint64_t names[TACET__SKETCH_COLUMNS], sums[TACET__SKETCH_COLUMNS]; /* as above */
} tacet__order;

/* A table that was seen before, and how much of it is in the one that is looked at. */
typedef struct tacet__shared {
    tacet__sketch sketch; /* of the former; owned */
    double share;         /* of the smaller table's rows, on the columns both have; 1 also: the same table */
} tacet__shared;

/* Reads the table once, and tells each earlier one's share. *few: too few of its rows are there once only, so that
 * another table of the same kind would have most of them by chance: it is known again as a whole, or not at all.
 * NOT_FOUND, IO, PARSE, NO_MEMORY; *out is then cleared. */
tacet_status tacet__sketch_table(tacet__sketch *out, bool *few, tacet__shared *earlier, size_t count,
                                 const tacet__rows *rows, const unsigned char key[TACET__SKETCH_KEY], tacet_error *err);
void tacet__sketch_clear(tacet__sketch *sketch);
/* In a stored state. What is read is the sketch's own, cleared by the caller whether it fails or not. */
void tacet__sketch_write(tacet__writer *writer, const tacet__sketch *sketch);
void tacet__sketch_read(tacet__reader *reader, tacet__sketch *sketch);

/* A file beside an order that was kept, while somebody reads it: every row is shown once, from the first on.
 * NO_MEMORY. */
typedef struct tacet__comparison tacet__comparison;
tacet_status tacet__compare_open(tacet__comparison **out, const tacet__order *order, const tacet_csv *csv,
                                 const unsigned char key[TACET__SKETCH_KEY], tacet_error *err);
void tacet__compare_row(tacet__comparison *comparison, const tacet_csv *csv);
/* Whether both have the column; *same: with the same cells in the same order. */
bool tacet__compare_column(const tacet__comparison *comparison, const char *name, bool *same);
void tacet__compare_close(tacet__comparison *comparison); /* wipes; NULL is allowed */
