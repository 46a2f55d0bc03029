/* table.h - a table of inputs and a target, read from a CSV and checked. */
#ifndef TACET_CLI_PLAIN_TABLE_H
#define TACET_CLI_PLAIN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/io/csv.h>
#include <tacet/core/status.h>

/* Values: the inputs, then the target, of one row per column (leading dimension inputs + 1). Refused with PARSE, naming
 * file, line or column and the rule: fewer than two rows, a constant column, a cell that is not a finite number, and,
 * unless allowed, a row whose inputs and target are those of an earlier one. */
tacet_status table_load(tacet_csv_table *out, const char *path, char **inputs, size_t input_count, const char *target,
                        bool allow_duplicates, tacet_error *err);

#endif
