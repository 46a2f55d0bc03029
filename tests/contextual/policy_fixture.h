/* SPDX-License-Identifier: Apache-2.0 */
/* policy_fixture.h - nine actions, a context in [10, 12], and a policy that learns which suits which. */
#ifndef TACET_TESTS_CONTEXTUAL_POLICY_FIXTURE_H
#define TACET_TESTS_CONTEXTUAL_POLICY_FIXTURE_H

#include "support/test.h"

#include <tacet/core/simrng.h>
#include <tacet/contextual/trusted/policy.h>

enum { ACTIONS = 9 };

typedef struct world {
    tacet_noise *noise;
    tacet_ledger *ledger;
    size_t rounds, learn, late;
    size_t actions;
    double eps;
    const char *ticket;
    tacet_contextual_design design;
    double lower[2], upper[2];
} world;

static inline void world_init(world *w, size_t rounds, size_t learn) {
    *w = (world){.rounds = rounds,
                 .learn = learn,
                 .actions = ACTIONS,
                 .eps = 1,
                 .ticket = "online",
                 .design = TACET_CONTEXTUAL_SOBOL,
                 .lower = {0, 10},
                 .upper = {4, 12}};
}

static inline tacet_status make(const world *w, tacet_policy **out, tacet_error *err) {
    tacet_contextual_space space;
    tacet_contextual_policy_settings settings;
    double list[200];
    const double lengthscales[2] = {1.6, 0.8};
    tacet_contextual_space_defaults(&space);
    space.lower = w->lower;
    space.upper = w->upper;
    space.lengthscales = lengthscales;
    space.lengthscale_count = 2;
    space.order = 8;
    tacet_contextual_policy_settings_defaults(&settings);
    settings.rounds = w->rounds;
    settings.learn = w->learn;
    settings.design = w->design;
    settings.learner.eps = w->eps;
    settings.learner.method = TACET_CONTEXTUAL_STAGED;
    settings.learner.features_most = 6;
    for (size_t i = 0; i < w->actions; i++) {
        list[i] = w->lower[0] + (w->upper[0] - w->lower[0]) * (double)i / (double)(w->actions - 1);
    }
    const tacet_ask ask = {
        .ledger = w->ledger, .noise = w->noise, .ticket = w->ticket, .what = "model", .to_whom = "anyone"};
    return tacet_contextual_policy_create(out, &space, list, w->actions, &settings, &ask, err);
}

static inline double f(double x, double c) {
    return 0.8 - 0.3 * (x - 2 * (c - 10)) * (x - 2 * (c - 10));
}

static inline double context_of(size_t k) {
    tacet_simrng rng = test_rng(71, k);
    return 10 + 2 * tacet_simrng_uniform(&rng);
}

static inline void open_ledger(world *w, const char *folder, double eps) {
    char path[512];
    tacet_ledger_settings budget;
    (void)snprintf(path, sizeof path, "%s/ledger", folder);
    tacet_ledger_settings_defaults(&budget);
    budget.eps = eps;
    budget.delta = 0;
    budget.accounting = TACET_ACCOUNTING_BASIC;
    budget.create = true;
    assert_ok(tacet_ledger_open(&w->ledger, path, &budget, NULL));
}

static inline size_t suggest_at(tacet_policy *policy, double context) {
    const tacet_round round = {.context = &context, .context_dim = 1};
    tacet_suggestion s = {0};
    assert_ok(tacet_policy_suggest(policy, &s, &round, NULL));
    return s.index;
}

/* Rounds 1 … T; those of `skip` (0: none) are not reported; the reports of the first `late` come last. */
static inline tacet_policy *learnt(const world *w, size_t T, size_t skip, size_t late) {
    tacet_policy *policy = NULL;
    assert_ok(make(w, &policy, NULL));
    for (size_t t = 0; t < T; t++) {
        (void)suggest_at(policy, context_of(t));
    }
    for (size_t i = 0; i < T; i++) {
        const size_t t = (i + late) % T;
        if (t + 1 != skip) {
            assert_ok(tacet_policy_observe(policy, t + 1, 0.5, NULL));
        }
    }
    return policy;
}

#endif
