/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-lab, one file each; plan.h has that of tacet-plan. */
#pragma once

#include "common/cli.h"

int lab_sim_central(int argc, char **argv, const cli_command *self);
/* `simulate central --world local-statistics`; published: the paper's algorithm; printed: with its own noise, Lemma
 * 5 as it stands, whose delta is told. */
typedef struct lab_statistics {
    bool published, printed;
    double eps, delta;
    size_t rounds, arms, trials;
    uint64_t seed;
} lab_statistics;
int lab_sim_local_statistics(const lab_statistics *wanted, const cli_command *self);
int lab_sim_outsourced(int argc, char **argv, const cli_command *self);
int lab_sim_local(int argc, char **argv, const cli_command *self);
int lab_sim_stopping(int argc, char **argv, const cli_command *self);
int lab_sim_ab(int argc, char **argv, const cli_command *self);
int lab_gp_ucb(int argc, char **argv, const cli_command *self);
int lab_noise(int argc, char **argv, const cli_command *self);
int lab_repro(int argc, char **argv, const cli_command *self);
int lab_sim_contextual(int argc, char **argv, const cli_command *self);
int lab_sim_tune(int argc, char **argv, const cli_command *self);
