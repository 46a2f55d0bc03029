/* SPDX-License-Identifier: Apache-2.0 */
/* block.h - a table cut into blocks of whole records, for readers that work side by side.
 *
 * One reader owns the source; each block is a reader of its own, with the same columns and true line numbers, that
 * takes the next records from it. Taking is for one thread at a time; what was taken is the block's alone. Ring: io.
 */
#pragma once

#include <tacet/io/csv.h>

enum { TACET__CSV_BLOCK = 1 << 16 };

/* An empty block for records of `like`, which must outlive it. Closed by tacet_csv_close. NO_MEMORY. */
tacet_status tacet__csv_block_open(tacet_csv **out, const tacet_csv *like, tacet_error *err);
/* The next whole records, about TACET__CSV_BLOCK bytes of them and at least one; what the block held is forgotten.
 * *found is false at the end. Errors as reading has them; PARSE: a record longer than is allowed. */
tacet_status tacet__csv_block_take(tacet_csv *block, tacet_csv *from, bool *found, tacet_error *err);
/* The bytes of the records that were taken, until they are read. */
const char *tacet__csv_block_text(const tacet_csv *block, size_t *size);
/* The most numbers a block's records can have, `count` of them in each. */
size_t tacet__csv_block_most(const tacet_csv *block, size_t count);
