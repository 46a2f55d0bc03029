/* SPDX-License-Identifier: Apache-2.0 */
/* direct_internal.h - what was released of a round, for audits and tests. Ring: trusted. */
#pragma once

#include "central/trusted/direct.h"

/* Mapped to [0, 1] before the noise. NaN: nothing yet. */
double tacet__direct_released(const tacet_policy *policy, uint64_t ticket);
