/* SPDX-License-Identifier: Apache-2.0 */
/* sim_table.h - `tacet-lab simulate outsourced --table`: the whole product on a real table. Ring: lab. */
#pragma once

#include "common/cli.h"
#include "outsourced_problem.h"

typedef struct lab_table_run {
    lab_table_options table;
    const char *mechanism; /* NULL: the default of `tacet curate` */
    double eps, delta;     /* delta NaN: not given */
    double units;          /* how many distances of 1 the range of a column has */
    double noise;          /* standard deviation of a measurement, as a share of the values' */
    bool permute;
    size_t queries, trials;
    uint64_t seed;
} lab_table_run;

int lab_sim_table(const lab_table_run *run, const cli_command *self);
