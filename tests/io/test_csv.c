/* SPDX-License-Identifier: Apache-2.0 */
/* test_csv.c - the CSV reader: files as they come, files to refuse, and the same result wherever the input is cut. */
#include "support/test.h"

#include "io/csv/internal.h"
#include <tacet/core/simrng.h>

/* A source that hands out a string in given pieces. */
typedef struct pieces {
    const char *bytes;
    size_t size;
    size_t at;
    size_t cut; /* the first read ends here; later ones give `most` bytes */
    size_t most;
    int closed;
    tacet_status fail_at_end;
} pieces;

static tacet_status read_pieces(void *user, void *buffer, size_t capacity, size_t *count, tacet_error *err) {
    (void)err;
    pieces *p = user;
    size_t n = p->at < p->cut ? p->cut - p->at : p->most;
    n = n < capacity ? n : capacity;
    n = n < p->size - p->at ? n : p->size - p->at;
    if (n == 0 && p->fail_at_end != TACET_OK) {
        return p->fail_at_end;
    }
    memcpy(buffer, p->bytes + p->at, n);
    p->at += n;
    *count = n;
    return TACET_OK;
}

static void close_pieces(void *user) {
    ((pieces *)user)->closed++;
}

static tacet_csv_source source_of(pieces *p, const char *bytes, size_t size, size_t cut, size_t most) {
    *p = (pieces){.bytes = bytes, .size = size, .cut = cut, .most = most};
    return (tacet_csv_source){.name = "t.csv", .read = read_pieces, .close = close_pieces, .user = p};
}

/* All records as one text: fields between brackets, then the line they began on; or the error. */
static void dump(char *out, size_t room, const char *bytes, size_t size, size_t cut, size_t most) {
    pieces p;
    const tacet_csv_source source = source_of(&p, bytes, size, cut, most);
    tacet_error err = {0};
    tacet_csv *csv = NULL;
    size_t at = 0;
    bool found = true;
    tacet_status status = tacet_csv_open(&csv, &source, NULL, &err);
    assert_true((status == TACET_OK) == (csv != NULL));
    out[0] = '\0';
    if (csv != NULL) {
        for (size_t j = 0; j < tacet_csv_columns(csv); j++) {
            at += (size_t)snprintf(out + at, room - at, "[%s]", tacet_csv_name(csv, j));
        }
        assert_null(tacet_csv_name(csv, tacet_csv_columns(csv)));
        assert_null(tacet_csv_field(csv, 0, NULL));
        uint64_t record = 0;
        while ((status = tacet_csv_next(csv, &found, &err)) == TACET_OK && found) {
            assert_true(tacet_csv_record(csv) == record++);
            at += (size_t)snprintf(out + at, room - at, " %llu:", (unsigned long long)tacet_csv_line(csv));
            for (size_t j = 0; j < tacet_csv_columns(csv); j++) {
                size_t length = 0;
                const char *text = tacet_csv_field(csv, j, &length);
                assert_int_equal(strlen(text), length);
                at += (size_t)snprintf(out + at, room - at, "[%s]", text);
            }
        }
        if (status != TACET_OK) { /* a failed reader repeats itself */
            tacet_error again = {0};
            assert_int_equal(tacet_csv_next(csv, &found, &again), status);
            assert_string_equal(again.message, err.message);
            assert_false(found);
        }
        assert_null(tacet_csv_field(csv, 0, NULL));
        tacet_csv_close(csv);
    }
    assert_int_equal(p.closed, 1);
    if (status != TACET_OK) {
        (void)snprintf(out + at, room - at, " %s %s", tacet_status_name(status), err.message);
    }
}

typedef struct example {
    const char *bytes;
    const char *expected;
} example;

