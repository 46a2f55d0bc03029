/* SPDX-License-Identifier: Apache-2.0 */
/* sketch.c - samples of the rows of a table, by which it is known again.
 * Ring: trusted. Source: bottom-k samples, Cohen, Kaplan, "Summarizing data using bottom-k sketches" (2007); the share
 * of rows that a second table of the same law would have by chance, Good, "The population frequencies of species"
 * (1953). Differs: the sample has the hash of each cell, so that two tables can be compared on the columns both have,
 * in any order. A cell counts as a number where it is one, else as its text. The hash of a row is the sum of its cells'
 * (each keyed, with its column's name in it), so that it can be had of any columns. Cost: one pass, a hash
 * (SipHash-2-4) a cell, a search in each sample a row. */
#include "registry/sketch.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/number.h"

#include <endian.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { HASH = 0, REPEATS = 1, CELLS = 2 }; /* places of an entry */
enum { ROOM = 2 * TACET__SKETCH_ROWS };
/* A second table of the same law would have about 1 - ONCE of its rows by chance, which must be well below the half
 * that makes two tables one. */
static const double ONCE = 0.75;

/* The distinct rows with the smallest hashes, and how often each was there: exact, since a row that is once left out
 * stays out. */
typedef struct sample {
    uint64_t *entries;
    size_t stride, held;
    uint64_t limit;
} sample;

/* An earlier table on the columns both have. */
typedef struct rival {
    size_t ours[TACET__SKETCH_COLUMNS]; /* which of ours these are */
    size_t columns;                     /* below 2: not compared */
    sample theirs;                      /* its rows there */
    uint64_t *seen;                     /* how often each of them is here */
    sample here;                        /* our rows there */
} rival;

/* What is known of the table that is looked at. */
typedef struct looking {
    const tacet__rows *rows;
    unsigned char key[crypto_shorthash_KEYBYTES];
    uint64_t names[TACET__SKETCH_COLUMNS]; /* ascending */
    size_t columns;
    size_t place[TACET__SKETCH_COLUMNS]; /* of each in the file, or among the numbers */
    sample all;                          /* with cells */
    rival *rivals;
    size_t rival_count;
    uint64_t count, sum, squares;         /* of rows and of their hashes; modulo 2^64 */
    uint64_t sums[TACET__SKETCH_COLUMNS]; /* of each column, by place; modulo 2^64 */
} looking;

/* --- samples ------------------------------------------------------------------------------------------------------ */

static bool make_sample(sample *s, size_t cells) {
    *s = (sample){.stride = CELLS + cells, .limit = UINT64_MAX};
    s->entries = TACET__ZALLOC(uint64_t, ROOM * s->stride);
    return s->entries != NULL;
}

