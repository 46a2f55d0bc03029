/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c - the door to every algorithm: argument checks that all of them share, then the algorithm's own function.
 * Ring: pure. */
#include "core/numbers.h"
#include "core/policy_internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

struct tacet_policy {
    const tacet__policy_ops *ops;
    void *self;
};

tacet_status tacet__policy_wrap(tacet_policy **out, const tacet__policy_ops *ops, void *self, tacet_error *err) {
    *out = NULL;
    tacet_policy *policy = TACET__ZALLOC(tacet_policy, 1);
    if (policy == NULL) {
        /* In this order: the table may lie in self. */
        (void)tacet__fail(err, TACET_NO_MEMORY, "out of memory creating policy %s", ops->name);
        ops->free(self);
        return TACET_NO_MEMORY;
    }
    policy->ops = ops;
    policy->self = self;
    *out = policy;
    return TACET_OK;
}

void tacet_policy_free(tacet_policy *policy) {
    if (policy != NULL) {
        policy->ops->free(policy->self);
        free(policy);
    }
}

const char *tacet_policy_name(const tacet_policy *policy) {
    return policy->ops->name;
}

static tacet_status check_round(const tacet_round *round, tacet_error *err) {
    if (round->points == NULL) {
        if (round->count != 0) {
            return tacet__fail(err, TACET_INVALID, "a decision set of %zu points without coordinates", round->count);
        }
    } else {
        if (round->count == 0) {
            return tacet__fail(err, TACET_INVALID, "the decision set is empty");
        }
        if (round->d == 0 || round->ld < round->d) {
            return tacet__fail(err, TACET_INVALID,
                               "the decision set has no coordinates, or a leading dimension below them");
        }
        const tacet_status status =
            tacet__check_points(round->points, round->ld, round->d, round->count, "candidate", err);
        if (status != TACET_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < round->context_dim; i++) {
        if (round->context == NULL || !isfinite(round->context[i])) {
            return tacet__fail(err, TACET_INVALID, "coordinate %zu of the context is missing or not finite", i);
        }
    }
    return TACET_OK;
}

tacet_status tacet_policy_suggest(tacet_policy *policy, tacet_suggestion *out, const tacet_round *round,
                                  tacet_error *err) {
    const tacet_round fixed = {0};
    if (round == NULL) {
        round = &fixed;
    }
    TACET_OR_RETURN(check_round(round, err));
    return policy->ops->suggest(policy->self, out, round, err);
}

tacet_status tacet_policy_repeat(tacet_policy *policy, const tacet_suggestion *made, const tacet_round *round,
                                 tacet_error *err) {
    const tacet_round fixed = {0};
    tacet_suggestion again = {0};
    if (round == NULL) {
        round = &fixed;
    }
    TACET_OR_RETURN(check_round(round, err));
    if (policy->ops->repeat != NULL) {
        return policy->ops->repeat(policy->self, made, round, err);
    }
    tacet_status status = policy->ops->suggest(policy->self, &again, round, err);
    return status == TACET_OK && (again.ticket != made->ticket || again.index != made->index)
               ? tacet__fail(err, TACET_CORRUPT, "the policy does not suggest what was suggested")
               : status;
}

tacet_status tacet_policy_observe(tacet_policy *policy, uint64_t ticket, double value, tacet_error *err) {
    if (!isfinite(value)) {
        return tacet__fail(err, TACET_INVALID, "the value reported for ticket %llu is not finite",
                           (unsigned long long)ticket);
    }
    return policy->ops->observe(policy->self, ticket, value, err);
}

tacet_status tacet_policy_drop(tacet_policy *policy, uint64_t ticket, tacet_error *err) {
    return policy->ops->drop != NULL
               ? policy->ops->drop(policy->self, ticket, err)
               : tacet__fail(err, TACET_UNSUPPORTED, "policy %s has no tickets that can be dropped", policy->ops->name);
}

tacet_status tacet_policy_recommend(tacet_policy *policy, tacet_recommendation *out, tacet_error *err) {
    return policy->ops->recommend(policy->self, out, err);
}

void tacet_policy_guarantee(const tacet_policy *policy, tacet_guarantee *out) {
    policy->ops->guarantee(policy->self, out);
}

tacet_status tacet_policy_save(const tacet_policy *policy, tacet_blob *out, tacet_error *err) {
    return policy->ops->state != NULL ? tacet__state_save(out, policy->ops->name, policy->ops->state, policy->self, err)
                                      : tacet__fail(err, TACET_UNSUPPORTED, "policy %s is not kept", policy->ops->name);
}

tacet_status tacet_policy_load(tacet_policy *policy, const void *bytes, size_t size, tacet_error *err) {
    return policy->ops->state != NULL
               ? tacet__state_load(bytes, size, policy->ops->name, policy->ops->state, policy->self, err)
               : tacet__fail(err, TACET_UNSUPPORTED, "policy %s is not kept", policy->ops->name);
}

void tacet__policy_state(tacet_policy *policy, tacet__state *s) {
    policy->ops->state(policy->self, s);
}

size_t tacet__policy_learnt(const tacet_policy *policy) {
    return policy->ops->learnt != NULL ? policy->ops->learnt(policy->self) : 0;
}

void *tacet__policy_self(const tacet_policy *policy, const tacet__policy_ops *ops) {
    return policy->ops == ops ? policy->self : NULL;
}
