/* SPDX-License-Identifier: Apache-2.0 */
/* test_desk.c - the desk: values from a column, a command and a person; once per ticket, whatever happens. */
#include "outsourced/trusted/desk_internal.h"
#include "outsourced/desk_fixture.h"

#include <pthread.h>

static void hear_cell(void *user, const char *name, const char *text, size_t length) {
    char *all = user;
    (void)snprintf(all + strlen(all), 128 - strlen(all), "%s=%.*s;", name, (int)length, text);
}

TEST(a_record_is_told_with_its_name_first) {
    fixture *f = *state;
    char all[128] = "";
    assert_ok(tacet_desk_record(NULL, f->data, "y", 4, hear_cell, all, NULL));
    assert_string_equal(all, "y=1;x=12;");
    all[0] = '\0';
    assert_ok(tacet_desk_record(NULL, f->data, NULL, 0, hear_cell, all, NULL));
    assert_string_equal(all, "x=0;y=-1;");
    all[0] = '\0';
    assert_ok(tacet_desk_record(NULL, f->data, NULL, ROWS, hear_cell, all, NULL));
    assert_string_equal(all, "");
    assert_status(tacet_desk_record(NULL, f->data, "patient", 0, hear_cell, all, NULL), TACET_NOT_FOUND);
}

TEST(test_column) {
    fixture *f = *state;
    tacet_desk_reply r;
    f->settings.values = "y";
    open_desk(f, &f->desk);
    assert_true(ask(f->desk, "a", 3) == value_of(3));
    assert_true(ask(f->desk, "a", 3) == value_of(3)); /* again: the same, charged once */
    assert_true(ask(f->desk, "b", 3) == value_of(3)); /* another query for the same row */
    assert_int_equal(entries(f->desk), 3);            /* with the release */
    assert_int_equal(tacet_desk_made(f->desk), 2);
    assert_status(refused(f->desk, "a", 4), TACET_CONFLICT);
    assert_status(refused(f->desk, "c", ROWS), TACET_INVALID);
    assert_status(refused(f->desk, "c", SIZE_MAX), TACET_INVALID);
    assert_ok(tacet_desk_look(f->desk, &r, "a", NULL));
    assert_true(r.answered && r.value == value_of(3) && r.row == 3);
    assert_status(tacet_desk_look(f->desk, &r, "never", NULL), TACET_NOT_FOUND);
    assert_int_equal(entries(f->desk), 3);
    reopen(f);
    assert_true(ask(f->desk, "a", 3) == value_of(3));
    assert_status(refused(f->desk, "a", 4), TACET_CONFLICT);
    assert_int_equal(entries(f->desk), 3);
}

/* Writes the table anew: its rows from `from` on, then those before it; with one cell of it another. */
static void rewrite(const fixture *f, const char *head, size_t from, double cell, bool outcomes) {
    FILE *file = fopen(f->data, "w");
    assert_non_null(file);
    (void)fprintf(file, "%s\n", head);
    for (size_t k = 0; k < ROWS; k++) {
        const size_t i = (k + from) % ROWS;
        (void)fprintf(file, " %.4e,%g\n", i == 7 ? cell : 3 * (double)i, outcomes ? value_of(i) : 1);
    }
    assert_int_equal(fclose(file), 0);
}

TEST(rows_are_answered_for_in_the_released_order_alone) {
    fixture *f = *state;
    for (int way = 0; way < 3; way++) { /* a column, a command, a person */
        tacet_error err = {0};
        f->settings.values = way == 0 ? "y" : NULL;
        f->settings.evaluate = way == 1 ? "cat" : NULL;
        rewrite(f, "x,y", 0, 21, true);
        reopen(f);
        assert_null(tacet_desk_doubt(f->desk));
        rewrite(f, "x,y", 0, 21, false); /* outcomes may come later */
        reopen(f);
        assert_null(tacet_desk_doubt(f->desk));
        rewrite(f, "x,y", 1, 21, true);
        assert_status(tacet_desk_open(&f->other, &f->settings, &err), TACET_PARSE);
        assert_non_null(strstr(err.message, "column 'x' differs"));
        rewrite(f, "x,y", 0, 22, true);
        assert_status(tacet_desk_open(&f->other, &f->settings, NULL), TACET_PARSE);
        rewrite(f, "name,y", 1, 21, true);
        reopen(f);
        assert_non_null(strstr(tacet_desk_doubt(f->desk), "none of the released columns"));
    }
}

