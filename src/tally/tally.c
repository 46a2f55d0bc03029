/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - exact partial sums that merge.
 * Ring: trusted (its numbers are private). Source: README.md beside it. Cost: 16 bytes a number and 16 a part; a row
 * costs as many additions as it has shares. */
#include "tally/gate.h"

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* Two's complement in 128 bits: 2^62 rows of 2^63 steps each stay below 2^125. */
__extension__ typedef __int128 wide;

enum { VERSION = 1, PART_ID = 16 };
static const char NAME[] = "tally";
static const uint64_t ROWS_MOST = (uint64_t)1 << 62;

typedef struct part_id {
    unsigned char bytes[PART_ID];
} part_id;

struct tacet_tally {
    tacet_tally_plan plan;
    uint64_t rows;
    wide *sums;
    part_id *parts; /* ascending, so that two lists are compared in one pass */
    size_t part_count;
};

static int compare_parts(const void *a, const void *b) {
    return memcmp(a, b, PART_ID);
}

static tacet_status make(tacet_tally **out, const tacet_tally_plan *plan, size_t parts, tacet_error *err) {
    *out = NULL;
    if (plan->numbers == 0 || plan->numbers > TACET_TALLY_NUMBERS_MOST) {
        return tacet__fail(err, TACET_INVALID, "a tally has 1 to %d numbers", (int)TACET_TALLY_NUMBERS_MOST);
    }
    tacet_tally *t = TACET__ZALLOC(tacet_tally, 1);
    if (t != NULL) {
        t->plan = *plan;
        t->sums = TACET__ZALLOC(wide, plan->numbers);
        t->parts = TACET__ZALLOC(part_id, parts);
        t->part_count = parts;
    }
    if (t == NULL || t->sums == NULL || t->parts == NULL) {
        tacet_tally_free(t);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a tally of %zu numbers", plan->numbers);
    }
    *out = t;
    return TACET_OK;
}

tacet_status tacet_tally_create(tacet_tally **out, const tacet_tally_plan *plan, const char *part, tacet_error *err) {
    const size_t length = part != NULL ? strlen(part) : 0;
    *out = NULL;
    if (length == 0 || length > TACET_TALLY_PART_MOST) {
        return tacet__fail(err, TACET_INVALID, "a part of the data has a name of 1 to %d bytes",
                           (int)TACET_TALLY_PART_MOST);
    }
    const tacet_status status = make(out, plan, 1, err);
    if (status == TACET_OK) {
        (void)crypto_generichash((*out)->parts[0].bytes, PART_ID, (const unsigned char *)part, length, plan->hash,
                                 sizeof plan->hash);
    }
    return status;
}

void tacet_tally_free(tacet_tally *t) {
    if (t == NULL) {
        return;
    }
    if (t->sums != NULL) {
        sodium_memzero(t->sums, t->plan.numbers * sizeof *t->sums);
    }
    free(t->sums);
    free(t->parts);
    free(t);
}

/* The first comparison is false for what is not a number, the second stops what lies above, before the quotient is
 * made. */
int64_t tacet_tally_steps(double value, double lower, double upper) {
    if (!(value > lower)) {
        return 0;
    }
    if (value >= upper) {
        return TACET_TALLY_ONE;
    }
    const double share = (value - lower) / (upper - lower); /* in (0, 1], or 0 where the width is no double */
    return (int64_t)nearbyint(share * (double)TACET_TALLY_ONE);
}

tacet_status tacet_tally_add(tacet_tally *t, uint64_t rows, const size_t *at, const int64_t *steps, size_t count,
                             tacet_error *err) {
    for (size_t i = 0; i < count; i++) {
        if (at[i] >= t->plan.numbers) {
            return tacet__fail(err, TACET_INVALID, "a row adds to number %zu of a tally of %zu", at[i],
                               t->plan.numbers);
        }
    }
    if (rows > ROWS_MOST - t->rows) {
        return tacet__fail(err, TACET_INVALID, "a tally is full");
    }
    for (size_t i = 0; i < count; i++) {
        t->sums[at[i]] += steps[i];
    }
    t->rows += rows;
    return TACET_OK;
}

