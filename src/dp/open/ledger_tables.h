/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_tables.h - the tables of a ledger, in a file or in a schema. Ring: shared. */
#pragma once

#include "io/db/db.h"

/* In the open transaction. */
tacet_status tacet__ledger_make_tables(tacet__db *db, tacet_error *err);
/* The first column of the first row, 0 when there is none. CORRUPT: a table is missing. */
tacet_status tacet__ledger_number(tacet__db *db, int64_t *out, const char *sql, tacet_error *err);
/* That the tables are ours: CORRUPT otherwise. `path` is for the message; a URL is not told. */
tacet_status tacet__ledger_check_tables(tacet__db *db, const char *path, tacet_error *err);
