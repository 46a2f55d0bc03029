/* SPDX-License-Identifier: Apache-2.0 */
/* test_curate_interrupted.c - a release that is interrupted, at any point and in any way, and repeated: one and the
 * same release. Killed, refused a sync, refused a write by a full disk, or stopped by a limit on the size of files,
 * which depends on what was drawn. What an interrupted run had drawn already must be how the finished release begins.
 */
#include "support/space.h"
#include "support/test.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tacet/outsourced/trusted/curate.h>
#include <unistd.h>

enum { ROWS = 9000, PATH_BYTES = 512, LIMIT_FROM = 70000, LIMIT_STEP = 4001 };

typedef enum trouble { KILLED, SYNC_FAILS, DISK_FULL, SIZE_LIMIT } trouble;

/* Of the child that is interrupted; the parent never counts. */
static trouble kind;
static long countdown; /* calls until it happens; 0: never */
static char kept[PATH_BYTES];

/* True when the call is to fail; does not return when it is to be the last. */
static bool strikes(trouble of) {
    if (countdown == 0 || (kind != KILLED && kind != of) || --countdown > 0) {
        return false;
    }
    if (kind == KILLED) {
        (void)raise(SIGKILL);
    }
    countdown = kind == DISK_FULL ? 1 : 0; /* a full disk stays full */
    return true;
}

/* Seen by SQLite as well. */
#pragma GCC visibility push(default)
#define REAL(name, type) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

int fsync(int fd) {
    if (strikes(SYNC_FAILS)) {
        errno = EIO;
        return -1;
    }
    return REAL("fsync", int (*)(int))(fd);
}

int fdatasync(int fd) {
    if (strikes(SYNC_FAILS)) {
        errno = EIO;
        return -1;
    }
    return REAL("fdatasync", int (*)(int))(fd);
}

/* What SQLite writes with. */
ssize_t write(int fd, const void *bytes, size_t size) {
    if (strikes(DISK_FULL)) {
        errno = ENOSPC;
        return -1;
    }
    return REAL("write", ssize_t(*)(int, const void *, size_t))(fd, bytes, size);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    if (strikes(DISK_FULL)) {
        errno = ENOSPC;
        return -1;
    }
    return REAL("pwrite64", ssize_t(*)(int, const void *, size_t, off64_t))(fd, bytes, size, at);
}

int rename(const char *from, const char *to) {
    if (strikes(DISK_FULL)) {
        errno = ENOSPC;
        return -1;
    }
    return REAL("rename", int (*)(const char *, const char *))(from, to);
}

/* Rows that are thrown away after a failure are what the test wants to see. */
int unlink(const char *path) {
    const size_t length = strlen(path);
    static const char TAIL[] = ".unfinished";
    if (kept[0] != '\0' && length > sizeof TAIL && strcmp(path + length - (sizeof TAIL - 1), TAIL) == 0 &&
        link(path, kept) != 0) {
        kept[0] = '\0'; /* the test then sees that there is nothing */
    }
    return REAL("unlink", int (*)(const char *))(path);
}

#pragma GCC visibility pop

typedef struct place {
    const char *folder;
    char data[PATH_BYTES], out[PATH_BYTES], release[PATH_BYTES], kept[PATH_BYTES], drafts[PATH_BYTES];
    tacet_space_column column;
    tacet_space space;
    tacet_curate_settings settings;
} place;

static void begin(place *p, tacet_curate_mechanism mechanism) {
    memset(p, 0, sizeof *p);
    p->folder = test_mkdir();
    (void)snprintf(p->data, sizeof p->data, "%s/data.csv", p->folder);
    (void)snprintf(p->out, sizeof p->out, "%s/out", p->folder);
    (void)snprintf(p->release, sizeof p->release, "%s/out/release.csv", p->folder);
    (void)snprintf(p->kept, sizeof p->kept, "%s/kept", p->folder);
    (void)snprintf(p->drafts, sizeof p->drafts, "%s/*.unfinished", p->folder);
    FILE *file = fopen(p->data, "w");
    assert_non_null(file);
    (void)fputs("x\n", file);
    for (int i = 0; i < ROWS; i++) {
        (void)fprintf(file, "%d.%03d\n", i % 7, i % 997);
    }
    (void)fclose(file);
    p->column = (tacet_space_column)TEST_REAL("x", 0, 10, 1);
    p->space = (tacet_space){&p->column, 1};
    tacet_curate_defaults(&p->settings);
    p->settings.data = p->data;
    p->settings.folder = p->out;
    p->settings.space = &p->space;
    p->settings.mechanism = mechanism;
    p->settings.eps = 1;
    p->settings.delta = mechanism == TACET_CURATE_LAPLACE ? 0 : 1e-5;
    p->settings.threads = 2;
}

static tacet_status curate(const place *p, tacet_error *err) {
    tacet_manifest m;
    const tacet_status status = tacet_curate_run(&m, &p->settings, err);
    if (status == TACET_OK) {
        tacet_manifest_clear(&m);
    }
    return status;
}

