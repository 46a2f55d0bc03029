/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-gate: what the door does, without any data behind it.
 * Ring: gate. */
#include "gate/commands.h"

static const cli_command COMMANDS[] = {
    {"calibrate", "noise for a budget, or the budget a noise spends", "MECHANISM [options]",
     "Give two of noise, eps and delta, and get the third; every answer is rounded to the private side. MECHANISM "
     "is\n\n"
     "gaussian: --eps and --delta give sigma (analytic calibration); --scale with --delta gives eps, with --eps gives "
     "delta. --count K: K releases together. classic_sigma is the textbook formula, for comparison only: it is proven "
     "for eps < 1.\n\n"
     "laplace: --eps gives scale; --scale gives eps. sd is that of one number; with --dims D, of each of D numbers "
     "that get one vector of density exp(-|v|/scale), as 'tacet curate --mechanism laplace' draws it. For D numbers "
     "with noise of their own, the sensitivity is in L1.\n\n"
     "randomizer: --mechanism hybrid or laplace, --eps and --range give the largest "
     "variance of a report, its largest distance from the middle, and the sub-Gaussian proxy variance.\n\n"
     "levels: --eps and --count K give what a category of K levels tells under eps for a change of level: the "
     "probability that randomised response keeps a level, and the mean probability of the truth given what was "
     "released.\n\n"
     "sphere: --eps and --dims D give the variance of one number of a vector of D that devices report as one of 256 "
     "directions (study create --policy statistics), that of Duchi's one bit, and that of Gaussian noise with "
     "--delta.",
     "tacet calibrate gaussian --eps 1 --delta 1e-5 --sensitivity 1 --json\n"
     "tacet calibrate gaussian --scale 3.73 --delta 1e-5\n"
     "tacet calibrate laplace --eps 1 --dims 3\n"
     "tacet calibrate randomizer --eps 1 --range 0:1",
     cmd_calibrate},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-gate", .summary = "Calibration of exact noise.", .ring = "gate", .commands = COMMANDS};
