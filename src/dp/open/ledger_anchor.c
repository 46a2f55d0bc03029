/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_anchor.c - the number of records a ledger had, and the hash of the last, in a file of their own: a ledger that
 * was cut off or put back is known by it. Ring: shared. One write, of constant length and within one sector: it may lag
 * behind the ledger, never lead; and it never goes back, for of several writers whoever committed first may come here
 * last. */
#include "dp/open/ledger_anchor.h"

#include "core/fail.h"
#include "io/db/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { DIGITS = 20, LINE_BYTES = DIGITS + 1 + 2 * TACET_HASH_BYTES + 1 };

tacet_status tacet__anchor_write(int anchor, uint64_t records, const unsigned char head[TACET_HASH_BYTES],
                                 tacet_error *err) {
    char line[LINE_BYTES + 1], seen[LINE_BYTES + 1];
    char hex[2 * TACET_HASH_BYTES + 1];
    tacet__hash_hex(hex, head);
    (void)snprintf(line, sizeof line, "%020llu %s\n", (unsigned long long)records, hex);
    (void)flock(anchor, LOCK_EX);
    const ssize_t size = pread(anchor, seen, LINE_BYTES, 0);
    seen[size > 0 ? size : 0] = '\0';
    const ssize_t written =
        strtoull(seen, NULL, 10) > records ? (ssize_t)LINE_BYTES : pwrite(anchor, line, LINE_BYTES, 0);
    const int wrong = errno;
    (void)flock(anchor, LOCK_UN);
    return written == (ssize_t)LINE_BYTES
               ? TACET_OK
               : tacet__fail(err, TACET_IO, "cannot write the ledger's anchor: %s", strerror(wrong));
}

tacet_status tacet__anchor_open(int *anchor, uint64_t *records, unsigned char head[TACET_HASH_BYTES], const char *path,
                                tacet_error *err) {
    char line[LINE_BYTES + 1] = {0};
    *records = 0;
    *anchor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*anchor < 0) {
        return tacet__fail(err, tacet__db_errno(errno), "cannot open the anchor %s: %s", path, strerror(errno));
    }
    const ssize_t size = pread(*anchor, line, LINE_BYTES, 0);
    if (size == 0) {
        return TACET_OK;
    }
    char *end = NULL;
    *records = size == (ssize_t)LINE_BYTES ? strtoull(line, &end, 10) : 0;
    line[LINE_BYTES - 1] = '\0'; /* its newline */
    if (*records == 0 || end != line + DIGITS || *end != ' ' || !tacet__hash_parse(head, end + 1)) {
        return tacet__fail(err, TACET_CORRUPT, "the anchor %s is damaged", path);
    }
    return TACET_OK;
}