static int by_hash(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Once each, the smallest ones. */
static void squeeze(sample *s) {
    size_t kept = 0;
    qsort(s->entries, s->held, s->stride * sizeof *s->entries, by_hash);
    for (size_t i = 0; i < s->held; i++) {
        uint64_t *last = s->entries + (kept > 0 ? kept - 1 : 0) * s->stride;
        const uint64_t *entry = s->entries + i * s->stride;
        if (kept > 0 && last[HASH] == entry[HASH]) {
            last[REPEATS] += entry[REPEATS];
        } else {
            memmove(s->entries + kept++ * s->stride, entry, s->stride * sizeof *entry);
        }
    }
    if (kept > TACET__SKETCH_ROWS) {
        kept = TACET__SKETCH_ROWS;
        s->limit = s->entries[(kept - 1) * s->stride + HASH];
    }
    s->held = kept;
}

static void add_entry(sample *s, uint64_t hash, const uint64_t *cells) {
    if (hash > s->limit) {
        return;
    }
    uint64_t *entry = s->entries + s->held++ * s->stride;
    entry[HASH] = hash;
    entry[REPEATS] = 1;
    if (cells != NULL) {
        memcpy(entry + CELLS, cells, (s->stride - CELLS) * sizeof *entry);
    }
    if (s->held == ROOM) {
        squeeze(s);
    }
}

/* Of all rows, those that are there once: as many of the rows of a second such table would be new. */
static double count_singles(const sample *s) {
    double all = 0;
    double single = 0;
    for (size_t i = 0; i < s->held; i++) {
        const uint64_t repeats = s->entries[i * s->stride + REPEATS];
        all += (double)repeats;
        single += repeats == 1 ? 1 : 0;
    }
    return all > 0 ? single / all : 0;
}

/* --- cells and rows ----------------------------------------------------------------------------------------------- */

static void make_key(looking *l, const unsigned char key[TACET__SKETCH_KEY]) {
    static const unsigned char CELL_KEY[] = "cells";
    (void)crypto_generichash(l->key, sizeof l->key, CELL_KEY, sizeof CELL_KEY, key, TACET__SKETCH_KEY);
}

static uint64_t hash_bytes(const looking *l, const void *bytes, size_t size) {
    unsigned char out[crypto_shorthash_BYTES];
    uint64_t hash = 0;
    (void)crypto_shorthash(out, bytes, size, l->key);
    memcpy(&hash, out, sizeof hash);
    return hash;
}

static uint64_t hash_name(const looking *l, const char *name) {
    return hash_bytes(l, name, strlen(name));
}

static uint64_t hash_number(const looking *l, size_t column, double x) {
    const double plain = x == 0 ? 0 : x; /* -0 is 0 */
    uint64_t both[2] = {l->names[column], 0};
    memcpy(&both[1], &plain, sizeof plain);
    return hash_bytes(l, both, sizeof both);
}

/* 55.5, 55.50 and 5.55e1 are one cell. */
static uint64_t hash_text(const looking *l, size_t column, const char *text, size_t length) {
    double x = 0;
    if (tacet__number_parse(&x, text, length) == TACET__NUMBER_OK) {
        return hash_number(l, column, x);
    }
    for (; length > 0 && strchr(" \t", text[0]) != NULL; length--) {
        text++;
    }
    while (length > 0 && strchr(" \t", text[length - 1]) != NULL) {
        length--;
    }
    const uint64_t three[3] = {l->names[column], 1, hash_bytes(l, text, length)};
    return hash_bytes(l, three, sizeof three);
}

/* Where the columns are in this file. */
static void find_places(looking *l, const tacet_csv *csv) {
    for (size_t j = 0; j < tacet_csv_columns(csv); j++) {
        const uint64_t name = hash_name(l, tacet_csv_name(csv, j));
        const uint64_t *at = bsearch(&name, l->names, l->columns, sizeof name, by_hash);
        if (at != NULL) {
            l->place[at - l->names] = j;
        }
    }
}

static uint64_t hash_cell(const looking *l, size_t column, const tacet_csv *csv) {
    size_t length = 0;
    const char *text = tacet_csv_field(csv, l->place[column], &length);
    return hash_text(l, column, text != NULL ? text : "", text != NULL ? length : 0);
}

/* Of the row that is counted next. */
static void add_cell(looking *l, size_t column, uint64_t cell) {
    const uint64_t both[2] = {cell, l->count};
    l->sums[column] += hash_bytes(l, both, sizeof both);
}

static void see_row(looking *l, const uint64_t *cells) {
    uint64_t hash = 0;
    for (size_t c = 0; c < l->columns; c++) {
        hash += cells[c];
        add_cell(l, c, cells[c]);
    }
    l->count++;
    l->sum += hash;
    l->squares += hash * hash;
    add_entry(&l->all, hash, cells);
    for (size_t i = 0; i < l->rival_count; i++) {
        rival *r = &l->rivals[i];
        uint64_t part = 0;
        if (r->columns < 2) {
            continue;
        }
        for (size_t c = 0; c < r->columns; c++) {
            part += cells[r->ours[c]];
        }
        add_entry(&r->here, part, NULL);
        const uint64_t *at = bsearch(&part, r->theirs.entries, r->theirs.held, r->theirs.stride * sizeof part, by_hash);
        if (at != NULL) {
            r->seen[(size_t)(at - r->theirs.entries) / r->theirs.stride]++;
        }
    }
}

static tacet_status see_files(looking *l, tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t f = 0; f < l->rows->files && status == TACET_OK; f++) {
        uint64_t cells[TACET__SKETCH_COLUMNS];
        bool found = true;
        tacet_csv *csv = NULL;
        status = l->rows->open(&csv, l->rows->user, f, err);
        if (status == TACET_OK) {
            find_places(l, csv);
        }
        while (status == TACET_OK && (status = tacet_csv_next(csv, &found, err)) == TACET_OK && found) {
            for (size_t c = 0; c < l->columns; c++) {
                cells[c] = hash_cell(l, c, csv);
            }
            see_row(l, cells);
        }
        tacet_csv_close(csv);
    }
    return status;
}

