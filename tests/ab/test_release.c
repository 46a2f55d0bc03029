/* SPDX-License-Identifier: Apache-2.0 */
/* test_release.c - one table of a log: no row moves it by more than what is charged, its numbers are plain counts, rows
 * of money are in one part each, and a ticket is answered once. */
#include "tally/gate.h"
#include "ab/shared/plan.h"
#include "ab/open/internal.h"
#include "ab/trusted/internal.h"
#include "support/gate.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include <unistd.h>

enum { ACTIONS = 3, TYPES = 4, ROWS = 40, WIDTH = 3 };

static tacet_space make_space(void) {
    const tacet_space_options options = {.inputs = "action,type", .levels = "action=A|B|C,type=a|b|c|d"};
    tacet_space space;
    assert_ok(tacet_space_short(&space, &options, NULL));
    return space;
}

static void draw_rows(double *rows, size_t count, double top, uint64_t seed) {
    tacet_simrng rng = test_rng(seed, 0);
    for (size_t i = 0; i < count; i++) {
        rows[i * WIDTH] = (double)tacet_simrng_below(&rng, ACTIONS);
        rows[i * WIDTH + 1] = (double)tacet_simrng_below(&rng, TYPES);
        rows[i * WIDTH + 2] = top * tacet_simrng_uniform(&rng);
    }
}

static tacet_ab_model *released(const double *rows, size_t count, double hi, double eps, uint64_t seed) {
    tacet_space space = make_space();
    const tacet_ab_question q = {.space = &space, .action_columns = 1, .reward = "y", .lo = 0, .hi = hi, .eps = eps};
    const tacet_contextual_entry entry = {.ticket = "t", .to_whom = "w", .seeded = true, .seed = seed};
    tacet_ab_log *log = NULL;
    tacet_ab_model *model = NULL;
    assert_ok(tacet_ab_log_open_rows(&log, rows, count, &q, NULL));
    assert_ok(tacet_ab_log_release(log, &model, &entry, NULL));
    tacet_ab_log_free(log);
    tacet_space_clear(&space);
    return model;
}

/* Seeded noise is the same for both logs, so that what is released differs by what the tables do. Every other row that
 * row 7 may become: each action, each type, rewards of and beyond the range. */
TEST(no_row_moves_the_table_by_more_than_is_charged) {
    static const double rewards[] = {0, 1.0 / 3, 1e9};
    static const size_t counts[] = {ROWS, 1000}; /* with totals, and without */
    for (size_t v = 0; v < 2; v++) {
        OWN_MEMORY double *rows = calloc(counts[v] * WIDTH, sizeof *rows);
        double most = 0, charged = 0;
        draw_rows(rows, counts[v], 1, 5);
        rows[7 * WIDTH] = 0;
        rows[7 * WIDTH + 1] = 0;
        rows[7 * WIDTH + 2] = 1;
        tacet_ab_model *first = released(rows, counts[v], 1, 1, 9);
        const tacet_ab_facts *f = tacet_ab_model_facts(first);
        assert_true(f->plan.totals == (v == 0));
        for (size_t k = 0; k < ACTIONS * TYPES * 3; k++) {
            rows[7 * WIDTH] = (double)(k % ACTIONS);
            rows[7 * WIDTH + 1] = (double)(k / ACTIONS % TYPES);
            rows[7 * WIDTH + 2] = rewards[k / (ACTIONS * TYPES)];
            tacet_ab_model *other = released(rows, counts[v], 1, 1, 9);
            const tacet_ab_facts *g = tacet_ab_model_facts(other);
            double sum = 0;
            for (size_t i = 0; i < f->plan.numbers; i++) {
                sum += fabs(f->released[i] - g->released[i]);
            }
            most = fmax(most, sum);
            charged = g->receipts[0].sensitivity;
            assert_true(sum <= charged);
            assert_true(g->receipts[0].eps == 1);
            tacet_ab_model_free(other);
        }
        const double groups = v == 0 ? 2 : 1;
        assert_true(fabs(most - 2 * groups) < 1e-6); /* reached */
        assert_true(charged >= 2 * groups && charged < 2.01 * groups);
        assert_true(fabs(f->scale - charged) < 1e-9 * charged); /* eps = 1 */
        tacet_ab_model_free(first);
    }
}

