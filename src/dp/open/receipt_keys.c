/* SPDX-License-Identifier: Apache-2.0 */
/* receipt_keys.c - the pair that signs receipts, as two files of a folder. Ring: shared.
 * The secret is written before the ring: a ring never names a key that nobody has. */
#include "dp/open/receipt_keys.h"

#include "core/fail.h"
#include "io/file/folder.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_BYTES = 1 << 16, RING_BYTES = 1 << 24 };

static tacet_status next_keys(char **secret, char **ring, const char *secret_path, const char *old_ring,
                              tacet_error *err) {
    char *old = NULL;
    size_t length = 0;
    tacet_status status = tacet__file_read(&old, &length, secret_path, KEY_BYTES, err);
    TACET_THEN(status, tacet_receipt_rotate(secret, ring, old, old_ring, err));
    if (old != NULL) {
        sodium_memzero(old, length);
    }
    free(old);
    return status;
}

tacet_status tacet_receipt_keep(const char *folder, tacet_receipt_change change, const char *key, tacet_error *err) {
    const mode_t owner = S_IRUSR | S_IWUSR;
    char secret_path[TACET__PATH], ring_path[TACET__PATH];
    char *secret = NULL, *ring = NULL, *old_ring = NULL;
    size_t length = 0;
    const bool first = change == TACET_RECEIPT_KEYS_FIRST;
    tacet_status status = tacet__folder_make(NULL, folder, err);
    TACET_THEN(status, tacet__path(secret_path, folder, "receipt.key", err));
    TACET_THEN(status, tacet__path(ring_path, folder, "receipt.ring", err));
    status = status != TACET_OK || first ? status : tacet__file_read(&old_ring, &length, ring_path, RING_BYTES, err);
    if (status == TACET_OK && first) {
        status =
            access(secret_path, F_OK) == 0
                ? tacet__fail(err, TACET_CONFLICT, "%s: there are keys in use: --rotate makes the next pair", folder)
                : tacet_receipt_keys(&secret, &ring, err);
    } else if (status == TACET_OK) {
        status = change == TACET_RECEIPT_KEYS_NEXT ? next_keys(&secret, &ring, secret_path, old_ring, err)
                                                   : tacet_receipt_revoke(&ring, old_ring, key, err);
    }
    if (status == TACET_OK && secret != NULL) {
        status = tacet__file_write(secret_path, folder, secret, owner, err);
    }
    TACET_THEN(status, tacet__file_write(ring_path, folder, ring, owner | S_IRGRP | S_IROTH, err));
    if (secret != NULL) {
        sodium_memzero(secret, strlen(secret));
    }
    free(secret);
    free(ring);
    free(old_ring);
    return status;
}
