/* SPDX-License-Identifier: Apache-2.0 */
/* counts.h - arms that tell nothing of each other: noisy counts of each, and Thompson draws. Ring: open.
 * README.md, (g). */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <tacet/core/simrng.h>
#include <tacet/core/status.h>

#include "core/state.h"

typedef struct tacet__counts tacet__counts;

enum { TACET__COUNTS_MOST = 64 }; /* arms */

/* set_size: how many arms a round offers, as a guess. `typical`: the mean of an arm that nobody knows. NO_MEMORY. */
tacet_status tacet__counts_create(tacet__counts **out, size_t arms, size_t set_size, double typical, tacet_error *err);
void tacet__counts_free(tacet__counts *c); /* NULL is allowed */
/* 2 `arms` numbers of a round at `arm` with v in [0, 1]: v and 1 - v at its place. Two such are at most 2 apart in
 * L1. */
void tacet__counts_record(const tacet__counts *c, double *out, size_t arm, double v);
/* Sums of such records over `rounds` rounds, with noise of variance noise_var in each. Total. */
void tacet__counts_take(tacet__counts *c, const double *sums, double noise_var, uint64_t rounds);
/* One draw for each arm: what they are ranked by. */
void tacet__counts_draw(const tacet__counts *c, double *out, tacet_simrng *coin);
double tacet__counts_mean(const tacet__counts *c, size_t arm, double *sd);
void tacet__counts_state(tacet__counts *c, tacet__state *s);
