/* SPDX-License-Identifier: Apache-2.0 */
/* policy_internal.h - what an algorithm gives to be a policy. Ring: pure. */
#pragma once

#include "core/state.h"

#include <tacet/core/policy.h>

/* Implemented once per algorithm. `self` is the algorithm's own object. */
typedef struct tacet__policy_ops {
    const char *name; /* stable: written into saved states */
    tacet_status (*suggest)(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err);
    tacet_status (*observe)(void *self, uint64_t ticket, double value, tacet_error *err);
    tacet_status (*recommend)(void *self, tacet_recommendation *out, tacet_error *err);
    void (*guarantee)(const void *self, tacet_guarantee *out);
    /* Names all that it remembers, for saving and loading: core/state.h. NULL: it cannot be kept. */
    void (*state)(void *self, tacet__state *s);
    void (*free)(void *self);
    tacet_status (*drop)(void *self, uint64_t ticket, tacet_error *err); /* may be NULL */
    /* May be NULL: then a suggestion is repeated by making it again, and must come out the same. */
    tacet_status (*repeat)(void *self, const tacet_suggestion *made, const tacet_round *round, tacet_error *err);
    /* May be NULL. How often it learnt what takes long and a state keeps: worth saving whenever it has grown. */
    size_t (*learnt)(const void *self);
} tacet__policy_ops;

/* Takes ownership of self; on failure self is freed by ops->free. The table must live as long as self, and may be part
 * of it. */
tacet_status tacet__policy_wrap(tacet_policy **out, const tacet__policy_ops *ops, void *self, tacet_error *err);
/* The object the policy was wrapped around, when it is of the kind `ops`; NULL otherwise. */
void *tacet__policy_self(const tacet_policy *policy, const tacet__policy_ops *ops);
size_t tacet__policy_learnt(const tacet_policy *policy);
/* What it remembers, as part of what a policy around it does. */
void tacet__policy_state(tacet_policy *policy, tacet__state *s);