static const example EXAMPLES[] = {
    {"a,b\n1,2\n3,4\n", "[a][b] 2:[1][2] 3:[3][4]"},
    {"a,b\n1,2\n3,4", "[a][b] 2:[1][2] 3:[3][4]"},
    {"a,b\r\n1,2\r\n3,4\r\n", "[a][b] 2:[1][2] 3:[3][4]"},
    {"a,b\r1,2\r3,4\r", "[a][b] 2:[1][2] 3:[3][4]"},
    {"a,b\r\r\n1,2\n\r3,4", "[a][b] 3:[1][2] 5:[3][4]"},
    {"\xef\xbb\xbf"
     "a,b\n1,2",
     "[a][b] 2:[1][2]"},
    {"\xef\xbb\xbf\"a\",b\n1,2", "[a][b] 2:[1][2]"},
    {"\xef\xbb", "[\xef\xbb]"},
    {"a", "[a]"},
    {"a,", "[a][]"},
    {"a,b\n,\n,x\nx,\n", "[a][b] 2:[][] 3:[][x] 4:[x][]"},
    {"a,b\n\"\",\"\"\n", "[a][b] 2:[][]"},
    {"a,b\n\"x,y\",\"say \"\"hi\"\"\"\n", "[a][b] 2:[x,y][say \"hi\"]"},
    {"a,b\n\"1\n2\",3\n4,5", "[a][b] 2:[1\n2][3] 4:[4][5]"},
    {"a,b\n\"1\r\n2\r3\n\n\",3\n4,5", "[a][b] 2:[1\r\n2\r3\n\n][3] 7:[4][5]"},
    {"a,b\n\"\"\"\r\n\"\"\r\n\",3\n4,5", "[a][b] 2:[\"\r\n\"\r\n][3] 5:[4][5]"},
    {"a,b\n5\" pipe,x\"y\n", "[a][b] 2:[5\" pipe][x\"y]"},
    {" a , b\t\n 1 ,2\n", "[a][b] 2:[ 1 ][2]"},
    {"\n\r\n\na,b\n\n1,2\n\n\n", "[a][b] 6:[1][2]"},
    {"a\n1\n\n2\n", "[a] 2:[1] 3:[] 4:[2]"},
    {"a\r\n\r\n2", "[a] 2:[] 3:[2]"},
    {"a,b\n1,\"2\"", "[a][b] 2:[1][2]"},
    {"a,b\n1,\"\"", "[a][b] 2:[1][]"},
    {"", " PARSE t.csv: empty; a first line with the columns' names is needed"},
    {"\n\r\n", " PARSE t.csv: empty; a first line with the columns' names is needed"},
    {"\xef\xbb\xbf", " PARSE t.csv: empty; a first line with the columns' names is needed"},
    {"\xff\xfe"
     "a",
     " PARSE t.csv: line 1: UTF-16 text; the table must be UTF-8"},
    {"a,b\n1\n", "[a][b] PARSE t.csv: line 2: 1 fields, but the header has 2"},
    {"a,b\n1,2\n\n1,2,3\n", "[a][b] 2:[1][2] PARSE t.csv: line 4: more fields than the header's 2"},
    {"a,b\n1,2,\n", "[a][b] PARSE t.csv: line 2: more fields than the header's 2"},
    {"a,b\n   \n", "[a][b] PARSE t.csv: line 2: 1 fields, but the header has 2"},
    {"a,b\n1,\"2\n3\n", "[a][b] PARSE t.csv: line 2: a quote that is never closed"},
    {"a,b\n\"1\"x,2\n", "[a][b] PARSE t.csv: line 2: text after a closing quote"},
    {"a,b\n\"1\n\" ,2\n", "[a][b] PARSE t.csv: line 3: text after a closing quote"},
    {"a,b\n1, \"2\"\n", "[a][b] PARSE t.csv: line 2: a quote after leading blanks; quotes must be the field's first "
                        "character"},
};

static void test_examples(void **state) {
    char out[512];
    for (size_t i = 0; i < sizeof EXAMPLES / sizeof EXAMPLES[0]; i++) {
        const size_t size = strlen(EXAMPLES[i].bytes);
        dump(out, sizeof out, EXAMPLES[i].bytes, size, size, 1);
        assert_string_equal(out, EXAMPLES[i].expected);
    }
    dump(out, sizeof out, "a,b\n1,\0\n", 8, 8, 1);
    assert_string_equal(out, "[a][b] PARSE t.csv: line 2: a NUL byte; the table must be UTF-8 text");
    dump(out, sizeof out, "a,b\n1,\"\0\"\n", 10, 10, 1);
    assert_string_equal(out, "[a][b] PARSE t.csv: line 2: a NUL byte; the table must be UTF-8 text");
}

/* Cut at every place, followed by reads of 1, 2, 3 or all bytes: always the same. */
static void test_every_split(void **state) {
    char out[512];
    for (size_t i = 0; i < sizeof EXAMPLES / sizeof EXAMPLES[0]; i++) {
        const size_t size = strlen(EXAMPLES[i].bytes);
        for (size_t cut = 0; cut <= size; cut++) {
            static const size_t sizes[] = {1, 2, 3, 1000};
            for (size_t k = 0; k < 4; k++) {
                dump(out, sizeof out, EXAMPLES[i].bytes, size, cut, sizes[k]);
                assert_string_equal(out, EXAMPLES[i].expected);
            }
        }
    }
}