TEST(almost_without_noise_its_numbers_are_plain_counts) {
    enum { N = 2000, K = ACTIONS * TYPES };
    static double rows[N * WIDTH];
    double up[K] = {0}, down[K] = {0};
    draw_rows(rows, N, 1, 6);
    tacet_ab_model *model = released(rows, N, 1, 1000, 3);
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    for (size_t i = 0; i < N; i++) {
        const size_t cell = (size_t)rows[i * WIDTH + 1] * ACTIONS + (size_t)rows[i * WIDTH];
        up[cell] += rows[i * WIDTH + 2];
        down[cell] += 1 - rows[i * WIDTH + 2];
    }
    assert_int_equal(f->table_rows, N);
    for (size_t i = 0; i < K; i++) {
        assert_true(fabs(f->released[i] - up[i]) < 0.1);
        assert_true(fabs(f->released[K + i] - down[i]) < 0.1);
    }
    tacet_ab_model_free(model);
}

/* Where there are totals each row adds 1 to its cell and 1 to its action, shared between a reward and what it lacks;
 * what lies outside of the range counts as its end, and what is no number as the lower one. */
TEST(a_row_adds_one_to_its_cell_and_one_to_its_action) {
    static const double GIVEN[] = {0, 0.25, 1, -3, 1e300, INFINITY, -INFINITY, NAN};
    static const double COUNTED[] = {0, 0.25, 1, 0, 1, 1, 0, 0};
    OWN_SPACE tacet_space space = make_space();
    tacet_ab_plan plan;
    tacet_tally_plan sums = {.hash = {1}};
    tacet_tally *tally = NULL;
    double expected[2 * (ACTIONS * TYPES + ACTIONS)] = {0};
    assert_ok(tacet_ab_plan_make(&plan, &space, 1, 0, 1, 1, ROWS, NULL));
    assert_true(plan.totals);
    sums.numbers = plan.numbers;
    assert_ok(tacet_tally_create(&tally, &sums, "log", NULL));
    for (size_t i = 0; i < 3 * 8; i++) {
        const size_t a = i % ACTIONS, c = i % TYPES;
        const double row[WIDTH] = {(double)a, (double)c, GIVEN[i % 8]};
        size_t at[8];
        int64_t steps[8];
        assert_ok(tacet_tally_add(tally, 1, at, steps, tacet__ab_table_shares(at, steps, &plan, 1, row), NULL));
        expected[c * ACTIONS + a] += COUNTED[i % 8];
        expected[ACTIONS * TYPES + c * ACTIONS + a] += 1 - COUNTED[i % 8];
        expected[2 * ACTIONS * TYPES + a] += COUNTED[i % 8];
        expected[2 * ACTIONS * TYPES + ACTIONS + a] += 1 - COUNTED[i % 8];
    }
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(tacet_tally_number(tally, i) == expected[i]);
    }
    unsigned char identity[TACET_HASH_BYTES], none[TACET_HASH_BYTES] = {0};
    memset(identity, 1, sizeof identity);
    tacet__ab_identity(identity, &plan, tally, TACET_AB_TABLE); /* of sums that this tally does not have: all of it 0 */
    assert_memory_equal(identity, none, sizeof none);
    tacet_tally_free(tally);
}

