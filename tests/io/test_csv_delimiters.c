/* SPDX-License-Identifier: Apache-2.0 */
/* test_csv_delimiters.c - characters found sixty-four at a time, and rules between neighbours, against a byte at a
 * time. */
#include "io/csv/delimiters.h"

#include "support/test.h"

#include <tacet/core/simrng.h>

enum { BYTES = TACET__MARKS_BYTES, TEXT = 4096 };

static void by_bytes(tacet__delimiters *out, const char *text, char delimiter) {
    *out = (tacet__delimiters){0};
    for (unsigned i = 0; i < BYTES; i++) {
        const uint64_t bit = UINT64_C(1) << i;
        out->delimiters |= text[i] == delimiter ? bit : 0;
        out->feeds |= text[i] == '\n' ? bit : 0;
        out->digits |= text[i] >= '0' && text[i] <= '9' ? bit : 0;
        out->points |= text[i] == '.' ? bit : 0;
        out->minuses |= text[i] == '-' ? bit : 0;
    }
}

/* Every byte in every place, among random ones and among those that differ from a mark in one bit. */
static void test_marks(void **state) {
    static const char NEAR[] = ",\n09.-/:;+*\r\v,<l\xac\x8a\xb0\xae\xad";
    tacet_simrng rng = test_rng(31, 0);
    for (int k = 0; k < 40000; k++) {
        char text[BYTES];
        tacet__delimiters expected, found, portable;
        const char delimiter = k % 3 == 0 ? ';' : k % 3 == 1 ? ',' : '\xac';
        for (size_t i = 0; i < BYTES; i++) {
            text[i] = tacet_simrng_below(&rng, 2) ? NEAR[tacet_simrng_below(&rng, sizeof NEAR)]
                                                  : (char)tacet_simrng_below(&rng, 256);
        }
        text[k % BYTES] = (char)(k / BYTES % 256);
        by_bytes(&expected, text, delimiter);
        tacet__csv_delimiters(&found, text, delimiter);
        tacet__csv_delimiters_portable(&portable, text, delimiter);
        assert_memory_equal(&found, &expected, sizeof found);
        assert_memory_equal(&portable, &expected, sizeof portable);
    }
}

/* The definition of io/csv/delimiters.h, a character at a time. */
static bool plain(size_t *records, const char *text, size_t size, size_t columns) {
    size_t field = 1, start = 0;
    *records = 0;
    for (size_t at = 0; at < size; at++) {
        if (text[at] != ',' && text[at] != '\n') {
            continue;
        }
        size_t i = start + (text[start] == '-');
        const size_t whole = i;
        for (; i < at && text[i] >= '0' && text[i] <= '9'; i++) {
        }
        if (i == whole) {
            return false;
        }
        if (i < at && text[i] == '.') {
            const size_t fraction = ++i;
            for (; i < at && text[i] >= '0' && text[i] <= '9'; i++) {
            }
            if (i == fraction) {
                return false;
            }
        }
        if (i != at || (text[at] == '\n') != (field == columns)) {
            return false;
        }
        *records += text[at] == '\n';
        field = text[at] == '\n' ? 1 : field + 1;
        start = at + 1;
    }
    return size > 0 && start == size;
}

static size_t put_table(char *text, tacet_simrng *rng, size_t columns, size_t records) {
    size_t n = 0;
    for (size_t i = 0; i < columns * records; i++) {
        const double x = 2000 * tacet_simrng_uniform(rng) - 1000;
        n += (size_t)sprintf(text + n, "%.*f%c", (int)tacet_simrng_below(rng, 6), x,
                             (i + 1) % columns == 0 ? '\n' : ',');
    }
    return n;
}

/* Tables of plain numbers, most of them with one byte changed, inserted or left out. */
static void test_plain(void **state) {
    static const char BYTES_TO_TRY[] = "0123456789.-,\n\r+ eE\"\t\0x;";
    tacet_simrng rng;
    size_t yes = 0, no = 0;
    tacet_simrng_init(&rng, 32, 0);
    const int tables = test_slow() ? 1500 : 60000;
    for (int k = 0; k < tables; k++) {
        char text[TEXT];
        size_t expected = 0, found = 0;
        const size_t columns = 1 + tacet_simrng_below(&rng, 12);
        size_t size = put_table(text, &rng, columns, 1 + tacet_simrng_below(&rng, 20));
        const size_t place = tacet_simrng_below(&rng, size);
        const char byte = BYTES_TO_TRY[tacet_simrng_below(&rng, sizeof BYTES_TO_TRY - 1)];
        switch (k % 4) {
        case 0:
            text[place] = byte;
            break;
        case 1:
            memmove(text + place + 1, text + place, size++ - place);
            text[place] = byte;
            break;
        case 2:
            memmove(text + place, text + place + 1, --size - place);
            break;
        default:
            break;
        }
        const bool simple = plain(&expected, text, size, columns);
        assert_int_equal(tacet__csv_plain(&found, text, size, columns, ','), simple);
        if (simple) {
            assert_int_equal(found, expected);
        }
        yes += simple;
        no += !simple;
    }
    assert_true(6 * yes > (size_t)tables && 6 * no > (size_t)tables);
}

/* Numbers so long that they might not be finite are nobody's plain ones; up to 63 characters all are. */
static void test_long(void **state) {
    for (size_t length = 1; length < 600; length++) {
        for (size_t shift = 0; shift < BYTES; shift += 7) {
            char text[TEXT];
            size_t n = 0, records = 0;
            for (size_t i = 0; i < shift; i++) {
                n += (size_t)sprintf(text + n, "1\n");
            }
            memset(text + n, '9', length);
            n += length;
            text[n++] = '\n';
            const bool found = tacet__csv_plain(&records, text, n, 1, ',');
            if (length < BYTES) {
                assert_true(found);
            }
            if (length > 126) {
                assert_false(found);
            }
            if (found) {
                assert_int_equal(records, shift + 1);
            }
        }
    }
    size_t records = 0;
    assert_false(tacet__csv_plain(&records, "", 0, 1, ','));
    assert_false(tacet__csv_plain(&records, "1", 1, 1, ','));
    assert_true(tacet__csv_plain(&records, "1\n", 2, 1, ','));
}

static void test_places(void **state) {
    tacet_simrng rng = test_rng(33, 0);
    for (int k = 0; k < 2000; k++) {
        char text[TEXT];
        uint32_t places[TEXT + 1];
        const size_t size = tacet_simrng_below(&rng, k % 2 ? 300 : TEXT);
        size_t next = 0;
        for (size_t i = 0; i < size; i++) {
            text[i] = ",\n0\"a"[tacet_simrng_below(&rng, k % 5 == 0 ? 2 : 5)];
        }
        const size_t count = tacet__csv_places(places, text, size, ',');
        for (size_t i = 0; i < size; i++) {
            if (text[i] == ',' || text[i] == '\n') {
                assert_true(next < count);
                assert_int_equal(places[next++], i);
            }
        }
        assert_int_equal(next, count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_marks), cmocka_unit_test(test_plain),
                                       cmocka_unit_test(test_long), cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
