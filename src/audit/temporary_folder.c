/* SPDX-License-Identifier: Apache-2.0 */
/* temporary_folder.c - folders that are made, copied and removed, and a child that dies before it commits.
 * Ring: audit. A memory disk is preferred: an audit makes thousands of durable writes of made-up records, and what a
 * process that was killed leaves behind is the same there. Cost: that of the files. */
#include "audit/temporary_folder.h"

#include "core/fail.h"

#include <fcntl.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

static tacet_status cannot_make(const char *path, tacet_error *err) {
    return tacet__fail(err, TACET_IO, "%.150s: cannot be made", path);
}

tacet_status tacet__scratch_make(char folder[TACET__PATH], size_t bytes, tacet_error *err) {
    static const char MEMORY[] = "/dev/shm";
    struct statvfs disk;
    const char *base = getenv("TMPDIR");
    const bool memory =
        statvfs(MEMORY, &disk) == 0 && disk.f_bavail * disk.f_frsize >= bytes && access(MEMORY, W_OK) == 0;
    if (base == NULL) {
        base = memory ? MEMORY : "/tmp";
    }
    (void)snprintf(folder, TACET__PATH, "%.2000s/tacet-audit-XXXXXX", base);
    return mkdtemp(folder) != NULL ? TACET_OK : cannot_make(folder, err);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void tacet__scratch_remove(const char *folder) {
    if (*folder != '\0') {
        (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
}

tacet_status tacet__scratch_empty(const char *folder, tacet_error *err) {
    tacet__scratch_remove(folder);
    return mkdir(folder, S_IRWXU) == 0 ? TACET_OK : cannot_make(folder, err);
}

/* nftw takes no pointer of the caller's. An audit works in one thread. */
static const char *copy_to;
static size_t copy_skip;

static int copy_file(const char *to, const char *from, mode_t mode) {
    char bytes[1 << 14];
    ssize_t got = 0;
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777);
    int failed = in < 0 || out < 0;
    while (failed == 0 && (got = read(in, bytes, sizeof bytes)) > 0) {
        failed = write(out, bytes, (size_t)got) != got;
    }
    failed = failed != 0 || got < 0;
    if (in >= 0) {
        (void)close(in);
    }
    return out >= 0 && close(out) != 0 ? 1 : failed;
}

static int copy_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    char to[TACET__PATH];
    char target[TACET__PATH];
    (void)ftw;
    if (snprintf(to, sizeof to, "%s%s", copy_to, path + copy_skip) >= (int)sizeof to) {
        return 1;
    }
    if (type == FTW_D) {
        return mkdir(to, st->st_mode & 0777);
    }
    if (type == FTW_SL) {
        const ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        return length > 0 ? symlink(target, to) : 1;
    }
    return type == FTW_F ? copy_file(to, path, st->st_mode) : 1;
}

tacet_status tacet__scratch_copy(const char *to, const char *from, tacet_error *err) {
    copy_to = to;
    copy_skip = strlen(from);
    return nftw(from, copy_one, 16, FTW_PHYS) == 0 ? TACET_OK : cannot_make(to, err);
}

static const char *deadly; /* in the child alone */
static size_t commits_left;

static int before_commit(void *user) {
    (void)user;
    if (commits_left-- == 0) {
        _exit(1);
    }
    return 0;
}

static int watch(sqlite3 *db, const char **message, const void *api) {
    const char *name = sqlite3_db_filename(db, "main");
    (void)message;
    (void)api;
    if (name != NULL && strcmp(name, deadly) == 0) {
        (void)sqlite3_commit_hook(db, before_commit, NULL);
    }
    return SQLITE_OK;
}

bool tacet__scratch_killed(const char *database, size_t commits, tacet_status (*run)(void *user, tacet_error *err),
                           void *user) {
    int code = 0;
    const pid_t child = fork();
    if (child == 0) {
        tacet_error ignored = {0};
        deadly = database;
        commits_left = commits;
        (void)sqlite3_auto_extension((void (*)(void))watch);
        _exit(run(user, &ignored) == TACET_OK ? 0 : 1);
    }
    return child > 0 && waitpid(child, &code, 0) == child && !(WIFEXITED(code) && WEXITSTATUS(code) == 0);
}
