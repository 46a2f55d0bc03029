/* SPDX-License-Identifier: Apache-2.0 */
/* again.h - a stream that starts over, for auditing. Ring: gate. */
#ifndef TACET_SRC_DP_STREAMS_AGAIN_H
#define TACET_SRC_DP_STREAMS_AGAIN_H

#include <tacet/dp/stream.h>

/* As freshly opened with the same settings and a new key from `noise`, without the cost of calibrating again: an audit
 * opens millions of streams. STATE for a stream that is private or stands in a ledger: those never start over. */
tacet_status tacet__stream_again(tacet_stream *stream, tacet_noise *noise, tacet_error *err);

#endif
