/* SPDX-License-Identifier: Apache-2.0 */
/* random_rows.h - where the best of some random rows lies, exactly, from the values of all. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

typedef struct random_rows {
    double mean;
    double low, median, high; /* the middle 90 %, from worse to better */
} random_rows;

/* The best of `queries` of n rows, drawn without repeats. INVALID: none, or more than there are. NO_MEMORY. */
tacet_status random_rows_best(random_rows *out, const double *values, size_t n, size_t queries, bool minimize,
                              tacet_error *err);
