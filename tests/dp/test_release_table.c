/* SPDX-License-Identifier: Apache-2.0 */
/* test_release_table.c - the noise of a table: a function of key and place. Order, calls and threads do not matter; no
 * two places share noise; no row is drawn twice. */
#include "support/gate.h"
#include "support/test.h"

#include "dp/mechanisms/table.h"
#include "dp/noise/mint.h"
#include "dp/noise/noise_state.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 1500, WIDEST = 225 };
static const tacet_neighbours MOVE = {TACET_RELATION_MOVE, 1};
static const tacet_mechanism_kind KINDS[] = {TACET_MECHANISM_GAUSSIAN, TACET_MECHANISM_LAPLACE, TACET_MECHANISM_KNORM};

typedef struct world {
    const char *folder;
    tacet_ledger *ledger;
    tacet_bound *bound;
    tacet_mechanism *m;
    tacet_raw *raw;
    size_t count;
    unsigned char data[TACET_MINT_BYTES];
    tacet_ask ask;
} world;

static void begin(world *w, tacet_mechanism_kind kind, size_t count) {
    tacet_ledger_settings s;
    memset(w, 0, sizeof *w);
    w->folder = test_mkdir();
    w->count = count;
    OWN_TEXT char *path = test_text("%s/l.db", w->folder);
    tacet_ledger_settings_defaults(&s);
    s.eps = 1e6;
    s.delta = 0.5;
    s.accounting = TACET_ACCOUNTING_BASIC;
    assert_ok(tacet_ledger_open(&w->ledger, path, &s, NULL));
    w->bound = test_range(count, -1, 1);
    w->m = test_mechanism(kind, w->bound, &MOVE, 1, 1e-5);
    assert_ok(tacet_raw_create(&w->raw, ROWS * count, NULL)); /* zeros: what is released is the noise */
    w->ask = (tacet_ask){.ledger = w->ledger, .data = w->data, .ticket = "t", .what = "w", .to_whom = "x"};
}

static void end(world *w) {
    tacet_raw_free(w->raw);
    tacet_mechanism_free(w->m);
    tacet_bound_free(w->bound);
    tacet_ledger_close(w->ledger);
    test_rmdir(w->folder);
}

static tacet_table *open_table(world *w, size_t rows) {
    tacet_table *table = NULL;
    tacet_release *answered = NULL;
    assert_ok(tacet_table_open(&table, &answered, w->m, &w->ask, rows, NULL));
    assert_null(answered);
    return table;
}

static void draw(tacet_table *table, const world *w, double *out, size_t first, size_t end_row, size_t at_once) {
    for (size_t r = first; r < end_row; r += at_once) {
        const size_t n = end_row - r < at_once ? end_row - r : at_once;
        assert_ok(tacet_table_rows(table, out + r * w->count, w->raw, r, n, NULL));
    }
}

TEST(order_and_calls_do_not_matter) {
    static const size_t COUNTS[] = {1, 7, 224, WIDEST};
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++) {
        for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; c++) {
            world w;
            const size_t rows = COUNTS[c] > 100 ? 9 : 700;
            begin(&w, KINDS[k], COUNTS[c]);
            double *whole = calloc(rows * w.count, sizeof *whole), *parts = calloc(rows * w.count, sizeof *parts);
            tacet_table *table = open_table(&w, rows);
            draw(table, &w, whole, 0, rows, rows);
            tacet_table_free(table);
            for (size_t i = 1; i < rows; i++) {
                assert_memory_not_equal(whole + i * w.count, whole + (i - 1) * w.count, w.count * sizeof *whole);
            }
            table = open_table(&w, rows); /* the same ticket, again: the end first, in pieces of odd lengths */
            draw(table, &w, parts, rows / 2, rows, 7);
            draw(table, &w, parts, 0, rows / 2, 31);
            assert_memory_equal(whole, parts, rows * w.count * sizeof *whole);
            tacet_table_free(table);
            w.ask.ticket = "u"; /* another ticket, other noise */
            table = open_table(&w, rows);
            draw(table, &w, parts, 0, rows, rows);
            assert_memory_not_equal(whole, parts, 3 * w.count * sizeof *whole);
            tacet_table_free(table);
            free(whole);
            free(parts);
            end(&w);
        }
    }
}

