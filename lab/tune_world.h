/* SPDX-License-Identifier: Apache-2.0 */
/* tune_world.h - made-up tuning problems, and tables of real ones. Ring: programs; made-up data or public tables.
 *
 *   mixed  five columns (real, log, integer, four and five levels); a setting's mean is 0.95 at the best place, falls
 *          towards 0.5 away from it, and each record is right or wrong by a coin of its own for each setting
 *   table  a CSV of settings: columns x… in [0, 1] and a column r… for each held-out record; a point counts as the
 *          nearest setting, and n records are drawn with replacement (lab/tune_tables.py makes such tables) */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <tacet/core/simrng.h>
#include <tacet/space/space.h>

enum { TUNE_COLUMNS_MOST = 16 };

typedef struct tune_table {
    size_t columns, settings, rows;
    double *points; /* columns x settings */
    double *values; /* rows x settings, in [0, 1], more is better */
    double *means;  /* settings */
} tune_table;

typedef struct tune_world {
    tacet_space space;
    const tune_table *table; /* NULL: mixed */
    double centre[3], weight[3], loss4[4], loss5[5];
    size_t *rows; /* table: which row each record is */
    size_t records;
    uint64_t seed;
    double top, middle; /* best mean; mean of a random setting */
} tune_world;

tacet_status tune_table_load(tune_table *out, const char *path, tacet_error *err);
void tune_table_clear(tune_table *table);

/* Function and records of this seed and trial. NO_MEMORY. */
tacet_status tune_world_init(tune_world *out, const tune_table *table, size_t records, uint64_t seed, uint64_t trial,
                             tacet_error *err);
void tune_world_clear(tune_world *world);
/* The population's mean of a setting. */
double tune_world_mean(const tune_world *world, const double *record);
/* One value a record; the same setting always has the same. */
void tune_world_values(const tune_world *world, double *values, const double *record);
