/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - a batch's sum through the gate: one release, by the mechanism that adds least noise to so many numbers.
 * Ring: trusted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dp/mechanism.h"

#include "central/open/shape.h"

typedef struct tacet__batch_gate tacet__batch_gate;

typedef struct tacet__batch_terms {
    double eps, delta;  /* of a batch; delta = 0: pure */
    double sensitivity; /* how far one record moves its batch's sum, before rounding; proof: whose */
    double longest;     /* no sum is longer */
    bool few;           /* few numbers may get l2 noise */
    bool l1;            /* the sensitivity is an L1 distance: Laplace noise, pure eps, however many numbers */
    const char *proof;
} tacet__batch_terms;

/* Multiples of which records are rounded before they are added: sums are then exact, in any order. */
#define TACET__BATCH_QUANTUM 0x1p-30

/* Whether l2 noise can be charged to where an ask leads: not to a ledger that adds up mu, of which it has much. */
bool tacet__batch_few(const tacet_ask *ask);
/* INVALID names what is wrong with eps or delta. NO_MEMORY. */
tacet_status tacet__batch_gate_create(tacet__batch_gate **out, const tacet__batch_terms *terms, tacet_error *err);
void tacet__batch_gate_free(tacet__batch_gate *gate); /* wipes; NULL is allowed */
/* What to plan with; for `sensitivity` as in the terms. */
void tacet__batch_gate_noise(const tacet__batch_gate *gate, tacet__batch_noise *out);
/* What one record costs at most with delta = 0, in a batch of few numbers; 0: all noise is Gaussian. */
double tacet__batch_gate_pure(const tacet__batch_gate *gate);
/* Works out the `piece`-th calibration that releases of such a budget may need, so that they find it done; false: there
 * are no more. Public numbers alone; any thread. */
bool tacet__batch_gate_ahead(double eps, double delta, size_t piece);
/* The release of k numbers of batch `batch`, under the ticket of the ask with the batch's number; `of` says of which
 * records, and a ticket asked again of others is CONFLICT. *var: of each number. Errors of tacet_mechanism_run. */
tacet_status tacet__batch_gate_run(tacet__batch_gate *gate, tacet_release **out, double *var, const tacet_ask *ask,
                                   uint64_t batch, const char *of, const double *sum, size_t k, tacet_error *err);
