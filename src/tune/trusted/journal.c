/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c - what was told of the settings so far: appended, synced, closed by hashes, read back when opened.
 * Ring: trusted: sums and values are private, the file has mode 0600 and stays where it is made. Source: none.
 * Layout: magic, hash of the settings; then entries: u64 number, u64 size, bytes, BLAKE2b-256 over the hash before it
 * and all of these. A last entry that is cut short was never acknowledged and is dropped; anything else that does not
 * fit is CORRUPT. Cost: one sync an entry. */
#include "tune/trusted/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/file/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 16, HASH = 32, HEAD = 16 };
static const char MAGIC_TEXT[MAGIC] = "TACET tune 1\n";
static const uint64_t ENTRY_MOST = UINT64_C(1) << 36;

struct tacet__tune_journal {
    int file;
    unsigned char hash[HASH]; /* of the last entry; at first of the head */
    char path[TACET__PATH];
};

static tacet_status failed_io(const tacet__tune_journal *j, const char *what, tacet_error *err) {
    const tacet_status status = errno == EACCES || errno == EPERM || errno == EROFS ? TACET_DENIED : TACET_IO;
    return tacet__fail(err, status, "%s %s: %s", what, j->path, strerror(errno));
}

static bool write_all(int file, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        const ssize_t n = write(file, at, size);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* How many of `size` bytes there are; -1: they cannot be read. */
static ssize_t read_some(int file, void *bytes, size_t size) {
    size_t got = 0;
    while (got < size) {
        const ssize_t n = read(file, (char *)bytes + got, size - got);
        if (n == 0) {
            break;
        }
        if (n < 0 && errno != EINTR) {
            return -1;
        }
        got += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)got;
}

static void chain(unsigned char hash[HASH], const unsigned char head[HEAD], const void *bytes, size_t size) {
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, hash, HASH, HASH);
    (void)crypto_generichash_update(&state, head, HEAD);
    (void)crypto_generichash_update(&state, bytes, size);
    (void)crypto_generichash_final(&state, hash, HASH);
}

static tacet_status begin_file(tacet__tune_journal *j, const unsigned char *settings, tacet_error *err) {
    char folder[TACET__PATH];
    TACET_OR_RETURN(tacet__folder_of(folder, j->path, err));
    if (ftruncate(j->file, 0) != 0 || lseek(j->file, 0, SEEK_SET) != 0 || !write_all(j->file, MAGIC_TEXT, MAGIC) ||
        !write_all(j->file, settings, HASH) || fsync(j->file) != 0) {
        return failed_io(j, "cannot write", err);
    }
    return tacet__folder_sync(folder, err);
}

/* The entry at the file's place. *more is false at the end, where a torn entry was cut off. */
static tacet_status read_entry(tacet__tune_journal *j, bool *more, tacet__tune_journal_entry *entry, void *user,
                               tacet_error *err) {
    unsigned char head[HEAD], stored[HASH];
    uint64_t words[2] = {0};
    const off_t at = lseek(j->file, 0, SEEK_CUR);
    const ssize_t first = read_some(j->file, head, HEAD);
    struct stat about;
    *more = false;
    if (at < 0 || first < 0 || fstat(j->file, &about) != 0) {
        return failed_io(j, "cannot read", err);
    }
    memcpy(words, head, (size_t)first);
    if (first < HEAD || words[1] > ENTRY_MOST || (uint64_t)(about.st_size - at) < HEAD + words[1] + HASH) {
        if (first == HEAD && words[1] > ENTRY_MOST) {
            return tacet__fail(err, TACET_CORRUPT, "the state %s is damaged", j->path);
        }
        /* Cut short: its writer died before anybody was told that it is durable. */
        return ftruncate(j->file, at) == 0 && lseek(j->file, at, SEEK_SET) == at ? TACET_OK
                                                                                 : failed_io(j, "cannot cut", err);
    }
    unsigned char *bytes = tacet__zalloc((size_t)words[1] + 1, 1);
    if (bytes == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the state");
    }
    tacet_status s = TACET_OK;
    if (read_some(j->file, bytes, (size_t)words[1]) != (ssize_t)words[1] || read_some(j->file, stored, HASH) != HASH) {
        s = failed_io(j, "cannot read", err);
    } else {
        chain(j->hash, head, bytes, (size_t)words[1]);
        s = memcmp(stored, j->hash, HASH) == 0 ? entry(user, words[0], bytes, (size_t)words[1], err)
                                               : tacet__fail(err, TACET_CORRUPT, "the state %s is damaged", j->path);
    }
    sodium_memzero(bytes, (size_t)words[1]);
    free(bytes);
    *more = s == TACET_OK;
    return s;
}

