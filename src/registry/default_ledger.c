/* SPDX-License-Identifier: Apache-2.0 */
/* default_ledger.c - which ledger a file of records is charged to when none is named. Ring: trusted.
 * Releases of the same records add up, so they must share an account without anybody thinking of it. The content cannot
 * name the account, because a corrected cell would begin a new one; the file's place can. */
#include "registry/default_ledger.h"

#include "core/fail.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

tacet_status tacet__path_beside(char out[TACET__PATH], const char *data, const char *ending, tacet_error *err) {
    char *real = realpath(data, NULL); /* NULL: no such file, which reading it will say */
    const int n = snprintf(out, TACET__PATH, "%s%s", real != NULL ? real : data, ending);
    free(real);
    return (size_t)n < TACET__PATH ? TACET_OK : tacet__fail(err, TACET_INVALID, "the ledger's path is too long");
}

void tacet__ticket_name(char out[TACET__TICKET_NAME + 1], const char *ticket) {
    unsigned char hash[TACET__TICKET_NAME / 2];
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)ticket, strlen(ticket), NULL, 0);
    (void)sodium_bin2hex(out, TACET__TICKET_NAME + 1, hash, sizeof hash);
}

void tacet__link_beside(const char *beside, const char *ledger) {
    struct stat st;
    char *real = realpath(ledger, NULL);
    if (real != NULL && lstat(beside, &st) != 0 && symlink(real, beside) != 0) {
        /* Something appeared there meanwhile: then that is the note. */
    }
    free(real);
}
