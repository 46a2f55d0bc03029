/* SPDX-License-Identifier: Apache-2.0 */
/* persons.h - at most so many rows of a person: which rows of a table are read, and which passed over. Ring: io.
 *
 * The rule is public: the first rows of each person, as the table has them. What a person is called is remembered as a
 * hash under a key that is drawn here, kept nowhere, and wiped. Two identifiers are one person where their texts are
 * the same but for blanks around them. Two with one hash (once in 10^5 tables of ten million people) count as one
 * person, who has no more rows than anybody else. */
#pragma once

#include <tacet/io/csv.h>

enum { TACET__PERSON_ROWS_MOST = 1000000 };

typedef struct tacet__persons tacet__persons;

/* Keeps `most` rows a person. INVALID: none, or more than there may be. NO_MEMORY. */
tacet_status tacet__persons_open(tacet__persons **out, size_t most, tacet_error *err);
void tacet__persons_close(tacet__persons *persons); /* wipes; NULL is allowed */

/* What stands for an identifier. By any number of threads. */
uint64_t tacet__persons_hash(const tacet__persons *persons, const void *identifier, size_t length);
/* The same of a cell of the current record. PARSE: it is empty, so that nobody knows whose row it is. */
tacet_status tacet__persons_cell(const tacet__persons *persons, uint64_t *hash, const tacet_csv *csv, size_t column,
                                 tacet_error *err);
/* Whether the next row of this person is kept: asked once for each row, in the order of the table. NO_MEMORY. */
tacet_status tacet__persons_keep(tacet__persons *persons, bool *keep, uint64_t hash, tacet_error *err);
/* As tacet_csv_next: the next record that is kept. `persons` may be NULL: all are. */
tacet_status tacet__persons_next(tacet__persons *persons, tacet_csv *csv, size_t column, bool *found, tacet_error *err);
