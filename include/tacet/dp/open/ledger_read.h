/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_read.h - a ledger as text, for anyone who may read the file: verified first, and nothing is written. */
#ifndef TACET_DP_OPEN_LEDGER_READ_H
#define TACET_DP_OPEN_LEDGER_READ_H

#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The account, and every entry, as `tacet ledger show --json` prints them: JSON text from malloc. NOT_FOUND, DENIED,
 * CORRUPT (names the first thing that is wrong), IO, BUSY, NO_MEMORY. */
TACET_API tacet_status tacet_ledger_read(char **out, const char *path, tacet_error *err);
/* The account alone, as `tacet ledger verify --json` prints it. `head` (64 hex digits, noted earlier) or `anchor` (the
 * side file that a writer keeps) must be in the chain, at "head_at"; NULL: not given. INVALID: both are given, or head
 * is no hash. CORRUPT: not in the chain, which was cut off or replaced; a damaged anchor. Otherwise as above. */
TACET_API tacet_status tacet_ledger_verify(char **out, const char *path, const char *head, const char *anchor,
                                           tacet_error *err);
/* Every record in order as one line of JSON without its end, with its bytes in hex, so that hashes can be recomputed.
 * What `line` returns ends it, unless that is OK. */
TACET_API tacet_status tacet_ledger_export(const char *path,
                                           tacet_status (*line)(void *user, const char *text, tacet_error *err),
                                           void *user, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
