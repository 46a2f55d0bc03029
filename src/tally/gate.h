/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - how sums are made, and how they leave: with Laplace noise, or as a choice among them. Ring: trusted. */
#ifndef TACET_SRC_TALLY_GATE_H
#define TACET_SRC_TALLY_GATE_H

#include "dp/mechanism.h"
#include <tacet/tally/trusted/tally.h>

/* Sums of rows. `proof` names the page and its claim. */
typedef struct tacet__tally_sums {
    const tacet_raw *raw;
    size_t count;
    double norm;        /* released: their Euclidean norm is at most that; chosen from: each is from 0 to that */
    double sensitivity; /* released: how far a replaced row moves them in the L1 norm; chosen from: each of them */
    double eps;
    const char *proof;
} tacet__tally_sums;

/* All of them, with Laplace noise: pure eps. */
tacet_status tacet__tally_release(tacet_release **out, const tacet__tally_sums *sums, const tacet_ask *ask,
                                  tacet_error *err);
/* Whether noise can be drawn for sums like these, before a ledger is made for them; `raw` is not looked at. */
tacet_status tacet__tally_check(const tacet__tally_sums *sums, tacet_error *err);
/* The number of one that is large, by permute-and-flip: pure eps. */
tacet_status tacet__tally_choose(tacet_release **out, const tacet__tally_sums *sums, const tacet_ask *ask,
                                 tacet_error *err);

/* The empty sum of the part of the data that is called `part`. INVALID: no numbers, too many, no name. NO_MEMORY. */
tacet_status tacet_tally_create(tacet_tally **out, const tacet_tally_plan *plan, const char *part, tacet_error *err);
/* A value on its range, in whole steps: 0 … TACET_TALLY_ONE whatever it is; what is no number counts as the lowest. */
int64_t tacet_tally_steps(double value, double lower, double upper);
/* What `rows` rows add, one or, of a database that added them up, many: steps[i] to number at[i], each of them once.
 * INVALID, and nothing is added: a place beyond the end; 2^62 rows. */
tacet_status tacet_tally_add(tacet_tally *tally, uint64_t rows, const size_t *at, const int64_t *steps, size_t count,
                             tacet_error *err);
bool tacet_tally_is_of(const tacet_tally *tally, const tacet_tally_plan *plan);
/* A number of the sum, in units: exact below 2^31 rows that add at most 1. */
double tacet_tally_number(const tacet_tally *tally, size_t i);
/* All 128 bits of a number, the lowest first; of none, zeros. */
void tacet_tally_bytes(const tacet_tally *tally, size_t i, unsigned char out[16]);
/* The first `count` of them, for the gate. OVERFLOW: a number that no double holds exactly. INVALID, NO_MEMORY. */
tacet_status tacet_tally_raw(const tacet_tally *tally, tacet_raw **out, size_t count, tacet_error *err);

#endif
