/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_internal.h - what a search over ranks tells, and how: commands of rank 0, one outcome for all. Ring: pure. */
#ifndef TACET_SRC_GP_RANKS_INTERNAL_H
#define TACET_SRC_GP_RANKS_INTERNAL_H

#include <tacet/gp/gp_ucb.h>
#include <tacet/gp/ranks.h>

typedef enum tacet__order {
    TACET__ORDER_DISMISS = 1,
    TACET__ORDER_CREATE, /* `a` bytes of description follow */
    TACET__ORDER_SUGGEST,
    TACET__ORDER_OBSERVE, /* ticket a, value */
    TACET__ORDER_RECOMMEND,
    TACET__ORDER_LOAD, /* a bytes of state follow */
    TACET__ORDER_FREE
} tacet__order;

/* What rank 0 says before each step: which search, what to do. */
typedef struct tacet__command {
    uint64_t order;
    uint64_t search;
    uint64_t a;
    double value;
} tacet__command;

/* Which rank holds a row, and its number there. */
size_t tacet__ranks_owner(const tacet_ranks *ranks, size_t *local, size_t row, size_t n);
/* One outcome for all: OK when every rank's status is, else that of the lowest rank that failed, with its message. */
tacet_status tacet__ranks_agree(const tacet_ranks *ranks, tacet_status status, tacet_error *err);
/* A sum that tells candidates apart, independent of how they are spread: of rows first … first + count - 1 of the
 * points, row r of which is called base + r. Not a cryptographic hash: it guards against mistakes. */
void tacet__points_digest(uint64_t out[2], const tacet_points *points, size_t d, size_t first, size_t count,
                          size_t base);
/* Mixes one word, by its position, into such a sum. */
void tacet__digest_word(uint64_t out[2], uint64_t word, uint64_t position);

#endif
