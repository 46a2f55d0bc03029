/* SPDX-License-Identifier: Apache-2.0 */
/* gp_ucb_internal.h - the search behind gp/gp_ucb.h. Ring: pure. */
#ifndef TACET_SRC_GP_GP_UCB_INTERNAL_H
#define TACET_SRC_GP_GP_UCB_INTERNAL_H

#include "core/policy_internal.h"

#include "gp/gp_ucb.h"

#define TACET__GP_UCB_NAME "gp-ucb"

enum { TACET__PRINT_BYTES = 32 };

/* The largest bound of the candidates, as far as they were looked at. */
typedef struct tacet__bound {
    size_t t; /* the suggestion it is for; 0: none */
    double width;
    size_t row; /* SIZE_MAX: none yet */
    double score;
} tacet__bound;

typedef struct tacet__gp_ucb {
    tacet_gp_ucb_settings settings; /* pointers go to the copies below */
    tacet_guarantee guarantee;
    size_t *initial;
    tacet_cov *cov;
    tacet_gp *gp;
    size_t n;                                  /* candidates */
    size_t suggested;                          /* suggestions so far; ticket k is rows[k-1] */
    size_t *rows;                              /* horizon */
    double *values;                            /* horizon; by ticket, where reported */
    bool *reported;                            /* horizon; by ticket */
    size_t *order;                             /* horizon; tickets in the order of their reports */
    bool *asked;                               /* n */
    tacet__bound next_best;                    /* found by the observation before, where there was one */
    unsigned char problem[TACET__PRINT_BYTES]; /* fingerprint of candidates and settings */
} tacet__gp_ucb;

/* Sets the fingerprint of a search whose model is there. */
void tacet__gp_ucb_fingerprint(tacet__gp_ucb *self, const tacet_cov_spec *cov, const double *X, size_t ldx);
void tacet__gp_ucb_state(void *self, tacet__state *s);

#endif
