/* SPDX-License-Identifier: Apache-2.0 */
/* fault_vfs.c - see fault_vfs.h. The state is the process's own, so a forked child arms its own faults; any of its
 * threads may meet them. */
#include "support/fault_vfs.h"

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fault_file {
    sqlite3_file base;
    sqlite3_file *real; /* follows in the same allocation */
    const char *name;   /* SQLite's, as long as it is open */
} fault_file;

/* What a write or truncation replaced, until the file is synced. */
typedef struct undo {
    fault_file *file;
    sqlite3_int64 offset;
    sqlite3_int64 old_size;
    int length;
    unsigned char *old;
    int syncing;
} undo;

enum { MOST_UNDO = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static sqlite3_vfs *real_vfs;
static long countdown;
static int mask;
static fault_action action;
static int hit;
static int disk_full;
static int logging;
static undo undos[MOST_UNDO];
static int undo_count;

void fault_vfs_arm(long n, int operations, fault_action what) {
    countdown = n;
    mask = operations;
    action = what;
    hit = n == 0 ? hit : 0;
    disk_full = 0;
    logging = n > 0 && (what == FAULT_POWER || what == FAULT_POWER_HALF);
}

int fault_vfs_hit(void) {
    return hit;
}

int fault_vfs_end(void) {
    const int seen = fault_vfs_hit();
    fault_vfs_arm(0, 0, FAULT_ERROR);
    return seen;
}

static void die(void) {
    (void)kill(getpid(), SIGKILL);
    for (;;) {
        (void)pause();
    }
}

static void power_cut(int keep) {
    while (undo_count > keep) {
        const undo *u = &undos[--undo_count];
        sqlite3_file *real = u->file->real;
        if (u->length > 0) {
            (void)real->pMethods->xWrite(real, u->old, u->length, u->offset);
        }
        (void)real->pMethods->xTruncate(real, u->old_size);
    }
    die();
}

static void remember(fault_file *file, sqlite3_int64 offset, int length) {
    (void)pthread_mutex_lock(&lock);
    if (!logging || undo_count == MOST_UNDO) {
        (void)pthread_mutex_unlock(&lock);
        return;
    }
    undo *u = &undos[undo_count];
    memset(u, 0, sizeof *u);
    u->file = file;
    u->offset = offset;
    (void)file->real->pMethods->xFileSize(file->real, &u->old_size);
    if (offset < u->old_size && length > 0) {
        const sqlite3_int64 rest = u->old_size - offset;
        u->length = rest < length ? (int)rest : length;
        u->old = malloc((size_t)u->length);
        (void)file->real->pMethods->xRead(file->real, u->old, u->length, offset);
    }
    undo_count++;
    (void)pthread_mutex_unlock(&lock);
}

/* A sync of a file is one of all that was written to it before, through whichever handle. */
static void begin_sync(const fault_file *file) {
    (void)pthread_mutex_lock(&lock);
    for (int i = 0; i < undo_count; i++) {
        undos[i].syncing =
            undos[i].syncing || undos[i].file == file ||
            (file->name != NULL && undos[i].file->name != NULL && strcmp(undos[i].file->name, file->name) == 0);
    }
    (void)pthread_mutex_unlock(&lock);
}

static void forget(const fault_file *file, int synced) {
    int kept = 0;
    (void)pthread_mutex_lock(&lock);
    for (int i = 0; i < undo_count; i++) {
        if (synced ? undos[i].syncing : undos[i].file == file) {
            free(undos[i].old);
        } else {
            undos[kept++] = undos[i];
        }
    }
    undo_count = kept;
    (void)pthread_mutex_unlock(&lock);
}

/* True when this operation is the one; the deadly ones do not return, except the torn write. */
static int strikes(int operation) {
    (void)pthread_mutex_lock(&lock);
    const int full = disk_full && (operation & FAULT_WRITE) != 0;
    const int now = !full && countdown > 0 && (mask & operation) != 0 && --countdown == 0;
    if (!now) {
        (void)pthread_mutex_unlock(&lock);
        return full;
    }
    hit = 1;
    if (action == FAULT_KILL || (action == FAULT_TORN_KILL && operation != FAULT_WRITE)) {
        die();
    } else if (action == FAULT_POWER) {
        power_cut(0);
    } else if (action == FAULT_POWER_HALF) {
        power_cut(undo_count / 2);
    }
    disk_full = action == FAULT_FULL;
    (void)pthread_mutex_unlock(&lock);
    return 1;
}

static sqlite3_file *real_of(sqlite3_file *file) {
    return ((fault_file *)file)->real;
}

static int on_close(sqlite3_file *file) {
    forget((fault_file *)file, 0);
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int on_read(sqlite3_file *file, void *buffer, int length, sqlite3_int64 offset) {
    if (strikes(FAULT_READ)) {
        return SQLITE_IOERR_READ;
    }
    return real_of(file)->pMethods->xRead(real_of(file), buffer, length, offset);
}

static int on_write(sqlite3_file *file, const void *buffer, int length, sqlite3_int64 offset) {
    if (strikes(FAULT_WRITE)) {
        if (action == FAULT_FULL) {
            return SQLITE_FULL;
        }
        if (action != FAULT_ERROR) {
            (void)real_of(file)->pMethods->xWrite(real_of(file), buffer, length / 2, offset);
        }
        if (action == FAULT_TORN_KILL) {
            die();
        }
        return SQLITE_IOERR_WRITE;
    }
    remember((fault_file *)file, offset, length);
    return real_of(file)->pMethods->xWrite(real_of(file), buffer, length, offset);
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size) {
    if (strikes(FAULT_TRUNCATE)) {
        return SQLITE_IOERR_TRUNCATE;
    }
    sqlite3_int64 now = 0;
    (void)real_of(file)->pMethods->xFileSize(real_of(file), &now);
    if (size < now) {
        remember((fault_file *)file, size, (int)(now - size));
    }
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int on_sync(sqlite3_file *file, int flags) {
    if (strikes(FAULT_SYNC)) {
        return SQLITE_IOERR_FSYNC;
    }
    begin_sync((fault_file *)file);
    const int code = real_of(file)->pMethods->xSync(real_of(file), flags);
    forget((fault_file *)file, 1);
    return code;
}

static int on_file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int on_lock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int on_unlock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int on_reserved(sqlite3_file *file, int *out) {
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), out);
}

static int on_control(sqlite3_file *file, int what, void *argument) {
    return real_of(file)->pMethods->xFileControl(real_of(file), what, argument);
}

static int on_sector_size(sqlite3_file *file) {
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int on_characteristics(sqlite3_file *file) {
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int on_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out) {
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, out);
}

static int on_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    /* Giving a lock back can be the moment of death, but it cannot fail. */
    if (strikes(FAULT_SHM) && (flags & SQLITE_SHM_LOCK) != 0) {
        return SQLITE_IOERR_SHMLOCK;
    }
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void on_shm_barrier(sqlite3_file *file) {
    (void)strikes(FAULT_SHM);
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int on_shm_unmap(sqlite3_file *file, int remove) {
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static const sqlite3_io_methods METHODS = {
    2,
    on_close,
    on_read,
    on_write,
    on_truncate,
    on_sync,
    on_file_size,
    on_lock,
    on_unlock,
    on_reserved,
    on_control,
    on_sector_size,
    on_characteristics,
    on_shm_map,
    on_shm_lock,
    on_shm_barrier,
    on_shm_unmap,
    NULL,
    NULL,
};

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    fault_file *mine = (fault_file *)file;
    (void)vfs;
    memset(mine, 0, sizeof *mine);
    mine->real = (sqlite3_file *)(mine + 1);
    mine->name = name;
    if (strikes(FAULT_OPEN)) {
        return SQLITE_CANTOPEN;
    }
    const int code = real_vfs->xOpen(real_vfs, name, mine->real, flags, out_flags);
    if (code == SQLITE_OK) {
        mine->base.pMethods = &METHODS;
    }
    return code;
}

void fault_vfs_register(void) {
    static sqlite3_vfs vfs;
    if (real_vfs != NULL) {
        return;
    }
    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs; /* the other calls work on names and need no wrapping */
    vfs.zName = "fault";
    vfs.pNext = NULL;
    vfs.szOsFile = (int)sizeof(fault_file) + real_vfs->szOsFile;
    vfs.xOpen = on_open;
    (void)sqlite3_vfs_register(&vfs, 0);
}
