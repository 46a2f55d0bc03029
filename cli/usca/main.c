/* main.c - tacet-usca: learns from a private log which action suits which context.
 * Ring: trusted; what leaves, leaves through the gate. */
#include "usca/commands.h"

static const cli_command COMMANDS[] = {
    {"usca learn", "a private log of actions, contexts and rewards in; a released model out",
     "--data FILE --actions A --contexts C --reward Y --range LO:HI --bounds LO:HI,LO:HI --lengthscale L --out FILE "
     "[options]",
     "Reads a log whose actions were drawn uniformly, and releases a model of the reward with pure eps (k-norm noise) "
     "or "
     "(eps, delta) (gaussian). Any number of predictions from it is free: 'tacet usca predict'.\n\n"
     "Protected: one row's contexts and reward, whatever they are. Not protected: the actions, the number of rows.\n\n"
     "Bounds, range, kernel, lengthscale, beliefs and the law of contexts must come from you or from public data. "
     "Fitted on "
     "these records they would void the proof, so nothing here fits them. How many features and stages, and how much "
     "to clip, "
     "is decided from the number of rows and eps before any row is looked at.\n\n"
     "Contexts outside their bounds and rewards outside the range are taken as the nearest value within, without a "
     "word: an error or a warning would tell of private rows. 'tacet usca check' names them to the owner.\n\n"
     "Refused: actions outside their bounds (they are public), too few rows for this eps, a ledger without budget "
     "(exit code 3). Warned: actions that were plainly not uniform.",
     "tacet usca learn --data log.csv --actions dose --contexts age --reward outcome --range 0:1 --bounds 0:5,18:90 "
     "--lengthscale 1.5,20 --eps 1 --out model.json",
     usca_learn},
    {"usca choose", "one private action for one context, charged each time",
     "--data FILE --actions A --contexts C --reward Y --range LO:HI --bounds LO:HI,LO:HI --lengthscale L --context V "
     "[options]",
     "The published algorithm (exponential mechanism with a certified supremum) or its range calibration, which is two "
     "to six "
     "times as sharp at the same eps. Each choice spends eps; for several predictions 'tacet usca learn' is better.\n\n"
     "What must be public is as in 'tacet usca learn'.",
     "tacet usca choose --data log.csv --actions dose --contexts age --reward outcome --range 0:1 --bounds 0:5,18:90 "
     "--lengthscale 1.5,20 --eps 1 --context 44",
     usca_choose},
    {"usca check", "which rows of a private log lie outside the bounds; for its owner alone",
     "--data FILE --actions A --contexts C --reward Y --range LO:HI --bounds LO:HI,LO:HI",
     "Names on stderr the rows and columns that 'tacet usca learn' would take as the nearest value within (contexts, "
     "rewards) or refuse (actions). What it says, its exit code included, is PRIVATE: it is for whoever holds the log, "
     "before anything is released. If bounds are then changed to fit what was seen, the new bounds are fitted on these "
     "records: choose them from what is publicly known instead.\n\n"
     "Exit code 0: every row lies within; 1: some do not.",
     "tacet usca check --data log.csv --actions dose --contexts age --reward outcome --range 0:1 --bounds 0:5,18:90",
     usca_check},
    {"usca suggest", "actions to try while learning: uniform, independent of everything",
     "--bounds LO:HI [--count N] [options]",
     "Prints actions drawn uniformly within the bounds, one a line, without reading any data. Log them with the "
     "contexts and "
     "rewards they met, for 'tacet usca learn'.",
     "tacet usca suggest --bounds 0:5 --count 10\n"
     "tacet usca suggest --bounds 0:5,0:1 --count 64 --design sobol --seed 7 --first 128",
     usca_suggest},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

static const cli_program PROGRAM = {
    .name = "tacet-usca",
    .summary = "Learns which action suits which context, with pure eps.",
    .ring = "trusted (holds the private log)",
    .commands = COMMANDS,
    .elsewhere = "usca predict           the best action in a context, from a released model (an open program)",
};

int main(int argc, char **argv) {
    return cli_main(&PROGRAM, argc, argv);
}
