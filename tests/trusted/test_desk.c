/* test_desk.c - the desk: values from a column, a command and a person; once per ticket, whatever happens. */
#include "support/test.h"

#include <pthread.h>
#include <tacet/gate/ledger.h>
#include <tacet/trusted/curate.h>
#include <tacet/trusted/desk.h>
#include <unistd.h>

enum { ROWS = 12, QUERIES = 5, PATH_BYTES = 512 };

typedef struct fixture {
    char folder[PATH_BYTES / 2];
    char data[PATH_BYTES], out[PATH_BYTES], count[PATH_BYTES], command[4 * PATH_BYTES];
    tacet_desk *desk, *other;
    tacet_desk_settings settings;
} fixture;

static double value_of(size_t row) {
    return 0.5 * (double)row - 1;
}

static void release(fixture *f, size_t queries, const tacet_ldp *outputs) {
    static const tacet_manifest_column COLUMN = {"x", 0, 100, 5};
    tacet_curate_settings s;
    tacet_manifest m;
    tacet_error err = {0};
    FILE *file = fopen(f->data, "w");
    assert_non_null(file);
    (void)fputs("x,y\n", file);
    for (size_t i = 0; i < ROWS; i++) {
        (void)fprintf(file, "%zu,%.17g\n", 3 * i, value_of(i));
    }
    assert_int_equal(fclose(file), 0);
    test_rmdir(f->out);
    tacet_curate_defaults(&s);
    s.data = f->data;
    s.folder = f->out;
    s.columns = &COLUMN;
    s.column_count = 1;
    s.eps = 1;
    s.queries = queries;
    /* A table has one ledger, beside it; each test is about a release of its own. */
    char ledger[600];
    test_assert_status(tacet_curate_ledger(ledger, sizeof ledger, &s, &err), TACET_OK, &err, __FILE__, __LINE__);
    (void)unlink(ledger);
    if (outputs != NULL) {
        s.outputs_private = true;
        s.outputs = *outputs;
    }
    test_assert_status(tacet_curate_run(&m, &s, &err), TACET_OK, &err, __FILE__, __LINE__);
    tacet_manifest_clear(&m);
}

static int setup(void **state) {
    static fixture f;
    memset(&f, 0, sizeof f);
    (void)snprintf(f.folder, sizeof f.folder, "%s", test_mkdir());
    (void)snprintf(f.data, sizeof f.data, "%s/data.csv", f.folder);
    (void)snprintf(f.out, sizeof f.out, "%s/out", f.folder);
    (void)snprintf(f.count, sizeof f.count, "%s/count", f.folder);
    release(&f, QUERIES, NULL);
    tacet_desk_defaults(&f.settings);
    f.settings.folder = f.out;
    f.settings.data = f.data;
    f.settings.patience = 30;
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    tacet_desk_close(f->desk);
    tacet_desk_close(f->other);
    test_rmdir(f->folder);
    return 0;
}

static void open_desk(fixture *f, tacet_desk **desk) {
    tacet_error err = {0};
    test_assert_status(tacet_desk_open(desk, &f->settings, &err), TACET_OK, &err, __FILE__, __LINE__);
}

static void reopen(fixture *f) {
    tacet_desk_close(f->desk);
    f->desk = NULL;
    open_desk(f, &f->desk);
}

/* A command that notes each of its runs, then does `rest`. */
static void use_command(fixture *f, const char *rest) {
    (void)snprintf(f->command, sizeof f->command, "echo run >>%s; %s", f->count, rest);
    f->settings.evaluate = f->command;
}