/* Random tables: written by an independent writer, read back from random pieces, field by field. */
static void test_round_trip(void **state) {
    static const char alphabet[] = "ab1,\"\r\n \t;\xc3\xa9";
    static char text[1 << 16];
    static char fields[64][16][12];
    tacet_simrng rng = test_rng(11, 0);
    for (int trial = 0; trial < 400; trial++) {
        const size_t columns = 2 + tacet_simrng_below(&rng, 15);
        const size_t records = 1 + tacet_simrng_below(&rng, 63);
        size_t at = 0;
        for (size_t i = 0; i <= records; i++) {
            for (size_t j = 0; j < columns; j++) {
                char *f = fields[i == 0 ? 63 : i - 1][j];
                const size_t length = i == 0 ? 1 : tacet_simrng_below(&rng, 11);
                for (size_t k = 0; k < length; k++) {
                    f[k] = i == 0 ? 'h' : alphabet[tacet_simrng_below(&rng, sizeof alphabet - 1)];
                }
                f[length] = '\0';
                const bool quoted = strpbrk(f, ",\"\r\n") != NULL || tacet_simrng_below(&rng, 4) == 0;
                if (quoted) {
                    text[at++] = '"';
                }
                for (const char *c = f; *c != '\0'; c++) {
                    text[at++] = *c;
                    if (*c == '"') {
                        text[at++] = '"';
                    }
                }
                if (quoted) {
                    text[at++] = '"';
                }
                text[at++] = ',';
            }
            at--;
            text[at++] = '\r';
            text[at++] = '\n';
        }
        pieces p;
        const tacet_csv_source source =
            source_of(&p, text, at, tacet_simrng_below(&rng, at), 1 + tacet_simrng_below(&rng, 97));
        tacet_csv *csv = NULL;
        assert_ok(tacet_csv_open(&csv, &source, NULL, NULL));
        assert_int_equal(tacet_csv_columns(csv), columns);
        bool found = false;
        for (size_t i = 0; i < records; i++) {
            assert_ok(tacet_csv_next(csv, &found, NULL));
            assert_true(found);
            for (size_t j = 0; j < columns; j++) {
                assert_string_equal(tacet_csv_field(csv, j, NULL), fields[i][j]);
            }
        }
        assert_ok(tacet_csv_next(csv, &found, NULL));
        assert_false(found);
        tacet_csv_close(csv);
    }
}

static void test_find_and_numbers(void **state) {
    static const char text[] = "x,y,x,n\xc3\xa4me\n1.5,-2e3,3, 4 \n1,,1,oops\n1,nan,1,1e999\n1,2,3,4\n";
    pieces p;
    const tacet_csv_source source = source_of(&p, text, sizeof text - 1, 7, 5);
    tacet_csv *csv = NULL;
    tacet_error err = {0};
    assert_ok(tacet_csv_open(&csv, &source, NULL, &err));
    size_t column = 99;
    double out[3] = {0};
    bool found = false;
    const size_t columns[3] = {0, 1, 3};
    assert_status(tacet_csv_numbers(csv, out, columns, 3, NULL), TACET_STATE);
    assert_ok(tacet_csv_find(csv, &column, "y", &err));
    assert_int_equal(column, 1);
    assert_ok(tacet_csv_find(csv, &column, "n\xc3\xa4me", &err));
    assert_int_equal(column, 3);
    assert_status(tacet_csv_find(csv, &column, "z\n", &err), TACET_NOT_FOUND);
    assert_string_equal(err.message, "t.csv: line 1: no column is called 'z?'");
    tacet_error_clear(&err);
    assert_status(tacet_csv_find(csv, &column, "x", &err), TACET_PARSE);
    assert_string_equal(err.message, "t.csv: line 1: two columns are called 'x' (1 and 3)");
    assert_int_equal(column, 3);
    assert_ok(tacet_csv_next(csv, &found, NULL));
    assert_ok(tacet_csv_numbers(csv, out, columns, 3, NULL));
    assert_true(out[0] == 1.5 && out[1] == -2000 && out[2] == 4);
    const size_t beyond = 4;
    assert_status(tacet_csv_numbers(csv, out, &beyond, 1, NULL), TACET_INVALID);
    static const char *const messages[2][2] = {
        {"t.csv: line 3, column 'y': empty, but a number is needed",
         "t.csv: line 3, column 'n\xc3\xa4me': not a number"},
        {"t.csv: line 4, column 'y': not a finite number", "t.csv: line 4, column 'n\xc3\xa4me': not a finite number"}};
    for (size_t i = 0; i < 2; i++) {
        assert_ok(tacet_csv_next(csv, &found, NULL));
        for (size_t k = 0; k < 2; k++) {
            tacet_error_clear(&err);
            assert_status(tacet_csv_numbers(csv, out, &columns[1 + k], 1, &err), TACET_PARSE);
            assert_string_equal(err.message, messages[i][k]);
        }
    }
    assert_ok(tacet_csv_next(csv, &found, NULL)); /* a bad number does not end the reading */
    assert_ok(tacet_csv_numbers(csv, out, columns, 3, NULL));
    tacet_csv_close(csv);
}