/* Levels are drawn from keys that no numbers are drawn from, one for each row. */
TEST(levels_have_keys_of_their_own) {
    enum { NUMBERS = 2, LEVELS = 2, PART_LEVELS = 1, WORDS = 28, MANY = 300 };
    static const size_t COUNTS[LEVELS] = {5, 1000};
    const unsigned char key[TACET_MINT_BYTES] = {3};
    const double raw[LEVELS] = {0};
    static double out[MANY * (NUMBERS + LEVELS)];
    OWN_BOUND tacet_bound *bound = test_range(NUMBERS, -1, 1);
    OWN_MECHANISM tacet_mechanism *m = test_mechanism(TACET_MECHANISM_KNORM, bound, &MOVE, 0.1, 0);
    OWN_RAW tacet_raw *zeros = NULL;
    tacet_table *table = NULL;
    (void)state;
    assert_ok(tacet_mechanism_add_levels(m, COUNTS, LEVELS, NULL));
    assert_ok(tacet_raw_create(&zeros, MANY * (NUMBERS + LEVELS), NULL));
    assert_ok(tacet_table_borrow(&table, m, key, 0, MANY, NULL));
    assert_ok(tacet_table_rows(table, out, zeros, 0, MANY, NULL));
    for (size_t r = 0; r < MANY; r++) {
        double levels[LEVELS];
        tacet_noise noise;
        tacet__noise_at(&noise, key, PART_LEVELS, r, WORDS);
        assert_ok(tacet__mechanism_draw_levels(m, &noise, levels, raw, 1, NULL));
        assert_memory_equal(levels, out + MANY * NUMBERS + r * LEVELS, sizeof levels);
    }
    tacet_table_free(table);
}

typedef struct job {
    tacet_table *table;
    const world *w;
    double *out;
    size_t number;
} job;

static void *every_fourth_piece(void *argument) {
    const job *j = argument;
    for (size_t r = 50 * j->number; r < ROWS; r += 200) {
        draw(j->table, j->w, j->out, r, r + 50, 50);
    }
    return NULL;
}

TEST(threads_do_not_matter) {
    world w;
    static double one[ROWS * 2], many[ROWS * 2];
    begin(&w, TACET_MECHANISM_GAUSSIAN, 2);
    tacet_table *table = open_table(&w, ROWS);
    draw(table, &w, one, 0, ROWS, ROWS);
    tacet_table_free(table);
    table = open_table(&w, ROWS);
    pthread_t threads[4];
    job jobs[4];
    for (size_t i = 0; i < 4; i++) {
        jobs[i] = (job){table, &w, many, i};
        assert_int_equal(pthread_create(&threads[i], NULL, every_fourth_piece, &jobs[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_memory_equal(one, many, sizeof one);
    tacet_release *release = NULL;
    assert_ok(tacet_table_close(table, &release, NULL));
    tacet_release_free(release);
    tacet_table_free(table);
    end(&w);
}

TEST(no_two_rows_share_noise) {
    world w;
    static double out[ROWS * 2];
    begin(&w, TACET_MECHANISM_GAUSSIAN, 2);
    tacet_table *table = open_table(&w, ROWS);
    draw(table, &w, out, 0, ROWS, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_true(out[2 * i] != out[2 * j] || out[2 * i + 1] != out[2 * j + 1]);
        }
    }
    /* and none is drawn twice */
    double again[20];
    assert_status(tacet_table_rows(table, again, w.raw, 0, 1, NULL), TACET_STATE);
    tacet_table_free(table);
    table = open_table(&w, ROWS);
    assert_ok(tacet_table_rows(table, again, w.raw, 10, 5, NULL));
    assert_ok(tacet_table_rows(table, again, w.raw, 20, 5, NULL));
    assert_status(tacet_table_rows(table, again, w.raw, 12, 1, NULL), TACET_STATE);
    assert_status(tacet_table_rows(table, again, w.raw, 8, 3, NULL), TACET_STATE);
    assert_status(tacet_table_rows(table, again, w.raw, 14, 7, NULL), TACET_STATE);
    assert_status(tacet_table_rows(table, again, w.raw, ROWS, 1, NULL), TACET_STATE);
    assert_ok(tacet_table_rows(table, again, w.raw, 15, 5, NULL)); /* closes the gap */
    assert_ok(tacet_table_rows(table, again, w.raw, 5, 5, NULL));
    assert_status(tacet_table_rows(table, again, w.raw, 5, 1, NULL), TACET_STATE);
    assert_ok(tacet_table_rows(table, again, w.raw, 0, 0, NULL));
    for (size_t i = 100; i < 300; i += 2) { /* more gaps than were reckoned with */
        assert_ok(tacet_table_rows(table, again, w.raw, i, 1, NULL));
    }
    tacet_release *release = NULL;
    assert_status(tacet_table_close(table, &release, NULL), TACET_STATE);
    tacet_table_free(table);
    end(&w);
}

int main(void) {
    test_in_memory();
    return test_main();
}
