/* SPDX-License-Identifier: Apache-2.0 */
/* test_log_rows.c - a log in memory gives the model that the same log in a file gives; and predictions for many. */
#include "support/test.h"

#include "audit/scratch.h"

#include <math.h>
#include <tacet/contextual/trusted/log.h>
#include <tacet/core/simrng.h>

enum { ROWS = 4000, WIDTH = 4, PATH_BYTES = 300 };
static const char SPACE[] = "{\"columns\":[{\"name\":\"variant\",\"levels\":[\"A\",\"B\"]},"
                            "{\"name\":\"age\",\"bounds\":[18,90]}]}";

typedef struct fixture {
    char folder[200], data[PATH_BYTES], ledger[PATH_BYTES];
    double rows[ROWS * WIDTH];
    tacet_space space;
    tacet_contextual_question question;
    tacet_contextual_entry entry;
} fixture;

/* B is better for the old. */
static int setup(void **state) {
    static fixture f;
    tacet_simrng rng;
    memset(&f, 0, sizeof f);
    tacet_simrng_init(&rng, 5, 0);
    (void)snprintf(f.folder, sizeof f.folder, "%s", test_mkdir());
    (void)snprintf(f.data, sizeof f.data, "%s/log.csv", f.folder);
    (void)snprintf(f.ledger, sizeof f.ledger, "%s/ledger.db", f.folder);
    assert_ok(tacet_space_decode(&f.space, SPACE, sizeof SPACE - 1, NULL));
    FILE *file = fopen(f.data, "w");
    assert_non_null(file);
    (void)fputs("variant,age,p,bought\n", file);
    for (size_t i = 0; i < ROWS; i++) {
        double *row = f.rows + i * WIDTH;
        row[0] = (double)tacet_simrng_below(&rng, 2);
        row[1] = 18 + (double)tacet_simrng_below(&rng, 73);
        row[2] = tacet_simrng_uniform(&rng) < (row[0] > 0 ? (row[1] - 18) / 72 : 0.4) ? 1 : 0;
        row[3] = 0.5;
        (void)fprintf(file, "%c,%g,0.5,%g\n", row[0] > 0 ? 'B' : 'A', row[1], row[2]);
    }
    assert_int_equal(fclose(file), 0);
    tacet_contextual_settings_defaults(&f.question.settings);
    f.question.settings.reward_lower = 0;
    f.question.settings.reward_upper = 1;
    f.question.settings.eps = 4;
    f.question.space = &f.space;
    f.question.action_columns = 1;
    f.question.reward = "bought";
    f.question.propensity = "p";
    f.question.kind = TACET_KERNEL_SE;
    f.entry.ticket = "model";
    f.entry.to_whom = "anyone";
    f.entry.seeded = true;
    f.entry.seed = 3;
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    tacet_space_clear(&f->space);
    test_rmdir(f->folder);
    return 0;
}

static tacet_contextual_model *learn(fixture *f, bool memory, tacet_status expected) {
    tacet_contextual_log *log = NULL;
    tacet_contextual_model *model = NULL;
    tacet_error err = {0};
    const tacet_status opened = memory ? tacet_contextual_log_open_rows(&log, f->rows, ROWS, &f->question, &err)
                                       : tacet_contextual_log_open(&log, f->data, &f->question, &err);
    test_assert_status(opened, TACET_OK, &err, __FILE__, __LINE__);
    const tacet_status released = tacet_contextual_log_release(log, &model, &f->entry, &err);
    test_assert_status(released, expected, &err, __FILE__, __LINE__);
    tacet_contextual_log_free(log);
    return model;
}

static void memory_and_file_give_the_same_model(void **state) {
    fixture *f = *state;
    tacet_contextual_model *a = learn(f, false, TACET_OK);
    tacet_contextual_model *b = learn(f, true, TACET_OK);
    char *first = NULL;
    char *second = NULL;
    assert_ok(tacet_contextual_model_encode(a, &first, NULL));
    assert_ok(tacet_contextual_model_encode(b, &second, NULL));
    assert_string_equal(first, second);
    free(first);
    free(second);
    tacet_contextual_model_free(a);
    tacet_contextual_model_free(b);
}

