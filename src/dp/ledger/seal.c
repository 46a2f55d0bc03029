/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c - the key file, and sealing with it (libsodium's secretbox: XSalsa20 and Poly1305, random nonces).
 * Ring: gate. Source: none; README.md, section 2. Cost: a read of 84 bytes when a ledger first draws; two microseconds
 * a key. */
#include "dp/ledger/seal.h"

#include "core/fail.h"
#include "io/db/db.h"
#include "io/file/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char HEAD[] = "tacet-ledger-key-1 ";
enum { HEAD_BYTES = sizeof HEAD - 1, FILE_BYTES = HEAD_BYTES + 2 * TACET__SEAL_KEY + 1, FOLDER_MODE = 0700 };

static tacet_status too_long(tacet_error *err) {
    return tacet__fail(err, TACET_INVALID, "the path of the key file is too long");
}

static tacet_status named_path(tacet__seal *seal, const char *folder, const char *name, tacet_error *err) {
    const int n = snprintf(seal->path, sizeof seal->path, "%s%s", folder, name);
    return (size_t)n < sizeof seal->path ? TACET_OK : too_long(err);
}

tacet_status tacet__seal_find(tacet__seal *seal, const char *ledger, const char *named, tacet_error *err) {
    memset(seal, 0, sizeof *seal);
    const char *chosen = named != NULL ? named : getenv("TACET_KEY_FILE");
    if (chosen != NULL && chosen[0] != '\0') {
        return named_path(seal, chosen, "", err);
    }
    if (ledger == NULL) {
        return tacet__state_path(seal->path, "ledger.key", err);
    }
    char *real = realpath(ledger, NULL); /* a link to the ledger must not bring a key with it */
    const tacet_status status = named_path(seal, real != NULL ? real : ledger, ".key", err);
    free(real);
    return status;
}

static tacet_status no_key(const tacet__seal *seal, int number, const char *doing, tacet_error *err) {
    const bool denied = number == EACCES || number == EPERM || number == EROFS;
    return tacet__fail(err, denied ? TACET_DENIED : TACET_IO, "the key file %.200s cannot be %s: %s", seal->path, doing,
                       strerror(number));
}

/* Made beside its place and linked into it: there is a whole key or none, and of two who make one the first counts. */
static tacet_status make_key(const tacet__seal *seal, tacet_error *err) {
    char beside[TACET__PATH + 16];
    char folder[TACET__PATH];
    char text[FILE_BYTES + 1];
    unsigned char key[TACET__SEAL_KEY];
    if (tacet__folder_of(folder, seal->path, NULL) == TACET_OK) {
        (void)tacet__folders_make(folder);
    }
    (void)snprintf(beside, sizeof beside, "%s.new-XXXXXX", seal->path);
    const int fd = mkostemp(beside, O_CLOEXEC); /* mode 0600 */
    if (fd < 0) {
        return no_key(seal, errno, "made", err);
    }
    randombytes_buf(key, sizeof key);
    memcpy(text, HEAD, HEAD_BYTES);
    (void)sodium_bin2hex(text + HEAD_BYTES, 2 * TACET__SEAL_KEY + 1, key, sizeof key);
    text[FILE_BYTES - 1] = '\n';
    errno = 0;
    bool made = write(fd, text, FILE_BYTES) == (ssize_t)FILE_BYTES && fsync(fd) == 0;
    made = made && (link(beside, seal->path) == 0 || errno == EEXIST);
    const int number = errno != 0 ? errno : ENOSPC;
    sodium_memzero(key, sizeof key);
    sodium_memzero(text, sizeof text);
    (void)close(fd);
    (void)unlink(beside);
    if (!made) {
        return no_key(seal, number, "written", err);
    }
    (void)tacet__folder_of(folder, seal->path, NULL); /* the path fits, so its folder's does */
    return tacet__folder_sync(folder, err);
}

static tacet_status read_key(tacet__seal *seal, int fd, tacet_error *err) {
    char text[FILE_BYTES + 1] = {0};
    /* The mode of what was opened, not of what the name means by now. */
    struct stat st = {.st_mode = S_IRWXO}; /* what is not known is refused */
    (void)fstat(fd, &st);
    if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return tacet__fail(err, TACET_DENIED, "the key file %.200s may be used by others: chmod 600 it", seal->path);
    }
    const bool good = read(fd, text, FILE_BYTES) == (ssize_t)FILE_BYTES && memcmp(text, HEAD, HEAD_BYTES) == 0 &&
                      text[FILE_BYTES - 1] == '\n' &&
                      sodium_hex2bin(seal->key, sizeof seal->key, text + HEAD_BYTES, 2 * (size_t)TACET__SEAL_KEY, NULL,
                                     NULL, NULL) == 0; /* all digits, so all bytes */
    sodium_memzero(text, sizeof text);
    seal->open = good;
    return good ? TACET_OK : tacet__fail(err, TACET_CORRUPT, "%.200s is no key file", seal->path);
}

