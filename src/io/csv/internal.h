/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the inside of a reader, for the files of csv. Ring: io. */
#pragma once

#include <tacet/io/csv.h>

enum { CSV_FIRST_CAPACITY = 1 << 18, CSV_PAD = 32 };
enum { STOP_PLAIN = 1, STOP_QUOTED = 2 };

typedef struct field {
    size_t start; /* from the record's first byte */
    size_t length;
} field;

struct tacet_csv {
    tacet_csv_source source;
    tacet_csv_settings settings;
    char *name;
    char *buffer; /* capacity + CSV_PAD bytes: from buffer[end] on zeros, where scanning stops */
    size_t capacity;
    size_t record_at; /* the current record's first byte */
    size_t at;        /* the next record's first byte */
    size_t end;
    bool ended;        /* the source has no more */
    bool after_return; /* the last line ended in CR: a LF that follows belongs to it */
    bool current;      /* fields are those of a record */
    uint64_t line;     /* of buffer[at] */
    uint64_t record_line;
    uint64_t records;
    field *fields;
    size_t field_capacity;
    size_t field_count;
    size_t columns; /* 0 until the header is read */
    char *names;    /* one after the other, each ended by a NUL */
    size_t *name_at;
    tacet_error failure;
    unsigned char stops[256];
    const tacet_csv *like; /* a block: whose names it has */
};

tacet_status tacet__csv_no_memory(const tacet_csv *csv, tacet_error *err);
tacet_status tacet__csv_too_long(const tacet_csv *csv, tacet_error *err);
/* Doubles the buffer; the old one is wiped. */
bool tacet__csv_enlarge(tacet_csv *csv);
/* Up to `most` bytes of the source; sets ended. */
tacet_status tacet__csv_get(tacet_csv *csv, char *to, size_t most, size_t *got, tacet_error *err);

void tacet_csv_defaults(tacet_csv_settings *settings);
/* What messages call the input; lives as long as the reader. */
const char *tacet_csv_input(const tacet_csv *csv);
uint64_t tacet_csv_record(const tacet_csv *csv);
/* The fields of `count` columns as finite numbers, correctly rounded, whatever the locale; surrounding blanks are
 * allowed. PARSE: empty, not finite, or not a number. INVALID: no such column. STATE: no current record. */
tacet_status tacet_csv_numbers(const tacet_csv *csv, double *out, const size_t *columns, size_t count,
                               tacet_error *err);