/* Money: 11 knots of some rows, the table of the others. Replacing a row changes the one or the other, never both. */
TEST(a_row_of_money_is_in_one_part) {
    enum { N = 3000 };
    static double rows[N * WIDTH];
    unsigned char key[TACET_AB_DEAL_KEY] = {1}, other_key[TACET_AB_DEAL_KEY] = {2};
    size_t dealt = 0, both = 0;
    draw_rows(rows, N, 40, 7);
    tacet_ab_model *model = released(rows, N, 5000, 1, 3);
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    assert_int_equal(f->receipt_count, 2);
    assert_false(f->is_private);
    assert_true(f->receipts[0].sensitivity >= 2 && f->receipts[0].sensitivity < 2.01 && f->receipts[0].eps == 1);
    assert_true(f->top < 80 && f->top >= 19); /* nobody spends more than 40 */
    assert_true(f->table_rows > N * 88 / 100 && f->table_rows < N * 96 / 100);
    for (size_t i = 0; i < 100000; i++) {
        dealt += tacet__ab_dealt(key, i) ? 1 : 0;
        both += tacet__ab_dealt(key, i) && tacet__ab_dealt(other_key, i) ? 1 : 0;
    }
    assert_true(both < 1000);                  /* 0.64 % */
    assert_true(dealt > 7600 && dealt < 8400); /* 8 %, within five standard deviations */
    size_t moved_table = 0, moved_none = 0;
    for (size_t k = 0; k < 40; k++) {
        const double kept = rows[k * WIDTH + 2];
        rows[k * WIDTH + 2] = kept < 20 ? 40 : 0;
        tacet_ab_model *other = released(rows, N, 5000, 1, 3);
        const tacet_ab_facts *g = tacet_ab_model_facts(other);
        double sum = 0;
        for (size_t i = 0; i < f->plan.numbers; i++) {
            sum += fabs(f->released[i] - g->released[i]);
        }
        assert_true(g->top != f->top || sum <= g->receipts[1].sensitivity);
        moved_table += sum > 0 ? 1 : 0;
        moved_none += sum == 0 ? 1 : 0;
        rows[k * WIDTH + 2] = kept;
        tacet_ab_model_free(other);
    }
    assert_true(moved_table >= 30 && moved_none >= 1);
    tacet_ab_model_free(model);
}

/* Its two parts are of other rows: through a ledger they cost what one does. A reward beyond the range is at the last
 * knot, and at nothing behind it. */
TEST(money_is_charged_once) {
    enum { N = 3000 };
    static double rows[N * WIDTH];
    tacet_space space = make_space();
    const tacet_ab_question q = {.space = &space, .action_columns = 1, .reward = "y", .hi = 5000, .eps = 1};
    const tacet_ab_stage law = {.pass = TACET_AB_LAW, .rows = N, .top = 5000, .key = {1}};
    char path[4200];
    const char *folder = test_mkdir();
    const tacet_contextual_entry entry = {.ledger = path, .ticket = "t", .to_whom = "w"};
    tacet_ledger_settings settings;
    tacet_ledger_totals totals;
    tacet_ledger *ledger = NULL;
    tacet_ab_log *log = NULL;
    tacet_ab_model *model = NULL;
    tacet_tally *tally = NULL;
    double sum = 0;
    (void)state;
    draw_rows(rows, N, 40, 7);
    for (size_t i = 0; i < N; i += 2) {
        rows[i * WIDTH + 2] = 6000;
    }
    assert_ok(tacet_ab_part_tally(&tally, &q, &law, rows, N, 0, NULL));
    for (size_t i = 0; i < TACET_AB_KNOTS; i++) {
        sum += tacet_tally_number(tally, i);
    }
    assert_true(sum > 0 && sum == tacet_tally_number(tally, TACET_AB_KNOTS));
    tacet_tally_free(tally);
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
    assert_ok(tacet_ab_log_open_rows(&log, rows, N, &q, NULL));
    assert_ok(tacet_ab_log_release(log, &model, &entry, NULL));
    tacet_ab_model_free(model);
    tacet_ab_log_free(log);
    /* In another order other rows would be in its parts: that is another question. */
    rows[2] = 1;
    assert_ok(tacet_ab_log_open_rows(&log, rows, N, &q, NULL));
    assert_status(tacet_ab_log_release(log, &model, &entry, NULL), TACET_CONFLICT);
    tacet_ab_log_free(log);
    tacet_ledger_settings_defaults(&settings);
    settings.use_stored = true;
    settings.create = false;
    assert_ok(tacet_ledger_open(&ledger, path, &settings, NULL));
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 2);
    assert_true(totals.eps == 1);
    tacet_ledger_close(ledger);
    tacet_space_clear(&space);
    test_rmdir(folder);
}

