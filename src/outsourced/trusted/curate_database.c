/* SPDX-License-Identifier: Apache-2.0 */
/* curate_database.c - the records of a table in a database, as the text of a CSV file.
 * Ring: trusted. Source: none; README.md, "Where records come from". A table is read once, in one snapshot, into a file
 * that has no name and is enciphered under a key that never leaves this process: both passes of a release read that
 * file, so that nothing others write, and no server that goes away, can come between. Cost: the text of the released
 * columns on the disk that gets the release; memory is a chunk. */
#include "outsourced/trusted/curate_shape.h"
#include "outsourced/trusted/curate_source.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/db/copy.h"
#include "io/file/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 16, CIPHER_BLOCK = 64 }; /* a chunk is whole blocks of the key stream */

/* Some of the text, and where it stands. */
typedef struct chunk {
    const tacet__source *source;
    size_t place; /* in the file: a multiple of CIPHER_BLOCK */
    size_t held, taken;
    unsigned char bytes[CHUNK];
} chunk;

static tacet_status no_place(tacet_error *err) {
    return tacet__fail(err, TACET_IO, "what was read of the table cannot be kept beside the release: %s",
                       strerror(errno));
}

/* On and off. The key is fresh for each table, so one nonce will do. */
static void encipher(chunk *c) {
    static const unsigned char NONCE[crypto_stream_chacha20_NONCEBYTES] = {0};
    (void)crypto_stream_chacha20_xor_ic(c->bytes, c->bytes, c->held, NONCE, c->place / CIPHER_BLOCK, c->source->key);
}

static tacet_status keep_chunk(chunk *c, tacet_error *err) {
    encipher(c);
    for (size_t done = 0; done < c->held;) {
        const ssize_t n = pwrite(c->source->spool, c->bytes + done, c->held - done, (off_t)(c->place + done));
        if (n < 0 && errno != EINTR) {
            return no_place(err);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    c->place += c->held;
    c->held = 0;
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

static tacet_status fill_spool(chunk *c, tacet__copy *copy, const volatile bool *stop, tacet_error *err) {
    for (;;) {
        const char *bytes = NULL;
        size_t count = 0;
        tacet_status status = tacet__copy_read(copy, &bytes, &count, err);
        if (status != TACET_OK || count == 0) {
            return status != TACET_OK ? status : keep_chunk(c, err);
        }
        for (size_t at = 0; at < count && status == TACET_OK;) {
            const size_t some = count - at < CHUNK - c->held ? count - at : CHUNK - c->held;
            memcpy(c->bytes + c->held, bytes + at, some);
            c->held += some;
            at += some;
            status = c->held == CHUNK ? keep_chunk(c, err) : TACET_OK;
        }
        if (status == TACET_OK && stop != NULL && __atomic_load_n(stop, __ATOMIC_RELAXED)) {
            status = tacet__fail(err, TACET_STATE, "stopped, as it was told to");
        }
        if (status != TACET_OK) {
            return status;
        }
    }
}

static void drop_chunk(void *user) {
    sodium_memzero(user, sizeof(chunk));
    free(user);
}

tacet_status tacet__source_database(tacet__source *s, const tacet_curate_settings *settings, const char *const *columns,
                                    size_t width, tacet_error *err) {
    const tacet__copy_wanted wanted = {.url = settings->data,
                                       .table = settings->table,
                                       .order = settings->order,
                                       .columns = columns,
                                       .count = width,
                                       .numbers = tacet__curate_bare(settings->space) ? settings->space->count : 0};
    tacet__copy *copy = NULL;
    chunk *c = TACET__ZALLOC(chunk, 1);
    if (c == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table");
    }
    c->source = s;
    tacet_status status = make_spool(s, settings->folder, err);
    TACET_THEN(status, tacet__copy_open(&copy, &wanted, err));
    TACET_THEN(status, fill_spool(c, copy, settings->stop, err));
    s->bytes = c->place;
    tacet__copy_close(copy);
    drop_chunk(c);
    return status;
}

static tacet_status read_spool(void *user, void *buffer, size_t capacity, size_t *count, tacet_error *err) {
    chunk *c = user;
    if (c->taken == c->held) {
        c->place += c->held;
        c->held = c->taken = 0;
        const size_t left = c->source->bytes - c->place;
        const size_t wanted = left < CHUNK ? left : CHUNK;
        while (c->held < wanted) {
            const ssize_t n =
                pread(c->source->spool, c->bytes + c->held, wanted - c->held, (off_t)(c->place + c->held));
            if (n == 0 || (n < 0 && errno != EINTR)) {
                return no_place(err);
            }
            c->held += n > 0 ? (size_t)n : 0;
        }
        encipher(c);
    }
    *count = c->held - c->taken < capacity ? c->held - c->taken : capacity;
    memcpy(buffer, c->bytes + c->taken, *count);
    c->taken += *count;
    return TACET_OK;
}

tacet_status tacet__spool_open(tacet_csv **out, const tacet__source *s, tacet_error *err) {
    chunk *c = TACET__ZALLOC(chunk, 1);
    *out = NULL;
    if (c == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table");
    }
    c->source = s;
    const tacet_csv_source source = {.name = s->files[0], .read = read_spool, .close = drop_chunk, .user = c};
    return tacet_csv_open(out, &source, NULL, err);
}
