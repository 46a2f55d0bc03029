/* SPDX-License-Identifier: Apache-2.0 */
/* test_csv_rows.c - the quick ways through a table are the slow one: many records at once, blocks, checking, against
 * records one at a time; and numbers against the C library, bit for bit. */
#include "io/csv/block.h"

#include "support/test.h"

#include "io/csv/internal.h"
#include <tacet/core/simrng.h>

enum { COLUMNS = 4, TEXT = 400000, MOST_NUMBERS = TEXT };

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
    tacet_status status;
    tacet_error err;
} outcome;

static void one_at_a_time(outcome *o, memory *m, const size_t *columns, size_t count,
                          const tacet_csv_settings *settings) {
    tacet_csv *csv = open_text(m, settings);
    bool found = true;
    o->records = 0;
    o->status = TACET_OK;
    while (o->status == TACET_OK) {
        o->status = tacet_csv_next(csv, &found, &o->err);
        if (o->status != TACET_OK || !found) {
            break;
        }
        o->status = tacet_csv_numbers(csv, o->values + o->records * count, columns, count, &o->err);
        o->records += o->status == TACET_OK;
    }
    tacet_csv_close(csv);
}

static void many(outcome *o, memory *m, const size_t *columns, size_t count, const tacet_csv_settings *settings,
                 tacet_simrng *rng) {
    tacet_csv *csv = open_text(m, settings);
    o->records = 0;
    for (;;) {
        size_t got = 0;
        const size_t most = 1 + tacet_simrng_below(rng, 300);
        o->status = tacet_csv_rows(csv, o->values + o->records * count, &got, columns, count, most, &o->err);
        o->records += got;
        assert_true(got <= most);
        if (o->status != TACET_OK || got < most) {
            break;
        }
        assert_int_equal(tacet_csv_record(csv), o->records);
        if (tacet_simrng_below(rng, 4) == 0) { /* both ways in turn */
            bool found = false;
            o->status = tacet_csv_next(csv, &found, &o->err);
            if (o->status != TACET_OK || !found) {
                break;
            }
            o->status = tacet_csv_numbers(csv, o->values + o->records * count, columns, count, &o->err);
            if (o->status != TACET_OK) {
                break;
            }
            assert_int_equal(tacet_csv_record(csv), o->records);
            o->records++;
        }
    }
    tacet_csv_close(csv);
}

/* Two blocks in turn; `check`: only looked at. */
static void in_blocks(outcome *o, memory *m, const size_t *columns, size_t count, const tacet_csv_settings *settings,
                      bool check) {
    tacet_csv *csv = open_text(m, settings);
    tacet_csv *blocks[2] = {NULL};
    assert_ok(tacet__csv_block_open(&blocks[0], csv, NULL));
    assert_ok(tacet__csv_block_open(&blocks[1], csv, NULL));
    o->records = 0;
    for (size_t k = 0;; k++) {
        bool found = false;
        size_t got = 0;
        tacet_csv *block = blocks[k % 2];
        o->status = tacet__csv_block_take(block, csv, &found, &o->err);
        if (o->status != TACET_OK || !found) {
            break;
        }
        const size_t most = tacet__csv_block_most(block, count) / count;
        double *to = o->values + o->records * count;
        o->status = check ? tacet_csv_check(block, to, &got, columns, count, &o->err)
                          : tacet_csv_rows(block, to, &got, columns, count, most, &o->err);
        o->records += got;
        if (o->status != TACET_OK) {
            break;
        }
        assert_true(got < most);
    }
    tacet_csv_close(blocks[0]);
    tacet_csv_close(blocks[1]);
    tacet_csv_close(csv);
}

