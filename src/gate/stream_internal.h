/* stream_internal.h - the inside of a stream, shared by its steps and its saved form. Ring: gate. */
#ifndef TACET_SRC_GATE_STREAM_INTERNAL_H
#define TACET_SRC_GATE_STREAM_INTERNAL_H

#include "gate/stream_factor.h"

#include <stdint.h>

enum { TACET__STREAM_KEY_BYTES = 32, TACET__STREAM_HASH_BYTES = 32 };

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
    tacet_noise *noise; /* re-keyed for each step */
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
    size_t slots;             /* vectors of memory: levels, steps, or buffers */
    double *held;             /* private: dim x slots. Tree: block sums; Toeplitz: the vectors; BLT: buffers */
    double *noisy;            /* public: dim x slots. The same of what was released */
    double *coefficients;     /* Toeplitz: reversed, `most` of them; NULL otherwise */
    double *sum;              /* dim: BLT's running sum */
    double *estimate;         /* dim: of the current segment */
    double *offset;           /* dim: estimates of the full segments */
    double offset_var;        /* variance of the noise in each of them */
    double *exact, *released; /* dim: C x and y of the last step */
};

/* Everything that depends on settings, bound and factor: calibration and memory of a segment, all zero. The stream's
 * former segment memory is freed when that succeeds. */
tacet_status tacet__stream_segment(tacet_stream *stream, const tacet__factor *factor, tacet_error *err);
/* A stream with nothing but its settings checked, mu, and the vectors that outlive segments. */
tacet_status tacet__stream_make(tacet_stream **out, const tacet_stream_settings *settings, const tacet_bound *bound,
                                tacet_error *err);
/* The answer that the ledger stores for this stream. */
tacet_status tacet__stream_identity(const tacet_stream *stream, tacet_release **out, tacet_error *err);

#endif
