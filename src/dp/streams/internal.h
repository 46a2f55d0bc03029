/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the inside of a stream, shared by its steps and its saved form. Ring: gate. */
#ifndef TACET_SRC_DP_STREAMS_INTERNAL_H
#define TACET_SRC_DP_STREAMS_INTERNAL_H

#include "dp/streams/factor.h"

#include <stdint.h>

enum {
    TACET__STREAM_KEY_BYTES = 32,
    TACET__STREAM_HASH_BYTES = 32,
    TACET__STREAM_PARAMETERS = 1024,
    TACET__STREAM_RECENT = 64,  /* steps whose marks are remembered before one of them is entered in the ledger */
    TACET__STREAM_SEGMENTS = 26 /* a first segment of one step doubles 24 times before it has TACET__STREAM_MOST */
};

/* The side of what was released (draw.c): it follows the side of the data, and is behind it by the steps whose release
 * nobody has read yet. */
typedef struct tacet__stream_out {
    tacet__factor factor;
    size_t segment, taken; /* its number, its steps that were drawn */
    double sigma;
    int grid_exponent;
    size_t slots;
    double *noisy;        /* public: dim x slots. What `held` is of the vectors, of what was released */
    double *coefficients; /* Toeplitz: reversed, `most` of them; NULL otherwise */
    double *sum;          /* dim: BLT's running sum */
    double *estimate;     /* dim: of this segment */
    double *offset;       /* dim: estimates of the full segments */
    double offset_var;    /* variance of the noise in each of them */
    double *released;     /* dim: y of the last step drawn */
} tacet__stream_out;

struct tacet_stream {
    tacet_stream_settings settings;
    const tacet_bound *bound;
    size_t dim;
    bool is_private;
    double mu;     /* of the whole stream */
    double delta2; /* L2 sensitivity of one vector */
    /* The ledger, for the commit that precedes the first release of this process. */
    tacet_ledger *ledger; /* NULL: none */
    tacet_entry entry;
    bool committed;
    /* What the ledger knows the releases by (mark.c). Only with a ledger. */
    tacet_mark last;                         /* of the last step: the chain of marks */
    tacet_mark recent[TACET__STREAM_RECENT]; /* of step t at t mod RECENT */
    tacet_mark entered;                      /* the newest that this stream entered, or found entered; step 0: none */
    bool is_entered;                         /* the last step is, as far as this process has seen itself */
    tacet_noise *noise;                      /* re-keyed for each step */
    unsigned char key[TACET__STREAM_KEY_BYTES];
    unsigned char chain[TACET__STREAM_HASH_BYTES]; /* of all vectors so far */
    size_t steps;                                  /* in all segments */
    bool saved;                                    /* the last step is in a saved state */
    /* The current segment. */
    tacet__factor factor;
    size_t segment, taken; /* its number, its steps so far */
    double sensitivity;    /* rounding included */
    double sigma;
    int grid_exponent;
    size_t slots;         /* vectors of memory: levels, steps, or buffers */
    double *held;         /* private: dim x slots. Tree: block sums; Toeplitz: the vectors; BLT: buffers */
    double *coefficients; /* Toeplitz: reversed, `most` of them; NULL otherwise */
    tacet__factor full[TACET__STREAM_SEGMENTS]; /* of the full segments, from out.segment on */
    double *exact;                              /* dim: C x of the last step, on the grid */
    /* Steps that were taken and not drawn: C x of each, on the grid, and the key of its noise. Private. */
    size_t waiting, room;
    double *parts;       /* dim x room */
    unsigned char *keys; /* TACET__STREAM_KEY_BYTES x room */
    tacet__stream_out out;
};

/* Grid, sensitivity and sigma of a segment. INVALID: the numbers do not fit the grid. */
tacet_status tacet__stream_calibrate(const tacet_stream *stream, const tacet__factor *factor, double *sensitivity,
                                     double *sigma, int *grid, tacet_error *err);
/* Memory of a segment: vectors of dim numbers (dim x *slots), and the coefficients of Toeplitz. */
tacet_status tacet__stream_memory(const tacet_stream *stream, const tacet__factor *factor, size_t *slots,
                                  double **vectors, double **coefficients, tacet_error *err);
/* Everything that depends on settings, bound and factor: calibration and memory of a segment, all zero. The stream's
 * former segment memory is freed when that succeeds. */
tacet_status tacet__stream_segment(tacet_stream *stream, const tacet__factor *factor, tacet_error *err);
/* The same for the side of what was released, before its first step is drawn. */
tacet_status tacet__stream_out_segment(tacet_stream *stream, const tacet__factor *factor, tacet_error *err);
/* Room for one more step that waits; nothing else changes. NO_MEMORY. */
tacet_status tacet__stream_reserve(tacet_stream *stream, size_t steps, tacet_error *err);
/* Draws the steps that wait, in their order: only after the mark of the last one was entered. What fails is kept, and
 * may be asked again. */
tacet_status tacet__stream_draw(tacet_stream *stream, tacet_error *err);
/* A stream with nothing but its settings checked, mu, and the vectors that outlive segments. */
tacet_status tacet__stream_make(tacet_stream **out, const tacet_stream_settings *settings, const tacet_bound *bound,
                                tacet_error *err);
/* The charge of the whole stream; its texts point into ask, stream and `parameters` (TACET__STREAM_PARAMETERS bytes).
 */
void tacet__stream_charge(const tacet_stream *stream, tacet_charge *out, char *parameters);
/* Marks (mark.c). Makes the mark of the step just taken. */
void tacet__stream_mark(tacet_stream *stream);
/* Enters the last step in the ledger, durably, before its release leaves. CONFLICT: another history released it. */
tacet_status tacet__stream_enter(tacet_stream *stream, tacet_error *err);
/* Whether a state and the newest mark of its entry can be of one history. CONFLICT: they cannot, or (unless
 * older_too) the state is older than what left. */
tacet_status tacet__stream_agree(const tacet_stream *stream, const tacet_mark *newest, bool older_too,
                                 tacet_error *err);
/* How many marks since `entered` are remembered. */
size_t tacet__stream_recent(const tacet_stream *stream);
/* The answer that the ledger stores for this stream. */
tacet_status tacet__stream_identity(const tacet_stream *stream, tacet_release **out, tacet_error *err);

#endif
