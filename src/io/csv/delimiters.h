/* SPDX-License-Identifier: Apache-2.0 */
/* delimiters.h - the delimiters and line ends of a block, found sixty-four bytes at a time. Ring: io. */
#ifndef TACET_SRC_IO_CSV_DELIMITERS_H
#define TACET_SRC_IO_CSV_DELIMITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One bit a byte, the first byte in the lowest bit. */
enum { TACET__MARKS_BYTES = 64 };
typedef struct tacet__delimiters {
    uint64_t delimiters, feeds, digits, points, minuses;
} tacet__delimiters;

/* Of text[0, 64), all of it readable. */
void tacet__csv_delimiters(tacet__delimiters *out, const char *text, char delimiter);
/* The same without vector instructions, which other processors run and tests compare with. */
void tacet__csv_delimiters_portable(tacet__delimiters *out, const char *text, char delimiter);

/* Is text[0, size) whole records of `columns` numbers in their usual form, [-] digits [. digits], each line ended by
 * LF, and no number longer than 126 characters (so that each is finite)? Then it counts the records. False says only
 * that it is not so simple. The delimiter is none of "0123456789-.", no line end and no quote. */
bool tacet__csv_plain(size_t *records, const char *text, size_t size, size_t columns, char delimiter);

/* The places of all delimiters and line feeds in text[0, size), in order; returns how many. `places` has room for
 * size + 1; size is below 2^32. */
size_t tacet__csv_places(uint32_t *places, const char *text, size_t size, char delimiter);

#endif
