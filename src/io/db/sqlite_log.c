/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_log.c - see sqlite_log.h. Ring: io. Source: the format of the log,
 * https://sqlite.org/fileformat2.html#walformat: a frame is a header of 24 bytes, whose second number is not zero in a
 * frame that commits, and a page. Cost: a copy of each page; one call of the system for 64 KiB or a commit; 64 KiB for
 * a connection that writes. */
#include "io/db/sqlite_log.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 1 << 16, FRAME_HEADER = 24, NAME_MOST = 64, DOORS_MOST = 8 };

typedef struct log_file {
    sqlite3_file base;
    sqlite3_file *real; /* follows in the same allocation */
    unsigned char *waiting;
    size_t count;
    sqlite3_int64 at;  /* where what waits begins */
    sqlite3_int64 end; /* of what was appended since the last commit: what lies before is written over at once */
    bool in_frame;     /* a header came last, so its page comes next */
    bool commits;      /* and that ends a transaction */
} log_file;

typedef struct door {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    char name[NAME_MOST];
} door;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the doors */
static door doors[DOORS_MOST];
static size_t door_count;

static sqlite3_file *real_of(sqlite3_file *file) {
    return ((log_file *)file)->real;
}

/* What cannot be written is given up: SQLite is told, and rolls back. */
static int hand_over(log_file *f) {
    const int size = (int)f->count;
    f->count = 0;
    return size == 0 ? SQLITE_OK : f->real->pMethods->xWrite(f->real, f->waiting, size, f->at);
}

static bool may_wait(log_file *f, int size, sqlite3_int64 offset) {
    if (f->waiting == NULL) {
        f->waiting = sqlite3_malloc(ROOM); /* NULL: each write by itself, as SQLite does it */
    }
    return f->waiting != NULL && (size_t)size <= ROOM && offset >= f->end;
}

static int append(log_file *f, const void *bytes, int size, sqlite3_int64 offset) {
    int code = SQLITE_OK;
    if (f->count > 0 && (offset != f->at + (sqlite3_int64)f->count || f->count + (size_t)size > ROOM)) {
        code = hand_over(f);
    }
    if (code == SQLITE_OK) {
        f->at = f->count == 0 ? offset : f->at;
        memcpy(f->waiting + f->count, bytes, (size_t)size);
        f->count += (size_t)size;
        f->end = offset + size;
    }
    return code;
}

static int on_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    log_file *f = (log_file *)file;
    const unsigned char *header = bytes;
    const bool begins = size == FRAME_HEADER && !f->in_frame;
    const bool commits = f->in_frame && f->commits;
    if ((!begins && !f->in_frame) || !may_wait(f, size, offset)) {
        const int code = hand_over(f);
        f->in_frame = false;
        return code == SQLITE_OK ? f->real->pMethods->xWrite(f->real, bytes, size, offset) : code;
    }
    int code = append(f, bytes, size, offset);
    f->in_frame = begins && code == SQLITE_OK;
    f->commits = begins && (header[4] | header[5] | header[6] | header[7]) != 0;
    if (commits) {
        code = code == SQLITE_OK ? hand_over(f) : code;
        f->end = 0;
    }
    return code;
}

static int on_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
    const int code = hand_over((log_file *)file);
    return code == SQLITE_OK ? real_of(file)->pMethods->xRead(real_of(file), bytes, size, offset) : code;
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size) {
    const int code = hand_over((log_file *)file);
    return code == SQLITE_OK ? real_of(file)->pMethods->xTruncate(real_of(file), size) : code;
}

static int on_sync(sqlite3_file *file, int flags) {
    const int code = hand_over((log_file *)file);
    return code == SQLITE_OK ? real_of(file)->pMethods->xSync(real_of(file), flags) : code;
}

static int on_size(sqlite3_file *file, sqlite3_int64 *size) {
    const int code = hand_over((log_file *)file);
    return code == SQLITE_OK ? real_of(file)->pMethods->xFileSize(real_of(file), size) : code;
}

static int on_close(sqlite3_file *file) {
    log_file *f = (log_file *)file;
    (void)hand_over(f); /* of a transaction that was not committed: nobody will miss it */
    sqlite3_free(f->waiting);
    f->waiting = NULL;
    return f->real->pMethods->xClose(f->real);
}

static int on_lock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int on_unlock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int on_check(sqlite3_file *file, int *reserved) {
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), reserved);
}

static int on_control(sqlite3_file *file, int operation, void *argument) {
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int on_sector(sqlite3_file *file) {
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int on_device(sqlite3_file *file) {
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static const sqlite3_io_methods METHODS = {
    .iVersion = 1,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_unlock,
    .xCheckReservedLock = on_check,
    .xFileControl = on_control,
    .xSectorSize = on_sector,
    .xDeviceCharacteristics = on_device,
};

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    sqlite3_vfs *real = ((door *)vfs)->real;
    if ((flags & SQLITE_OPEN_WAL) == 0) {
        return real->xOpen(real, name, file, flags, out_flags);
    }
    log_file *f = (log_file *)file;
    memset(f, 0, sizeof *f);
    f->real = (sqlite3_file *)(f + 1);
    memset(f->real, 0, sizeof *f->real);
    const int code = real->xOpen(real, name, f->real, flags, out_flags);
    f->base.pMethods = f->real->pMethods != NULL ? &METHODS : NULL; /* then it is closed, also after a failure */
    return code;
}

/* Over `real`, registered under its name and "+log". */
static const char *make_door(sqlite3_vfs *real) {
    door *d = &doors[door_count];
    const int length = snprintf(d->name, sizeof d->name, "%s+log", real->zName);
    if (length < 0 || (size_t)length >= sizeof d->name) {
        return real->zName;
    }
    d->real = real;
    d->vfs = *real;
    d->vfs.pNext = NULL;
    d->vfs.zName = d->name;
    d->vfs.szOsFile = (int)sizeof(log_file) + real->szOsFile;
    d->vfs.xOpen = on_open;
    if (sqlite3_vfs_register(&d->vfs, 0) != SQLITE_OK) {
        return real->zName;
    }
    door_count++;
    return d->name;
}

const char *tacet__sqlite_log_vfs(const char *vfs) {
    sqlite3_vfs *real = sqlite3_vfs_find(vfs);
    if (real == NULL) {
        return vfs;
    }
    (void)pthread_mutex_lock(&lock);
    const char *name = NULL;
    for (size_t i = 0; i < door_count; i++) {
        name = doors[i].real == real ? doors[i].name : name;
    }
    if (name == NULL) {
        name = door_count < DOORS_MOST ? make_door(real) : real->zName;
    }
    (void)pthread_mutex_unlock(&lock);
    return name;
}
