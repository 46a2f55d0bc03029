/* SPDX-License-Identifier: Apache-2.0 */
/* policy_fixture.h - nine actions, a context in [10, 12], and a policy that learns which suits which. */
#ifndef TACET_TESTS_CONTEXTUAL_POLICY_FIXTURE_H
#define TACET_TESTS_CONTEXTUAL_POLICY_FIXTURE_H

#include "support/test.h"

#include <tacet/core/simrng.h>
#include "contextual/trusted/epochs.h"

enum { ACTIONS = 9 };

typedef struct world {
    tacet_noise *noise;
    tacet_ledger *ledger;
    size_t rounds, first, late;
    double eps;
    const char *ticket;
    double lower[2], upper[2];
} world;

static inline void world_init(world *w, size_t rounds, size_t first) {
    *w = (world){.rounds = rounds, .first = first, .eps = 1, .ticket = "online", .lower = {0, 10}, .upper = {4, 12}};
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

#endif
