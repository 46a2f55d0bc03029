/* SPDX-License-Identifier: Apache-2.0 */
/* table_read.h - a table of inputs and a target, from CSV files, checked. */
#ifndef TACET_LAB_TABLE_READ_H
#define TACET_LAB_TABLE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/io/csv.h>

typedef struct lab_search_table {
    tacet_csv_table csv;
    size_t n; /* rows */
    size_t d; /* inputs; column d is the target */
} lab_search_table;

typedef struct lab_search_table_wanted {
    const char *data; /* files, separated by commas; "-": standard input */
    const char *const *inputs;
    size_t d;
    const char *target;
    bool allow_duplicates;
} lab_search_table_wanted;

/* Refused with PARSE, naming file, line or column and the rule: fewer than two rows, a constant column, a cell that is
 * not a finite number, and, unless allowed, a row whose inputs and target are those of an earlier one. Several CSV
 * files are one table, the rows of one after those of the other. */
tacet_status lab_search_table_load(lab_search_table *out, const lab_search_table_wanted *wanted, tacet_error *err);
void lab_search_table_clear(lab_search_table *table);
/* Input c < d, or the target (c = d), of a row. */
double lab_search_table_value(const lab_search_table *table, size_t row, size_t c);

#endif
