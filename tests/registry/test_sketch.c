/* SPDX-License-Identifier: Apache-2.0 */
/* test_sketch.c - which tables are one: rewritten numbers, other orders, a column more, some rows changed; and which
 * are not: other people of the same law, and tables whose few rows anybody's would be. Seeded and with a fixed key, so
 * no false alarms. */
#include "support/test.h"

#include "registry/sketch.h"

#include <math.h>
#include <stdlib.h>
#include <tacet/core/simrng.h>
#include <tacet/io/csv.h>
#include <unistd.h>

static const unsigned char KEY[TACET__SKETCH_KEY] = {1, 2, 3}, OTHER[TACET__SKETCH_KEY] = {4};
static const double SAME = 0.5;

/* How a table is written. */
typedef struct form {
    size_t rows;
    uint64_t seed;    /* of the people */
    size_t changed;   /* of each ten rows so many are other people's */
    const char *head; /* columns: i(d), a(ge), d(ose), s(ex), n(ew); none twice */
    bool backwards, digits, levels;
} form;

static const char *folder;

static tacet_status open_path(tacet_csv **out, const void *user, size_t file, tacet_error *err) {
    return tacet_csv_open_file(out, ((const char *const *)user)[file], NULL, err);
}

static void write_row(FILE *file, const form *f, size_t i) {
    tacet_simrng rng;
    const bool other = i % 10 < f->changed;
    tacet_simrng_init(&rng, f->seed + (other ? 1000 : 0), i);
    const size_t age = 18 + tacet_simrng_below(&rng, 70), dose = tacet_simrng_below(&rng, 200000);
    const size_t sex = tacet_simrng_below(&rng, 2), click = tacet_simrng_below(&rng, 2);
    for (const char *c = f->head; *c != '\0'; c++) {
        (void)fputs(c == f->head ? "" : ",", file);
        switch (*c) {
        case 'a':
            (void)(f->levels   ? fprintf(file, "%zu", click)
                   : f->digits ? fprintf(file, "%.4e", (double)age)
                               : fprintf(file, "%zu", age));
            break;
        case 'd':
            (void)(f->levels   ? fprintf(file, "%s", click != 0 ? "B" : "A")
                   : f->digits ? fprintf(file, " %.5f", (double)dose / 100)
                               : fprintf(file, "%.2f", (double)dose / 100));
            break;
        case 's':
            (void)fprintf(file, f->digits ? "\"%s\"" : "%s", sex != 0 ? "F" : "M");
            break;
        default:
            (void)fprintf(file, "%zu", i * 7 + 1);
        }
    }
    (void)fputs(f->digits ? "\r\n" : "\n", file);
}

static void write_form(const char *path, const form *f) {
    static const char *const NAMES[] = {['i'] = "id", ['a'] = "age", ['d'] = "dose", ['s'] = "sex", ['n'] = "new"};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (const char *c = f->head; *c != '\0'; c++) {
        (void)fprintf(file, "%s%s", c == f->head ? "" : ",", NAMES[(size_t)*c]);
    }
    (void)fputs("\n", file);
    for (size_t i = 0; i < f->rows; i++) {
        write_row(file, f, f->backwards ? f->rows - 1 - i : i);
    }
    assert_int_equal(fclose(file), 0);
}

static void sketch_form(tacet__sketch *out, bool *few, tacet__shared *earlier, const form *f,
                        const unsigned char *key) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/t.csv", folder);
    write_form(path, f);
    const char *const paths[] = {path};
    const tacet__rows rows = {.files = 1, .open = open_path, .user = paths};
    assert_ok(tacet__sketch_table(out, few, earlier, earlier != NULL, &rows, key, NULL));
    assert_int_equal(unlink(path), 0);
}

/* The share of two tables, which does not depend on which of them came first. */
static double share(const form *a, const form *b) {
    double found[2];
    for (int turn = 0; turn < 2; turn++) {
        bool few = false;
        tacet__sketch ours;
        tacet__shared before = {.share = -1};
        sketch_form(&before.sketch, &few, NULL, turn == 0 ? a : b, KEY);
        sketch_form(&ours, &few, &before, turn == 0 ? b : a, KEY);
        found[turn] = before.share;
        tacet__sketch_clear(&ours);
        tacet__sketch_clear(&before.sketch);
    }
    assert_true(fabs(found[0] - found[1]) < 0.1);
    return found[0];
}

