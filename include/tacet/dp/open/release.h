/* SPDX-License-Identifier: Apache-2.0 */
/* release.h - what left through the gate: numbers, and the receipt that says how. Immutable; anyone may read it.
 *
 * Only the gate makes one from data. Anyone may store one as bytes and read it back: a receipt names its ledger entry
 * and that entry's hash, so a reader who doubts it asks the ledger. */
#ifndef TACET_DP_OPEN_RELEASE_H
#define TACET_DP_OPEN_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/blob.h>
#include <tacet/dp/open/charge.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACET_MECHANISM_NAME_BYTES = 32 };

typedef struct tacet_receipt {
    char mechanism[TACET_MECHANISM_NAME_BYTES]; /* "gaussian", "laplace", "k-norm", "permute-and-flip", "tree", … */
    bool is_private;                            /* false: drawn from a seeded source, for tests and simulations only */
    bool in_ledger;                             /* false only together with is_private = false */
    double eps, delta;                          /* what was charged; delta = 0 for pure mechanisms */
    double mu;                                  /* Gaussian mechanisms: sensitivity/scale; 0 otherwise */
    double sensitivity;                         /* rounding to the grid included */
    double scale;                               /* sigma, b or theta: the scale of the noise of one number */
    int grid_exponent;    /* every value is a multiple of 2^grid_exponent (a choice: the step of the scores) */
    uint64_t rows, count; /* rows drawn, numbers in each */
    uint64_t step;        /* streams: how many vectors the sum is over; 0 otherwise */
    double error_sd;      /* streams: standard deviation of the noise in each number; otherwise that of `scale`, or 0 */
    uint64_t entry;       /* of the ledger */
    unsigned char entry_hash[TACET_HASH_BYTES];
    unsigned char content_hash[TACET_HASH_BYTES]; /* tables handed out row by row: BLAKE2b of their bytes; else zeros */
} tacet_receipt;

typedef struct tacet_release tacet_release;

TACET_API void tacet_release_free(tacet_release *release);          /* NULL is allowed */
TACET_API size_t tacet_release_count(const tacet_release *release); /* values held; 0 for a table's receipt */
TACET_API const double *tacet_release_values(const tacet_release *release);
TACET_API const tacet_receipt *tacet_release_receipt(const tacet_release *release);
/* As bytes, one encoding per release; *out must be empty. NO_MEMORY leaves it so. */
TACET_API tacet_status tacet_release_encode(const tacet_release *release, tacet_blob *out, tacet_error *err);
/* CORRUPT: not the bytes of a release. NO_MEMORY. */
TACET_API tacet_status tacet_release_decode(tacet_release **out, const void *bytes, size_t size, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
