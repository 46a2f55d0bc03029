/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - a table of inputs and a target, from CSV files, checked. */
#ifndef TACET_SRC_PLAIN_TABLE_H
#define TACET_SRC_PLAIN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/io/csv.h>

typedef struct tacet__plain_table {
    tacet_csv_table csv;
    size_t n; /* rows */
    size_t d; /* inputs; column d is the target */
} tacet__plain_table;

typedef struct tacet__plain_wanted {
    const char *data; /* files, separated by commas; "-": standard input */
    const char *const *inputs;
    size_t d;
    const char *target;
    bool allow_duplicates;
} tacet__plain_wanted;

/* Refused with PARSE, naming file, line or column and the rule: fewer than two rows, a constant column, a cell that is
 * not a finite number, and, unless allowed, a row whose inputs and target are those of an earlier one. Several CSV
 * files are one table, the rows of one after those of the other. */
tacet_status tacet__plain_table_load(tacet__plain_table *out, const tacet__plain_wanted *wanted, tacet_error *err);
void tacet__plain_table_clear(tacet__plain_table *table);
/* Input c < d, or the target (c = d), of a row. */
double tacet__plain_value(const tacet__plain_table *table, size_t row, size_t c);
/* Tells tables apart. */
uint64_t tacet__plain_table_digest(const tacet__plain_table *table);

#endif
