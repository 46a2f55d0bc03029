/* SPDX-License-Identifier: Apache-2.0 */
/* release_table.c - a table of released rows: reserved once, drawn row by row by any number of threads, committed once.
 * Ring: gate. In: tacet_bounded, or raw rows of a box. Out: numbers, and a tacet_release that is their receipt. Source:
 * none; src/dp/ledger/README.md, section 2. The noise of a row is a function of the key of the reservation and of the
 * row's number: rows are drawn in groups of a fixed length, each from a key of its own, and a group that is begun in
 * its middle is drawn from its beginning. So neither threads nor blocks matter, nor an interruption. No row is drawn
 * twice: two records with the same noise would show their difference. Cost: a hash of a block for each group; up to a
 * group too many at either end of a call; no memory of rows. */
#include "dp/open/charge_rows.h"
#include "dp/mechanisms/table.h"

#include "core/fail.h"
#include "core/memory.h"
#include "dp/bound_internal.h"
#include "dp/mint.h"
#include "dp/noise/mint.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of a group, at most, where a row has no more: Gaussian ones need two words each, and then a little less than
 * a buffer of key stream. Part of what TACET__SAMPLER_VERSION stands for. */
enum { PLACE_NUMBERS = 224, PLACE_WORDS = 512, LEVEL_WORDS = 28, SPANS = 64 };

/* What stands in a row: its two kinds, whose places are counted apart. */
enum { NUMBERS = 0, LEVELS = 1 };

/* Rows that were drawn, or are being drawn: [first, end). */
typedef struct span {
    size_t first, end;
} span;

struct tacet_table {
    crypto_generichash_state hash; /* of all bytes given so far; 64-byte aligned */
    const tacet_mechanism *mechanism;
    tacet_ask ask;
    tacet_entry entry;
    tacet_receipt receipt;
    size_t rows, group;
    unsigned char key[TACET_MINT_BYTES]; /* of all noise */
    bool closed, borrowed;
    pthread_mutex_t lock; /* all below */
    span *spans;          /* in order, with gaps between them; a few, as threads are */
    size_t count, capacity;
    size_t drawn;
    bool failed;
};

/* A seeded table takes its key from the source it is given. */
static void seeded_key(tacet_table *table) {
    for (size_t i = 0; i < sizeof table->key; i += sizeof(uint64_t)) {
        const uint64_t word = htole64(tacet__noise_u64(table->ask.noise));
        memcpy(table->key + i, &word, sizeof word);
    }
}

static tacet_status make(tacet_table **out, const tacet_mechanism *m, size_t rows, tacet_error *err) {
    *out = NULL;
    if (tacet__mechanism_chooses(m) || rows == 0) {
        return tacet__fail(err, TACET_INVALID, "a table needs rows, and a mechanism that adds noise to them");
    }
    tacet_table *table = TACET__ALIGNED(tacet_table, 1);
    if (table == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table");
    }
    memset(table, 0, sizeof *table);
    (void)pthread_mutex_init(&table->lock, NULL); /* cannot fail */
    void *spans = NULL;
    if (!tacet__grow(&spans, &table->capacity, SPANS, sizeof *table->spans)) {
        tacet_table_free(table);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table");
    }
    table->spans = spans;
    table->mechanism = m;
    table->rows = rows;
    table->group = m->count > 0 && m->count < PLACE_NUMBERS ? PLACE_NUMBERS / m->count : 1;
    (void)crypto_generichash_init(&table->hash, NULL, 0, TACET_HASH_BYTES);
    *out = table;
    return TACET_OK;
}

