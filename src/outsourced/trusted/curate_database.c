/* SPDX-License-Identifier: Apache-2.0 */
/* curate_database.c - the records of a table in a database.
 * Ring: trusted. Source: none; README.md, "Where records come from". A table is read once, in one snapshot, into a file
 * that has no name and is enciphered under a key that never leaves this process: the second pass of a release reads
 * that file, so that nothing others write, and no server that goes away, can come between. A server spends more time on
 * sending a row than we do on all that becomes of it, and one processor on a connection: so several connections read
 * ranges of pages in turn, and whoever has the next one in order hands its rows on. Cost: 8 bytes a number on the disk
 * that gets the release; memory is a block, and a range for each connection. */
#include "outsourced/trusted/curate_source.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/db/copy.h"
#include "io/file/folder.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RANGE = 256,          /* pages that one connection reads in a row: 2 MB, mostly */
    ROWS_BYTES = 2 << 20, /* of records that a connection keeps before its turn has come */
    CONNECTIONS_MOST = 4, /* a server has other users */
};

/* What all connections share. */
typedef struct reading {
    tacet__source *source;
    const tacet_curate_settings *settings;
    const char *const *columns;
    tacet__source_seen seen;
    void *user;
    tacet__copy *first; /* the connection whose snapshot it is */
    size_t ranges;
    double *block;        /* the one that is being filled: whose turn it is */
    size_t held;          /* records in it */
    pthread_mutex_t lock; /* all below */
    pthread_cond_t turned;
    size_t taken, due; /* ranges */
    tacet_status status;
    tacet_error err;
} reading;

/* What one of them has. */
typedef struct reader {
    reading *shared;
    tacet__copy *copy;
    tacet__copy_cell *cells;
    double *rows;
    size_t room, held; /* records */
    pthread_t thread;
    bool started;
} reader;

/* --- what is kept ------------------------------------------------------------------------------------------------- */

static void encipher(const tacet__source *s, double *block, size_t first, size_t count) {
    unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    const uint64_t number = htole64((uint64_t)(first / s->block));
    memcpy(nonce, &number, sizeof number);
    (void)crypto_stream_chacha20_xor((unsigned char *)block, (const unsigned char *)block,
                                     count * s->width * sizeof *block, nonce, s->key);
}

static tacet_status transfer(const tacet__source *s, bool writing, double *block, size_t first, size_t count,
                             tacet_error *err) {
    char *bytes = (char *)block;
    size_t left = count * s->width * sizeof *block;
    off_t at = (off_t)(first * s->width * sizeof *block);
    while (left > 0) {
        const ssize_t n = writing ? pwrite(s->spool, bytes, left, at) : pread(s->spool, bytes, left, at);
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            return tacet__fail(err, TACET_IO, "what was read of the table cannot be kept beside the release: %s",
                               n == 0 ? "it is cut short" : strerror(errno));
        }
        bytes += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
        at += n > 0 ? n : 0;
    }
    return TACET_OK;
}

/* A file without a name on the disk that will get the release: gone with the process, whatever ends it. */
static tacet_status make_spool(tacet__source *s, const char *release, tacet_error *err) {
    char place[TACET__PATH];
    char folder[TACET__PATH];
    (void)snprintf(place, sizeof place, "%s", release);
    for (size_t end = strlen(place); end > 1 && place[end - 1] == '/'; end--) {
        place[end - 1] = '\0';
    }
    tacet_status status = tacet__folder_of(folder, place, err);
    if (status != TACET_OK) {
        return status;
    }
    s->spool = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (s->spool < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        status = tacet__path(place, folder, ".tacet-spool-XXXXXX", err);
        s->spool = status == TACET_OK ? mkostemp(place, O_CLOEXEC) : -1;
        if (s->spool >= 0) {
            (void)unlink(place);
        }
    }
    if (sodium_init() < 0) {
        return tacet__fail(err, TACET_IO, "the operating system gives no entropy");
    }
    randombytes_buf(s->key, sizeof s->key);
    return s->spool >= 0 ? TACET_OK
                         : tacet__fail(err, TACET_IO, "%.150s: the table cannot be kept here while it is released: %s",
                                       folder, strerror(errno));
}

tacet_status tacet__spool_read(const tacet__source *s, double *out, size_t first, size_t count, tacet_error *err) {
    const tacet_status status = transfer(s, false, out, first, count, err);
    if (status == TACET_OK) {
        encipher(s, out, first, count); /* the same stream takes it off */
    }
    return status;
}

