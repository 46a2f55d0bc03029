/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - how sums leave: with Laplace noise, or as a choice among them. Ring: trusted. */
#ifndef TACET_SRC_TALLY_GATE_H
#define TACET_SRC_TALLY_GATE_H

#include <tacet/dp/mechanism.h>
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
/* The number of one that is large, by permute-and-flip: pure eps. */
tacet_status tacet__tally_choose(tacet_release **out, const tacet__tally_sums *sums, const tacet_ask *ask,
                                 tacet_error *err);

#endif
