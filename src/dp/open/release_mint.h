/* SPDX-License-Identifier: Apache-2.0 */
/* release_mint.h - how a release comes into being. Included by src/dp/open/release.c and src/dp/mint.h, and by nothing
 * else: tests/boundary checks it. Ring: shared. */
#pragma once

#include <tacet/dp/open/release.h>

/* Copies everything. NO_MEMORY. */
tacet_status tacet__release_mint(tacet_release **out, const tacet_receipt *receipt, const double *values, size_t count,
                                 tacet_error *err);