/* A run that is interrupted; true if it came to its end all the same. */
static bool interrupted(const place *p, trouble how, long nth) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        kind = how;
        countdown = how == SIZE_LIMIT ? 0 : nth;
        (void)snprintf(kept, sizeof kept, "%s", p->kept);
        if (how == SIZE_LIMIT) {
            const struct rlimit limit = {(rlim_t)nth, (rlim_t)nth};
            (void)signal(SIGXFSZ, SIG_IGN);
            (void)setrlimit(RLIMIT_FSIZE, &limit);
        }
        _exit(curate(p, NULL) == TACET_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) || (how == KILLED && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static char *contents(const char *path, size_t *size) {
    struct stat st;
    *size = 0;
    if (stat(path, &st) != 0) {
        return NULL;
    }
    char *text = malloc((size_t)st.st_size + 1);
    FILE *file = fopen(path, "rb");
    assert_true(text != NULL && file != NULL);
    *size = fread(text, 1, (size_t)st.st_size, file);
    (void)fclose(file);
    return text;
}

/* What an interrupted run drew: what it threw away, or left. */
static char *drawn(const place *p, size_t *size) {
    glob_t found;
    char *text = contents(p->kept, size);
    if (text == NULL && glob(p->drafts, 0, NULL, &found) == 0) {
        text = contents(found.gl_pathv[0], size);
        globfree(&found);
    }
    (void)unlink(p->kept);
    return text;
}

/* Interrupts a release twice, finishes it, compares. Counts those that had drawn something; false: nothing was
 * interrupted any more. */
static bool repeat(tacet_curate_mechanism mechanism, trouble how, long nth, size_t *compared) {
    place p;
    size_t sizes[2] = {0}, size = 0;
    char *parts[2] = {NULL, NULL};
    begin(&p, mechanism);
    bool over = false;
    for (int i = 0; i < 2 && !over; i++) {
        over = interrupted(&p, how, nth);
        parts[i] = drawn(&p, &sizes[i]);
    }
    tacet_error err = {0};
    const tacet_status status = curate(&p, &err);
    if (status != TACET_OK) {
        print_message("%d at %ld: %s\n", (int)how, nth, err.message);
    }
    assert_true(status == TACET_OK || (status == TACET_CONFLICT && access(p.release, F_OK) == 0));
    char *whole = contents(p.release, &size);
    assert_non_null(whole);
    for (int i = 0; i < 2; i++) {
        assert_true(sizes[i] <= size);
        assert_true(parts[i] == NULL || memcmp(parts[i], whole, sizes[i]) == 0);
        *compared += sizes[i] > 100 ? 1 : 0;
        free(parts[i]);
    }
    free(whole);
    test_rmdir(p.folder);
    return !over;
}

static void at_every_point(tacet_curate_mechanism mechanism, trouble how, long step) {
    size_t compared = 0;
    long nth = 1;
    /* Some failures are got over (the log is not cut off this time): it ends when several in a row do no harm. */
    for (int unharmed = 0; unharmed < 6; nth += step) {
        unharmed = repeat(mechanism, how, nth, &compared) ? 0 : unharmed + 1;
    }
    assert_true(nth > 10 && compared > 0);
}

TEST(killed_at_every_write_and_sync) {
    at_every_point(TACET_CURATE_GAUSSIAN, KILLED, 2);
    at_every_point(TACET_CURATE_LAPLACE, KILLED, 9);
}

TEST(a_sync_that_fails) {
    at_every_point(TACET_CURATE_GAUSSIAN, SYNC_FAILS, 1);
}

TEST(a_disk_that_is_full) {
    at_every_point(TACET_CURATE_GAUSSIAN, DISK_FULL, 3);
}

TEST(a_limit_on_the_size_of_files) {
    size_t compared = 0;
    for (long limit = LIMIT_FROM; repeat(TACET_CURATE_LAPLACE, SIZE_LIMIT, limit, &compared); limit += LIMIT_STEP) {
    }
    assert_true(compared > 4);
}

/* Other data, or other settings, under a ticket that was begun: refused, whatever the ticket's release would have been.
 */
TEST(other_data_are_refused) {
    place p;
    begin(&p, TACET_CURATE_LAPLACE);
    assert_false(interrupted(&p, SIZE_LIMIT, LIMIT_FROM));
    p.column.unit = 2;
    assert_int_equal(curate(&p, NULL), TACET_CONFLICT);
    p.column.unit = 1;
    FILE *file = fopen(p.data, "r+");
    assert_non_null(file);
    (void)fputs("x\n1", file); /* one digit */
    (void)fclose(file);
    assert_int_equal(curate(&p, NULL), TACET_CONFLICT);
    file = fopen(p.data, "r+");
    assert_non_null(file);
    (void)fputs("x\n0", file);
    (void)fclose(file);
    /* without its key it is spent; another key file is none */
    OWN_TEXT char *key = test_text("%s/data.csv.ledger.db.key", p.folder);
    OWN_TEXT char *away = test_text("%s.away", key);
    assert_int_equal(rename(key, away), 0);
    assert_int_equal(curate(&p, NULL), TACET_CONFLICT);
    assert_int_equal(rename(away, key), 0);
    assert_int_equal(curate(&p, NULL), TACET_OK);
    test_rmdir(p.folder);
}

int main(void) {
    if (access("/dev/shm", W_OK) == 0) {
        (void)setenv("TMPDIR", "/dev/shm", 0);
    }
    return test_main();
}
