/* SPDX-License-Identifier: Apache-2.0 */
/* learn.h - records of actions, contexts and rewards, and the published algorithm's choice from them, with pure eps.
 *
 * The learner holds the raw records and wipes them when freed. tacet_contextual_choose: one action for one context,
 * each choice charged. For a model of a log see tacet/ab/trusted/log.h. Neighbours: one record's context and reward
 * become any others; its action, drawn uniformly by the caller without looking at either, stays. The number of records
 * and which stage a row is in are public. Space, lengthscales, beliefs and tau must not be fitted on the records.
 * Proofs: src/contextual/README.md. One thread at a time per object. */
#pragma once

#include <stddef.h>
#include "contextual/shared/basis.h"
#include "dp/mechanism.h"
#include <tacet/contextual/open/model.h>

typedef struct tacet_contextual_learner tacet_contextual_learner;

typedef struct tacet_contextual_settings {
    double reward_lower, reward_upper; /* public; rewards outside are clipped */
    double eps;                        /* of a choice */
} tacet_contextual_settings;

/* Rewards in [-1, 1], eps = 1. */
void tacet_contextual_settings_defaults(tacet_contextual_settings *settings);
/* The basis is borrowed and must outlive the learner. INVALID names the rule: a range or eps. NO_MEMORY. */
tacet_status tacet_contextual_learner_create(tacet_contextual_learner **out, const tacet_contextual_basis *basis,
                                             const tacet_contextual_settings *settings, tacet_error *err);
void tacet_contextual_learner_free(tacet_contextual_learner *learner); /* wipes; NULL is allowed */
/* One record: w is the action, then the context. Total in what is private, so that no outcome tells of it: a context
 * outside the bounds becomes the nearest point within, a NaN the middle; so do rewards. INVALID: an action (public)
 * outside its bounds, NaN included; 2^22 records are there already. NO_MEMORY. */
tacet_status tacet_contextual_learner_add(tacet_contextual_learner *learner, const double *w, double reward,
                                          tacet_error *err);

typedef struct tacet_contextual_chooser tacet_contextual_chooser;

/* Sums the records once. tau = 0: 1. Keeps secret statistics: wiped on free; the basis must outlive it, the learner
 * need not. eps is that of ONE choice. INVALID, STATE (no records), NO_MEMORY. */
tacet_status tacet_contextual_chooser_create(tacet_contextual_chooser **out, const tacet_contextual_learner *learner,
                                             double tau, tacet_error *err);
void tacet_contextual_chooser_free(tacet_contextual_chooser *chooser); /* NULL is allowed */
/* The release holds one number: which of the n public actions (action_dim x n), by the exponential mechanism with
 * exponent eps mu/(2 * 2 B sup sigma^2), the supremum certified. INVALID: n < 2, or a context or action outside the
 * bounds. */
TACET_MUST_CHECK tacet_status tacet_contextual_choose(const tacet_contextual_chooser *chooser, tacet_release **out,
                                                      const tacet_ask *ask, const double *context,
                                                      const double *actions, size_t n, tacet_error *err);
