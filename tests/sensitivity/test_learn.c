/* SPDX-License-Identifier: Apache-2.0 */
/* test_learn.c - how far one row moves what `learn` releases. Logs of numbers, and of levels and numbers, are released
 * as they ship, with whatever the library chooses for them, on neighbours found by search: extremes, and cells outside
 * their bounds (missing ones are refused before anything is charged). One row moves each draw by at most what it is
 * charged for, and all of them together by at most the eps of the release; and the search comes near that, so that a
 * charge that is halved shows, and one that is doubled as well. */
#include "sensitivity/recorder.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/ab/trusted/log.h>
#include <tacet/core/simrng.h>

enum { WIDTH_MOST = 8, ROWS = 1000, ACTION_COLUMNS = 1, PAIRS = 6 };

typedef struct world {
    const char *name, *space;
    size_t columns;
    double eps, low, high;
    size_t near; /* how many draws come to .7 of their charge or more; the others are charged for more than they need */
} world;

typedef struct a_log {
    const world *w;
    tacet_space space;
    size_t width;
    double *rows;
} a_log;

static void release(const a_log *g, recording *into, const recording *replay) {
    tacet_ab_log *opened = NULL;
    tacet_ab_model *model = NULL;
    const tacet_ab_question q = {.space = &g->space,
                                 .action_columns = ACTION_COLUMNS,
                                 .reward = "reward",
                                 .lo = g->w->low,
                                 .hi = g->w->high,
                                 .eps = g->w->eps};
    const tacet_contextual_entry entry = {.ticket = "t", .to_whom = "test", .seeded = true, .seed = 5};
    assert_ok(tacet_ab_log_open_rows(&opened, g->rows, ROWS, &q, NULL));
    recorder_begin(into, replay);
    assert_ok(tacet_ab_log_release(opened, &model, &entry, NULL));
    recorder_end();
    tacet_ab_model_free(model);
    tacet_ab_log_free(opened);
}

/* A cell of a column: an end, somewhere within; of a private one also outside. */
static double any_cell(const tacet_space_column *c, bool is_private, tacet_simrng *rng) {
    const double u = tacet_simrng_uniform(rng), v = tacet_simrng_uniform(rng);
    if (c->kind == TACET_SPACE_CATEGORY) {
        return floor(v * (double)c->level_count);
    }
    const double low = c->lo, high = c->hi;
    return u < 0.3                  ? low
           : u < 0.6                ? high
           : u < 0.65 && is_private ? low - 1e6
           : u < 0.7 && is_private  ? high + 1e6
                                    : low + v * (high - low);
}

static void any_row(const a_log *g, double *row, tacet_simrng *rng) {
    for (size_t i = 0; i < g->w->columns; i++) {
        row[i] = any_cell(&g->space.columns[i], i >= ACTION_COLUMNS, rng);
    }
    const double u = tacet_simrng_uniform(rng);
    const double within = g->w->low + tacet_simrng_uniform(rng) * (g->w->high - g->w->low);
    row[g->w->columns] = u < 0.4 ? g->w->low : u < 0.8 ? g->w->high : u < 0.85 ? -1e9 : u < 0.9 ? 1e9 : within;
}

static void log_init(a_log *g, const world *w) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, 5, 0);
    *g = (a_log){.w = w, .width = w->columns + 1};
    assert_true(g->width <= WIDTH_MOST);
    tacet_space_init(&g->space);
    assert_ok(tacet_space_decode(&g->space, w->space, strlen(w->space), NULL));
    g->rows = calloc(ROWS * g->width, sizeof *g->rows);
    assert_non_null(g->rows);
    for (size_t i = 0; i < ROWS; i++) {
        double *row = g->rows + i * g->width, mean = 0.4;
        for (size_t j = 0; j < w->columns; j++) {
            const tacet_space_column *c = &g->space.columns[j];
            const bool level = c->kind == TACET_SPACE_CATEGORY;
            const double u = tacet_simrng_uniform(&rng);
            row[j] = level ? floor(u * (double)c->level_count) : c->lo + u * (c->hi - c->lo);
            mean += 0.3 * cos(3 * u + (double)j) / (double)w->columns;
        }
        row[w->columns] = w->low + (w->high - w->low) * (tacet_simrng_uniform(&rng) < mean ? 0.9 : 0.1);
    }
}

