/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_anchor.h - a small file beside a ledger that remembers how far it had come. Ring: shared. */
#pragma once

#include <tacet/core/status.h>

#include "dp/open/entry.h"

#include <stdint.h>

/* Opens the file or makes an empty one; what it has seen into records (0: it is new) and head. *anchor is a descriptor
 * to close, also on failure, unless it is -1. */
tacet_status tacet__anchor_open(int *anchor, uint64_t *records, unsigned char head[TACET_HASH_BYTES], const char *path,
                                tacet_error *err);
tacet_status tacet__anchor_write(int anchor, uint64_t records, const unsigned char head[TACET_HASH_BYTES],
                                 tacet_error *err);
