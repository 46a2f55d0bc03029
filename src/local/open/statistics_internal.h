/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_internal.h - the inside of a statistics model, shared with its policy. Ring: open. */
#pragma once

#include "core/policy_internal.h"
#include "local/open/statistics.h"

#include <tacet/local/open/statistics_model.h>

enum { TACET__STATISTICS_KERNEL = 16 };

struct tacet_statistics_model {
    char kernel_name[TACET__STATISTICS_KERNEL];
    tacet_statistics_spec spec; /* its arrays are `numbers` and `levels`, its kernel kernel_name */
    double *numbers;            /* lower, upper, lengthscales */
    size_t *levels;
    tacet_features *features;
    tacet_central_map *map;
    tacet_sphere sphere;
    tacet_local_statistics *sums;
    double *estimate; /* 2r, and 2r + 1 of work */
};

/* statistics.c: sums, count and model, of a size that does not depend on the number of reports. */
#define TACET__LOCAL_STATISTICS_NAME "local-statistics"
void tacet__local_statistics_state(void *server, tacet__state *s);
