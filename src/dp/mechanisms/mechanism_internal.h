/* SPDX-License-Identifier: Apache-2.0 */
/* mechanism_internal.h - the inside of a calibrated mechanism, shared by its maker and its runners. Ring: gate. */
#pragma once

#include <stdbool.h>
#include "dp/mechanism.h"

enum { TACET__PARAMETERS_BYTES = 4096 };

struct tacet_mechanism {
    const struct tacet__kind *kind;
    const tacet_bound *bound;
    size_t count; /* of the bound: numbers, or candidates */
    tacet_neighbours neighbours;
    double eps, delta;
    double mu;          /* of Gaussian noise; 0 otherwise */
    double sensitivity; /* rounding included */
    double scale;       /* 0 for choices */
    double error_sd;    /* of one number; 0 for choices */
    int grid_exponent;
    uint64_t score_steps; /* choices: the sensitivity in steps of the grid */
    size_t *levels;       /* of each column of levels beside the numbers; owned; NULL: none */
    size_t level_count;
};

bool tacet__mechanism_chooses(const tacet_mechanism *mechanism);
/* The charge of `rows` rows in parallel; its parameters are written to the caller's `parameters`. `records` as in
 * tacet_ask. */
void tacet__mechanism_charge(const tacet_mechanism *mechanism, tacet_charge *charge, char *parameters, size_t size,
                             size_t rows, size_t records);
/* Stands for the vector as it will be released: its whole steps of the grid. The charge stands for the rest. */
void tacet__mechanism_digest(const tacet_mechanism *mechanism, unsigned char out[TACET_MINT_BYTES],
                             const tacet_bounded *value);
/* Everything but the entry. */
void tacet__mechanism_receipt(const tacet_mechanism *mechanism, tacet_receipt *receipt, size_t rows);

/* Randomised levels of `rows` rows: level_count indices each, clipped to what there is. */
tacet_status tacet__mechanism_draw_levels(const tacet_mechanism *mechanism, tacet_noise *noise, double *out,
                                          const double *raw, size_t rows, tacet_error *err);
/* What levels add to a charge: the claim that holds for a move and for a change of level alike, and a list of them
 * among the parameters. */
void tacet__mechanism_charge_levels(const tacet_mechanism *mechanism, tacet_charge *charge, char *parameters,
                                    size_t size);
