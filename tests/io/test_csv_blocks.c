/* SPDX-License-Identifier: Apache-2.0 */
/* test_csv_blocks.c - records read block after block are those of the stream: same numbers, same lines, same message.
 */
#include "io/csv/block.h"

#include "support/test.h"

#include "io/csv/internal.h"
#include <tacet/core/simrng.h>

enum { COLUMNS = 4, TEXT = 400000 };

typedef struct memory {
    const char *text;
    size_t size, at;
    tacet_simrng *rng; /* NULL: as much as is asked for */
} memory;

static tacet_status read_memory(void *user, void *buffer, size_t capacity, size_t *count, tacet_error *err) {
    memory *m = user;
    (void)err;
    size_t n = m->size - m->at < capacity ? m->size - m->at : capacity;
    if (m->rng != NULL && n > 1) {
        n = 1 + tacet_simrng_below(m->rng, n);
    }
    memcpy(buffer, m->text + m->at, n);
    m->at += n;
    *count = n;
    return TACET_OK;
}

static tacet_csv *open_text(memory *m, const tacet_csv_settings *settings) {
    tacet_csv *csv = NULL;
    const tacet_csv_source source = {.name = "text", .read = read_memory, .user = m};
    m->at = 0;
    assert_ok(tacet_csv_open(&csv, &source, settings, NULL));
    return csv;
}

typedef struct outcome {
    double *values;
    size_t records;
    uint64_t lines; /* their sum */
    tacet_status status;
    tacet_error err;
} outcome;

/* Adds the rest of a reader. */
static void read_on(outcome *o, tacet_csv *csv, const size_t *columns, size_t count) {
    bool found = true;
    while ((o->status = tacet_csv_next(csv, &found, &o->err)) == TACET_OK && found) {
        o->status = tacet_csv_numbers(csv, o->values + o->records * count, columns, count, &o->err);
        if (o->status != TACET_OK) {
            return;
        }
        o->records++;
        o->lines += tacet_csv_line(csv);
    }
}

/* From the stream, or from two blocks in turn. */
static void read_all(outcome *o, memory *m, const size_t *columns, size_t count, const tacet_csv_settings *settings,
                     bool blocks) {
    tacet_csv *csv = open_text(m, settings);
    tacet_csv *block[2] = {NULL};
    assert_ok(tacet__csv_block_open(&block[0], csv, NULL));
    assert_ok(tacet__csv_block_open(&block[1], csv, NULL));
    o->records = 0;
    o->lines = 0;
    o->status = TACET_OK;
    bool found = blocks;
    for (size_t k = 0; found && o->status == TACET_OK; k++) {
        o->status = tacet__csv_block_take(block[k % 2], csv, &found, &o->err);
        if (o->status == TACET_OK && found) {
            const size_t before = o->records, most = tacet__csv_block_most(block[k % 2], count) / count;
            read_on(o, block[k % 2], columns, count);
            assert_true(o->records - before <= most);
        }
    }
    if (!blocks) {
        read_on(o, csv, columns, count);
    }
    tacet_csv_close(block[0]);
    tacet_csv_close(block[1]);
    tacet_csv_close(csv);
}

/* A table with a column of text among numbers. odd: one number in so many is unusual; 0: none. bad: one record
 * somewhere is wrong. */
static size_t make_text(char *text, tacet_simrng *rng, size_t records, unsigned odd, bool bad) {
    static const char *const ODD[] = {"1e5", " 12 ", "\"3.25\"", ".5", "-0", "\"-1\"", "0.1234567890123456789012"};
    static const char *const WORDS[] = {"a",          "",         "two words",  "\"quo,ted\"",
                                        "\"li\nne\"", "5\" pipe", "\"a\"\"b\"", "\"cr\rlf\r\n\""};
    static const char *const WRONG[] = {"x", "", "1,2", "nan", "1e999", "1\"2", "\"3\"4", "-"};
    static const char *const ENDS[] = {"\n", "\r\n", "\r"};
    const char *end = ENDS[odd == 0 ? 0 : tacet_simrng_below(rng, 3)];
    const size_t wrong = bad ? tacet_simrng_below(rng, records) : records;
    size_t n = (size_t)sprintf(text, "x,note,y,z%s", end);
    for (size_t j = 0; j < records; j++) {
        for (size_t i = 0; i < COLUMNS; i++) {
            const bool unusual = odd > 0 && tacet_simrng_below(rng, odd) == 0;
            n += i == 1                 ? (size_t)sprintf(text + n, "%s",
                                          odd == 0 ? "n" : WORDS[tacet_simrng_below(rng, odd < 50 ? 8 : 3)])
                                 : i == 3 && j == wrong ? (size_t)sprintf(text + n, "%s", WRONG[tacet_simrng_below(rng, 8)])
                 : unusual              ? (size_t)sprintf(text + n, "%s", ODD[tacet_simrng_below(rng, 7)])
                                        : (size_t)sprintf(text + n, "%.*f", (int)tacet_simrng_below(rng, 13),
                                                          200 * tacet_simrng_uniform(rng) - 100);
            text[n++] = ',';
        }
        n--;
        if (j + 1 < records || tacet_simrng_below(rng, 2) == 0) {
            n += (size_t)sprintf(text + n, "%s", end);
        }
        if (odd > 0 && tacet_simrng_below(rng, odd) == 0) {
            n += (size_t)sprintf(text + n, "%s", end); /* a blank line */
        }
    }
    assert_true(n < TEXT);
    return n;
}

