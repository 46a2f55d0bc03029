/* SPDX-License-Identifier: Apache-2.0 */
/* privatizer.h - raw epoch sums in, noisy prefix sums out through the gate. Ring: trusted. */
#ifndef TACET_SRC_CENTRAL_TRUSTED_PRIVATIZER_H
#define TACET_SRC_CENTRAL_TRUSTED_PRIVATIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/blob.h>
#include <tacet/dp/mechanism.h>
#include <tacet/dp/stream.h>

typedef struct tacet__privatizer tacet__privatizer;

typedef struct tacet__privatizer_plan {
    size_t dim;                  /* numbers of a record */
    double sensitivity;          /* largest distance of two records, by construction of whoever makes them */
    double radius;               /* largest norm of a record */
    const char *proof;           /* of both */
    uint64_t rounds;             /* 0: unknown */
    double first_length, growth; /* rounds of the first epoch; how much longer each is than the one before */
    double eps, delta;
    tacet_factorization factorization;
    bool replay; /* older states may be loaded; no part of the study */
} tacet__privatizer_plan;

/* open false: without a stream, to be loaded into. `ask` is copied. Errors as tacet_stream_open. */
tacet_status tacet__privatizer_create(tacet__privatizer **out, const tacet__privatizer_plan *plan, const tacet_ask *ask,
                                      bool open, tacet_error *err);
void tacet__privatizer_free(tacet__privatizer *p); /* wipes; NULL is allowed */
/* Adds a record (dim numbers, wiped by the caller). At the end of an epoch the sum goes into the stream and a release
 * is due. STATE: the horizon is over. Allocates only where the stream doubles; a failure leaves all as it was. */
tacet_status tacet__privatizer_add(tacet__privatizer *p, const double *record, tacet_error *err);
bool tacet__privatizer_due(const tacet__privatizer *p);
/* Records in the epochs that have ended. */
uint64_t tacet__privatizer_ended(const tacet__privatizer *p);
/* The release that is due: sums over *count records, noise of variance *var in each. Refused with STATE until the
 * privatizer was saved; afterwards nothing is due until the next epoch ends. */
tacet_status tacet__privatizer_release(tacet__privatizer *p, double *sums, double *var, uint64_t *count,
                                       tacet_error *err);
bool tacet__privatizer_is_private(const tacet__privatizer *p);
tacet_stream *tacet__privatizer_stream(tacet__privatizer *p);
/* As freshly created, with another key of its stream: for auditing only; STATE for one that is private. */
tacet_status tacet__privatizer_again(tacet__privatizer *p, tacet_noise *noise, tacet_error *err);
/* Private bytes. Loading replaces the stream: CORRUPT leaves all as it was. */
tacet_status tacet__privatizer_save(tacet__privatizer *p, tacet_blob *out, tacet_error *err);
tacet_status tacet__privatizer_load(tacet__privatizer *p, const void *bytes, size_t size, tacet_error *err);

#endif