static void the_same_rows_have_one_budget_without_a_name(void **state) {
    fixture *f = *state;
    f->entry.seeded = false;
    tacet_contextual_model_free(learn(f, true, TACET_OK));
    f->entry.ticket = "another";
    assert_null(learn(f, true, TACET_BUDGET));
    f->entry.ledger = f->ledger;
    assert_null(learn(f, true, TACET_BUDGET)); /* known by its rows */
    f->entry.new_budget = "a test of the reason";
    tacet_contextual_model_free(learn(f, true, TACET_OK));
}

static void a_release_that_was_stopped_goes_on_and_is_charged_once(void **state) {
    fixture *f = *state;
    static volatile bool stop;
    stop = true;
    f->entry.seeded = false;
    f->question.settings.stop = &stop;
    assert_null(learn(f, true, TACET_STATE));
    stop = false;
    tacet_contextual_model_free(learn(f, true, TACET_OK));
    f->entry.ticket = "another";
    assert_null(learn(f, true, TACET_BUDGET));
}

static tacet_status release_file(void *user, tacet_error *err) {
    fixture *f = user;
    tacet_contextual_log *log = NULL;
    tacet_contextual_model *model = NULL;
    tacet_status status = tacet_contextual_log_open(&log, f->data, &f->question, err);
    status = status != TACET_OK ? status : tacet_contextual_log_release(log, &model, &f->entry, err);
    tacet_contextual_model_free(model);
    tacet_contextual_log_free(log);
    return status;
}

static uint64_t entries(const char *path) {
    tacet_ledger_settings s;
    tacet_ledger *ledger = NULL;
    tacet_ledger_totals totals = {0};
    tacet_ledger_settings_defaults(&s);
    s.create = false;
    s.use_stored = true;
    if (tacet_ledger_open(&ledger, path, &s, NULL) == TACET_OK) {
        assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    }
    tacet_ledger_close(ledger);
    return totals.entries;
}

/* A file with the same rows, the last one first. */
static void write_backwards(const fixture *f, const char *path) {
    FILE *file = fopen(path, "w");
    (void)fputs("variant,age,p,bought\n", file);
    for (size_t i = ROWS; i-- > 0;) {
        const double *row = f->rows + i * WIDTH;
        (void)fprintf(file, "%c,%g,0.5,%g\n", row[0] > 0 ? 'B' : 'A', row[1], row[2]);
    }
    assert_int_equal(fclose(file), 0);
}

/* Rows are dealt to parts by their numbers, and parts are charged as rows of different people: in another order a row
 * would be read by two parts for one charge. Killed at each commit; the same rows backwards, under another name. */
static void a_release_goes_on_from_the_rows_it_was_begun_with(void **state) {
    enum { COMMITS_MOST = 100 };
    fixture *f = *state;
    char first[PATH_BYTES], backwards[PATH_BYTES];
    size_t tried = 0;
    f->entry.seeded = false;
    f->entry.ledger = f->ledger;
    (void)snprintf(first, sizeof first, "%s", f->data);
    (void)snprintf(backwards, sizeof backwards, "%s/backwards.csv", f->folder);
    write_backwards(f, backwards);
    f->entry.budget = 100 * f->question.settings.eps;
    for (size_t k = 2; k < COMMITS_MOST; k += 3) {
        char ticket[32];
        (void)snprintf(ticket, sizeof ticket, "killed at %zu", k);
        f->entry.ticket = ticket;
        const uint64_t had = entries(f->ledger);
        if (!tacet__scratch_killed(f->ledger, k, release_file, f)) {
            break;
        }
        const uint64_t begun = entries(f->ledger);
        (void)snprintf(f->data, sizeof f->data, "%s", backwards);
        if (begun > had) {
            tried++;
            assert_status(release_file(f, NULL), TACET_CONFLICT);
            assert_true(entries(f->ledger) == begun);
        }
        (void)snprintf(f->data, sizeof f->data, "%s", first);
        assert_ok(release_file(f, NULL));
    }
    assert_true(tried > 3);
}

