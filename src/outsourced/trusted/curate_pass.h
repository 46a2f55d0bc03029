/* SPDX-License-Identifier: Apache-2.0 */
/* curate_pass.h - what the first pass over a table finds, and the second goes by. Ring: trusted. */
#pragma once

#include "dp/noise/mint.h"
#include "io/csv/persons.h"
#include "outsourced/trusted/curate_shape.h"

typedef struct tacet__curate_pass {
    size_t rows;    /* released */
    size_t *starts; /* blocks + 1 of them: the first record of each block of the table */
    size_t blocks;
    unsigned char (*tags)[TACET__MINT_TAG]; /* of each block; NULL: not made */
    size_t *column_at;       /* where the inputs are in a record, of each file of text, and after them the person */
    tacet__persons *persons; /* where rows are counted by persons; NULL: they are not */
    size_t people_blocks;
    uint64_t **people;   /* of each block whose rows it has; NULL once they are counted */
    size_t *read_starts; /* the first record of each block as it is read, where some are passed over; or NULL */
    unsigned char *kept; /* of each record that is read, whether it is released: a bit; or NULL */
} tacet__curate_pass;

void tacet__curate_pass_clear(tacet__curate_pass *pass);
/* How many records block k has as it is read. */
static inline size_t tacet__curate_block_rows(const tacet__curate_pass *pass, size_t k) {
    const size_t *starts = pass->read_starts != NULL ? pass->read_starts : pass->starts;
    return starts[k + 1] - starts[k];
}

/* Checks and counts the further records of a block, in one place for all, and notes whose they are (in *people, which
 * grows). */
tacet_status tacet__curate_person_rows(const tacet__curate_pass *pass, const tacet__curate_shape *shape,
                                       tacet_csv *block, const size_t *columns, double *record, uint64_t **people,
                                       size_t *room, size_t *got, tacet_error *err);
/* Which records of the table are released, once all blocks were read: the first of each person. */
tacet_status tacet__curate_choose_rows(tacet__curate_pass *pass, tacet_error *err);
/* Of the records of block k, of d numbers each, those that are released, moved together; how many there are. */
size_t tacet__curate_keep_rows(const tacet__curate_pass *pass, size_t d, double *records, size_t k, size_t count);
