/* SPDX-License-Identifier: Apache-2.0 */
/* plan_main.c - tacet-plan: what a budget would buy, told before anything is spent. Ring: none; it reads no data, and
 * runs the simulations of lab/ on made-up functions. */
#include "plan.h"

static const cli_command COMMANDS[] = {
    {"plan", "expected regret against eps, or visitors of an A/B study, before anything is spent", "MODEL [options]",
     "Simulates a stated problem of a model (outsourced, central, local, local-statistics, contextual) on made-up "
     "functions, with random choices and the non-private reference on the same functions beside it; ab: how many "
     "visitors an A/B study takes.\n\n"
     "outsourced: releases made-up tables as 'tacet curate' would, and lets the modeler search them. For one eps it "
     "prints a verdict: worth it or not, and if not, which units or how many questions would make it so. Worth it: the "
     "mean gain over random rows, function by function, exceeds two of its standard errors. Not worth it: it is "
     "clearly below a tenth of what random rows leave.\n\n"
     "Several eps: a table, a chart with --page, and advice in a sentence. An eps is called better than random when "
     "the mean gain exceeds two of its standard errors (one-sided, false alarms about 2.5 % for each eps), and close "
     "to non-private when it keeps 90 % of the non-private gain.\n\n"
     "ab: runs 400 made-up studies of policy 'ab' in which the first arm converts at --rate and the others at --lift "
     "times that, looks after every release, and counts the tickets until the difference is claimed; the same without "
     "privacy, and the size of a plain test that is looked at once.\n\n"
     "Nothing is read and nothing is spent; what is planned with is made up.",
     "tacet plan outsourced --space space.json --rows 2000 --queries 40 --eps 3\n"
     "tacet plan outsourced --dims 3 --lengthscale 0.2 --eps 0.5,1,2,4,8 --page plan.html\n"
     "tacet plan central --arms 25 --dims 2 --lengthscale 0.25 --rounds 1000 --eps 1,10\n"
     "tacet plan ab --rate 0.04 --lift 1.2 --eps 1",
     lab_plan},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-plan",
    .summary = "Expected regret against eps, on made-up problems.",
    .ring = "none (made-up data only)",
    .commands = COMMANDS,
};