static size_t put_number(char *at, tacet_simrng *rng, unsigned odd) {
    static const char *const ODD[] = {"1e5",
                                      "-2.5E-3",
                                      "+7",
                                      " 12 ",
                                      "\"3.25\"",
                                      ".5",
                                      "5.",
                                      "-0",
                                      "0.0",
                                      "-.5e1",
                                      "\t8",
                                      "00012.50",
                                      "1e-30",
                                      "1e22",
                                      "\"-1\"",
                                      "0.1234567890123456789012",
                                      "123456789012345678901"};
    if (odd > 0 && tacet_simrng_below(rng, odd) == 0) {
        return (size_t)sprintf(at, "%s", ODD[tacet_simrng_below(rng, sizeof ODD / sizeof ODD[0])]);
    }
    const double x = 200 * tacet_simrng_uniform(rng) - 100;
    switch (tacet_simrng_below(rng, 4)) {
    case 0:
        return (size_t)sprintf(at, "%d", (int)(x * x * x));
    case 1:
        return (size_t)sprintf(at, "%.17g", x);
    default:
        return (size_t)sprintf(at, "%.*f", (int)tacet_simrng_below(rng, 13), x);
    }
}

/* A table with a column of text among numbers. odd = 0: nothing unusual. bad: one record somewhere is wrong. */
static size_t make_text(char *text, tacet_simrng *rng, size_t records, unsigned odd, bool bad) {
    static const char *const WORDS[] = {"a",          "",         "two words",  "\"quo,ted\"",
                                        "\"li\nne\"", "5\" pipe", "\"a\"\"b\"", "\"cr\rlf\r\n\""};
    static const char *const WRONG[] = {"x", "", "1,2", "nan", "1e999", "1\"2", "\"3\"4", "-", "1.2.3", "0x1", "--1"};
    static const char *const ENDS[] = {"\n", "\r\n", "\r"};
    const size_t end = odd == 0 ? 0 : tacet_simrng_below(rng, 3);
    const size_t wrong = bad ? tacet_simrng_below(rng, records) : records;
    size_t n = (size_t)sprintf(text, "x,note,y,z%s", ENDS[end]);
    for (size_t j = 0; j < records; j++) {
        n += put_number(text + n, rng, odd);
        n += (size_t)sprintf(text + n, ",%s,", odd == 0 ? "n" : WORDS[tacet_simrng_below(rng, odd < 50 ? 8 : 3)]);
        n += put_number(text + n, rng, odd);
        text[n++] = ',';
        n += j == wrong ? (size_t)sprintf(text + n, "%s", WRONG[tacet_simrng_below(rng, 11)])
                        : put_number(text + n, rng, odd);
        if (j + 1 < records || tacet_simrng_below(rng, 2) == 0) {
            n += (size_t)sprintf(text + n, "%s", ENDS[end]);
        }
        if (odd > 0 && tacet_simrng_below(rng, odd) == 0) {
            n += (size_t)sprintf(text + n, "%s", ENDS[end]); /* a blank line */
        }
    }
    assert_true(n < TEXT);
    return n;
}

/* A table of numbers only, as the quick ways like it: mostly one number of decimals. `hostile`: one field in so many is
 * as unusual as a number can be, or none; 0: never. */