static void test_limits(void **state) {
    static char text[1 << 20];
    memset(text, 'x', sizeof text);
    memcpy(text, "a,b\n\"", 5);
    tacet_csv_settings settings;
    tacet_csv_defaults(&settings);
    pieces p;
    tacet_csv_source source = source_of(&p, text, sizeof text, sizeof text, 1);
    tacet_csv *csv = NULL;
    tacet_error err = {0};
    bool found = false;
    /* A record much longer than the first buffer is read when allowed … */
    memcpy(text + sizeof text - 3, "\",1", 3);
    assert_ok(tacet_csv_open(&csv, &source, &settings, &err));
    assert_ok(tacet_csv_next(csv, &found, &err));
    size_t length = 0;
    assert_non_null(tacet_csv_field(csv, 0, &length));
    assert_int_equal(length, sizeof text - 5 - 3);
    assert_string_equal(tacet_csv_field(csv, 1, NULL), "1");
    tacet_csv_close(csv);
    /* … and refused when not, wherever the input is cut. */
    settings.most_bytes = 1000;
    for (size_t cut = 1; cut < sizeof text; cut = cut * 7 + 1) {
        source = source_of(&p, text, sizeof text, cut, 100000);
        assert_ok(tacet_csv_open(&csv, &source, &settings, &err));
        assert_status(tacet_csv_next(csv, &found, &err), TACET_PARSE);
        assert_string_equal(err.message, "t.csv: line 2: the record is longer than 1000 bytes (a quote not closed?)");
        tacet_error_clear(&err);
        tacet_csv_close(csv);
    }
    settings.most_fields = 3;
    source = source_of(&p, "a,b,c,d\n", 8, 8, 1);
    assert_status(tacet_csv_open(&csv, &source, &settings, &err), TACET_PARSE);
    assert_string_equal(err.message, "t.csv: line 1: more than 3 fields");
    assert_int_equal(p.closed, 1);
}

static void test_source_fails(void **state) {
    pieces p;
    tacet_csv_source source = source_of(&p, "a,b\n1,2\n3,", 10, 10, 1);
    p.fail_at_end = TACET_IO;
    tacet_csv *csv = NULL;
    tacet_error err = {0};
    bool found = false;
    assert_ok(tacet_csv_open(&csv, &source, NULL, &err));
    assert_ok(tacet_csv_next(csv, &found, &err));
    assert_status(tacet_csv_next(csv, &found, &err), TACET_IO);
    assert_string_equal(err.message, "t.csv: reading failed");
    tacet_csv_close(csv);
    /* A long path keeps its end, and leaves room for the rule. */
    char path[300];
    memset(path, 'p', sizeof path);
    memcpy(path + sizeof path - 9, "/end.csv", 9);
    source = source_of(&p, "a,b\n1\n", 6, 6, 1);
    source.name = path;
    tacet_error_clear(&err);
    assert_ok(tacet_csv_open(&csv, &source, NULL, &err));
    assert_status(tacet_csv_next(csv, &found, &err), TACET_PARSE);
    assert_non_null(strstr(err.message, "p/end.csv: line 2: 1 fields, but the header has 2"));
    assert_int_equal(strncmp(err.message, "...p", 4), 0);
    tacet_csv_close(csv);
}

static tacet_status load(tacet_csv_table *table, const char *text, const tacet_csv_wanted *wanted, tacet_error *err) {
    pieces p;
    const tacet_csv_source source = source_of(&p, text, strlen(text), 3, 4);
    tacet_csv *csv = NULL;
    tacet_status status = tacet_csv_open(&csv, &source, NULL, err);
    TACET_THEN(status, tacet_csv_load(table, csv, wanted, err));
    tacet_csv_close(csv);
    assert_int_equal(p.closed, 1);
    return status;
}