/* --- in order ----------------------------------------------------------------------------------------------------- */

static tacet_status keep_block(reading *r, tacet_error *err) {
    tacet__source *s = r->source;
    const size_t first = s->count - r->held;
    tacet_status status = r->seen(r->user, r->block, first, r->held, err);
    if (status == TACET_OK) {
        encipher(s, r->block, first, r->held);
        status = transfer(s, true, r->block, first, r->held, err);
    }
    r->held = 0;
    if (status == TACET_OK && r->settings->stop != NULL && __atomic_load_n(r->settings->stop, __ATOMIC_RELAXED)) {
        status = tacet__fail(err, TACET_STATE, "stopped, as it was told to");
    }
    return status;
}

/* Hands on the rows a connection has kept. It is its turn. */
static tacet_status hand_on(reader *me, tacet_error *err) {
    reading *r = me->shared;
    tacet__source *s = r->source;
    tacet_status status = TACET_OK;
    for (size_t at = 0; at < me->held && status == TACET_OK;) {
        const size_t room = s->block - r->held;
        const size_t count = me->held - at < room ? me->held - at : room;
        memcpy(r->block + r->held * s->width, me->rows + at * s->width, count * s->width * sizeof *me->rows);
        r->held += count;
        s->count += count;
        at += count;
        status = r->held == s->block ? keep_block(r, err) : TACET_OK;
    }
    me->held = 0;
    return status;
}

/* Waits until all ranges before this one are handed on. False: the reading has failed. */
static bool await_turn(reading *r, size_t range) {
    (void)pthread_mutex_lock(&r->lock);
    while (r->due != range && r->status == TACET_OK) {
        (void)pthread_cond_wait(&r->turned, &r->lock);
    }
    const bool yes = r->status == TACET_OK;
    (void)pthread_mutex_unlock(&r->lock);
    return yes;
}

static void end_turn(reading *r, tacet_status status, const tacet_error *err) {
    (void)pthread_mutex_lock(&r->lock);
    r->due++;
    if (status != TACET_OK && r->status == TACET_OK) {
        r->status = status;
        r->err = *err;
    }
    (void)pthread_cond_broadcast(&r->turned);
    (void)pthread_mutex_unlock(&r->lock);
}

static bool take_range(reading *r, size_t *range) {
    (void)pthread_mutex_lock(&r->lock);
    const bool yes = r->taken < r->ranges && r->status == TACET_OK;
    *range = r->taken;
    r->taken += yes;
    (void)pthread_mutex_unlock(&r->lock);
    return yes;
}

/* --- a connection ------------------------------------------------------------------------------------------------- */

/* A row of the database as a record; stand-ins for what is missing where the space has them. */
static tacet_status settle_row(const reader *me, double *record, tacet_error *err) {
    const tacet_space *space = me->shared->settings->space;
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < me->shared->source->width && status == TACET_OK; i++) {
        const tacet__copy_cell *cell = &me->cells[i];
        if (space != NULL) {
            status = tacet_space_cell(&space->columns[i], &record[i], NULL, cell->missing ? "" : cell->text,
                                      cell->length, err);
        } else if (cell->missing) {
            status = tacet__fail(err, TACET_PARSE, "column '%s' is missing", me->shared->columns[i]);
        } else {
            record[i] = cell->number;
        }
    }
    return status;
}

/* Reads a range and hands it on when its turn has come; before that only if it does not fit. False: another one failed,
 * and this one is not handed on. */
static bool read_range(reader *me, size_t range, tacet_status *status, tacet_error *err) {
    reading *r = me->shared;
    const size_t width = r->source->width;
    bool turn = false;
    tacet_error why = {0};
    tacet_status settled = TACET_OK;
    *status = tacet__copy_begin(me->copy, range * RANGE, range + 1 == r->ranges ? SIZE_MAX : (range + 1) * RANGE, err);
    for (bool found = true; *status == TACET_OK && settled == TACET_OK;) {
        *status = tacet__copy_next(me->copy, me->cells, &found, err);
        if (*status != TACET_OK || !found) {
            break;
        }
        settled = settle_row(me, me->rows + me->held * width, &why);
        me->held += settled == TACET_OK;
        if (me->held == me->room) {
            turn = turn || await_turn(r, range);
            if (!turn) {
                return false;
            }
            *status = hand_on(me, err);
        }
    }
    if (!turn && !await_turn(r, range)) {
        return false;
    }
    *status = *status != TACET_OK ? *status : hand_on(me, err);
    if (*status == TACET_OK && settled != TACET_OK) {
        *status = tacet__fail(err, settled, "%s: row %zu (counted from 0): %s", r->settings->table, r->source->count,
                              why.message);
    }
    return true;
}