static size_t make_numbers(char *text, tacet_simrng *rng, size_t records, size_t hostile) {
    static const char *const FIELDS[] = {"1e-310",
                                         "4.9e-324",
                                         "-1e-400",
                                         "+5",
                                         "+5.25",
                                         " 7.125",
                                         "7.125 ",
                                         "\t1",
                                         "1e308",
                                         "-2E+3",
                                         "\"6.5\"",
                                         "00.5000",
                                         "-0.000",
                                         ".5",
                                         "5.",
                                         "-.25",
                                         "0.1234567890123456789",
                                         "123456789.123",
                                         "99999999.9",
                                         "12345678"};
    static const char *const WRONG[] = {"1e999", "nan", "",     "-",   "--1", "1.2.3",
                                        "0x10",  "1 2", "-inf", "12a", "1,2", "\"1"};
    char digits[401];
    const int decimals = (int)tacet_simrng_below(rng, 9);
    const char *end = hostile > 0 && tacet_simrng_below(rng, 4) == 0 ? "\r\n" : "\n";
    const size_t wrong =
        hostile > 0 && tacet_simrng_below(rng, 2) == 0 ? tacet_simrng_below(rng, 8 * records) : SIZE_MAX;
    size_t n = (size_t)sprintf(text, "a,b,c,d%s", end);
    for (size_t i = 0; i < COLUMNS * records; i++) {
        const double x = (i % 2 ? 2000 : 20) * tacet_simrng_uniform(rng) - 10;
        if (hostile > 0 && tacet_simrng_below(rng, hostile) == 0) {
            const size_t which = tacet_simrng_below(rng, sizeof FIELDS / sizeof FIELDS[0] + 2);
            const size_t length = which % 2 ? 400 : 20 + tacet_simrng_below(rng, 289); /* 1e400 is not finite */
            memset(digits, '3', length);
            digits[length] = '\0';
            const bool known = which < sizeof FIELDS / sizeof FIELDS[0];
            n += (size_t)sprintf(text + n, known || length < 400 ? "%s" : "0.%s", known ? FIELDS[which] : digits);
        } else if (i == wrong) {
            n += (size_t)sprintf(text + n, "%s", WRONG[tacet_simrng_below(rng, sizeof WRONG / sizeof WRONG[0])]);
        } else {
            n += (size_t)sprintf(text + n, "%.*f", decimals, x);
        }
        const bool last = i + 1 == COLUMNS * records;
        n += (size_t)sprintf(text + n, "%s", (i + 1) % COLUMNS != 0 ? "," : last && records % 2 == 0 ? "" : end);
    }
    assert_true(n < TEXT);
    return n;
}

static void same(const outcome *a, const outcome *b, size_t count, bool values) {
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->records, b->records);
    if (a->status != TACET_OK) {
        assert_string_equal(a->err.message, b->err.message);
    }
    if (values) {
        assert_memory_equal(a->values, b->values, a->records * count * sizeof *a->values);
    }
}

static void test_same(void **state) {
    tacet_simrng rng = test_rng(21, 0);
    char *text = malloc(TEXT);
    outcome slow = {.values = malloc(MOST_NUMBERS * sizeof(double))};
    outcome quick = {.values = malloc(MOST_NUMBERS * sizeof(double))};
    static const size_t WANTED[][3] = {{0, 2, 3}, {3, 0, 2}, {2, 2, 0}, {3, 3, 3}, {2, 0, 1}};
    size_t failed = 0;
    const int tables = test_slow() ? 20 : 250;
    for (int k = 0; k < tables; k++) {
        static const unsigned ODD[] = {0, 3, 50, 2000};
        tacet_simrng cuts;
        tacet_csv_settings settings;
        const size_t records = 1 + tacet_simrng_below(&rng, k % 5 == 0 ? 6000 : 60);
        memory m = {.text = text, .rng = k % 2 == 0 ? &cuts : NULL};
        m.size = make_text(text, &rng, records, ODD[k % 4], k % 3 == 0);
        tacet_simrng_init(&cuts, 22, (uint64_t)k);
        tacet_csv_defaults(&settings);
        const size_t *columns = WANTED[k % 9 < 5 ? k % 9 : 0];
        const size_t count = k % 7 == 0 ? 1 : k % 7 == 1 ? 2 : 3;
        one_at_a_time(&slow, &m, columns, count, &settings);
        failed += slow.status != TACET_OK;
        many(&quick, &m, columns, count, &settings, &rng);
        same(&slow, &quick, count, true);
        in_blocks(&quick, &m, columns, count, &settings, false);
        same(&slow, &quick, count, true);
        in_blocks(&quick, &m, columns, count, &settings, true);
        same(&slow, &quick, count, false);
    }
    assert_true((failed > 50 && failed < 200) || test_slow());
    free(text);
    free(slow.values);
    free(quick.values);
}

