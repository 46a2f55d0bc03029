/* SPDX-License-Identifier: Apache-2.0 */
/* test_curate_refused.c - what the curator refuses, before anything is spent; full disks; memory that runs out. */
#include "outsourced/curate_fixture.h"

/* Found before anything is spent; named by line and column, never by value. */
TEST(test_bad_cells) {
    fixture *f = *state;
    static const char *const BAD[] = {"", "nan", "inf", "12x", "1e999", "0x10", "1,5"};
    tacet_error err = {0};
    for (size_t k = 0; k < sizeof BAD / sizeof BAD[0]; k++) {
        OWN_TEXT char *text = test_text("id,age,bmi,dose\na,31.25,20,1\nb,40,%s,2\n", BAD[k]);
        test_write(f->data, text);
        assert_status(run(f, &err), TACET_PARSE);
        assert_non_null(strstr(err.message, "line 3"));
        assert_null(strstr(err.message, "40"));
        assert_true(BAD[k][0] == '\0' || strchr(BAD[k], ',') != NULL || strstr(err.message, "bmi") != NULL);
        assert_false(exists(f->out));
    }
    test_write(f->data, "id,age,bmi,dose\n");
    assert_status(run(f, &err), TACET_PARSE);
    test_write(f->data, "id,age,dose\na,1,2\n");
    assert_status(run(f, &err), TACET_NOT_FOUND);
    assert_int_equal(unlink(f->data), 0);
    assert_status(run(f, &err), TACET_NOT_FOUND);
    assert_int_equal(mkfifo(f->data, 0600), 0); /* it could be read only once */
    assert_status(run(f, &err), TACET_INVALID);
    assert_false(exists(f->out));
}

/* Whatever is wrong is said, and nothing is made or spent. */
TEST(test_bad_settings) {
    fixture *f = *state;
    const fixture good = *f;
#define REFUSED(change)                                                                                                \
    do {                                                                                                               \
        tacet_error err = {0};                                                                                         \
        change;                                                                                                        \
        assert_true(run(f, &err) != TACET_OK);                                                                         \
        assert_true(err.message[0] != '\0');                                                                           \
        assert_false(exists(f->release) || exists(f->manifest) || exists(f->ledger));                                  \
        memcpy(f->columns, good.columns, sizeof f->columns);                                                           \
        f->settings = good.settings;                                                                                   \
        f->space = good.space;                                                                                         \
    } while (0)
    REFUSED(f->settings.eps = 0);
    REFUSED(f->settings.eps = NAN);
    REFUSED(f->settings.eps = INFINITY);
    REFUSED(f->settings.delta = 0);
    REFUSED(f->settings.delta = NAN);
    REFUSED(f->settings.delta = 1);
    REFUSED(f->columns[1].hi = f->columns[1].lo);
    REFUSED(f->columns[1].lo = NAN);
    REFUSED(f->columns[1].hi = INFINITY);
    REFUSED(f->columns[1].unit = 0);
    REFUSED(f->columns[1].unit = NAN);
    REFUSED(f->columns[2].unit = 1e-300); /* scaled bounds beyond what noise can be drawn for */
    REFUSED(memcpy(f->columns[1].name, "age", 4));
    REFUSED(f->space.count = 0);
    REFUSED(f->settings.folder = NULL);
    REFUSED(f->settings.mechanism = TACET_CURATE_PUBLISHED); /* no dims */
    REFUSED(f->settings.mechanism = TACET_CURATE_AUTO + 1);
    REFUSED(f->settings.queries = SIZE_MAX);
#undef REFUSED
}

/* A name that JSON cannot carry is refused before the draw, not after. */
TEST(test_name_not_utf8) {
    fixture *f = *state;
    tacet_error err = {0};
    test_write(f->data, "id,\xe4ge,bmi,dose\na,31,20,1\n");
    memcpy(f->columns[0].name, "\xe4ge", 4);
    assert_status(run(f, &err), TACET_INVALID);
    assert_false(exists(f->ledger));
}

/* A folder that was made for a release goes when there is none; one that was there, or holds the ledger, stays. */
TEST(test_no_folder_left) {
    fixture *f = *state;
    tacet_error err = {0};
    char first[PATH_BYTES], link[PATH_BYTES];
    path_in(first, f, "first");
    path_in(link, f, "first/ledger.db");
    f->settings.ledger = NULL; /* beside the table */
    f->settings.space = NULL;
    assert_status(run(f, &err), TACET_INVALID);
    assert_false(exists(f->out));
    f->settings.space = &f->space;
    f->settings.folder = first;
    assert_ok(run(f, &err));
    f->settings.folder = f->out;
    f->settings.ticket = "second";
    assert_status(run(f, &err), TACET_BUDGET); /* after the folder and its link were made */
    assert_false(exists(f->out));
    assert_true(exists(link));
    assert_int_equal(mkdir(f->out, 0700), 0);
    assert_status(run(f, &err), TACET_BUDGET);
    assert_true(exists(f->out));
    assert_int_equal(unlink(f->ledger), 0); /* nothing but the link */
    assert_int_equal(rmdir(f->out), 0);
    f->settings.ledger = f->ledger; /* in the folder itself: made, with too small a budget for this release */
    f->settings.budget_eps = 0.5;
    assert_status(run(f, &err), TACET_BUDGET);
    assert_true(exists(f->ledger));
}

/* A full disk, a folder that is a file, a name that is taken: nothing appears, and the next attempt succeeds. */
TEST(test_disk) {
    fixture *f = *state;
    tacet_error err = {0};
    test_write(f->out, "not a folder");
    const tacet_status status = run(f, &err);
    assert_true(status == TACET_IO || status == TACET_DENIED);
    assert_int_equal(unlink(f->out), 0);
    assert_int_equal(mkdir(f->out, 0700), 0);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(symlink("/dev/full", f->unfinished), 0);
        write_table(f, 2000, false, false); /* more than a buffer */
        assert_status(run(f, &err), TACET_IO);
        assert_false(exists(f->release));
        assert_false(exists(f->manifest));
    }
    OWN_TEXT char *beside = test_text("%s.new", f->manifest);
    assert_int_equal(mkdir(f->manifest, 0700), 0);
    assert_status(run(f, &err), TACET_IO);
    assert_false(exists(beside));
    assert_int_equal(rmdir(f->manifest), 0);
    assert_int_equal(mkdir(f->release, 0700), 0);
    assert_true(run(f, &err) != TACET_OK);
    assert_int_equal(rmdir(f->release), 0);
    assert_ok(run(f, &err)); /* recovered: it was drawn, and charged, before the renaming failed */
    free(released(f, D));
}

TEST(test_no_memory) {
    each_allocation_fails(*state);
}

TEST_EACH(setup, teardown)
