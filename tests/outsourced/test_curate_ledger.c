/* SPDX-License-Identifier: Apache-2.0 */
/* test_curate_ledger.c - which ledger a release is charged to, once, and what a crash leaves behind. */
#include "outsourced/curate_fixture.h"

TEST(test_budget_and_ticket) {
    fixture *f = *state;
    tacet_error err = {0};
    assert_ok(run(f, &err));
    OWN_TEXT char *release = slurp(f->release);
    OWN_TEXT char *manifest = slurp(f->manifest);
    f->settings.ticket = "another";
    assert_status(run(f, &err), TACET_BUDGET);
    f->settings.ticket = "release"; /* was released: not drawn twice, though the noise would be the same */
    assert_status(run(f, &err), TACET_CONFLICT);
    write_table(f, 41, false, false);
    assert_status(run(f, &err), TACET_CONFLICT); /* stands for another question */
    OWN_TEXT char *release_after = slurp(f->release);
    OWN_TEXT char *manifest_after = slurp(f->manifest);
    assert_string_equal(release, release_after);
    assert_string_equal(manifest, manifest_after);
    assert_false(exists(f->unfinished));
}

/* Killed between the ledger's commit and the renaming: the same command puts what was drawn in its place. */
TEST(test_recovery) {
    fixture *f = *state;
    tacet_error err = {0};
    assert_ok(run(f, &err));
    OWN_TEXT char *before = slurp(f->release);
    OWN_TEXT char *manifest = slurp(f->manifest);
    assert_int_equal(rename(f->release, f->unfinished), 0);
    assert_int_equal(unlink(f->manifest), 0);
    f->settings.noise_seed = 5; /* whatever it would draw now, it must not */
    assert_ok(run(f, &err));
    OWN_TEXT char *after = slurp(f->release);
    OWN_TEXT char *manifest_after = slurp(f->manifest);
    assert_string_equal(before, after);
    assert_string_equal(manifest, manifest_after);
    /* Anything else that lies there is not taken for it. */
    assert_int_equal(rename(f->release, f->unfinished), 0);
    char *digit = strrchr(after, '\n') - 1;
    *digit = *digit == '1' ? '2' : '1';
    digit = strchr(after, '\n') + 3;
    digit += strcspn(digit, "0123456789");
    *digit = *digit == '9' ? '8' : '9';
    test_write(f->unfinished, after);
    assert_status(run(f, &err), TACET_CONFLICT);
    assert_false(exists(f->release));
}

/* Releases of one table add up without anybody naming a ledger: it lies beside the table, under whatever name that is
 * reached, and the folders have links to it. */
TEST(test_ledger_of_the_table) {
    fixture *f = *state;
    tacet_error err = {0};
    char beside[PATH_BYTES], other_out[PATH_BYTES], other_link[PATH_BYTES], alias[PATH_BYTES], found[PATH_BYTES],
        copy[PATH_BYTES], way[PATH_BYTES];
    struct stat a, b;
    path_in(beside, f, "data.csv.ledger.db");
    path_in(other_out, f, "deep/er");
    path_in(other_link, f, "deep/er/ledger.db");
    path_in(alias, f, "alias.csv");
    path_in(copy, f, "copy.csv");
    f->settings.ledger = NULL;
    f->settings.budget_eps = 3;
    assert_ok(tacet_curate_ledger(found, sizeof found, &f->settings, NULL));
    assert_string_equal(found, beside);
    assert_status(tacet_curate_ledger(found, 5, &f->settings, NULL), TACET_INVALID);
    assert_ok(run(f, &err));
    assert_int_equal(stat(f->ledger, &a), 0);
    assert_int_equal(stat(beside, &b), 0);
    assert_true(a.st_ino == b.st_ino);
    assert_int_equal(lstat(f->ledger, &a), 0);
    assert_true(S_ISLNK(a.st_mode));
    const ssize_t n = readlink(f->ledger, way, sizeof way - 1);
    assert_true(n > 0);
    way[n] = '\0';
    assert_string_equal(way, "../data.csv.ledger.db"); /* the folder of both may be moved */
    /* Another folder, the table by another name: the same budget, which the first release fixed. */
    char *parent = strdup(other_out);
    *strrchr(parent, '/') = '\0';
    assert_int_equal(mkdir(parent, 0700), 0);
    free(parent);
    assert_int_equal(symlink("data.csv", alias), 0);
    f->settings.budget_eps = 0;
    f->settings.data = alias;
    f->settings.folder = other_out;
    assert_status(run(f, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "drawn already"));
    f->settings.ticket = "second";
    f->settings.eps = 2.5; /* 2 and 2.5 in three, composed, are too much */
    assert_status(run(f, &err), TACET_BUDGET);
    assert_non_null(strstr(err.message, "budget of this table"));
    f->settings.eps = 1;
    assert_ok(run(f, &err));
    assert_int_equal(stat(other_link, &a), 0);
    assert_true(a.st_ino == b.st_ino);
    f->settings.eps = 0.5;
    assert_status(run(f, &err), TACET_CONFLICT); /* the ticket stands for another release */
    assert_non_null(strstr(err.message, "--ticket"));
    f->settings.budget_eps = 9;
    assert_status(run(f, &err), TACET_CONFLICT); /* a budget is not raised afterwards */
    f->settings.budget_eps = NAN;
    assert_status(run(f, &err), TACET_INVALID);
    f->settings.budget_eps = 0;
    /* A copy of the table is another table, and does not take over the folder of this one. */
    test_write(copy, "age,bmi,dose\n1,20,1\n");
    f->settings.data = copy;
    assert_status(run(f, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "another table"));
    /* A link that leads nowhere any more is replaced. */
    assert_int_equal(unlink(beside), 0);
    f->settings.folder = f->out;
    assert_ok(run(f, &err));
    path_in(beside, f, "copy.csv.ledger.db");
    assert_int_equal(stat(beside, &b), 0);
    assert_int_equal(stat(f->ledger, &a), 0);
    assert_true(a.st_ino == b.st_ino);
    /* A ledger that lies in the folder itself is the folder's, but it does not hide what the table's own has. */
    test_rmdir(f->out);
    f->settings.ledger = f->ledger;
    assert_ok(run(f, &err));
    f->settings.ledger = NULL;
    f->settings.ticket = "third";
    assert_status(run(f, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "name one"));
    assert_int_equal(unlink(beside), 0);
    assert_status(run(f, &err), TACET_BUDGET);
    assert_ok(tacet_curate_ledger(found, sizeof found, &f->settings, NULL));
    assert_string_equal(found, f->ledger);
}

TEST_EACH(setup, teardown)