/* Each release has the order it was made in, whatever else its ledger has paid for; a registry without it says so. */
TEST(another_release_in_another_order_changes_nothing) {
    fixture *f = *state;
    OWN_TEXT char *elsewhere = test_text("%s/elsewhere", f->folder);
    OWN_TEXT char *here = test_text("%s", getenv("TACET_STATE"));
    rewrite(f, "x,y", 1, 21, true);
    static tacet_space_column column = TEST_REAL("x", 0, 100, 5);
    const tacet_space space = {&column, 1};
    OWN_TEXT char *out = test_text("%s/later", f->folder);
    OWN_MANIFEST tacet_manifest m;
    tacet_curate_settings s;
    tacet_curate_defaults(&s);
    s.data = f->data;
    s.folder = out;
    s.space = &space;
    s.eps = 1;
    s.ticket = "later";
    s.new_budget = "a test";
    OWN_TEXT char *ledger = test_text("%s/later.db", f->folder);
    s.ledger = ledger;
    assert_ok(tacet_curate_run(&m, &s, NULL));
    assert_status(tacet_desk_open(&f->other, &f->settings, NULL), TACET_PARSE);
    f->settings.folder = out;
    reopen(f);
    f->settings.folder = f->out;
    rewrite(f, "x,y", 0, 21, true);
    reopen(f);
    assert_int_equal(setenv("TACET_STATE", elsewhere, 1), 0);
    reopen(f);
    assert_int_equal(setenv("TACET_STATE", here, 1), 0);
    assert_non_null(strstr(tacet_desk_doubt(f->desk), "the registry of this machine does not have it"));
}

TEST(test_tickets) {
    fixture *f = *state;
    char longest[102];
    memset(longest, 'x', sizeof longest);
    f->settings.values = "y";
    open_desk(f, &f->desk);
    static const char *const BAD[] = {"", "a b", "a/b", "../x", "\xc3\xa4", "a\n", "query:a", "a\"b"};
    for (size_t k = 0; k < sizeof BAD / sizeof BAD[0]; k++) {
        assert_status(refused(f->desk, BAD[k], 1), TACET_INVALID);
    }
    longest[101] = '\0';
    assert_status(refused(f->desk, longest, 1), TACET_INVALID);
    longest[100] = '\0';
    assert_true(ask(f->desk, longest, 1) == value_of(1));
    assert_int_equal(tacet_desk_made(f->desk), 1);
    reopen(f);
    assert_true(ask(f->desk, longest, 1) == value_of(1));
    assert_int_equal(tacet_desk_made(f->desk), 1);
}

TEST(test_query_budget) {
    fixture *f = *state;
    char ticket[8];
    f->settings.values = "y";
    open_desk(f, &f->desk);
    for (size_t i = 0; i < QUERIES; i++) {
        (void)snprintf(ticket, sizeof ticket, "t%zu", i);
        assert_true(ask(f->desk, ticket, i) == value_of(i));
    }
    assert_status(refused(f->desk, "one-more", 1), TACET_BUDGET);
    assert_true(ask(f->desk, "t0", 0) == value_of(0)); /* what was answered stays answered */
    reopen(f);
    assert_status(refused(f->desk, "one-more", 1), TACET_BUDGET);
    assert_true(ask(f->desk, "t0", 0) == value_of(0));
    assert_int_equal(entries(f->desk), QUERIES + 1);
}

