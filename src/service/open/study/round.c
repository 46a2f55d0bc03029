/* SPDX-License-Identifier: Apache-2.0 */
/* round.c - decision sets and contexts by the codec of saved states. Ring: open. Cost: O(numbers). */
#include "service/open/study/round.h"

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"

#include <sodium.h>
#include <stdlib.h>

enum { VERSION = 1, MOST = 1 << 21 };
static const char NAME[] = "round";

tacet_status tacet__round_encode(tacet_blob *out, const tacet_round *round, tacet_error *err) {
    tacet__writer w;
    tacet__write_begin(&w, out, NAME, VERSION);
    tacet__write_size(&w, round->d);
    tacet__write_size(&w, round->count);
    tacet__write_size(&w, round->context_dim);
    for (size_t i = 0; i < round->count; i++) {
        tacet__write_f64s(&w, round->points + i * round->ld, round->d);
    }
    tacet__write_f64s(&w, round->context, round->context_dim);
    return tacet__write_end(&w, err);
}

tacet_status tacet__round_decode(tacet__round *out, const void *bytes, size_t size, tacet_error *err) {
    tacet__reader r;
    *out = (tacet__round){0};
    if (size == 0) {
        return TACET_OK;
    }
    TACET_OR_RETURN(tacet__read_begin(&r, bytes, size, NAME, VERSION, err));
    const size_t d = tacet__read_size(&r, MOST);
    const size_t count = tacet__read_size(&r, MOST);
    const size_t context_dim = tacet__read_size(&r, MOST);
    const size_t all = d * count + context_dim; /* each is at most 2^21 */
    if (r.failed || (d == 0) != (count == 0) || all == 0 || all > size / sizeof(double)) {
        return tacet__fail(err, TACET_CORRUPT, "a stored round has an impossible size");
    }
    out->numbers = TACET__ZALLOC(double, all);
    if (out->numbers == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a round");
    }
    out->round = (tacet_round){.points = count > 0 ? out->numbers : NULL,
                               .ld = d,
                               .d = d,
                               .count = count,
                               .context = context_dim > 0 ? out->numbers + d * count : NULL,
                               .context_dim = context_dim};
    tacet__read_f64s(&r, out->numbers, all);
    tacet_status status = tacet__read_end(&r, err);
    if (status != TACET_OK) {
        tacet__round_clear(out);
    }
    return status;
}

void tacet__round_clear(tacet__round *round) {
    if (round->numbers != NULL) {
        sodium_memzero(round->numbers,
                       (round->round.d * round->round.count + round->round.context_dim) * sizeof(double));
        free(round->numbers);
    }
    *round = (tacet__round){0};
}
