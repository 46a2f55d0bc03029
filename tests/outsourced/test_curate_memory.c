/* SPDX-License-Identifier: Apache-2.0 */
/* test_curate_memory.c - a table in memory is released as the same table in a file is, and charged as carefully. */
#include "curate_fixture.h"

#include <math.h>
#include <pthread.h>
#include <tacet/dp/ledger.h>
#include <tacet/space/space.h>

enum { MANY = 5000 };

static char *run_and_read(fixture *f) {
    tacet_manifest m;
    run_ok(f, &m);
    assert_int_equal(m.rows, f->n);
    tacet_manifest_clear(&m);
    char *text = slurp(f->release);
    test_rmdir(f->out);
    return text;
}

static void use_memory(fixture *f) {
    f->settings.data = NULL;
    f->settings.records = f->records;
    f->settings.record_count = f->n;
}

/* Seeded noise: what comes out is a function of the numbers alone, whatever they came from and however many threads. */
TEST(the_same_numbers_are_released_alike_from_a_file_and_from_memory) {
    fixture *f = *state;
    write_table(f, MANY, true, false);
    OWN_TEXT char *from_file = run_and_read(f);
    use_memory(f);
    f->settings.threads = 3;
    OWN_TEXT char *from_memory = run_and_read(f);
    assert_string_equal(from_file, from_memory);
}

/* Whose row it is, over the ends of blocks: of two rows each, next to each other, the first. */
TEST(of_each_person_in_memory_the_first_rows_are_released) {
    static uint64_t persons[MANY];
    fixture *f = *state;
    tacet_manifest m;
    write_table(f, MANY, true, false);
    use_memory(f);
    for (size_t i = 0; i < MANY; i++) {
        persons[i] = i / 2;
    }
    f->settings.persons = persons;
    f->settings.rows_per_person = 1;
    run_ok(f, &m);
    assert_int_equal(m.rows, MANY / 2);
    tacet_manifest_clear(&m);
}

TEST(typed_records_are_released_alike_too) {
    static const char SPACE[] = "{\"columns\":[{\"name\":\"age\",\"bounds\":[0,100],\"unit\":5},"
                                "{\"name\":\"bmi\",\"kind\":\"integer\",\"bounds\":[10,60],\"unit\":2,\"missing\":11},"
                                "{\"name\":\"dose\",\"levels\":[\"a\",\"b\",\"c\"]}]}";
    fixture *f = *state;
    OWN_SPACE tacet_space space;
    assert_ok(tacet_space_decode(&space, SPACE, sizeof SPACE - 1, NULL));
    FILE *file = fopen(f->data, "w");
    (void)fputs("dose,age,bmi\n", file);
    for (size_t j = 0; j < f->n; j++) {
        double *r = f->records + j * D;
        r[1] = j % 4 == 0 ? (double)NAN : floor(r[1]);
        r[2] = (double)(j % 3);
        (void)fprintf(file, "%c,%.17g,", "abc"[j % 3], r[0]);
        (void)fprintf(file, j % 4 == 0 ? "\n" : "%g\n", r[1]);
    }
    assert_int_equal(fclose(file), 0);
    f->settings.space = &space;
    f->settings.mechanism = TACET_CURATE_LAPLACE;
    f->settings.delta = 0;
    char *from_file = run_and_read(f);
    use_memory(f);
    char *from_memory = run_and_read(f);
    assert_string_equal(from_file, from_memory);
    free(from_file);
    free(from_memory);
    /* and what cannot be released is named before anything is spent */
    static const struct {
        size_t column;
        double cell;
        const char *words;
    } BAD[] = {{0, NAN, "'age' is missing"},
               {0, INFINITY, "'age' is not a finite number"},
               {1, 12.5, "'bmi' is not whole"},
               {2, 3, "'dose' is none of the levels"},
               {2, -1, "'dose' is none of the levels"},
               {2, 0.5, "'dose' is none of the levels"}};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        tacet_manifest m;
        tacet_error err = {0};
        const double before = f->records[7 * D + BAD[i].column];
        f->records[7 * D + BAD[i].column] = BAD[i].cell;
        assert_int_equal(tacet_curate_run(&m, &f->settings, &err), TACET_PARSE);
        assert_non_null(strstr(err.message, "row 7 "));
        assert_non_null(strstr(err.message, BAD[i].words));
        assert_false(exists(f->out));
        f->records[7 * D + BAD[i].column] = before;
    }
}

