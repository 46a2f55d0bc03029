/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - tables of text, read as a stream: RFC 4180 as files really are.
 *
 * The bytes come from the caller (this ring does no input); tacet/io/csv.h opens a file. The first record is the
 * header and names the columns. Taken: quotes with embedded commas, quotes and line ends; LF, CRLF and CR; a UTF-8
 * byte-order mark; empty fields; a last line with or without its end; blank lines (skipped, except in a table of one
 * column, where they are an empty field). Refused with PARSE: a record with more or fewer fields than the header, an
 * unclosed quote, text after a closing quote, a quote after leading blanks, a NUL byte, UTF-16. Messages name the
 * input, line, column and rule, never a value: the table may be what is to be protected. Memory does not grow with the
 * number of records. Not thread-safe: one thread at a time per reader. */
#ifndef TACET_IO_CSV_H
#define TACET_IO_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_csv tacet_csv;

/* Where the bytes come from. */
typedef struct tacet_csv_source {
    const char *name; /* what messages call the input, for example the file's name; copied */
    /* Stores up to `capacity` > 0 bytes; *count = 0 means the end. */
    tacet_status (*read)(void *user, void *buffer, size_t capacity, size_t *count, tacet_error *err);
    void (*close)(void *user); /* called once, by tacet_csv_close or when opening fails; may be NULL */
    void *user;
} tacet_csv_source;

typedef struct tacet_csv_settings {
    size_t most_bytes;  /* of one record, with its quotes: 2^24. What an unclosed quote may swallow. */
    size_t most_fields; /* of one record: 2^16 */
} tacet_csv_settings;

/* Reads the header. `settings` may be NULL. INVALID: impossible settings. PARSE: no header, or malformed. NO_MEMORY.
 * What source->read returned otherwise. *out is NULL on failure and the source is closed. */
TACET_API tacet_status tacet_csv_open(tacet_csv **out, const tacet_csv_source *source,
                                      const tacet_csv_settings *settings, tacet_error *err);
/* Wipes what was read. NULL is allowed. */
TACET_API void tacet_csv_close(tacet_csv *csv);

TACET_API size_t tacet_csv_columns(const tacet_csv *csv);
/* The name of column j < columns, without surrounding blanks; lives as long as the reader. NULL: no such column. */
TACET_API const char *tacet_csv_name(const tacet_csv *csv, size_t column);
/* NOT_FOUND: no column of that name. PARSE: more than one. */
TACET_API tacet_status tacet_csv_find(const tacet_csv *csv, size_t *column, const char *name, tacet_error *err);

/* Goes to the next record; *found is false at the end. A reader that failed stays failed: it repeats its error. */
TACET_API tacet_status tacet_csv_next(tacet_csv *csv, bool *found, tacet_error *err);
/* The line (from 1) the current record begins on, and its number (from 0). */
TACET_API uint64_t tacet_csv_line(const tacet_csv *csv);
/* A field of the current record, quotes removed, ended by a NUL; *length (may be NULL) is without it. Valid until the
 * next record. NULL: no such column, or no current record. */
TACET_API const char *tacet_csv_field(const tacet_csv *csv, size_t column, size_t *length);

/* Selected columns in memory. */
typedef struct tacet_csv_table {
    double *values; /* d x n, column-major, leading dimension d: one record per column; 64-byte aligned; owned */
    size_t d;
    size_t n;
} tacet_csv_table;

typedef struct tacet_csv_wanted {
    const char *const *columns; /* d names, all different; row i of the table is the column called columns[i] */
    size_t d;
    size_t least_records; /* fewer are refused; 0 means 1 */
    size_t most_records;  /* more are refused; 0 means no limit */
    bool no_constants;    /* refuse a column whose values are all the same */
} tacet_csv_wanted;

/* Loads the rest of the records. Statuses as tacet_csv_find and tacet_csv_numbers; PARSE also for the number of records
 * and for constant columns. *out is empty on failure. Cost: at most three times the table's memory while growing. */
TACET_API tacet_status tacet_csv_load(tacet_csv_table *out, tacet_csv *csv, const tacet_csv_wanted *wanted,
                                      tacet_error *err);
/* Wipes and frees the values. NULL is allowed. */
TACET_API void tacet_csv_table_clear(tacet_csv_table *table);

/* a CSV file, opened for tacet/io/csv.h. */

/* Opens the file and reads its header. "-" is standard input. NOT_FOUND: no such file. IO: cannot be read. Otherwise as
 * tacet_csv_open. The file is closed by tacet_csv_close. */
TACET_API tacet_status tacet_csv_open_file(tacet_csv **out, const char *path, const tacet_csv_settings *settings,
                                           tacet_error *err);
/* Opens, loads and closes. */
TACET_API tacet_status tacet_csv_load_file(tacet_csv_table *out, const char *path, const tacet_csv_wanted *wanted,
                                           tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