tacet_status tacet__seal_open(tacet__seal *seal, tacet_error *err) {
    if (seal->open) {
        return TACET_OK;
    }
    int fd = open(seal->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        TACET_OR_RETURN(make_key(seal, err));
        fd = open(seal->path, O_RDONLY | O_CLOEXEC);
    }
    if (fd < 0) {
        return no_key(seal, errno, "read", err);
    }
    const tacet_status status = read_key(seal, fd, err);
    (void)close(fd);
    return status;
}

void tacet__seal_clear(tacet__seal *seal) {
    sodium_memzero(seal, sizeof *seal);
}

void tacet__seal_close_key(const tacet__seal *seal, unsigned char out[TACET__SEALED_BYTES],
                           const unsigned char key[TACET_MINT_BYTES], const unsigned char entry[TACET_HASH_BYTES]) {
    /* The entry is sealed with the key: moved to another entry, it would be noise that is used twice. */
    unsigned char plain[TACET_MINT_BYTES + TACET_HASH_BYTES];
    memcpy(plain, key, TACET_MINT_BYTES);
    memcpy(plain + TACET_MINT_BYTES, entry, TACET_HASH_BYTES);
    randombytes_buf(out, crypto_secretbox_NONCEBYTES);
    (void)crypto_secretbox_easy(out + crypto_secretbox_NONCEBYTES, plain, sizeof plain, out, seal->key);
    sodium_memzero(plain, sizeof plain);
}

bool tacet__seal_open_key(const tacet__seal *seal, unsigned char out[TACET_MINT_BYTES], const unsigned char *sealed,
                          size_t size, const unsigned char entry[TACET_HASH_BYTES]) {
    unsigned char plain[TACET_MINT_BYTES + TACET_HASH_BYTES] = {0};
    const bool good = size == TACET__SEALED_BYTES &&
                      crypto_secretbox_open_easy(plain, sealed + crypto_secretbox_NONCEBYTES,
                                                 size - crypto_secretbox_NONCEBYTES, sealed, seal->key) == 0 &&
                      memcmp(plain + TACET_MINT_BYTES, entry, TACET_HASH_BYTES) == 0;
    memcpy(out, plain, TACET_MINT_BYTES);
    sodium_memzero(plain, sizeof plain);
    return good;
}

tacet_status tacet__seal_derive(unsigned char out[TACET__SEAL_KEY], const char *ledger, const char name[8],
                                tacet_error *err) {
    tacet__seal seal;
    tacet_status status = tacet__seal_find(&seal, tacet__db_is_url(ledger) ? NULL : ledger, NULL, err);
    TACET_THEN(status, tacet__seal_open(&seal, err));
    if (status == TACET_OK) {
        (void)crypto_generichash(out, TACET__SEAL_KEY, (const unsigned char *)name, 8, seal.key, sizeof seal.key);
    }
    tacet__seal_clear(&seal);
    return status;
}