/* Without a name the ledger is the registry's, and the same records find it again: their budget is one. */
TEST(the_same_records_share_a_budget_without_a_name) {
    fixture *f = *state;
    char ledger[PATH_BYTES], again[PATH_BYTES];
    tacet_manifest m;
    tacet_error err = {0};
    OWN_TEXT char *folder = test_text("%s/elsewhere", f->folder);
    f->settings.seeded = false;
    f->settings.ledger = NULL;
    use_memory(f);
    assert_ok(tacet_curate_ledger(ledger, sizeof ledger, &f->settings, NULL));
    assert_ok(tacet_curate_run(&m, &f->settings, NULL));
    tacet_manifest_clear(&m);
    assert_true(exists(ledger));
    f->settings.folder = folder;
    f->settings.ticket = "second";
    assert_ok(tacet_curate_ledger(again, sizeof again, &f->settings, NULL));
    assert_string_equal(ledger, again);
    assert_int_equal(tacet_curate_run(&m, &f->settings, &err), TACET_BUDGET);
    /* another ledger does not help: the rows are known, in any order */
    for (size_t i = 0; i < D; i++) {
        const double first = f->records[i];
        f->records[i] = f->records[D + i];
        f->records[D + i] = first;
    }
    (void)snprintf(ledger, sizeof ledger, "%s/other.db", f->folder);
    f->settings.ledger = ledger;
    tacet_error_clear(&err);
    assert_int_equal(tacet_curate_run(&m, &f->settings, &err), TACET_BUDGET);
    assert_non_null(strstr(err.message, "released before"));
}

static volatile bool stop_flag;

static void stop_soon(double fraction, void *user) {
    (void)user;
    if (fraction > 0) {
        __atomic_store_n(&stop_flag, true, __ATOMIC_RELAXED);
    }
}

/* A run that is stopped leaves no release; the next one with its ticket is not charged again. */
TEST(a_stopped_run_goes_on_without_another_charge) {
    fixture *f = *state;
    tacet_manifest m;
    tacet_error err = {0};
    write_table(f, 20 * MANY, false, false);
    f->settings.seeded = false;
    f->settings.threads = 1;
    use_memory(f);
    stop_flag = false;
    f->settings.stop = &stop_flag;
    f->settings.progress = stop_soon;
    assert_int_equal(tacet_curate_run(&m, &f->settings, &err), TACET_STATE);
    assert_non_null(strstr(err.message, "stopped"));
    assert_false(exists(f->release));
    stop_flag = false;
    f->settings.progress = NULL;
    run_ok(f, &m);
    tacet_manifest_clear(&m);
    assert_true(exists(f->release));
}

static void change_soon(double fraction, void *user) {
    if (fraction > 0) {
        *(double *)user = -3.25;
    }
}

/* What was checked is what is drawn: a record that changes between the two is in no release, and is drawn under the
 * same ticket once it is what it was. */
TEST(records_that_change_while_they_are_read_are_not_released) {
    fixture *f = *state;
    tacet_manifest m;
    tacet_error err = {0};
    write_table(f, 20 * MANY, false, false);
    f->settings.seeded = false;
    f->settings.threads = 1;
    use_memory(f);
    double *last = &f->records[f->n * D - 1];
    const double before = *last;
    assert_true(before != -3.25);
    f->settings.progress = change_soon;
    f->settings.user = last;
    assert_int_equal(tacet_curate_run(&m, &f->settings, &err), TACET_STATE);
    assert_non_null(strstr(err.message, "changed while it was read"));
    assert_false(exists(f->release));
    f->settings.progress = NULL;
    tacet_error_clear(&err);
    assert_int_equal(tacet_curate_run(&m, &f->settings, &err), TACET_CONFLICT); /* the ticket is of other records */
    *last = before;
    run_ok(f, &m);
    tacet_manifest_clear(&m);
    assert_true(exists(f->release));
}