/* Two desks on one folder share one budget and one set of answers. */
TEST(test_two_desks) {
    fixture *f = *state;
    f->settings.values = "y";
    open_desk(f, &f->desk);
    open_desk(f, &f->other);
    assert_true(ask(f->desk, "a", 1) == value_of(1));
    assert_true(ask(f->other, "a", 1) == value_of(1));
    assert_status(refused(f->other, "a", 2), TACET_CONFLICT);
    assert_true(ask(f->other, "b", 2) == value_of(2));
    assert_true(ask(f->desk, "c", 3) == value_of(3));
    assert_true(ask(f->other, "d", 4) == value_of(4));
    assert_true(ask(f->desk, "e", 5) == value_of(5));
    assert_status(refused(f->desk, "f", 6), TACET_BUDGET);
    assert_status(refused(f->other, "f", 6), TACET_BUDGET);
    assert_true(ask(f->other, "e", 5) == value_of(5)); /* asked at the other desk, and the budget is used up */
    assert_int_equal(tacet_desk_made(f->desk), QUERIES);
    assert_int_equal(tacet_desk_made(f->other), QUERIES);
    assert_int_equal(entries(f->desk), QUERIES + 1);
}

TEST(test_person) {
    fixture *f = *state;
    tacet_desk_reply r;
    char ticket[TACET_DESK_TICKET];
    size_t row = 0;
    f->settings.data = NULL;
    open_desk(f, &f->desk);
    assert_ok(tacet_desk_ask(f->desk, &r, "a", 7, NULL));
    assert_false(r.answered);
    assert_ok(tacet_desk_ask(f->desk, &r, "b", 8, NULL));
    open_desk(f, &f->other); /* the person's own program */
    assert_ok(tacet_desk_pending(f->other, 0, ticket, &row, NULL));
    assert_string_equal(ticket, "a");
    assert_int_equal(row, 7);
    assert_ok(tacet_desk_pending(f->other, 1, ticket, &row, NULL));
    assert_string_equal(ticket, "b");
    assert_status(tacet_desk_pending(f->other, 2, ticket, &row, NULL), TACET_NOT_FOUND);
    assert_status(tacet_desk_answer(f->other, "a", NAN, NULL), TACET_INVALID);
    assert_status(tacet_desk_answer(f->other, "a", INFINITY, NULL), TACET_INVALID);
    assert_status(tacet_desk_answer(f->other, "c", 1, NULL), TACET_NOT_FOUND);
    assert_ok(tacet_desk_answer(f->other, "a", 4.25, NULL));
    assert_status(tacet_desk_answer(f->other, "a", 9, NULL), TACET_CONFLICT);
    assert_status(tacet_desk_answer(f->desk, "a", 9, NULL), TACET_CONFLICT); /* the service's desk sees it, too */
    assert_ok(tacet_desk_look(f->desk, &r, "a", NULL));
    assert_true(r.answered && r.value == 4.25);
    assert_true(ask(f->desk, "a", 7) == 4.25);
    assert_ok(tacet_desk_look(f->desk, &r, "b", NULL));
    assert_false(r.answered);
    reopen(f);
    assert_true(ask(f->desk, "a", 7) == 4.25);
    assert_ok(tacet_desk_pending(f->desk, 0, ticket, &row, NULL));
    assert_string_equal(ticket, "b");
    assert_int_equal(entries(f->desk), 3);
}

TEST(test_command) {
    fixture *f = *state;
    use_command(f, "awk -F, 'NR == 2 { print $1 * 10 + $2 }'");
    open_desk(f, &f->desk);
    assert_true(ask(f->desk, "a", 4) == 121);
    assert_true(ask(f->desk, "a", 4) == 121);
    assert_int_equal(runs(f), 1);
    reopen(f);
    assert_true(ask(f->desk, "a", 4) == 121);
    assert_int_equal(runs(f), 1); /* an answer is not measured again */
}