static bool same_plan(const tacet_tally_plan *a, const tacet_tally_plan *b) {
    return a->numbers == b->numbers && memcmp(a->hash, b->hash, sizeof a->hash) == 0;
}

static bool share_a_part(const tacet_tally *a, const tacet_tally *b) {
    size_t i = 0, j = 0;
    while (i < a->part_count && j < b->part_count) {
        const int order = compare_parts(&a->parts[i], &b->parts[j]);
        if (order == 0) {
            return true;
        }
        i += order < 0 ? 1 : 0;
        j += order > 0 ? 1 : 0;
    }
    return false;
}

tacet_status tacet_tally_merge(tacet_tally *t, const tacet_tally *other, tacet_error *err) {
    if (!same_plan(&t->plan, &other->plan)) {
        return tacet__fail(err, TACET_CONFLICT,
                           "these tallies are of different plans: other columns, levels, ranges "
                           "or stages");
    }
    if (t == other || share_a_part(t, other)) {
        return tacet__fail(err, TACET_CONFLICT, "a part of the data is in both tallies: it is counted once");
    }
    if (other->rows > ROWS_MOST - t->rows) {
        return tacet__fail(err, TACET_INVALID, "a tally is full");
    }
    part_id *parts = TACET__ZALLOC(part_id, t->part_count + other->part_count);
    if (parts == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the parts of a tally");
    }
    memcpy(parts, t->parts, t->part_count * sizeof *parts);
    memcpy(parts + t->part_count, other->parts, other->part_count * sizeof *parts);
    t->part_count += other->part_count;
    qsort(parts, t->part_count, sizeof *parts, compare_parts);
    free(t->parts);
    t->parts = parts;
    t->rows += other->rows;
    for (size_t i = 0; i < t->plan.numbers; i++) {
        t->sums[i] += other->sums[i];
    }
    return TACET_OK;
}

uint64_t tacet_tally_rows(const tacet_tally *t) {
    return t->rows;
}

size_t tacet_tally_parts(const tacet_tally *t) {
    return t->part_count;
}

bool tacet_tally_is_of(const tacet_tally *t, const tacet_tally_plan *plan) {
    return same_plan(&t->plan, plan);
}

double tacet_tally_number(const tacet_tally *t, size_t i) {
    return i < t->plan.numbers ? ldexp((double)t->sums[i], -TACET_TALLY_BITS) : NAN;
}

tacet_status tacet_tally_raw(const tacet_tally *t, tacet_raw **out, size_t count, tacet_error *err) {
    const wide most = (wide)1 << 53;
    *out = NULL;
    if (count == 0 || count > t->plan.numbers) {
        return tacet__fail(err, TACET_INVALID, "a tally of %zu numbers has no %zu", t->plan.numbers, count);
    }
    double *values = TACET__ZALLOC(double, count);
    if (values == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a tally of %zu numbers", count);
    }
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < count; i++) {
        /* Rounding to a double would add to what a neighbour may change: such sums are refused. */
        if (t->sums[i] > most || t->sums[i] < -most) {
            status = tacet__fail(err, TACET_OVERFLOW, "a tally holds more than 2^31 rows in one number");
            break;
        }
        values[i] = tacet_tally_number(t, i);
    }
    TACET_THEN(status, tacet_raw_create(out, count, err));
    TACET_THEN(status, tacet_raw_set(*out, values, count, err));
    sodium_memzero(values, count * sizeof *values);
    free(values);
    return status;
}

static void store(unsigned char out[16], wide value) {
    __extension__ const unsigned __int128 bits = (unsigned __int128)value;
    for (size_t i = 0; i < 16; i++) {
        out[i] = (unsigned char)(bits >> (8 * i));
    }
}

static wide restore(const unsigned char in[16]) {
    __extension__ unsigned __int128 bits = 0;
    for (size_t i = 16; i-- > 0;) {
        bits = bits << 8 | in[i];
    }
    return (wide)bits;
}

void tacet_tally_bytes(const tacet_tally *t, size_t i, unsigned char out[16]) {
    store(out, i < t->plan.numbers ? t->sums[i] : 0);
}

