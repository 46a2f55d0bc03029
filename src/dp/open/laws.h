/* SPDX-License-Identifier: Apache-2.0 */
/* laws.h - the laws by name, for the constants that refer to them. Ring: open. */
#pragma once

#include <tacet/dp/open/law.h>

extern const tacet_law tacet__law_gaussian, tacet__law_laplace, tacet__law_knorm, tacet__law_l2,
    tacet__law_permute_and_flip, tacet__law_exponential;

/* How many calibrations of l2 noise were worked out in this process, and not remembered. Any thread. */
size_t tacet__l2_searches(void);