/* Whatever the command does: 502 on the wire, the ticket reserved once, and asking again tries again. */
TEST(test_command_fails) {
    fixture *f = *state;
    static const char *const REST[] = {"exit 1", "kill -9 $$", "echo rubbish", "head -c 100000 /dev/zero", "sleep 60"};
    f->settings.seconds = 0.5;
    for (size_t k = 0; k < sizeof REST / sizeof REST[0]; k++) {
        OWN_TEXT char *ticket = test_text("t%zu", k);
        use_command(f, REST[k]);
        tacet_desk_close(f->desk);
        open_desk(f, &f->desk);
        assert_status(refused(f->desk, ticket, k), TACET_UNSUPPORTED);
        assert_int_equal(entries(f->desk), k + 2);
        assert_status(refused(f->desk, ticket, k), TACET_UNSUPPORTED);
        assert_int_equal(entries(f->desk), k + 2);
        /* The command is mended; what was open is measured when the desk opens, and none of it is charged again. */
        use_command(f, "echo 77");
        reopen(f);
        assert_true(ask(f->desk, ticket, k) == 77);
        assert_int_equal(entries(f->desk), k + 2);
    }
    f->desk = (tacet_desk_close(f->desk), NULL);
}

/* Asked while the command runs: pending, then the answer; not run twice for it. */
TEST(test_slow_command) {
    fixture *f = *state;
    tacet_desk_reply r;
    OWN_TEXT char *gate = test_text("%s/open", f->folder);
    OWN_TEXT char *rest = test_text("while [ ! -e %s ]; do sleep 0.02; done; echo 3", gate);
    use_command(f, rest);
    f->settings.patience = 0;
    open_desk(f, &f->desk);
    for (int i = 0; i < 3; i++) {
        assert_ok(tacet_desk_ask(f->desk, &r, "a", 1, NULL));
        assert_false(r.answered);
    }
    assert_ok(tacet_desk_look(f->desk, &r, "a", NULL));
    assert_false(r.answered);
    test_write(gate, "");
    for (int i = 0; i < 3000 && !r.answered; i++) {
        assert_ok(tacet_desk_look(f->desk, &r, "a", NULL));
        (void)usleep(10000);
    }
    assert_true(r.answered && r.value == 3);
    assert_int_equal(runs(f), 1);
    assert_int_equal(entries(f->desk), 2);
}

typedef struct asker {
    tacet_desk *desk;
    size_t id;
    double values[QUERIES];
} asker;

static void *ask_all(void *argument) {
    asker *a = argument;
    for (size_t i = 0; i < QUERIES; i++) {
        tacet_desk_reply r = {0};
        const size_t k = (i + a->id) % QUERIES;
        OWN_TEXT char *ticket = test_text("t%zu", k);
        a->values[k] = tacet_desk_ask(a->desk, &r, ticket, k, NULL) == TACET_OK && r.answered ? r.value : NAN;
    }
    return NULL;
}

TEST(test_threads) {
    fixture *f = *state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    asker askers[THREADS];
    use_command(f, "awk -F, 'NR == 2 { print $2 }'");
    open_desk(f, &f->desk);
    for (size_t i = 0; i < THREADS; i++) {
        askers[i] = (asker){.desk = f->desk, .id = i};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_all, &askers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        for (size_t k = 0; k < QUERIES; k++) {
            assert_true(askers[i].values[k] == value_of(k));
        }
    }
    assert_int_equal(runs(f), QUERIES);
    assert_int_equal(entries(f->desk), QUERIES + 1);
}