/* Levels and dates as a CSV has them, so that a table in memory and its export are one. */
static void see_numbers(looking *l) {
    const tacet__rows *t = l->rows;
    uint64_t cells[TACET__SKETCH_COLUMNS];
    for (size_t i = 0; i < t->count; i++) {
        const double *row = t->numbers + i * t->width;
        for (size_t c = 0; c < l->columns; c++) {
            const size_t at = l->place[c];
            const tacet_space_column *k = t->space != NULL && at < t->space->count ? &t->space->columns[at] : NULL;
            char text[TACET_SPACE_NAME] = "";
            if (k != NULL && tacet_space_traits_of(k)->text && isfinite(row[at])) {
                tacet_space_text(k, text, row[at]);
            }
            cells[c] =
                isnan(row[at]) || text[0] != '\0' ? hash_text(l, c, text, strlen(text)) : hash_number(l, c, row[at]);
        }
        see_row(l, cells);
    }
}

/* --- which columns ------------------------------------------------------------------------------------------------ */

/* Of several files the columns that all have; of many those with the smallest hashes, which are the same in any table
 * that has them. */
static tacet_status find_columns(looking *l, tacet_error *err) {
    const tacet__rows *t = l->rows;
    uint64_t *names = NULL;
    size_t count = 0;
    tacet_status status = TACET_OK;
    for (size_t f = 0; f < (t->files > 0 ? t->files : 1) && status == TACET_OK; f++) {
        tacet_csv *csv = NULL;
        status = t->files > 0 ? t->open(&csv, t->user, f, err) : TACET_OK;
        const size_t columns = status != TACET_OK ? 0 : t->files > 0 ? tacet_csv_columns(csv) : t->columns;
        uint64_t *own = TACET__ZALLOC(uint64_t, columns + 1);
        for (size_t j = 0; j < columns && own != NULL; j++) {
            own[j] = hash_name(l, t->files > 0 ? tacet_csv_name(csv, j) : t->names[j]);
        }
        tacet_csv_close(csv);
        if (own == NULL) {
            free(names);
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch");
        }
        qsort(own, columns, sizeof *own, by_hash);
        size_t kept = 0;
        for (size_t j = 0; j < columns; j++) {
            const bool twice = j > 0 && own[j] == own[j - 1];
            if (!twice && (f == 0 || bsearch(&own[j], names, count, sizeof *own, by_hash) != NULL)) {
                own[kept++] = own[j];
            }
        }
        free(names);
        names = own;
        count = kept;
    }
    l->columns = count < TACET__SKETCH_COLUMNS ? count : TACET__SKETCH_COLUMNS;
    for (size_t c = 0; c < l->columns; c++) {
        l->names[c] = names[c];
        for (size_t j = 0; t->files == 0 && j < t->columns; j++) {
            l->place[c] = hash_name(l, t->names[j]) == names[c] ? j : l->place[c];
        }
    }
    free(names);
    return status;
}

