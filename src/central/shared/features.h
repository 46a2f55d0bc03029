/* SPDX-License-Identifier: Apache-2.0 */
/* features.h - the features of a box for the central map. Ring: shared. */
#pragma once

#include "gp/features.h"

/* The leading `most` (0: all). Errors of tacet_features_create_mercer. */
tacet_status tacet__central_features(tacet_features **out, const tacet_kernel *kernel, const tacet_domain *domain,
                                     size_t most, tacet_error *err);
