/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-plain: optimisation without any protection, the reference for the private methods.
 * Ring: trusted (it reads raw records), though it links only what an open program may. */
#include "plain/commands.h"

static const cli_command COMMANDS[] = {
    {"gp-ucb", "plain GP-UCB over a table; unprotected, the reference",
     "--data FILE --inputs A,B --target Y --lengthscale L --queries T [options]",
     "Finds the row of a table with the largest target by asking for few of them: GP-UCB with a Gaussian process over "
     "the inputs. The targets of rows not asked are used for nothing but the regret at the end (and for --fit).\n\n"
     "UNPROTECTED: this command reads every record and protects nothing. It is the reference for the private "
     "methods.\n\n"
     "Round t asks the row with the largest mean + sqrt(beta_t) sd, beta_t = 2 ln(n t^2 pi^2/(6 d)), d = half of "
     "--delta-ucb, t from 1. Rows are numbered from 0; ties go to the lowest row.\n\n"
     "'mpirun -n 4 tacet gp-ucb …' spreads the candidates over 4 processes, each with its part of the model, and asks "
     "the same rows, bit for bit; rank 0 alone prints. Rank 0 reads a CSV and sends the others their rows; a .npy file "
     "is mapped by every rank, which reads its own rows of it. docs/scaling.md has the memory and the time.\n\n"
     "JSON: rows (in the order asked), values, best_row (best measured), simple_regret (best target in the table less "
     "the best one measured), seconds, model_best_row (best posterior mean), the settings used, and protection.",
     "tacet gp-ucb --data F.csv --inputs x1,x2 --target y --kernel se --lengthscale 6.25 --noise-var 1e-5 --queries "
     "50\n"
     "tacet gp-ucb --data homes.csv --inputs lat,lon --target price --fit --queries 30 --json\n"
     "mpirun -n 4 tacet gp-ucb --data molecules.npy --inputs 0,1,2,3,4 --target 5 --lengthscale 0.3 --queries 50 "
     "--journal run.journal",
     cmd_gp_ucb},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

static const cli_program PROGRAM = {
    .name = "tacet-plain",
    .summary = "Optimisation without protection: the reference for everything private.",
    .ring = "trusted",
    .commands = COMMANDS,
};

int main(int argc, char **argv) {
    return cli_main(&PROGRAM, argc, argv);
}
