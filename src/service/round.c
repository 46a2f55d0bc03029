/* round.c - decision sets by the codec of saved states. Ring: service. Cost: O(numbers). */
#include "service/round.h"

#include "base/codec.h"
#include "base/fail.h"
#include "base/memory.h"

#include <sodium.h>
#include <stdlib.h>

enum { VERSION = 1, MOST = 1 << 21 };
static const char NAME[] = "round";

tacet_status tacet__round_encode(tacet_blob *out, const tacet_round *round, tacet_error *err) {
    tacet__writer w;
    tacet__write_begin(&w, out, NAME, VERSION);
    tacet__write_size(&w, round->d);
    tacet__write_size(&w, round->count);
    for (size_t i = 0; i < round->count; i++) {
        tacet__write_f64s(&w, round->points + i * round->ld, round->d);
    }
    return tacet__write_end(&w, err);
}

tacet_status tacet__round_decode(tacet__round *out, const void *bytes, size_t size, tacet_error *err) {
    tacet__reader r;
    *out = (tacet__round){0};
    if (size == 0) {
        return TACET_OK;
    }
    tacet_status status = tacet__read_begin(&r, bytes, size, NAME, VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    const size_t d = tacet__read_size(&r, MOST);
    const size_t count = tacet__read_size(&r, MOST);
    if (r.failed || d == 0 || count == 0 || count > size / sizeof(double) / d) {
        return tacet__fail(err, TACET_CORRUPT, "a stored decision set has an impossible size");
    }
    out->points = TACET__ZALLOC(double, d *count);
    if (out->points == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a decision set");
    }
    out->round = (tacet_round){.points = out->points, .ld = d, .d = d, .count = count};
    tacet__read_f64s(&r, out->points, d * count);
    status = tacet__read_end(&r, err);
    if (status != TACET_OK) {
        tacet__round_clear(out);
    }
    return status;
}

void tacet__round_clear(tacet__round *round) {
    if (round->points != NULL) {
        sodium_memzero(round->points, round->round.d * round->round.count * sizeof(double));
        free(round->points);
    }
    *round = (tacet__round){0};
}