/* An earlier table's sample on the columns that both have. */
static bool compare_samples(rival *r, const looking *l, const tacet__sketch *s) {
    size_t theirs[TACET__SKETCH_COLUMNS];
    for (size_t c = 0; c < l->columns; c++) {
        const uint64_t *at = bsearch(&l->names[c], s->names, s->columns, sizeof *at, by_hash);
        if (at != NULL) {
            theirs[r->columns] = (size_t)(at - s->names);
            r->ours[r->columns++] = c;
        }
    }
    r->seen = TACET__ZALLOC(uint64_t, TACET__SKETCH_ROWS);
    if (r->seen == NULL || !make_sample(&r->theirs, 0) || !make_sample(&r->here, 0)) {
        return false;
    }
    for (size_t i = 0; i < s->count; i++) {
        const uint64_t *entry = s->entries + i * (CELLS + s->columns);
        uint64_t part = 0;
        for (size_t c = 0; c < r->columns; c++) {
            part += entry[CELLS + theirs[c]];
        }
        uint64_t *place = r->theirs.entries + r->theirs.held++ * r->theirs.stride;
        place[HASH] = part;
        place[REPEATS] = entry[REPEATS];
    }
    squeeze(&r->theirs);
    return true;
}

/* The rows that both have, as a multiset, of the rows of the smaller one. */
static double share_of(rival *r, const looking *l, const tacet__sketch *s) {
    double all = 0;
    double both = 0;
    squeeze(&r->here);
    if (r->columns < 2 || count_singles(&r->here) < ONCE || count_singles(&r->theirs) < ONCE) {
        return 0;
    }
    for (size_t i = 0; i < r->theirs.held; i++) {
        const double theirs = (double)r->theirs.entries[i * r->theirs.stride + REPEATS];
        all += theirs;
        both += fmin(theirs, (double)r->seen[i]);
    }
    const double rows = all > 0 ? both / all * (double)s->rows : 0;
    return fmin(1, rows / fmax(1, (double)(s->rows < l->count ? s->rows : l->count)));
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static void name_table(tacet__sketch *out, const looking *l, const unsigned char key[TACET__SKETCH_KEY]) {
    crypto_generichash_state state;
    const uint64_t whole[] = {htole64(l->count), htole64(l->sum), htole64(l->squares)};
    (void)crypto_generichash_init(&state, key, TACET__SKETCH_KEY, sizeof out->identity);
    (void)crypto_generichash_update(&state, (const unsigned char *)l->names, l->columns * sizeof *l->names);
    (void)crypto_generichash_update(&state, (const unsigned char *)whole, sizeof whole);
    (void)crypto_generichash_final(&state, out->identity, sizeof out->identity);
}

static bool keep_sketch(tacet__sketch *out, looking *l, const unsigned char key[TACET__SKETCH_KEY]) {
    squeeze(&l->all);
    out->rows = l->count;
    out->columns = l->columns;
    out->count = l->all.held;
    out->names = TACET__ZALLOC(uint64_t, l->columns + 1);
    out->entries = TACET__ZALLOC(uint64_t, l->all.held * l->all.stride + 1);
    if (out->names == NULL || out->entries == NULL) {
        return false;
    }
    memcpy(out->names, l->names, l->columns * sizeof *out->names);
    memcpy(out->sums, l->sums, sizeof out->sums);
    memcpy(out->entries, l->all.entries, l->all.held * l->all.stride * sizeof *out->entries);
    name_table(out, l, key);
    return true;
}

static void free_search(looking *l) {
    for (size_t i = 0; i < l->rival_count && l->rivals != NULL; i++) {
        free(l->rivals[i].theirs.entries);
        free(l->rivals[i].here.entries);
        free(l->rivals[i].seen);
    }
    free(l->rivals);
    free(l->all.entries);
    sodium_memzero(l, sizeof *l);
}

tacet_status tacet__sketch_table(tacet__sketch *out, bool *few, tacet__shared *earlier, size_t count,
                                 const tacet__rows *rows, const unsigned char key[TACET__SKETCH_KEY],
                                 tacet_error *err) {
    looking l = {.rows = rows, .rival_count = count};
    memset(out, 0, sizeof *out);
    make_key(&l, key);
    tacet_status status = find_columns(&l, err);
    l.rivals = TACET__ZALLOC(rival, count + 1);
    bool good = l.rivals != NULL && make_sample(&l.all, l.columns);
    for (size_t i = 0; i < count && good; i++) {
        good = compare_samples(&l.rivals[i], &l, &earlier[i].sketch);
    }
    if (status == TACET_OK && good && rows->files > 0) {
        status = see_files(&l, err);
    } else if (status == TACET_OK && good) {
        see_numbers(&l);
    }
    good = good && (status != TACET_OK || keep_sketch(out, &l, key));
    if (status == TACET_OK && !good) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch");
    }
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        const bool same = memcmp(earlier[i].sketch.identity, out->identity, sizeof out->identity) == 0;
        earlier[i].share = same ? 1 : share_of(&l.rivals[i], &l, &earlier[i].sketch);
    }
    *few = status == TACET_OK && (l.columns < 2 || count_singles(&l.all) < ONCE);
    free_search(&l);
    if (status != TACET_OK) {
        tacet__sketch_clear(out);
    }
    return status;
}

