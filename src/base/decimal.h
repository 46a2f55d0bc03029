/* decimal.h - numbers on a binary grid as decimal text that reads back exactly. Ring: base. */
#ifndef TACET_SRC_BASE_DECIMAL_H
#define TACET_SRC_BASE_DECIMAL_H

#include <stddef.h>

enum { TACET__DECIMAL_BYTES = 64 };

/* Writes `value`, a whole multiple of 2^grid_exponent, without a closing NUL, and returns how many bytes (at most
 * TACET__DECIMAL_BYTES). The text is the exact value where 36 fraction bits hold it, else 17 significant digits: either
 * way a correctly rounding reader gets the same double. */
size_t tacet__decimal(char *out, double value, int grid_exponent);

#endif
