/* SPDX-License-Identifier: Apache-2.0 */
/* test_desk_ledger.c - what answers cost: private outputs, and the ledger that a desk shares with releases and desks.
 */
#include "outsourced/trusted/desk_internal.h"
#include "local/shared/ldp.h"
#include "outsourced/desk_fixture.h"

#include "audit/temporary_folder.h"

/* Private outputs: possible values only, the same bits on every retry, and composed over one row's queries only. */
TEST(test_private_outputs) {
    fixture *f = *state;
    tacet_ldp ldp;
    tacet_desk_reply r;
    tacet_ledger_totals before, same_row, other_row;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 0.5, -1, 5, NULL));
    release(f, QUERIES, &ldp);
    f->settings.values = "y";
    open_desk(f, &f->desk);
    assert_ok(tacet_desk_total(f->desk, &before, NULL));
    const double first = ask(f->desk, "a", 3);
    assert_true(first != value_of(3)); /* at this eps hybrid has two outputs, both far outside the range */
    assert_true(tacet_ldp_possible(&ldp, first));
    for (int i = 0; i < 20; i++) {
        assert_true(ask(f->desk, "a", 3) == first);
    }
    assert_ok(tacet_desk_total(f->desk, &same_row, NULL));
    assert_true(same_row.eps > before.eps);
    assert_int_equal(same_row.uncovered, 0);
    (void)ask(f->desk, "b", 4); /* another record: parallel, nothing on top */
    assert_ok(tacet_desk_total(f->desk, &other_row, NULL));
    assert_close(other_row.eps, same_row.eps, 1e-12);
    assert_int_equal(other_row.entries, 3);
    reopen(f);
    assert_true(ask(f->desk, "a", 3) == first);
    /* The same record again costs again, and the budget was made for one. */
    assert_status(refused(f->desk, "c", 3), TACET_BUDGET);
    assert_status(tacet_desk_look(f->desk, &r, "c", NULL), TACET_NOT_FOUND);
    assert_int_equal(entries(f->desk), 3);
    (void)ask(f->desk, "d", 0);
}

/* Private outputs are no uncovered entries: here the desks alone count, and they count together. */
TEST(test_private_query_budget) {
    fixture *f = *state;
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 0.5, -1, 5, NULL));
    release(f, 3, &ldp);
    f->settings.values = "y";
    open_desk(f, &f->desk);
    open_desk(f, &f->other);
    (void)ask(f->desk, "a", 1);
    (void)ask(f->other, "b", 2);
    const double last = ask(f->desk, "c", 3);
    assert_status(refused(f->desk, "d", 4), TACET_BUDGET);
    assert_status(refused(f->other, "d", 4), TACET_BUDGET);
    assert_true(ask(f->other, "c", 3) == last);
    reopen(f);
    assert_status(refused(f->desk, "d", 4), TACET_BUDGET);
    assert_true(ask(f->desk, "c", 3) == last);
    assert_int_equal(entries(f->desk), 4);
}

/* Two releases in one ledger: row 3 of one may be row 4 of the other, so their outputs add up, and neither desk takes
 * up the other's queries. */
TEST(test_shared_ledger) {
    fixture *f = *state;
    static tacet_space_column COLUMN = TEST_REAL("x", 0, 100, 5);
    const tacet_space space = {&COLUMN, 1};
    char ledger[PATH_BYTES + 16], folders[2][PATH_BYTES + 16];
    tacet_ldp ldp;
    tacet_curate_settings s;
    tacet_manifest m;
    tacet_desk_reply r;
    tacet_ledger_totals one, both;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 0.5, -1, 5, NULL));
    (void)snprintf(ledger, sizeof ledger, "%s/shared.db", f->folder);
    tacet_curate_defaults(&s);
    s.data = f->data;
    s.space = &space;
    s.eps = 1;
    s.new_budget = "another test";
    s.budget_eps = 20;
    s.ledger = ledger;
    s.outputs_private = true;
    s.outputs = ldp;
    f->settings.ledger = ledger;
    f->settings.values = "y";
    for (int k = 0; k < 2; k++) {
        (void)snprintf(folders[k], sizeof folders[k], "%s/shared%d", f->folder, k);
        s.folder = folders[k];
        s.ticket = k == 0 ? "first" : "second";
        assert_ok(tacet_curate_run(&m, &s, NULL));
        tacet_manifest_clear(&m);
    }
    f->settings.folder = folders[0];
    open_desk(f, &f->desk);
    (void)ask(f->desk, "a", 3);
    assert_ok(tacet_desk_total(f->desk, &one, NULL));
    f->settings.folder = folders[1];
    open_desk(f, &f->other);
    assert_status(tacet_desk_look(f->other, &r, "a", NULL), TACET_NOT_FOUND);
    (void)ask(f->other, "b", 4);
    assert_ok(tacet_desk_total(f->other, &both, NULL));
    assert_true(both.eps > one.eps * 1.001);
    assert_status(refused(f->other, "a", 3), TACET_CONFLICT);
}

