/* SPDX-License-Identifier: Apache-2.0 */
/* mark.c - one history per stream: each step is entered in the ledger before its release leaves.
 * Ring: gate. Source: none; src/dp/streams/README.md, section 5, has the argument. A mark is a keyed hash of all
 * vectors up to a step, and of the sums C x of them that the noise is added to: who knows the key makes the same mark
 * from the same history and no other, to anyone else it is noise. No draw is in it: it is entered before the draw.
 * Cost: a hash of dim numbers a step, a durable write a release. */
#include "dp/streams/internal.h"

#include "core/fail.h"

#include <sodium.h>
#include <string.h>

void tacet__stream_mark(tacet_stream *stream) {
    crypto_generichash_state state;
    const uint64_t step = stream->steps;
    (void)crypto_generichash_init(&state, stream->key, sizeof stream->key, TACET_HASH_BYTES);
    (void)crypto_generichash_update(&state, stream->last.hash, TACET_HASH_BYTES);
    (void)crypto_generichash_update(&state, stream->chain, sizeof stream->chain);
    (void)crypto_generichash_update(&state, (const unsigned char *)&step, sizeof step);
    (void)crypto_generichash_update(&state, (const unsigned char *)stream->exact, stream->dim * sizeof *stream->exact);
    (void)crypto_generichash_final(&state, stream->last.hash, TACET_HASH_BYTES);
    sodium_memzero(&state, sizeof state);
    stream->last.step = step;
    stream->recent[step % TACET__STREAM_RECENT] = stream->last;
    stream->is_entered = false;
}

size_t tacet__stream_recent(const tacet_stream *stream) {
    const size_t since = stream->steps - (size_t)stream->entered.step;
    return since < TACET__STREAM_RECENT ? since : TACET__STREAM_RECENT;
}

tacet_status tacet__stream_enter(tacet_stream *stream, tacet_error *err) {
    tacet_mark marks[1 + TACET__STREAM_RECENT];
    size_t count = 0;
    if (stream->is_entered) {
        return TACET_OK;
    }
    if (stream->entered.step < stream->steps) {
        marks[count++] = stream->entered;
    }
    for (size_t left = tacet__stream_recent(stream); left > 1; left--) {
        marks[count++] = stream->recent[(stream->steps - (left - 1)) % TACET__STREAM_RECENT];
    }
    marks[count++] = stream->last;
    const tacet_status s = tacet_ledger_step(stream->ledger, &stream->entry, marks, count, err);
    if (s == TACET_OK) {
        stream->entered = stream->last;
        stream->is_entered = true;
    }
    return s;
}

static bool same(const tacet_mark *a, const tacet_mark *b) {
    return a->step == b->step && sodium_memcmp(a->hash, b->hash, TACET_HASH_BYTES) == 0;
}

tacet_status tacet__stream_agree(const tacet_stream *stream, const tacet_mark *newest, bool older_too,
                                 tacet_error *err) {
    if (newest->step > stream->steps) {
        return older_too ? TACET_OK
                         : tacet__fail(err, TACET_CONFLICT,
                                       "the state is older than what was released: it has %zu steps, step %llu has "
                                       "left; go on from the newest state",
                                       stream->steps, (unsigned long long)newest->step);
    }
    bool agrees = same(newest, &stream->entered); /* also where both are none */
    for (size_t left = tacet__stream_recent(stream); left > 0; left--) {
        agrees = agrees || same(newest, &stream->recent[(stream->steps - (left - 1)) % TACET__STREAM_RECENT]);
    }
    return agrees ? TACET_OK
                  : tacet__fail(err, TACET_CONFLICT,
                                "the newest release of the ledger, step %llu, is not of this state's history",
                                (unsigned long long)newest->step);
}