static void test_load(void **state) {
    static const char *const names[] = {"y", "x"};
    tacet_csv_wanted wanted = {.columns = names, .d = 2};
    tacet_csv_table table;
    assert_ok(load(&table, "x,skip,y\n1,?,2\n3,,4\n5,\"a\nb\",6\n", &wanted, NULL));
    assert_int_equal(table.d, 2);
    assert_int_equal(table.n, 3);
    static const double expected[] = {2, 1, 4, 3, 6, 5};
    assert_memory_equal(table.values, expected, sizeof expected);
    tacet_csv_table_clear(&table);
    assert_null(table.values);
    tacet_csv_table_clear(&table);
    tacet_csv_table_clear(NULL);

    static const struct {
        const char *text;
        size_t least, most;
        bool no_constants;
        tacet_status status;
        const char *message;
    } cases[] = {
        {"x,y\n", 0, 0, false, TACET_PARSE, "t.csv: 0 records after the header, at least 1 needed"},
        {"x,y\n1,2\n", 2, 0, false, TACET_PARSE, "t.csv: 1 records after the header, at least 2 needed"},
        {"x,y\n1,2\n1,2\n1,2\n", 0, 2, false, TACET_PARSE, "t.csv: line 4: more than 2 records"},
        {"x,y\n1,2\n3,2\n", 0, 0, true, TACET_PARSE, "t.csv: column 'y' has the same value in every record"},
        {"x,y\n1,2\n3,2\n4,inf\n", 0, 0, false, TACET_PARSE, "t.csv: line 4, column 'y': not a finite number"},
        {"x,z\n1,2\n", 0, 0, false, TACET_NOT_FOUND, "t.csv: line 1: no column is called 'y'"},
        {"x,y,y\n1,2,3\n", 0, 0, false, TACET_PARSE, "t.csv: line 1: two columns are called 'y' (2 and 3)"},
        {"x,y\n1,2\n1\n", 0, 0, false, TACET_PARSE, "t.csv: line 3: 1 fields, but the header has 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tacet_error err = {0};
        wanted.least_records = cases[i].least;
        wanted.most_records = cases[i].most;
        wanted.no_constants = cases[i].no_constants;
        assert_status(load(&table, cases[i].text, &wanted, &err), cases[i].status);
        assert_string_equal(err.message, cases[i].message);
        assert_null(table.values);
    }
    static const char *const twice[] = {"x", "x"};
    wanted = (tacet_csv_wanted){.columns = twice, .d = 2};
    assert_status(load(&table, "x,y\n1,2\n", &wanted, NULL), TACET_INVALID);
    wanted.d = 0;
    assert_status(load(&table, "x,y\n1,2\n", &wanted, NULL), TACET_INVALID);
    wanted.d = 1;
    assert_ok(load(&table, "x,y\n1,2\n1,2\n", &wanted, NULL)); /* constants are allowed unless refused */
    tacet_csv_table_clear(&table);
}

static void test_no_memory(void **state) {
    static char text[40000];
    size_t at = (size_t)snprintf(text, sizeof text, "x,y\n");
    for (int i = 0; i < 3000; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%d,%d\n", i, -i);
    }
    static const char *const names[] = {"x", "y"};
    const tacet_csv_wanted wanted = {.columns = names, .d = 2};
    for (long n = 1;; n++) {
        tacet_csv_table table;
        pieces p;
        const tacet_csv_source source = source_of(&p, text, at, at, 1);
        tacet_csv *csv = NULL;
        tacet_error err = {0};
        fail_alloc_after(n);
        tacet_status status = tacet_csv_open(&csv, &source, NULL, &err);
        const bool opened = status == TACET_OK;
        if (opened) {
            status = tacet_csv_load(&table, csv, &wanted, &err);
        }
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        assert_true(opened == (csv != NULL));
        tacet_csv_close(csv);
        assert_int_equal(p.closed, 1);
        if (!hit) {
            assert_ok(status);
            assert_int_equal(table.n, 3000);
            assert_true(table.values[2 * 2999 + 1] == -2999);
            tacet_csv_table_clear(&table);
            assert_true(n > 8);
            break;
        }
        assert_int_equal(status, TACET_NO_MEMORY);
        assert_int_equal(err.status, TACET_NO_MEMORY);
        if (opened) {
            assert_null(table.values);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples),   cmocka_unit_test(test_every_split),
                                       cmocka_unit_test(test_round_trip), cmocka_unit_test(test_find_and_numbers),
                                       cmocka_unit_test(test_limits),     cmocka_unit_test(test_source_fails),
                                       cmocka_unit_test(test_load),       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