/* Of each person the first two rows were released. Rows are numbered as they are there, for a column and for a command,
 * and an answer costs what two rows do. */
TEST(rows_of_persons_are_those_of_the_release) {
    fixture *f = *state;
    static tacet_space_column COLUMN = TEST_REAL("x", 0, 100, 5);
    const tacet_space space = {&COLUMN, 1};
    static char data[PATH_BYTES + 16], ledger[PATH_BYTES + 16], folder[PATH_BYTES + 16]; /* the fixture has them */
    tacet_ldp ldp;
    tacet_curate_settings s;
    tacet_manifest m;
    tacet_ledger_totals before, after;
    (void)snprintf(data, sizeof data, "%s/persons.csv", f->folder);
    test_write(data, "who,x,y\na,1,10\na,2,20\na,3,30\nb,4,40\nc,5,50\n");
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 0.5, 0, 100, NULL));
    tacet_curate_defaults(&s);
    s.data = f->settings.data = data;
    s.space = &space;
    s.eps = 1;
    s.mechanism = TACET_CURATE_LAPLACE;
    s.delta = 0;
    s.person = "who";
    s.rows_per_person = 2;
    s.new_budget = "another test";
    s.folder = f->settings.folder = folder;
    s.ledger = f->settings.ledger = ledger;
    for (int k = 0; k < 3; k++) {
        (void)snprintf(folder, sizeof folder, "%s/persons%d", f->folder, k);
        (void)snprintf(ledger, sizeof ledger, "%s/persons%d.db", f->folder, k);
        s.outputs_private = k == 2;
        s.outputs = ldp;
        assert_ok(tacet_curate_run(&m, &s, NULL));
        assert_int_equal(m.rows, 4);
        tacet_manifest_clear(&m);
        f->settings.values = k == 1 ? NULL : "y";
        f->settings.evaluate = k == 1 ? "tail -n 1 | cut -d, -f3" : NULL;
        open_desk(f, &f->desk);
        assert_ok(tacet_desk_total(f->desk, &before, NULL));
        const double value = ask(f->desk, "a", 2);
        assert_ok(tacet_desk_total(f->desk, &after, NULL));
        assert_true(k == 2 || value == 40);
        assert_close(after.eps - before.eps, k == 2 ? 2 * ldp.eps : 0, 1e-9);
        tacet_desk_close(f->desk);
        f->desk = NULL;
    }
}

/* The release's own ledger, or none: an older copy, or another table's, would not know what the release has spent. */
TEST(test_other_ledger) {
    fixture *f = *state;
    static tacet_space_column COLUMN = TEST_REAL("x", 0, 100, 5);
    const tacet_space space = {&COLUMN, 1};
    tacet_error err = {0};
    tacet_curate_settings s;
    tacet_ledger_settings settings;
    tacet_ledger *ledger = NULL;
    tacet_manifest m;
    char folder[600];
    OWN_TEXT char *older = test_text("%s/older.db", f->folder);
    OWN_TEXT char *other = test_text("%s/other.db", f->folder);
    (void)snprintf(folder, sizeof folder, "%s/other", f->folder);
    tacet_ledger_settings_defaults(&settings); /* as it was before the release */
    settings.eps = 1;
    settings.delta = 1e-5;
    settings.uncovered_most = QUERIES;
    assert_ok(tacet_ledger_open(&ledger, older, &settings, NULL));
    tacet_ledger_close(ledger);
    f->settings.values = "y";
    f->settings.ledger = older;
    assert_status(tacet_desk_open(&f->desk, &f->settings, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "does not have this release"));
    assert_null(f->desk);
    /* Another release, of the same number in its own ledger. */
    tacet_curate_defaults(&s);
    s.data = f->data;
    s.folder = folder;
    s.space = &space;
    s.eps = 1;
    s.new_budget = "another test";
    s.ledger = other;
    assert_ok(tacet_curate_run(&m, &s, NULL));
    tacet_manifest_clear(&m);
    f->settings.ledger = other;
    assert_status(tacet_desk_open(&f->desk, &f->settings, &err), TACET_CONFLICT);
    f->settings.ledger = NULL;
    open_desk(f, &f->desk);
}