TEST(test_bad_settings) {
    fixture *f = *state;
    tacet_error err = {0};
    const tacet_desk_settings good = f->settings;
    f->settings.values = "no-such-column";
    assert_status(tacet_desk_open(&f->desk, &f->settings, &err), TACET_NOT_FOUND);
    assert_null(f->desk);
    f->settings = good;
    f->settings.values = "y";
    f->settings.evaluate = "echo 1";
    assert_status(tacet_desk_open(&f->desk, &f->settings, NULL), TACET_INVALID);
    f->settings = good;
    f->settings.seconds = NAN;
    assert_status(tacet_desk_open(&f->desk, &f->settings, NULL), TACET_INVALID);
    f->settings = good;
    f->settings.folder = f->folder; /* no manifest there */
    assert_status(tacet_desk_open(&f->desk, &f->settings, NULL), TACET_NOT_FOUND);
    f->settings = good;
    f->settings.values = "y";
    FILE *file = fopen(f->data, "a"); /* a record more than the release has */
    assert_non_null(file);
    (void)fputs("1,2\n", file);
    (void)fclose(file);
    tacet_error_clear(&err);
    assert_status(tacet_desk_open(&f->desk, &f->settings, &err), TACET_PARSE);
    assert_non_null(strstr(err.message, "not the table"));
    assert_null(f->desk);
}

TEST(test_no_memory) {
    fixture *f = *state;
    f->settings.values = "y";
    open_desk(f, &f->desk);
    (void)ask(f->desk, "a", 1);
    f->desk = (tacet_desk_close(f->desk), NULL);
    for (long n = 1;; n++) {
        fail_alloc_after(n);
        const tacet_status status = tacet_desk_open(&f->desk, &f->settings, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (!hit) {
            assert_ok(status);
            break;
        }
        if (status != TACET_OK) {
            assert_status(status, TACET_NO_MEMORY);
            assert_null(f->desk);
        }
        f->desk = (tacet_desk_close(f->desk), NULL);
    }
    for (long n = 1;; n++) { /* a query: it may be reserved, but never lost, and never charged twice */
        tacet_desk_reply r;
        fail_alloc_after(n);
        const tacet_status status = tacet_desk_ask(f->desk, &r, "b", 2, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (!hit) {
            assert_ok(status);
            break;
        }
        assert_true(status == TACET_OK || (status == TACET_NO_MEMORY && !r.answered));
    }
    assert_true(ask(f->desk, "b", 2) == value_of(2));
    assert_int_equal(entries(f->desk), 3);
}

typedef struct measured {
    size_t calls, fail_once;
} measured;

/* Row 3 cannot be measured; the first try of row 5 goes wrong. */
static tacet_status by_function(void *user, double *value, size_t row, tacet_error *err) {
    measured *m = user;
    m->calls++;
    *value = row == 3 ? (double)NAN : value_of(row);
    if (row == 5 && m->fail_once-- > 0) {
        *value = 0;
        return tacet_error_set(err, TACET_UNSUPPORTED, "the instrument is away");
    }
    return row == 3 ? TACET_UNSUPPORTED : TACET_OK;
}

TEST(a_function_measures_once_a_ticket) {
    fixture *f = *state;
    measured m = {.fail_once = 1};
    tacet_desk_reply reply;
    tacet_error err = {0};
    f->settings.measure = by_function;
    f->settings.user = &m;
    f->settings.data = NULL; /* the function knows its records */
    open_desk(f, &f->desk);
    assert_true(ask(f->desk, "a", 4) == value_of(4));
    assert_true(ask(f->desk, "a", 4) == value_of(4));
    assert_int_equal(m.calls, 1);
    assert_ok(tacet_desk_ask(f->desk, &reply, "b", 3, NULL));
    assert_true(reply.answered && reply.failed);
    assert_int_equal(tacet_desk_ask(f->desk, &reply, "c", 5, &err), TACET_UNSUPPORTED);
    assert_string_equal(err.message, "the instrument is away");
    assert_true(ask(f->desk, "c", 5) == value_of(5)); /* asked again, tried again */
    reopen(f);
    assert_true(ask(f->desk, "a", 4) == value_of(4)); /* from the ledger */
    assert_int_equal(m.calls, 4);
    f->settings.values = "y";
    f->settings.data = f->data;
    assert_int_equal(tacet_desk_open(&f->other, &f->settings, NULL), TACET_INVALID); /* one source of values */
}

TEST_EACH(setup, teardown)
