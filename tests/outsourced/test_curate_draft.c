/* SPDX-License-Identifier: Apache-2.0 */
/* test_curate_draft.c - rows between drawing and commit: killed runs, two runs at once, two file systems. */
#include "outsourced/curate_fixture.h"

#include <dirent.h>
#include <sys/wait.h>

/* Really private, and charged to a ledger that was named, neither beside the table nor in the folder. */
static int setup_named(void **state) {
    (void)setup(state);
    fixture *f = *state;
    assert_true(snprintf(f->ledger, sizeof f->ledger, "%s/the.ledger", f->folder) < PATH_BYTES);
    f->settings.seeded = false;
    return 0;
}

static size_t files_in(const char *folder) {
    size_t count = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        count += entry->d_type == DT_REG;
    }
    (void)closedir(list);
    return count;
}

static void die(double fraction, void *user) {
    (void)fraction;
    (void)user;
    _exit(9);
}

/* Killed before the commit, after rows were drawn: the next run under the ticket draws others. The first ones must not
 * lie in the folder that is handed out, and must not be left anywhere once the next run, perhaps into another folder,
 * is over. */
TEST(test_killed_drawing) {
    fixture *f = *state;
    tacet_error err = {0};
    char elsewhere[PATH_BYTES], draft[PATH_BYTES];
    path_in(elsewhere, f, "elsewhere");
    unfinished_of(draft, f->ledger, "release");
    f->settings.progress = die;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)run(f, &err);
        _exit(0);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 9);
    assert_true(exists(draft));
    assert_int_equal(files_in(f->out), 0);
    f->settings.progress = NULL;
    f->settings.folder = elsewhere;
    assert_ok(run(f, &err));
    assert_false(exists(draft));
    assert_int_equal(files_in(f->out), 0);
    assert_int_equal(files_in(elsewhere), 2);
}

typedef struct second {
    fixture *f;
    tacet_status status;
} second;

static void draw_too(double fraction, void *user) {
    second *s = user;
    tacet_error err = {0};
    tacet_curate_settings settings = s->f->settings;
    tacet_manifest m;
    (void)fraction;
    settings.progress = NULL;
    s->status = tacet_curate_run(&m, &settings, &err);
}

/* Two runs at once under one ticket: one draws. */
TEST(test_two_at_once) {
    fixture *f = *state;
    tacet_error err = {0};
    second s = {f, TACET_OK};
    f->settings.progress = draw_too;
    f->settings.user = &s;
    f->settings.threads = 1;
    assert_ok(run(f, &err));
    assert_int_equal(s.status, TACET_BUSY);
}

/* The ledger on one file system, the folder on another. */
TEST(test_other_disk) {
    fixture *f = *state;
    tacet_error err = {0};
    struct stat here, there;
    char ledger[] = "/dev/shm/tacet-curate-XXXXXX";
    if (stat(f->folder, &here) != 0 || stat("/dev/shm", &there) != 0 || here.st_dev == there.st_dev ||
        mkdtemp(ledger) == NULL) {
        skip();
    }
    OWN_TEXT char *file = test_text("%s/a", ledger);
    f->settings.ledger = file;
    const tacet_status status = run(f, &err);
    const size_t left = files_in(ledger);
    test_rmdir(ledger);
    assert_int_equal(status, TACET_OK);
    assert_int_equal(left, 2); /* it and its key file */
    assert_int_equal(files_in(f->out), 2);
}

/* A release charged to a ledger that was named, then one that names none and goes elsewhere: the same budget. */
TEST(test_named_ledger) {
    fixture *f = *state;
    tacet_error err = {0};
    char elsewhere[PATH_BYTES], beside[PATH_BYTES];
    struct stat a, b;
    path_in(elsewhere, f, "elsewhere");
    path_in(beside, f, "data.csv.ledger.db");
    assert_int_equal(run(f, &err), TACET_OK);
    f->settings.ledger = NULL;
    f->settings.folder = elsewhere;
    f->settings.ticket = "second";
    assert_int_equal(run(f, &err), TACET_BUDGET);
    assert_int_equal(stat(f->ledger, &a), 0);
    assert_int_equal(stat(beside, &b), 0);
    assert_true(a.st_ino == b.st_ino);
    /* and one draft a ticket, by whichever name */
    f->settings.ticket = "release";
    assert_int_equal(run(f, &err), TACET_CONFLICT);
    assert_int_equal(files_in(f->folder), 3); /* with the key file */
    /* what does not count leaves no link */
    assert_int_equal(unlink(beside), 0);
    assert_int_equal(unlink(f->ledger), 0);
    f->settings.ledger = f->ledger;
    f->settings.seeded = true;
    assert_int_equal(run(f, &err), TACET_OK);
    assert_false(exists(beside));
}

TEST_EACH(setup_named, teardown)