void tacet_tally_digest(const tacet_tally *t, unsigned char out[TACET_TALLY_PLAN]) {
    crypto_generichash_state state;
    unsigned char bytes[16];
    (void)crypto_generichash_init(&state, (const unsigned char *)NAME, sizeof NAME, TACET_TALLY_PLAN);
    (void)crypto_generichash_update(&state, t->plan.hash, sizeof t->plan.hash);
    store(bytes, (wide)t->rows);
    (void)crypto_generichash_update(&state, bytes, sizeof bytes);
    for (size_t i = 0; i < t->plan.numbers; i++) {
        store(bytes, t->sums[i]);
        (void)crypto_generichash_update(&state, bytes, sizeof bytes);
    }
    (void)crypto_generichash_final(&state, out, TACET_TALLY_PLAN);
    sodium_memzero(&state, sizeof state);
    sodium_memzero(bytes, sizeof bytes);
}

tacet_status tacet_tally_save(const tacet_tally *t, tacet_blob *out, tacet_error *err) {
    tacet__writer w;
    unsigned char bytes[16];
    tacet__write_begin(&w, out, NAME, VERSION);
    tacet__write_bytes(&w, t->plan.hash, sizeof t->plan.hash);
    tacet__write_size(&w, t->plan.numbers);
    tacet__write_u64(&w, t->rows);
    tacet__write_size(&w, t->part_count);
    for (size_t i = 0; i < t->part_count; i++) {
        tacet__write_bytes(&w, t->parts[i].bytes, PART_ID);
    }
    for (size_t i = 0; i < t->plan.numbers; i++) {
        store(bytes, t->sums[i]);
        tacet__write_bytes(&w, bytes, sizeof bytes);
    }
    sodium_memzero(bytes, sizeof bytes);
    return tacet__write_end(&w, err);
}

/* The next `size` bytes; false: something else is there. */
static bool read_exactly(tacet__reader *r, unsigned char *out, size_t size) {
    const unsigned char *bytes = NULL;
    const size_t length = tacet__read_bytes(r, &bytes);
    if (r->failed || length != size) {
        r->failed = true;
        return false;
    }
    memcpy(out, bytes, size);
    return true;
}

static tacet_status read_body(tacet_tally *t, tacet__reader *r, uint64_t rows, tacet_error *err) {
    unsigned char bytes[16];
    bool good = rows <= ROWS_MOST;
    t->rows = rows;
    for (size_t i = 0; i < t->part_count && good; i++) {
        good = read_exactly(r, t->parts[i].bytes, PART_ID) &&
               (i == 0 || compare_parts(&t->parts[i - 1], &t->parts[i]) < 0);
    }
    for (size_t i = 0; i < t->plan.numbers && good; i++) {
        good = read_exactly(r, bytes, sizeof bytes);
        t->sums[i] = good ? restore(bytes) : 0;
        /* Below 2^125 like any sum of so many rows, so that no merge overflows. */
        good = t->sums[i] <= (wide)rows << 63 && t->sums[i] >= -((wide)rows << 63);
    }
    sodium_memzero(bytes, sizeof bytes);
    return good ? tacet__read_end(r, err) : tacet__fail(err, TACET_CORRUPT, "not a tally: a field is malformed");
}

tacet_status tacet_tally_load(tacet_tally **out, const tacet_tally_plan *plan, const void *bytes, size_t length,
                              tacet_error *err) {
    tacet__reader r;
    tacet_tally_plan found = {0};
    *out = NULL;
    tacet_status status = tacet__read_begin(&r, bytes, length, NAME, VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    const bool named = read_exactly(&r, found.hash, sizeof found.hash);
    found.numbers = tacet__read_size(&r, TACET_TALLY_NUMBERS_MOST);
    const uint64_t rows = tacet__read_u64(&r);
    const size_t parts = tacet__read_size(&r, length / PART_ID);
    if (!named || r.failed || parts == 0) {
        return tacet__fail(err, TACET_CORRUPT, "not a tally: its head is malformed");
    }
    if (!same_plan(&found, plan)) {
        return tacet__fail(err, TACET_CONFLICT,
                           "this tally is of another plan: other columns, levels, ranges or "
                           "stages");
    }
    status = make(out, &found, parts, err);
    TACET_THEN(status, read_body(*out, &r, rows, err));
    if (status != TACET_OK) {
        tacet_tally_free(*out);
        *out = NULL;
    }
    return status;
}
