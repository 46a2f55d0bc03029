/* SPDX-License-Identifier: Apache-2.0 */
/* conformance.h - what any tacet_policy must do, whatever its algorithm; one description per policy, one call.
 *
 * Checked: tickets are 1, 2, 3, …; a state saved at any point, before or after a suggestion, loads into a fresh and
 * into a used policy and continues bit for bit; the order in which open tickets are reported does not matter (where
 * claimed); values that are not finite, unknown and repeated tickets, rounds of the wrong shape and saved states that
 * are damaged, cut, forged or foreign are refused with the documented status and leave the saved state byte for byte as
 * it was; the guarantee is filled in and consistent; the n-th failing allocation of create, suggest, observe, save and
 * load gives NO_MEMORY and changes nothing; suggest and observe do not allocate unless declared.
 *
 * Usage: tests/<ring>/test_<policy>.c: `test_policy_conformance(&problem)` in a cmocka test. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/policy.h>

typedef struct conformance_problem {
    /* A fresh policy, always of the same problem. Must report NO_MEMORY and free all when an allocation fails. */
    tacet_status (*create)(void *user, tacet_policy **out, tacet_error *err);
    /* A policy of the same kind but of another problem, whose saved state must be refused; NULL: there is none. */
    tacet_status (*create_foreign)(void *user, tacet_policy **out, tacet_error *err);
    /* The k-th round; what it points to must live until the next call. NULL: the policy has a fixed domain. */
    void (*round)(void *user, size_t k, tacet_round *out);
    /* What is reported for the k-th suggestion: a function of its arguments alone. */
    double (*value)(void *user, size_t k, const tacet_suggestion *suggestion);
    void *user;
    size_t rounds;       /* how many are played; at least 6, and the policy must allow as many */
    bool one_at_a_time;  /* a second suggestion before the first is reported is refused with STATE */
    bool any_order;      /* open tickets may be reported in any order: what follows is the same … */
    double tolerance;    /* … indices always, scores and means within this (relative to 1 + |x|); 0: the same bits */
    bool may_allocate;   /* suggest and observe may allocate */
    bool has_impossible; /* `impossible` is finite but no possible report: INVALID */
    double impossible;
} conformance_problem;

/* NULL when everything holds; otherwise what does not (static storage, until the next call). */
const char *conformance_check(const conformance_problem *problem);

/* The same, failing the running cmocka test with the message. */
#define test_policy_conformance(problem) test_policy_conformance_at((problem), __FILE__, __LINE__)
void test_policy_conformance_at(const conformance_problem *problem, const char *file, int line);
