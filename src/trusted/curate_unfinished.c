/* curate_unfinished.c - where rows lie while they are drawn: beside the ledger, never in the folder that is handed out.
 * Ring: trusted. A run that is killed before its commit leaves what it drew, and the same ticket then draws again
 * (docs/privacy/ledger.md, section 2): of the two only the second may ever be seen. In the folder of the release the
 * first would lie beside it, or in another folder when the second run names one, for anybody to average. Beside the
 * ledger there is one place for each ticket, whatever the folder: the next run begins by emptying it, or, if the rows
 * were committed, finds them there. Whoever draws holds a lock on it, so that there are never two drafts at once. */
#include "trusted/curate_job.h"

#include "base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 16, TRIES = 16 };

tacet_status tacet__curate_draft_path(tacet__curate *job, tacet_error *err) {
    const char *ticket = job->settings->ticket;
    unsigned char hash[NAME_BYTES];
    char name[2 * NAME_BYTES + 1];
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)ticket, strlen(ticket), NULL, 0);
    (void)sodium_bin2hex(name, sizeof name, hash, sizeof hash);
    char *real = realpath(job->ledger, NULL); /* NULL: it is to be made, under this name */
    const int n = snprintf(job->unfinished, TACET__PATH, "%s.%s.unfinished", real != NULL ? real : job->ledger, name);
    free(real);
    return n >= 0 && n < TACET__PATH ? TACET_OK : tacet__fail(err, TACET_INVALID, "the ledger's path is too long");
}

/* Whether the path still leads to what was opened: whoever held it before may have moved it to its place. */
static bool is_there(int fd, const char *path) {
    struct stat held;
    struct stat named;
    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

tacet_status tacet__curate_hold(tacet__curate *job, tacet_error *err) {
    for (int i = 0; i < TRIES; i++) {
        const int fd = open(job->unfinished, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (fd < 0) {
            return tacet__fail(err, TACET_IO, "%s: cannot be written: %s", job->unfinished, strerror(errno));
        }
        const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (locked && is_there(fd, job->unfinished)) {
            job->held = fd;
            return TACET_OK;
        }
        (void)close(fd);
        if (!locked) {
            break;
        }
    }
    return tacet__fail(err, TACET_BUSY, "another process is drawing this release (%s)", job->unfinished);
}

FILE *tacet__curate_draft(const tacet__curate *job) {
    const bool empty = ftruncate(job->held, 0) == 0 && fchmod(job->held, S_IRUSR | S_IWUSR) == 0;
    const int fd = empty ? fcntl(job->held, F_DUPFD_CLOEXEC, 0) : -1; /* the lock outlives the file's closing */
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (file == NULL && fd >= 0) {
        (void)close(fd);
    }
    return file;
}

void tacet__curate_let_go(tacet__curate *job) {
    struct stat st;
    if (job->held < 0) {
        return;
    }
    if (fstat(job->held, &st) == 0 && st.st_size == 0 && is_there(job->held, job->unfinished)) {
        (void)unlink(job->unfinished); /* nothing was drawn */
    }
    (void)close(job->held);
    job->held = -1;
}
