/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_fault.c - the store when something fails under it: the n-th allocation, the n-th write or sync, a full
 * disk. A batch is there whole or not at all, whatever its commit said, and the handle goes on. SQLite only: what fails
 * inside a PostgreSQL server is that server's; tests/io/test_postgres.c has the lost connections. */
#include "service/store_fixture.h"
#include "service/open/store/care.h"
#include "support/fault_vfs.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static tacet__studies_settings fault_settings(void) {
    return (tacet__studies_settings){.store = store_place, .create = true, .busy_ms = 100, .vfs = "fault"};
}

static tacet_status batch(tacet__studies *s, tacet__study *study, const char *key) {
    tacet_status status = tacet__studies_begin(s, study, NULL);
    if (status != TACET_OK) {
        return status;
    }
    tacet__event suggest = suggest_event(key, "round", 1, 1);
    status = tacet__studies_append(s, study, &suggest, NULL);
    if (status == TACET_OK) {
        tacet__event observe = observe_event(suggest.seq, 0.5);
        status = tacet__studies_append(s, study, &observe, NULL);
    }
    if (status == TACET_OK) {
        static const unsigned char state[200000]; /* so that the log takes several writes for it */
        status = tacet__studies_put_snapshot(s, study, state, sizeof state, NULL);
    }
    if (status == TACET_OK) {
        return tacet__studies_commit(s, NULL);
    }
    tacet__studies_rollback(s);
    return status;
}

static tacet_status count_event(const tacet__event *event, void *user, tacet_error *err) {
    uint64_t *count = user;
    (void)event;
    (void)err;
    (*count)++;
    return TACET_OK;
}

static uint64_t whole_log(tacet__studies *s, tacet__study *study) {
    uint64_t count = 0;
    assert_ok(tacet__studies_get(s, study, "a", NULL));
    assert_ok(tacet__studies_read(s, study, 1, count_event, &count, NULL));
    assert_int_equal(count % 2, 0);
    assert_int_equal(count, study->head);
    assert_int_equal(study->suggested, count / 2);
    return count;
}

static void fail_each(int operations, fault_action action) {
    const tacet__studies_settings settings = fault_settings();
    OWN_STUDIES tacet__studies *s = NULL;
    OWN_STUDY_ROW tacet__study study;
    int failures = 0;
    tacet__study_init(&study);
    assert_ok(tacet__studies_open(&s, &settings, NULL));
    assert_ok(tacet__studies_add(s, &study, "a", TACET__STUDY_CENTRAL, true, "{}", 2, NULL));
    uint64_t known = 0;
    for (long n = 1;; n++) {
        OWN_TEXT char *key = test_text("key %ld", n);
        fault_vfs_arm(n, operations, action);
        const tacet_status status = batch(s, &study, key);
        const bool hit = fault_vfs_hit() != 0;
        fault_vfs_arm(0, 0, FAULT_ERROR);
        const uint64_t count = whole_log(s, &study);
        if (status == TACET_OK) { /* acknowledged */
            assert_int_equal(count, known + 2);
        } else {
            assert_int_equal(status, TACET_IO);
            assert_true(count == known || count == known + 2);
            failures++;
        }
        if (!hit) {
            assert_ok(status);
            break;
        }
        /* Asked again with the same key: once, whatever had happened. */
        tacet__suggestion found;
        const tacet_status there = tacet__studies_by_key(s, &study, &found, key, strlen(key), NULL);
        assert_int_equal(there, count == known ? TACET_NOT_FOUND : TACET_OK);
        assert_int_equal(batch(s, &study, key), count == known ? TACET_OK : TACET_CONFLICT);
        known = whole_log(s, &study);
    }
    assert_true(failures > 1);
    assert_ok(tacet__studies_project(s, &study, NULL));
}

TEST(test_write_errors) {
    fail_each(FAULT_CHANGE, FAULT_ERROR);
}

TEST(test_short_writes) {
    fail_each(FAULT_WRITE, FAULT_SHORT);
}

TEST(test_disk_full) {
    fail_each(FAULT_WRITE, FAULT_FULL);
}

/* The projection fails at every point; it is caught up later. */
TEST(test_projection_errors) {
    const tacet__studies_settings settings = fault_settings();
    OWN_STUDIES tacet__studies *s = NULL;
    OWN_STUDY_ROW tacet__study study;
    tacet__study_init(&study);
    assert_ok(tacet__studies_open(&s, &settings, NULL));
    assert_ok(tacet__studies_add(s, &study, "a", TACET__STUDY_CENTRAL, true, "{}", 2, NULL));
    for (long n = 1;; n++) {
        OWN_TEXT char *key = test_text("key %ld", n);
        assert_ok(batch(s, &study, key));
        fault_vfs_arm(n, FAULT_CHANGE, FAULT_ERROR);
        const tacet_status status = tacet__studies_project(s, &study, NULL);
        const bool hit = fault_vfs_hit() != 0;
        fault_vfs_arm(0, 0, FAULT_ERROR);
        if (!hit) {
            assert_ok(status);
            break;
        }
        assert_true(status == TACET_IO || status == TACET_OK);
    }
    assert_int_equal(raw_number(false, "SELECT head FROM study"), (int64_t)study.head);
    assert_int_equal(raw_number(false, "SELECT count(*) FROM shown WHERE observed > 0"), (int64_t)study.head / 2);
}

