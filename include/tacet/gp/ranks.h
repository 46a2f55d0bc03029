/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - processes that search one set of candidates together, each holding a slab of it.
 *
 * The search itself knows no network: it calls three functions, which every rank calls alike and in the same order.
 * `mpirun tacet gp-ucb` brings them on MPI; a program with another transport brings its own. Rank 0 leads: it owns the
 * policy (tacet_gp_ucb_create with settings.ranks) and uses it as it would use one without ranks. The others call
 * tacet_ranks_follow, which returns when rank 0 calls tacet_ranks_dismiss. src/gp/ranks.md. */
#ifndef TACET_GP_RANKS_H
#define TACET_GP_RANKS_H

#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/gp/cov.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function that fails has lost the others: the search ends. */
typedef struct tacet_ranks {
    size_t rank;
    size_t count; /* >= 1 */
    void *user;
    /* The root's bytes arrive at all. */
    tacet_status (*broadcast)(void *user, void *bytes, size_t size, size_t root, tacet_error *err);
    /* The largest value of all ranks and its row, of equal values the lowest row; a rank that has none gives the row
     * UINT64_MAX. */
    tacet_status (*largest)(void *user, double *value, uint64_t *row, tacet_error *err);
    /* Sums over the ranks, modulo 2^64. */
    tacet_status (*sum)(void *user, uint64_t *values, size_t count, tacet_error *err);
} tacet_ranks;

/* Rows of this rank: *first … *first + *count - 1 of n. */
TACET_API void tacet_ranks_slab(const tacet_ranks *ranks, size_t rank, size_t *first, size_t *count, size_t n);
/* The first call of every rank. CONFLICT: a rank runs another version of tacet; all ranks get it. */
TACET_API tacet_status tacet_ranks_greet(const tacet_ranks *ranks, tacet_error *err);
/* Serves rank 0's searches until it dismisses. `own`: where this rank finds the n candidates, of which it reads its
 * slab alone; NULL: rank 0 sends the slab. Errors: what this rank could not do, which rank 0 was told too (INVALID:
 * other candidates than rank 0 has; NO_MEMORY), or what the transport said. */
TACET_API tacet_status tacet_ranks_follow(const tacet_ranks *ranks, const tacet_points *own, size_t n,
                                          tacet_error *err);
/* Rank 0: no more searches. Once; before it, all policies made with these ranks are freed. */
TACET_API tacet_status tacet_ranks_dismiss(const tacet_ranks *ranks, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