static tacet_status read_back(tacet__tune_journal *j, const unsigned char *settings, tacet__tune_journal_entry *entry,
                              void *user, tacet_error *err) {
    char magic[MAGIC];
    unsigned char written[HASH];
    const ssize_t n = read_some(j->file, magic, MAGIC);
    const ssize_t m = n == MAGIC ? read_some(j->file, written, HASH) : 0;
    if (n < 0 || m < 0) {
        return failed_io(j, "cannot read", err);
    }
    memcpy(j->hash, settings, HASH);
    if (memcmp(magic, MAGIC_TEXT, (size_t)n) != 0) {
        return tacet__fail(err, TACET_CORRUPT, "%s is not the state of a tuning run", j->path);
    }
    if (n < MAGIC || m < HASH) { /* new, or killed while it was made */
        return begin_file(j, settings, err);
    }
    if (memcmp(written, settings, HASH) != 0) {
        struct stat about;
        if (fstat(j->file, &about) == 0 && about.st_size == MAGIC + HASH) { /* no value was told, so nothing drawn */
            return begin_file(j, settings, err);
        }
        return tacet__fail(err, TACET_CONFLICT,
                           "%s is the state of a run with another space, seed, range, eps or number of records or "
                           "evaluations: name another state and ticket, which is charged anew",
                           j->path);
    }
    bool more = true;
    tacet_status s = TACET_OK;
    while (s == TACET_OK && more) {
        s = read_entry(j, &more, entry, user, err);
    }
    return s;
}

tacet_status tacet__tune_journal_open(tacet__tune_journal **out, const char *path,
                                      const unsigned char settings[TACET__TUNE_JOURNAL_KEY],
                                      tacet__tune_journal_entry *entry, void *user, tacet_error *err) {
    *out = NULL;
    tacet__tune_journal *j = TACET__ZALLOC(tacet__tune_journal, 1);
    if (j == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the state");
    }
    if (strlen(path) >= sizeof j->path) {
        free(j);
        return tacet__fail(err, TACET_INVALID, "the path of the state is too long");
    }
    memcpy(j->path, path, strlen(path) + 1);
    j->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    tacet_status s = j->file >= 0 ? TACET_OK : failed_io(j, "cannot open", err);
    if (s == TACET_OK && flock(j->file, LOCK_EX | LOCK_NB) != 0) {
        s = tacet__fail(err, TACET_BUSY, "another process works with the state %s", path);
    }
    if (s == TACET_OK && fchmod(j->file, 0600) != 0) {
        s = failed_io(j, "cannot protect", err);
    }
    TACET_THEN(s, read_back(j, settings, entry, user, err));
    if (s != TACET_OK) {
        tacet__tune_journal_close(j);
        return s;
    }
    *out = j;
    return TACET_OK;
}

tacet_status tacet__tune_journal_append(tacet__tune_journal *j, uint64_t number, const void *bytes, size_t size,
                                        tacet_error *err) {
    unsigned char head[HEAD], hash[HASH];
    const uint64_t words[2] = {number, size};
    const off_t at = lseek(j->file, 0, SEEK_END);
    memcpy(head, words, HEAD);
    memcpy(hash, j->hash, HASH);
    chain(hash, head, bytes, size);
    if (at < 0 || !write_all(j->file, head, HEAD) || !write_all(j->file, bytes, size) ||
        !write_all(j->file, hash, HASH) || fsync(j->file) != 0) {
        const tacet_status s = failed_io(j, "cannot write", err);
        /* Half an entry before a whole one would be taken for damage: nothing more is written where it stays. */
        if (at >= 0 && ftruncate(j->file, at) != 0) {
            (void)close(j->file);
            j->file = -1;
        }
        return s;
    }
    memcpy(j->hash, hash, HASH);
    return TACET_OK;
}

void tacet__tune_journal_close(tacet__tune_journal *j) {
    if (j != NULL) {
        if (j->file >= 0) {
            (void)close(j->file);
        }
        free(j);
    }
}
