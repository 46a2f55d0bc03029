/* SPDX-License-Identifier: Apache-2.0 */
/* batches.h - records of growing batches in, one release a batch out through the gate. Ring: trusted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/blob.h>
#include "dp/mechanism.h"

#include "core/state.h"
#include "central/open/shape.h"

typedef struct tacet__batches tacet__batches;

typedef struct tacet__batches_plan {
    size_t most;                 /* numbers of a record */
    double sensitivity;          /* largest distance of two records, by construction of whoever makes them */
    const char *proof;           /* of that; records are no longer than it, too */
    uint64_t rounds;             /* 0: unknown */
    double first_length, growth; /* rounds of the first batch; how much longer each is than the one before */
    double eps, delta;           /* delta = 0: pure */
    bool gaussian;               /* Gaussian noise however few numbers there are */
    bool l1;                     /* the distance is L1: Laplace noise */
} tacet__batches_plan;

/* `ask` is copied, its noise looked at once. INVALID names what is wrong; NO_MEMORY. Nothing is charged yet. */
tacet_status tacet__batches_create(tacet__batches **out, const tacet__batches_plan *plan, const tacet_ask *ask,
                                   tacet_error *err);
void tacet__batches_free(tacet__batches *b); /* wipes; NULL is allowed */
/* What a release will be planned with. */
void tacet__batches_noise(const tacet__batches *b, tacet__batch_noise *out);
uint64_t tacet__batches_length(const tacet__batches *b); /* rounds of the batch */
uint64_t tacet__batches_left(const tacet__batches *b);   /* records that it lacks */
/* The batch's records have k numbers, at most `most`. Before its first record. */
void tacet__batches_begin(tacet__batches *b, size_t k);
/* Whether records must wait: a release is due, or the next batch was not begun. */
bool tacet__batches_wait(const tacet__batches *b);
/* Adds a record (k numbers, wiped by the caller) of round `ticket`. STATE: the horizon is over, or records must wait.
 */
tacet_status tacet__batches_add(tacet__batches *b, const double *record, uint64_t ticket, tacet_error *err);
bool tacet__batches_due(const tacet__batches *b);
/* The release that is due: sums of k numbers over *count records, noise of variance *var in each. The next batch is to
 * be begun. CONFLICT: the batch was released before, of other rounds. A failure leaves all as it was. */
tacet_status tacet__batches_release(tacet__batches *b, double *sums, double *var, uint64_t *count, tacet_error *err);
uint64_t tacet__batches_ended(const tacet__batches *b); /* records in the batches that were released */
bool tacet__batches_is_private(const tacet__batches *b);
double tacet__batches_pure(const tacet__batches *b); /* as tacet__batch_gate_pure */
/* STATE, and how many reports the first batch lacks. */
tacet_status tacet__batches_nothing(const tacet__batches *b, tacet_error *err);
/* The last release, with its receipt. STATE: there was none. */
tacet_status tacet__batches_last(const tacet__batches *b, tacet_release **out, tacet_error *err);
/* What it remembers (core/state.h): private. */
void tacet__batches_state(tacet__batches *b, tacet__state *s);
