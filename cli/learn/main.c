/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-learn: learns from a private log which action suits which context.
 * Ring: trusted; what leaves, leaves through the gate. */
#include "learn/commands.h"

static const cli_command COMMANDS[] = {
    {"learn actions", "actions to try while learning: uniform, independent of everything",
     "--bounds LO:HI [--count N] [options]",
     "Prints actions drawn uniformly within the bounds, one a line, without reading any data. Log them with the "
     "contexts and rewards they met, for 'tacet learn'.",
     "tacet learn actions --bounds 0:5 --count 10\n"
     "tacet learn actions --bounds 0:5,0:1 --count 64",
     learn_actions},
    {"learn", "a private log of actions, contexts and rewards in; a released model out",
     "--data FILE --actions A --contexts C --reward Y --range LO:HI --bounds A=LO:HI,C=LO:HI --out FILE [options]",
     "Reads a log and releases one table with pure eps: sums of the reward and of what it lacks to the range's end, "
     "for "
     "each action in each context. From it come the rule, what it earns, and what it gains over one action for all and "
     "over the log, with 95 % intervals; any number of predictions is free: 'tacet predict'.\n\n"
     "Columns are categories (--levels) or numbers (--bounds; others with --space), which are cut into even bins, "
     "as many as rows and eps allow; effects along them are smooth. Rewards of 0 to more than 1 count as money: some "
     "rows say where to cut it. Actions may have had any propensities that depend on these contexts: within a context "
     "they are compared as they are.\n\n"
     "Protected: one row, its action, its contexts and its reward, whatever they are. Not protected: the number of "
     "rows. A person with k rows has k eps.\n\n"
     "Bounds, levels and range must come from you or from public data. Fitted on these records they would void the "
     "proof, so nothing here fits them.\n\n"
     "Contexts and rewards outside their bounds are silently clamped, and a context that is no level counts as the "
     "first: an error or a warning would tell of private rows.\n\n"
     "Refused: actions outside their bounds or levels, more than 131,072 cells, a ledger without budget (exit code 3).",
     "tacet learn --data log.csv --actions dose --contexts age --reward outcome --range 0:1 --bounds 0:5,18:90 --eps 1 "
     "--out model.json\n"
     "tacet learn --data ab.csv --actions variant --contexts device --reward click --range 0:1 --levels "
     "'variant=A|B|C,device=phone|tablet|desktop' --out model.json",
     learn_learn},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-learn",
    .summary = "Learns which action suits which context, with pure eps.",
    .ring = "trusted (holds the private log)",
    .commands = COMMANDS,
    .elsewhere = "predict                the best action in a context, from a released model (an open program)",
};
