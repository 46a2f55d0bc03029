/* SPDX-License-Identifier: Apache-2.0 */
/* again.c - a stream that starts over, for auditing.
 * Ring: gate. Only for streams whose releases claim nothing (seeded, outside any ledger). */
#include "dp/streams/again.h"

#include "core/fail.h"
#include "dp/noise/sampler.h"
#include "dp/streams/internal.h"

#include <string.h>

tacet_status tacet__stream_again(tacet_stream *stream, tacet_noise *noise, tacet_error *err) {
    if (stream->is_private || stream->ledger != NULL || stream->segment != 0) {
        return tacet__fail(err, TACET_STATE, "a stream that was charged never starts over");
    }
    const size_t bytes = stream->dim * sizeof(double);
    memset(stream->held, 0, stream->slots * bytes);
    memset(stream->out.noisy, 0, stream->slots * bytes);
    memset(stream->out.sum, 0, bytes);
    memset(stream->out.estimate, 0, bytes);
    memset(stream->out.offset, 0, bytes);
    memset(stream->chain, 0, sizeof stream->chain);
    stream->out.offset_var = 0;
    stream->out.taken = 0;
    stream->waiting = 0;
    stream->steps = 0;
    stream->taken = 0;
    stream->saved = false;
    for (size_t i = 0; i < sizeof stream->key; i += sizeof(uint64_t)) {
        const uint64_t word = tacet__noise_u64(noise);
        memcpy(stream->key + i, &word, sizeof word);
    }
    return TACET_OK;
}
