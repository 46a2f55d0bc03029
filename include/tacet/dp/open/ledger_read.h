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

#ifdef __cplusplus
}
#endif
#endif
