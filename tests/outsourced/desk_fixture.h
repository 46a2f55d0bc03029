/* SPDX-License-Identifier: Apache-2.0 */
/* desk_fixture.h - a small table, its release in a temporary folder, and a desk that answers for it. */
#pragma once

#include "support/space.h"
#include "support/test.h"

#include <tacet/dp/ledger.h>
#include <tacet/outsourced/trusted/curate.h>
#include <tacet/outsourced/trusted/desk.h>
#include "outsourced/trusted/desk_internal.h"
#include <unistd.h>

enum { ROWS = 12, QUERIES = 5, PATH_BYTES = 512 };

typedef struct fixture {
    char folder[PATH_BYTES / 2];
    char data[PATH_BYTES], out[PATH_BYTES], count[PATH_BYTES], command[4 * PATH_BYTES];
    tacet_desk *desk, *other;
    tacet_desk_settings settings;
} fixture;

static inline double value_of(size_t row) {
    return 0.5 * (double)row - 1;
}

static inline void release(fixture *f, size_t queries, const tacet_ldp *outputs) {
    static tacet_space_column COLUMN = TEST_REAL("x", 0, 100, 5);
    const tacet_space space = {&COLUMN, 1};
    tacet_curate_settings s;
    OWN_MANIFEST tacet_manifest m;
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
    s.space = &space;
    s.eps = 1;
    s.queries = queries;
    s.new_budget = "each test is about a release of its own";
    /* A table has one ledger, beside it; each test is about a release of its own. */
    char ledger[600];
    assert_done(tacet_curate_ledger(ledger, sizeof ledger, &s, &err));
    (void)unlink(ledger);
    if (outputs != NULL) {
        s.outputs_private = true;
        s.outputs = *outputs;
    }
    assert_done(tacet_curate_run(&m, &s, &err));
}

static inline int setup(void **state) {
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

static inline int teardown(void **state) {
    fixture *f = *state;
    tacet_desk_close(f->desk);
    tacet_desk_close(f->other);
    test_rmdir(f->folder);
    return 0;
}

static inline void open_desk(fixture *f, tacet_desk **desk) {
    tacet_error err = {0};
    assert_done(tacet_desk_open(desk, &f->settings, &err));
}

static inline void reopen(fixture *f) {
    tacet_desk_close(f->desk);
    f->desk = NULL;
    open_desk(f, &f->desk);
}

/* A command that notes each of its runs, then does `rest`. */
static inline void use_command(fixture *f, const char *rest) {
    (void)snprintf(f->command, sizeof f->command, "echo run >>%s; %s", f->count, rest);
    f->settings.evaluate = f->command;
}

static inline size_t runs(const fixture *f) {
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

static inline double ask(tacet_desk *desk, const char *ticket, size_t row) {
    tacet_desk_reply r;
    tacet_error err = {0};
    assert_done(tacet_desk_ask(desk, &r, ticket, row, &err));
    assert_true(r.answered);
    assert_int_equal(r.row, row);
    return r.value;
}

static inline tacet_status refused(tacet_desk *desk, const char *ticket, size_t row) {
    tacet_desk_reply r;
    tacet_error err = {0};
    const tacet_status status = tacet_desk_ask(desk, &r, ticket, row, &err);
    assert_true(status == TACET_OK || (err.message[0] != '\0' && !r.answered && r.value == 0));
    return status;
}

static inline uint64_t entries(tacet_desk *desk) {
    tacet_ledger_totals totals;
    assert_ok(tacet_desk_total(desk, &totals, NULL));
    return totals.entries;
}
