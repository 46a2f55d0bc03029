/* SPDX-License-Identifier: Apache-2.0 */
/* law.h - the law of contexts from a noisy sum of their features. Ring: open. */
#ifndef TACET_SRC_CONTEXTUAL_OPEN_LAW_H
#define TACET_SRC_CONTEXTUAL_OPEN_LAW_H

#include "contextual/shared/internal.h"
#include "contextual/open/measure.h"

enum { TACET__CONTEXTUAL_SKETCH_MOST = 96, TACET__CONTEXTUAL_REPEATS_MOST = 1024 };

typedef struct tacet__contextual_law {
    size_t actions, contexts; /* nodes of the basis: all pairs, actions fastest */
    size_t a, d;              /* coordinates: of actions, of all */
    size_t classes;           /* 1: actions are drawn alike in all contexts; else one law of contexts for each action */
    size_t g;                 /* sketch numbers a class */
    tacet_features *sketch;   /* of contexts; NULL: there are none, and nothing to measure */
    size_t repeats;           /* inputs of the sketch: coordinates of contexts, repeated where they are in pairs */
    size_t from[TACET__CONTEXTUAL_REPEATS_MOST]; /* which coordinate each is */
    double *G;                                   /* g x contexts */
    double *even;                                /* contexts: weights of the nodes under the assumed law */
    double *share;                               /* actions: how often each is drawn, sums to 1 */
    tacet__measure *decoder;
    double *room; /* 2 contexts */
} tacet__contextual_law;

/* share: of the node actions, or NULL: as the basis has them. joint: one law for each action (where the sketch stays
 * below TACET__CONTEXTUAL_SKETCH_MOST numbers). */
tacet_status tacet__contextual_law_init(tacet__contextual_law *law, const tacet_contextual_basis *basis,
                                        const double *share, bool joint, tacet_error *err);
void tacet__contextual_law_clear(tacet__contextual_law *law);
/* Numbers of the sketch: g x classes; 0 without contexts. */
size_t tacet__contextual_law_size(const tacet__contextual_law *law);
/* g numbers: the features of one context (unit box), of norm at most 1. */
void tacet__contextual_law_features(const tacet__contextual_law *law, double *g, const double *context);
/* q (nodes, sums to 1) from the noisy sum V over n contexts; sd: of each number's noise. */
tacet_status tacet__contextual_law_decode(tacet__contextual_law *law, double *q, const double *V, double n, double sd,
                                          tacet_error *err);
/* Which share of the n records has a context at all: the noisy sum V misses those that are null. 1 where the noise
 * could explain what is missing. */
double tacet__contextual_law_mass(const tacet__contextual_law *law, const double *V, double n, double sd);
/* Other laws that could have looked the same: count of them, drawn about q. A function of its arguments. */
tacet_status tacet__contextual_law_redraw(tacet__contextual_law *law, double *laws, size_t count, const double *q,
                                          double n, double sd, tacet_error *err);

#endif
