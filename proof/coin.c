/* SPDX-License-Identifier: Apache-2.0 */
/* coin.c - WP: contracts of the coins, for every word, n, p and q. */
#include "widths.h"
#include "noise.h"

#include "dp/noise/sampler_coin.c"