TEST(a_table_that_is_written_otherwise_is_the_same) {
    const form plain = {.rows = 3000, .seed = 1, .head = "iads"};
    const form forms[] = {
        {.rows = 3000, .seed = 1, .head = "iads", .digits = true},    /* 55.5, 55.50, 5.55e1; quotes, blanks, CR LF */
        {.rows = 3000, .seed = 1, .head = "sdai"},                    /* columns in another order */
        {.rows = 3000, .seed = 1, .head = "iads", .backwards = true}, /* and rows */
        {.rows = 3000, .seed = 1, .head = "nsadi"},                   /* a column more */
        {.rows = 3000, .seed = 1, .head = "ads"},                     /* and one less */
        {.rows = 3000, .seed = 1, .head = "da", .digits = true, .backwards = true},
        {.rows = 3300, .seed = 1, .head = "iads"}, /* next month's export */
        {.rows = 1000, .seed = 1, .head = "iads"}, /* an extract */
    };
    assert_true(share(&plain, &plain) == 1);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        assert_true(share(&plain, &forms[i]) > 0.9);
    }
    const form tenth = {.rows = 3000, .seed = 1, .head = "iads", .changed = 1};
    const form most = {.rows = 3000, .seed = 1, .head = "ads", .changed = 8};
    const double nine = share(&plain, &tenth), two = share(&plain, &most);
    assert_true(nine > 0.85 && nine < 0.95 && nine >= SAME);
    assert_true(two > 0.14 && two < 0.26 && two < SAME); /* 0.2, from samples of 1,024 rows: within five deviations */
}

TEST(other_people_of_the_same_law_are_another_table) {
    for (uint64_t seed = 2; seed < 12; seed++) {
        const form ours = {.rows = 3000, .seed = 1, .head = "ads"},
                   theirs = {.rows = 2500, .seed = seed, .head = "sad"};
        assert_true(share(&ours, &theirs) < 0.05);
    }
    const form ours = {.rows = 200, .seed = 1, .head = "ads"}, none = {.rows = 200, .seed = 1, .head = "in"};
    assert_true(share(&ours, &none) == 0); /* no two columns in common */
}

/* Two months of an A/B log: 5,000 rows each of other people, and the same eight distinct rows. */
TEST(a_log_of_few_levels_is_known_as_a_whole_only) {
    const form may = {.rows = 5000, .seed = 1, .head = "ads", .levels = true};
    const form june = {.rows = 5000, .seed = 2, .head = "ads", .levels = true};
    const form again = {.rows = 5000, .seed = 1, .head = "sda", .levels = true, .backwards = true};
    bool few = false;
    tacet__sketch s;
    assert_true(share(&may, &june) == 0);
    assert_true(share(&may, &again) == 1);
    sketch_form(&s, &few, NULL, &may, KEY);
    assert_true(few);
    tacet__sketch_clear(&s);
    const form people = {.rows = 5000, .seed = 1, .head = "iads"};
    sketch_form(&s, &few, NULL, &people, KEY);
    assert_false(few);
    tacet__sketch_clear(&s);
    const form few_rows = {.rows = 6, .seed = 3, .head = "ads", .levels = true}; /* a handful may look distinct */
    assert_true(share(&may, &few_rows) == 0);
}