tacet_status tacet_table_open(tacet_table **out, tacet_release **answered, const tacet_mechanism *m,
                              const tacet_ask *ask, size_t rows, tacet_error *err) {
    static const unsigned char NONE[TACET_MINT_BYTES];
    char parameters[TACET__PARAMETERS_BYTES];
    tacet_charge charge;
    tacet_table *table = NULL;
    *out = NULL;
    *answered = NULL;
    tacet_status s = make(&table, m, rows, err);
    if (s == TACET_OK && tacet_ask_is_private(ask) && ask->data == NULL) {
        s = tacet__fail(err, TACET_INVALID, "a private table needs a digest of the data it is drawn for");
    }
    if (s == TACET_OK) {
        table->ask = *ask;
        tacet__mechanism_charge(m, &charge, parameters, sizeof parameters, rows, ask->records);
        tacet__mechanism_receipt(m, &table->receipt, rows);
        s = tacet__charge_rows(&charge, ask->rows_each, true, err);
    }
    TACET_THEN(s, tacet__gate_reserve(ask, &charge, &table->receipt, &table->entry,
                                      ask->data != NULL ? ask->data : NONE, table->key, answered, err));
    if (s != TACET_OK || *answered != NULL) {
        tacet_table_free(table);
        return s;
    }
    if (!table->receipt.is_private) {
        seeded_key(table);
    }
    *out = table;
    return TACET_OK;
}

tacet_status tacet_table_borrow(tacet_table **out, const tacet_mechanism *m, const unsigned char *key, size_t first,
                                size_t rows, tacet_error *err) {
    tacet_table *table = NULL;
    *out = NULL;
    if (rows > SIZE_MAX - first) {
        return tacet__fail(err, TACET_INVALID, "a table has no such rows");
    }
    const tacet_status s = make(&table, m, rows > 0 ? first + rows : 0, err);
    if (s == TACET_OK) {
        memcpy(table->key, key, sizeof table->key);
        table->borrowed = true;
        *out = table;
    }
    return s;
}

/* Enters [first, end) among the spans, before any of it is drawn; false: some of it was drawn already. Under the lock.
 */
static tacet_status enter_span(tacet_table *table, size_t first, size_t end, tacet_error *err) {
    size_t at = 0;
    while (at < table->count && table->spans[at].end <= first) {
        at++;
    }
    if (at < table->count && table->spans[at].first < end) {
        return tacet__fail(err, TACET_STATE, "a row was drawn already, and is not drawn twice");
    }
    const bool joins_before = at > 0 && table->spans[at - 1].end == first;
    const bool joins_after = at < table->count && table->spans[at].first == end;
    if (joins_before && joins_after) {
        table->spans[at - 1].end = table->spans[at].end;
        memmove(table->spans + at, table->spans + at + 1, (table->count - at - 1) * sizeof *table->spans);
        table->count--;
    } else if (joins_before) {
        table->spans[at - 1].end = end;
    } else if (joins_after) {
        table->spans[at].first = first;
    } else {
        void *spans = table->spans; /* more than SPANS threads, or a caller with an order of its own */
        if (!tacet__grow(&spans, &table->capacity, table->count + 1, sizeof *table->spans)) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the rows of a table");
        }
        table->spans = spans;
        memmove(table->spans + at + 1, table->spans + at, (table->count - at) * sizeof *table->spans);
        table->spans[at] = (span){first, end};
        table->count++;
    }
    return TACET_OK;
}

static tacet_status claim(tacet_table *table, size_t first, size_t rows, tacet_error *err) {
    (void)pthread_mutex_lock(&table->lock);
    tacet_status s = TACET_OK;
    if (table->failed || !(rows <= table->rows && first <= table->rows - rows)) {
        s = tacet__fail(err, TACET_STATE, "no more rows: the table is full, or failed before");
    } else if (rows > 0) {
        s = enter_span(table, first, first + rows, err);
    }
    table->drawn += s == TACET_OK ? rows : 0;
    (void)pthread_mutex_unlock(&table->lock);
    return s;
}

static tacet_status note_failure(tacet_table *table, tacet_status s) {
    if (s != TACET_OK) {
        (void)pthread_mutex_lock(&table->lock);
        table->failed = true;
        (void)pthread_mutex_unlock(&table->lock);
    }
    return s;
}

