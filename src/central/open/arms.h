/* SPDX-License-Identifier: Apache-2.0 */
/* arms.h - the points that a study without contexts chooses from: codes of a space's lattice, or places in a list.
 * Ring: open. In the learner's coordinates the range of a number is 2, and two levels are 1 apart. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "central/open/outlook.h"
#include <tacet/core/simrng.h>

#include "space/lattice.h"

typedef struct tacet__arms {
    tacet__lattice lattice;                                        /* of a space */
    double *points;                                                /* of a list: dims x count; NULL: a space */
    double middle[TACET__LATTICE_DIMS], half[TACET__LATTICE_DIMS]; /* of a list's coordinates */
    uint64_t count;
    size_t columns, dims;
    size_t width[TACET__LATTICE_DIMS]; /* coordinates of a column */
    bool levels;                       /* categories alone */
} tacet__arms;

/* A space is borrowed, a list copied. INVALID: neither, or too large. NO_MEMORY. */
tacet_status tacet__arms_init(tacet__arms *out, const tacet_central_arms *from, tacet_error *err);
void tacet__arms_clear(tacet__arms *a);
void tacet__arms_place(const tacet__arms *a, double *x, uint64_t code); /* coordinates of a code */
void tacet__arms_map(const tacet__arms *a, double *x);                  /* coordinates as given into the learner's */
uint64_t tacet__arms_anywhere(const tacet__arms *a, tacet_simrng *coin);
/* Some columns moved, one surely; numbers by a normal step of `reach` of their range; of a list the nearest point. */
uint64_t tacet__arms_neighbour(const tacet__arms *a, uint64_t code, double reach, tacet_simrng *coin);
/* Codes that fill the domain evenly: *count of them, fewer where there are no more. NO_MEMORY. */
tacet_status tacet__arms_spread(const tacet__arms *a, uint64_t *codes, size_t *count, tacet_error *err);