/* A copy from before an answer would draw the ticket afresh: two draws of one value, charged once. */
TEST(a_ledger_that_was_put_back_is_refused) {
    fixture *f = *state;
    tacet_error err = {0};
    OWN_TEXT char *ledger = test_text("%s.ledger.db", f->data);
    OWN_TEXT char *copy = test_text("%s.copy", ledger);
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_LAPLACE, 30, 100, 101, NULL));
    release(f, QUERIES, &ldp);
    f->settings.values = "y";
    open_desk(f, &f->desk);
    (void)ask(f->desk, "a", 3);
    f->desk = (tacet_desk_close(f->desk), NULL);
    test_copy(copy, ledger);
    open_desk(f, &f->desk);
    const double value = ask(f->desk, "b", 4);
    f->desk = (tacet_desk_close(f->desk), NULL);
    open_desk(f, &f->desk);
    assert_true(ask(f->desk, "b", 4) == value);
    f->desk = (tacet_desk_close(f->desk), NULL);
    test_copy(ledger, copy);
    assert_status(tacet_desk_open(&f->desk, &f->settings, &err), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "cut off"));
    f->settings.ledger = copy; /* under another name, too */
    assert_status(tacet_desk_open(&f->desk, &f->settings, NULL), TACET_CORRUPT);
}

/* Outside the public range: clipped, so the answer is as for the bound, and nothing tells. */
TEST(test_impossible_value) {
    fixture *f = *state;
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_LAPLACE, 30, 100, 101, NULL)); /* values are below 5; off by 0.5: 3e-7 */
    release(f, QUERIES, &ldp);
    f->settings.values = "y";
    open_desk(f, &f->desk);
    const double value = ask(f->desk, "a", 3);
    assert_true(value > 99.5 && value < 100.5);
}

typedef struct misses {
    size_t count, row;
    char why[200];
} misses;

static void note_miss(void *user, size_t row, const char *why) {
    misses *m = user;
    m->count++;
    m->row = row;
    (void)snprintf(m->why, sizeof m->why, "%s", why);
}

/* Private outputs: a command that fails is answered like one that does not, and charged like it. The stand-in is the
 * middle of the public range. */
TEST(a_failed_command_shows_nothing) {
    fixture *f = *state;
    static const char *const REST[] = {"exit 3", "kill -9 $$", "echo rubbish", "sleep 60", "echo 100.5"};
    enum { GOOD = sizeof REST / sizeof REST[0] - 1 };
    misses missed = {0};
    tacet_ldp ldp;
    tacet_ledger_totals totals[GOOD + 1];
    tacet_desk_reply r = {0};
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_LAPLACE, 30, 100, 101, NULL)); /* off by 0.45: 1e-6 */
    release(f, QUERIES, &ldp);
    f->settings.seconds = 0.5;
    f->settings.missed = note_miss;
    f->settings.missed_user = &missed;
    for (size_t k = 0; k <= GOOD; k++) {
        OWN_TEXT char *ticket = test_text("t%zu", k);
        use_command(f, REST[k]);
        tacet_desk_close(f->desk);
        open_desk(f, &f->desk);
        const double value = ask(f->desk, ticket, k);
        assert_true(value > 100.05 && value < 100.95);
        assert_true(ask(f->desk, ticket, k) == value); /* it stands: not measured again */
        assert_int_equal(runs(f), k + 1);
        assert_ok(tacet_desk_look(f->desk, &r, ticket, NULL));
        assert_true(r.answered && !r.failed && !r.running && r.value == value);
        assert_ok(tacet_desk_total(f->desk, &totals[k], NULL));
        assert_int_equal(totals[k].entries, k + 2);
        assert_int_equal(totals[k].uncovered, 0);
        assert_close(totals[k].eps, totals[0].eps, 1e-12); /* one record each: parallel */
        assert_int_equal(missed.count, k < GOOD ? k + 1 : GOOD);
        assert_int_equal(missed.row, k < GOOD ? k : GOOD - 1);
    }
    assert_non_null(strstr(missed.why, "did not end"));
}

