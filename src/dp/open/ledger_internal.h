/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_internal.h - between ledger_view.c and ledger_verify.c. Ring: shared, internal. */
#ifndef TACET_SRC_DP_OPEN_LEDGER_INTERNAL_H
#define TACET_SRC_DP_OPEN_LEDGER_INTERNAL_H

#include <tacet/dp/open/receipt.h>
#include "io/db/db.h"
#include "dp/open/ledger_view.h"

struct tacet__ledger_view {
    tacet__db *db;
    uint64_t *answers; /* by seq of a reservation: seq of its answer; filled by verifying */
    size_t answers_count;
};

/* The first column of the first row, 0 when there is none. */
tacet_status tacet__ledger_number(tacet__ledger_view *view, int64_t *out, const char *sql, tacet_error *err);

/* A new pair, as text: `secret` (JSON with the key in hex; keep it) and `public_text`, a ring of one key. All texts
 * here are from malloc. IO: no entropy. NO_MEMORY. */
tacet_status tacet_receipt_keys(char **secret, char **public_text, tacet_error *err);

#endif
