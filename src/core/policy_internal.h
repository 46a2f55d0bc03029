/* SPDX-License-Identifier: Apache-2.0 */
/* policy_internal.h - an algorithm's own door to the object behind its policy. Ring: pure. */
#ifndef TACET_SRC_CORE_POLICY_INTERNAL_H
#define TACET_SRC_CORE_POLICY_INTERNAL_H

#include <tacet/core/policy.h>

/* The object the policy was wrapped around, when it is of the kind `ops`; NULL otherwise. */
void *tacet__policy_self(const tacet_policy *policy, const tacet_policy_ops *ops);

#endif
