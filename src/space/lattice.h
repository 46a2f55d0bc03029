/* SPDX-License-Identifier: Apache-2.0 */
/* lattice.h - every point of a space that a whole number can name: a fine public grid of its numbers, times its levels.
 * Ring: pure. A code has a digit for each column, the first fastest; a number has 2^k steps, as many as fit. */
#ifndef TACET_SRC_SPACE_LATTICE_H
#define TACET_SRC_SPACE_LATTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/space/space.h>

enum { TACET__LATTICE_COLUMNS = 32, TACET__LATTICE_DIMS = 64 };

typedef struct tacet__lattice {
    const tacet_space *space; /* borrowed */
    size_t columns, dims;
    size_t sides[TACET__LATTICE_COLUMNS]; /* digits of a column */
    uint64_t points;
} tacet__lattice;

/* False: the space has too many columns, coordinates or combinations to be named with 4 steps a number. */
bool tacet__lattice_init(tacet__lattice *out, const tacet_space *space);
/* The record of a code below `points`, in the columns' own units. */
void tacet__lattice_record(const tacet__lattice *l, double *record, uint64_t code);
/* The code nearest to a record. */
uint64_t tacet__lattice_code(const tacet__lattice *l, const double *record);
/* Whether all columns are categories: a code is then a combination of levels, and each has one. */
bool tacet__lattice_listed(const tacet__lattice *l);
void tacet__lattice_digits(const tacet__lattice *l, size_t *digits, uint64_t code);
uint64_t tacet__lattice_join(const tacet__lattice *l, const size_t *digits);

#endif