/* What the manifest says all rows of a person cost is what the ledger was charged, with and without levels. */
TEST(a_persons_price_is_what_the_ledger_has) {
    static const char *const SPACES[] = {
        "{\"columns\":[{\"name\":\"age\",\"bounds\":[0,100],\"unit\":5}]}",
        "{\"columns\":[{\"name\":\"age\",\"bounds\":[0,100],\"unit\":5},{\"name\":\"k\",\"levels\":[\"a\",\"b\"]}]}",
        ("{\"columns\":[{\"name\":\"age\",\"bounds\":[0,100],\"unit\":5},{\"name\":\"k\",\"levels\":[\"a\",\"b\"]},"
         "{\"name\":\"l\",\"levels\":[\"a\",\"b\",\"c\"]}]}")};
    static const tacet_curate_mechanism SHIPPED[] = {TACET_CURATE_GAUSSIAN, TACET_CURATE_LAPLACE, TACET_CURATE_L2};
    enum { PERSON_ROWS = 3 };
    fixture *f = *state;
    const double records[6] = {1, 1, 1, 1, 1, 1};
    const uint64_t persons[2] = {1, 2};
    for (size_t i = 0; i < 9; i++) {
        tacet_space space;
        tacet_manifest m;
        tacet_ledger *ledger = NULL;
        tacet_ledger_settings stored;
        tacet_charge charge;
        tacet_blob texts;
        assert_ok(tacet_space_decode(&space, SPACES[i % 3], strlen(SPACES[i % 3]), NULL));
        use_memory(f);
        f->settings.space = &space;
        f->settings.records = records;
        f->settings.record_count = 2;
        f->settings.persons = persons;
        f->settings.rows_per_person = PERSON_ROWS;
        f->settings.mechanism = SHIPPED[i / 3];
        f->settings.delta = SHIPPED[i / 3] == TACET_CURATE_LAPLACE ? 0 : 1e-6;
        f->settings.eps = 1;
        f->settings.budget_eps = 50;
        f->settings.budget_delta = 1e-3;
        run_ok(f, &m);
        tacet_ledger_settings_defaults(&stored);
        stored.use_stored = true;
        assert_ok(tacet_ledger_open(&ledger, f->ledger, &stored, NULL));
        tacet_blob_init(&texts);
        assert_ok(tacet_ledger_charge(ledger, &charge, &texts, f->settings.ticket, NULL));
        tacet_blob_clear(&texts);
        print_message("%s, %zu levels: %.9g, %.3g\n", tacet_curate_law(f->settings.mechanism)->name, i % 3,
                      m.person_eps, m.person_delta);
        assert_true(m.person_rows == PERSON_ROWS);
        assert_true(m.person_eps >= charge.eps && m.person_eps <= charge.eps * (1 + 1e-7)); /* rounded up */
        assert_true(m.person_delta >= charge.delta && m.person_delta <= charge.delta * (1 + 1e-7));
        tacet_ledger_close(ledger);
        tacet_manifest_clear(&m);
        tacet_space_clear(&space);
        test_rmdir(f->out);
    }
}

TEST(a_table_is_either_a_file_or_in_memory) {
    fixture *f = *state;
    tacet_manifest m;
    f->settings.records = f->records;
    f->settings.record_count = f->n;
    assert_int_equal(tacet_curate_run(&m, &f->settings, NULL), TACET_INVALID);
    f->settings.data = NULL;
    f->settings.mechanism = TACET_CURATE_PUBLISHED;
    f->settings.dims = 2;
    f->settings.accept_not_private = true;
    assert_int_equal(tacet_curate_run(&m, &f->settings, NULL), TACET_UNSUPPORTED);
    f->settings.mechanism = TACET_CURATE_GAUSSIAN;
    f->settings.record_count = 0;
    assert_int_equal(tacet_curate_run(&m, &f->settings, NULL), TACET_PARSE);
}

TEST_EACH(setup, teardown)