static void compare(memory *m, const size_t *columns, size_t count, const tacet_csv_settings *settings,
                    tacet_status expected) {
    outcome a = {.values = malloc(TEXT * sizeof(double))}, b = {.values = malloc(TEXT * sizeof(double))};
    read_all(&a, m, columns, count, settings, false);
    read_all(&b, m, columns, count, settings, true);
    assert_int_equal(a.status, expected);
    assert_int_equal(b.status, expected);
    assert_int_equal(a.records, b.records);
    assert_int_equal(a.lines, b.lines);
    assert_string_equal(a.err.message, b.err.message);
    assert_memory_equal(a.values, b.values, a.records * count * sizeof *a.values);
    free(a.values);
    free(b.values);
}

TEST(test_same) {
    static const size_t WANTED[][3] = {{0, 2, 3}, {3, 0, 2}, {3, 3, 0}};
    static const unsigned ODD[] = {0, 3, 50, 2000};
    tacet_simrng rng = test_rng(21, 0);
    OWN_TEXT char *text = malloc(TEXT);
    const int tables = test_slow() ? 20 : 250;
    for (int k = 0; k < tables; k++) {
        tacet_simrng cuts;
        const size_t records = 1 + tacet_simrng_below(&rng, k % 5 == 0 ? 6000 : 60);
        memory m = {.text = text, .rng = k % 2 == 0 ? &cuts : NULL};
        m.size = make_text(text, &rng, records, ODD[k % 4], k % 3 == 0);
        tacet_simrng_init(&cuts, 22, (uint64_t)k);
        compare(&m, WANTED[k % 3], 3, NULL, k % 3 == 0 ? TACET_PARSE : TACET_OK);
    }
}

/* A record far longer than a block, of letters and of lines, and one longer than is allowed. */
TEST(test_long) {
    enum { LONG = 300000 };
    OWN_TEXT char *text = malloc(TEXT);
    const size_t columns[] = {0, 2};
    for (int k = 0; k < 3; k++) {
        tacet_csv_settings settings;
        size_t n = (size_t)sprintf(text, "x,note,y\n1,,2\n3,\"");
        memset(text + n, k == 1 ? '\n' : 'a', LONG);
        n += LONG + (size_t)sprintf(text + n + LONG, "\",4\n5,b,6");
        memory m = {.text = text, .size = n};
        tacet_csv_defaults(&settings);
        settings.most_bytes = k == 2 ? 100000 : settings.most_bytes;
        compare(&m, columns, 2, &settings, k == 2 ? TACET_PARSE : TACET_OK);
    }
}

TEST(test_no_memory) {
    memory m = {.text = "x,y\n1,2\n", .size = 8};
    bool more = true;
    for (long n = 1; more; n++) {
        tacet_csv *csv = open_text(&m, NULL), *block = NULL;
        bool found = false;
        double x = 0;
        const size_t column = 1;
        fail_alloc_after(n);
        tacet_status status = tacet__csv_block_open(&block, csv, NULL);
        TACET_THEN(status, tacet__csv_block_take(block, csv, &found, NULL));
        TACET_THEN(status, tacet_csv_next(block, &found, NULL));
        TACET_THEN(status, tacet_csv_numbers(block, &x, &column, 1, NULL));
        more = fail_alloc_hit() != 0;
        fail_alloc_after(0);
        assert_int_equal(status, more ? TACET_NO_MEMORY : TACET_OK);
        assert_true(x == (more ? 0 : 2));
        tacet_csv_close(block);
        tacet_csv_close(csv);
    }
}
