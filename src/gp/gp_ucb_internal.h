/* SPDX-License-Identifier: Apache-2.0 */
/* gp_ucb_internal.h - the search behind tacet/gp/gp_ucb.h, alone or as one rank of several. Ring: pure. */
#ifndef TACET_SRC_GP_GP_UCB_INTERNAL_H
#define TACET_SRC_GP_GP_UCB_INTERNAL_H

#include "gp/ranks_internal.h"

#include <tacet/core/policy.h>
#include <tacet/gp/gp_ucb.h>

#define TACET__GP_UCB_NAME "gp-ucb"

enum { TACET__PRINT_BYTES = 32 };

/* The largest bound of this rank's candidates, as far as they were looked at. */
typedef struct tacet__bound {
    size_t t; /* the suggestion it is for; 0: none */
    double width;
    size_t row; /* SIZE_MAX: none yet */
    double score;
} tacet__bound;

typedef struct tacet__gp_ucb {
    tacet_gp_ucb_settings settings; /* pointers go to the copies below */
    tacet_guarantee guarantee;
    const tacet_ranks *ranks; /* NULL: alone */
    size_t *initial;
    tacet_kernel *kernel; /* a follower's own; NULL: the caller's */
    tacet_cov *cov;
    tacet_gp *gp;
    size_t n;                                  /* candidates of all ranks */
    size_t first;                              /* of this rank's slab */
    size_t local;                              /* candidates of this rank's slab */
    size_t suggested;                          /* suggestions so far; ticket k is rows[k-1] */
    size_t *rows;                              /* horizon */
    double *values;                            /* horizon; by ticket, where reported */
    bool *reported;                            /* horizon; by ticket */
    size_t *order;                             /* horizon; tickets in the order of their reports */
    bool *asked;                               /* local */
    tacet__bound next_best;                    /* found by the observation before, where there was one */
    unsigned char problem[TACET__PRINT_BYTES]; /* fingerprint of candidates and settings */
    uint64_t name;                             /* what rank 0 calls this search */
    struct tacet__gp_ucb *next;                /* a follower's further searches */
} tacet__gp_ucb;

/* The number of a row here, SIZE_MAX where another rank holds it. */
static inline size_t tacet__gp_ucb_here(const tacet__gp_ucb *self, size_t row) {
    return row >= self->first && row - self->first < self->local ? row - self->first : SIZE_MAX;
}

/* Where a rank finds its candidates. */
typedef struct tacet__slab {
    const double *X; /* by point, leading dimension ldx; or points; or neither: the caller's functions */
    size_t ldx;
    const tacet_points *points;
    size_t base; /* row number of the first of them */
} tacet__slab;

/* The search of one rank (`ranks` NULL: alone) over its slab of n candidates. Its fingerprint is not set. */
tacet_status tacet__gp_ucb_build(tacet__gp_ucb **out, const tacet_gp_ucb_settings *settings, const tacet_cov_spec *cov,
                                 const tacet__slab *slab, size_t n, tacet_error *err);
void tacet__gp_ucb_free(tacet__gp_ucb *self); /* of this rank alone */
/* Every rank calls it: the fingerprint of the problem, the same however many they are. */
tacet_status tacet__gp_ucb_fingerprint(tacet__gp_ucb *self, const tacet_cov_spec *cov, const tacet__slab *slab,
                                       tacet_error *err);
/* The steps, as every rank takes them. */
tacet_status tacet__gp_ucb_suggest(tacet__gp_ucb *self, tacet_suggestion *out, tacet_error *err);
tacet_status tacet__gp_ucb_observe(tacet__gp_ucb *self, uint64_t ticket, double value, tacet_error *err);
tacet_status tacet__gp_ucb_recommend(tacet__gp_ucb *self, tacet_recommendation *out, tacet_error *err);
/* One value into the model: whoever holds the row tells the others what they need of it. */
tacet_status tacet__gp_ucb_learn(tacet__gp_ucb *self, size_t row, double value, tacet_error *err);
tacet_status tacet__gp_ucb_save(const void *self, tacet_blob *out, tacet_error *err);
tacet_status tacet__gp_ucb_load(tacet__gp_ucb *self, const void *bytes, size_t size, tacet_error *err);

/* Rank 0: says what comes next. Nothing without ranks. */
tacet_status tacet__lead(const tacet__gp_ucb *self, tacet__order order, uint64_t a, double value, tacet_error *err);
/* Rank 0: builds its part of a search and has the others build theirs; refuses ranks that have other candidates. */
tacet_status tacet__lead_create(tacet__gp_ucb **out, const tacet_gp_ucb_settings *settings, const tacet_cov_spec *cov,
                                const tacet__slab *slab, size_t n, tacet_error *err);

#endif
