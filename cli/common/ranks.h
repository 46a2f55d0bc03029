/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - the processes that `mpirun tacet …` started, for the commands that can spread their work. */
#ifndef TACET_CLI_COMMON_RANKS_H
#define TACET_CLI_COMMON_RANKS_H

#include "common/cli.h"

#include <tacet/gp/ranks.h>

/* Every rank calls it, before it reads anything. Alone: rank 0 of 1. False: *code is what to return; it was said why
 * (a program without MPI under mpirun, ranks of different versions). */
bool cli_ranks_open(const cli_command *self, tacet_ranks *out, int *code);
/* Every rank, at its end. Rank 0 dismisses the others by it, whatever happened. */
void cli_ranks_close(tacet_ranks *ranks);
/* Whether standard output and standard error go nowhere for now. */
void cli_ranks_hush(bool hush);
/* What a rank other than 0 does: serves the searches of rank 0; the exit code. `own` and `n` as for tacet_ranks_follow.
 */
int cli_ranks_follow(const cli_command *self, const tacet_ranks *ranks, const tacet_points *own, size_t n);
/* Rank 0 of several: when mpirun ends the job because a rank died, these words are said before the end. Copied. */
void cli_ranks_last_words(const tacet_ranks *ranks, const char *words);

#endif
