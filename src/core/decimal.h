/* SPDX-License-Identifier: Apache-2.0 */
/* decimal.h - numbers on a binary or decimal grid as decimal text that reads back exactly. Ring: pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { TACET__DECIMAL_BYTES = 64 };

/* Writes `value`, a whole multiple of 2^grid_exponent, without a closing NUL, and returns how many bytes (at most
 * TACET__DECIMAL_BYTES). The text is the exact value where 36 fraction bits hold it, else 17 significant digits: either
 * way a correctly rounding reader gets the same double. */
size_t tacet__decimal(char *out, double value, int grid_exponent);

/* Writes steps / 10^decimals, 0 <= decimals <= 7, with all its decimals, and returns how many bytes (at most
 * TACET__FIXED_BYTES). Up to TACET__FIXED_SLACK bytes more may be overwritten. */
enum { TACET__FIXED_BYTES = 22, TACET__FIXED_SLACK = 10, TACET__FIXED_DECIMALS = 7 };
size_t tacet__decimal_fixed(char *out, int64_t steps, unsigned decimals);

/* Writes `count` values, a comma before each, rounded to 0 <= decimals <= 7 decimals, ties to even; those of 2^51 steps
 * or more have 17 digits. Returns how many bytes: at most TACET__DECIMAL_BYTES + 1 each. TACET__FIXED_SLACK as above.
 */
size_t tacet__decimal_list(char *out, const double *values, size_t count, unsigned decimals);