static size_t runs(const fixture *f) {
    FILE *file = fopen(f->count, "r");
    size_t n = 0;
    int c = 0;
    while (file != NULL && (c = fgetc(file)) != EOF) {
        n += c == '\n';
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return n;
}

static double ask(tacet_desk *desk, const char *ticket, size_t row) {
    tacet_desk_reply r;
    tacet_error err = {0};
    test_assert_status(tacet_desk_ask(desk, &r, ticket, row, &err), TACET_OK, &err, __FILE__, __LINE__);
    assert_true(r.answered);
    assert_int_equal(r.row, row);
    return r.value;
}

static tacet_status refused(tacet_desk *desk, const char *ticket, size_t row) {
    tacet_desk_reply r;
    tacet_error err = {0};
    const tacet_status status = tacet_desk_ask(desk, &r, ticket, row, &err);
    assert_true(status == TACET_OK || (err.message[0] != '\0' && !r.answered && r.value == 0));
    return status;
}

static uint64_t entries(tacet_desk *desk) {
    tacet_ledger_totals totals;
    assert_ok(tacet_desk_total(desk, &totals, NULL));
    return totals.entries;
}

static void test_column(void **state) {
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

static void test_tickets(void **state) {
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

static void test_query_budget(void **state) {
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
static void test_two_desks(void **state) {
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

static void test_person(void **state) {
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

static void test_command(void **state) {
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
static void test_command_fails(void **state) {
    fixture *f = *state;
    static const char *const REST[] = {"exit 1", "kill -9 $$", "echo rubbish", "head -c 100000 /dev/zero", "sleep 60"};
    f->settings.seconds = 0.5;
    for (size_t k = 0; k < sizeof REST / sizeof REST[0]; k++) {
        char ticket[8];
        (void)snprintf(ticket, sizeof ticket, "t%zu", k);
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
static void test_slow_command(void **state) {
    fixture *f = *state;
    tacet_desk_reply r;
    char gate[PATH_BYTES + 8];
    char rest[2 * PATH_BYTES];
    (void)snprintf(gate, sizeof gate, "%s/open", f->folder);
    (void)snprintf(rest, sizeof rest, "while [ ! -e %s ]; do sleep 0.02; done; echo 3", gate);
    use_command(f, rest);
    f->settings.patience = 0;
    open_desk(f, &f->desk);
    for (int i = 0; i < 3; i++) {
        assert_ok(tacet_desk_ask(f->desk, &r, "a", 1, NULL));
        assert_false(r.answered);
    }
    assert_ok(tacet_desk_look(f->desk, &r, "a", NULL));
    assert_false(r.answered);
    FILE *file = fopen(gate, "w");
    assert_non_null(file);
    (void)fclose(file);
    for (int i = 0; i < 3000 && !r.answered; i++) {
        assert_ok(tacet_desk_look(f->desk, &r, "a", NULL));
        (void)usleep(10000);
    }
    assert_true(r.answered && r.value == 3);
    assert_int_equal(runs(f), 1);
    assert_int_equal(entries(f->desk), 2);
}

/* Private outputs: possible values only, the same bits on every retry, and composed over one row's queries only. */
static void test_private_outputs(void **state) {
    fixture *f = *state;
    tacet_ldp ldp;
    tacet_desk_reply r;
    tacet_ledger_totals before, same_row, other_row;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 0.5, -1, 5, NULL));
    release(f, QUERIES, &ldp);
    f->settings.values = "y";
    open_desk(f, &f->desk);
    assert_ok(tacet_desk_total(f->desk, &before, NULL));
    const double first = ask(f->desk, "a", 3);
    assert_true(first != value_of(3)); /* Duchi's mechanism has two outputs, both far outside the range */
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
static void test_private_query_budget(void **state) {
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
static void test_shared_ledger(void **state) {
    fixture *f = *state;
    static const tacet_manifest_column COLUMN = {"x", 0, 100, 5};
    char ledger[PATH_BYTES + 16], folders[2][PATH_BYTES + 16];
    tacet_ldp ldp;
    tacet_curate_settings s;
    tacet_manifest m;
    tacet_desk_reply r;
    tacet_ledger_totals one, both;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 0.5, -1, 5, NULL));
    (void)snprintf(ledger, sizeof ledger, "%s/shared.db", f->folder);
    tacet_curate_defaults(&s);
    s.data = f->data;
    s.columns = &COLUMN;
    s.column_count = 1;
    s.eps = 1;
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

/* The release's own ledger, or none: an older copy, or another table's, would not know what the release has spent. */
static void test_other_ledger(void **state) {
    fixture *f = *state;
    static const tacet_manifest_column COLUMN = {"x", 0, 100, 5};
    tacet_error err = {0};
    tacet_curate_settings s;
    tacet_ledger_settings settings;
    tacet_ledger *ledger = NULL;
    tacet_manifest m;
    char older[600], other[600], folder[600];
    (void)snprintf(older, sizeof older, "%s/older.db", f->folder);
    (void)snprintf(other, sizeof other, "%s/other.db", f->folder);
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
    s.columns = &COLUMN;
    s.column_count = 1;
    s.eps = 1;
    s.ledger = other;
    assert_ok(tacet_curate_run(&m, &s, NULL));
    tacet_manifest_clear(&m);
    f->settings.ledger = other;
    assert_status(tacet_desk_open(&f->desk, &f->settings, &err), TACET_CONFLICT);
    f->settings.ledger = NULL;
    open_desk(f, &f->desk);
}

/* Outside the public range: clipped, so the answer is as for the bound, and nothing tells. */
static void test_impossible_value(void **state) {
    fixture *f = *state;
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_LAPLACE, 30, 100, 101, NULL)); /* values are below 5; off by 0.5: 3e-7 */
    release(f, QUERIES, &ldp);
    f->settings.values = "y";
    open_desk(f, &f->desk);
    const double value = ask(f->desk, "a", 3);
    assert_true(value > 99.5 && value < 100.5);
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
        char ticket[8];
        const size_t k = (i + a->id) % QUERIES;
        (void)snprintf(ticket, sizeof ticket, "t%zu", k);
        a->values[k] = tacet_desk_ask(a->desk, &r, ticket, k, NULL) == TACET_OK && r.answered ? r.value : NAN;
    }
    return NULL;
}

static void test_threads(void **state) {
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

static void test_bad_settings(void **state) {
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

static void test_no_memory(void **state) {
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

/* What those who wait were told. */
typedef struct ear {
    pthread_mutex_t lock;
    pthread_cond_t heard;
    size_t count, answered, pending, failed;
    double sum;
    pthread_t from;
} ear;

static void hear(void *user, tacet_status status, const tacet_desk_reply *reply, const tacet_error *err) {
    ear *e = user;
    (void)pthread_mutex_lock(&e->lock);
    e->count++;
    e->failed += status == TACET_UNSUPPORTED && err->message[0] != '\0';
    e->answered += status == TACET_OK && reply->answered && !reply->running;
    e->pending += status == TACET_OK && !reply->answered && reply->running;
    e->sum += reply->value;
    e->from = pthread_self();
    (void)pthread_cond_broadcast(&e->heard);
    (void)pthread_mutex_unlock(&e->lock);
}

static size_t heard(ear *e) {
    (void)pthread_mutex_lock(&e->lock);
    const size_t count = e->count;
    (void)pthread_mutex_unlock(&e->lock);
    return count;
}

static void hear_all(ear *e, size_t count) {
    (void)pthread_mutex_lock(&e->lock);
    while (e->count < count) {
        (void)pthread_cond_wait(&e->heard, &e->lock);
    }
    (void)pthread_mutex_unlock(&e->lock);
}

/* A command that ends when told to. */
static void use_gate(fixture *f, char gate[PATH_BYTES], const char *rest) {
    char command[2 * PATH_BYTES];
    (void)snprintf(gate, PATH_BYTES, "%s/gate", f->folder);
    (void)snprintf(command, sizeof command, "while [ ! -e %s ]; do sleep 0.02; done; %s", gate, rest);
    use_command(f, command);
}

static void open_gate(const char *gate) {
    FILE *file = fopen(gate, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

static void start_waiting(fixture *f, const char *ticket, size_t row, ear *e) {
    tacet_desk_reply r;
    assert_ok(tacet_desk_ask_now(f->desk, &r, ticket, row, NULL));
    assert_true(!r.answered && r.running);
    assert_ok(tacet_desk_wait(f->desk, ticket, hear, e, NULL));
}

/* All questions there are wait at once, one of them twice, and none holds this thread; all are told when the command is
 * done with theirs. */
static void test_waiting(void **state) {
    fixture *f = *state;
    ear e = {.lock = PTHREAD_MUTEX_INITIALIZER, .heard = PTHREAD_COND_INITIALIZER};
    char gate[PATH_BYTES], ticket[8];
    tacet_desk_reply r;
    use_gate(f, gate, "awk -F, 'NR == 2 {print $2}'");
    open_desk(f, &f->desk);
    double sum = value_of(0);
    for (size_t i = 0; i < QUERIES; i++) {
        (void)snprintf(ticket, sizeof ticket, "t%zu", i);
        start_waiting(f, ticket, i, &e);
        sum += value_of(i);
    }
    start_waiting(f, "t0", 0, &e);
    assert_int_equal(tacet_desk_made(f->desk), QUERIES); /* entered, each once, before anybody is told */
    assert_ok(tacet_desk_look(f->desk, &r, "t1", NULL));
    assert_false(r.answered);
    assert_int_equal(heard(&e), 0);
    open_gate(gate);
    hear_all(&e, QUERIES + 1);
    assert_int_equal(e.answered, QUERIES + 1);
    assert_true(e.sum == sum);
    assert_false(pthread_equal(e.from, pthread_self()));
    assert_int_equal(runs(f), QUERIES);
    /* Nothing left to wait for: told at once, from here. */
    assert_ok(tacet_desk_wait(f->desk, "t2", hear, &e, NULL));
    assert_int_equal(heard(&e), QUERIES + 2);
    assert_true(pthread_equal(e.from, pthread_self()));
    assert_status(tacet_desk_wait(f->desk, "never", hear, &e, NULL), TACET_NOT_FOUND);
    assert_int_equal(heard(&e), QUERIES + 2);
}

/* Patience ends while the command is at work. */
static void test_patience_ends(void **state) {
    fixture *f = *state;
    ear e = {.lock = PTHREAD_MUTEX_INITIALIZER, .heard = PTHREAD_COND_INITIALIZER};
    char gate[PATH_BYTES];
    use_gate(f, gate, "exit 3");
    f->settings.patience = 0.01;
    open_desk(f, &f->desk);
    start_waiting(f, "a", 1, &e);
    start_waiting(f, "b", 2, &e);
    hear_all(&e, 2);
    assert_int_equal(e.pending, 2);
    open_gate(gate);
}

/* A desk that is to be closed lets nobody wait; and a command that fails is told as such. */
static void test_hush(void **state) {
    fixture *f = *state;
    ear e = {.lock = PTHREAD_MUTEX_INITIALIZER, .heard = PTHREAD_COND_INITIALIZER};
    char gate[PATH_BYTES];
    use_gate(f, gate, "exit 3");
    f->settings.patience = 1e9;
    open_desk(f, &f->desk);
    start_waiting(f, "a", 1, &e);
    start_waiting(f, "b", 2, &e);
    assert_int_equal(heard(&e), 0);
    tacet_desk_hush(f->desk);
    assert_int_equal(heard(&e), 2);
    start_waiting(f, "a", 1, &e); /* told before it can wait */
    assert_int_equal(heard(&e), 3);
    assert_int_equal(e.pending, 3);
    open_gate(gate);
    reopen(f); /* waits for the command; what was not answered is evaluated again */
    ear again = {.lock = PTHREAD_MUTEX_INITIALIZER, .heard = PTHREAD_COND_INITIALIZER};
    tacet_desk_reply r;
    tacet_error err = {0};
    const tacet_status status = tacet_desk_ask_now(f->desk, &r, "a", 1, &err);
    assert_true(status == TACET_OK && r.running);
    assert_ok(tacet_desk_wait(f->desk, "a", hear, &again, NULL));
    hear_all(&again, 1);
    assert_int_equal(again.failed, 1);
}

/* Nobody is told who could not be noted. */
static void test_waiting_no_memory(void **state) {
    fixture *f = *state;
    ear e = {.lock = PTHREAD_MUTEX_INITIALIZER, .heard = PTHREAD_COND_INITIALIZER};
    char gate[PATH_BYTES];
    tacet_desk_reply r;
    use_gate(f, gate, "echo 1");
    open_desk(f, &f->desk);
    assert_ok(tacet_desk_ask_now(f->desk, &r, "a", 1, NULL));
    while (runs(f) == 0) {
        (void)usleep(1000); /* until then the desk's own thread allocates, too */
    }
    fail_alloc_after(1);
    const tacet_status status = tacet_desk_wait(f->desk, "a", hear, &e, NULL);
    const bool hit = fail_alloc_hit() != 0;
    fail_alloc_after(0);
    assert_true(hit);
    assert_status(status, TACET_NO_MEMORY);
    open_gate(gate);
    assert_true(ask(f->desk, "a", 1) == 1);
    assert_int_equal(heard(&e), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_column, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tickets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_query_budget, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_desks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_person, setup, teardown),
        cmocka_unit_test_setup_teardown(test_command, setup, teardown),
        cmocka_unit_test_setup_teardown(test_command_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slow_command, setup, teardown),
        cmocka_unit_test_setup_teardown(test_private_outputs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_private_query_budget, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shared_ledger, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_ledger, setup, teardown),
        cmocka_unit_test_setup_teardown(test_impossible_value, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_settings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_waiting, setup, teardown),
        cmocka_unit_test_setup_teardown(test_patience_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hush, setup, teardown),
        cmocka_unit_test_setup_teardown(test_waiting_no_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