/* Every allocation of opening, adding and finding fails once. SQLite's own are not counted: it has its own tests. */
TEST(test_allocations) {
    const tacet__studies_settings settings = {.store = store_place, .create = true, .busy_ms = 100};
    tacet__studies_close(open_store());
    tacet__studies *s = NULL;
    assert_each_alloc_fails(tacet__studies_open(&s, &settings, NULL), s == NULL);
    tacet__studies_close(s);
    s = open_store();
    tacet__study study;
    tacet_blob path;
    tacet__study_init(&study);
    tacet_blob_init(&path);
    for (long n = 1;; n++) {
        fail_alloc_after(n);
        tacet_status status = tacet__studies_add(s, &study, "a", TACET__STUDY_CENTRAL, true, "{}", 2, NULL);
        TACET_THEN(status, tacet__studies_get(s, &study, "a", NULL));
        TACET_THEN(status, tacet__studies_ledger(s, &path, "a", NULL));
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (hit == 0) {
            assert_ok(status);
            break;
        }
        assert_int_equal(status, TACET_NO_MEMORY);
        tacet_blob_clear(&path);
    }
    assert_int_equal(raw_number(true, "SELECT count(*) FROM study"), 1);
    tacet_blob_clear(&path);
    tacet__study_clear(&study);
    tacet__studies_close(s);
}

static bool unreadable;

struct dirent *readdir(DIR *from) {
    struct dirent *(*real)(DIR *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "readdir");
    struct dirent *entry = unreadable ? NULL : real(from);
    errno = unreadable ? EIO : errno;
    return entry;
}

/* Without one of its ledgers a store that is put back would spend what it has spent again. */
TEST(test_backups_have_every_ledger) {
    const tacet__studies_settings settings = fault_settings();
    const tacet__db_settings plain = {.busy_ms = 100, .create = true};
    tacet__studies *s = NULL;
    tacet__db *ledger = NULL;
    char path[1100], copy[1200];
    assert_ok(tacet__studies_open(&s, &settings, NULL));
    tacet__studies_close(s);
    (void)snprintf(path, sizeof path, "%s/trusted.db", store_place);
    if (access(path, F_OK) != 0) {
        assert_ok(tacet__db_open(&ledger, path, &plain, NULL));
        tacet__db_close(ledger);
    }
    (void)snprintf(path, sizeof path, "%s/ledger-0011.db", store_place);
    assert_ok(tacet__db_open(&ledger, path, &plain, NULL));
    assert_ok(tacet__db_exec(ledger, "CREATE TABLE t(x); INSERT INTO t VALUES(1)", NULL));
    tacet__db_close(ledger);
    (void)snprintf(path, sizeof path, "%s/copy", store_folder);
    (void)snprintf(copy, sizeof copy, "%s/ledger-0011.db", path);
    assert_ok(tacet__studies_backup(store_place, path, NULL));
    assert_int_equal(access(copy, F_OK), 0);
    (void)snprintf(path, sizeof path, "%s/another", store_folder);
    unreadable = true;
    const tacet_status status = tacet__studies_backup(store_place, path, NULL);
    unreadable = false;
    assert_int_equal(status, TACET_IO);
}

/* Killed at each write of a deletion, which has two commits: the study is there and can be deleted again, or its name
 * is free; and nothing of it is left for another of its name. */
TEST(test_deletions_that_are_killed) {
    const tacet__studies_settings settings = fault_settings();
    size_t there = 0;
    size_t gone = 0;
    for (long n = 1, hit = 1; hit; n++) {
        tacet__studies *s = NULL;
        tacet__study study;
        int ended = 0;
        tacet__study_init(&study);
        assert_ok(tacet__studies_open(&s, &settings, NULL));
        assert_ok(tacet__studies_add(s, &study, "a", TACET__STUDY_CENTRAL, true, "{}", 2, NULL));
        assert_ok(batch(s, &study, "key"));
        tacet__studies_close(s);
        const pid_t child = fork();
        if (child == 0) {
            fault_vfs_arm(n, FAULT_CHANGE, FAULT_KILL);
            _exit(tacet__studies_open(&s, &settings, NULL) == TACET_OK &&
                          tacet__studies_delete(s, "a", 2, NULL) == TACET_OK
                      ? 0
                      : 1);
        }
        assert_int_equal(waitpid(child, &ended, 0), child);
        hit = WIFSIGNALED(ended);
        assert_true(hit || WEXITSTATUS(ended) == 0);
        assert_ok(tacet__studies_open(&s, &settings, NULL));
        const tacet_status status = tacet__studies_get(s, &study, "a", NULL);
        if (status == TACET_OK) {
            there++;
            assert_true(hit);
            assert_ok(tacet__studies_delete(s, "a", 2, NULL));
        } else {
            gone++;
            assert_int_equal(status, TACET_NOT_FOUND);
        }
        assert_ok(tacet__studies_add(s, &study, "a", TACET__STUDY_CENTRAL, true, "{}", 2, NULL));
        assert_int_equal(whole_log(s, &study), 0);
        assert_ok(tacet__studies_delete(s, "a", 0, NULL));
        tacet__study_clear(&study);
        tacet__studies_close(s);
    }
    assert_true(there > 1 && gone > 1);
}

TEST_EACH(store_setup, store_teardown)

int main(void) {
    (void)unsetenv("TACET_TEST_POSTGRES");
    fault_vfs_register();
    return test_main();
}
