/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_internal.h - between ledger_view.c and ledger_verify.c. Ring: shared, internal. */
#ifndef TACET_SRC_DP_OPEN_LEDGER_INTERNAL_H
#define TACET_SRC_DP_OPEN_LEDGER_INTERNAL_H

#include "io/db/db.h"
#include "dp/open/ledger_view.h"

struct tacet__ledger_view {
    tacet__db *db;
    uint64_t *answers; /* by seq of a reservation: seq of its answer; filled by verifying */
    size_t answers_count;
};

/* The first column of the first row, 0 when there is none. */
tacet_status tacet__ledger_number(tacet__ledger_view *view, int64_t *out, const char *sql, tacet_error *err);

#endif
