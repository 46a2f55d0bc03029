/* SPDX-License-Identifier: Apache-2.0 */
/* noise_law.h - tests of released noise that a bound on eps does not see. Ring: audit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

typedef struct tacet__law_claim {
    double variance; /* of a coordinate */
    double spread;   /* variance of |row|^2 / its mean^2: how well `variance` can be measured. 0: as
                        the rows have it */
} tacet__law_claim;

typedef struct tacet__law_report {
    double variance_ratio;
    size_t repeats;
    bool failed;
    char reason[160];
} tacet__law_report;

/* noise: rows x columns, row after row. Looks at the variance alone when there are fewer than 6 columns. NO_MEMORY. */
tacet_status tacet__law_test(tacet__law_report *out, const double *noise, size_t rows, size_t columns,
                             const tacet__law_claim *claim, tacet_error *err);