static void public_cells_are_refused_and_private_ones_are_not(void **state) {
    fixture *f = *state;
    tacet_contextual_log *log = NULL;
    tacet_error err = {0};
    f->rows[9 * WIDTH] = 2; /* no such variant */
    assert_int_equal(tacet_contextual_log_open_rows(&log, f->rows, ROWS, &f->question, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "row 9 "));
    f->rows[9 * WIDTH] = 1;
    f->rows[9 * WIDTH + 1] = 1e6; /* an age, clipped */
    f->rows[12 * WIDTH + 3] = 0;  /* a propensity */
    assert_ok(tacet_contextual_log_open_rows(&log, f->rows, ROWS, &f->question, NULL));
    tacet_contextual_finding found[TACET_CONTEXTUAL_FINDINGS_MOST];
    char words[TACET_CONTEXTUAL_WORDS];
    size_t count = 0;
    assert_ok(tacet_contextual_log_findings(log, found, &count, NULL));
    assert_int_equal(count, 2);
    tacet_contextual_log_words(log, words, &found[0]);
    assert_string_equal(words, "age: 1 of 4000 rows lie outside, the first is row 10; they count as the nearest bound");
    tacet_contextual_log_words(log, words, &found[1]);
    assert_string_equal(words, "p: 1 of 4000 rows are no probability or below the least, which they count as");
    found[0] =
        (tacet_contextual_finding){.oddity = TACET_CONTEXTUAL_UNTRIED, .column = "variant", .rows = 1, .first = 2};
    tacet_contextual_log_words(log, words, &found[0]);
    assert_string_equal(words, "variant: 1 actions were never tried, the first is B: nothing is learnt of them");
    tacet_contextual_log_free(log);
    f->rows[9 * WIDTH + 2] = (double)NAN;
    assert_int_equal(tacet_contextual_log_open_rows(&log, f->rows, ROWS, &f->question, NULL), TACET_PARSE);
}

static void many_predictions_are_those_of_one_at_a_time(void **state) {
    fixture *f = *state;
    enum { N = 30 };
    tacet_contextual_model *model = learn(f, false, TACET_OK);
    tacet_contextual_candidates candidates;
    double records[2 * N], contexts[N], means[N], best_means[N], all[2], point[4];
    size_t best[N], one = 0;
    tacet_error err = {0};
    assert_ok(tacet_contextual_candidates_make(&candidates, model, 2, NULL));
    assert_int_equal(candidates.count, 2);
    for (size_t i = 0; i < N; i++) {
        records[2 * i] = (double)(i % 2);
        records[2 * i + 1] = contexts[i] = 18 + 2 * (double)i;
    }
    assert_ok(tacet_contextual_predict_records(model, means, records, N, NULL));
    assert_ok(tacet_contextual_recommend(model, best, best_means, &candidates, contexts, N, NULL));
    for (size_t i = 0; i < N; i++) {
        assert_ok(tacet_contextual_context_point(model, point, &contexts[i], NULL));
        assert_ok(tacet_contextual_predict(model, &one, all, candidates.points, 2, point, NULL));
        assert_int_equal(best[i], one);
        assert_true(best_means[i] == all[one]);
        assert_true(fabs(means[i] - all[i % 2]) < 1e-9);
    }
    assert_int_equal(best[0], 0);
    assert_int_equal(best[N - 1], 1);
    contexts[4] = records[9] = 91;
    assert_int_equal(tacet_contextual_predict_records(model, means, records, N, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "row 4 "));
    assert_int_equal(tacet_contextual_recommend(model, best, best_means, &candidates, contexts, N, NULL),
                     TACET_INVALID);
    records[9] = 50;
    records[8] = 5;
    assert_int_equal(tacet_contextual_predict_records(model, means, records, N, NULL), TACET_INVALID);
    tacet_contextual_candidates_clear(&candidates);
    tacet_contextual_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_and_file_give_the_same_model, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_rows_have_one_budget_without_a_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_release_that_was_stopped_goes_on_and_is_charged_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_release_goes_on_from_the_rows_it_was_begun_with, setup, teardown),
        cmocka_unit_test_setup_teardown(public_cells_are_refused_and_private_ones_are_not, setup, teardown),
        cmocka_unit_test_setup_teardown(many_predictions_are_those_of_one_at_a_time, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
