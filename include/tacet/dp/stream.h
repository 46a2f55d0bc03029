/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - sums over a stream of private vectors, released after every step, charged once.
 *
 * After step t the release estimates x_1 + … + x_t. One record is one vector x_t (or less); the whole stream of at most
 * `most` vectors is one Gaussian mechanism, and stays one when later vectors depend on earlier releases.
 * Three factorisations, one interface: the binary tree (O(log) memory), the Toeplitz square root (keeps every vector),
 * and buffered linear Toeplitz, a few exponential buffers fitted to `most` (O(buffers) memory).
 *
 * Restarts. The noise of step t is a function of a secret key and of t, so a state that was saved and loaded gives the
 * same releases again, bit for bit: there is nothing to redraw. What must not happen is that a release leaves and its
 * x_t is then forgotten, and replaced by another. So:
 *     tacet_stream_step     takes x_t in; draws nothing
 *     tacet_stream_save     gives the state to be stored durably (it holds private data and the key)
 *     tacet_stream_release  enters t in the ledger, draws, gives the release of t; STATE unless the step was saved
 * A crash after the save: load, and release t again. A crash before it: x_t was never used, step again.
 * One history. Each release is entered in the ledger, durably, before it is drawn: its step, and a keyed hash of all
 * vectors up to it. Made again from the same vectors it is the same, bit for bit, and may leave again; a
 * step that has left is never released from other vectors, whatever copies of old states there are (CONFLICT). So old
 * states are good for replaying a log of what was stepped (tacet_stream_replay), and for nothing else.
 * Not thread-safe. Proofs: src/dp/streams/README.md. */
#ifndef TACET_DP_STREAM_H
#define TACET_DP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/blob.h>
#include <tacet/dp/open/release.h>
#include <tacet/dp/bound.h>
#include <tacet/dp/mechanism.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tacet_factorization {
    TACET_FACTORIZATION_TREE = 1,
    TACET_FACTORIZATION_TOEPLITZ = 2,
    TACET_FACTORIZATION_BLT = 3
} tacet_factorization;

/* "tree", "toeplitz", "blt"; "?" for anything else. */
TACET_API const char *tacet_factorization_name(tacet_factorization factorization);
/* INVALID names the choices. */
TACET_API tacet_status tacet_factorization_parse(tacet_factorization *out, const char *name, tacet_error *err);

/* What a factorisation costs for `most` steps, without data: per unit of sensitivity and mu = 1, the noise of the
 * prefix sum of step t has standard deviation `sensitivity * sd[t-1]`; sd may be NULL or has room for `most` numbers.
 * INVALID: most = 0 or above 2^24. */
typedef struct tacet_stream_cost {
    double sensitivity; /* largest L2 norm of a column: how far one unit vector moves everything released */
    double max_sd;      /* sensitivity times the largest sd */
    double rms_sd;      /* … times the root of the mean of their squares */
    size_t buffers;     /* of blt; 0 otherwise */
} tacet_stream_cost;
TACET_API tacet_status tacet_stream_plan(tacet_stream_cost *out, double *sd, tacet_factorization factorization,
                                         size_t most, tacet_error *err);

typedef struct tacet_stream_settings {
    tacet_factorization factorization; /* default BLT */
    size_t most;                       /* vectors; no default. With doubling: of the first segment */
    bool doubling; /* default false. true: when a segment is full the next one begins, twice as long. Each record is in
                      one segment, so the charge is the same; the errors of the segments add up */
    double eps, delta;           /* of the whole stream; no defaults */
    tacet_neighbours neighbours; /* of x_t; default REPLACE */
} tacet_stream_settings;

typedef struct tacet_stream tacet_stream;

TACET_API void tacet_stream_settings_defaults(tacet_stream_settings *settings);
/* Charges the ledger once, under ask->ticket, for the whole stream. A ticket that was answered before is a stream that
 * was released from: CONFLICT, load its state instead. The key is the reservation's, or, where the noise is
 * seeded, of the source: a stream that was opened and lost before it was saved is opened again, the same. The bound
 * must outlive the stream. Without a ledger only with a seeded noise source. INVALID, NO_MEMORY, and the ledger's
 * errors. */
TACET_API TACET_MUST_CHECK tacet_status tacet_stream_open(tacet_stream **out, const tacet_stream_settings *settings,
                                                          const tacet_bound *bound, const tacet_ask *ask,
                                                          tacet_error *err);
TACET_API void tacet_stream_close(tacet_stream *stream); /* wipes; NULL is allowed */
/* x_t. STATE: the stream is full. INVALID: another bound. No allocation, except where a segment doubles and where steps
 * follow each other without a release, which wait for one: NO_MEMORY, the stream keeps its state. */
TACET_API TACET_MUST_CHECK tacet_status tacet_stream_step(tacet_stream *stream, const tacet_bounded *x,
                                                          tacet_error *err);
/* *out must be empty. The bytes are private. */
TACET_API TACET_MUST_CHECK tacet_status tacet_stream_save(tacet_stream *stream, tacet_blob *out, tacet_error *err);
/* From saved bytes; the settings are in them. The bound must be like the one the stream was opened with. ask is what it
 * was opened with, ledger, ticket and texts; nothing is charged, ask->noise is not used. INVALID: another bound; no
 * ledger where there was one. NOT_FOUND: the ledger does not know the ticket. CONFLICT: the ledger charged something
 * else under this ticket; it knows another stream of this ticket, which was released from; the state is older than the
 * newest release that left, or of another history: this one must not go on. CORRUPT. NO_MEMORY. */
TACET_API TACET_MUST_CHECK tacet_status tacet_stream_load(tacet_stream **out, const tacet_bound *bound,
                                                          const tacet_ask *ask, const void *bytes, size_t size,
                                                          tacet_error *err);
/* The settings in saved bytes, before anything of their size is allocated. CORRUPT, INVALID as load. */
TACET_API tacet_status tacet_stream_describe(tacet_stream_settings *out, const tacet_bound *bound, const void *bytes,
                                             size_t size, tacet_error *err);
/* As load, and the state may be older than the newest release: for those who stored every vector since, and step them
 * again in the same order. Releases that left already come out again, the same; the first that would be another one is
 * refused (CONFLICT), and with it everything after. */
TACET_API TACET_MUST_CHECK tacet_status tacet_stream_replay(tacet_stream **out, const tacet_bound *bound,
                                                            const tacet_ask *ask, const void *bytes, size_t size,
                                                            tacet_error *err);
/* The estimate of the sum after the last saved step; may be asked again, and is the same. STATE: nothing stepped yet,
 * or the last step was not saved. CONFLICT: this step, or one after it, was released from another history. The
 * ledger's errors: nothing left, ask again. */
TACET_API TACET_MUST_CHECK tacet_status tacet_stream_release(tacet_stream *stream, tacet_release **out,
                                                             tacet_error *err);
/* The same numbers, allocating only where a segment has doubled; sd (may be NULL) receives the standard deviation of
 * the noise in each. */
TACET_API TACET_MUST_CHECK tacet_status tacet_stream_read(tacet_stream *stream, double *values, double *sd,
                                                          tacet_error *err);
TACET_API size_t tacet_stream_steps(const tacet_stream *stream); /* taken so far */
TACET_API bool tacet_stream_is_private(const tacet_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
