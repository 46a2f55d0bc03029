/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h - every policy that `tacet server` serves: the local ones, and those of the central and contextual models.
 * Ring: trusted. */
#pragma once

#include "service/open/study/policies.h"

extern const tacet__policy_kind tacet__kind_central, tacet__kind_fixed, tacet__kind_contextual, tacet__kind_ab;
/* All of them, ended by NULL. */
extern const tacet__policy_kind *const tacet__service_kinds[];