TEST(numbers_in_memory_are_their_export) {
    enum { N = 500 };
    static double rows[N * 3];
    static const char *const NAMES[] = {"dose", "age", "unused"};
    tacet_simrng rng;
    bool few = false;
    tacet__sketch memory;
    tacet__shared before = {.share = -1};
    tacet_simrng_init(&rng, 9, 0);
    OWN_TEXT char *path = test_text("%s/t.csv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("id,age,dose\n", file);
    for (size_t i = 0; i < N; i++) {
        rows[3 * i] = (double)tacet_simrng_below(&rng, 100000) / 8;
        rows[3 * i + 1] = (double)tacet_simrng_below(&rng, 90);
        (void)fprintf(file, "%zu,%g,%.3f\n", i, rows[3 * i + 1], rows[3 * i]);
    }
    assert_int_equal(fclose(file), 0);
    const char *const paths[] = {path};
    const tacet__rows text = {.files = 1, .open = open_path, .user = paths};
    const tacet__rows numbers = {.numbers = rows, .width = 3, .count = N, .names = NAMES, .columns = 2};
    assert_ok(tacet__sketch_table(&before.sketch, &few, NULL, 0, &text, KEY, NULL));
    assert_ok(tacet__sketch_table(&memory, &few, &before, 1, &numbers, KEY, NULL));
    assert_true(before.share == 1);
    tacet__sketch_clear(&memory);
    assert_ok(tacet__sketch_table(&memory, &few, &before, 1, &numbers, OTHER, NULL));
    assert_true(before.share == 0); /* under another key nothing is known again */
    tacet__sketch_clear(&memory);
    tacet__sketch_clear(&before.sketch);
    assert_int_equal(unlink(path), 0);
    assert_status(tacet__sketch_table(&memory, &few, NULL, 0, &text, KEY, NULL), TACET_NOT_FOUND);
}

/* Whether column `name` of that form is what column `name` of the table was. -1: it cannot be told. */
static int same_column(const tacet__sketch *s, const form *f, const char *name, const unsigned char *key) {
    OWN_TEXT char *path = test_text("%s/t.csv", folder);
    tacet__order order = {.columns = s->columns};
    tacet__comparison *c = NULL;
    tacet_csv *csv = NULL;
    bool found = false, same = false;
    memcpy(order.names, s->names, s->columns * sizeof *s->names);
    memcpy(order.sums, s->sums, sizeof s->sums);
    write_form(path, f);
    assert_ok(tacet_csv_open_file(&csv, path, NULL, NULL));
    assert_ok(tacet__compare_open(&c, &order, csv, key, NULL));
    while (tacet_csv_next(csv, &found, NULL) == TACET_OK && found) {
        tacet__compare_row(c, csv);
    }
    const bool both = tacet__compare_column(c, name, &same);
    tacet__compare_close(c);
    tacet_csv_close(csv);
    return both ? same : -1;
}

TEST(rows_in_another_order_are_told_from_those_that_are_written_otherwise) {
    const form plain = {.rows = 300, .seed = 1, .head = "ads"};
    tacet__sketch s;
    bool few = false;
    sketch_form(&s, &few, NULL, &plain, KEY);
    const form good[] = {
        plain, {.rows = 300, .seed = 1, .head = "ads", .digits = true}, {.rows = 300, .seed = 1, .head = "sdan"}};
    const form bad[] = {{.rows = 300, .seed = 1, .head = "ads", .backwards = true},
                        {.rows = 300, .seed = 1, .head = "ads", .changed = 1},
                        {.rows = 299, .seed = 1, .head = "ads"},
                        {.rows = 301, .seed = 1, .head = "ads"}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(same_column(&s, &good[i], "age", KEY), 1);
        assert_int_equal(same_column(&s, &good[i], "sex", KEY), 1);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(same_column(&s, &bad[i], "age", KEY), 0);
        assert_int_equal(same_column(&s, &bad[i], "sex", KEY), 0);
    }
    assert_int_equal(same_column(&s, &(form){.rows = 300, .seed = 1, .head = "d"}, "age", KEY), -1);
    assert_int_equal(same_column(&s, &(form){.rows = 300, .seed = 1, .head = "adn"}, "new", KEY), -1);
    assert_int_equal(same_column(&s, &plain, "age", OTHER), -1);
    tacet__sketch_clear(&s);
}

TEST(every_allocation_may_fail) {
    static const double ROWS[] = {1, 2, 3, 4};
    static const char *const NAMES[] = {"a", "b"};
    const tacet__rows numbers = {.numbers = ROWS, .width = 2, .count = 2, .names = NAMES, .columns = 2};
    bool few = false;
    tacet__sketch s;
    tacet__shared before = {.share = 0};
    assert_ok(tacet__sketch_table(&before.sketch, &few, NULL, 0, &numbers, KEY, NULL));
    assert_each_alloc_fails(tacet__sketch_table(&s, &few, &before, 1, &numbers, KEY, NULL), s.entries == NULL);
    tacet__sketch_clear(&s);
    tacet__sketch_clear(&before.sketch);
}

int main(void) {
    folder = test_mkdir();
    const int failed = test_main();
    test_rmdir(folder);
    return failed;
}
