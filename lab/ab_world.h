/* SPDX-License-Identifier: Apache-2.0 */
/* ab_world.h - made-up worlds of A/B logs: what each action earns in each context, and rows drawn from it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/ab/open/posterior.h>
#include <tacet/core/simrng.h>

typedef struct lab_ab_row {
    size_t action, context;
    double reward;
} lab_ab_row;

typedef struct lab_ab_world {
    size_t A, C, columns;
    size_t levels[TACET_AB_COLUMNS_MOST];
    bool money;
    double *mean;    /* reward of each cell, c * A + a */
    double *convert; /* money: how many spend anything */
    double *spend;   /* money: the middle of what is spent, of each action */
    double *q;       /* share of each context */
    double *logged;  /* how often each action is shown in a context */
} lab_ab_world;

/* Space-separated, for help. */
extern const char LAB_AB_WORLDS[];
/* A x levels. INVALID: no such world. */
tacet_status lab_ab_world_make(lab_ab_world *out, const char *name, size_t actions, const size_t *levels,
                               size_t columns, tacet_simrng *rng, tacet_error *err);
/* Money: means of what is spent, counted up to `top`. */
void lab_ab_world_cut(lab_ab_world *world, double top);
void lab_ab_world_clear(lab_ab_world *world);
lab_ab_row lab_ab_world_row(const lab_ab_world *world, tacet_simrng *rng);