/* Where to cut: a law with rewards of 0, 30 and 60 only has nothing above 64. */
TEST(the_cut_follows_the_released_law) {
    OWN_SPACE tacet_space space = make_space();
    tacet_ab_plan plan;
    double knots[TACET_AB_KNOTS] = {0}, top = 0, share = 0;
    assert_ok(tacet_ab_plan_make(&plan, &space, 1, 0, 1024, 1, 20000, NULL));
    assert_true(plan.money && tacet_ab_knot(&plan, 0) == 0 && tacet_ab_knot(&plan, 1) == 2 &&
                tacet_ab_knot(&plan, TACET_AB_KNOTS - 1) == 1024);
    knots[0] = 1500;
    knots[4] = 50; /* 16 */
    knots[5] = 50; /* 32 */
    tacet_ab_cut(&top, &share, &plan, knots, 1600, 2);
    assert_true(top >= 16 && top <= 32);
    assert_true(share > 0 && share <= 1);
    memset(knots, 0, sizeof knots);
    knots[10] = 5; /* noise */
    tacet_ab_cut(&top, &share, &plan, knots, 1600, 2);
    assert_true(top == 1024 && share == 1);
}

TEST(a_ticket_is_answered_once_and_charged_once) {
    static double rows[1000 * WIDTH];
    OWN_SPACE tacet_space space = make_space();
    const tacet_ab_question q = {.space = &space, .action_columns = 1, .reward = "y", .lo = 0, .hi = 1, .eps = 1};
    tacet_ab_log *log = NULL;
    tacet_ab_model *model = NULL, *again = NULL;
    OWN_FOLDER const char *folder = test_mkdir();
    draw_rows(rows, 1000, 1, 8);
    OWN_TEXT char *ledger = test_text("%s/ledger.db", folder);
    tacet_contextual_entry entry = {.ledger = ledger, .ticket = "t", .to_whom = "w"};
    tacet_ab_question far = q; /* an eps of which there is no noise is no table's budget */
    far.eps = 1e12;
    assert_ok(tacet_ab_log_open_rows(&log, rows, 1000, &far, NULL));
    assert_int_equal(tacet_ab_log_release(log, &model, &entry, NULL), TACET_INVALID);
    assert_int_equal(access(ledger, F_OK), -1);
    tacet_ab_log_free(log);
    assert_ok(tacet_ab_log_open_rows(&log, rows, 1000, &q, NULL));
    assert_ok(tacet_ab_log_release(log, &model, &entry, NULL));
    assert_ok(tacet_ab_log_release(log, &again, &entry, NULL));
    const tacet_ab_facts *f = tacet_ab_model_facts(model), *g = tacet_ab_model_facts(again);
    assert_true(f->is_private && f->receipts[0].in_ledger);
    assert_memory_equal(f->released, g->released, f->plan.numbers * sizeof *f->released);
    tacet_ab_model_free(again);
    tacet_ab_model_free(model);
    /* Levels in another order, another reward, another range: its numbers would be other arms, or other units. */
    tacet_ab_question other[3] = {q, q, q};
    const tacet_space_options options = {.inputs = "action,type", .levels = "action=B|A|C,type=a|b|c|d"};
    OWN_SPACE tacet_space swapped;
    assert_ok(tacet_space_short(&swapped, &options, NULL));
    other[0].space = &swapped;
    other[1].reward = "z";
    other[2].lo = -1;
    for (size_t k = 0; k < 3; k++) {
        tacet_ab_log *asked = NULL;
        assert_ok(tacet_ab_log_open_rows(&asked, rows, 1000, &other[k], NULL));
        assert_int_equal(tacet_ab_log_release(asked, &model, &entry, NULL), TACET_CONFLICT);
        tacet_ab_log_free(asked);
    }
    /* Next month's rows, as many as these. */
    tacet_ab_log *later = NULL;
    rows[0] = rows[0] == 0 ? 1 : 0;
    assert_ok(tacet_ab_log_open_rows(&later, rows, 1000, &q, NULL));
    assert_int_equal(tacet_ab_log_release(later, &model, &entry, NULL), TACET_CONFLICT);
    tacet_ab_log_free(later);
    char longest[102];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    entry.ticket = longest; /* cut off it would be another one's */
    assert_int_equal(tacet_ab_log_release(log, &model, &entry, NULL), TACET_INVALID);
    entry.ticket = NULL;
    assert_int_equal(tacet_ab_log_release(log, &model, &entry, NULL), TACET_INVALID);
    entry.ticket = "another"; /* the budget was this release's */
    assert_int_equal(tacet_ab_log_release(log, &model, &entry, NULL), TACET_BUDGET);
    OWN_TEXT char *second = test_text("%s/second.db", folder);
    entry.ledger = second; /* and no other ledger's is */
    assert_int_equal(tacet_ab_log_release(log, &model, &entry, NULL), TACET_BUDGET);
    assert_null(model);
    tacet_ab_log_free(log);
}