/* A connection that cannot be had is done without. */
static void *read_ranges(void *user) {
    reader *me = user;
    tacet_error err = {0};
    if (me->copy == NULL && tacet__copy_join(&me->copy, me->shared->first, &err) != TACET_OK) {
        return NULL;
    }
    for (size_t range = 0; take_range(me->shared, &range);) {
        tacet_status status = TACET_OK;
        err = (tacet_error){0};
        if (!read_range(me, range, &status, &err)) {
            break;
        }
        end_turn(me->shared, status, &err);
    }
    return NULL;
}

static bool make_reader(reader *me, reading *r, tacet__copy *copy) {
    const size_t width = r->source->width;
    *me = (reader){.shared = r, .copy = copy, .room = ROWS_BYTES / sizeof(double) / width + 1};
    me->cells = TACET__ZALLOC(tacet__copy_cell, width);
    me->rows = TACET__ALIGNED(double, me->room *width);
    return me->cells != NULL && me->rows != NULL;
}

static void drop_reader(reader *me, size_t width) {
    if (me->rows != NULL) {
        sodium_memzero(me->rows, me->room * width * sizeof *me->rows);
    }
    free(me->rows);
    free(me->cells);
    tacet__copy_close(me->copy);
}

/* As many connections as there are processors here, for lack of knowledge of the server's; none for a short range. */
static size_t connection_count(const reading *r) {
    const long processors = r->settings->threads > 0 ? (long)r->settings->threads : sysconf(_SC_NPROCESSORS_ONLN);
    const size_t most = processors < 1 ? 1 : processors > CONNECTIONS_MOST ? CONNECTIONS_MOST : (size_t)processors;
    return r->ranges < most ? r->ranges : most;
}

static tacet_status read_all(reading *r, tacet_error *err) {
    reader readers[CONNECTIONS_MOST] = {{0}};
    const size_t pages = tacet__copy_pages(r->first);
    r->ranges = pages / RANGE + 1;
    const size_t count = connection_count(r);
    bool good = make_reader(&readers[0], r, r->first);
    for (size_t i = 1; i < count && good; i++) {
        good = make_reader(&readers[i], r, NULL);
    }
    for (size_t i = 1; i < count && good; i++) {
        readers[i].started = pthread_create(&readers[i].thread, NULL, read_ranges, &readers[i]) == 0;
    }
    if (good) {
        (void)read_ranges(&readers[0]);
    }
    for (size_t i = 1; i < count; i++) {
        if (readers[i].started) {
            (void)pthread_join(readers[i].thread, NULL);
        }
    }
    for (size_t i = 0; i < CONNECTIONS_MOST; i++) {
        drop_reader(&readers[i], r->source->width);
    }
    if (!good) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", r->source->width);
    }
    if (r->status != TACET_OK) {
        return tacet__fail(err, r->status, "%s", r->err.message);
    }
    return r->held > 0 ? keep_block(r, err) : TACET_OK;
}

tacet_status tacet__source_database(tacet__source *s, const tacet_curate_settings *settings, const char *const *columns,
                                    tacet__source_seen seen, void *user, tacet_error *err) {
    const tacet__copy_wanted wanted = {.url = settings->data,
                                       .table = settings->table,
                                       .order = settings->order,
                                       .columns = columns,
                                       .count = s->width,
                                       .text = settings->space != NULL};
    reading r = {.source = s,
                 .settings = settings,
                 .columns = columns,
                 .seen = seen,
                 .user = user,
                 .lock = PTHREAD_MUTEX_INITIALIZER,
                 .turned = PTHREAD_COND_INITIALIZER};
    r.block = TACET__ALIGNED(double, s->block * s->width);
    tacet_status status = r.block == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", s->width)
                                          : make_spool(s, settings->folder, err);
    status = status != TACET_OK ? status : tacet__copy_open(&r.first, &wanted, err);
    status = status != TACET_OK ? status : read_all(&r, err);
    if (r.block != NULL) {
        sodium_memzero(r.block, s->block * s->width * sizeof *r.block);
    }
    free(r.block);
    return status;
}