/* Whether changing the rows first … end - 1 moves draw k. */
static bool rows_move(const a_log *g, const recording *first, size_t k, size_t from, size_t end) {
    recording changed;
    tacet_simrng rng;
    double *kept = calloc(ROWS * g->width, sizeof *kept);
    assert_non_null(kept);
    memcpy(kept, g->rows, ROWS * g->width * sizeof *kept);
    tacet_simrng_init(&rng, 7, from);
    for (size_t i = from; i < end; i++) {
        any_row(g, g->rows + i * g->width, &rng);
    }
    release(g, &changed, first);
    const bool moved = recorded_moved(&first->draws[k], &changed.draws[k]);
    memcpy(g->rows, kept, ROWS * g->width * sizeof *kept);
    recording_clear(&changed);
    free(kept);
    return moved;
}

/* A row that draw k reads, by halving; ROWS where none of them moves it. */
static size_t row_of(const a_log *g, const recording *first, size_t k) {
    size_t from = 0, end = ROWS;
    if (!rows_move(g, first, k, from, end)) {
        return ROWS;
    }
    while (end - from > 1) {
        const size_t middle = from + (end - from) / 2;
        if (rows_move(g, first, k, from, middle)) {
            end = middle;
        } else {
            from = middle;
        }
    }
    return from;
}

/* For each draw, pairs of neighbours that differ in a row that it reads: the row itself against another, and two others
 * against each other. */
static void search(const a_log *g, movement *m) {
    recording first, second, third;
    tacet_simrng rng;
    tacet_simrng_init(&rng, 99, 1);
    memset(m, 0, sizeof *m);
    release(g, &first, NULL);
    for (size_t k = 0; k < first.count; k++) {
        const size_t at = row_of(g, &first, k);
        if (at == ROWS) {
            continue;
        }
        double *row = g->rows + at * g->width, kept[WIDTH_MOST];
        memcpy(kept, row, g->width * sizeof *row);
        for (size_t i = 0; i < PAIRS; i++) {
            any_row(g, row, &rng);
            release(g, &second, &first);
            any_row(g, row, &rng);
            release(g, &third, &first);
            movement_add(m, &first, &second);
            movement_add(m, &second, &third);
            recording_clear(&second);
            recording_clear(&third);
        }
        memcpy(row, kept, g->width * sizeof *row);
    }
    recording_clear(&first);
}

static void check(const world *w) {
    a_log g;
    movement m;
    log_init(&g, w);
    search(&g, &m);
    print_message("%s: %zu draws, shares", w->name, m.draws);
    for (size_t k = 0; k < m.draws; k++) {
        print_message(" %.2f", m.share[k]);
    }
    print_message("; eps %.4f of %.4f, %g draws by one row\n", m.eps, w->eps, m.moved);
    assert_true(m.draws > 0);
    assert_true(m.eps <= w->eps * (1 + 1e-9) && m.eps >= 0.95 * w->eps);
    size_t near = 0;
    for (size_t k = 0; k < m.draws; k++) {
        near += m.share[k] >= 0.7 ? 1 : 0;
    }
    assert_true(near >= w->near);
    free(g.rows);
    tacet_space_clear(&g.space);
}

#define LEVELS "{\"name\":\"v\",\"kind\":\"category\",\"levels\":[\"A\",\"B\",\"C\"]}"
#define AGE "{\"name\":\"age\",\"kind\":\"integer\",\"bounds\":[18,90]}"

/* Numbers; levels and numbers; money, where to cut which is one draw more, of other rows than the table's. */
TEST(test_no_row_of_a_log_moves_more_than_is_charged) {
    static const world WORLDS[] = {
        {.name = "numbers",
         .space = "{\"columns\":[{\"name\":\"a\",\"kind\":\"real\",\"bounds\":[0,1]},"
                  "{\"name\":\"c\",\"kind\":\"real\",\"bounds\":[10,12]}]}",
         .columns = 2,
         .eps = 1,
         .high = 1,
         .near = 1},
        {.name = "levels and numbers",
         .space = "{\"columns\":[" LEVELS "," AGE ",{\"name\":\"t\",\"kind\":\"category\",\"levels\":[\"x\",\"y\"]}]}",
         .columns = 3,
         .eps = 0.7,
         .low = -5,
         .high = 20,
         .near = 1},
        {.name = "money",
         .space = "{\"columns\":[" LEVELS "," AGE "]}",
         .columns = 2,
         .eps = 0.7,
         .high = 200,
         .near = 2},
    };
    for (size_t i = 0; i < sizeof WORLDS / sizeof *WORLDS; i++) {
        check(&WORLDS[i]);
    }
}