/* `rows` rows of one group, after `before` others of it. */
static tacet_status draw_group(const tacet_table *table, double *values, const double *raw, size_t place, size_t before,
                               size_t rows, tacet_error *err) {
    const tacet_mechanism *m = table->mechanism;
    double passed_over[PLACE_NUMBERS]; /* a group of longer rows is one row: none is passed over */
    tacet_noise noise;
    tacet_status s = TACET_OK;
    tacet__noise_at(&noise, table->key, NUMBERS, place, PLACE_WORDS);
    if (before > 0) {
        s = m->kind->noise(m, &noise, passed_over, before, err);
        sodium_memzero(passed_over, before * m->count * sizeof *passed_over);
    }
    TACET_THEN(s, tacet__mechanism_draw_box(m, &noise, values, raw, rows, err));
    tacet__noise_clear(&noise);
    return s;
}

/* The levels of one row, from a key of their own: how many words they take depends on what they are. */
static tacet_status draw_levels(const tacet_table *table, double *values, const double *raw, size_t row,
                                tacet_error *err) {
    tacet_noise noise;
    tacet__noise_at(&noise, table->key, LEVELS, row, LEVEL_WORDS);
    const tacet_status s = tacet__mechanism_draw_levels(table->mechanism, &noise, values, raw, 1, err);
    tacet__noise_clear(&noise);
    return s;
}

tacet_status tacet_table_rows(tacet_table *table, double *values, const tacet_raw *raw, size_t first, size_t rows,
                              tacet_error *err) {
    const tacet_mechanism *m = table->mechanism;
    if (m->bound->kind != TACET__BOUND_BOX) {
        return tacet__fail(err, TACET_INVALID, "many rows at once are for boxes");
    }
    const size_t width = m->count + m->level_count;
    if (!(rows <= raw->count / width)) {
        return tacet__fail(err, TACET_INVALID, "%zu rows of %zu numbers, but %zu raw numbers", rows, width, raw->count);
    }
    tacet_status s = claim(table, first, rows, err);
    if (s != TACET_OK) {
        return s;
    }
    for (size_t done = 0; done < rows && m->count > 0 && s == TACET_OK;) {
        const size_t place = (first + done) / table->group;
        const size_t before = (first + done) % table->group;
        const size_t left = table->group - before;
        const size_t now = rows - done < left ? rows - done : left;
        s = draw_group(table, values + done * m->count, raw->values + done * m->count, place, before, now, err);
        done += now;
    }
    for (size_t i = 0; i < rows && m->level_count > 0 && s == TACET_OK; i++) {
        const size_t at = rows * m->count + i * m->level_count;
        s = draw_levels(table, values + at, raw->values + at, first + i, err);
    }
    return note_failure(table, s);
}

tacet_status tacet_table_lend(tacet_table *table, unsigned char *key, size_t first, size_t rows, tacet_error *err) {
    const tacet_status s = claim(table, first, rows, err);
    if (s == TACET_OK) {
        memcpy(key, table->key, sizeof table->key);
    }
    return s;
}

void tacet_table_give(tacet_table *table, const void *bytes, size_t size) {
    (void)crypto_generichash_update(&table->hash, bytes, size);
}

tacet_status tacet_table_close(tacet_table *table, tacet_release **out, tacet_error *err) {
    *out = NULL;
    if (table->borrowed) {
        return tacet__fail(err, TACET_STATE, "a borrowed table is closed by whoever lent it");
    }
    (void)pthread_mutex_lock(&table->lock);
    const size_t drawn = table->drawn;
    const bool failed = table->failed;
    (void)pthread_mutex_unlock(&table->lock);
    if (failed || drawn != table->rows) {
        return tacet__fail(err, TACET_STATE, "the table has %zu of its %zu rows, or one of them failed", drawn,
                           table->rows);
    }
    if (!table->closed) {
        (void)crypto_generichash_final(&table->hash, table->receipt.content_hash, TACET_HASH_BYTES);
        table->closed = true;
    }
    tacet_release *release = NULL;
    tacet_status s = tacet__release_mint(&release, &table->receipt, NULL, 0, err);
    TACET_THEN(s, tacet__gate_commit(&table->ask, &table->entry, release, err));
    if (s != TACET_OK) {
        tacet_release_free(release);
        return s;
    }
    *out = release;
    return TACET_OK;
}

void tacet_table_free(tacet_table *table) {
    if (table != NULL) {
        (void)pthread_mutex_destroy(&table->lock);
        free(table->spans);
        sodium_memzero(table, sizeof *table);
        free(table);
    }
}