void tacet__sketch_write(tacet__writer *w, const tacet__sketch *s) {
    tacet__write_bytes(w, s->identity, sizeof s->identity);
    tacet__write_u64(w, s->rows);
    tacet__write_size(w, s->columns);
    tacet__write_size(w, s->count);
    tacet__write_u64s(w, s->names, s->columns);
    tacet__write_u64s(w, s->entries, s->count * (CELLS + s->columns));
}

void tacet__sketch_read(tacet__reader *r, tacet__sketch *s) {
    const unsigned char *bytes = NULL;
    memset(s, 0, sizeof *s);
    if (tacet__read_bytes(r, &bytes) != sizeof s->identity || r->failed) {
        r->failed = true;
        return;
    }
    memcpy(s->identity, bytes, sizeof s->identity);
    s->rows = tacet__read_u64(r);
    const size_t columns = tacet__read_size(r, TACET__SKETCH_COLUMNS);
    const size_t count = tacet__read_size(r, TACET__SKETCH_ROWS);
    s->names = TACET__ZALLOC(uint64_t, columns + 1);
    s->entries = TACET__ZALLOC(uint64_t, count * (CELLS + columns) + 1);
    if (r->failed || s->names == NULL || s->entries == NULL) {
        r->failed = true;
        return;
    }
    s->columns = columns;
    s->count = count;
    tacet__read_u64s(r, s->names, columns);
    tacet__read_u64s(r, s->entries, count * (CELLS + columns));
}

void tacet__sketch_clear(tacet__sketch *s) {
    free(s->names);
    free(s->entries);
    memset(s, 0, sizeof *s);
}

/* --- whether a file is in the order of an earlier one ------------------------------------------------------------- */

struct tacet__comparison {
    looking l;
    uint64_t kept[TACET__SKETCH_COLUMNS];
};

tacet_status tacet__compare_open(tacet__comparison **out, const tacet__order *order, const tacet_csv *csv,
                                 const unsigned char key[TACET__SKETCH_KEY], tacet_error *err) {
    *out = TACET__ZALLOC(tacet__comparison, 1);
    if (*out == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch");
    }
    looking *l = &(*out)->l;
    make_key(l, key);
    l->columns = order->columns;
    memcpy(l->names, order->names, sizeof l->names);
    memcpy((*out)->kept, order->sums, sizeof order->sums);
    for (size_t c = 0; c < l->columns; c++) {
        l->place[c] = SIZE_MAX;
    }
    find_places(l, csv);
    return TACET_OK;
}

void tacet__compare_row(tacet__comparison *comparison, const tacet_csv *csv) {
    looking *l = &comparison->l;
    for (size_t c = 0; c < l->columns; c++) {
        if (l->place[c] != SIZE_MAX) {
            add_cell(l, c, hash_cell(l, c, csv));
        }
    }
    l->count++;
}

bool tacet__compare_column(const tacet__comparison *comparison, const char *name, bool *same) {
    const looking *l = &comparison->l;
    const uint64_t hash = hash_name(l, name);
    const uint64_t *at = bsearch(&hash, l->names, l->columns, sizeof hash, by_hash);
    const size_t c = at != NULL ? (size_t)(at - l->names) : 0;
    *same = at != NULL && l->sums[c] == comparison->kept[c];
    return at != NULL && l->place[c] != SIZE_MAX;
}

void tacet__compare_close(tacet__comparison *comparison) {
    if (comparison != NULL) {
        sodium_memzero(comparison, sizeof *comparison);
    }
    free(comparison);
}
