/* SPDX-License-Identifier: Apache-2.0 */
/* curate_unfinished.c - where rows lie while they are drawn: beside the ledger, never in the folder that is handed out.
 * Ring: trusted. A run that is killed before its commit leaves what it drew; the same ticket then draws the same rows
 * again (src/dp/ledger/README.md, section 2). In the folder of the release a draft could be handed on before it is
 * committed, cut off in the middle. Beside the ledger there is one place for each ticket, whatever the folder: the next
 * run begins by emptying it, or, if the rows were committed, finds them there. Whoever draws holds a lock on it, so
 * that there are never two drafts at once. */
#include "outsourced/trusted/curate_place.h"

#include "core/fail.h"
#include "registry/default_ledger.h"
#include "io/db/db.h"
#include "registry/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 16 };

/* A ledger in a database has no folder: the place is in the state of this machine and user. Another machine that draws
 * the same ticket has the key of its noise, or draws nothing: what lies there is the same. */
static tacet_status shared_path(tacet__curate_place *place, const char *name, tacet_error *err) {
    char folder[TACET__PATH];
    char beneath[TACET__PATH];
    char ledger[TACET__TICKET_NAME + 1];
    tacet__ticket_name(ledger, place->ledger);
    tacet_status status = tacet__registry_folder(folder, err);
    TACET_THEN(status, tacet__path(beneath, folder, "unfinished", err));
    TACET_THEN(status, tacet__folder_make(NULL, beneath, err));
    if (status != TACET_OK) {
        return status;
    }
    const int n = snprintf(place->unfinished, TACET__PATH, "%s/%s.%s", beneath, ledger, name);
    return n >= 0 && n < TACET__PATH ? TACET_OK
                                     : tacet__fail(err, TACET_INVALID, "the state folder's path is too long");
}

static tacet_status set_path(tacet__curate_place *place, tacet_error *err) {
    char name[TACET__TICKET_NAME + 1];
    tacet__ticket_name(name, place->ticket);
    if (tacet__db_is_url(place->ledger)) {
        return shared_path(place, name, err);
    }
    char *real =
        realpath(place->ledger, NULL); /* every name of the ledger, the folder's link too, leads to one place */
    if (real == NULL) {
        return tacet__fail(err, errno == ENOMEM ? TACET_NO_MEMORY : TACET_IO, "%s: cannot be found again",
                           place->ledger);
    }
    const int n = snprintf(place->unfinished, TACET__PATH, "%s.%s.unfinished", real, name);
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

tacet_status tacet__curate_hold(tacet__curate_place *place, tacet_error *err) {
    TACET_OR_RETURN(set_path(place, err));
    for (int i = 0; i < TRIES; i++) {
        const int fd = open(place->unfinished, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (fd < 0) {
            return tacet__fail(err, TACET_IO, "%s: cannot be written: %s", place->unfinished, strerror(errno));
        }
        const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (locked && is_there(fd, place->unfinished)) {
            place->held = fd;
            return TACET_OK;
        }
        (void)close(fd);
        if (!locked) {
            break;
        }
    }
    return tacet__fail(err, TACET_BUSY, "another process is drawing this release (%s)", place->unfinished);
}

FILE *tacet__curate_draft(const tacet__curate_place *place) {
    struct stat st;
    const bool new = fstat(place->held, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
    /* What an earlier run drew is gone for good before anything is drawn: no crash of the machine brings it back. */
    const bool empty = (new || (ftruncate(place->held, 0) == 0 && fsync(place->held) == 0)) &&
                       fchmod(place->held, S_IRUSR | S_IWUSR) == 0;
    const int fd = empty ? fcntl(place->held, F_DUPFD_CLOEXEC, 0) : -1; /* the lock outlives the file's closing */
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (file == NULL && fd >= 0) {
        (void)close(fd);
    }
    return file;
}

tacet_status tacet__curate_whole(const tacet__curate_place *place, FILE *file, tacet_error *err) {
    char folder[TACET__PATH];
    tacet_status status = tacet__file_finish(file, place->unfinished, err);
    TACET_THEN(status, tacet__folder_of(folder, place->unfinished, err));
    return status != TACET_OK ? status : tacet__folder_sync(folder, err);
}

void tacet__curate_let_go(tacet__curate_place *place) {
    struct stat st;
    if (place->held < 0) {
        return;
    }
    if (fstat(place->held, &st) == 0 && st.st_size == 0 && is_there(place->held, place->unfinished)) {
        (void)unlink(place->unfinished); /* nothing was drawn */
    }
    (void)close(place->held);
    place->held = -1;
}
