/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the inside of the learner, for its own files, the simulation and the audit. Ring: trusted. */
#ifndef TACET_SRC_CONTEXTUAL_TRUSTED_INTERNAL_H
#define TACET_SRC_CONTEXTUAL_TRUSTED_INTERNAL_H

#include "contextual/shared/internal.h"

#include <tacet/contextual/trusted/learn.h>

enum { TACET__CONTEXTUAL_RECORDS_MOST = 1 << 22 };

struct tacet_contextual_learner {
    const tacet_contextual_basis *basis;
    tacet_contextual_settings settings;
    double middle, bound;     /* rewards are middle ± bound */
    const tacet_space *space; /* what the model will say its coordinates are; NULL: nothing */
    size_t action_columns;
    double noise_sd, prior_var, decay;
    double *records; /* stride numbers each: unit box, the reward less its middle, the propensity */
    size_t stride;   /* d + 2 */
    size_t count, capacity;
    unsigned char rows[TACET_HASH_BYTES]; /* a keyed hash of a log's rows in their order; zero: of no log */
};

/* A bounded sum: of the records of one stage, omega r u, u = inverse_root * phi. */
typedef struct tacet__contextual_pass {
    size_t m;
    const double *inverse_root;    /* m */
    double clip;                   /* |omega u| <= clip */
    double bound;                  /* |r| <= bound */
    const double *theta;           /* m, or NULL: r = clip(y - theta'phi) */
    const unsigned char *stage_of; /* of each record; NULL: all belong */
    unsigned char stage;
    size_t n; /* records that belong */
} tacet__contextual_pass;

/* The largest norm of what one record adds, and the step it is rounded to: the sum is exact. */
double tacet__contextual_share(const tacet__contextual_pass *pass, double *step);
/* The bound of a pass: norms up to n shares, two sums of neighbours at most two shares apart. */
tacet_status tacet__contextual_pass_bound(tacet_bound **out, const tacet__contextual_pass *pass, tacet_error *err);
/* The sum. out has m numbers. */
tacet_status tacet__contextual_sum(const tacet_contextual_learner *learner, tacet_raw *out,
                                   const tacet__contextual_pass *pass, tacet_error *err);

tacet_status tacet__contextual_plan_for(const tacet_contextual_learner *learner, tacet__contextual_plan *plan,
                                        size_t rounds, tacet_error *err);
/* As tacet_contextual_release, with a plan made before (for learner->count records). */
tacet_status tacet__contextual_release_planned(const tacet_contextual_learner *learner, tacet_contextual_model **out,
                                               const tacet_ask *ask, const tacet__contextual_plan *plan,
                                               tacet_error *err);

/* What a release enters first, by its form: the law, the scale (where the law is stated), a stage; or a table. */
enum { TACET__CONTEXTUAL_FIRST_TABLE = 3, TACET__CONTEXTUAL_FIRSTS };

/* What the ledger knows of a release with this ticket. */
typedef enum tacet__contextual_form {
    TACET__CONTEXTUAL_NOT_BEGUN,
    TACET__CONTEXTUAL_BEGUN,
    TACET__CONTEXTUAL_BEGUN_WORDS, /* by a version that named its records in words only */
    TACET__CONTEXTUAL_BEGUN_UNSAID /* by a version that did not: it said ask->what and no more */
} tacet__contextual_form;
typedef struct tacet__contextual_begun {
    tacet__contextual_form form;
    size_t records; /* of how many; 0: that is not known */
} tacet__contextual_begun;
/* Of ask only the ledger (NULL: nothing is begun) and `what` count. Errors as tacet_ledger_charge, NOT_FOUND excepted.
 */
tacet_status tacet__contextual_begun_find(tacet__contextual_begun *out, const tacet_ask *ask, const char *ticket,
                                          tacet_error *err);

/* Of how many records the ledger has this part of a release; 0: it has none, or does not say. */
tacet_status tacet__contextual_begun_records(size_t *records, const tacet_ask *ask, const char *part, tacet_error *err);
/* Which first parts are in the ledger under ask->ticket: bit i for number i of TACET__CONTEXTUAL_FIRSTS. Rows are dealt
 * by the form, so a release keeps the form it was begun in. */
tacet_status tacet__contextual_begun_as(unsigned *forms, const tacet_ask *ask, tacet_error *err);
/* CONFLICT, in words. */
tacet_status tacet__contextual_other_form(tacet_error *err);
/* Before a release whose first part this is. CONFLICT: the ledger does not have it, but has another first part under
 * ask->ticket: rows were dealt otherwise then, and would be read twice for one charge. */
tacet_status tacet__contextual_begun_with(const tacet_ask *ask, const char *part, tacet_error *err);

/* Which stage each record is in: row numbers decide, in proportion all along. */
tacet_status tacet__contextual_assign(unsigned char **out, const tacet__contextual_plan *plan, size_t count,
                                      tacet_error *err);
/* weights = A theta (A: nodes x m): from features to kernel functions at the nodes. */
tacet_status tacet__contextual_model_from(tacet_contextual_model **out, const tacet_contextual_learner *learner,
                                          const double *A, const double *theta, size_t m,
                                          const tacet_contextual_parts *claims, tacet_error *err);

/* The noise that the settings ask for; `pure`: without a delta whatever they say. */
tacet_mechanism_kind tacet__contextual_noise(const tacet_contextual_settings *settings, bool pure);

struct tacet_contextual_chooser {
    const tacet_contextual_basis *basis;
    tacet_contextual_rule rule;
    size_t m, n;
    double tau, eps, bound;
    double inverse_root[TACET_CONTEXTUAL_FEATURES_MOST];
    double sup;   /* certified: |u| <= sup */
    double share; /* largest norm of one record's share, step */
    double step;
    double *v; /* m, secret */
};
/* Half of how much the scores of these actions (U: m x n) can move against each other, everything counted. */
tacet_status tacet__contextual_score_bound(const tacet_contextual_chooser *chooser, double *out, const double *U,
                                           size_t n, tacet_error *err);
/* The same, with the supremum already certified (0: certify); and the choice with a known bound. */
tacet_status tacet__contextual_chooser_begin(tacet_contextual_chooser **out, const tacet_contextual_learner *learner,
                                             tacet_contextual_rule rule, double tau, double sup, tacet_error *err);
tacet_status tacet__contextual_choose_with(const tacet_contextual_chooser *chooser, tacet_release **out,
                                           const tacet_ask *ask, const double *U, size_t n, double bound,
                                           tacet_error *err);
tacet_status tacet__contextual_levers(const tacet_contextual_chooser *chooser, double *U, const double *context,
                                      const double *actions, size_t n, tacet_error *err);
double tacet__contextual_range_tau(const tacet_contextual_learner *learner, size_t rounds);

#endif