/* The same for a function, and for a row that it says cannot be measured: that is no miss, and shows no more. */
static tacet_status gives_up(void *user, double *value, size_t row, tacet_error *err) {
    (void)user;
    *value = row == 1 ? (double)NAN : 0;
    return tacet_error_set(err, TACET_UNSUPPORTED, "the instrument is away");
}

TEST(a_failed_function_shows_nothing) {
    fixture *f = *state;
    misses missed = {0};
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_LAPLACE, 30, 100, 101, NULL));
    release(f, QUERIES, &ldp);
    f->settings.measure = gives_up;
    f->settings.missed = note_miss;
    f->settings.missed_user = &missed;
    open_desk(f, &f->desk);
    for (size_t row = 1; row <= 2; row++) {
        const double value = ask(f->desk, row == 1 ? "a" : "b", row);
        assert_true(value > 100.05 && value < 100.95);
    }
    assert_int_equal(missed.count, 1);
    assert_int_equal(missed.row, 2);
    assert_string_equal(missed.why, "the instrument is away");
    f->desk = (tacet_desk_close(f->desk), NULL);
    f->settings.missed = NULL; /* nobody to tell */
    open_desk(f, &f->desk);
    (void)ask(f->desk, "c", 3);
    assert_int_equal(missed.count, 1);
    assert_int_equal(entries(f->desk), 4);
}

/* A measurement that is another one each time it is made, unless it is told which. */
static double measured_now;

static tacet_status drifts(void *user, double *value, size_t row, tacet_error *err) {
    (void)user;
    (void)row;
    (void)err;
    *value = measured_now;
    return TACET_OK;
}

static tacet_status ask_once(void *user, tacet_error *err) {
    fixture *f = user;
    tacet_desk_reply r;
    tacet_desk *desk = NULL;
    const tacet_status status = tacet_desk_open(&desk, &f->settings, err);
    return status == TACET_OK ? tacet_desk_ask(desk, &r, "a", 3, err) : status;
}

/* Killed before each commit of its ledger, and asked again with another measurement. Once a draw is bound to a value
 * no other value gets one: the ticket waits until the value comes back, and is then answered, charged once. */
TEST(a_bound_draw_is_for_no_other_value) {
    fixture *f = *state;
    tacet_ldp ldp;
    size_t bound = 0, died = 0;
    f->settings.measure = drifts;
    for (size_t commit = 0;; commit++) {
        tacet_desk_reply r;
        assert_ok(tacet_ldp_init(&ldp, TACET_LDP_LAPLACE, 30, 100, 101, NULL));
        release(f, QUERIES, &ldp);
        OWN_TEXT char *ledger = test_text("%s.ledger.db", f->data);
        measured_now = 100.25;
        const bool killed = tacet__scratch_killed(ledger, commit, ask_once, f);
        died += killed;
        measured_now = 100.75;
        open_desk(f, &f->desk);
        const tacet_status status = tacet_desk_ask(f->desk, &r, "a", 3, NULL);
        if (status == TACET_OK) { /* of the first value when that was answered, else of the second */
            assert_true(r.answered && fabs(r.value - (killed ? 100.75 : 100.25)) < 0.5);
        } else {
            assert_int_equal(status, TACET_UNSUPPORTED);
            assert_int_equal(refused(f->desk, "a", 3), TACET_UNSUPPORTED);
            measured_now = 100.25;
            assert_true(fabs(ask(f->desk, "a", 3) - 100.25) < 0.5);
            bound++;
        }
        assert_int_equal(entries(f->desk), 2);
        f->desk = (tacet_desk_close(f->desk), NULL);
        if (!killed) {
            break;
        }
    }
    assert_true(died >= 2);
    assert_int_equal(bound, 1);
}

TEST_EACH(setup, teardown)