/* All rows in one cell, at the end of the range: the longest table there is, and nothing of it is clipped. */
TEST(a_table_of_one_cell_is_not_clipped) {
    static double rows[1000 * WIDTH];
    for (size_t i = 0; i < 1000; i++) {
        rows[i * WIDTH + 2] = 1;
    }
    tacet_ab_model *model = released(rows, 1000, 1, 100, 9);
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    double most = 0;
    for (size_t i = 0; i < f->plan.numbers; i++) {
        most = fmax(most, f->released[i]);
    }
    assert_true(fabs(most - 1000) < 2); /* forty scales */
    tacet_ab_model_free(model);
}

TEST(logs_that_do_not_fit_are_refused_by_name) {
    OWN_SPACE tacet_space space = make_space();
    char names[512] = "";
    tacet_space_options options = {.inputs = names, .bounds = NULL};
    char bounds[512] = "";
    OWN_SPACE tacet_space other;
    tacet_ab_plan plan;
    tacet_ab_log *log = NULL;
    double rows[WIDTH] = {7, 0, 1};
    tacet_ab_question q = {.space = &space, .action_columns = 1, .reward = "y", .lo = 0, .hi = 1, .eps = 1};
    for (size_t i = 0; i < 18; i++) { /* one action, 17 contexts */
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%sc%zu", i > 0 ? "," : "", i);
        (void)snprintf(bounds + strlen(bounds), sizeof bounds - strlen(bounds), "%s0:1", i > 0 ? "," : "");
    }
    options.bounds = bounds;
    assert_ok(tacet_space_short(&other, &options, NULL));
    assert_int_equal(tacet_ab_plan_make(&plan, &other, 1, 0, 1, 1, 10, NULL), TACET_UNSUPPORTED);
    assert_int_equal(tacet_ab_plan_make(&plan, &space, 1, 0, 1, NAN, 10, NULL), TACET_INVALID);
    assert_int_equal(tacet_ab_plan_make(&plan, &space, 1, 1, 1, 1, 10, NULL), TACET_INVALID);
    assert_int_equal(tacet_ab_log_open_rows(&log, rows, 1, &q, NULL), TACET_INVALID);
    rows[0] = 0;
    q.reward = "type"; /* a rule that looks at what it is to earn */
    assert_int_equal(tacet_ab_log_open_rows(&log, rows, 1, &q, NULL), TACET_INVALID);
    q.reward = "y";
    rows[2] = NAN;
    assert_int_equal(tacet_ab_log_open_rows(&log, rows, 1, &q, NULL), TACET_PARSE);
    assert_int_equal(tacet_ab_log_open_rows(&log, rows, 0, &q, NULL), TACET_STATE);
    /* A context that is none of its levels counts as the first. */
    const double whole[2 * WIDTH] = {0, 9, 1, 1, NAN, 0};
    tacet_ab_model_free(released(whole, 2, 1, 1, 3));
    /* Whose rows they are, said in the way of a file, is not passed over. */
    rows[2] = 1;
    q.person = "who";
    assert_int_equal(tacet_ab_log_open_rows(&log, rows, 1, &q, NULL), TACET_INVALID);
}

