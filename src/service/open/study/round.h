/* SPDX-License-Identifier: Apache-2.0 */
/* round.h - a round's decision set and context as the bytes kept in the log. Ring: open. Private bytes in a central
 * study. */
#pragma once

#include <tacet/core/blob.h>
#include <tacet/core/policy.h>

typedef struct tacet__round {
    double *numbers; /* owned: the points, then the context; NULL: neither */
    tacet_round round;
} tacet__round;

/* *out must be empty. */
tacet_status tacet__round_encode(tacet_blob *out, const tacet_round *round, tacet_error *err);
/* No bytes: neither of them. CORRUPT. *out is cleared on failure. */
tacet_status tacet__round_decode(tacet__round *out, const void *bytes, size_t size, tacet_error *err);
void tacet__round_clear(tacet__round *round); /* wipes */
