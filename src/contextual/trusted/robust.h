/* SPDX-License-Identifier: Apache-2.0 */
/* robust.h - the inside of an epoch's release, between its files. Ring: trusted. */
#ifndef TACET_SRC_CONTEXTUAL_TRUSTED_ROBUST_H
#define TACET_SRC_CONTEXTUAL_TRUSTED_ROBUST_H

#include "contextual/shared/belief.h"
#include "contextual/open/law.h"
#include "contextual/trusted/parts.h"

#include <tacet/tally/trusted/tally.h>

enum { TACET__ROBUST_LAWS = 8, TACET__ROBUST_TILE = 32 };
#define TACET__ROBUST_PROOF "src/contextual/README.md, parts"

typedef struct tacet__robust {
    const tacet_contextual_learner *learner;
    tacet__parts parts;
    tacet__contextual_law law;
    double *q;     /* N: the law of records */
    double *even;  /* N: even actions in the contexts of that law, which errors count by */
    double *reach; /* N: room */
    double *laws;  /* N x TACET__ROBUST_LAWS other laws; NULL: it was stated */
    tacet__belief belief;
    tacet__belief_form form;
    double *A; /* N x M: features as sums of kernel functions */
    tacet__contextual_view view;
    double unit_sd;
    bool grows;
    double scale; /* of a reward about the middle */
    double cut;   /* what clipping may have cut off the function, at most by what was measured */
} tacet__robust;

/* A record of a part, with its features under the model so far (M numbers). */
typedef void (*tacet__robust_visitor)(void *user, const double *record, const double *phi);
/* All records of a part, in their order. NO_MEMORY. */
tacet_status tacet__robust_visit(const tacet__robust *r, size_t part, tacet__robust_visitor visit, void *user,
                                 tacet_error *err);
/* A round that was not reported: it is in its part, which stays as large, and adds nothing. Its propensity is -1. */
bool tacet__robust_null(const tacet__robust *r, const double *record);
/* The model so far at a record's features, within the range, about the middle. */
double tacet__robust_mean(const tacet__robust *r, const double *phi);

/* Which action of the nodes a record has: the nearest. */
size_t tacet__robust_action(const tacet_contextual_basis *basis, const double *record);

/* Sums whose terms are whole numbers of steps: exact, in any order. */
enum { TACET__ROBUST_STEP_BITS = 30 };
double tacet__robust_step(double limit);
/* The empty tally of a release that is called so. NO_MEMORY. */
tacet_status tacet__robust_tally(tacet_tally **out, const char *name, size_t numbers, tacet_error *err);
/* A share of norm at most `limit`, in whole steps, to the m numbers from `first` on; what is not finite adds nothing.
 */
void tacet__robust_add(tacet_tally *tally, size_t first, const double *share, size_t m, double factor, double step);
/* The sums, as numbers. */
void tacet__robust_sums(const tacet_tally *tally, double *out, size_t m, double step);
/* Norm of what one record adds, with rounding: computed norms are good to 1e-12, coordinates to half a step. */
double tacet__robust_share(double limit, size_t m);

/* Believed is never less noise than that of this eps: what the model leaves out (contexts between nodes, say) is then
 * larger, and a belief in less is sure of what is wrong. What is drawn is the noise of eps. */
#define TACET__ROBUST_TRUSTED_EPS 30.0
/* How large the residuals of a part are, by a quantile; and the mean of what lies beyond `bound`, with its noise's
 * scale. */
tacet_status tacet__robust_quantile_scale(tacet__robust *r, double *scale, size_t part, const char *name,
                                          tacet_error *err);
tacet_status tacet__robust_excess(tacet__robust *r, double *excess, double *noise, size_t part, const char *name,
                                  double bound, tacet_error *err);
/* V (tacet__contextual_law_size): the released sum of the features of contexts of the part of the law. */
tacet_status tacet__robust_sketch(tacet__robust *r, double *V, double *sd, tacet_error *err);
/* The basis' features, turned so that E phi phi' is diagonal under the law of errors, the leading ones first: belief
 * (with a prior of mean square 1), A and view. */
tacet_status tacet__robust_adapt(tacet__robust *r, tacet_error *err);
/* Stage j: 0 learns from rewards, later ones from residuals of the model so far. */
tacet_status tacet__robust_learn(tacet__robust *r, size_t j, const tacet__belief_scaling *scaling, tacet_error *err);
tacet_status tacet__robust_noise(tacet__robust *r, tacet_error *err);
void tacet__robust_clear(tacet__robust *r);

#endif