/* The same for tables of numbers only, which a block reads by its marks; some or all of the columns, in any order. */
static void test_numbers_only(void **state) {
    tacet_simrng rng = test_rng(24, 0);
    char *text = malloc(TEXT);
    outcome slow = {.values = malloc(MOST_NUMBERS * sizeof(double))};
    outcome quick = {.values = malloc(MOST_NUMBERS * sizeof(double))};
    static const size_t WANTED[][COLUMNS] = {{0, 1, 2, 3}, {3, 1, 0, 2}, {1, 2, 0, 0}, {2, 0, 0, 0}};
    static const size_t COUNT[] = {4, 4, 2, 1};
    static const size_t HOSTILE[] = {0, 4, 300, 3000, 1000000};
    size_t failed = 0;
    const int tables = test_slow() ? 20 : 400;
    for (int k = 0; k < tables; k++) {
        tacet_csv_settings settings;
        memory m = {.text = text};
        const size_t hostile = HOSTILE[k % 5];
        m.size = make_numbers(text, &rng,
                              1 + tacet_simrng_below(&rng, hostile == 4 ? 300
                                                           : k % 3 == 0 ? 5000
                                                                        : 40),
                              hostile);
        tacet_csv_defaults(&settings);
        const size_t which = tacet_simrng_below(&rng, 4);
        one_at_a_time(&slow, &m, WANTED[which], COUNT[which], &settings);
        failed += slow.status != TACET_OK;
        in_blocks(&quick, &m, WANTED[which], COUNT[which], &settings, false);
        same(&slow, &quick, COUNT[which], true);
        in_blocks(&quick, &m, WANTED[which], COUNT[which], &settings, true);
        same(&slow, &quick, COUNT[which], false);
        many(&quick, &m, WANTED[which], COUNT[which], &settings, &rng);
        same(&slow, &quick, COUNT[which], true);
    }
    assert_true((failed > 20 && failed < 300) || test_slow());
    free(text);
    free(slow.values);
    free(quick.values);
}

/* A record far longer than a block, one longer than is allowed, and a delimiter that could be part of a number. */
static void test_long_and_odd(void **state) {
    enum { LONG = 300000 };
    char *text = malloc(TEXT);
    outcome slow = {.values = malloc(MOST_NUMBERS * sizeof(double))};
    outcome quick = {.values = malloc(MOST_NUMBERS * sizeof(double))};
    const size_t columns[] = {0, 2};
    tacet_csv_settings settings;
    for (int k = 0; k < 5; k++) {
        memory m = {.text = text};
        size_t n = (size_t)sprintf(text, k == 3   ? "xeney\n1ee2\n"
                                         : k == 4 ? "x-note-y\n1-a-2\n"
                                                  : "x,note,y\n1,,2\n3,\"");
        if (k < 3) {
            memset(text + n, k == 1 ? '\n' : 'a', LONG);
            n += LONG + (size_t)sprintf(text + n + LONG, "\",4\n5,b,6");
        }
        m.size = n;
        tacet_csv_defaults(&settings);
        settings.delimiter = k == 3 ? 'e' : k == 4 ? '-' : ',';
        settings.most_bytes = k == 2 ? 100000 : settings.most_bytes;
        one_at_a_time(&slow, &m, columns, k == 3 ? 1 : 2, &settings);
        assert_int_equal(slow.status, k == 2 ? TACET_PARSE : TACET_OK);
        in_blocks(&quick, &m, columns, k == 3 ? 1 : 2, &settings, false);
        same(&slow, &quick, k == 3 ? 1 : 2, true);
    }
    free(text);
    free(slow.values);
    free(quick.values);
}