TEST(a_model_reads_back_and_refuses_what_is_not_its_own) {
    static double rows[1000 * WIDTH];
    char *text = NULL, *second = NULL;
    tacet_ab_model *back = NULL;
    draw_rows(rows, 1000, 1, 8);
    tacet_ab_model *model = released(rows, 1000, 1, 1, 2);
    assert_ok(tacet_ab_model_encode(model, &text, NULL));
    assert_true(tacet_ab_model_is(text, strlen(text)));
    assert_ok(tacet_ab_model_decode(&back, text, strlen(text), NULL));
    assert_ok(tacet_ab_model_encode(back, &second, NULL));
    assert_string_equal(text, second);
    tacet_ab_model_free(back);
    /* What is claimed cannot be told otherwise: it is computed again. */
    char *claim = strstr(text, "\"rule_is_single\"");
    assert_non_null(claim);
    assert_int_equal(tacet_ab_model_decode(&back, text, strlen(text) / 2, NULL), TACET_PARSE);
    char *field = strstr(text, "\"table_rows\"");
    assert_non_null(field);
    field[1] = 'x';
    assert_int_equal(tacet_ab_model_decode(&back, text, strlen(text), NULL), TACET_PARSE);
    assert_null(back);
    free(text);
    free(second);
    tacet_ab_model_free(model);
}

/* Chances are what they say where the plan was kept: of 100 logs the p of 2 to 21 is below .1 (false alarm: .002). A
 * plan that was not kept is found; so is one that is no plan. */
TEST(counts_are_compared_with_the_planned_split) {
    enum { MANY = 600, LOGS = 100 };
    static double rows[MANY * WIDTH];
    const double even[ACTIONS] = {2, 2, 2}, uneven[ACTIONS] = {1, 1, 2}, none[ACTIONS] = {1, 0, 1};
    double shown[ACTIONS], p = 0;
    size_t rare = 0;
    for (uint64_t k = 0; k < LOGS; k++) {
        draw_rows(rows, MANY, 1, 4000 + k);
        tacet_ab_model *model = released(rows, MANY, 1, 1, 4000 + k);
        assert_ok(tacet_ab_model_split(model, shown, &p, even, NULL));
        assert_close(shown[0] + shown[1] + shown[2], 1, 0.2);
        rare += p < 0.1 ? 1 : 0;
        if (k == 0) {
            assert_ok(tacet_ab_model_split(model, shown, &p, uneven, NULL));
            assert_true(p < 0.001);
            assert_status(tacet_ab_model_split(model, shown, &p, none, NULL), TACET_INVALID);
        }
        tacet_ab_model_free(model);
    }
    assert_true(rare >= 2 && rare <= 21);
}

/* Of rows in memory the first two of each person are the log, whatever the persons' numbers have in common, and their
 * price is told. */
TEST(a_person_has_as_many_rows_as_are_charged) {
    double rows[ROWS * WIDTH];
    uint64_t persons[ROWS];
    OWN_SPACE tacet_space space = make_space();
    const tacet_ab_question q = {.space = &space,
                                 .action_columns = 1,
                                 .reward = "y",
                                 .hi = 1,
                                 .eps = 1,
                                 .persons = persons,
                                 .rows_per_person = 2};
    const tacet_contextual_entry entry = {.ticket = "t", .to_whom = "w", .seeded = true, .seed = 3};
    tacet_ab_log *log = NULL;
    tacet_ab_model *model = NULL;
    draw_rows(rows, ROWS, 1, 5);
    for (size_t i = 0; i < ROWS; i++) {
        persons[i] = i % 10 == 0 ? 44 : 44 + 256 * (i + 1);
    }
    assert_ok(tacet_ab_log_open_rows(&log, rows, ROWS, &q, NULL));
    assert_ok(tacet_ab_log_release(log, &model, &entry, NULL));
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    assert_int_equal(f->plan.rows, ROWS - 2); /* four rows of one person, and one of everybody else */
    assert_true(f->person_rows == 2 && f->person_eps == 2);
    tacet_ab_model_free(model);
    tacet_ab_log_free(log);
}
