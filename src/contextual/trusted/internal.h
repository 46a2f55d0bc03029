/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the inside of the learner, for its own files, the simulation and the audit. Ring: trusted. */
#pragma once

#include "contextual/shared/internal.h"

#include "contextual/trusted/learn.h"

enum { TACET__CONTEXTUAL_RECORDS_MOST = 1 << 22 };

struct tacet_contextual_learner {
    const tacet_contextual_basis *basis;
    tacet_contextual_settings settings;
    double middle, bound; /* rewards are middle ± bound */
    double *records;      /* stride numbers each: unit box, the reward less its middle */
    size_t stride;        /* d + 1 */
    size_t count, capacity;
};

/* A bounded sum over the records: omega r u, u = inverse_root * phi. */
typedef struct tacet__contextual_pass {
    size_t m;
    const double *inverse_root; /* m */
    double clip;                /* |omega u| <= clip */
    double bound;               /* |r| <= bound */
} tacet__contextual_pass;

/* The largest norm of what one record adds, and the step it is rounded to: the sum is exact. */
double tacet__contextual_share(const tacet__contextual_pass *pass, double *step);
/* The sum. out has m numbers. */
tacet_status tacet__contextual_sum(const tacet_contextual_learner *learner, tacet_raw *out,
                                   const tacet__contextual_pass *pass, tacet_error *err);

struct tacet_contextual_chooser {
    const tacet_contextual_basis *basis;
    size_t m, n;
    double tau, eps, bound;
    double inverse_root[TACET_CONTEXTUAL_FEATURES_MOST];
    double sup;   /* certified: |u| <= sup */
    double share; /* largest norm of one record's share, step */
    double step;
    double *v; /* m, secret */
};
/* How much the scores of these actions (U: m x n) can move, everything counted. */
double tacet__contextual_score_bound(const tacet_contextual_chooser *chooser, const double *U, size_t n);
/* The same, with the supremum already certified (0: certify); and the choice with a known bound. */
tacet_status tacet__contextual_chooser_begin(tacet_contextual_chooser **out, const tacet_contextual_learner *learner,
                                             double tau, double sup, tacet_error *err);
tacet_status tacet__contextual_choose_with(const tacet_contextual_chooser *chooser, tacet_release **out,
                                           const tacet_ask *ask, const double *U, size_t n, double bound,
                                           tacet_error *err);
tacet_status tacet__contextual_levers(const tacet_contextual_chooser *chooser, double *U, const double *context,
                                      const double *actions, size_t n, tacet_error *err);
