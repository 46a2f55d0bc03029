/* release_mint.h - how a release comes into being. Included by src/base/release.c and src/gate/mint.h, and by nothing
 * else: tests/boundary checks it. Ring: base. */
#ifndef TACET_SRC_BASE_RELEASE_MINT_H
#define TACET_SRC_BASE_RELEASE_MINT_H

#include <tacet/base/release.h>

/* Copies everything. NO_MEMORY. */
tacet_status tacet__release_mint(tacet_release **out, const tacet_receipt *receipt, const double *values, size_t count,
                                 tacet_error *err);

#endif