/* Every number as strtod has it, whichever way it took. */
static void test_bits(void **state) {
    enum { RECORDS = 200000 };
    tacet_simrng rng = test_rng(23, 0);
    char *text = malloc((size_t)RECORDS * 40);
    double *expected = malloc(RECORDS * sizeof *expected), *found = malloc(RECORDS * sizeof *found);
    size_t n = (size_t)sprintf(text, "x\n");
    for (size_t j = 0; j < RECORDS; j++) {
        const size_t start = n;
        const size_t whole = 1 + tacet_simrng_below(&rng, tacet_simrng_below(&rng, 2) ? 4 : 19);
        const size_t fraction = tacet_simrng_below(&rng, tacet_simrng_below(&rng, 2) ? 5 : 18);
        const uint64_t nines = tacet_simrng_below(&rng, 8);
        if (tacet_simrng_below(&rng, 2)) {
            text[n++] = '-';
        }
        for (size_t i = 0; i < whole + fraction; i++) {
            if (i == whole) {
                text[n++] = '.';
            }
            text[n++] = (char)('0' + (nines == 0 ? 9 : nines == 1 ? 0 : tacet_simrng_below(&rng, 10)));
        }
        text[n] = '\0';
        expected[j] = strtod(text + start, NULL);
        text[n++] = '\n';
    }
    memory m = {.text = text, .size = n};
    tacet_csv *csv = open_text(&m, NULL);
    const size_t column = 0;
    size_t got = 0;
    assert_ok(tacet_csv_rows(csv, found, &got, &column, 1, RECORDS, NULL));
    assert_int_equal(got, RECORDS);
    for (size_t j = 0; j < RECORDS; j++) {
        if (memcmp(&found[j], &expected[j], sizeof found[j]) != 0) {
            fail_msg("record %zu: %.17g, expected %.17g", j, found[j], expected[j]);
        }
    }
    tacet_csv *again = open_text(&m, NULL);
    tacet_csv *block = NULL;
    assert_ok(tacet__csv_block_open(&block, again, NULL));
    for (size_t j = 0;;) {
        bool more = false;
        assert_ok(tacet__csv_block_take(block, again, &more, NULL));
        if (!more) {
            assert_int_equal(j, RECORDS);
            break;
        }
        assert_ok(tacet_csv_rows(block, found, &got, &column, 1, RECORDS - j, NULL));
        assert_memory_equal(found, expected + j, got * sizeof *found);
        j += got;
    }
    tacet_csv_close(block);
    tacet_csv_close(again);
    const size_t none = 7;
    assert_status(tacet_csv_rows(csv, found, &got, &none, 1, 1, NULL), TACET_INVALID);
    assert_ok(tacet_csv_rows(csv, found, &got, &column, 1, 5, NULL));
    assert_int_equal(got, 0);
    tacet_csv_close(csv);
    free(text);
    free(expected);
    free(found);
}

static void test_no_memory(void **state) {
    memory m = {.text = "x,y\n1,2\n", .size = 8};
    tacet_csv *csv = open_text(&m, NULL);
    bool more = true;
    for (long n = 1; more; n++) {
        tacet_csv *block = NULL;
        bool found = false;
        double x = 0;
        size_t got = 0;
        const size_t column = 1;
        fail_alloc_after(n);
        tacet_status status = tacet__csv_block_open(&block, csv, NULL);
        TACET_THEN(status, tacet__csv_block_take(block, csv, &found, NULL));
        status = status != TACET_OK || !found ? status : tacet_csv_rows(block, &x, &got, &column, 1, 1, NULL);
        more = fail_alloc_hit() != 0;
        fail_alloc_after(0);
        assert_int_equal(status, more ? TACET_NO_MEMORY : TACET_OK);
        assert_true(status == TACET_OK || x == 0);
        tacet_csv_close(block);
        tacet_csv_close(csv);
        csv = open_text(&m, NULL);
    }
    tacet_csv_close(csv);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_numbers_only),
                                       cmocka_unit_test(test_long_and_odd), cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
